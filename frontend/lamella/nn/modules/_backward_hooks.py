"""Backward hooks of modules, over the hooks that autograd's nodes have.

An identity node of autograd wraps the outputs of a module, and another one its inputs. When backward reaches the first,
the gradients of the outputs are known; when it reaches the second, those of the inputs.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import lamella
from lamella._C import Tensor


class _Through(lamella.autograd.Function):
    """The identity, as a node of autograd. Errors name its subclass for a class of modules: BackwardHooksOfX."""

    @staticmethod
    def forward(ctx, *tensors):
        same = tuple(t.view_as(t) for t in tensors)
        ctx.mark_non_differentiable(*(s for s, t in zip(same, tensors, strict=True) if not t.requires_grad))
        return same

    @staticmethod
    def backward(ctx, *grads):
        return grads


@functools.cache
def _node_of(name: str) -> Any:
    return type(f"BackwardHooksOf{name}", (_Through,), {})


def _through(module: Any, values: tuple[Any, ...], watch: Any) -> tuple[tuple[Any, ...], bool]:
    """Passes the tensors among the values through one identity node, which is handed to ``watch``. Returns the values,
    and whether there is a node."""
    places = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
    if not lamella.is_grad_enabled() or not any(values[i].requires_grad for i in places):
        return values, False
    tensors = _node_of(type(module).__name__).apply(*(values[i] for i in places))
    node = next(t.grad_fn for t in tensors if t.requires_grad)
    watch(node, places)
    changed = list(values)
    for i, t in zip(places, tensors, strict=True):
        changed[i] = t
    return tuple(changed), True


def _spread(values: Any, places: list[int], n: int) -> tuple[Any, ...]:
    """Returns a tuple of ``n`` elements: the values at ``places``, None elsewhere."""
    spread = [None] * n
    for i, v in zip(places, values, strict=True):
        spread[i] = v
    return tuple(spread)


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


class Watch:
    """The backward hooks of one call of a module."""

    def __init__(self, module: Any, before: list[Any], after: list[Any]):
        self._module, self._before, self._after = module, before, after
        self._grad_output: tuple[Any, ...] | None = None
        self._has_inputs, self._inputs = False, 0

    def inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Passes the arguments through the node whose gradients are those of the inputs."""
        self._inputs = n = len(args)

        def watch(node: Any, places: list[int]) -> None:
            def hook(grad_input: Any, _: Any) -> Any:
                if self._grad_output is None:  # backward began inside of the module
                    return None
                found, changed = _spread(grad_input, places, n), False
                for user in self._after:
                    answer = user(self._module, found, self._grad_output)
                    if answer is not None:
                        found, changed = self._checked(answer, found, "backward hook"), True
                self._grad_output = None
                return tuple(found[i] for i in places) if changed else None

            node.register_hook(hook)

        args, self._has_inputs = _through(self._module, args, watch)
        return args

    def outputs(self, result: Any) -> Any:
        """Passes the result through the node whose gradients are those of the outputs."""
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(
                f"{type(self._module).__name__}: its backward hooks are not called, since forward gave a "
                f"{type(result).__name__}; it must give a Tensor or a tuple",
                stacklevel=3,
            )
            return result
        values = _tuple(result)
        n = len(values)

        def watch(node: Any, places: list[int]) -> None:
            def hook(grads: Any) -> Any:
                found, changed = _spread(grads, places, n), False
                for user in self._before:
                    answer = user(self._module, found)
                    if answer is not None:
                        found, changed = self._checked(answer, found, "backward pre-hook"), True
                self._grad_output = found
                if not self._has_inputs:  # no gradient of an input will come
                    for user in self._after:
                        answer = user(self._module, (None,) * self._inputs, found)
                        if answer is not None and any(g is not None for g in _tuple(answer)):
                            raise RuntimeError(
                                f"{type(self._module).__name__}: a backward hook returned gradients of the inputs, of "
                                "which none requires one; return None"
                            )
                    self._grad_output = None
                return tuple(found[i] for i in places) if changed else None

            node.register_prehook(hook)

        values, _ = _through(self._module, values, watch)
        if isinstance(result, Tensor):
            return values[0]
        return values if type(result) is tuple else type(result)(*values)  # a named tuple

    def _checked(self, answer: Any, found: tuple[Any, ...], kind: str) -> tuple[Any, ...]:
        """Returns the gradients of a hook, which take the places of the ones ``found``."""
        who, given = f"{type(self._module).__name__}: a {kind} returned", _tuple(answer)
        if len(given) != len(found):
            raise RuntimeError(f"{who} {len(given)} gradients, and {len(found)} are needed")
        for g, f in zip(given, found, strict=True):
            if g is not None and not isinstance(g, Tensor):
                raise TypeError(f"{who} a gradient of type {type(g).__name__}; it must be a Tensor or None")
            if g is not None and f is not None and g.shape != f.shape:
                raise RuntimeError(f"{who} a gradient of shape {tuple(g.shape)} in place of one of {tuple(f.shape)}")
        return given


def watch_last(module: Any, hooks: list[Any], result: Any) -> None:
    """Has hooks of ``register_backward_hook`` called at the node that made the first tensor of a result, if there is
    one."""
    while not isinstance(result, Tensor):
        result = (
            next((v for v in result.values() if isinstance(v, Tensor)), None)
            if isinstance(result, dict)
            else (result[0] if isinstance(result, (list, tuple)) and result else None)
        )
        if result is None:
            return
    node = result.grad_fn
    for user in hooks if node is not None else ():
        node.register_hook(lambda grad_input, grad_output, user=user: user(module, grad_input, grad_output))
