"""vmap: a function of one sample becomes a function of a batch."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from lamella import Tensor

from . import _python
from .kinds import VMAP

__all__ = ["debug_unwrap", "vmap"]

InDims = Any  # an int, None, or a tree of them
RANDOMNESS = {"error": 0, "different": 1, "same": 2}
_trees: Any = None  # lamella.utils._pytree, which is imported when it is first needed


def trees() -> Any:
    global _trees
    if _trees is None:
        from lamella.utils import _pytree as found

        _trees = found
    return _trees


class Strict(threading.local):
    """A thread's flag: it is in a block of ``lamella.func.strict_mode``."""

    on = False


strict = Strict()
# Maps each open level to the size of its batch and its randomness, for rules that Python registers.
LEVELS: dict[int, tuple[int, str]] = {}


def vmap(
    func: Callable[..., Any],
    in_dims: InDims = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Returns a function that maps ``func`` over a dimension of its arguments, in one call on the whole batch.

    Within ``func`` each tensor is one sample: it lacks the mapped dimension. Operators run on the batch, by how their
    dimensions map; those of which no rule is known run in a loop over the samples, which ``fallback_counts`` counts.
    Calls may be nested, and mixed with the other transforms of ``lamella.func``. Keyword arguments are not mapped.

    Args:
        func: takes at least one tensor, and returns tensors, in any nesting of tuples, lists and dicts
        in_dims: the dimension to map over, of all arguments, or a tuple with a dimension for each, or with a nesting of
            dimensions as that of the argument. None: the argument is the same for all samples
        out_dims: where the mapped dimension is in the results: for all, or in their nesting. None: the result must be
            the same for all samples
        randomness: "different" gives each sample its own random numbers, "same" gives all samples the same, and "error"
            refuses operators that draw
        chunk_size: computes as many samples at a time; None: all

    Raises:
        ValueError: in_dims or out_dims do not fit the arguments or the results, mapped dimensions differ in size, or
            there is none
        IndexError: a result has no such dimension as out_dims says
        RuntimeError: within ``func``, a value of a sample becomes a number of the program (``item``, ``if``), a tensor
            that all samples share is written with values of samples, or random numbers are drawn under "error"

    >>> lamella.vmap(lamella.dot)(lamella.ones(2, 3), lamella.tensor([[1., 2., 3.], [4., 5., 6.]]))
    tensor([ 6., 15.])
    >>> lamella.vmap(lambda x, y: x * y, in_dims=(0, None), out_dims=1)(lamella.arange(3), lamella.ones(2)).shape
    lamella.Size([2, 3])
    """
    if randomness not in RANDOMNESS:
        raise RuntimeError(f"vmap: argument 'randomness' must be 'error', 'different' or 'same', got {randomness!r}")
    check_chunk_size("vmap", chunk_size)

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, dims, size, spec = _inputs(func, in_dims, args)
        if chunk_size is None or chunk_size >= size:
            return _run(func, leaves, dims, spec, size, out_dims, randomness, kwargs)
        return _chunked(func, leaves, dims, spec, size, out_dims, randomness, kwargs, chunk_size)

    return mapped


def name_of(func: Any) -> str:
    """Returns a function's name as it is in messages."""
    return getattr(func, "__name__", None) or type(func).__name__


def check_chunk_size(who: str, chunk_size: Any) -> None:
    if chunk_size is not None and not (isinstance(chunk_size, int) and chunk_size > 0):
        raise ValueError(f"{who}: argument 'chunk_size' must be None or greater than 0, got {chunk_size!r}")


def is_recorded(tensor: Tensor) -> bool:
    """Returns whether autograd follows a tensor, or something in a box of it."""
    return _python.is_recorded(tensor)


def _spread(tree: Any, whole: Any) -> list[Any]:
    """Returns a leaf of ``tree`` for each leaf of ``whole``: one that stands for a nesting is repeated.

    Raises:
        ValueError: the nestings differ
    """
    if tree is None or isinstance(tree, int):
        return [tree] * len(trees().tree_leaves(whole))
    if isinstance(whole, dict):
        if not isinstance(tree, dict) or set(tree) != set(whole):
            raise ValueError
        return [leaf for key in whole for leaf in _spread(tree[key], whole[key])]
    if not isinstance(whole, tuple | list) or not isinstance(tree, tuple | list) or len(tree) != len(whole):
        raise ValueError
    return [leaf for part, inner in zip(tree, whole, strict=True) for leaf in _spread(part, inner)]


def _inputs(func: Any, in_dims: InDims, args: tuple[Any, ...]) -> tuple[list[Any], list[int | None], int, Any]:
    """Returns the leaves of the arguments, the dimension of each, the size of the batch, and their nesting."""
    who = f"vmap({name_of(func)}, in_dims={in_dims})"
    if not isinstance(in_dims, int | tuple):
        raise ValueError(
            f"{who}: argument 'in_dims' must be an int, or a tuple in the nesting of the arguments, got "
            f"{type(in_dims).__name__}"
        )
    if not args:
        raise ValueError(f"{who}: got no arguments; a function without any cannot be mapped")
    spec = None
    if isinstance(in_dims, int) and all(isinstance(a, Tensor) for a in args):
        leaves: list[Any] = list(args)
        given: list[Any] = [in_dims] * len(leaves)
    else:
        leaves, spec = trees().tree_flatten(args)
        try:
            given = _spread(in_dims, args)
        except ValueError:
            raise ValueError(f"{who}: in_dims has another nesting than the {len(args)} arguments") from None
    dims: list[int | None] = []
    size = -1
    for leaf, dim in zip(leaves, given, strict=True):
        if dim is None:
            dims.append(None)
            continue
        if not isinstance(dim, int):
            raise ValueError(f"{who}: in_dims must hold ints and None, got {dim!r}")
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"{who}: an argument is {type(leaf).__name__} and no Tensor, so its in_dims must be None, got {dim}"
            )
        ndim = leaf.dim()
        if not -ndim <= dim < ndim:
            raise ValueError(f"{who}: got in_dims {dim} for a tensor of {ndim} dimensions; from {-ndim} to {ndim - 1}")
        dim %= ndim
        length = leaf.shape[dim]
        if size >= 0 and length != size:
            sizes = [t.shape[d] for t, d in zip(leaves, given, strict=True) if d is not None and isinstance(t, Tensor)]
            raise ValueError(f"{who}: all tensors must have the same size in the mapped dimension, got sizes {sizes}")
        size = length
        dims.append(dim)
    if size < 0:
        raise ValueError(f"{who}: at least one tensor must be mapped, and all in_dims are None")
    return leaves, dims, size, spec


def _run(func, leaves, dims, spec, size, out_dims, randomness, kwargs) -> Any:
    level = _python.open_level(VMAP, size, RANDOMNESS[randomness], strict.on)
    LEVELS[level] = size, randomness
    try:
        boxes = [leaf if dim is None else _python.box(leaf, dim, level) for leaf, dim in zip(leaves, dims, strict=True)]
        made = func(*(boxes if spec is None else trees().tree_unflatten(boxes, spec)), **kwargs)
        if isinstance(made, Tensor) and isinstance(out_dims, int):
            return _output(func, made, out_dims, level)
        results, nesting = trees().tree_flatten(made)
        places = _places(func, out_dims, made)
        return trees().tree_unflatten(
            [_output(func, r, d, level) for r, d in zip(results, places, strict=True)], nesting
        )
    finally:
        _python.close_level(level)
        del LEVELS[level]


def _places(func: Any, out_dims: Any, made: Any) -> list[Any]:
    """Returns the out_dims of each leaf of the results. A tuple of one is that of a result that is no tuple."""
    try:
        return _spread(out_dims, list(made) if isinstance(made, tuple) else made)
    except ValueError:
        if isinstance(made, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1:
            return list(out_dims)
        raise ValueError(f"vmap({name_of(func)}): out_dims {out_dims} has another nesting than the results") from None


def _output(func: Any, result: Any, dim: int | None, level: int) -> Any:
    if not isinstance(result, Tensor):
        if dim is None:
            return result
        raise ValueError(f"vmap({name_of(func)}): the function must return tensors, got {type(result).__name__}")
    if dim is None:
        found = _python.inner_of(result)
        if found is not None and found[1] == level:
            raise ValueError(
                f"vmap({name_of(func)}): a result differs between samples, so that its out_dims cannot be None"
            )
        return result
    if not isinstance(dim, int):
        raise ValueError(f"vmap({name_of(func)}): out_dims must hold ints and None, got {dim!r}")
    ndim = result.dim() + 1
    if not -ndim <= dim < ndim:
        raise IndexError(
            f"vmap({name_of(func)}): got out_dims {dim} for a result that has {ndim} dimensions with the batch"
        )
    return _python.unbox(result, dim, level)


def _chunked(func, leaves, dims, spec, size, out_dims, randomness, kwargs, chunk_size) -> Any:
    import lamella

    parts: list[list[Any]] = []
    nesting: Any = None
    made: Any = None
    # Each chunk draws the same numbers, since all samples do.
    devices = {t.device for t in leaves if isinstance(t, Tensor)} if randomness == "same" else ()
    generators = [lamella.default_generator(), *map(lamella.default_generator, devices)]
    states = [(g, g.get_state()) for g in generators] if randomness == "same" else []
    for start in range(0, size, chunk_size):
        n = min(chunk_size, size - start)
        for generator, before in states:
            generator.set_state(before)
        some = [leaf if d is None else leaf.narrow(d, start, n) for leaf, d in zip(leaves, dims, strict=True)]
        made = _run(func, some, dims, spec, n, out_dims, randomness, kwargs)
        results, nesting = trees().tree_flatten(made)
        parts.append(results)
    places = _places(func, out_dims, made)
    joined = [
        results[0] if dim is None else lamella.cat(results, dim)
        for results, dim in zip(map(list, zip(*parts, strict=True)), places, strict=True)
    ]
    return trees().tree_unflatten(joined, nesting)


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """Returns the batch of a tensor of one sample, with the mapped dimension in front; another tensor itself.

    Args:
        recurse: also takes the batch of the batch, within calls of ``vmap`` that are nested

    >>> def show(x):
    ...     print(lamella.func.debug_unwrap(x))
    ...     return x
    >>> _ = lamella.vmap(show)(lamella.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    found = _python.inner_of(tensor)
    if found is None:
        return tensor
    return debug_unwrap(found[0]) if recurse else found[0]
