"""Reverse-mode differentiation: ``lamella.autograd``.

>>> x = lamella.tensor([1.0, 2.0], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4.])
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import lamella
import lamella.plugins.autograd.function as function
import lamella.plugins.autograd.graph as graph
import lamella.plugins.autograd.multi_grad as multi_grad
from lamella import Tensor

from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .function import Function
from .variable import Variable

__all__ = ["Function", "Variable", "backward", "detect_anomaly", "function", "grad", "graph", "set_detect_anomaly"]

RETAIN_GRAPH, CREATE_GRAPH, ACCUMULATE = 1, 2, 4  # enum lamella_backward_flags


def _tuple(tensors: Any) -> tuple:
    return (tensors,) if isinstance(tensors, Tensor) or tensors is None else tuple(tensors)


def _inputs(inputs: Any) -> tuple:
    inputs = () if inputs is None else _tuple(inputs) or None
    if inputs is None:
        raise RuntimeError("backward: argument 'inputs' is empty; omit it to add to the grad of all leaves")
    return inputs


def _flags(retain_graph: bool | None, create_graph: bool) -> int:
    retain = create_graph if retain_graph is None else retain_graph
    return RETAIN_GRAPH * bool(retain) | CREATE_GRAPH * bool(create_graph)


def _gradients(given: Any, n: int) -> tuple:
    return (None,) * n if given is None else _tuple(given)


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Adds the gradients of tensors to the ``grad`` of the leaves they were computed from.

    Args:
        tensors: the tensors to differentiate
        grad_tensors: for each tensor the gradient with respect to it, of its shape; None means 1, for a real tensor of
            one element
        retain_graph: keeps the graph for another backward; the value of create_graph if absent
        create_graph: records the gradients' own computation, for derivatives of higher order
        grad_variables: an older name of grad_tensors
        inputs: computes only the gradients of these tensors, and adds them to their ``grad``; they need not be leaves

    Raises:
        RuntimeError: a tensor does not require grad, a gradient does not fit, a saved tensor was written in place
            or freed by an earlier backward, or an operator has no derivative

    >>> w = lamella.ones(2, requires_grad=True)
    >>> lamella.autograd.backward((w * 3).sum())
    >>> w.grad
    tensor([3., 3.])
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError("backward: grad_variables and grad_tensors are one argument; give grad_tensors alone")
        grad_tensors = grad_variables
    roots = _tuple(tensors)
    if not roots:
        raise RuntimeError("backward: argument 'tensors' is empty")
    flags = _flags(retain_graph, create_graph) | ACCUMULATE
    multi_grad.run(roots, _gradients(grad_tensors, len(roots)), _inputs(inputs), flags)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """Returns the gradients of outputs with respect to inputs, as a tuple; nothing is added to any ``grad``.

    Args:
        outputs: the tensors to differentiate
        inputs: the tensors with respect to which they are differentiated; they need not be leaves
        grad_outputs: like grad_tensors of :func:`backward`
        only_inputs: for older programs; False is ignored with a warning: use :func:`backward` to add to every ``grad``
        allow_unused: gives None for inputs that the outputs do not depend on, rather than an error
        is_grads_batched: grad_outputs and the gradients have one more dimension, in front; ``lamella.vmap`` computes
            all in one walk, or a loop one by one if its plugin is not loaded
        materialize_grads: gives zeros for inputs that the outputs do not depend on

    Raises:
        RuntimeError: as for :func:`backward`; or the outputs do not depend on an input
        ValueError: inputs is empty, or allow_unused is False though materialize_grads is True

    >>> x = lamella.tensor(2.0, requires_grad=True)
    >>> (g,) = lamella.autograd.grad(x ** 3, x, create_graph=True)
    >>> lamella.autograd.grad(g, x)
    (tensor(12.),)
    """
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True); to accumulate gradients for "
            "other parts of the graph, use autograd.backward",
            FutureWarning,
            stacklevel=2,
        )
    if materialize_grads and allow_unused is False:
        raise ValueError("grad: argument 'allow_unused' must be True or None where materialize_grads is True")
    roots, wanted = _tuple(outputs), _tuple(inputs)
    if not wanted:
        raise ValueError("grad: argument 'inputs' is empty")
    given = _gradients(grad_outputs, len(roots))
    if is_grads_batched:
        return _batched(roots, wanted, given, retain_graph, create_graph, allow_unused, materialize_grads)
    found = multi_grad.run(roots, given, wanted, _flags(retain_graph, create_graph))
    for i, g in enumerate(found):
        if g is None and not (allow_unused or materialize_grads):
            raise RuntimeError(
                f"grad: element {i} of inputs appears to not have been used in the graph; "
                "pass allow_unused=True if this is what you want"
            )
    if materialize_grads:
        found = tuple(lamella.zeros_like(x) if g is None else g for g, x in zip(found, wanted, strict=True))
    return found


def _batched(roots, inputs, given, retain_graph, create_graph, allow_unused, materialize_grads):
    sizes = {g.shape[0] for g in given if g is not None}
    if len(sizes) != 1:
        raise RuntimeError(
            "grad: argument 'grad_outputs' must have one first dimension in common where is_grads_batched is True, got "
            f"the sizes {sorted(sizes)}"
        )
    if hasattr(lamella, "vmap"):
        return _vectorized(roots, inputs, given, retain_graph, create_graph, allow_unused, materialize_grads)
    n = sizes.pop()
    rows = []
    for i in range(n):
        one = tuple(None if g is None else g[i] for g in given)
        keep = True if i < n - 1 else retain_graph
        more: Any = {"allow_unused": allow_unused, "materialize_grads": materialize_grads}
        rows.append(grad(roots, inputs, one, keep, create_graph, **more))
    return tuple(None if column[0] is None else lamella.stack(column) for column in zip(*rows, strict=True))


def _vectorized(roots, inputs, given, retain_graph, create_graph, allow_unused, materialize_grads):
    at = [i for i, g in enumerate(given) if g is not None]
    used: list[int] = []

    def one(*some):
        full: list[Tensor | None] = [None] * len(given)
        for i, g in zip(at, some, strict=True):
            full[i] = g
        more: Any = {"allow_unused": allow_unused, "materialize_grads": materialize_grads}
        found = grad(roots, inputs, tuple(full), retain_graph, create_graph, **more)
        used[:] = [i for i, g in enumerate(found) if g is not None]
        return tuple(found[i] for i in used)

    made = lamella.vmap(one)(*(given[i] for i in at))
    found = dict(zip(used, made, strict=True))
    return tuple(found.get(i) for i in range(len(inputs)))
