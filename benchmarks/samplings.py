"""Histograms, segments, slopes of sampled values, copies of views, and reductions with a mask."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import families

WORK: dict[str, Callable[[Any, Any], Any]] = {  # functions of the module and its tensors
    "histogram, 100 bins, 1e6": lambda m, t: m.histogram(t.x, 100, range=(-4.0, 4.0))[0],
    "histogram by edges, 1e6": lambda m, t: m.histogram(t.x, t.edges)[0],
    "histogramdd, 1e5 × 2": lambda m, t: m.histogramdd(t.points, [20, 20], range=[-4.0, 4.0, -4.0, 4.0])[0],
    "segment_reduce, sum, 1e6": lambda m, t: m.segment_reduce(t.x, "sum", lengths=t.lengths),
    "segment_reduce, max, 1e6": lambda m, t: m.segment_reduce(t.x, "max", lengths=t.lengths),
    "segment_reduce, mean, 1e4 × 100": lambda m, t: m.segment_reduce(t.many, "mean", lengths=t.few),
    "gradient, 1000 × 1000": lambda m, t: m.gradient(t.rows)[1],
    "gradient at points, 1000 × 1000": lambda m, t: m.gradient(t.rows, spacing=[t.places], dim=1)[0],
    "t_copy, 1000 × 1000": lambda m, t: m.t_copy(t.rows),
    "masked.sum, 1000 × 1000": lambda m, t: m.masked.sum(t.rows, 1, mask=t.kept),
    "masked.softmax, 1000 × 1000": lambda m, t: m.masked.softmax(t.rows, 1, mask=t.kept),
}
SMALL: dict[str, Callable[[Any, Any], Any]] = {
    "view_copy": lambda m, t: m.view_copy(t.tiny, (4, 4)),
    "unbind_copy": lambda m, t: m.unbind_copy(t.tiny)[1],
    "zeros, out=": lambda m, t: m.zeros(16, out=t.target),
    "segment_reduce": lambda m, t: m.segment_reduce(t.tiny, "sum", lengths=t.halves),
    "gradient": lambda m, t: m.gradient(t.tiny)[0],
}


def arrays() -> dict[str, Any]:
    import numpy as np

    rng = np.random.default_rng(0)
    x = rng.standard_normal(10**6, np.float32)
    return {
        "x": x,
        "edges": np.array([-4, -1.5, -0.5, 0, 0.25, 1, 4], np.float32),
        "points": x[:200000].reshape(-1, 2),
        "lengths": np.full(1000, 1000),
        "rows": x.reshape(1000, 1000),
        "many": x.reshape(10000, 100),
        "few": np.full(100, 100),
        "places": np.sort(x[:1000]),
        "kept": x.reshape(1000, 1000) > 0,
        "tiny": x[:16],
        "halves": np.array([8, 8]),
        "target": np.zeros(16, np.float32),
    }


def main() -> list[families.Family]:
    import lamella
    import torch

    ours = SimpleNamespace(**{name: lamella.tensor(a) for name, a in arrays().items()})
    theirs = SimpleNamespace(**{name: torch.from_numpy(a.copy()) for name, a in arrays().items()})

    def cases(work: dict[str, Callable[[Any, Any], Any]]) -> list[families.Case]:
        return [
            families.Case(name, lambda f=f: f(lamella, ours), lambda f=f: f(torch, theirs)) for name, f in work.items()
        ]

    return [
        families.run("Sampled values, 10⁶ elements", cases(WORK), 0.6, 1.1),
        families.run("Sampled values, 16 elements", cases(SMALL), 0.6, 1.1),
    ]


if __name__ == "__main__":
    main()
