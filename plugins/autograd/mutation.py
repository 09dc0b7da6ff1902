"""allow_mutation_on_saved_tensors: tensors that are saved for backward may be written; a copy is made before that."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import lamella
from lamella import Tensor
from lamella.overrides import TorchFunctionMode

from .graph import saved_tensors_hooks

__all__ = ["allow_mutation_on_saved_tensors"]


class _Saved:
    """A tensor that a node has saved."""

    def __init__(self, tensor: Tensor):
        self.tensor: Tensor | None = tensor
        self.original = True  # False after before_write() has copied it


class _Context:
    """The tensors that have been saved within the block, by the storage that they share."""

    def __init__(self) -> None:
        self.by_storage: dict[int, list[weakref.ref[_Saved]]] = {}
        self.all: weakref.WeakSet[_Saved] = weakref.WeakSet()

    def pack(self, tensor: Tensor) -> _Saved:
        saved = _Saved(tensor.detach())
        self.by_storage.setdefault(tensor._storage_id(), []).append(weakref.ref(saved))
        self.all.add(saved)
        return saved

    def unpack(self, saved: _Saved) -> Tensor:
        if saved.tensor is None:
            raise RuntimeError(
                "allow_mutation_on_saved_tensors: backward needs a tensor that clear() has dropped, or whose block has "
                "ended; call backward within the block"
            )
        return saved.tensor

    def before_write(self, tensor: Tensor) -> None:
        """Copies the saved tensors that share the memory of a tensor which is written next."""
        for ref in self.by_storage.pop(tensor._storage_id(), ()):
            saved = ref()
            if saved is not None and saved.tensor is not None:
                with lamella.no_grad():
                    saved.tensor = saved.tensor.clone()
                saved.original = False

    def clear(self) -> None:
        """Drops all saved tensors, so that backward of what has been computed in the block is no longer possible."""
        for saved in self.all:
            saved.tensor = None
        self.by_storage.clear()


class _Open(threading.local):
    """The contexts of the blocks that are open on this thread, innermost last."""

    def __init__(self) -> None:
        self.contexts: list[_Context] = []


_open = _Open()


def _before_call(call: Any, *args: Any, **kwargs: Any) -> Any:
    """The handler of the layer: calls ``before_write`` for each argument that an operator writes."""
    described = lamella.library.describe(call)
    names = [a.name for a in described.arguments if a.written]
    given = described.bind(args, kwargs) if names else {}
    for value in map(given.get, names):
        for tensor in value if isinstance(value, list | tuple) else (value,):
            if isinstance(tensor, Tensor):
                for context in _open.contexts:
                    context.before_write(tensor)
    return call(*args, **kwargs)


@cache
def _layer() -> Any:
    """Registers the layer at the first use. It is inside autograd, so that it also gets the writes of composites."""
    return lamella.library.register_layer(
        "saved_mutation", _before_call, inside="autograd", stays_inside=True, never_on_tensors=True
    )


class _Outs(TorchFunctionMode):
    """Calls ``before_write`` for tensors that a call names as ``out``, with which the layer is not called."""

    def __init__(self, context: _Context):
        self.context = context

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = (kwargs or {}).get("out")
        for tensor in out if isinstance(out, list | tuple) else (out,):
            if isinstance(tensor, Tensor):
                self.context.before_write(tensor)
        return func(*args, **(kwargs or {}))


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_Context]:
    """Within the block, tensors that are saved for backward may be written in place: a copy is made before that.

    Backward must run within the block. The result of ``with`` has ``clear()``, which drops all that is saved.

    >>> with lamella.autograd.graph.allow_mutation_on_saved_tensors():
    ...     x = lamella.ones(2, requires_grad=True)
    ...     y = x.clone()
    ...     z = (y * y).sum()
    ...     _ = y.detach().mul_(100)
    ...     z.backward()
    >>> x.grad
    tensor([2., 2.])
    """
    context = _Context()
    with saved_tensors_hooks(context.pack, context.unpack), _layer().on(), _Outs(context):
        _open.contexts.append(context)
        try:
            yield context
        finally:
            _open.contexts.remove(context)
            context.clear()
