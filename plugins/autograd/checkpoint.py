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
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import lamella
from lamella import Tensor
from lamella.plugins import contributed, settings

from . import _python
from .function import Function
from .graph import saved_tensors_hooks

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "checkpoint",
    "checkpoint_sequential",
    "noop_context_fn",
    "set_checkpoint_early_stop",
]

Contexts = tuple[AbstractContextManager, AbstractContextManager]


class _EarlyStop(threading.local):
    """The value of ``set_checkpoint_early_stop`` on this thread; None outside of its blocks."""

    forced: bool | None = None


_early_stop = _EarlyStop()


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Sets ``early_stop`` of every checkpoint that is called within the block.

    >>> x = lamella.ones(1, requires_grad=True)
    >>> with lamella.autograd.checkpoint.set_checkpoint_early_stop(True):
    ...     y = lamella.autograd.checkpoint.checkpoint(lambda x: x.exp().mul(2), x)
    >>> y.backward()
    """
    before, _early_stop.forced = _early_stop.forced, bool(enable)
    try:
        yield
    finally:
        _early_stop.forced = before


def noop_context_fn() -> Contexts:
    """Returns two contexts that do nothing, for ``context_fn`` of `checkpoint`.

    >>> forward, again = lamella.autograd.checkpoint.noop_context_fn()
    """
    return contextlib.nullcontext(), contextlib.nullcontext()


class _Stop(BaseException):
    """Raised in a function's second run when backward has all that it needs."""


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
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = False,
    **kwargs: Any,
) -> Any:
    """Returns ``function(*args, **kwargs)`` without saving tensors for its backward: they are computed again.

    Args:
        use_reentrant: is ignored. Either way gradients flow to the parameters of the function though none of its
            arguments requires grad, and ``grad()`` and keywords work
        preserve_rng_state: the function draws the same random numbers when it runs again
        context_fn: returns two contexts: the function runs within the first, and again within the second.
            ``lamella.utils.checkpoint.create_selective_checkpoint_contexts`` makes two that save some results
        determinism_check: "default" raises if shapes, dtypes or devices differ in the second run; "none" does not
        debug: is ignored; errors always say which tensors differ
        early_stop: ends the second run as soon as backward has all its tensors, so that what the function does after
            that is not computed again, and tensors that it would save then are not noticed. torch's default is True

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
    forward, again = context_fn()
    stops = early_stop if _early_stop.forced is None else _early_stop.forced
    part = _Part(function, args, kwargs, preserve_rng_state, determinism_check == "default", again, stops)
    with saved_tensors_hooks(part.pack, part.unpack), forward:
        return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Sequence[Callable[[Any], Any]],
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Calls functions one after the other, in segments: each is a checkpoint, except the last.

    Args:
        functions: each takes the result of the one before it
        segments: the number of parts that they are divided into
        kwargs: keywords of `checkpoint`: ``preserve_rng_state``, ``context_fn``, ``determinism_check``, ``debug`` and
            ``early_stop``

    Raises:
        ValueError: segments is less than 1 or more than the number of functions, or a keyword is unknown

    >>> x = lamella.ones(1, requires_grad=True)
    >>> parts = [lamella.exp, lamella.sin, lamella.log]
    >>> lamella.autograd.checkpoint.checkpoint_sequential(parts, 2, x).backward()
    >>> x.grad
    tensor([-6.0333])
    """
    known = ("preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop")
    if unknown := sorted(set(kwargs) - set(known)):
        raise ValueError(f"checkpoint_sequential: has no argument '{unknown[0]}'; it has {', '.join(known)}")
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
        input = checkpoint(run(k * size, (k + 1) * size), input, use_reentrant=use_reentrant, **kwargs)
    return run((segments - 1) * size, None)(input)


class _Arguments(Function):
    """A Function whose node saves the arguments of a checkpoint. No gradient flows through the node."""

    runs_on_samples = True

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


def _within() -> Callable[[Tensor], bool]:
    """Returns a function that says whether a tensor belongs to a transform that begins from now on.

    Such a tensor has no meaning after the transform, so that it cannot be the same when the function runs again.
    """
    begun = [within() for within in contributed("within")]
    return lambda tensor: tensor.is_opaque and any(later(tensor) for later in begun)


class _Part:
    """The state of one checkpoint: its function and arguments, and the places of the tensors that were saved."""

    arguments: Any  # the ctx of the node that saves them

    def __init__(self, function, args, kwargs, preserve_rng_state, checked, context, stops):
        self.function, self.checked = function, checked
        self.context, self.stops = context, stops  # for the second run
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
        self.settings = settings()
        self.within = _within()

    def pack(self, tensor: Tensor) -> _Place | Tensor:
        if self.within(tensor):
            return tensor
        place = _Place(len(self.places), _described(tensor))
        self.places.append(weakref.ref(place))
        return place

    def unpack(self, place: _Place | Tensor) -> Tensor:
        if isinstance(place, Tensor):
            return place
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
        within = _within()

        def keep(tensor):
            nonlocal found
            if within(tensor):
                return tensor
            if found < len(self.places) and self.places[found]() is not None:
                self.tensors[found] = tensor  # has no history; detach() would also lose its tangent
            found += 1
            if self.stops and found == len(self.places):
                raise stop
            return tensor

        again, stop = copy.copy(self.generator), _Stop()
        try:
            with (
                self.settings(),
                lamella.random.drawing_from(again) if again else contextlib.nullcontext(),
                _python.enable_grad(),
                saved_tensors_hooks(keep, lambda tensor: tensor),
                self.context,
            ):
                self.function(*given[:n], **dict(zip(self.names, given[n:], strict=True)))
        except _Stop as caught:
            if caught is not stop:  # the stop belongs to a checkpoint around this one
                raise
        if found != len(self.places):
            self.tensors.clear()
            raise CheckpointError(
                f"checkpoint: {len(self.places)} tensor{' was' if len(self.places) == 1 else 's were'} saved when the "
                f"function ran first, and {found} when it ran again; the function must do the same both times"
            )


class CheckpointFunction(Function):
    """A checkpoint by a second backward within the first one, as torch's ``use_reentrant=True`` has it.

    ``apply(run_function, preserve_rng_state, *args)`` runs the function without recording it. Its backward runs it
    again and calls backward on that, so that gradients of its parameters are added to their ``grad`` at once. There is
    a gradient only if an argument requires grad. ``checkpoint`` has no such conditions.

    >>> x = lamella.ones(1, requires_grad=True)
    >>> lamella.autograd.checkpoint.CheckpointFunction.apply(lamella.exp, True, x).backward()
    >>> x.grad
    tensor([2.7183])
    """

    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        """Runs the function without recording it, and saves its arguments."""
        ctx.run_function = run_function
        ctx.generator = copy.copy(lamella.default_generator()) if preserve_rng_state else None
        ctx.settings = settings()
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.at = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.at))
        with _python.no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx, *grads):
        """Runs the function again, and calls backward on its results."""
        given = list(ctx.others)
        for i, t in zip(ctx.at, ctx.saved_tensors, strict=True):
            given[i] = t.detach().requires_grad_(t.requires_grad)
        again = copy.copy(ctx.generator)
        drawing = lamella.random.drawing_from(again) if again else contextlib.nullcontext()
        with ctx.settings(), drawing, _python.enable_grad():
            found = ctx.run_function(*given)
        outputs = (found,) if isinstance(found, Tensor) else tuple(found)
        pairs = [
            (t, g)
            for t, g in zip(outputs, grads, strict=True)
            if isinstance(t, Tensor) and t.requires_grad and g is not None
        ]
        if not pairs:
            raise RuntimeError(
                "CheckpointFunction: no result of the function requires grad when it runs again; none of its "
                "parameters or arguments does"
            )
        lamella.autograd.backward([t for t, _ in pairs], [g for _, g in pairs])
        return (None, None, *(a.grad if isinstance(a, Tensor) else None for a in given))
