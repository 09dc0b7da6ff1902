"""The graph: its nodes, the edges that gradients take, and the tensors saved for backward."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

from lamella import Tensor

from . import _python
from ._python import Node

__all__ = [
    "GradientEdge",
    "Node",
    "RemovableHandle",
    "allow_mutation_on_saved_tensors",  # noqa: F822  # this and the next are imported by __getattr__
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",  # noqa: F822
    "save_on_cpu",
    "saved_tensors_hooks",
]
_LATER = {"allow_mutation_on_saved_tensors": "mutation", "register_multi_grad_hook": "multi_grad"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'lamella.autograd.graph' has no attribute '{name}'")
    package = __name__.rpartition(".")[0]
    globals()[name] = found = getattr(import_module(f"{package}.{_LATER[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


class GradientEdge(NamedTuple):
    """The edge along which a tensor's gradient flows: a node, and the index of the tensor among the node's results.

    The node is the one that made the tensor, or for a leaf the one that adds to its ``grad``.

    >>> largest, indices = lamella.ones(2, requires_grad=True).max(0)
    >>> lamella.autograd.graph.get_gradient_edge(largest).output_nr
    0
    """

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Returns the edge at which the gradient of a tensor arrives. A leaf's node adds the gradient to its ``grad``.

    >>> lamella.autograd.graph.get_gradient_edge(lamella.ones(1, requires_grad=True)).node.name()
    'AccumulateGrad'
    """
    node, output = _python._edge(tensor)
    if node is None:
        raise RuntimeError("get_gradient_edge: the tensor does not require grad")
    return GradientEdge(node, output)


class _Hooks(threading.local):
    """The state of ``saved_tensors_hooks`` on this thread: how many are open, and the messages that refuse more."""

    def __init__(self) -> None:
        self.depth = 0
        self.refused: list[str] = []


_hooks = _Hooks()


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Within the block, ``saved_tensors_hooks`` cannot be opened on this thread: that raises a RuntimeError.

    Args:
        error_message: the text of the error

    Raises:
        RuntimeError: some are open already

    >>> with lamella.autograd.graph.disable_saved_tensors_hooks("no hooks in here"):
    ...     try:
    ...         lamella.autograd.graph.save_on_cpu().__enter__()
    ...     except RuntimeError as error:
    ...         print(error)
    no hooks in here
    """
    if _hooks.depth:
        raise RuntimeError(error_message)
    _hooks.refused.append(error_message)
    try:
        yield
    finally:
        _hooks.refused.pop()


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Counts a write to tensors, for code that writes their memory without Lamella.

    Backward raises an error if it needs the values that the tensor had before.

    Raises:
        TypeError: an argument is not a tensor

    >>> x = lamella.ones(2)
    >>> lamella.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    for t in (tensor,) if isinstance(tensor, Tensor) else tuple(tensor):
        if not isinstance(t, Tensor):
            raise TypeError(f"increment_version: argument 'tensor': expected a Tensor, got {type(t).__name__}")
        t.detach().as_strided((0,), (1,)).zero_()  # writes no element, and counts as a write of the memory


class saved_tensors_hooks:
    """Within the block, ``pack_hook`` replaces each tensor that is saved for backward; ``unpack_hook`` restores it.

    Args:
        pack_hook: takes a tensor, returns any object
        unpack_hook: takes that object, returns a tensor of the same content

    >>> x = lamella.ones(2, requires_grad=True)
    >>> with lamella.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), lamella.from_numpy):
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    tensor([2., 2.])
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        if _hooks.refused:
            raise RuntimeError(_hooks.refused[-1])
        _python._push_hooks(self.pack_hook, self.unpack_hook)
        _hooks.depth += 1
        return self

    def __exit__(self, *error: object) -> None:
        _python._pop_hooks()  # raises an error if none are open, which leaves the depth as it is
        _hooks.depth -= 1


class save_on_cpu(saved_tensors_hooks):
    """Within the block, tensors that are saved for backward are kept in host memory. ``pin_memory`` has no effect.

    >>> with lamella.autograd.graph.save_on_cpu():
    ...     lamella.ones(2, requires_grad=True).exp().sum().backward()
    """

    def __init__(self, pin_memory: bool = False):
        super().__init__(lambda t: (t.device, t.cpu()), lambda packed: packed[1].to(packed[0]))


class RemovableHandle:
    """Removes a hook: by ``remove()``, or at the end of a ``with`` block. The handle does not keep the graph alive.

    Copies and pickles of a handle remove nothing, since copies and pickles of a tensor have no hooks.

    >>> x = lamella.ones(1, requires_grad=True)
    >>> with x.register_hook(lambda g: g * 2):
    ...     x.sum().backward()
    >>> x.grad
    tensor([2.])
    """

    def __init__(self, id: int):
        self.id = id

    def remove(self) -> None:
        """Removes the hook; does nothing if it was removed before, or its graph has been freed."""
        _python._remove_hook(self.id)

    def __reduce__(self) -> tuple[type, tuple[int]]:
        return type(self), (0,)  # an id that no hook has

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


_python._set_handle(RemovableHandle)
