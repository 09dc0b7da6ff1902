"""Softmax, norms and losses beside torch, with one thread and with two, and their errors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import families
from families import Case, Family

MEAN, WORST, SMALL = 0.7, 1.1, 0.15
ROWS = [(16,), (64, 1000), (4096, 512), (128, 10_000)]
IMAGES = [(4, 4), (256, 512), (32, 64, 56, 56), (8, 256, 14, 14)]
CLASSES = [(4, 4), (128, 10), (64, 1000), (4096, 512), (32, 21, 64, 64)]

# A call of a namespace, its module of losses, and operands.
Call = Callable[[Any, Any, Any], Any]
ALONG: dict[str, Call] = {
    "softmax": lambda ns, f, o: ns.softmax(o.x, o.d),
    "log_softmax": lambda ns, f, o: ns.log_softmax(o.x, o.d),
}
LAST: dict[str, Call] = {
    "layer_norm": lambda ns, f, o: ns.layer_norm(o.x, o.last, o.w, o.w),
    "rms_norm": lambda ns, f, o: ns.rms_norm(o.x, o.last, o.w),
}
CHANNELS: dict[str, Call] = {
    "batch_norm eval": lambda ns, f, o: ns.batch_norm(o.x, o.c, o.c, o.c, o.v, False, 0.1, 1e-5, True),
    "batch_norm train": lambda ns, f, o: ns.batch_norm(o.x, o.c, o.c, o.m, o.v, True, 0.1, 1e-5, True),
    "group_norm": lambda ns, f, o: ns.group_norm(o.x, 4, o.c, o.c),
}
LOSSES: dict[str, Call] = {
    "cross_entropy": lambda ns, f, o: f.cross_entropy(o.x, o.y),
    "nll_loss": lambda ns, f, o: f.nll_loss(o.x, o.y),
    "mse_loss": lambda ns, f, o: f.mse_loss(o.x, o.x2),
    "huber_loss": lambda ns, f, o: f.huber_loss(o.x, o.x2),
}


class Operands:
    """The operands of one peer's calls; `new` makes its tensors."""

    def __init__(self, new: Callable[[Any], Any], shape: tuple[int, ...], d: int) -> None:
        import numpy as np

        rng = np.random.default_rng(0)
        channels = shape[min(1, len(shape) - 1)]
        floats = [rng.standard_normal(s) for s in (shape, shape, shape[-1])]
        floats += [rng.random(channels), rng.random(channels), rng.random(channels) + 0.5]
        self.x, self.x2, self.w, self.c, self.m, self.v = (new(a.astype(np.float32)) for a in floats)
        self.y = new(rng.integers(0, channels, shape[:1] + shape[2:]))
        self.last = list(shape[-1:])
        self.d = d


def case(name: str, call: Call, shape: tuple[int, ...], d: int | None = None) -> Case:
    import lamella
    import torch

    ours, theirs = Operands(lamella.tensor, shape, d or 0), Operands(torch.tensor, shape, d or 0)
    return Case(
        f"{name} {shape}{'' if d is None else f' dim {d}'}",
        lambda: call(lamella, lamella.ops.aten, ours),
        lambda: call(torch, torch.nn.functional, theirs),
    )


def cases(small: bool) -> list[Case]:
    import math

    made = [(n, f, shape, d) for n, f in ALONG.items() for shape in ROWS for d in range(len(shape))]
    made += [(n, f, shape, None) for n, f in LAST.items() for shape in ROWS]
    made += [(n, f, shape, None) for n, f in CHANNELS.items() for shape in IMAGES]
    made += [(n, f, shape, None) for n, f in LOSSES.items() for shape in CLASSES]
    return [case(*c) for c in made if (math.prod(c[2]) == 16) == small]


def errors() -> str:
    """Prints the largest error of each call in units of the last place, Lamella's and torch's."""
    import lamella
    import numpy as np
    import torch

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
            for ns, new in ((lamella, lamella.tensor), (torch, torch.tensor))
        ]
        lines.append(f"{name:12s} {worst[0]:.2f} ulp, torch {worst[1]:.2f} ulp")
    return "\n".join(lines) + "\n"


def main() -> list[Family]:
    made = [
        families.run("Softmax, norms and losses, float32", cases(small=False), MEAN, WORST),
        families.run("Softmax, norms and losses of 16 elements", cases(small=True), SMALL, SMALL, (1,)),
    ]
    print(errors())
    return made


if __name__ == "__main__":
    sys.exit(not all(f.holds for f in main()))
