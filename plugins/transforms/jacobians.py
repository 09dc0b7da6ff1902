"""Jacobians and Hessians: vmap over the products of derivatives.py with all unit vectors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import lamella
from lamella import Tensor
from lamella.utils import _pytree as pytree

from .derivatives import Argnums, along, chosen, transposed
from .vectorize import check_chunk_size, name_of, vmap

__all__ = ["hessian", "jacfwd", "jacrev"]


def _units(tensors: list[Tensor], chunk_size: int | None) -> Any:
    """Yields chunks of the unit vectors of some tensors: for each tensor a batch of its parts."""
    total = sum(t.numel() for t in tensors)
    step = chunk_size or max(total, 1)
    for start in range(0, total, step):
        rows = min(step, total - start)
        chunk, begin = [], 0
        for t in tensors:
            part = lamella.zeros(rows, t.numel(), dtype=t.dtype, device=t.device)
            if -rows < start - begin < t.numel():
                part.diagonal(start - begin).fill_(1)
            chunk.append(part.view(rows, *t.shape))
            begin += t.numel()
        yield chunk


def _joined(rows: list[list[Tensor]], tensors: list[Tensor]) -> list[Tensor]:
    """Returns for each tensor the rows of all chunks, of the tensor's shape each; there may be none."""
    if not rows:
        return [lamella.zeros(0, *t.shape, dtype=t.dtype, device=t.device) for t in tensors]
    return [parts[0] if len(parts) == 1 else lamella.cat(list(parts)) for parts in zip(*rows, strict=True)]


def _part(func: Callable[..., Any], places: list[int], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns ``func`` as a function of the arguments at some places; the others stay."""

    def part(*some: Any) -> Any:
        given = list(args)
        for i, a in zip(places, some, strict=True):
            given[i] = a
        return func(*given, **kwargs)

    return part


def _columns(joined: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    """Splits the first dimension into parts, one for each tensor, of the tensor's shape."""
    parts, begin = [], 0
    for t in tensors:
        parts.append(joined.narrow(0, begin, t.numel()).reshape((*t.shape, *joined.shape[1:])))
        begin += t.numel()
    return parts


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Returns a function that returns the Jacobian of ``func``, by reverse mode: one row for each element of a result.

    Args:
        argnums: the positional arguments to differentiate by, an int or a tuple
        has_aux: ``func`` returns a pair of results and further results, which are returned beside the Jacobian
        chunk_size: computes as many rows at a time; None: all

    Returns:
        a function of the same arguments. It returns a tensor of shape (*result, *argument), in the nesting of the
        results, and within that in the nesting of the argument; a tuple if ``argnums`` is one

    Raises:
        ValueError: chunk_size is not None or greater than 0
        RuntimeError: as of ``vjp``

    >>> lamella.func.jacrev(lambda x: x * x)(lamella.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    check_chunk_size("jacrev", chunk_size)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        who = f"jacrev({name_of(func)})"
        places, one = chosen(who, args, argnums)
        primals = tuple(args[i] for i in places)
        part = _part(func, places, args, kwargs)
        results, back, *aux = transposed(who, part, primals, has_aux)
        roots, spec = pytree.tree_flatten(results)
        inputs, nesting = pytree.tree_flatten(primals)
        rows: list[list[Tensor]] = []
        for chunk in _units(roots, chunk_size):
            found = vmap(lambda *v: back(pytree.tree_unflatten(list(v), spec)))(*chunk)
            rows.append(pytree.tree_leaves(found))
        by_input = [_columns(j, roots) for j in _joined(rows, inputs)]  # for each input, the parts of all results
        trees = []
        for k in range(len(roots)):
            tree = pytree.tree_unflatten([columns[k] for columns in by_input], nesting)
            trees.append(tree[0] if one else tree)
        made = pytree.tree_unflatten(trees, spec)
        return (made, *aux) if has_aux else made

    return wrapper


def jacfwd(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Returns a function that returns the Jacobian of ``func``, one column for each element of an argument.

    Arguments and results are those of ``jacrev``; ``randomness`` is that of ``vmap``.

    >>> lamella.func.jacfwd(lambda x: x * x)(lamella.tensor([1., 2.]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    check_chunk_size("jacfwd", chunk_size)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        who = f"jacfwd({name_of(func)})"
        places, one = chosen(who, args, argnums)
        primals = tuple(args[i] for i in places)
        part = _part(func, places, args, kwargs)
        inputs, nesting = pytree.tree_flatten(primals)
        seen: list[Any] = []

        def products(*vectors: Tensor) -> Any:
            seen[:] = along(who, part, primals, vectors, has_aux=has_aux)
            return seen[1]

        rows: list[list[Tensor]] = []
        for chunk in _units(inputs, chunk_size):
            rows.append(pytree.tree_leaves(vmap(products, randomness=randomness)(*chunk)))
        if not seen:  # the arguments have no elements
            products(*map(lamella.zeros_like, inputs))
        roots, spec = pytree.tree_flatten(seen[0])
        aux = seen[2:]
        trees = []
        for joined in _joined(rows, roots):  # for each result, the parts of all inputs
            n = joined.dim() - 1
            columns = [
                c.movedim(tuple(range(t.dim())), tuple(range(n, n + t.dim())))
                for c, t in zip(_columns(joined, inputs), inputs, strict=True)
            ]
            tree = pytree.tree_unflatten(columns, nesting)
            trees.append(tree[0] if one else tree)
        made = pytree.tree_unflatten(trees, spec)
        return (made, *aux) if has_aux else made

    return wrapper


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Returns a function that returns the Hessian of ``func``: ``jacfwd`` of ``jacrev``.

    >>> lamella.func.hessian(lambda x: (x ** 3).sum())(lamella.tensor([1., 2.]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
