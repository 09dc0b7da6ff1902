"""Rounding of weights by calibration data: codes are chosen by the error of a layer's results, not of its weight."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import lamella
from lamella import Tensor

from .choosing import number_of, quantize
from .modules import frozen
from .tensor import quantize_per_channel, quantize_per_group
from .types import scheme

BLOCK = 64  # columns that are factored or rounded before the columns beside them are updated
LEAST = 1e-4  # the least size of an input channel beside the largest one, by which AWQ scales


@dataclass(frozen=True)
class GPTQ:
    """Rounds weights column by column; the columns after a column change so that they make its error smaller.

    The weight determines the scales, as it does without GPTQ. The codes then make tr(E H Eᵀ) small, where E is the
    error of the weight and H the mean of x xᵀ over the inputs x of the layer: that is the mean squared error of the
    layer's results.
    Frantar et al. 2022, "GPTQ"; computed by H = U D Uᵀ as in Chee et al. 2023, "QuIP", section 3.

    All layers are calibrated in one run of the model, in evaluation and with its floating weights. H is a float32
    matrix of (in features, in features) for each layer, which is kept until all layers are rounded. Embeddings are
    rounded to the nearest.

    Args:
        calibrate: ``calibrate(model)`` runs data through the model that is like what the model will get
        damping: this part of the mean of H's diagonal is added to the diagonal; more is nearer to plain rounding

    Raises:
        ValueError: ``damping`` is not positive and finite
        TypeError: ``calibrate`` cannot be called

    >>> _ = lamella.manual_seed(0)
    >>> model, data = lamella.nn.Sequential(lamella.nn.Linear(64, 8)), lamella.randn(256, 8) @ lamella.randn(8, 64)
    >>> gptq = lamella.quantization.GPTQ(lambda model: model(data))
    >>> lamella.quantization.quantize_(model, lamella.quantization.Int4WeightOnly(rounding=gptq))
    Sequential(
      (0): WeightOnlyLinear(8, 64, weight=int4 per_group_symmetric)
    )
    """

    calibrate: Callable[[Any], Any]
    damping: float = 0.01

    def __post_init__(self) -> None:
        callable_or_error("GPTQ", self.calibrate)
        number = isinstance(self.damping, (int, float)) and not isinstance(self.damping, bool)
        if not (number and self.damping > 0 and math.isfinite(self.damping)):
            raise ValueError(f"GPTQ: argument 'damping': expected a positive finite number, got {self.damping!r}")

    def round_layer(self, layer: Any, weight: Tensor, moments: Tensor) -> None:
        """Gives a quantized linear layer other codes, by its floating weight and the second moments of its inputs.

        Raises:
            ValueError: the moments with this damping are not positive definite in float64, or the numeric type does
                not encode its own values as themselves
        """
        layer.weight = frozen(by_gptq(weight.detach().float(), moments, self.damping, layer.weight).to(weight.dtype))


@dataclass(frozen=True)
class AWQ:
    """Scales the columns of weights before they are rounded, so that columns of large inputs have smaller errors.

    Column k is multiplied by s[k], and the layer divides its input by s, which is its buffer ``input_divisor``. s is
    the root mean square of the inputs' channels to the power alpha, divided by the root of its least times its
    greatest. The alphas are 0, 1 / grid, 2 / grid, … 1; the one with the least tr(E H Eᵀ) is chosen, where E is the
    error of the weight and H the mean of x xᵀ over the inputs x of the layer. With alpha = 0 a layer has no divisor.
    Lin et al. 2023, "AWQ", section 3.2; weights are not clipped.

    A dynamic layer divides its input before it quantizes it; the choice of alpha leaves that error out.

    All layers are calibrated in one run of the model, in evaluation and with its floating weights. H is a float32
    matrix of (in features, in features) for each layer, which is kept until all layers are rounded. Embeddings are
    rounded to the nearest.

    Args:
        calibrate: ``calibrate(model)`` runs data through the model that is like what the model will get
        grid: how many alphas above 0 are tried

    Raises:
        ValueError: ``grid`` is no integer of at least 1
        TypeError: ``calibrate`` cannot be called

    >>> _ = lamella.manual_seed(0)
    >>> model, data = lamella.nn.Sequential(lamella.nn.Linear(64, 8)), lamella.randn(256, 64)
    >>> data[:, 5] *= 50
    >>> awq = lamella.quantization.AWQ(lambda model: model(data))
    >>> lamella.quantization.quantize_(model, lamella.quantization.Int4WeightOnly(rounding=awq))
    Sequential(
      (0): WeightOnlyLinear(8, 64, weight=int4 per_group_symmetric, input_divisor=True)
    )
    """

    calibrate: Callable[[Any], Any]
    grid: int = 20

    def __post_init__(self) -> None:
        callable_or_error("AWQ", self.calibrate)
        if not isinstance(self.grid, int) or isinstance(self.grid, bool) or self.grid < 1:
            raise ValueError(f"AWQ: argument 'grid': expected an integer of at least 1, got {self.grid!r}")

    def round_layer(self, layer: Any, weight: Tensor, moments: Tensor) -> None:
        """Gives a quantized linear layer a divisor of its input and the codes of the scaled weight, if that has a lower
        error than the layer's codes; ``moments`` are the second moments of the inputs."""
        values = weight.detach().float()
        sizes = moments.diagonal().sqrt()
        sizes = (sizes / sizes.max().clamp(min=lamella.finfo(lamella.float32).tiny)).clamp(min=LEAST)
        found = scheme(layer.weight)
        shared = {"group_size": found["inner"]} if "group" in found["kind"] else {"axis": 0}
        least = results_error(values - layer.weight.float().dequantize(), moments)
        for step in range(1, self.grid + 1):
            divisor = sizes ** (step / self.grid)
            divisor = (divisor / (divisor.amin() * divisor.amax()).sqrt()).to(weight.dtype).float()
            codes = quantize(values * divisor, found["type"], **shared)
            error = results_error(values - codes.dequantize() / divisor, moments)
            if error < least:
                least = error
                layer.weight, layer.input_divisor = frozen(codes.to(weight.dtype)), divisor.to(weight.dtype)


def callable_or_error(name: str, calibrate: Any) -> None:
    """Raises a TypeError unless ``calibrate`` can be called."""
    if not callable(calibrate):
        raise TypeError(
            f"{name}: argument 'calibrate': expected a function that runs data through the model that it gets, got "
            f"{type(calibrate).__name__}"
        )


def checked_rounding(config: Any) -> None:
    """Raises a TypeError unless a configuration's ``rounding`` is one."""
    if config.rounding is not None and not isinstance(config.rounding, (GPTQ, AWQ)):
        raise TypeError(
            f"{type(config).__name__}: argument 'rounding': expected GPTQ(calibrate), AWQ(calibrate) or None, got "
            f"{config.rounding!r}"
        )


class Moments:
    """The mean of x xᵀ over the inputs x that a linear layer gets, float32."""

    def __init__(self, features: int):
        self.features, self.count = features, 0
        self.sum: Tensor | None = None

    def __call__(self, x: Tensor) -> None:
        x = x.detach().rename(None) if hasattr(x, "rename") else x.detach()  # names of dimensions would come twice
        rows = x.reshape(-1, self.features).float()
        if len(rows):
            product = rows.T @ rows
            self.sum = product if self.sum is None else self.sum + product
            self.count += len(rows)

    def mean(self) -> Tensor:
        """Returns the second moments.

        Raises:
            RuntimeError: the layer has got no data
            ValueError: they are not finite
        """
        if self.sum is None:
            raise RuntimeError(
                "the layer was never fed by 'calibrate'; run data that reaches it, or leave it out, by None for its "
                "name in a dictionary of configurations"
            )
        mean: Tensor = self.sum / self.count
        if not mean.isfinite().all():
            raise ValueError(
                "the products of the inputs that 'calibrate' gave the layer are not finite in float32; calibrate "
                "with data without NaN, infinities and numbers as large as 1e19"
            )
        return mean


def results_error(error: Tensor, moments: Tensor) -> float:
    """Returns tr(E H Eᵀ), the mean squared error of a linear layer's results, summed over the out features."""
    return number_of(((error @ moments) * error).sum())


def factors(h: Tensor) -> tuple[Tensor, Tensor]:
    """Returns U and the diagonal of D for a symmetric matrix h = U D Uᵀ; U is upper triangular, with a diagonal of 1.

    A column is eliminated at a time, from the last to the first, and the columns before a block by one product. All of
    D is positive if h is positive definite.
    """
    h = h.clone()
    n = len(h)
    for end in range(n, 0, -BLOCK):
        begin = max(end - BLOCK, 0)
        for k in range(end - 1, begin - 1, -1):
            column = h[:k, k] / h[k, k]
            h[:k, begin:k] -= column[:, None] * h[begin:k, k].clone()
            h[:k, k] = column
        part = h[:begin, begin:end]
        h[:begin, :begin] -= (part * h.diagonal()[begin:end]) @ part.T
    pivots = h.diagonal().clone()
    upper = h.triu(1)
    upper.diagonal().fill_(1.0)
    return upper, pivots


def by_gptq(weight: Tensor, moments: Tensor, damping: float, like: Tensor) -> Tensor:
    """Returns a weight that is quantized with the scales of ``like``, and codes by GPTQ.

    Column k is the nearest to weight[:, k] + E[:, :k] U[:k, k], where E is the error of the columns before it.
    """
    moments = moments.double()
    diagonal = moments.diagonal()
    added = diagonal.mean().clamp(min=lamella.finfo(lamella.float32).tiny) * damping
    upper, pivots = factors(moments + lamella.diag(added.expand(len(diagonal))))
    if not (pivots > 0).all():
        raise ValueError(
            f"GPTQ: with damping={damping} the second moments of the inputs are not positive definite in float64; "
            "choose a greater damping, such as 0.01"
        )
    upper = upper.float()
    found = scheme(like)
    name, rows, inner = found["type"], len(weight), found["inner"]
    scales = found["scale"].unflatten(0, (rows, -1))  # of one group of columns, or of several
    zeros = None if found["zero_point"] is None else found["zero_point"].unflatten(0, (rows, -1))
    rounded, errors = lamella.empty_like(weight), lamella.empty_like(weight)
    for begin in range(0, weight.shape[1], BLOCK):
        end = min(begin + BLOCK, weight.shape[1])
        wanted = weight[:, begin:end] + errors[:, :begin] @ upper[:begin, begin:end]
        for k in range(begin, end):
            column = wanted[:, k - begin] + errors[:, begin:k] @ upper[begin:k, k]
            group = k // inner
            zero = None if zeros is None else zeros[:, group]
            rounded[:, k] = quantize_per_channel(column, scales[:, group], zero, 0, name).dequantize()
            errors[:, k] = weight[:, k] - rounded[:, k]
    if "group" in found["kind"]:
        made = quantize_per_group(rounded, scales, zeros, inner, name)
    else:
        made = quantize_per_channel(rounded, found["scale"], found["zero_point"], 0, name)
    if not made.dequantize().equal(rounded):
        raise ValueError(
            f"GPTQ: the numeric type {name!r} does not encode its own values as themselves; round by AWQ, or to the "
            "nearest by rounding=None"
        )
    return made
