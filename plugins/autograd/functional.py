"""Jacobians, Hessians, and products with them: ``lamella.autograd.functional``.

In each function, ``func`` takes the inputs and returns a tensor or a tuple of tensors. A result that has one tensor for
each input (or output) is a tuple if the inputs (or outputs) are a tuple, and a tensor otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lamella
from lamella import Tensor

from . import _python, api

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = Tensor | tuple[Tensor, ...]


# ---- arguments and results -------------------------------------------------------------------------------------------


def _tuple(name: str, where: str, given: Any) -> tuple[bool, tuple[Tensor, ...]]:
    """Returns whether the argument is a tuple or list, and its tensors as a tuple."""
    several = isinstance(given, tuple | list)
    tensors = tuple(given) if several else (given,)
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            at = f"element {i} of {where}" if several else where
            raise TypeError(f"{name}: {at} must be a Tensor, got {type(t).__name__}")
    return several, tensors


def _same(several: bool, tensors: tuple) -> Any:
    return tensors if several else tensors[0]


def _inputs(inputs: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    """Returns the inputs as tensors that require grad; with their history if create_graph, else detached from it."""
    return tuple(t.view_as(t) if create_graph and t.requires_grad else t.detach().requires_grad_() for t in inputs)


def _finished(tensors: tuple, create_graph: bool) -> tuple:
    return tensors if create_graph else tuple(t.detach() for t in tensors)


def _vector(name: str, v: Any, like: tuple[Tensor, ...], of: str) -> tuple[Tensor, ...]:
    """Returns the tensors of argument `v`, and checks that they have the shapes of `like`. If `v` is None and `like` is
    a single number, returns 1."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"{name}: argument 'v' can be left out only where {of} is a single number")
        return (lamella.ones_like(like[0]),)
    _, vectors = _tuple(name, "argument 'v'", v)
    if len(vectors) != len(like):
        raise RuntimeError(f"{name}: argument 'v' has {len(vectors)} tensors, but {of} has {len(like)}")
    for i, (a, b) in enumerate(zip(vectors, like, strict=True)):
        if a.shape != b.shape:
            raise RuntimeError(
                f"{name}: element {i} of argument 'v' has shape {tuple(a.shape)}, but that of {of} has {tuple(b.shape)}"
            )
    return vectors


def _outputs(
    name: str, func: Callable[..., Tensors], xs: tuple[Tensor, ...], strict: bool
) -> tuple[bool, tuple[Tensor, ...]]:
    """Calls func; returns whether its result is a tuple, and its outputs as a tuple."""
    several, outputs = _tuple(name, "the result of argument 'func'", func(*xs))
    for i, o in enumerate(outputs):
        if strict and not o.requires_grad:
            raise RuntimeError(f"{name}: output {i} does not depend on the inputs, which strict=True forbids")
    return several, outputs


def _opened(
    name: str, func: Callable[..., Tensors], inputs: Tensors, create_graph: bool, strict: bool
) -> tuple[bool, tuple[Tensor, ...], bool, tuple[Tensor, ...]]:
    """Returns whether the inputs are a tuple, the inputs as a tuple, and the same two for the outputs of func."""
    several, given = _tuple(name, "argument 'inputs'", inputs)
    xs = _inputs(given, create_graph)
    return several, xs, *_outputs(name, func, xs, strict)


def _gradients(
    name: str,
    outputs: tuple[Tensor, ...],
    inputs: tuple[Tensor, ...],
    vectors: tuple[Tensor | None, ...],
    create_graph: bool,
    strict: bool,
    retain_graph: bool | None = None,
) -> tuple[Tensor, ...]:
    """Computes gradients. If no output depends on an input, the gradient of that input is zero, or an error if
    `strict`; under `create_graph`, `strict` also refuses gradients that do not depend on the inputs."""
    pairs = [(o, v) for o, v in zip(outputs, vectors, strict=True) if o.requires_grad]
    found: tuple[Tensor | None, ...] = (None,) * len(inputs)
    if pairs:
        roots, given = zip(*pairs, strict=True)
        found = api.grad(roots, inputs, given, retain_graph, create_graph, allow_unused=True)
    for i, g in enumerate(found):
        if g is None and strict:
            raise RuntimeError(f"{name}: no output depends on input {i}, which strict=True forbids")
        if g is not None and strict and create_graph and not g.requires_grad:
            raise RuntimeError(
                f"{name}: the gradient of input {i} does not depend on the inputs, which strict=True forbids"
            )
    return tuple(lamella.zeros_like(x) if g is None else g for g, x in zip(found, inputs, strict=True))


def _slopes(name: str, outputs: tuple[Tensor, ...], xs: tuple[Tensor, ...], strict: bool) -> tuple[Tensor, ...]:
    """Returns the gradients of the one number that func returned; they can be differentiated again."""
    if len(outputs) != 1 or outputs[0].numel() != 1:
        got = f"shape {tuple(outputs[0].shape)}" if len(outputs) == 1 else f"{len(outputs)} tensors"
        raise RuntimeError(f"{name}: argument 'func' must return one tensor of one element, got {got}")
    return _gradients(name, outputs, xs, (None,), True, strict)


def _along(
    name: str,
    outputs: tuple[Tensor, ...],
    xs: tuple[Tensor, ...],
    vectors: tuple[Tensor, ...],
    create_graph: bool,
    strict: bool,
) -> tuple[Tensor, ...]:
    """Computes the derivatives of outputs along the vectors: gradients are linear in the gradients that backward starts
    with (`starts`), so differentiating them with respect to `starts` gives the derivatives."""
    starts = tuple(lamella.zeros_like(o, requires_grad=True) for o in outputs)
    rows = _gradients(name, outputs, xs, starts, True, strict)
    return _gradients(name, rows, starts, vectors, create_graph, strict)


# ---- products --------------------------------------------------------------------------------------------------------


def vjp(
    func: Callable[..., Tensors],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensors, Tensors]:
    """Returns the result of func, and the product of the vector v with its Jacobian: a gradient for each input.

    Args:
        inputs: a tensor, or a tuple of tensors
        v: of the shapes of the outputs; one by default, for an output of one element
        create_graph: the results can be differentiated, and inputs keep their history
        strict: an output or a gradient that does not depend on the inputs is an error; else its derivatives are zeros

    Raises:
        RuntimeError: v does not fit, or an error by ``strict``
        TypeError: an input or output is no tensor

    >>> x = lamella.tensor([1.0, 2.0])
    >>> lamella.autograd.functional.vjp(lambda x: x * x, x, lamella.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with _python.enable_grad():
        several_in, xs, several_out, outputs = _opened("vjp", func, inputs, create_graph, strict)
        vectors = _vector("vjp", v, outputs, "the result of argument 'func'")
        found = _gradients("vjp", outputs, xs, vectors, create_graph, strict)
    return _same(several_out, _finished(outputs, create_graph)), _same(several_in, _finished(found, create_graph))


def jvp(
    func: Callable[..., Tensors],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensors, Tensors]:
    """Returns the result of func, and the product of its Jacobian with the vector v: each output's derivative along v.

    The product is computed by two backwards: the second differentiates :func:`vjp` with respect to its ``v``.

    Args:
        inputs, create_graph, strict: as for :func:`vjp`
        v: of the shapes of the inputs; one by default, for an input of one element

    Raises:
        RuntimeError: v does not fit, or an error by ``strict``
        TypeError: an input or output is no tensor

    >>> x = lamella.tensor([1.0, 2.0])
    >>> lamella.autograd.functional.jvp(lambda x: x.prod(), x, lamella.tensor([1.0, 0.0]))
    (tensor(2.), tensor(2.))
    """
    with _python.enable_grad():
        _, xs, several_out, outputs = _opened("jvp", func, inputs, create_graph, strict)
        vectors = _vector("jvp", v, xs, "argument 'inputs'")
        found = _along("jvp", outputs, xs, vectors, create_graph, strict)
    return _same(several_out, _finished(outputs, create_graph)), _same(several_out, _finished(found, create_graph))


def vhp(
    func: Callable[..., Tensor],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Tensors]:
    """Returns the result of func, one number, and the product of the vector v with its Hessian.

    Args:
        inputs, create_graph, strict: as for :func:`vjp`
        v: of the shapes of the inputs

    Raises:
        RuntimeError: func returns more than a number, v does not fit, or an error by ``strict``
        TypeError: an input or output is no tensor

    >>> x = lamella.tensor([1.0, 2.0])
    >>> lamella.autograd.functional.vhp(lambda x: (x ** 3).sum(), x, lamella.tensor([1.0, 10.0]))
    (tensor(9.), tensor([  6., 120.]))
    """
    with _python.enable_grad():
        several, xs, _, outputs = _opened("vhp", func, inputs, create_graph, strict)
        vectors = _vector("vhp", v, xs, "argument 'inputs'")
        slopes = _slopes("vhp", outputs, xs, strict)
        found = _gradients("vhp", slopes, xs, vectors, create_graph, strict)
    return _finished(outputs, create_graph)[0], _same(several, _finished(found, create_graph))


def hvp(
    func: Callable[..., Tensor],
    inputs: Tensors,
    v: Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Tensor, Tensors]:
    """Returns the result of func, one number, and the product of its Hessian with the vector v.

    A continuous Hessian is symmetric, so that :func:`vhp` gives the same product with less work.

    Args:
        inputs, create_graph, strict: as for :func:`vjp`
        v: of the shapes of the inputs

    Raises:
        RuntimeError: func returns more than a number, v does not fit, or an error by ``strict``
        TypeError: an input or output is no tensor

    >>> x = lamella.tensor([1.0, 2.0])
    >>> lamella.autograd.functional.hvp(lambda x: x.prod(), x, lamella.tensor([1.0, 10.0]))
    (tensor(2.), tensor([10.,  1.]))
    """
    with _python.enable_grad():
        several, xs, _, outputs = _opened("hvp", func, inputs, create_graph, strict)
        vectors = _vector("hvp", v, xs, "argument 'inputs'")
        found = _along("hvp", _slopes("hvp", outputs, xs, strict), xs, vectors, create_graph, strict)
    return _finished(outputs, create_graph)[0], _same(several, _finished(found, create_graph))


# ---- whole matrices --------------------------------------------------------------------------------------------------


def jacobian(
    func: Callable[..., Tensors],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of func: for each output and input a tensor, whose shape is the output's followed by the input's.

    Args:
        inputs, create_graph, strict: as for :func:`vjp`
        vectorize: computes all rows in one walk, by ``lamella.vmap``; else one by one
        strategy: "reverse-mode" computes a row for each element of an output; "forward-mode" a column for each element
            of an input, by the products of :func:`jvp`, and wants ``vectorize``

    Returns:
        a tensor; a tuple of tensors if either func's result or inputs is a tuple; a tuple of tuples if both are

    Raises:
        RuntimeError: an error by ``strict``, which is not possible with ``vectorize``
        ValueError: the strategy is neither "reverse-mode" nor "forward-mode"
        NotImplementedError: the strategy is "forward-mode" without ``vectorize``
        TypeError: an input or output is no tensor

    >>> lamella.autograd.functional.jacobian(lambda x: x * x.sum(), lamella.tensor([1.0, 2.0]))
    tensor([[4., 1.],
            [2., 5.]])
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ValueError(f"jacobian: argument 'strategy' must be 'reverse-mode' or 'forward-mode', got {strategy!r}")
    if strategy == "forward-mode" and not vectorize:
        raise NotImplementedError("jacobian: strategy 'forward-mode' is there with vectorize=True alone")
    if strict and vectorize:
        raise RuntimeError("jacobian: strict=True is not possible with vectorize=True; leave one of them out")
    with _python.enable_grad():
        several_in, xs, several_out, outputs = _opened("jacobian", func, inputs, create_graph, strict)
        if strategy == "forward-mode":
            found = _columns(outputs, xs, create_graph)
        else:
            found = [_rows(o, xs, create_graph, strict, vectorize) for o in outputs]
        blocks = [_same(several_in, _finished(row, create_graph)) for row in found]
    return _same(several_out, tuple(blocks))


def _units(t: Tensor) -> Tensor:
    """Returns a tensor of t's shape for each of its elements, which is 1 there and 0 elsewhere."""
    return lamella.eye(t.numel(), dtype=t.dtype, device=t.device).reshape(t.numel(), *t.shape)


def _rows(o: Tensor, xs: tuple[Tensor, ...], create_graph: bool, strict: bool, vectorize: bool) -> tuple[Tensor, ...]:
    """Returns the Jacobian of one output: a tensor for each input."""

    def row(unit):
        return _gradients("jacobian", (o,), xs, (unit,), create_graph, strict, retain_graph=True)

    if vectorize and o.numel():
        columns = lamella.vmap(row)(_units(o))
    else:
        rows = [row(unit) for unit in _units(o)]
        columns = [lamella.stack(c) for c in zip(*rows, strict=True)] if rows else [x.new_zeros(0) for x in xs]
    return tuple(column.reshape((*o.shape, *x.shape)) for column, x in zip(columns, xs, strict=True))


def _columns(outputs: tuple[Tensor, ...], xs: tuple[Tensor, ...], create_graph: bool) -> list[tuple[Tensor, ...]]:
    """Returns for each output a tuple with its Jacobian by each input, computed by the derivatives along all units."""
    by_input = []
    for i, x in enumerate(xs):

        def along(unit, i=i):
            vectors = tuple(unit if k == i else lamella.zeros_like(other) for k, other in enumerate(xs))
            return _along("jacobian", outputs, xs, vectors, create_graph, False)

        made = lamella.vmap(along)(_units(x)) if x.numel() else [o.new_zeros(0) for o in outputs]
        by_input.append(
            [
                m.reshape(x.numel(), -1).t().reshape((*o.shape, *x.shape))
                if m.numel()
                else m.reshape((*o.shape, *x.shape))
                for m, o in zip(made, outputs, strict=True)
            ]
        )
    return [tuple(column[k] for column in by_input) for k in range(len(outputs))]


def hessian(
    func: Callable[..., Tensor],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Returns the Hessian of func, which returns one number: for each pair of inputs a tensor of both their shapes.

    Args:
        inputs, create_graph, strict: as for :func:`vjp`
        vectorize, outer_jacobian_strategy: like vectorize and strategy of :func:`jacobian`

    Returns:
        a tensor; a tuple of tuples of tensors if inputs are a tuple

    Raises:
        RuntimeError: func returns more than a number, or an error by ``strict``
        ValueError, NotImplementedError: as of :func:`jacobian`, for outer_jacobian_strategy
        TypeError: an input or output is no tensor

    >>> lamella.autograd.functional.hessian(lambda x: x.prod(), lamella.tensor([1.0, 2.0]))
    tensor([[0., 1.],
            [1., 0.]])
    """
    several, given = _tuple("hessian", "argument 'inputs'", inputs)

    def slopes(*xs):
        _, outputs = _outputs("hessian", func, xs, strict)
        return _slopes("hessian", outputs, xs, strict)

    # Unless strict, a slope that does not depend on the inputs has zeros in the matrix.
    blocks = jacobian(slopes, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    return blocks if several else blocks[0][0]
