"""Derivatives that operators bring from Python, by ``lattis.library.register_autograd``."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import lattis
from lattis import Tensor

from . import _python
from .function import Function


def derived(rule) -> Callable[..., Any]:
    """The layer's kernel of an operator whose derivative is a pair of Python functions."""
    derivative = rule.payload
    name = rule.op.rpartition("::")[2].partition(".")[0]
    single = not lattis.library.find(rule.op)[1].endswith(")")

    def forward(ctx, call, kwargs, layout, returned, *tensors):
        args = _fill(layout, tensors)
        output = call(*args, **kwargs)
        ctx.layout, ctx.returned = layout, returned
        if derivative.setup_context is not None:
            keywords = {"keyword_only_inputs": kwargs} if kwargs else {}
            derivative.setup_context(ctx, inputs=tuple(args), output=output, **keywords)
        flat: list[Any] = []
        for o in (output,) if single else output:
            listed = isinstance(o, list | tuple)
            returned.append(len(o) if listed else _TENSOR)
            flat.extend(o if listed else (o,))
        return tuple(flat)

    def backward(ctx, *grads):
        found = derivative.backward(ctx, *_fill(ctx.returned, grads))
        found = found if isinstance(found, tuple) else (found,)
        while len(found) > len(ctx.layout) and found[-1] is None:  # arguments at their default are left out
            found = found[:-1]
        if len(found) != len(ctx.layout):
            raise RuntimeError(
                f"{rule.op}: its backward must return one gradient for each of {len(ctx.layout)} arguments, "
                f"got {len(found)}"
            )
        flat: list[Any] = []
        for place, g in zip(ctx.layout, found, strict=True):
            if isinstance(place, int):
                flat.extend([None] * place if g is None else g)
            elif place is _TENSOR:
                flat.append(g)
        return (None, None, None, None, *flat)

    def needs_input_grad(ctx):
        needs = Function.needs_input_grad.__get__(ctx)[4:]  # those of the tensors alone
        return tuple(_fill(ctx.layout, needs, lambda place: False))

    methods = {
        "forward": staticmethod(forward),
        "backward": staticmethod(backward),
        "needs_input_grad": property(needs_input_grad),
    }
    kind = type(name.title().replace("_", ""), (Function,), methods)

    def kernel(call, *args, **kwargs):
        for key, value in kwargs.items():
            if any(isinstance(t, Tensor) and t.requires_grad for t in (value if isinstance(value, list) else [value])):
                raise NotImplementedError(
                    f"{rule.op}: argument '{key}' is keyword-only, for which backward has no place; detach() it, or "
                    "declare it positional"
                )
        layout, tensors = _flatten(args)
        returned: list[Any] = []
        with _python.enable_grad():  # the layer is off inside its own kernels
            results = kind.apply(call, kwargs, layout, returned, *tensors)
        grouped = _fill(returned, results)
        return grouped[0] if single else tuple(grouped)

    return kernel


_TENSOR = object()


def _flatten(args: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """Where tensors stand among arguments (an int: a list of so many), and the tensors."""
    layout: list[Any] = []
    tensors: list[Any] = []
    for a in args:
        if isinstance(a, Tensor):
            layout.append(_TENSOR)
            tensors.append(a)
        elif isinstance(a, list | tuple) and a and all(t is None or isinstance(t, Tensor) for t in a):
            layout.append(len(a))
            tensors.extend(a)
        else:
            layout.append((a,))
    return layout, tensors


def _fill(layout: list[Any], each: Iterable[Any], other: Callable[[Any], Any] = operator.itemgetter(0)) -> list[Any]:
    """The arguments again, with ``each`` in the places of the tensors."""
    items = iter(each)
    args: list[Any] = []
    for place in layout:
        if place is _TENSOR:
            args.append(next(items))
        elif isinstance(place, int):
            args.append([next(items) for _ in range(place)])
        else:
            args.append(other(place))
    return args


def follow(ctx) -> None:
    """Makes layer kernels of the derivatives that ``lattis.library.register_autograd`` brings."""
    library = ctx.library("autograd")

    def apply(rule):
        handle = library.impl(rule.op, derived(rule), "autograd")
        return lambda: library.withdraw(handle)

    lattis.library.on_rule("autograd", apply, lib=library)
