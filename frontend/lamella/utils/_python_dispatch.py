"""Modes below autograd: ``TorchDispatchMode`` is called in place of every kernel that the thread's calls reach.

The modes are on the layer "torch_dispatch", inside of autograd: they get the calls that autograd records, those of
composites and those of backward. A subclass of Tensor with ``__torch_dispatch__``, a class method, gets the calls with
its tensors at this layer as well; ``super().__torch_dispatch__`` calls the operator's own kernels.
``Tensor._make_wrapper_subclass`` makes tensors of such a class that have no memory of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lamella import _C


class TorchDispatchMode:
    """A context manager that is called in place of every operator that reaches its layer within the block.

    ``func`` is one overload, such as ``lamella.ops.aten.add.Tensor``. Of several modes the innermost is called; the
    calls that it makes go to the next one, and skip the layers that the call has passed, such as autograd.

    >>> from lamella.utils._python_dispatch import TorchDispatchMode
    >>> class Names(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **(kwargs or {}))
    >>> with Names():
    ...     _ = lamella.ones(2) * 3
    <operator aten::ones.default>
    <operator aten::mul.Scalar>
    """

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        wanted = "__torch_dispatch__(self, func, types, args, kwargs)"
        raise NotImplementedError(f"{type(self).__name__} must define {wanted}")

    def __enter__(self):
        _C._push_mode("dispatch", self)
        return self

    def __exit__(self, *error: Any) -> None:
        _C._pop_mode("dispatch")


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that changes nothing."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    """Returns the modes that are on, innermost last."""
    return _C._modes("dispatch")


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    """Returns the innermost mode, or None."""
    modes = _C._modes("dispatch")
    return modes[-1] if modes else None


@contextmanager
def _disable_current_modes() -> Iterator[list[TorchDispatchMode]]:
    """Switches all modes off within the block."""
    modes = [_C._pop_mode("dispatch") for _ in _C._modes("dispatch")][::-1]
    try:
        yield modes
    finally:
        for mode in modes:
            _C._push_mode("dispatch", mode)


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Returns whether ``t`` is of a subclass of Tensor that lists the tensors it wraps by ``__tensor_flatten__``."""
    return isinstance(t, _C.Tensor) and type(t) is not _C.Tensor and hasattr(t, "__tensor_flatten__")
