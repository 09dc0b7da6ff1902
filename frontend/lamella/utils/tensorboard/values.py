"""The values that a ``SummaryWriter`` gets, as numpy arrays and Python numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import lamella


def array(value: Any, who: str, argument: str) -> np.ndarray:
    """Returns a tensor, array, number or nested list of numbers as an array of real numbers.

    A float that numpy lacks, such as bfloat16, becomes float32, which holds all of its values.

    Raises:
        TypeError: the elements are no real numbers, or the tensor is on device meta
    """
    if isinstance(value, lamella.Tensor):
        if value.device.type == "meta":
            raise TypeError(f"{who}: argument '{argument}' is on device 'meta', which has no values; give real data")
        if value.is_floating_point() and value.dtype.itemsize < 4:
            value = value.detach().to(lamella.float32)
        found = value.numpy(force=True)
    else:
        found = np.asarray(value)
        if found.dtype.kind == "V" and found.dtype.type is not np.void:  # a float of ml_dtypes
            found = found.astype(np.float32)
    if found.dtype.kind not in "biuf":
        raise TypeError(
            f"{who}: argument '{argument}' must hold real numbers, got {_kind(value, found)}; "
            "give a tensor, a numpy array or a number"
        )
    return found


def _kind(value: Any, found: np.ndarray) -> str:
    return f"elements of {found.dtype}" if isinstance(value, (lamella.Tensor, np.ndarray)) else type(value).__name__


def scalar(value: Any, who: str, argument: str) -> float:
    """Returns a value of one element as a float.

    Raises:
        TypeError: as ``array``
        ValueError: it has another number of elements
    """
    found = array(value, who, argument)
    if found.size != 1:
        raise ValueError(f"{who}: argument '{argument}' must have one element, got the shape {found.shape}")
    return float(found.item())


def text(value: Any, who: str, argument: str) -> str:
    """Returns a text unchanged.

    Raises:
        TypeError: the value is no text
    """
    if not isinstance(value, str):
        raise TypeError(f"{who}: argument '{argument}' must be a str, got {type(value).__name__}")
    return value
