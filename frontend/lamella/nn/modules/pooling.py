"""Pooling: the maximum, the mean or a norm of windows, and unpooling, as modules."""

from __future__ import annotations

from typing import Any

import lamella.nn.functional as F
from lamella._C import Tensor
from lamella.nn.modules.module import Module
from lamella.nn.modules.utils import several

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]

_functions = vars(F)  # read at each call, since programs that count calls replace functions


class _Windows(Module):
    """The common base of pools whose windows have one size and one distance from each other."""

    _spatial: int = 0  # sizes become tuples of this length, unless it is 0

    def __init__(self, kernel_size: Any, stride: Any, padding: Any):
        super().__init__()
        sizes: Any = (kernel_size, kernel_size if stride is None else stride, padding)
        if self._spatial:
            sizes = [several(size, self._spatial) for size in sizes]
        self.kernel_size, self.stride, self.padding = sizes

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _MaxPoolNd(_Windows):
    _function: str  # its name in nn.functional

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ):
        super().__init__(kernel_size, stride, padding)
        self.dilation, self.return_indices, self.ceil_mode = dilation, return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        return _functions[self._function](
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, dilation={self.dilation}, ceil_mode={self.ceil_mode}"


class MaxPool1d(_MaxPoolNd):
    """The maximum of each window of (N, C, L) or (C, L). Names of dimensions stay.

    >>> lamella.nn.MaxPool1d(2)(lamella.tensor([[1.0, 3.0, 2.0, 4.0]]))
    tensor([[3., 4.]])
    """

    _function = "max_pool1d"


class MaxPool2d(_MaxPoolNd):
    """The maximum of each window of (N, C, H, W) or (C, H, W).

    ``stride`` is by default the size of a window. Padding is never the maximum. With ``return_indices`` the result is a
    pair, the second of which holds the index of each maximum in its plane. Names of dimensions stay.

    >>> lamella.nn.MaxPool2d(2)(lamella.arange(16.0).view(1, 4, 4))
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """

    _function = "max_pool2d"


class MaxPool3d(_MaxPoolNd):
    """The maximum of each window of (N, C, D, H, W) or (C, D, H, W); see MaxPool2d. Names of dimensions stay.

    >>> lamella.nn.MaxPool3d(2)(lamella.arange(8.0).view(1, 2, 2, 2))
    tensor([[[[7.]]]])
    """

    _function = "max_pool3d"


class _MaxUnpoolNd(_Windows):
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0):
        super().__init__(kernel_size, stride, padding)


class MaxUnpool1d(_MaxUnpoolNd):
    """The inverse of a MaxPool1d that returned indices: each maximum at its index, zeros elsewhere.

    ``output_size``, an argument of the call, chooses among the sizes that pool to the input's size.

    Names of dimensions stay.

    >>> pool, unpool = lamella.nn.MaxPool1d(2, return_indices=True), lamella.nn.MaxUnpool1d(2)
    >>> x = lamella.tensor([[1.0, 3.0, 2.0, 4.0, 5.0]])
    >>> unpool(*pool(x)), unpool(*pool(x), output_size=x.shape[-1:])
    (tensor([[0., 3., 0., 4.]]), tensor([[0., 3., 0., 4., 0.]]))
    """

    _spatial = 1

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_MaxUnpoolNd):
    """The inverse of a MaxPool2d that returned indices; see MaxUnpool1d. Names of dimensions stay.

    >>> pool, unpool = lamella.nn.MaxPool2d(2, return_indices=True), lamella.nn.MaxUnpool2d(2)
    >>> unpool(*pool(lamella.arange(4.0).view(1, 2, 2)))
    tensor([[[0., 0.],
             [0., 3.]]])
    """

    _spatial = 2

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(_MaxUnpoolNd):
    """The inverse of a MaxPool3d that returned indices; see MaxUnpool1d. Names of dimensions stay.

    >>> pool, unpool = lamella.nn.MaxPool3d(2, return_indices=True), lamella.nn.MaxUnpool3d(2)
    >>> unpool(*pool(lamella.ones(1, 4, 6, 8))).shape
    lamella.Size([1, 4, 6, 8])
    """

    _spatial = 3

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class AvgPool1d(_Windows):
    """The mean of each window of (N, C, L) or (C, L). Names of dimensions stay.

    >>> lamella.nn.AvgPool1d(2)(lamella.tensor([[1.0, 3.0, 2.0, 4.0]]))
    tensor([[2., 3.]])
    """

    _spatial = 1

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ):
        super().__init__(kernel_size, stride, padding)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _AvgPoolNd(_Windows):
    _function: str  # its name in nn.functional

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ):
        super().__init__(kernel_size, stride, padding)
        self.ceil_mode, self.count_include_pad, self.divisor_override = ceil_mode, count_include_pad, divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return _functions[self._function](
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool2d(_AvgPoolNd):
    """The mean of each window of (N, C, H, W) or (C, H, W).

    Padding counts as zeros; without ``count_include_pad`` it is left out. ``divisor_override`` replaces the number of
    elements. Names of dimensions stay.

    >>> lamella.nn.AvgPool2d(2)(lamella.arange(16.0).view(1, 4, 4))
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])
    """

    _function = "avg_pool2d"


class AvgPool3d(_AvgPoolNd):
    """The mean of each window of (N, C, D, H, W) or (C, D, H, W); see AvgPool2d. Names of dimensions stay.

    >>> lamella.nn.AvgPool3d(2)(lamella.arange(8.0).view(1, 2, 2, 2))
    tensor([[[[3.5000]]]])
    """

    _function = "avg_pool3d"


class _FractionalMaxPool(Module):
    _function: str  # its name in nn.functional
    _spatial: int
    _random_samples: Any

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ):
        super().__init__()
        n, who = self._spatial, type(self).__name__
        if not all(k > 0 for k in several(kernel_size, n)):
            raise ValueError(f"{who}: kernel_size must be greater than 0, but got {kernel_size}")
        self.kernel_size, self.return_indices = several(kernel_size, n), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else several(output_size, n)
        self.output_ratio = None if output_ratio is None else several(output_ratio, n)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{who} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError(f"{who}: only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"{who}: argument 'output_ratio' must be between 0 and 1, got {output_ratio}")

    def forward(self, input: Tensor) -> Any:
        return _functions[self._function](
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """The maximum of each window of (N, C, H, W) or (C, H, W); the windows begin at random places.

    ``output_size`` is the number of windows along each dimension; ``output_ratio`` gives it as a share of the input's
    size. The random places are chosen as in Graham, Fractional max-pooling, 2014. Names of dimensions stay.

    >>> lamella.nn.FractionalMaxPool2d(3, output_ratio=(0.5, 0.25))(lamella.ones(1, 8, 8)).shape
    lamella.Size([1, 4, 2])
    """

    _spatial, _function = 2, "fractional_max_pool2d"


class FractionalMaxPool3d(_FractionalMaxPool):
    """The maximum of each window of (N, C, D, H, W) or (C, D, H, W); see FractionalMaxPool2d. Names of dimensions stay.

    >>> lamella.nn.FractionalMaxPool3d(2, output_size=3)(lamella.ones(1, 4, 5, 6)).shape
    lamella.Size([1, 3, 3, 3])
    """

    _spatial, _function = 3, "fractional_max_pool3d"


class _LPPoolNd(Module):
    _function: str  # its name in nn.functional

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False):
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return _functions[self._function](input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The norm of order ``norm_type`` of each window of (N, C, L) or (C, L): the root of the sum of powers.

    Names of dimensions stay.

    >>> lamella.nn.LPPool1d(2, 2)(lamella.tensor([[3.0, 4.0, 0.0, 2.0]]))
    tensor([[5., 2.]])
    """

    _function = "lp_pool1d"


class LPPool2d(_LPPoolNd):
    """The norm of order ``norm_type`` of each window of (N, C, H, W) or (C, H, W). Names of dimensions stay.

    >>> lamella.nn.LPPool2d(1, 2)(lamella.arange(8.0).view(1, 2, 4))
    tensor([[[10., 18.]]])
    """

    _function = "lp_pool2d"


class LPPool3d(_LPPoolNd):
    """The norm of order ``norm_type`` of each window of (N, C, D, H, W) or (C, D, H, W). Names of dimensions stay.

    >>> lamella.nn.LPPool3d(3, 2)(lamella.ones(1, 2, 2, 2))
    tensor([[[[2.]]]])
    """

    _function = "lp_pool3d"


class _Adaptive(Module):
    """The common base of pools that choose their windows by the size of the result."""

    def __init__(self, output_size: Any):
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _AdaptiveMaxPoolNd(_Adaptive):
    def __init__(self, output_size: Any, return_indices: bool = False):
        super().__init__(output_size)
        self.return_indices = return_indices


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The maximum of each of ``output_size`` windows, spread evenly over a sequence.

    With ``return_indices`` the result is a pair, the second of which holds the index of each maximum.

    Names of dimensions stay.

    >>> lamella.nn.AdaptiveMaxPool1d(2)(lamella.tensor([[1.0, 3.0, 2.0, 4.0]]))
    tensor([[3., 4.]])
    """

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The maximum of each of ``output_size`` windows, spread evenly over an image. None keeps a size.

    Names of dimensions stay.

    >>> lamella.nn.AdaptiveMaxPool2d((None, 1))(lamella.arange(4.0).view(1, 2, 2))
    tensor([[[1.],
             [3.]]])
    """

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The maximum of each of ``output_size`` windows, spread evenly over a volume. None keeps a size.

    Names of dimensions stay.

    >>> lamella.nn.AdaptiveMaxPool3d((2, 1, 1))(lamella.arange(8.0).view(1, 2, 2, 2)).flatten()
    tensor([3., 7.])
    """

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class AdaptiveAvgPool1d(_Adaptive):
    """The means of ``output_size`` windows, spread evenly over a sequence. Names of dimensions stay.

    >>> lamella.nn.AdaptiveAvgPool1d(2)(lamella.tensor([[1.0, 3.0, 2.0, 4.0]]))
    tensor([[2., 3.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_Adaptive):
    """The means of ``output_size`` windows, spread evenly over an image. None keeps a size. Names of dimensions stay.

    >>> lamella.nn.AdaptiveAvgPool2d(1)(lamella.arange(16.0).view(1, 4, 4))
    tensor([[[7.5000]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_Adaptive):
    """The means of ``output_size`` windows, spread evenly over a volume. None keeps a size. Names of dimensions stay.

    >>> lamella.nn.AdaptiveAvgPool3d((2, 1, 1))(lamella.arange(8.0).view(1, 2, 2, 2)).flatten()
    tensor([1.5000, 5.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool3d(input, self.output_size)
