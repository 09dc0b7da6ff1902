"""Batching rules that Python registers, and what is shown of tensors and operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from lamella import Tensor, ops
from lamella.library import Library, Vmap, as_called

from . import _python
from .kinds import FORWARD, FUNCTIONAL, VMAP
from .vectorize import LEVELS, trees


class VmapInfo(NamedTuple):
    """The size and the randomness of a call of vmap, for a batching rule."""

    batch_size: int
    randomness: str


def find_rule(op: str) -> str:
    """Returns how vmap runs an operator on a batch, by a text of dimensions or a way of the table in rules.cpp, and how
    its tangents come, by a way of tangents.cpp."""
    return f"{ops.vmap.find_rule(op)}; tangents: {ops.vmap.find_tangent(op)}"


def parts(tensor: Tensor) -> Any:
    """Returns what the printed form of a box shows: the value of one of functionalize, the primal and the tangent of a
    dual, or the batch of a sample and the levels that it belongs to."""
    if _python.kind_of(tensor) == FUNCTIONAL:
        found = _python.inner_of(tensor)
        return {"value": found and found[0]}, [], False
    if _python.kind_of(tensor) == FORWARD:
        found, tangent = _python.inner_of(tensor), _python.tangent_of(tensor)
        return {"primal": found and found[0]} | ({} if tangent is None else {"tangent": tangent}), [], False
    batch, levels = tensor, list[str]()
    while (found := _python.inner_of(batch)) is not None and _python.kind_of(batch) == VMAP:
        batch = found[0]
        levels.insert(0, str(_python.depth(found[1])))
    return ({"batch": batch}, [f"level={', '.join(levels)}"], False) if levels else None


def check_export(tensor: Tensor, to: str) -> None:
    """Raises if the memory of a dual is given away, since what others compute from it has no tangent."""
    if to == "number" or _python.kind_of(tensor) != FORWARD or _python.tangent_of(tensor) is None:
        return
    found = _python.inner_of(tensor)
    if found is not None and _python.depth(found[1]):
        raise RuntimeError(
            "this tensor has a tangent, which numpy or DLPack would lose: give them its detach(), as in "
            "tensor.detach().numpy()"
        )


def within() -> Callable[[Tensor], bool]:
    """Returns a function that says whether a tensor is a box of a level that is opened from now on."""
    last = _python.last_level()
    return lambda tensor: (found := _python.inner_of(tensor)) is not None and found[1] > last


def _levels(leaves: list[Any]) -> list[tuple[Tensor, int] | None]:
    return [_python.inner_of(leaf) if isinstance(leaf, Tensor) else None for leaf in leaves]


def innermost(leaves: Any) -> tuple[int, int]:
    """Returns the innermost level of the boxes among leaves, and its kind; 0 and -1 without boxes."""
    found = [(pair[1], leaf) for leaf in leaves if isinstance(leaf, Tensor) and (pair := _python.inner_of(leaf))]
    if not found:
        return 0, -1
    level, box = max(found, key=lambda pair: pair[0])
    return level, _python.kind_of(box)


def level_of(number: int) -> tuple[int, str]:
    """Returns the size of an open level's batch, and its randomness.

    Raises:
        RuntimeError: the level is closed
    """
    if number not in LEVELS:
        raise RuntimeError(
            "vmap: got a tensor of one sample, of a call of vmap that has ended or runs on another thread: a tensor "
            "that is made inside must be returned by the function, not kept"
        )
    return LEVELS[number]


def unboxed(leaves: list[Any]) -> tuple[list[Any], list[int | None], int]:
    """Returns leaves with batches in the place of boxes of the innermost level, their dims, and the level."""
    found = _levels(leaves)
    level = max(pair[1] for pair in found if pair is not None)
    level_of(level)  # raises if the level is closed
    at = [pair is not None and pair[1] == level for pair in found]
    batches = [pair[0] if is_in and pair else leaf for leaf, pair, is_in in zip(leaves, found, at, strict=True)]
    return batches, [0 if is_in else None for is_in in at], level


def boxed(who: str, made: Any, out_dims: Any, level: int) -> Any:
    """Returns results with boxes in the place of batches. ``out_dims`` is one dim, or a tree of them."""
    leaves, spec = trees().tree_flatten(made)
    if out_dims is None or isinstance(out_dims, int):
        dims = [out_dims] * len(leaves)
    else:
        dims = trees().tree_flatten(out_dims, is_leaf=lambda d: d is None)[0]
    if len(dims) != len(leaves):
        raise ValueError(
            f"vmap: the batching rule of {who} returned {len(leaves)} results and {len(dims)} dims for them"
        )
    return trees().tree_unflatten(
        [
            leaf if dim is None or not isinstance(leaf, Tensor) else _python.box(leaf, dim, level)
            for leaf, dim in zip(leaves, dims, strict=True)
        ],
        spec,
    )


def _caller(op: str, spec: Any) -> Callable[[list[Any]], Any]:
    """Returns a function that calls an operator with leaves of its arguments."""
    namespace, _, rest = op.partition("::")
    name, _, overload = rest.partition(".")
    packet = getattr(getattr(ops, namespace), name)
    function = getattr(packet, overload) if overload else packet

    def call(given: list[Any]) -> Any:
        args, kwargs = trees().tree_unflatten(given, spec)
        return function(*args, **kwargs)

    return call


def on_values(call: Callable[[list[Any]], Any], leaves: list[Any], level: int) -> Any:
    """Calls a function with copies of the values of tensors at a level of functionalize, and writes to the tensors what
    it has written to the copies. The results are boxes."""
    given = list(leaves)
    copies: list[tuple[Tensor, Tensor, int]] = []
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, Tensor) and (found := _python.inner_of(leaf.clone())) is not None:
            given[i] = found[0]
            copies.append((leaf, found[0], found[0]._version))
    below = _python.set_below(level)
    try:
        made, nesting = trees().tree_flatten(call(given))
    finally:
        _python.set_below(below)
    for leaf, value, version in copies:
        if value._version != version:
            leaf.copy_(value)

    def boxed(result: Any) -> Any:
        if not isinstance(result, Tensor):
            return result
        same = [leaf for leaf, value, _ in copies if value is result]
        return same[0] if same else _python.functional(result, level)

    return trees().tree_unflatten(list(map(boxed, made)), nesting)


def serve(rule: Any) -> Callable[[], None] | None:
    """Gives an operator the batching rule that Python registered; returns the function that withdraws it."""
    if rule.kind != "python":
        return None
    if not isinstance(rule.payload, Vmap):
        raise TypeError(f"vmap: the rule of {rule.op} must come from register_vmap, got {type(rule.payload).__name__}")
    func = rule.payload.func

    def kernel(call: Any, *args: Any, **kwargs: Any) -> Any:
        leaves, spec = trees().tree_flatten((args, kwargs))
        level, kind = innermost(leaves)
        if (functional := _python.functional_level()) > level:
            level, kind = functional, FUNCTIONAL
        if level == 0:
            return call(*args, **kwargs)
        if kind != VMAP:
            from . import derivatives

            with as_called(call):
                if kind == FORWARD:
                    return derivatives.transposed_twice(rule.op, _caller(rule.op, spec), leaves, level)
                return on_values(_caller(rule.op, spec), leaves, level)
        batches, dims, level = unboxed(leaves)
        inner, named = trees().tree_unflatten(batches, spec)
        in_dims, _ = trees().tree_unflatten(dims, spec)
        size, randomness = level_of(level)
        with as_called(call):
            made, out_dims = func(VmapInfo(size, randomness), tuple(in_dims), *inner, **named)
            return boxed(rule.op, made, out_dims, level)

    namespace, _, name = rule.op.partition("::")
    library = Library(namespace, "IMPL")
    library.impl(name, kernel, "vmap")
    return library.close


def new(tensor: Tensor, made: Tensor) -> Tensor:
    """Returns a new tensor of which each sample has its own, as those that vmap maps over have."""
    if (found := _python.inner_of(tensor)) is None or _python.depth(found[1]) == 0:
        return made
    if _python.kind_of(tensor) != VMAP:
        return new(found[0], made)
    batch, level = found
    inner = new(batch, made)
    size = batch.shape[0]
    return _python.box(inner.unsqueeze(0).expand(size, *inner.shape).clone(), 0, level)
