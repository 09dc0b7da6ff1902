"""Padding of sequences, images and volumes."""

from __future__ import annotations

from typing import Any

import lamella.nn.functional as F
from lamella._C import Tensor
from lamella.nn.modules.module import Module
from lamella.nn.modules.utils import several

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _Pad(Module):
    """Padding in one mode. A number applies to all sides; pairs begin with the last dimension."""

    _spatial: int
    _mode: str

    def __init__(self, padding: Any):
        super().__init__()
        self.padding = several(padding, 2 * self._spatial)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_Pad):
    def __init__(self, padding: Any, value: float):
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPadNd):
    def __init__(self, padding: Any):
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _CircularPadNd(_Pad):
    _mode = "circular"

    def _check_input_dim(self, input: Tensor) -> None:
        n = self._spatial
        if input.ndim not in (n + 1, n + 2):
            raise ValueError(f"{type(self).__name__}: expected {n + 1}D or {n + 2}D input (got {input.ndim}D input)")

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return super().forward(input)


class _ReflectionPadNd(_Pad):
    _mode = "reflect"


class _ReplicationPadNd(_Pad):
    _mode = "replicate"


class ConstantPad1d(_ConstantPadNd):
    """Pads sequences, with or without a batch, with a constant.

    ``padding`` is one number for both ends, or two numbers: before and after. Names of dimensions stay.

    >>> lamella.nn.ConstantPad1d(1, 7.0)(lamella.arange(3.0).view(1, 3))
    tensor([[7., 0., 1., 2., 7.]])
    """

    _spatial = 1


class ConstantPad2d(_ConstantPadNd):
    """Pads images with a constant.

    ``padding`` is one number for all sides, or four numbers: before and after along the last dimension, then along the
    one before it. Names of dimensions stay.

    >>> lamella.nn.ConstantPad2d(1, 7.0)(lamella.ones(2, 2, 2)).shape
    lamella.Size([2, 4, 4])
    """

    _spatial = 2


class ConstantPad3d(_ConstantPadNd):
    """Pads volumes with a constant.

    ``padding`` is one number for all sides, or six numbers: before and after along the last dimension, then along the
    one before it, then along the first of the three. Names of dimensions stay.

    >>> lamella.nn.ConstantPad3d(1, 7.0)(lamella.ones(2, 2, 2, 2)).shape
    lamella.Size([2, 4, 4, 4])
    """

    _spatial = 3


class ZeroPad1d(_ZeroPad):
    """Pads sequences, with or without a batch, with zeros.

    ``padding`` is one number for both ends, or two numbers: before and after. Names of dimensions stay.

    >>> lamella.nn.ZeroPad1d(1)(lamella.arange(3.0).view(1, 3))
    tensor([[0., 0., 1., 2., 0.]])
    """

    _spatial = 1


class ZeroPad2d(_ZeroPad):
    """Pads images with zeros.

    ``padding`` is one number for all sides, or four numbers: before and after along the last dimension, then along the
    one before it. Names of dimensions stay.

    >>> lamella.nn.ZeroPad2d(1)(lamella.ones(2, 2, 2)).shape
    lamella.Size([2, 4, 4])
    """

    _spatial = 2


class ZeroPad3d(_ZeroPad):
    """Pads volumes with zeros.

    ``padding`` is one number for all sides, or six numbers: before and after along the last dimension, then along the
    one before it, then along the first of the three. Names of dimensions stay.

    >>> lamella.nn.ZeroPad3d(1)(lamella.ones(2, 2, 2, 2)).shape
    lamella.Size([2, 4, 4, 4])
    """

    _spatial = 3


class CircularPad1d(_CircularPadNd):
    """Pads sequences, with or without a batch, with the values of the other end.

    ``padding`` is one number for both ends, or two numbers: before and after. Names of dimensions stay.

    >>> lamella.nn.CircularPad1d(1)(lamella.arange(3.0).view(1, 3))
    tensor([[2., 0., 1., 2., 0.]])
    """

    _spatial = 1


class CircularPad2d(_CircularPadNd):
    """Pads images with the values of the other end.

    ``padding`` is one number for all sides, or four numbers: before and after along the last dimension, then along the
    one before it. Names of dimensions stay.

    >>> lamella.nn.CircularPad2d(1)(lamella.ones(2, 2, 2)).shape
    lamella.Size([2, 4, 4])
    """

    _spatial = 2


class CircularPad3d(_CircularPadNd):
    """Pads volumes with the values of the other end.

    ``padding`` is one number for all sides, or six numbers: before and after along the last dimension, then along the
    one before it, then along the first of the three. Names of dimensions stay.

    >>> lamella.nn.CircularPad3d(1)(lamella.ones(2, 2, 2, 2)).shape
    lamella.Size([2, 4, 4, 4])
    """

    _spatial = 3


class ReflectionPad1d(_ReflectionPadNd):
    """Pads sequences, with or without a batch, with their mirror image.

    ``padding`` is one number for both ends, or two numbers: before and after. Names of dimensions stay.

    >>> lamella.nn.ReflectionPad1d(1)(lamella.arange(3.0).view(1, 3))
    tensor([[1., 0., 1., 2., 1.]])
    """

    _spatial = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Pads images with their mirror image.

    ``padding`` is one number for all sides, or four numbers: before and after along the last dimension, then along the
    one before it. Names of dimensions stay.

    >>> lamella.nn.ReflectionPad2d(1)(lamella.ones(2, 2, 2)).shape
    lamella.Size([2, 4, 4])
    """

    _spatial = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Pads volumes with their mirror image.

    ``padding`` is one number for all sides, or six numbers: before and after along the last dimension, then along the
    one before it, then along the first of the three. Names of dimensions stay.

    >>> lamella.nn.ReflectionPad3d(1)(lamella.ones(2, 2, 2, 2)).shape
    lamella.Size([2, 4, 4, 4])
    """

    _spatial = 3


class ReplicationPad1d(_ReplicationPadNd):
    """Pads sequences, with or without a batch, with their outermost values.

    ``padding`` is one number for both ends, or two numbers: before and after. Names of dimensions stay.

    >>> lamella.nn.ReplicationPad1d(1)(lamella.arange(3.0).view(1, 3))
    tensor([[0., 0., 1., 2., 2.]])
    """

    _spatial = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Pads images with their outermost values.

    ``padding`` is one number for all sides, or four numbers: before and after along the last dimension, then along the
    one before it. Names of dimensions stay.

    >>> lamella.nn.ReplicationPad2d(1)(lamella.ones(2, 2, 2)).shape
    lamella.Size([2, 4, 4])
    """

    _spatial = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Pads volumes with their outermost values.

    ``padding`` is one number for all sides, or six numbers: before and after along the last dimension, then along the
    one before it, then along the first of the three. Names of dimensions stay.

    >>> lamella.nn.ReplicationPad3d(1)(lamella.ones(2, 2, 2, 2)).shape
    lamella.Size([2, 4, 4, 4])
    """

    _spatial = 3
