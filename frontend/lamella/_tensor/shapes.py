"""Functions of shapes: transposes, broadcasting of shapes and its inverse, the order of dimensions in memory."""

from __future__ import annotations

import math
import warnings
from typing import Any

from lamella import _C
from lamella._C import Tensor


def numel(input: Tensor) -> int:
    """Returns the number of elements.

    >>> lamella.numel(lamella.ones(2, 3))
    6
    """
    return input.numel()


def is_same_size(input, other) -> bool:
    """Returns whether two tensors have the same shape.

    >>> lamella.is_same_size(lamella.ones(2), lamella.zeros(2))
    True
    """
    return input.shape == other.shape


def _matrix(self, name, only=False):
    if self.ndim < 2 or (only and self.ndim != 2):
        wanted = "a matrix" if only else "a matrix or a batch of matrices"
        raise RuntimeError(f"Tensor.{name}: expected {wanted}, got shape {tuple(self.shape)}")
    return self.transpose(-2, -1)


def mT(self):
    """A view of the tensor with its last two dimensions exchanged.

    >>> lamella.ones(4, 2, 3).mT.shape
    lamella.Size([4, 3, 2])
    """
    return _matrix(self, "mT")


def mH(self):
    """The tensor with its last two dimensions exchanged, and complex elements conjugated.

    >>> lamella.tensor([[1.0, 2.0]]).mH
    tensor([[1.],
            [2.]])
    """
    swapped = _matrix(self, "mH")
    return swapped.conj() if self.is_complex() else swapped


def H(self):
    """The conjugate transpose of a matrix.

    >>> lamella.tensor([[1.0, 2.0]]).H.shape
    lamella.Size([2, 1])
    """
    swapped = _matrix(self, "H", only=True)
    return swapped.conj() if self.is_complex() else swapped


def adjoint(input):
    """Exchanges the last two dimensions, and conjugates complex elements.

    >>> lamella.adjoint(lamella.tensor([[1.0, 2.0]]))
    tensor([[1.],
            [2.]])
    """
    return input.mH


def reshape_as(self, other):
    """Calls ``reshape`` with the shape of another tensor.

    >>> lamella.arange(4).reshape_as(lamella.ones(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return self.reshape(other.shape)


def resize(self, *sizes):
    """Returns the elements in another shape, as ``contiguous().view()``; torch warns that the method is deprecated.

    Raises:
        RuntimeError: the shape has another number of elements

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     lamella.arange(4).resize(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    warnings.warn("resize: non-inplace resize is deprecated; call reshape() or resize_()", stacklevel=2)
    sizes = tuple(sizes[0]) if len(sizes) == 1 and not hasattr(sizes[0], "__index__") else sizes
    if math.prod(sizes) != self.numel() or min(sizes, default=0) < 0:
        raise RuntimeError(f"resize: argument 'sizes': {self.numel()} elements do not fill the shape {sizes}")
    return self.contiguous().view(sizes)


def resize_as(self, tensor):
    """Returns the elements in the shape of ``tensor``, as ``resize`` does.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     lamella.arange(4).resize_as(lamella.ones(2, 2)).shape
    lamella.Size([2, 2])
    """
    warnings.warn("resize_as: non-inplace resize_as is deprecated; call reshape_as() or resize_as_()", stacklevel=2)
    if self.numel() != tensor.numel():
        raise RuntimeError(
            f"resize_as: argument 'tensor': {self.numel()} elements do not fill the shape {tuple(tensor.shape)}"
        )
    return self.contiguous().view(tensor.shape)


def module_load(self, other, assign=False):
    """Returns what a module keeps when ``other`` is loaded into this tensor: ``other``, or this tensor with its values.

    Subclasses override it. Both results are without history.

    >>> lamella.zeros(2).module_load(lamella.ones(2))
    tensor([1., 1.])
    """
    return other.detach() if assign else self.copy_(other).detach()


def __rdiv__(self, other):
    return other / self


def sum_to_size(self, *size):
    """Sums over the dimensions that broadcasting from ``size`` to the tensor's shape would repeat.

    Raises:
        RuntimeError: ``size`` does not broadcast to the tensor's shape

    >>> lamella.ones(2, 3).sum_to_size(1, 3)
    tensor([[2., 2., 2.]])
    """
    size = tuple(size[0]) if len(size) == 1 and not hasattr(size[0], "__index__") else size
    lead = self.ndim - len(size)
    fits = lead >= 0 and all(n in (1, m) for n, m in zip(size, self.shape[max(lead, 0) :], strict=True))
    if not fits:
        raise RuntimeError(f"sum_to_size: size {tuple(size)} does not broadcast to the shape {tuple(self.shape)}")
    summed = [lead + d for d, n in enumerate(size) if n == 1 and self.shape[lead + d] != 1]
    made = self.sum([*range(lead), *summed], keepdim=True) if lead or summed else self
    return made.view(size) if lead else made


def dim_order(self, *, ambiguity_check=False):
    """Returns the dimensions in the order of their strides, the largest first.

    Args:
        ambiguity_check: True raises RuntimeError if two dimensions have the same stride and the same size above 1

    >>> lamella.ones(1, 2, 3, 3).to(memory_format=lamella.channels_last).dim_order()
    (0, 2, 3, 1)
    """
    stride = self.stride()
    if ambiguity_check and len({(s, n) for s, n in zip(stride, self.shape, strict=True) if n > 1}) < sum(
        n > 1 for n in self.shape
    ):
        raise RuntimeError(f"dim_order: strides {stride} of shape {tuple(self.shape)} have no unique order")
    return tuple(sorted(range(self.ndim), key=lambda d: -stride[d]))


def broadcast_shapes(*shapes):
    """Returns the shape that tensors of these shapes broadcast to.

    Raises:
        RuntimeError: the shapes do not broadcast, or a size is negative

    >>> lamella.broadcast_shapes((2, 1), (3,), 1)
    lamella.Size([2, 3])
    """
    given = [(s,) if hasattr(s, "__index__") else tuple(s) for s in shapes]
    common = [1] * max((len(s) for s in given), default=0)
    for shape in given:
        for d in range(-1, -1 - len(shape), -1):
            if shape[d] < 0:
                raise RuntimeError(f"broadcast_shapes: {shape} has a negative size")
            if shape[d] not in (1, common[d]) and common[d] != 1:
                raise RuntimeError(f"broadcast_shapes: {shape} does not broadcast with {tuple(common)}")
            common[d] = common[d] if shape[d] == 1 else shape[d]
    return _C.Size(common)


def unravel_index(indices, shape):
    """Converts indices in the row-major order of a shape to coordinates, a tensor for each dimension.

    Raises:
        ValueError: a size is negative, or the indices are not integers

    >>> lamella.unravel_index(lamella.tensor(5), (2, 3))
    (tensor(1), tensor(2))
    """
    shape = (shape,) if hasattr(shape, "__index__") else tuple(int(n) for n in shape)
    if indices.dtype.is_floating_point or indices.dtype.is_complex or indices.dtype is _C.bool:
        raise ValueError(f"unravel_index: argument 'indices' must be integers, got {indices.dtype}")
    if any(n < 0 for n in shape):
        raise ValueError(f"unravel_index: argument 'shape' has a negative size: {shape}")
    coordinates = []
    for n in reversed(shape):
        coordinates.append(indices.remainder(n) if n else indices)
        indices = indices.floor_divide(n) if n else indices
    return tuple(reversed(coordinates))


def __reversed__(self):
    return self if self.ndim == 0 else self.flip(0)


def methods() -> dict[str, Any]:
    """Returns the methods and properties in this file for Tensor, by name."""
    plain = (
        *(is_same_size, adjoint, reshape_as, resize, resize_as, module_load, sum_to_size, dim_order),
        *(__reversed__, __rdiv__),
    )
    found: dict[str, Any] = {f.__name__: f for f in plain}
    return found | {view.__name__: property(view) for view in (mT, mH, H)}
