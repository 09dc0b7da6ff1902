"""Quantized arrays in numpy: codes, and the scale and the zero point of each. What plugins/quantization computes is
compared with them bit for bit."""

from __future__ import annotations

from dataclasses import dataclass

import lamella
import numpy as np
import pytest

RANGES = {
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int4": (-8, 7),
    "uint4": (0, 15),
}
CODES = {"int4": "int8", "uint4": "uint8"}


def rounded(x, scale, zero, low, high):
    """Returns the codes of float32 numbers, by float32 quotients."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        quotient = np.rint((np.float32(x) / np.float32(scale)).astype(np.float32)).astype(np.float64)
    quotient = np.where(np.isnan(quotient), -np.inf, quotient)
    return (np.clip(quotient, low - np.float64(zero), high - np.float64(zero)) + np.float64(zero)).astype(np.int64)


@dataclass
class Array:
    """A quantized array. ``scale`` and ``zero`` have a number for each code."""

    type: str
    codes: np.ndarray
    scale: np.ndarray
    zero: np.ndarray

    def values(self):
        return ((self.codes - self.zero).astype(np.float32) * self.scale).astype(np.float32)

    def map(self, change):
        """Returns the array after a change of shape or order."""
        return Array(self.type, change(self.codes), change(self.scale), change(self.zero))


def quantized(x, type, scale, zero=0, axis=None, group=None):
    """Quantizes a float32 array by one scale, or by scales along an axis, or for groups along it."""
    scale, zero = np.asarray(scale, np.float32), np.broadcast_to(np.asarray(zero, np.int64), np.shape(scale))
    if group is not None:
        scale, zero = np.repeat(scale, group, axis), np.repeat(zero, group, axis)
    elif axis is not None:
        along = [1] * np.ndim(x)
        along[axis] = -1
        scale, zero = scale.reshape(along), zero.reshape(along)
    scale, zero = np.broadcast_to(scale, np.shape(x)), np.broadcast_to(zero, np.shape(x))
    return Array(type, rounded(x, scale, zero, *RANGES[type]), scale, zero)


def same(tensor, array):
    """Raises unless a quantized tensor has the codes and, bit for bit, the values of an array."""
    assert tensor.is_quantized and tensor.is_opaque, tensor
    assert tuple(tensor.shape) == np.shape(array.codes), (tensor.shape, np.shape(array.codes))
    codes = tensor.int_repr()
    assert str(codes.dtype) == "lamella." + CODES.get(array.type, array.type) and not codes.is_quantized
    np.testing.assert_array_equal(codes.cpu().numpy(), array.codes)
    plain(tensor.dequantize(), array.values())


def plain(tensor, values):
    """Raises unless a tensor is not quantized and has these values, bit for bit."""
    assert not tensor.is_quantized and not tensor.is_opaque
    assert tuple(tensor.shape) == np.shape(values)
    np.testing.assert_array_equal(tensor.cpu().float().numpy(), values)
    assert isinstance(tensor, lamella.Tensor)


def refused(*patterns, error=RuntimeError):
    """Expects an error whose text matches each pattern."""
    return pytest.raises(error, match="".join(f"(?=(?s:.*){p})" for p in patterns))
