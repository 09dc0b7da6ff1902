"""Reductions and scans beside torch, over all, the first and the last dimension, with one and two threads; errors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import families
from families import Case, Family

SHAPES = [(100, 100), (1000, 1000), (10_000, 1000)]
MEAN, WORST, SMALL = 0.7, 1.15, 0.15

# Each name has its call over all dimensions, and over one; both take a namespace, a tensor and a dimension.
CALLS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sum": (lambda ns, x, d: ns.sum(x), lambda ns, x, d: ns.sum(x, d)),
    "mean": (lambda ns, x, d: ns.mean(x), lambda ns, x, d: ns.mean(x, d)),
    "prod": (lambda ns, x, d: ns.prod(x), lambda ns, x, d: ns.prod(x, d)),
    "max": (lambda ns, x, d: ns.max(x), lambda ns, x, d: ns.max(x, d)),
    "amax": (lambda ns, x, d: ns.amax(x), lambda ns, x, d: ns.amax(x, d)),
    "aminmax": (lambda ns, x, d: ns.aminmax(x), lambda ns, x, d: ns.aminmax(x, dim=d)),
    "argmax": (lambda ns, x, d: ns.argmax(x), lambda ns, x, d: ns.argmax(x, d)),
    "var": (lambda ns, x, d: ns.var(x), lambda ns, x, d: ns.var(x, d)),
    "norm": (lambda ns, x, d: ns.norm(x), lambda ns, x, d: ns.norm(x, 2, d)),
    "any": (lambda ns, x, d: ns.any(x), lambda ns, x, d: ns.any(x, d)),
    "logsumexp": (
        lambda ns, x, d: ns.logsumexp(x, tuple(range(x.ndim))),
        lambda ns, x, d: ns.logsumexp(x, d),
    ),
    "cumsum": (lambda ns, x, d: ns.cumsum(x.view(-1), 0), lambda ns, x, d: ns.cumsum(x, d)),
}


def data(name: str, shape: tuple[int, ...]) -> Any:
    import numpy as np

    x = np.random.default_rng(0).random(shape, np.float32) + 0.5
    return x * 0 if name == "any" else x  # zeros, so that `any` reads all of them


def case(name: str, shape: tuple[int, ...], d: int | None) -> Case:
    import lamella
    import torch

    x = data(name, shape)
    ours, theirs = lamella.tensor(x), torch.tensor(x)
    call = CALLS[name][d is not None]
    title = f"{name} {shape} {'all' if d is None else f'dim {d}'}"
    return Case(title, lambda: call(lamella, ours, d), lambda: call(torch, theirs, d), first_alike)


def first_alike(ours: Any, theirs: Any) -> None:
    families.same_numbers(*(r[0] if isinstance(r, tuple) else r for r in (ours, theirs)))


def errors() -> str:
    """Returns a text with the relative error of each reduction over a million elements, Lamella's and torch's."""
    import lamella
    import numpy as np
    import torch

    exact: dict[str, Callable[[Any], Any]] = {
        "sum": np.sum,
        "mean": np.mean,
        "var": lambda x: np.var(x, ddof=1),
        "norm": lambda x: np.sqrt(np.sum(x * x)),
        "logsumexp": lambda x: np.log(np.sum(np.exp(x))),
    }
    lines = []
    x = np.random.default_rng(1).standard_normal(1_000_000).astype(np.float32)
    for name, function in exact.items():
        want = function(x.astype(np.longdouble))
        arguments = (0,) if name == "logsumexp" else ()
        got = [
            float(getattr(ns, name)(new(x), *arguments))
            for ns, new in ((lamella, lamella.tensor), (torch, torch.tensor))
        ]
        size = abs(want) if name not in ("sum", "mean") else function(np.abs(x).astype(np.longdouble))
        ours, theirs = (float(abs(g - want) / size) for g in got)
        lines.append(f"{name:10s} error {ours:.2g}, torch {theirs:.2g}")
    return "\n".join(lines) + "\n"


def main() -> list[Family]:
    large = [case(name, shape, d) for name in CALLS for shape in SHAPES for d in (None, 0, 1)]
    small = [case(name, (16,), d) for name in CALLS for d in (None, 0)]
    made = [
        families.run("Reductions and scans, float32", large, MEAN, WORST),
        families.run("Reductions and scans of 16 elements", small, SMALL, SMALL, (1,)),
    ]
    print(errors())
    return made


if __name__ == "__main__":
    sys.exit(not all(f.holds for f in main()))
