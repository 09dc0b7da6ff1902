"""``autograd.Function`` within transforms: its static methods ``vmap`` and ``jvp``, or a rule for batches that is made
of its forward and backward."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import lamella
from lamella import Tensor
from lamella.autograd import Function

from . import _python, tangents
from .kinds import FORWARD, FUNCTIONAL
from .rules import VmapInfo, boxed, innermost, level_of, on_values, unboxed
from .vectorize import is_recorded, vmap


def _check(cls: Any) -> None:
    name = cls.__name__
    has_rule = cls.vmap is not Function.vmap
    if has_rule and cls.generate_vmap_rule:
        raise RuntimeError(f"{name}: it has generate_vmap_rule=True and a static method 'vmap'; keep one of them")
    if not has_rule and not cls.generate_vmap_rule:
        raise RuntimeError(
            f"{name}: vmap runs an autograd.Function by its static method 'vmap(info, in_dims, *args)'; define it, or "
            "set generate_vmap_rule = True if forward and backward call operators alone"
        )
    if cls.setup_context is Function.setup_context:
        raise RuntimeError(
            f"{name}: within vmap the static method 'forward' takes no ctx; move what it saves to 'setup_context(ctx, "
            "inputs, output)'"
        )


class _Context:
    """The ctx of one call of forward on samples; it keeps what backward reads."""

    def __init__(self, needs: tuple[bool, ...]):
        self.needs_input_grad = needs
        self.saved_tensors: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        raise RuntimeError("autograd.Function with generate_vmap_rule: mark_dirty is not possible")

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Has no effect: backward gets a gradient of zeros for such a result."""

    def set_materialize_grads(self, value: bool) -> None:
        """Has no effect: backward gets tensors for all results."""


def _generated(cls: Any, dims: list[int | None], batches: list[Any]) -> Any:
    """Calls forward on all samples by vmap, as one step that autograd records. An outer vmap generates its rule too."""
    needs = tuple(isinstance(t, Tensor) and is_recorded(t) for t in batches)
    count = len(batches)

    class Generated(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(*given: Any) -> Any:
            return vmap(cls.forward, tuple(dims))(*given)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            several = isinstance(output, tuple)
            given = (*inputs, *(output if several else (output,)))
            at: list[int] = []  # the places of the saved tensors in `given` and then `others`; -1 for None
            ctx.inner = _Context(needs)

            def run(*samples: Any) -> Any:
                cls.setup_context(ctx.inner, samples[:count], samples[count:] if several else samples[count])
                others: list[Any] = []
                for saved in ctx.inner.saved_tensors:
                    found = [i for i, t in enumerate(samples) if t is saved]
                    at.append(-1 if saved is None else found[0] if found else len(given) + len(others))
                    if at[-1] >= len(given):
                        others.append(saved)
                return tuple(others)

            where = (*dims, *[0] * (len(given) - count))
            others = vmap(run, where)(*given)
            # An input or a result is saved as such, since derivatives of higher order need its history.
            ctx.save_for_backward(*[(*given, *others, None)[i] for i in at])
            ctx.saved_dims = tuple((*where, *[0] * len(others), None)[i] for i in at)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            used: list[int] = []

            def run(vectors: Any, saved: Any) -> Any:
                ctx.inner.saved_tensors = saved
                found = cls.backward(ctx.inner, *vectors)
                found = found if isinstance(found, tuple) else (found,)
                needed = zip(found, ctx.needs_input_grad, strict=False)
                used[:] = [i for i, (g, need) in enumerate(needed) if need and g is not None]
                return tuple(found[i] for i in used)

            where = tuple(None if g is None else 0 for g in grads), ctx.saved_dims
            made = dict(zip(used, vmap(run, where)(tuple(grads), tuple(ctx.saved_tensors)), strict=True))
            return tuple(
                None if i not in made else made[i].sum(0) if dim is None else made[i].movedim(0, dim)
                for i, dim in enumerate(dims)
            )

    return Generated.apply(*batches)


def _run(cls: Any, args: tuple[Any, ...], records: bool) -> Any:
    """Calls a Function with what is in the boxes of the innermost level, and returns boxes of the results."""
    level, kind = innermost(args)
    if kind == FORWARD:
        with lamella.enable_grad() if records else nullcontext():
            return tangents.apply(cls, args, level)
    batches, dims, level = unboxed(list(args))
    with lamella.enable_grad() if records else nullcontext():
        if cls.generate_vmap_rule:
            return boxed(cls.__name__, _generated(cls, dims, batches), 0, level)
        size, randomness = level_of(level)
        made, out_dims = cls.vmap(VmapInfo(size, randomness), tuple(dims), *batches)
        return boxed(cls.__name__, made, out_dims, level)


def _recording(cls: Any) -> Any:
    """Returns a Function whose forward runs on what is in boxes, and whose ctx and backward are those of ``cls`` on
    boxes."""

    def forward(*args: Any) -> Any:
        return _run(cls, args, True)

    made: Any = cls.__dict__.get("_on_samples")  # of this class alone, not of one that it is derived from
    if made is None:
        made = type(cls.__name__, (cls,), {"forward": staticmethod(forward)})
        cls._on_samples = made._on_samples = made
    return made


def apply(cls: Any, args: tuple[Any, ...]) -> Any:
    """Serves ``Function.apply`` of boxes; NotImplemented if no argument is one, or for forward of ``_recording``."""
    tensors = [a for a in args if isinstance(a, Tensor)]
    level, kind = innermost(tensors)
    if cls.__dict__.get("_on_samples") is cls or level == 0:
        return NotImplemented
    records = lamella.is_grad_enabled() and any(t.requires_grad for t in tensors)
    if kind == FUNCTIONAL:  # forward may run with boxes, unless the gradients of what is in them are wanted
        if records or not any(map(is_recorded, tensors)):
            return NotImplemented
        return on_values(lambda given: cls.apply(*given), list(args), level)
    if cls.runs_on_samples:
        batches = [found[0] for t in tensors if (found := _python.inner_of(t))]
        if records and kind != FORWARD and any(map(is_recorded, batches)):
            raise RuntimeError(
                f"{cls.__name__}: its gradients by samples are recorded within vmap, and those by the batch outside "
                "would be lost; detach() the batch or its samples, or differentiate on one side of vmap alone"
            )
        return NotImplemented
    if kind != FORWARD:
        _check(cls)
    elif records and cls.setup_context is Function.setup_context:
        raise RuntimeError(
            f"{cls.__name__}: where gradients of its tangents are wanted, the static method 'forward' takes no ctx; "
            "move what it saves to 'setup_context(ctx, inputs, output)'"
        )
    if records:
        return _recording(cls).apply(*args)
    return _run(cls, args, False)
