"""The largest element or the mean of windows."""

from __future__ import annotations

from typing import Any

from lamella._C import Tensor
from lamella.nn import functional as F
from lamella.nn.modules.conv import several
from lamella.nn.modules.module import Module

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "MaxPool1d",
    "MaxPool2d",
]


class _MaxPool(Module):
    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def _pool(self, pool: Any, input: Tensor) -> Any:
        return pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """The largest element of each window of (N, C, L) or (C, L).

    >>> lamella.nn.MaxPool1d(2)(lamella.tensor([[1.0, 3.0, 2.0, 4.0]]))
    tensor([[3., 4.]])
    """

    def forward(self, input: Tensor) -> Any:
        return self._pool(F.max_pool1d, input)


class MaxPool2d(_MaxPool):
    """The largest element of each window of (N, C, H, W) or (C, H, W).

    Windows lie side by side unless ``stride`` says otherwise; padding is never the largest. ``return_indices`` gives a
    pair, the second of which says where in its plane each stood.

    >>> lamella.nn.MaxPool2d(2)(lamella.arange(16.0).view(1, 4, 4))
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """

    def forward(self, input: Tensor) -> Any:
        return self._pool(F.max_pool2d, input)


class AvgPool1d(Module):
    """The mean of each window of (N, C, L) or (C, L).

    >>> lamella.nn.AvgPool1d(2)(lamella.tensor([[1.0, 3.0, 2.0, 4.0]]))
    tensor([[2., 3.]])
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ):
        super().__init__()
        self.kernel_size = several(kernel_size, 1)
        self.stride = several(kernel_size if stride is None else stride, 1)
        self.padding = several(padding, 1)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(Module):
    """The mean of each window of (N, C, H, W) or (C, H, W).

    Padding counts as zeros, or not at all without ``count_include_pad``; ``divisor_override`` takes the place of the
    number of elements.

    >>> lamella.nn.AvgPool2d(2)(lamella.arange(16.0).view(1, 4, 4))
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AdaptiveAvgPool(Module):
    def __init__(self, output_size: Any):
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """Means of as many windows as asked for, which divide a sequence evenly.

    >>> lamella.nn.AdaptiveAvgPool1d(2)(lamella.tensor([[1.0, 3.0, 2.0, 4.0]]))
    tensor([[2., 3.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """Means of as many windows as asked for, which divide an image evenly; None keeps a size.

    >>> lamella.nn.AdaptiveAvgPool2d(1)(lamella.arange(16.0).view(1, 4, 4))
    tensor([[[7.5000]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(input, self.output_size)
