"""register_multi_grad_hook: a hook on the gradients of several tensors, called once in each backward.

A hook that waits for all gradients must know which of them this backward computes. While such hooks exist, `run` keeps
the roots and inputs of each backward of this thread, and the hook follows the edges from the roots.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from lamella import Tensor

from . import _python
from ._python import Node


class _Backwards(threading.local):
    """The backwards that run on this thread, innermost last: each with its roots, its inputs and its number."""

    def __init__(self) -> None:
        self.running: list[tuple[Any, Any, int]] = []


_backwards, _lock = _Backwards(), threading.Lock()
_waiting: weakref.WeakSet[_All] = weakref.WeakSet()  # the hooks that wait for all gradients
_number = _hooks = 0  # the number of the last backward; how many hooks have been registered


def run(roots: tuple, grads: tuple, inputs: tuple, flags: int) -> Any:
    """Runs backward. If there are hooks on several tensors, ``_backwards`` has its roots and inputs meanwhile."""
    global _number
    if not _hooks:
        return _python._run(roots, grads, inputs, flags)
    with _lock:
        _number += 1
        number = _number
    _backwards.running.append((roots, inputs, number))
    try:
        return _python._run(roots, grads, inputs, flags)
    finally:
        _backwards.running.pop()
        with _lock:
            waiting = tuple(_waiting)
        for every in waiting:
            every.found.pop(number, None)  # a backward that failed leaves gradients behind


def is_running() -> bool:
    """Returns whether a backward runs on this thread; False as long as no hook on several tensors was registered."""
    return bool(_backwards.running)


def _reached(roots: Sequence[Tensor], inputs: Sequence[Tensor]) -> set[Node]:
    """Returns the nodes that a backward runs: those below the roots, and with inputs only those above one of them."""
    order: list[Node] = []
    seen: set[Node] = set()
    waiting = [node for t in roots if (node := _python._edge(t)[0]) is not None]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            order.append(node)
            waiting += [below for below, _ in node.next_functions if below is not None]
    if not inputs:
        return seen
    needed = {_python._edge(t)[0] for t in inputs}
    above: dict[Node, list[Node]] = {}
    for node in order:
        for below, _ in node.next_functions:
            if below is not None:
                above.setdefault(below, []).append(node)
    found: set[Node] = set()
    waiting = [node for node in needed if node in seen]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += above.get(node, [])
    return found


class _Handle:
    """Removes the hooks of one registration."""

    def __init__(self, handles: Sequence[Any]):
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Removes the hook; a second call does nothing."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _Handle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


class _All:
    """Collects the gradients of one backward, and calls the function with all of them."""

    def __init__(self, tensors: Sequence[Tensor], fn: Callable[[Sequence[Tensor | None]], None]):
        self.nodes = [_python._edge(t)[0] if t.requires_grad else None for t in tensors]
        self.fn = fn
        self.lock = threading.Lock()
        self.found: dict[int, tuple[int, list[Tensor | None]]] = {}  # maps a backward to missing count and gradients

    def hook(self, index: int) -> Callable[[Tensor], None]:
        def on_gradient(grad: Tensor) -> None:
            roots, inputs, number = _backwards.running[-1]
            with self.lock:
                if number not in self.found:
                    reached = _reached(roots, inputs)
                    self.found[number] = (sum(n in reached for n in self.nodes), [None] * len(self.nodes))
                missing, grads = self.found[number]
                grads[index] = grad
                self.found[number] = (missing - 1, grads)
                if missing > 1:
                    return
                del self.found[number]
            self.fn(grads)

        return on_gradient


class _Any:
    """Calls the function with the first gradient of each backward."""

    def __init__(self, fn: Callable[[Tensor], None]):
        self.fn, self.lock, self.last = fn, threading.Lock(), 0

    def __call__(self, grad: Tensor) -> None:
        number = _backwards.running[-1][2]
        with self.lock:
            if self.last == number:
                return
            self.last = number
        self.fn(grad)


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all") -> Any:
    """Calls a function once in each backward that computes gradients of some of the tensors.

    Args:
        tensors: those that do not require grad have the gradient None
        fn: with ``mode="all"`` it takes the list of all gradients, None for those that this backward does not compute,
            as soon as the last is computed; with ``mode="any"`` it takes the first gradient that is computed

    Returns:
        A handle, whose ``remove()`` removes the hook.

    Raises:
        ValueError: mode is neither "all" nor "any"

    >>> x, y = lamella.ones(1, requires_grad=True), lamella.ones(1, requires_grad=True)
    >>> handle = lamella.autograd.graph.register_multi_grad_hook((x, y), print)
    >>> (x * 2 + y * 3).backward()
    [tensor([2.]), tensor([3.])]
    >>> (x * 5).backward()
    [tensor([5.]), None]
    >>> handle.remove()
    """
    global _hooks
    if mode not in ("all", "any"):
        raise ValueError(f"register_multi_grad_hook: argument 'mode' must be 'all' or 'any', got {mode!r}")
    tensors = tuple(tensors)
    with _lock:
        _hooks += 1
    if mode == "any":
        once = _Any(fn)
        return _Handle([t.register_hook(once) for t in tensors if t.requires_grad])
    every = _All(tensors, fn)
    with _lock:
        _waiting.add(every)
    return _Handle([t.register_hook(every.hook(i)) for i, t in enumerate(tensors) if t.requires_grad])
