"""Normalization within each sample: over its last dimensions, over groups of channels, or over neighbouring
channels."""

from __future__ import annotations

from typing import Any

import lamella.nn.functional as F
import lamella.nn.init as init
from lamella._C import Tensor
from lamella.nn.modules._affine import _Affine
from lamella.nn.modules.linear import empty_parameter
from lamella.nn.modules.module import Module
from lamella.nn.modules.utils import several

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class LayerNorm(_Affine):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over the last dimensions, those of ``normalized_shape``.

    After Ba, Kiros and Hinton (2016).

    Names of dimensions stay; those of the parameters must agree.

    >>> lamella.nn.LayerNorm(2, elementwise_affine=False)(lamella.tensor([[1.0, 3.0]]))
    tensor([[-1.0000,  1.0000]])
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.normalized_shape = several(normalized_shape, 1)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._make_weights(self.normalized_shape, elementwise_affine, bias, device, dtype)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """``x / sqrt(mean(x²) + eps) * weight`` over the last dimensions, those of ``normalized_shape``.

    The default ``eps`` is float64's machine epsilon for float64, and float32's for other dtypes. After Zhang and
    Sennrich (2019).

    Names of dimensions stay; those of the parameters must agree.

    >>> lamella.nn.RMSNorm(2, elementwise_affine=False)(lamella.tensor([[3.0, 3.0]]))
    tensor([[1., 1.]])
    """

    weight: Any

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.normalized_shape = several(normalized_shape, 1)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        shape = self.normalized_shape
        weight = empty_parameter(*shape, device=device, dtype=dtype) if elementwise_affine else None
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets the weight to 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(_Affine):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over groups of channels of (N, C, ...).

    Mean and variance are per group, weight and bias per channel. After Wu and He (2018).

    Names of dimensions stay; those of the parameters must agree.

    >>> lamella.nn.GroupNorm(3, 6)(lamella.ones(20, 6, 10, 10)).shape
    lamella.Size([20, 6, 10, 10])
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ):
        super().__init__()
        if num_groups <= 0 or num_channels % num_groups:
            raise ValueError(f"GroupNorm: {num_channels} channels cannot be divided into {num_groups} groups")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._make_weights((num_channels,), affine, bias, device, dtype)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        parts = f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"
        return f"{parts}, bias={self.bias is not None}"


class _Neighbours(Module):
    """The base of normalizations over neighbouring channels."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class LocalResponseNorm(_Neighbours):
    """``x / (k + alpha * m) ** beta``, with the mean m of the squares of ``size`` neighbouring channels, dimension 1.

    Channels outside of the range count as 0. After Krizhevsky et al. (2012). Names of dimensions stay.

    >>> lamella.nn.LocalResponseNorm(3, alpha=3.0, beta=1.0)(lamella.ones(1, 3, 1)).flatten()
    tensor([0.3333, 0.2500, 0.3333])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)


class CrossMapLRN2d(_Neighbours):
    """LocalResponseNorm of (N, C, H, W) with the sums of torch's older layer.

    The sum covers ``(size - 1) // 2`` channels on each side, and is divided by ``size``. As in torch, a channel 0 that
    has entered the sum stays in it. Names of dimensions stay.

    >>> lamella.nn.CrossMapLRN2d(3, alpha=3.0, beta=1.0)(lamella.ones(1, 4, 1, 1)).flatten()
    tensor([0.3333, 0.2500, 0.2000, 0.2500])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1):
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.ndim}D instead.")
        if input.numel() == 0:
            return input
        reach = (self.size - 1) // 2
        squares = input.square()
        n, channels, *image = squares.shape
        around = F.pad(squares.reshape(n, 1, channels, -1), (0, 0, reach, reach))
        sums = F.avg_pool2d(around, (2 * reach + 1, 1), 1, divisor_override=1).reshape(n, channels, *image)
        if channels > reach + 1:
            first = squares[:, :1].expand(n, channels - reach - 1, *image)
            sums = sums + F.pad(first, (0, 0, 0, 0, reach + 1, 0))
        return input * (sums * (self.alpha / self.size) + self.k) ** -self.beta
