"""checkpoint: saves memory by computing tensors again in backward instead of saving them; ``lamella.utils.checkpoint``.

While the function runs, each tensor that a node saves is replaced by a place in a list. When backward needs the first
of them, the function runs once more and fills the places in the same order. The function's arguments are saved by a
node of their own, so that an enclosing checkpoint replaces them by places of its own.
"""

from __future__ import annotations

import contextlib
import copy
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import lamella
from lamella import Tensor

from . import _python
from .function import Function
from .graph import saved_tensors_hooks

__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential"]


class CheckpointError(RuntimeError):
    """Raised in backward if the function of a checkpoint saved other tensors in its second run than in its first.

    >>> runs = []
    >>> def changing(x):
    ...     runs.append(x)
    ...     return x.sin() if len(runs) == 1 else x.sin().cos()
    >>> y = lamella.autograd.checkpoint.checkpoint(changing, lamella.ones(1, requires_grad=True))
    >>> try:
    ...     y.backward()
    ... except lamella.autograd.checkpoint.CheckpointError as error:
    ...     print(error)
    checkpoint: 1 tensor was saved when the function ran first, and 2 when it ran again; ...
    """


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    determinism_check: str = "default",
    **kwargs: Any,
) -> Any:
    """Returns ``function(*args, **kwargs)`` without saving tensors for its backward: they are computed again.

    Args:
        use_reentrant: is ignored. Either way gradients flow to the parameters of the function though none of its
            arguments requires grad, and ``grad()`` and keywords work
        preserve_rng_state: the function draws the same random numbers when it runs again
        determinism_check: "default" raises if shapes, dtypes or devices differ in the second run; "none" does not

    Raises:
        CheckpointError: in backward: the function's second run saved other tensors than its first
        ValueError: determinism_check has another value than those above

    >>> x = lamella.tensor([1.0, 2.0], requires_grad=True)
    >>> y = lamella.autograd.checkpoint.checkpoint(lambda x: x * x * x, x)
    >>> y.sum().backward()
    >>> x.grad
    tensor([ 3., 12.])
    """
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"checkpoint: argument 'determinism_check' must be 'default' or 'none', got {determinism_check!r}"
        )
    if not _python.is_grad_enabled():
        return function(*args, **kwargs)
    part = _Part(function, args, kwargs, preserve_rng_state, determinism_check == "default")
    with saved_tensors_hooks(part.pack, part.unpack):
        return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Sequence[Callable[[Any], Any]],
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
) -> Any:
    """Calls functions one after the other, in segments: each is a checkpoint, except the last.

    Args:
        functions: each takes the result of the one before it
        segments: the number of parts that they are divided into

    Raises:
        ValueError: segments is less than 1 or more than the number of functions

    >>> x = lamella.ones(1, requires_grad=True)
    >>> parts = [lamella.exp, lamella.sin, lamella.log]
    >>> lamella.autograd.checkpoint.checkpoint_sequential(parts, 2, x).backward()
    >>> x.grad
    tensor([-6.0333])
    """
    functions = list(functions)
    if not 1 <= segments <= len(functions):
        raise ValueError(
            f"checkpoint_sequential: argument 'segments' must be from 1 to the number of functions, {len(functions)}, "
            f"got {segments}"
        )
    size = len(functions) // segments

    def run(start, end):
        def segment(x):
            for f in functions[start:end]:
                x = f(x)
            return x

        return segment

    for k in range(segments - 1):
        input = checkpoint(
            run(k * size, (k + 1) * size), input, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state
        )
    return run((segments - 1) * size, None)(input)


class _Arguments(Function):
    """A Function whose node saves the arguments of a checkpoint. No gradient flows through the node."""

    @staticmethod
    def forward(ctx, part, anchor, *tensors):
        ctx.save_for_backward(*tensors)
        part.arguments = ctx
        return anchor.detach()

    @staticmethod
    def backward(ctx, grad):
        raise AssertionError("checkpoint: backward reached the node of the arguments, whose result no operator uses")


class _Place:
    """Stands for a saved tensor in the graph; it has the tensor's number and description."""

    def __init__(self, at: int, described: Any):
        self.at, self.described = at, described


def _described(t: Tensor) -> tuple:
    return tuple(t.shape), t.dtype, t.device


class _Part:
    """The state of one checkpoint: its function and arguments, and the places of the tensors that were saved."""

    arguments: Any  # the ctx of the node that saves them

    def __init__(self, function, args, kwargs, preserve_rng_state, checked):
        self.function, self.checked = function, checked
        self.places: list[weakref.ref[_Place]] = []
        self.tensors: dict[int, Tensor] = {}  # tensors computed again, until backward has read them
        self.lock = threading.RLock()
        self.names = list(kwargs)
        given = [*args, *kwargs.values()]
        self.others = [None if isinstance(a, Tensor) else a for a in given]
        self.at = [i for i, a in enumerate(given) if isinstance(a, Tensor)]
        anchor = lamella.empty(0, requires_grad=True)
        # A reference to the node keeps the saved arguments alive.
        self.node = _Arguments.apply(self, anchor, *(given[i] for i in self.at)).grad_fn
        # A copy of the generator before the first run, so that the second run draws the same numbers.
        self.generator = copy.copy(lamella.default_generator()) if preserve_rng_state else None

    def pack(self, tensor: Tensor) -> _Place:
        place = _Place(len(self.places), _described(tensor))
        self.places.append(weakref.ref(place))
        return place

    def unpack(self, place: _Place) -> Tensor:
        with self.lock:  # several backwards may reach the same checkpoint
            if place.at not in self.tensors:
                self.run_again()
            tensor = self.tensors.pop(place.at)
        if self.checked and _described(tensor) != place.described:
            raise CheckpointError(
                f"checkpoint: saved tensor {place.at} was {place.described} when the function ran first, and is "
                f"{_described(tensor)} when it ran again; the function must do the same both times"
            )
        return tensor

    def run_again(self) -> None:
        """Runs the function again, and keeps the tensors that it saves, for the places that backward may still read."""
        given = list(self.others)
        try:
            tensors = self.arguments.saved_tensors
        except RuntimeError as error:
            _, written, where = str(error).partition("inplace operation: ")
            if not written:
                raise
            raise RuntimeError(
                "checkpoint: an argument of its function has been modified by an inplace operation, so that the "
                f"function cannot run again: {where}"
            ) from None
        for i, t in zip(self.at, tensors, strict=True):
            given[i] = t
        n = len(given) - len(self.names)
        found = 0

        def keep(tensor):
            nonlocal found
            if found < len(self.places) and self.places[found]() is not None:
                self.tensors[found] = tensor.detach()
            found += 1
            return tensor.detach()

        again = copy.copy(self.generator)
        with (
            lamella.random.drawing_from(again) if again else contextlib.nullcontext(),
            _python.enable_grad(),
            saved_tensors_hooks(keep, lambda tensor: tensor),
        ):
            self.function(*given[:n], **dict(zip(self.names, given[n:], strict=True)))
        if found != len(self.places):
            self.tensors.clear()
            raise CheckpointError(
                f"checkpoint: {len(self.places)} tensor{' was' if len(self.places) == 1 else 's were'} saved when the "
                f"function ran first, and {found} when it ran again; the function must do the same both times"
            )
