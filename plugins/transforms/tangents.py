"""``autograd.Function`` in forward mode: its static method ``jvp``, or the transpose of its backward."""

from __future__ import annotations

from typing import Any

import lamella
from lamella import Tensor

from . import _python, derivatives, duals


def _by_backward(cls: Any, args: tuple[Any, ...], level: int) -> Any:
    """Serves a class without a ``jvp``: its backward is the transpose of the map of tangents."""
    try:
        return derivatives.transposed_twice(cls.__name__, lambda given: cls.apply(*given), list(args), level, True)
    except RuntimeError as error:
        raise RuntimeError(
            f"{cls.__name__}: its tangents are wanted, and it has no static method 'jvp(ctx, *tangents)'; define it, "
            f"or give it a backward that can be differentiated: {error}"
        ) from error


def apply(cls: Any, args: tuple[Any, ...], level: int) -> Any:
    """Serves ``Function.apply`` of duals of a level: forward of the primals, the class's ``jvp`` of the tangents."""
    if cls.jvp is lamella.autograd.Function.jvp:
        return _by_backward(cls, args, level)
    primals, tangents = [], []
    for a in args:
        primal, tangent = duals.parts(a, level) if isinstance(a, Tensor) else (a, None)
        primals.append(primal)
        tangents.append(tangent)
    results, ctx = _results(cls, primals, tuple(t is not None for t in tangents))
    found = cls.jvp(ctx, *tangents)
    several = isinstance(results, tuple)
    outs, vectors = (results, found) if several else ((results,), (found,))
    if not isinstance(vectors, tuple) or len(vectors) != len(outs):
        raise RuntimeError(
            f"{cls.__name__}: 'jvp' must return a tangent or None for each of the {len(outs)} results, got {found!r}"
        )
    boxes = []
    for out, tangent in zip(outs, vectors, strict=True):
        at = next((i for i, p in enumerate(primals) if p is out), None)
        if at is not None:  # an argument that forward wrote or returned
            boxes.append(args[at])
            if tangent is not None and tangent is not tangents[at]:
                args[at].copy_(duals.made(f"{cls.__name__}.jvp", out.clone(), tangent, level))
        else:
            boxes.append(out if tangent is None else duals.made(f"{cls.__name__}.jvp", out, tangent, level))
    return tuple(boxes) if several else boxes[0]


def _results(cls: Any, primals: list[Any], needs: tuple[bool, ...]) -> tuple[Any, Any]:
    """Returns the results of a class for primals, and the ctx for its ``jvp``."""
    if cls.setup_context is not lamella.autograd.Function.setup_context:
        results = cls.apply(*primals)
        ctx = ForwardContext(needs)
        cls.setup_context(ctx, tuple(primals), results)
        return results, ctx
    if any(isinstance(p, Tensor) and _python.inner_of(p) is not None for p in primals):
        raise RuntimeError(
            f"{cls.__name__}: within several transforms the static method 'forward' takes no ctx; move what it saves "
            "to 'setup_context(ctx, inputs, output)'"
        )
    kept: list[Any] = []

    def forward(ctx: Any, *given: Any) -> Any:
        kept.append(ctx)
        return cls.forward(ctx, *given)

    seen: Any = type(cls.__name__, (cls,), {"forward": staticmethod(forward)})
    results = seen.apply(*primals)
    saved = kept[0].__dict__.pop("_for_forward", None)
    ctx = ForwardContext(needs)
    ctx.__dict__.update(kept[0].__dict__)
    ctx.save_for_forward(*(kept[0].saved_tensors if saved is None else saved))
    return results, ctx


class ForwardContext:
    """The ctx of ``Function.jvp``: its saved tensors are those of ``save_for_forward``, or of ``save_for_backward``."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self._for_forward: tuple[Any, ...] | None = None
        self._for_backward: tuple[Any, ...] = ()

    def save_for_forward(self, *tensors: Any) -> None:
        self._for_forward = tensors

    def save_for_backward(self, *tensors: Any) -> None:
        self._for_backward = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Has no effect: forward has written."""

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Has no effect: jvp returns None for such a result."""

    def set_materialize_grads(self, value: bool) -> None:
        """Has no effect: jvp gets None for an argument without a tangent."""

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that forward saved."""
        return self._for_backward if self._for_forward is None else self._for_forward
