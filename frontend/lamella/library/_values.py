"""Copies arguments and results of a call, gives them other strides, and compares them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import lamella
from lamella._C import Tensor
from lamella._devices import host


def mapped(f: Callable[[Tensor], Any], o: Any) -> Any:
    """Applies ``f`` to every tensor, also those in lists and tuples."""
    if isinstance(o, Tensor):
        return f(o)
    return type(o)([mapped(f, x) for x in o]) if type(o) in (list, tuple) else o


def values(o: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yields every value with its place: "x", "xs[1]"."""
    if isinstance(o, list | tuple):
        for i, x in enumerate(o):
            yield from values(x, f"{path}[{i}]")
    else:
        yield path, o


def tensors(found: Iterable[tuple[str, Any]]) -> list[tuple[str, Tensor]]:
    return [(place, o) for place, o in found if isinstance(o, Tensor)]


def differentiates(dtype: Any) -> bool:
    return dtype.is_floating_point or dtype.is_complex


def requires_grad(t: Tensor) -> bool:
    """Returns whether the tensor requires a gradient; False if the plugin autograd is absent."""
    return hasattr(lamella, "autograd") and t.requires_grad


def alike(t: Tensor, fresh: Tensor) -> Tensor:
    """Returns ``fresh``, which requires a gradient if ``t`` does."""
    return fresh.requires_grad_() if requires_grad(t) else fresh


def copied(t: Tensor) -> Tensor:
    """Returns a copy in memory of its own, with the same strides."""
    return alike(t, t.detach().clone())


def same(a: Any, b: Any, **how_close: float) -> bool:
    """Returns whether two results are equal, except for rounding."""
    if type(a) is not type(b):
        return False
    if not isinstance(a, Tensor):
        number = isinstance(a, float | complex)
        return bool(a == b or (number and same(lamella.tensor(a), lamella.tensor(b), **how_close)))
    if a.shape != b.shape or a.dtype is not b.dtype:
        return False
    a, b = a.detach(), b.detach()
    return bool(
        lamella.equal(a, b) or (differentiates(a.dtype) and lamella.allclose(a, b, equal_nan=True, **how_close))
    )


def difference(a: list[tuple[str, Any]], b: list[tuple[str, Any]], **how_close: float) -> str | None:
    """Returns the first place at which two outcomes differ, or None."""
    for (place, x), (other, y) in zip(a, b, strict=False):
        if place != other or not same(x, y, **how_close):
            return place
    return None if len(a) == len(b) else "number of results"


def bits(t: Tensor) -> Tensor:
    """Returns the values as bytes: so a NaN equals itself, and 0.0 differs from -0.0."""
    return t.detach().clone().to(host()).reshape(-1).view(lamella.uint8)  # on the host, since the device may lack uint8


def memory(t: Tensor) -> range:
    """Returns the addresses of the bytes of the tensor's storage; none if the tensor has no elements."""
    storage = t.untyped_storage()
    start = storage.data_ptr() if t.numel() else 0
    return range(start, start + storage.nbytes() if start else 0)


def overlap(a: Tensor, b: Tensor) -> bool:
    one, other = memory(a), memory(b)
    return max(one.start, other.start) < min(one.stop, other.stop)


def with_gaps(t: Tensor) -> Tensor:
    """Returns the same values with a gap after each, and the dimensions in reverse order in memory."""
    if not t.numel():
        return t
    gaps = lamella.zeros(*reversed(t.shape), 2, dtype=t.dtype, device=t.device)
    view = gaps.select(-1, 0)
    view = view.permute(tuple(reversed(range(view.dim())))) if view.dim() > 1 else view
    view.copy_(t.detach())
    return view


def shown(o: Any) -> str:
    return kind(o) if isinstance(o, Tensor) else repr(o)


def kind(t: Tensor) -> str:
    return f"shape {tuple(t.shape)} and dtype {t.dtype}"
