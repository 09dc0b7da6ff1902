"""The uses of quantized tensors in the table of docs/quantization.md: modules, each with a reference of integers in
numpy. matrix_rows.py has what they run beside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import lamella
import numpy as np
from lamella import nn
from references import RANGES, plain, quantized, same

quantization = lamella.quantization
ROWS, DEPTH, FEATURES = 4, 6, 5


def numbers(*shape, seed):
    return np.random.default_rng(seed).normal(0, 2, shape).astype(np.float32)


X, OTHER = numbers(ROWS, DEPTH, seed=0), numbers(ROWS, DEPTH, seed=1)
WEIGHT, BIAS = numbers(FEATURES, DEPTH, seed=2), numbers(FEATURES, seed=3)
SCALES = np.linspace(0.02, 0.1, FEATURES).astype(np.float32)  # of the rows of WEIGHT
OF_X, OF_OTHER, OF_RESULT = (0.05, 3), (0.04, -2), (0.1, 2)  # a scale and a zero point


# ---- modules --------------------------------------------------------------------------------------------------------


class Native(nn.Module):
    """Limits codes; the result has the scale of the argument."""

    def forward(self, q):
        return q.clamp(-0.3, 1.1)


class Fused(nn.Module):
    """Adds a tensor of another scale that lies alike in memory."""

    def __init__(self, device):
        super().__init__()
        self.register_buffer("other", lamella.quantize_per_tensor(lamella.tensor(OTHER).to(device), *OF_OTHER, "int8"))

    def forward(self, q):
        with quantization.out_scale(*OF_RESULT):
            return q + self.other


class Composite(nn.Module):
    """Multiplies by a tensor of 16 bits whose elements lie in another order."""

    def __init__(self, device):
        super().__init__()
        turned = lamella.tensor(np.ascontiguousarray(OTHER.T)).to(device)
        self.register_buffer("other", lamella.quantize_per_tensor(turned, *OF_OTHER, "int16"))

    def forward(self, q):
        with quantization.out_scale(*OF_RESULT):
            return q * self.other.t()


class Fake(nn.Module):
    """Rounds numbers to the values of codes."""

    def forward(self, x):
        return lamella.fake_quantize_per_tensor_affine(x, *OF_X, *RANGES["int8"])


def weight_of(device):
    scales = lamella.tensor(SCALES).to(device)
    return lamella.quantize_per_channel(lamella.tensor(WEIGHT).to(device), scales, None, 0, "int8")


def weight_only(device):
    return quantization.WeightOnlyLinear(weight_of(device), lamella.tensor(BIAS).to(device))


def static(device):
    bias = lamella.tensor(BIAS).to(device)
    return quantization.QuantizedLinear(weight_of(device), bias, *OF_RESULT, "int8")


CLASSES = [Native, Fused, Composite, Fake, quantization.WeightOnlyLinear, quantization.QuantizedLinear]

# ---- their references -----------------------------------------------------------------------------------------------


def of_x(x):
    return quantized(x, "int8", *OF_X)


def of_weight():
    return quantized(WEIGHT, "int8", SCALES, axis=0)


def result(values):
    return quantized(values.astype(np.float32), "int8", *OF_RESULT)


def exact_linear(x):
    """Returns float32(sum) * (scale of x * scale of w) + bias."""
    a, w = of_x(x), of_weight()
    sums = ((a.codes - a.zero) @ w.codes.T).astype(np.int32).astype(np.float32)
    return sums * (np.float32(OF_X[0]) * SCALES) + BIAS


def straight_through(x, grad):
    code = np.rint(x / np.float32(OF_X[0])) + OF_X[1]
    return np.where((code >= -128) & (code <= 127), grad, 0)


@dataclass(frozen=True)
class Use:
    """A use of quantized tensors.

    ``module(device)`` makes the module, and ``wanted(x)`` its result for an array: an array, or a quantized one.
    ``operator`` and ``way`` are those of its call; ``way`` is None where no argument is quantized. ``quantizes`` says
    whether the module takes a quantized tensor. ``gradient(grad)`` is that of the input.
    """

    title: str
    module: Callable[[str], Any]
    operator: str
    way: str | None
    wanted: Callable[[np.ndarray], Any]
    quantizes: bool = True
    gradient: Callable[[np.ndarray], np.ndarray] | None = None
    features: int = DEPTH

    def operand(self, x):
        """Returns the argument of the module for a plain tensor."""
        return lamella.quantize_per_tensor(x, *OF_X, "int8") if self.quantizes else x

    def check(self, got, relative=1e-5):
        """Raises unless ``got`` is the result for X: codes and fake-quantized values bit for bit, sums of floating
        numbers up to rounding."""
        wanted = self.wanted(X)
        if self.quantizes:
            same(got, wanted)
        elif self.way is None:
            plain(got.detach(), wanted)
        else:
            assert not got.is_quantized and tuple(got.shape) == wanted.shape
            largest = np.abs(wanted).max()
            np.testing.assert_allclose(got.detach().cpu().float().numpy(), wanted, relative, relative * largest)


USES = {
    "native": Use(
        "native call", lambda device: Native(), "aten::clamp", "native",
        lambda x: quantized(np.clip(of_x(x).values(), -0.3, 1.1), "int8", *OF_X),
    ),
    "fused": Use(
        "fused call", Fused, "aten::add", "fused",
        lambda x: result(of_x(x).values() + quantized(OTHER, "int8", *OF_OTHER).values()),
    ),
    "composite": Use(
        "composite call", Composite, "aten::mul", "composite",
        lambda x: result(of_x(x).values() * quantized(OTHER, "int16", *OF_OTHER).values()),
    ),
    "weight": Use(
        "weight-only layer", weight_only, "aten::linear", "native", lambda x: x @ of_weight().values().T + BIAS,
        quantizes=False, gradient=lambda grad: grad @ of_weight().values(), features=FEATURES,
    ),
    "static": Use(
        "static layer", static, "quantized::linear", "native", lambda x: result(exact_linear(x)), features=FEATURES,
    ),
    "fake": Use(
        "fake quantization", lambda device: Fake(), "aten::fake_quantize_per_tensor_affine", None,
        lambda x: of_x(x).values(), quantizes=False, gradient=lambda grad: straight_through(X, grad),
    ),
}  # fmt: skip
