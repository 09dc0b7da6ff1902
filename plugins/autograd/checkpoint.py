"""checkpoint: tensors that a part of the graph would save are computed again in backward; ``lamella.utils.checkpoint``.

While the part runs, each tensor that a node saves is replaced by a place in a list. When backward asks for the first of
them, the part runs once more and fills the places in the same order. Its arguments are saved as a node saves: inside
another checkpoint they are places of that one.
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
    """The function of a checkpoint did something else when it ran again.

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
        use_reentrant: False or absent
        preserve_rng_state: random numbers are the same when it runs again
        determinism_check: "default": it is an error if shapes, dtypes or devices differ then; "none"

    Raises:
        CheckpointError: in backward, the function did something else
        ValueError: another value of use_reentrant or determinism_check

    >>> x = lamella.tensor([1.0, 2.0], requires_grad=True)
    >>> y = lamella.autograd.checkpoint.checkpoint(lambda x: x * x * x, x)
    >>> y.sum().backward()
    >>> x.grad
    tensor([ 3., 12.])
    """
    if use_reentrant:
        raise ValueError("checkpoint: argument 'use_reentrant' must be False: there is one kind, which is not")
    if determinism_check not in ("default", "none"):
        raise ValueError(f"checkpoint: 'determinism_check' must be 'default' or 'none', got {determinism_check!r}")
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
        functions: each takes what the one before returned
        segments: into how many parts they are divided

    Raises:
        ValueError: there are fewer functions than segments, or none of either

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
    """A node that saves tensors, and no more."""

    @staticmethod
    def forward(ctx, part, anchor, *tensors):
        ctx.save_for_backward(*tensors)
        part.arguments = ctx
        return anchor.detach()

    @staticmethod
    def backward(ctx, grad):
        raise AssertionError("nothing leads here")


class _Place:
    """Where a saved tensor will be; with a description of it."""

    def __init__(self, at: int, described: Any):
        self.at, self.described = at, described


def _described(t: Tensor) -> tuple:
    return tuple(t.shape), t.dtype, t.device


class _Part:
    """One checkpoint."""

    arguments: Any  # the ctx of the node that has them

    def __init__(self, function, args, kwargs, preserve_rng_state, checked):
        self.function, self.checked = function, checked
        self.places: list[weakref.ref[_Place]] = []
        self.tensors: dict[int, Tensor] = {}  # computed again, until they are asked for
        self.lock = threading.RLock()
        self.names = list(kwargs)
        given = [*args, *kwargs.values()]
        self.others = [None if isinstance(a, Tensor) else a for a in given]
        self.at = [i for i, a in enumerate(given) if isinstance(a, Tensor)]
        anchor = lamella.empty(0, requires_grad=True)
        self.node = _Arguments.apply(self, anchor, *(given[i] for i in self.at)).grad_fn  # which has the arguments
        self.generator = copy.copy(lamella.default_generator()) if preserve_rng_state else None  # as it is now

    def pack(self, tensor: Tensor) -> _Place:
        place = _Place(len(self.places), _described(tensor))
        self.places.append(weakref.ref(place))
        return place

    def unpack(self, place: _Place) -> Tensor:
        with self.lock:  # another backward may be at the same checkpoint
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
        """Runs the function again, and keeps the tensors that it saves at places that backward may still ask for."""
        given = list(self.others)
        for i, t in zip(self.at, self.arguments.saved_tensors, strict=True):
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
