"""Runs derivatives that are written in Python, registered by ``lamella.library.register_autograd``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import lamella
from lamella import Tensor

from . import _python
from .function import Function


def derived(rule) -> Callable[..., Any]:
    """Returns the layer's kernel of an operator whose derivative is a pair of Python functions."""
    schema = lamella.library.find(rule.op)[1]
    if re.search(r"Tensor\??\[", schema):
        return _with_lists(rule, single=not schema.endswith(")"))
    derivative = rule.payload
    names = list(derivative.defaults)

    def forward(ctx, call, kwargs, *args):
        output = call(*args, **kwargs)
        derivative.set_up(ctx, args, kwargs, output)
        return output

    def backward(ctx, *grads):
        found = derivative.backward(ctx, *grads)
        return (None, None, *_gradients(rule.op, names, found, _inputs(ctx)[2:]))

    apply = _function(rule.op, names, forward, backward, lambda ctx: _needs(ctx)[2:]).apply

    def kernel(call, *args, **kwargs):
        if kwargs:
            _refuse_gradients(rule.op, kwargs)
        with _python.enable_grad():  # the layer is off inside its own kernels
            return apply(call, kwargs, *args)

    return kernel


def _function(op: str, names: list[str], forward, backward, needs) -> type[Function]:
    """Makes a Function for an operator. ``needs(ctx)`` returns whether each passed argument of the operator needs a
    gradient; the Function's first inputs, such as ``call``, are not arguments of the operator."""

    def needs_input_grad(ctx):
        passed = needs(ctx)
        return (*passed, *[False] * (len(names) - len(passed)))

    name = op.rpartition("::")[2].partition(".")[0]
    methods = {
        "forward": staticmethod(forward),
        "backward": staticmethod(backward),
        "needs_input_grad": property(needs_input_grad),
        "runs_on_samples": True,
    }
    return type(name.title().replace("_", ""), (Function,), methods)


_needs = cast(Any, Function).needs_input_grad.__get__  # for each input of a step whether it needs a gradient
_inputs = cast(Any, Function)._lamella_needs.__get__  # like _needs, but None for an input that is no tensor


def _gradients(op: str, names: list[str], found: Any, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Checks the gradients ``found`` that a backward returned, and returns those of the passed arguments. ``inputs``
    says for each passed argument whether it needs a gradient: None if it is no tensor, a list for a list of tensors."""
    found = found if isinstance(found, tuple) else (found,)
    count, returned = len(inputs), len(found)
    if returned == count:
        for place, g in zip(inputs, found, strict=True):
            if g is not None and (type(g) is not Tensor or type(place) is not bool):
                break
        else:  # the usual case: each gradient is None or a Tensor for a Tensor
            return found
    while len(found) > count and found[-1] is None:
        found = found[:-1]
    if count < len(found) <= len(names):
        text = f"argument '{names[len(found) - 1]}' was left at its default; its gradient must be None"
        raise RuntimeError(f"{op}: {text}, got {type(found[-1]).__name__}")
    if len(found) != count:
        wanted = f"one gradient for each of {max(len(names), count)} arguments"
        raise RuntimeError(f"{op}: its backward must return {wanted}, got {returned}")
    numbered = [*names, *map(str, range(len(names), count))]  # arguments without a name get a number
    return tuple(_checked_gradient(op, *each) for each in zip(numbered, inputs, found, strict=False))


def _checked_gradient(op: str, name: str, place: Any, g: Any) -> Any:
    # An empty list of gradients is allowed for an argument without tensors, such as an empty list.
    if g is None or (place is None and isinstance(g, list | tuple) and not g):
        return None
    if place is None:
        text = f"argument '{name}' is no tensor; its gradient must be None"
        raise RuntimeError(f"{op}: {text}, got {type(g).__name__}")
    wanted = f"list of {len(place)}" if isinstance(place, list) else "Tensor"
    if not isinstance(g, list | tuple if isinstance(place, list) else Tensor):
        raise TypeError(f"{op}: the gradient of argument '{name}' must be a {wanted} or None, got {type(g).__name__}")
    if isinstance(place, list):
        if len(g) != len(place):
            raise RuntimeError(f"{op}: the gradient of argument '{name}' must be a {wanted}, got {len(g)}")
        return [_checked_gradient(op, f"{name}[{i}]", *each) for i, each in enumerate(zip(place, g, strict=True))]
    return g


def _refuse_gradients(op: str, kwargs: dict[str, Any]) -> None:
    for key, value in kwargs.items():
        if any(isinstance(t, Tensor) and t.requires_grad for t in (value if isinstance(value, list) else [value])):
            raise NotImplementedError(
                f"{op}: argument '{key}' is keyword-only, so backward cannot return its gradient; detach() it, or "
                "declare it positional"
            )


# ---- operators with lists of tensors: the Function takes and returns the tensors of the lists one by one -------------


def _with_lists(rule, single: bool) -> Callable[..., Any]:
    derivative = rule.payload
    names = list(derivative.defaults)

    def forward(ctx, call, kwargs, layout, returned, *tensors):
        args = tuple(_fill(layout, tensors))
        output = call(*args, **kwargs)
        ctx.layout, ctx.returned = layout, returned
        derivative.set_up(ctx, args, kwargs, output)
        flat: list[Any] = []
        for o in (output,) if single else output:
            listed = isinstance(o, list | tuple)
            returned.append(len(o) if listed else _TENSOR)
            flat.extend(o if listed else (o,))
        return tuple(flat)

    def backward(ctx, *grads):
        found = derivative.backward(ctx, *_fill(ctx.returned, grads))
        inputs = _fill(ctx.layout, _inputs(ctx)[4:], lambda place: None)
        flat: list[Any] = []
        for place, g in zip(ctx.layout, _gradients(rule.op, names, found, inputs), strict=True):
            if isinstance(place, int):
                flat.extend([None] * place if g is None else g)
            elif place is _TENSOR:
                flat.append(g)
        return (None, None, None, None, *flat)

    def needs(ctx):
        return _fill(ctx.layout, _needs(ctx)[4:], lambda place: False)

    apply = _function(rule.op, names, forward, backward, needs).apply

    def kernel(call, *args, **kwargs):
        _refuse_gradients(rule.op, kwargs)
        layout, tensors = _flatten(args)
        returned: list[Any] = []
        with _python.enable_grad():
            results = apply(call, kwargs, layout, returned, *tensors)
        grouped = _fill(returned, results)
        return grouped[0] if single else tuple(grouped)

    return kernel


_TENSOR = object()


def _flatten(args: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """Returns the layout of the arguments, and their tensors. The layout has _TENSOR for a tensor, an int for a list of
    that many tensors, and ``(a,)`` for any other argument a."""
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
    """Undoes `_flatten`: puts the items of ``each`` in the places of the tensors, and ``other((a,))`` for any other
    argument a."""
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
    """Registers a kernel of the layer for each derivative that ``lamella.library.register_autograd`` registers."""
    library = ctx.library("autograd")

    def apply(rule):
        if rule.kind != "python":  # a derivative in C++, which the native layer serves
            return None
        handle = library.impl(rule.op, derived(rule), "autograd")
        return lambda: library.withdraw(handle)

    lamella.library.on_rule("autograd", apply, lib=library)

    def broken():
        texts = iter(getattr(lamella.ops, ctx.name)._broken_formulas())
        return [
            (owner, f"a derivative of {op}", "formula", wrong)
            for op, owner, wrong in zip(texts, texts, texts, strict=True)
        ]

    ctx.contribute("waiting", {"formulas": broken})
