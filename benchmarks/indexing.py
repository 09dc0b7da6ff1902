"""Index tensors, gather and scatter, joining and rearranging."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import families

MILLION = 10**6


def arrays() -> dict[str, Any]:
    import numpy as np

    rng = np.random.default_rng(0)
    return {
        "x": rng.standard_normal(MILLION, np.float32),
        "y": rng.standard_normal(MILLION, np.float32),
        "i": rng.integers(0, MILLION, MILLION),
        "a": rng.standard_normal((1000, 1000), np.float32),
        "b": rng.standard_normal((1000, 1000), np.float32),
        "k": rng.integers(0, 1000, (1000, 1000)),
        "r": rng.integers(0, 1000, 1000),
        "table": rng.standard_normal((10000, 64), np.float32),
        "words": rng.integers(0, 10000, (100, 100)),
        "narrow": rng.standard_normal((1000, 16), np.float32),
    }


WORK: dict[str, Callable[[Any, Any], Any]] = {  # functions of the library and its tensors
    "x[i], 1e6": lambda m, t: t.x[t.i],
    "x[i, j], 1e6": lambda m, t: t.a[t.k, t.k.t()],
    "x[:, i], 1000 × 1000": lambda m, t: t.a[:, t.r],
    "x[i], rows of 64": lambda m, t: t.table[t.words],
    "x[mask], 1e6": lambda m, t: t.x[t.x > 0],
    "index_put, 1e6": lambda m, t: t.x.index_put([t.i], t.y),
    "gather, dim 0": lambda m, t: t.a.gather(0, t.k),
    "gather, dim 1": lambda m, t: t.a.gather(1, t.k),
    "scatter, dim 1": lambda m, t: t.a.scatter(1, t.k, 1.0),
    "scatter_add, dim 0": lambda m, t: t.a.scatter_add(0, t.k, t.b),
    "scatter_add, dim 1": lambda m, t: t.a.scatter_add(1, t.k, t.b),
    "scatter_add, 1e6": lambda m, t: t.x.scatter_add(0, t.i, t.y),
    "scatter_reduce, amax": lambda m, t: t.a.scatter_reduce(1, t.k, t.b, "amax"),
    "index_select, dim 0": lambda m, t: t.a.index_select(0, t.r),
    "index_select, dim 1": lambda m, t: t.a.index_select(1, t.r),
    "index_add, dim 0": lambda m, t: t.a.index_add(0, t.r, t.b),
    "embedding": lambda m, t: m.embedding(t.table, t.words),
    "masked_select, 1e6": lambda m, t: t.x.masked_select(t.x > 0),
    "nonzero, 1e6": lambda m, t: t.x.nonzero(),
    "cat, dim 0": lambda m, t: m.cat([t.a, t.b]),
    "cat, dim 1": lambda m, t: m.cat([t.a, t.b], 1),
    "cat, eight of 16 columns": lambda m, t: m.cat([t.narrow] * 8, 1),
    "stack, last": lambda m, t: m.stack([t.a, t.b], -1),
    "transpose().contiguous()": lambda m, t: t.a.t().contiguous(),
    "flip, dim 1": lambda m, t: t.a.flip(1),
    "roll, dim 1": lambda m, t: t.a.roll(100, 1),
    "tril": lambda m, t: t.a.tril(),
    "repeat": lambda m, t: t.a.repeat(2, 2),
}


def cases() -> list[families.Case]:
    from types import SimpleNamespace

    import lamella
    import torch

    data = arrays()
    ours = SimpleNamespace(**{name: lamella.tensor(x) for name, x in data.items()})
    theirs = SimpleNamespace(**{name: torch.from_numpy(x) for name, x in data.items()})
    # With equal indices the result of torch's index_put depends on its threads, so it is not compared.
    order = {"index_put, 1e6": lambda *_: None}
    embed = {"embedding": lambda: torch.nn.functional.embedding(theirs.words, theirs.table)}
    return [
        families.Case(
            name,
            lambda work=work: work(lamella, ours),
            embed.get(name, lambda work=work: work(torch, theirs)),
            order.get(name),
        )
        for name, work in WORK.items()
    ]


def main() -> list[families.Family]:
    return [families.run("Indexing, joining and rearranging", cases(), 0.6, 1.1)]


if __name__ == "__main__":
    main()
