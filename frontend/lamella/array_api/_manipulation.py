"""The standard's functions that change shapes, join tensors, and take elements by position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lamella
from lamella import Tensor
from lamella.array_api._rules import ANY, INTEGER, as_tuple, axes_of, checked, together

Shape = tuple[int, ...]


def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """Returns views of tensors in the shape to which they all broadcast.

    >>> [x.shape for x in lamella.array_api.broadcast_arrays(lamella.ones(2), lamella.ones(3, 1))]
    [lamella.Size([3, 2]), lamella.Size([3, 2])]
    """
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return tuple(lamella.broadcast_to(x, shape) for x in arrays)


def broadcast_shapes(*shapes: tuple[int | None, ...]) -> tuple[Any, ...]:
    """Returns the shape to which shapes broadcast.

    A size may be None, which stands for an unknown one: with a size other than 1 it gives that size, else None.

    Raises:
        ValueError: the shapes do not broadcast

    >>> lamella.array_api.broadcast_shapes((2, 1), (3,), ())
    (2, 3)
    """
    length = max((len(s) for s in shapes), default=0)
    found: list[int | None] = []
    for place in range(-length, 0):
        sizes = {s[place] for s in shapes if len(s) >= -place} - {1}
        known = sizes - {None}
        if len(known) > 1:
            raise ValueError(f"broadcast_shapes: sizes {known} of dimension {place} do not broadcast in {shapes}")
        found.append(known.pop() if known else None if sizes else 1)
    return tuple(found)


def broadcast_to(x: Tensor, /, shape: Shape) -> Tensor:
    """Returns a view of ``x`` in a shape to which it broadcasts.

    >>> lamella.array_api.broadcast_to(lamella.ones(2), (3, 2)).shape
    lamella.Size([3, 2])
    """
    return lamella.broadcast_to(x, tuple(shape))


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Joins tensors along an axis that they have; None joins their elements in one dimension.

    >>> lamella.array_api.concat([lamella.ones(1), lamella.zeros(2)])
    tensor([1., 0., 0.])
    """
    found = together("concat", arrays)
    if axis is None:
        return lamella.cat([x.reshape(-1) for x in found], 0)
    return lamella.cat(found, axis)


def expand_dims(x: Tensor, /, axis: int | Shape) -> Tensor:
    """Returns a view with dimensions of size 1 at the places ``axis`` of the result.

    Raises:
        IndexError: a place is out of range
        ValueError: a place is named twice

    >>> lamella.array_api.expand_dims(lamella.ones(2), (0, -1)).shape
    lamella.Size([1, 2, 1])
    """
    for place in sorted(axes_of("expand_dims", axis, x.ndim + len(as_tuple(axis)))):
        x = lamella.unsqueeze(x, place)
    return x


def flip(x: Tensor, /, *, axis: int | Shape | None = None) -> Tensor:
    """Reverses the order of the elements along axes; None stands for all.

    >>> lamella.array_api.flip(lamella.tensor([1, 2]))
    tensor([2, 1])
    """
    return lamella.flip(x, axes_of("flip", axis, x.ndim))


def matrix_transpose(x: Tensor, /) -> Tensor:
    """Returns a view of each matrix with its two dimensions exchanged.

    Raises:
        ValueError: ``x`` has less than two dimensions

    >>> lamella.array_api.matrix_transpose(lamella.ones(2, 3)).shape
    lamella.Size([3, 2])
    """
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: argument 'x' must have two dimensions or more, got shape {tuple(x.shape)}")
    return x.mT


def moveaxis(x: Tensor, source: int | Shape, destination: int | Shape, /) -> Tensor:
    """Returns a view with axes moved to other places; the other axes keep their order.

    >>> lamella.array_api.moveaxis(lamella.ones(2, 3, 4), 0, -1).shape
    lamella.Size([3, 4, 2])
    """
    return lamella.movedim(x, axes_of("moveaxis", source, x.ndim), axes_of("moveaxis", destination, x.ndim))


def permute_dims(x: Tensor, /, axes: Shape) -> Tensor:
    """Returns a view with the axes in another order.

    >>> lamella.array_api.permute_dims(lamella.ones(2, 3, 4), (2, 0, 1)).shape
    lamella.Size([4, 2, 3])
    """
    return lamella.permute(x, tuple(axes))


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Repeats each element, or each part along an axis, as often as ``repeats`` says.

    Args:
        repeats: a number, or a tensor of integers with one number or with one for each part
        axis: None repeats the elements of ``x`` in one dimension

    >>> lamella.array_api.repeat(lamella.tensor([1, 2]), lamella.tensor([2, 1]))
    tensor([1, 1, 2])
    """
    if axis is None:
        x, axis = x.reshape(-1), 0
    else:
        (axis,) = axes_of("repeat", axis, x.ndim)
    if isinstance(repeats, Tensor):
        repeats = checked("repeat", INTEGER, repeats, "repeats").to(lamella.int64).reshape(-1)
        if repeats.shape[0] == 1:
            repeats = repeats.expand(x.shape[axis])
    return lamella.repeat_interleave(x, repeats, axis)


def reshape(x: Tensor, /, shape: Shape, *, copy: bool | None = None) -> Tensor:
    """Returns the elements in another shape, of which one size may be -1.

    Args:
        copy: True always copies, False never does, None copies only if necessary

    Raises:
        ValueError: a copy is necessary, and ``copy`` is False

    >>> lamella.array_api.reshape(lamella.tensor([1, 2, 3, 4]), (2, -1))
    tensor([[1, 2],
            [3, 4]])
    """
    shape = as_tuple(shape)
    if copy is False:
        try:
            return x.view(shape)
        except RuntimeError as error:
            raise ValueError(f"reshape: argument 'copy' is False, but {error}") from error
    return lamella.reshape(x.clone() if copy else x, shape)


def roll(x: Tensor, /, shift: int | Shape, *, axis: int | Shape | None = None) -> Tensor:
    """Moves elements along axes; those that leave at the end enter at the beginning.

    Args:
        shift: the number of places, or one for each axis
        axis: None moves the elements in one dimension, and restores the shape

    >>> lamella.array_api.roll(lamella.tensor([1, 2, 3]), 1)
    tensor([3, 1, 2])
    """
    if axis is None:
        return lamella.roll(x.reshape(-1), shift, 0).reshape(x.shape)
    axes, shifts = as_tuple(axis), as_tuple(shift)
    if hasattr(shift, "__index__"):
        shifts = shifts * len(axes)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: argument 'shift' has {len(shifts)} numbers for {len(axes)} axes; give one for each")
    return lamella.roll(x, shifts, axes)


def squeeze(x: Tensor, /, axis: int | Shape) -> Tensor:
    """Returns a view without axes of size 1.

    Raises:
        ValueError: an axis has another size
        IndexError: an axis is out of range

    >>> lamella.array_api.squeeze(lamella.ones(1, 2), 0).shape
    lamella.Size([2])
    """
    axes = axes_of("squeeze", axis, x.ndim)
    for a in axes:
        if x.shape[a] != 1:
            raise ValueError(f"squeeze: argument 'axis': axis {a} must have size 1, got shape {tuple(x.shape)}")
    return lamella.squeeze(x, axes) if axes else x


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Joins tensors of one shape along a new axis.

    >>> lamella.array_api.stack([lamella.ones(2), lamella.zeros(2)]).shape
    lamella.Size([2, 2])
    """
    return lamella.stack(together("stack", arrays), axis)


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """Takes parts of ``x`` along an axis; an index below 0 counts from the end.

    Args:
        indices: a vector of integers
        axis: None is possible if ``x`` has one dimension

    Raises:
        ValueError: ``axis`` is None, and ``x`` has several dimensions; or ``indices`` is no vector

    >>> lamella.array_api.take(lamella.tensor([1, 2, 3]), lamella.tensor([0, -1]))
    tensor([1, 3])
    """
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: argument 'axis' is needed for shape {tuple(x.shape)}")
        axis = 0
    (axis,) = axes_of("take", axis, x.ndim)
    if indices.ndim != 1:
        raise ValueError(f"take: argument 'indices' must have one dimension, got shape {tuple(indices.shape)}")
    return lamella.index_select(x, axis, _from_the_front("take", indices, x.shape[axis]))


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """Takes elements of ``x`` along an axis, for each place of the other axes by its own indices.

    An index below 0 counts from the end. The shapes broadcast, except along the axis.

    >>> lamella.array_api.take_along_axis(lamella.tensor([[1, 2], [3, 4]]), lamella.tensor([[1], [0]]))
    tensor([[2],
            [3]])
    """
    (axis,) = axes_of("take_along_axis", axis, x.ndim)
    return lamella.take_along_dim(x, _from_the_front("take_along_axis", indices, x.shape[axis]), axis)


def _from_the_front(who: str, indices: Tensor, length: int) -> Tensor:
    indices = checked(who, INTEGER, indices, "indices").to(lamella.int64)
    return lamella.where(indices < 0, indices + length, indices)


def tile(x: Tensor, repetitions: Shape, /) -> Tensor:
    """Repeats the whole of ``x`` along each axis; the last number is for the last axis.

    >>> lamella.array_api.tile(lamella.tensor([1, 2]), (2, 1))
    tensor([[1, 2],
            [1, 2]])
    """
    return lamella.tile(x, tuple(repetitions))


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Returns views of the parts of ``x`` along an axis, without that axis.

    >>> lamella.array_api.unstack(lamella.tensor([1, 2]))
    (tensor(1), tensor(2))
    """
    return tuple(lamella.unbind(checked("unstack", ANY, x), axis))


def diff(
    x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """Returns the differences of neighbours along an axis, ``n`` times.

    Args:
        prepend, append: tensors that are joined to ``x`` along the axis before

    >>> lamella.array_api.diff(lamella.tensor([1, 4, 9]))
    tensor([3, 5])
    """
    ends: list[Any] = [o for o in (prepend, x, append) if o is not None]
    if len(ends) > 1:
        x = concat(ends, axis=axis)
    return lamella.diff(x, n, axis)
