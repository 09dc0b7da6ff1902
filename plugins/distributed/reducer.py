"""Gradients that are averaged over the ranks of a group during backward: what DistributedDataParallel is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lamella import Tensor

from . import library
from .futures import Future
from .groups import ProcessGroup


def contiguous(shape: Sequence[int]) -> list[int]:
    """Returns the strides of a contiguous tensor."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * max(size, 1))
    return strides[: len(shape)]


def dense(p: Tensor) -> bool:
    """Returns whether a tensor's elements fill its memory; then its gradient in a bucket has its strides."""
    step = 1
    for stride, size in sorted((st, n) for st, n in zip(p.stride(), p.shape, strict=True) if n != 1):
        if stride != step:
            return False
        step *= size
    return True


class GradBucket:
    """Gradients of some parameters that are reduced at once. A communication hook gets one for each reduction."""

    def __init__(self, index: int, last: bool, buffer: Tensor, parameters: Sequence[Tensor], views: Sequence[Tensor]):
        self._index, self._last, self._buffer = index, last, buffer
        self._parameters, self._views = list(parameters), list(views)

    def index(self) -> int:
        """Returns the number of the bucket; buckets are reduced in the order of their numbers."""
        return self._index

    def is_last(self) -> bool:
        """Returns whether this is the last bucket of a backward."""
        return self._last

    def buffer(self) -> Tensor:
        """Returns the memory of the bucket, one dimension: the gradients one after the other, with gaps of zeros."""
        return self._buffer

    def set_buffer(self, buffer: Tensor) -> None:
        """Replaces the bucket's elements by those of a tensor of as many."""
        self._buffer.copy_(buffer.view(-1))

    def gradients(self) -> list[Tensor]:
        """Returns the gradients, which are views of the buffer."""
        return list(self._views)

    def parameters(self) -> list[Tensor]:
        """Returns the parameters, in the order of the gradients."""
        return list(self._parameters)


class Reducer:
    """Averages the gradients of parameters over the ranks of a group, in each backward and while it runs. Gradients
    become views of buckets.

    Args:
        parameters: leaves that require grad; equal shapes and dtypes on all ranks
        group: the group
        first_bucket_bytes, bucket_bytes: the sizes at which the first bucket and the others are full
    """

    def __init__(self, parameters: Sequence[Tensor], group: ProcessGroup, first_bucket_bytes: int, bucket_bytes: int):
        self.parameters, self.group = list(parameters), group
        self.native = library.face().new_reducer(self.parameters, group.group_name, first_bucket_bytes, bucket_bytes)
        self.hook: Callable[[Any, GradBucket], Any] | None = None
        self.state: Any = None
        self.under_way: dict[int, Any] = {}

    def set_hook(self, state: Any, hook: Callable[[Any, GradBucket], Any]) -> None:
        """Reduces buckets by ``hook(state, bucket)``, which returns a future of the bucket's gradients.

        Raises:
            TypeError: ``hook`` is no function
            RuntimeError: there is a hook already
        """
        if not callable(hook):
            raise TypeError(f"register_comm_hook: argument 'hook' must be callable, got {type(hook).__name__}")
        self.native.set_hook(self)
        self.state, self.hook = state, hook

    def bucket(self, i: int) -> tuple[Tensor, list[int]] | None:
        """Returns the memory of a bucket, and the numbers of its parameters; None if there are not so many."""
        found: tuple[Tensor, list[int]] | None = self.native.bucket(i)
        return found

    def begin(self, index: int, last: bool, buffer: Tensor) -> None:
        """Called during backward for each bucket if there is a hook."""
        assert self.hook is not None
        found = self.bucket(index)
        assert found is not None
        parameters = [self.parameters[i] for i in found[1]]
        views, at, step = [], 0, 64 // buffer.element_size()
        for p in parameters:
            views.append(buffer.as_strided(p.shape, p.stride() if dense(p) else contiguous(p.shape), at))
            at += (p.numel() + step - 1) // step * step
        future = self.hook(self.state, GradBucket(index, last, buffer, parameters, views))
        if not isinstance(future, Future):
            raise TypeError(
                f"DistributedDataParallel: a communication hook must return a lamella.futures.Future, got "
                f"{type(future).__name__}"
            )
        self.under_way[index] = future

    def end(self, index: int, buffer: Tensor) -> None:
        """Called at the end of backward for each bucket if there is a hook."""
        result = self.under_way.pop(index).wait()
        result = result[0] if isinstance(result, (list, tuple)) else result
        if result.data_ptr() != buffer.data_ptr():
            buffer.copy_(result.view(-1))
        library.settle(buffer, "memory")
