"""Reductions and scans beside torch: all, first and last dimension, one and two threads, and their errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lattis
import numpy as np
import torch
from common import Bound, Row, measure, same, table, timer

SHAPES = [(100, 100), (1000, 1000), (10_000, 1000)]
MOST, MOST_SMALL = 1.15, 0.15
SMALL = (16,)

# name, its statement without a dimension, and with one
CASES = {
    "sum": ("ns.sum(x)", "ns.sum(x, d)"),
    "mean": ("ns.mean(x)", "ns.mean(x, d)"),
    "prod": ("ns.prod(x)", "ns.prod(x, d)"),
    "max": ("ns.max(x)", "ns.max(x, d)"),
    "amax": ("ns.amax(x)", "ns.amax(x, d)"),
    "aminmax": ("ns.aminmax(x)", "ns.aminmax(x, dim=d)"),
    "argmax": ("ns.argmax(x)", "ns.argmax(x, d)"),
    "var": ("ns.var(x)", "ns.var(x, d)"),
    "norm": ("ns.norm(x)", "ns.norm(x, 2, d)"),
    "any": ("ns.any(z)", "ns.any(z, d)"),
    "logsumexp": ("ns.logsumexp(x, (0, 1))", "ns.logsumexp(x, d)"),
    "cumsum": ("ns.cumsum(flat, 0)", "ns.cumsum(x, d)"),
}
EXACT: dict[str, Callable[[Any], Any]] = {
    "sum": np.sum,
    "mean": np.mean,
    "var": lambda x: np.var(x, ddof=1),
    "norm": lambda x: np.sqrt(np.sum(x * x)),
    "logsumexp": lambda x: np.log(np.sum(np.exp(x))),
}


def peers(shape: tuple[int, ...], d: int) -> dict[str, dict[str, Any]]:
    x = np.random.default_rng(0).random(shape, np.float32) + 0.5
    made = {"lattis": (lattis, lattis.tensor), "torch": (torch, torch.tensor)}
    return {
        name: {"ns": ns, "x": new(x), "z": new(x * 0), "flat": new(x.reshape(-1)), "d": d}
        for name, (ns, new) in made.items()
    }


def row(name: str, statement: str, names: dict[str, dict[str, Any]], most: float) -> Row:
    first = {p: eval(statement, dict(n)) for p, n in names.items()}
    same({p: r[0] if isinstance(r, tuple) else r for p, r in first.items()})
    return Row(name, measure({p: timer(statement, n) for p, n in names.items()}), [Bound("torch", most)])


def errors() -> str:
    """The relative error of each over a million elements, ours beside torch's."""
    lines = []
    x = np.random.default_rng(1).standard_normal(1_000_000).astype(np.float32)
    for name, exact in EXACT.items():
        want = exact(x.astype(np.longdouble))
        arguments = (0,) if name == "logsumexp" else ()
        got = [
            float(getattr(ns, name)(new(x), *arguments)) for ns, new in ((lattis, lattis.tensor), (torch, torch.tensor))
        ]
        size = abs(want) if name not in ("sum", "mean") else exact(np.abs(x).astype(np.longdouble))
        ours, theirs = (float(abs(g - want) / size) for g in got)
        lines.append(f"{name:10s} error {ours:.2g}, torch {theirs:.2g}")
    return "\n".join(lines) + "\n"


def main() -> list[Row]:
    rows = []
    for threads in (1, 2):
        lattis.set_num_threads(threads)
        torch.set_num_threads(threads)
        for name, (whole, along) in CASES.items():
            for shape in SHAPES:
                for d in (None, 0, 1):
                    title = f"{name} {shape} {'all' if d is None else f'dim {d}'}, {threads} threads"
                    rows.append(row(title, whole if d is None else along, peers(shape, d or 0), MOST))
            small = along if name in ("logsumexp", "cumsum") else whole
            rows.append(row(f"{name} of 16, {threads} threads", small, peers(SMALL, 0), MOST_SMALL))
    print(table("Reductions and scans, float32", rows))
    print(errors())
    return rows


if __name__ == "__main__":
    main()
