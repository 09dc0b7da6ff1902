"""Softmax, norms and losses beside torch, one and two threads, and their errors."""

from __future__ import annotations

from typing import Any

import lattis
import numpy as np
import torch
import torch.nn.functional as F
from common import Bound, Row, measure, same, table, timer

MOST, MOST_SMALL = 1.1, 0.15
ROWS = [(16,), (64, 1000), (4096, 512), (128, 10_000)]
IMAGES = [(4, 4), (256, 512), (32, 64, 56, 56), (8, 256, 14, 14)]
CLASSES = [(4, 4), (128, 10), (64, 1000), (4096, 512)]

ALONG = {"softmax": "ns.softmax(x, d)", "log_softmax": "ns.log_softmax(x, d)"}
LAST = {"layer_norm": "ns.layer_norm(x, last, w, w)", "rms_norm": "ns.rms_norm(x, last, w)"}
CHANNELS = {
    "batch_norm eval": "ns.batch_norm(x, c, c, c, v, False, 0.1, 1e-5, True)",
    "batch_norm train": "ns.batch_norm(x, c, c, m, v, True, 0.1, 1e-5, True)",
    "group_norm": "ns.group_norm(x, 4, c, c)",
}
LOSSES = {"cross_entropy": "f.cross_entropy(x, y)", "nll_loss": "f.nll_loss(x, y)", "mse_loss": "f.mse_loss(x, x2)"}


def peers(shape: tuple[int, ...], d: int = 0) -> dict[str, dict[str, Any]]:
    rng = np.random.default_rng(0)
    channels = shape[min(1, len(shape) - 1)]
    arrays = {"x": rng.standard_normal(shape), "x2": rng.standard_normal(shape), "w": rng.standard_normal(shape[-1])}
    arrays |= {"c": rng.random(channels), "m": rng.random(channels), "v": rng.random(channels) + 0.5}
    arrays = {k: v.astype(np.float32) for k, v in arrays.items()}
    arrays["y"] = rng.integers(0, channels, shape[:1])
    made = {"lattis": (lattis, lattis.tensor, lattis.ops.aten), "torch": (torch, torch.tensor, F)}
    return {
        name: {"ns": ns, "f": f, "d": d, "last": list(shape[-1:]), **{k: new(v) for k, v in arrays.items()}}
        for name, (ns, new, f) in made.items()
    }


def row(name: str, statement: str, names: dict[str, dict[str, Any]], most: float) -> Row:
    same({p: eval(statement, dict(n)) for p, n in names.items()})
    return Row(name, measure({p: timer(statement, n) for p, n in names.items()}), [Bound("torch", most)])


def errors() -> str:
    """The largest error of each in units of the last place, ours beside torch's."""
    x = (np.random.default_rng(1).standard_normal((64, 1000)) * 8).astype(np.float32)
    wide = x.astype(np.longdouble)
    shifted = wide - wide.max(1, keepdims=True)
    log = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    exact = {"softmax": np.exp(log), "log_softmax": log}
    lines = []
    for name, want in exact.items():
        unit = np.spacing(np.abs(want).astype(np.float32))
        worst = [
            float((np.abs(np.asarray(getattr(ns, name)(new(x), 1)) - want) / unit).max())
            for ns, new in ((lattis, lattis.tensor), (torch, torch.tensor))
        ]
        lines.append(f"{name:12s} {worst[0]:.2f} ulp, torch {worst[1]:.2f} ulp")
    return "\n".join(lines) + "\n"


def main() -> list[Row]:
    rows = []
    for threads in (1, 2):
        lattis.set_num_threads(threads)
        torch.set_num_threads(threads)
        cases = [(n, s, shape, d) for n, s in ALONG.items() for shape in ROWS for d in range(len(shape))]
        cases += [(n, s, shape, -1) for n, s in LAST.items() for shape in ROWS]
        cases += [(n, s, shape, -1) for n, s in CHANNELS.items() for shape in IMAGES]
        cases += [(n, s, shape, -1) for n, s in LOSSES.items() for shape in CLASSES]
        for name, statement, shape, d in cases:
            where = f" dim {d}" if name in ALONG else ""
            most = MOST_SMALL if np.prod(shape) == 16 else MOST
            rows.append(row(f"{name} {shape}{where}, {threads} threads", statement, peers(shape, d), most))
    print(table("Softmax, norms and losses, float32", rows))
    print(errors())
    return rows


if __name__ == "__main__":
    main()
