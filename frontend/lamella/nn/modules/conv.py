"""Convolutions of one, two and three dimensions."""

from __future__ import annotations

import math
from typing import Any

import lamella.nn.functional as F
import lamella.nn.init as init
from lamella._C import Tensor
from lamella.nn.modules.lazy import LazyModuleMixin
from lamella.nn.modules.linear import empty_parameter
from lamella.nn.modules.module import Module
from lamella.nn.modules.utils import several
from lamella.nn.parameter import UninitializedParameter

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]

_functions = vars(F)  # read at each call, since programs that count calls replace functions
MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """The common base of all convolutions: sizes, a weight, a bias, and padding in four modes."""

    bias: Any
    weight: Any
    _spatial: int
    _function: str  # its name in nn.functional

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        transposed: bool,
        output_padding: Any,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        who = type(self).__name__
        if groups <= 0:
            raise ValueError(f"{who}: argument 'groups' must be positive, got {groups}")
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(f"{who}: argument '{name}': {channels} is no multiple of {groups} groups")
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise ValueError(f"{who}: argument 'padding' must be 'same', 'valid' or numbers, got {padding!r}")
        if padding_mode not in MODES:
            raise ValueError(f"{who}: argument 'padding_mode' must be one of {', '.join(MODES)}, got {padding_mode!r}")
        n = self._spatial
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride = several(kernel_size, n), several(stride, n)
        self.padding = padding if isinstance(padding, str) else several(padding, n)
        self.dilation, self.transposed = several(dilation, n), transposed
        self.output_padding = several(output_padding, n)
        self.groups, self.padding_mode = groups, padding_mode
        if padding == "same" and any(s != 1 for s in self.stride):
            raise ValueError(f"{who}: padding='same' needs stride 1, got {self.stride}")
        self._reversed_padding_repeated_twice = self._margins()
        first, second = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        self.weight = empty_parameter(first, second // groups, *self.kernel_size, device=device, dtype=dtype)
        self.register_parameter("bias", empty_parameter(out_channels, device=device, dtype=dtype) if bias else None)
        self.reset_parameters()

    def _margins(self) -> list[Any]:
        """Returns the padding as ``pad`` takes it: pairs, beginning with the last dimension."""
        if self.padding == "valid":
            return [0] * (2 * self._spatial)
        if self.padding != "same":
            return [p for p in reversed(self.padding) for _ in range(2)]
        reach = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
        return [m for r in reversed(reach) for m in (r // 2, r - r // 2)]

    def reset_parameters(self) -> None:
        """Draws new values, as a Linear over one window does."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def extra_repr(self) -> str:
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        none = (0,) * self._spatial
        if self.padding != none:
            parts.append(f"padding={self.padding}")
        if self.dilation != (1,) * self._spatial:
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != none:
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


class _Conv(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ):
        sizes = (in_channels, out_channels, kernel_size, stride, padding, dilation)
        super().__init__(*sizes, False, 0, groups, bias, padding_mode, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode), 0
        return _functions[self._function](
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )


class Conv1d(_Conv):
    """A convolution of (N, C, L) or (C, L).

    ``weight`` is (out_channels, in_channels / groups, kernel). ``padding`` is a number, "same" or "valid", and
    ``padding_mode`` chooses its values: "zeros", "reflect", "replicate" or "circular".

    Names: channels have that of the weight's first dimension, all others stay.

    >>> lamella.nn.Conv1d(16, 33, 3, stride=2)(lamella.ones(20, 16, 50)).shape
    lamella.Size([20, 33, 24])
    """

    _spatial, _function = 1, "conv1d"


class Conv2d(_Conv):
    """A convolution of (N, C, H, W) or (C, H, W); see Conv1d.

    Names: channels have that of the weight's first dimension, all others stay.

    >>> lamella.nn.Conv2d(16, 33, (3, 5), padding="same")(lamella.ones(2, 16, 10, 9)).shape
    lamella.Size([2, 33, 10, 9])
    """

    _spatial, _function = 2, "conv2d"


class Conv3d(_Conv):
    """A convolution of (N, C, D, H, W) or (C, D, H, W); see Conv1d.

    Names: channels have that of the weight's first dimension, all others stay.

    >>> lamella.nn.Conv3d(2, 3, 3)(lamella.ones(1, 2, 5, 6, 7)).shape
    lamella.Size([1, 3, 3, 4, 5])
    """

    _spatial, _function = 3, "conv3d"


class _ConvTransposeNd(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ):
        who = type(self).__name__
        if padding_mode != "zeros":
            raise ValueError(f"{who}: argument 'padding_mode' must be 'zeros', got {padding_mode!r}")
        if isinstance(padding, str):
            raise TypeError(f"{who}: argument 'padding' must be numbers, got {padding!r}")
        sizes = (in_channels, out_channels, kernel_size, stride, padding, dilation)
        super().__init__(*sizes, True, output_padding, groups, bias, padding_mode, device, dtype)

    def _output_padding(self, input: Tensor, output_size: Any) -> tuple[Any, ...]:
        """Returns the output padding that gives a result of ``output_size``; the module's own if that is None."""
        if output_size is None:
            return self.output_padding
        n, who = self._spatial, type(self).__name__
        wanted, ahead = list(output_size), input.ndim - n
        if len(wanted) == ahead + n:
            wanted = wanted[ahead:]
        if len(wanted) != n:
            raise ValueError(
                f"{who}: argument 'output_size': expected {n} sizes, or all {ahead + n} sizes of the result, got "
                f"{tuple(output_size)}"
            )
        least = [
            (input.shape[ahead + i] - 1) * self.stride[i]
            - 2 * self.padding[i]
            + self.dilation[i] * (self.kernel_size[i] - 1)
            + 1
            for i in range(n)
        ]
        most = [size + step - 1 for size, step in zip(least, self.stride, strict=True)]
        if not all(low <= size <= high for low, size, high in zip(least, wanted, most, strict=True)):
            raise ValueError(
                f"{who}: argument 'output_size': requested an output size of {wanted}, but valid sizes range from "
                f"{least} to {most} for an input of shape {tuple(input.shape)}"
            )
        return tuple(size - low for size, low in zip(wanted, least, strict=True))

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        more = self._output_padding(input, output_size)
        return _functions[self._function](
            input, self.weight, self.bias, self.stride, self.padding, more, self.groups, self.dilation
        )


class ConvTranspose1d(_ConvTransposeNd):
    """The transposed convolution of (N, C, L) or (C, L): each element adds its multiple of the kernel to the result.

    ``weight`` is (in_channels, out_channels / groups, kernel). ``padding`` is removed from both ends of the result, and
    ``output_padding`` is added at its end. ``output_size``, an argument of the call, replaces ``output_padding``.

    Names: channels have that of the bias, all others stay.

    >>> m = lamella.nn.ConvTranspose1d(16, 33, 3, stride=2)
    >>> m(lamella.ones(20, 16, 50)).shape, m(lamella.ones(20, 16, 50), output_size=(102,)).shape
    (lamella.Size([20, 33, 101]), lamella.Size([20, 33, 102]))
    """

    _spatial, _function = 1, "conv_transpose1d"


class ConvTranspose2d(_ConvTransposeNd):
    """The transposed convolution of (N, C, H, W) or (C, H, W); see ConvTranspose1d.

    Names: channels have that of the bias, all others stay.

    >>> x = lamella.ones(1, 16, 12, 12)
    >>> down, up = lamella.nn.Conv2d(16, 16, 3, 2, 1), lamella.nn.ConvTranspose2d(16, 16, 3, 2, 1)
    >>> up(down(x), output_size=x.shape).shape
    lamella.Size([1, 16, 12, 12])
    """

    _spatial, _function = 2, "conv_transpose2d"


class ConvTranspose3d(_ConvTransposeNd):
    """The transposed convolution of (N, C, D, H, W) or (C, D, H, W); see ConvTranspose1d.

    Names: channels have that of the bias, all others stay.

    >>> lamella.nn.ConvTranspose3d(2, 3, 3)(lamella.ones(1, 2, 3, 4, 5)).shape
    lamella.Size([1, 3, 5, 6, 7])
    """

    _spatial, _function = 3, "conv_transpose3d"


class _LazyConv(LazyModuleMixin):
    """A convolution that takes ``in_channels`` from its first input."""

    weight: Any
    bias: Any

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype)
        self._begin(out_channels, bias, device, dtype)

    def _begin(self, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_channels != 0:  # type: ignore[has-type]
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Gives the parameters the shapes that fit the input."""
        n: int = self._spatial  # type: ignore[attr-defined]
        if not self.has_uninitialized_params():
            return
        if input.ndim not in (n + 1, n + 2):
            raise RuntimeError(
                f"{type(self).__name__}: expected {n + 2} dimensions, or {n + 1} without a batch, got shape "
                f"{tuple(input.shape)}"
            )
        self.in_channels = input.shape[-n - 1]
        groups = self.groups  # type: ignore[attr-defined]
        if self.in_channels % groups:
            raise ValueError(f"{type(self).__name__}: {self.in_channels} channels are no multiple of {groups} groups")
        channels = (self.out_channels, self.in_channels)
        first, second = reversed(channels) if self.transposed else channels  # type: ignore[attr-defined]
        self.weight.materialize((first, second // groups, *self.kernel_size))  # type: ignore[attr-defined]
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class LazyConv1d(_LazyConv, Conv1d):  # type: ignore[misc]
    """A Conv1d that takes ``in_channels`` from its first input.

    >>> m = lamella.nn.LazyConv1d(3, 2)
    >>> m(lamella.ones(1, 4, 5)).shape, m
    (lamella.Size([1, 3, 4]), Conv1d(4, 3, kernel_size=(2,), stride=(1,)))
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):  # type: ignore[misc]
    """A Conv2d that takes ``in_channels`` from its first input.

    >>> lamella.nn.LazyConv2d(3, 2)(lamella.ones(1, 4, 5, 6)).shape
    lamella.Size([1, 3, 4, 5])
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):  # type: ignore[misc]
    """A Conv3d that takes ``in_channels`` from its first input.

    >>> lamella.nn.LazyConv3d(3, 2)(lamella.ones(1, 4, 5, 6, 7)).shape
    lamella.Size([1, 3, 4, 5, 6])
    """

    cls_to_become = Conv3d


class _LazyConvTranspose(_LazyConv):
    """A transposed convolution that takes ``in_channels`` from its first input."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ):
        sizes = (0, 0, kernel_size, stride, padding, output_padding)
        super(_LazyConv, self).__init__(*sizes, groups, False, dilation, padding_mode, device, dtype)
        self._begin(out_channels, bias, device, dtype)


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):  # type: ignore[misc]
    """A ConvTranspose1d that takes ``in_channels`` from its first input.

    >>> m = lamella.nn.LazyConvTranspose1d(3, 2)
    >>> m(lamella.ones(1, 4, 5)).shape, m
    (lamella.Size([1, 3, 6]), ConvTranspose1d(4, 3, kernel_size=(2,), stride=(1,)))
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):  # type: ignore[misc]
    """A ConvTranspose2d that takes ``in_channels`` from its first input.

    >>> lamella.nn.LazyConvTranspose2d(3, 2)(lamella.ones(1, 4, 5, 6)).shape
    lamella.Size([1, 3, 6, 7])
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):  # type: ignore[misc]
    """A ConvTranspose3d that takes ``in_channels`` from its first input.

    >>> lamella.nn.LazyConvTranspose3d(3, 2)(lamella.ones(1, 4, 5, 6, 7)).shape
    lamella.Size([1, 3, 6, 7, 8])
    """

    cls_to_become = ConvTranspose3d
