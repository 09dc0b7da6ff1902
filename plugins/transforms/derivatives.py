"""Derivatives of functions: grad, vjp, jvp and their kin. ``jvp`` computes with duals; the others walk over autograd's
graph of the function's call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import lamella
from lamella import Tensor
from lamella.utils import _pytree as pytree

from . import _python, duals
from .vectorize import is_recorded, name_of

__all__ = ["grad", "grad_and_value", "jvp", "linearize", "vjp"]

Argnums = Any  # an int or a tuple of ints


def chosen(who: str, args: Sequence[Any], argnums: Argnums) -> tuple[list[int], bool]:
    """Returns the places of the arguments that ``argnums`` names, from 0 on, and whether it is one int.

    Raises:
        RuntimeError: ``argnums`` is no int or tuple of ints, or there is no such argument
    """
    one = isinstance(argnums, int)
    wanted = (argnums,) if one else argnums
    if not isinstance(wanted, tuple) or not wanted or not all(isinstance(i, int) for i in wanted):
        raise RuntimeError(f"{who}: argument 'argnums' must be an int or a tuple of ints, got {argnums!r}")
    for i in wanted:
        if not -len(args) <= i < len(args):
            raise RuntimeError(f"{who}: argnums {i} names no argument: the function got {len(args)}")
    places = [i % len(args) for i in wanted]
    if len(set(places)) != len(places):
        raise RuntimeError(f"{who}: argnums {argnums} names an argument twice")
    return places, one


def written_message(who: str) -> str:
    return (
        f"{who}: the function writes in place to an argument by which it is differentiated; it must clone() the "
        "argument first, and write to the copy"
    )


class Inputs:
    """The tensors of some arguments, as new roots of a graph: what is computed from them has derivatives there.

    A tensor that requires a gradient keeps its history, so that derivatives of derivatives reach it.
    """

    def __init__(self, who: str, trees: Any, recorded: bool):
        self.who = who
        self.recorded = recorded  # whether derivatives are recorded in their turn
        self.given, self.spec = pytree.tree_flatten(trees)
        self.fresh = []
        with lamella.enable_grad():
            for t in self.given:
                if not isinstance(t, Tensor):
                    what = type(t).__name__
                    raise ValueError(f"{who}: the arguments to differentiate must hold tensors alone, got {what}")
                if not (t.is_floating_point() or t.is_complex()):
                    raise RuntimeError(f"{who}: a tensor to differentiate must be of floats or complex, got {t.dtype}")
                keeps = self.recorded and t.requires_grad
                self.fresh.append(t.view_as(t) if keeps else _python.fresh(t))
        self.keeps = self.recorded and any(t.requires_grad for t in self.given)
        self.states = self._states()

    def _states(self) -> list[tuple[Any, Any]]:
        return [(t._version, t.grad_fn) for t in self.fresh]

    def trees(self) -> Any:
        return pytree.tree_unflatten(self.fresh, self.spec)

    def check_unwritten(self) -> None:
        """Raises if the function wrote to a tensor by which it is differentiated: its old value would be lost."""
        if self._states() != self.states:
            raise RuntimeError(written_message(self.who))

    def is_recorded(self, roots: list[Tensor]) -> bool:
        """Returns whether derivatives of the roots have derivatives outside of this transform."""
        return self.recorded and (self.keeps or _python.has_other_leaves(roots, self.fresh))

    def is_aux_recorded(self, aux: Any) -> bool:
        return self.is_recorded([t for t in pytree.tree_leaves(aux) if isinstance(t, Tensor)])

    def gradients(self, roots: list[Tensor], grads: Sequence[Tensor | None] | None, retain: bool, create: bool) -> Any:
        """Returns the gradients of the roots, as a tree of the arguments; zeros where there is none."""
        some = [
            (r, None if grads is None else g) for r, g in zip(roots, grads or roots, strict=True) if r.requires_grad
        ]
        found: Sequence[Tensor | None] = [None] * len(self.fresh)
        if some:
            found = lamella.autograd.grad(
                [r for r, _ in some],
                self.fresh,
                None if grads is None else [g for _, g in some],
                retain_graph=retain or create,
                create_graph=create,
                allow_unused=True,
            )
        filled = [lamella.zeros_like(t) if g is None else g for g, t in zip(found, self.given, strict=True)]
        return _settled(pytree.tree_unflatten(filled, self.spec), create)


def _results(who: str, made: Any) -> tuple[list[Tensor], Any]:
    leaves, spec = pytree.tree_flatten(made)
    if not leaves:
        raise RuntimeError(f"{who}: the function must return tensors, got an empty {type(made).__name__}")
    for t in leaves:
        if not isinstance(t, Tensor):
            raise RuntimeError(f"{who}: the function must return tensors, got {type(t).__name__}")
    return leaves, spec


def _settled(tree: Any, recorded: bool) -> Any:
    """Returns results without the history within the transform, unless that leads on to what is outside."""
    if recorded:
        return tree
    return pytree.tree_map(lambda t: duals.without_history(t) if isinstance(t, Tensor) and is_recorded(t) else t, tree)


def _with_aux(who: str, made: Any) -> tuple[Any, Any]:
    if not (isinstance(made, tuple) and len(made) == 2):
        raise RuntimeError(f"{who}: with has_aux=True the function must return a tuple (output, aux)")
    return made


def grad_and_value(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Returns a function that returns the gradients of ``func`` and its value.

    Args:
        func: returns a tensor without dimensions; with ``has_aux``, a pair of one and further results
        argnums: the positional arguments to differentiate by, an int or a tuple; they may be nestings of tensors

    Returns:
        a function of the same arguments, which returns ``(gradients, value)``, or ``(gradients, (value, aux))``

    Raises:
        RuntimeError: ``func`` returns no tensor of one element without dimensions, an argument is not of floats, or
            ``argnums`` names none
        ValueError: an argument to differentiate by is no tensor

    >>> lamella.func.grad_and_value(lambda x: (x * x).sum())(lamella.tensor([1., 2.]))
    (tensor([2., 4.]), tensor(5.))
    """

    return _grad_and_value(f"grad_and_value({name_of(func)})", func, argnums, has_aux)


def _grad_and_value(who: str, func: Callable[..., Any], argnums: Argnums, has_aux: bool) -> Callable[..., Any]:
    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        places, one = chosen(who, args, argnums)
        inputs = Inputs(who, args[places[0]] if one else tuple(args[i] for i in places), lamella.is_grad_enabled())
        given = list(args)
        for i, tree in zip(places, (inputs.trees(),) if one else inputs.trees(), strict=True):
            given[i] = tree
        with lamella.enable_grad():
            made = func(*given, **kwargs)
        inputs.check_unwritten()
        value, aux = _with_aux(who, made) if has_aux else (made, None)
        if not isinstance(value, Tensor):
            raise RuntimeError(f"{who}: the function must return a tensor, got {type(value).__name__}")
        if value.dim() != 0:
            raise RuntimeError(
                f"{who}: the function must return a tensor without dimensions, got one with {value.dim()}; call sum() "
                "or mean() on it, or use jacrev"
            )
        recorded = inputs.is_recorded([value])
        keeps_aux = has_aux and inputs.is_aux_recorded(aux)  # the walk would free the graph of aux
        gradients = inputs.gradients([value], None, keeps_aux, recorded)
        value = _settled(value, recorded)
        return gradients, (value, _settled(aux, keeps_aux)) if has_aux else value

    return wrapper


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Returns a function that returns the gradients of ``func``: of `grad_and_value`, the first result.

    With ``has_aux`` it returns ``(gradients, aux)``. Calls may be nested, for derivatives of higher order, and mixed
    with ``vmap``, for gradients of each sample.

    >>> lamella.func.grad(lamella.sin)(lamella.tensor(0.))
    tensor(1.)
    >>> lamella.func.grad(lamella.func.grad(lambda x: x ** 3))(lamella.tensor(2.))
    tensor(12.)
    >>> lamella.vmap(lamella.func.grad(lambda w, x: (w * x).sum()), (None, 0))(lamella.ones(2), lamella.eye(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    both = _grad_and_value(f"grad({name_of(func)})", func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradients, value = both(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return wrapper


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Calls ``func``, and returns its results and a function that multiplies vectors by its transposed Jacobian.

    Args:
        primals: the arguments, nestings of tensors; ``func`` is differentiated by all of them
        has_aux: ``func`` returns a pair of results and further results, which are returned as a third

    Returns:
        ``(results, function)``. The function takes tensors in the nesting of the results, and returns a tuple with the
        gradients of each argument. It may be called several times

    Raises:
        RuntimeError: ``func`` returns other things than tensors, or the function gets another nesting, or other shapes,
            than those of the results

    >>> y, back = lamella.func.vjp(lamella.sin, lamella.zeros(2))
    >>> y, back(lamella.tensor([1., 2.]))
    (tensor([0., 0.]), (tensor([1., 2.]),))
    """
    return transposed(f"vjp({name_of(func)})", func, primals, has_aux)


def transposed(who: str, func: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool) -> Any:
    """Returns what ``vjp`` returns; messages begin with ``who``."""
    if not primals:
        raise RuntimeError(f"{who}: got no arguments to differentiate by")
    inputs = Inputs(who, primals, lamella.is_grad_enabled())
    with lamella.enable_grad():
        made = func(*inputs.trees())
    inputs.check_unwritten()
    made, aux = _with_aux(who, made) if has_aux else (made, None)
    roots, spec = _results(who, made)
    recorded = inputs.is_recorded(roots)

    def back(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        vectors, nesting = pytree.tree_flatten(cotangents)
        if nesting != spec:
            raise RuntimeError(f"{who}: the vectors must have the nesting of the results, {spec}, got {nesting}")
        for v, r in zip(vectors, roots, strict=True):
            if not isinstance(v, Tensor) or v.shape != r.shape:
                shape = tuple(v.shape) if isinstance(v, Tensor) else type(v).__name__
                raise RuntimeError(f"{who}: a vector must have the shape of its result, {tuple(r.shape)}, got {shape}")
        create = lamella.is_grad_enabled() and (recorded or _python.has_other_leaves(vectors, inputs.fresh))
        if create_graph is not None:
            create = create_graph
        with lamella.enable_grad() if create else lamella.no_grad():
            return inputs.gradients(roots, vectors, retain_graph, create)

    results = pytree.tree_unflatten(_settled(roots, recorded), spec)
    return (results, back, _settled(aux, inputs.is_aux_recorded(aux))) if has_aux else (results, back)


def _pairs(who: str, primals: Any, tangents: Any) -> tuple[Any, Any]:
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, tuple) or not given:
            raise RuntimeError(
                f"{who}: argument '{what}' must be a tuple with an element for each argument, got {given!r}"
            )
    leaves, spec = pytree.tree_flatten(primals)
    vectors, nesting = pytree.tree_flatten(tangents)
    if spec != nesting:
        raise RuntimeError(f"{who}: primals and tangents must have one nesting, got {spec} and {nesting}")
    for p, t in zip(leaves, vectors, strict=True):
        if not isinstance(p, Tensor) or not isinstance(t, Tensor) or p.shape != t.shape:
            raise RuntimeError(f"{who}: each tangent must be a tensor of its primal's shape")
    return vectors, spec


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """Returns the results of ``func`` and the product of its Jacobian and the tangents.

    The function is called once, with duals of the primals and the tangents: each operator computes the tangents of its
    results beside them.

    Args:
        primals: a tuple of the arguments
        tangents: a tuple of the same nesting and shapes
        strict: raises if a result does not depend on the primals, in place of a tangent of zeros
        has_aux: ``func`` returns a pair of results and further results, which are returned as a third

    Raises:
        RuntimeError: primals and tangents do not fit each other, or the tangent of an operator is not known

    >>> lamella.func.jvp(lamella.sin, (lamella.zeros(2),), (lamella.tensor([1., 2.]),))
    (tensor([0., 0.]), tensor([1., 2.]))
    """
    who = f"jvp({name_of(func)})"
    vectors, _ = _pairs(who, primals, tangents)
    return along(who, func, primals, vectors, strict, has_aux)


def along(
    who: str, func: Any, primals: Any, vectors: Sequence[Tensor], strict: bool = False, has_aux: bool = False
) -> Any:
    """Returns what ``jvp`` returns; ``vectors`` are the tangents, a flat list. Messages begin with ``who``."""
    leaves, spec = pytree.tree_flatten(primals)
    level = duals.open_level()
    try:
        pairs = [_dual(who, p, v, level) for p, v in zip(leaves, vectors, strict=True)]
        versions = [t._version for t in pairs]
        made = func(*pytree.tree_unflatten(pairs, spec))
        if versions != [t._version for t in pairs]:
            raise RuntimeError(written_message(who))
        made, aux = _with_aux(who, made) if has_aux else (made, None)
        roots, nesting = _results(who, made)
        parts = [duals.parts(r, level) for r in roots]
        if strict and any(tangent is None for _, tangent in parts):
            raise RuntimeError(f"{who}: a result does not depend on the primals")
        results = pytree.tree_unflatten([p for p, _ in parts], nesting)
        products = pytree.tree_unflatten([lamella.zeros_like(p) if t is None else t for p, t in parts], nesting)
        aux = pytree.tree_map(lambda t: duals.parts(t, level)[0] if isinstance(t, Tensor) else t, aux)
    finally:
        _python.close_level(level)
    return (results, products, aux) if has_aux else (results, products)


def _dual(who: str, primal: Tensor, tangent: Tensor, level: int) -> Tensor:
    if not (primal.is_floating_point() or primal.is_complex()):
        raise RuntimeError(f"{who}: a tensor to differentiate must be of floats or complex, got {primal.dtype}")
    if tangent.is_complex() and not primal.is_complex():
        raise RuntimeError(f"{who}: the tangent of a tensor of {primal.dtype} must be real, got {tangent.dtype}")
    if tangent.device != primal.device:
        raise RuntimeError(
            f"{who}: a tangent must be on the device of its primal, {primal.device}, got {tangent.device}"
        )
    return _python.dual(primal, tangent if tangent.dtype == primal.dtype else tangent.to(primal.dtype), level)


def linear(who: str, func: Any, primals: Any, records: bool, transposes: bool = False) -> Any:
    """Returns results, and a function of tangents (a flat list) that returns the product with the Jacobian.

    It is called with gradients enabled; ``records`` is whether derivatives are recorded outside. With ``transposes`` it
    is an error if gradients do not depend on those of the results: then some step of backward was not recorded.
    """
    inputs = Inputs(who, primals, records)
    made = func(*inputs.trees())
    inputs.check_unwritten()
    roots, spec = _results(who, made)
    recorded = inputs.is_recorded(roots)
    # The gradients are linear in `vectors`, so that their derivative by these is the transposed product's transpose.
    vectors = [_python.fresh(lamella.zeros_like(r)) if r.requires_grad else None for r in roots]
    known = [v for v in vectors if v is not None]
    gradients = pytree.tree_leaves(inputs.gradients(roots, vectors, True, True))
    if transposes and known and not any(g.requires_grad for g in gradients):
        raise RuntimeError("the gradients do not depend on those of the results")

    def forward(tangents: list[Tensor], records: bool) -> Any:
        some = [(g, t) for g, t in zip(gradients, tangents, strict=True) if g.requires_grad]
        create = records and (recorded or _python.has_other_leaves(tangents, known))
        found: Sequence[Tensor | None] = [None] * len(known)
        if some:
            found = lamella.autograd.grad(
                [g for g, _ in some],
                known,
                [t for _, t in some],
                retain_graph=True,
                create_graph=create,
                allow_unused=True,
            )
        products = iter(found)
        all_found = [None if v is None else next(products) for v in vectors]
        filled = [lamella.zeros_like(r) if t is None else t for t, r in zip(all_found, roots, strict=True)]
        return pytree.tree_unflatten(_settled(filled, create), spec)

    return pytree.tree_unflatten(_settled(roots, recorded), spec), forward


def transposed_twice(
    who: str, call: Callable[..., Any], leaves: list[Any], level: int, transposes: bool = False
) -> Any:
    """Calls a function of leaves with the primals of duals of a level; returns its results as duals, by two walks.

    ``transposes`` is that of ``linear``.
    """
    pairs = [duals.parts(leaf, level) if isinstance(leaf, Tensor) else (leaf, None) for leaf in leaves]
    moved = [i for i, (_, tangent) in enumerate(pairs) if tangent is not None]

    def part(*primals: Tensor) -> Any:
        given = [primal for primal, _ in pairs]
        for i, primal in zip(moved, primals, strict=True):
            given[i] = primal
        return call(given)

    records = lamella.is_grad_enabled()
    with lamella.enable_grad():
        results, forward = linear(who, part, tuple(pairs[i][0] for i in moved), records, transposes)
        tangents = forward([pairs[i][1] for i in moved], records)
    return pytree.tree_map(
        lambda r, t: _python.dual(r, t, level) if r.is_floating_point() or r.is_complex() else r, results, tangents
    )


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Returns the results of ``func``, and a function that multiplies tangents by its Jacobian at these arguments.

    ``func`` is called once; the function may be called many times.

    Raises:
        RuntimeError: the function gets tangents of another nesting, or other shapes, than those of the arguments

    >>> y, forward = lamella.func.linearize(lamella.sin, lamella.zeros(2))
    >>> forward(lamella.tensor([1., 2.]))
    tensor([1., 2.])
    """
    who = f"linearize({name_of(func)})"
    records = lamella.is_grad_enabled()
    with lamella.enable_grad():
        results, multiply = linear(who, func, primals, records)

    def forward(*tangents: Any) -> Any:
        vectors, _ = _pairs(who, primals, tangents)
        with lamella.enable_grad():
            return multiply(vectors, records and lamella.is_grad_enabled())

    return results, forward
