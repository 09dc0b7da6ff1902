"""sort, argsort, topk, unique and searchsorted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import families


def arrays() -> dict[str, Any]:
    import numpy as np

    rng = np.random.default_rng(0)
    x = rng.standard_normal(10**6, np.float32)
    return {
        "x": x,
        "short": x[:10000],
        "double": x.astype(np.float64),
        "i": rng.integers(0, 10**6, 10**6),
        "wide": rng.integers(-(2**62), 2**62, 10**6),
        "rows": x.reshape(1000, 1000),
        "digits": rng.integers(0, 10, (100000, 3)),
        "steps": np.sort(x[:100000]),
        "many": x.reshape(10000, 100),
    }


WORK: dict[str, Callable[[Any], Any]] = {  # functions of the tensors
    "sort, 1e4": lambda t: t.short.sort().values,
    "sort, 1e6": lambda t: t.x.sort().values,
    "sort, 1e6, descending": lambda t: t.x.sort(descending=True).values,
    "sort, 1e6, float64": lambda t: t.double.sort().values,
    "sort, 1e6, int64 below 1e6": lambda t: t.i.sort().values,
    "sort, 1e6, int64": lambda t: t.wide.sort().values,
    "sort, 1000 × 1000, last": lambda t: t.rows.sort().values,
    "sort, 1000 × 1000, first": lambda t: t.rows.sort(0).values,
    "sort, 10000 × 100": lambda t: t.many.sort().values,
    "argsort, 1e6": lambda t: t.x.sort(stable=True).indices,
    "topk, 10 of 1e6": lambda t: t.x.topk(10).values,
    "topk, 1000 of 1e6": lambda t: t.x.topk(1000).values,
    "topk, 5 of 1000 × 1000": lambda t: t.rows.topk(5).values,
    "topk, 100 of 1000 × 1000": lambda t: t.rows.topk(100).values,
    "kthvalue, 1000 × 1000": lambda t: t.rows.kthvalue(500).values,
}


def cases() -> list[families.Case]:
    from types import SimpleNamespace

    import lamella
    import torch

    data = arrays()
    ours = SimpleNamespace(**{name: lamella.tensor(x) for name, x in data.items()})
    theirs = SimpleNamespace(**{name: torch.from_numpy(x) for name, x in data.items()})
    made = [
        families.Case(name, lambda work=work: work(ours), lambda work=work: work(theirs)) for name, work in WORK.items()
    ]
    both = {  # functions of the library and its tensors
        "unique, 1e6": lambda m, t: m.unique(t.i),
        "unique, dim 0 of 100000 × 3": lambda m, t: m.unique(t.digits, dim=0),
        "unique, dim 1 of 1000 × 1000": lambda m, t: m.unique(t.rows, dim=1),
        "searchsorted, 1e6 in 1e5": lambda m, t: m.searchsorted(t.steps, t.x),
    }
    made += [
        families.Case(name, lambda work=work: work(lamella, ours), lambda work=work: work(torch, theirs))
        for name, work in both.items()
    ]
    return made


def main() -> list[families.Family]:
    return [families.run("Sorting", cases(), 0.6, 1.1)]


if __name__ == "__main__":
    main()
