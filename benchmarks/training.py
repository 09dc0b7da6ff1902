"""Steps of optimizers beside torch's default and fused ones, and beside a copy of as many bytes.
``python training.py WORD`` runs the rows with that word in their names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from common import Bound, Row, measure, same, table, timer

ROUNDS = 9
DEFAULT, FUSED, FLOOR = 0.4, 1.0, 1.3
Shapes = list[tuple[int, ...]]


def resnet18() -> Shapes:
    """The shapes of ResNet-18's parameters."""
    shapes: Shapes = [(64, 3, 7, 7), (64,), (64,)]
    width = 64
    for out in (64, 128, 256, 512):
        for block in range(2):
            inner = width if block == 0 else out
            shapes += [(out, inner, 3, 3), (out,), (out,), (out, out, 3, 3), (out,), (out,)]
            if block == 0 and out != width:
                shapes += [(out, width, 1, 1), (out,), (out,)]
        width = out
    return [*shapes, (1000, 512), (1000,)]


# name: the optimizer's, its options, shapes, and how many times an element is read or written
CASES: dict[str, tuple[str, dict[str, Any], Shapes, int]] = {
    "Adam, 100 parameters of 10^4": ("Adam", {"lr": 1e-3}, [(10**4,)] * 100, 7),
    "Adam, one of 10^7": ("Adam", {"lr": 1e-3}, [(10**7,)], 7),
    "SGD with momentum, ResNet-18": ("SGD", {"lr": 1e-3, "momentum": 0.9}, resnet18(), 5),
}


def arrays(shapes: Shapes, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(s, dtype=np.float32) for s in shapes]


def tensors(ns: Any, given: list[np.ndarray]) -> list[Any]:
    return [ns.from_numpy(a.copy()) for a in given]


def class_step(ns: Any, name: str, options: dict[str, Any], w: list[Any], g: list[Any]) -> Callable[[], Any]:
    for x, grad in zip(w, g, strict=True):
        x.requires_grad_()
        x.grad = grad
    return getattr(ns.optim, name)(w, **options).step


def operator_step(name: str, options: dict[str, Any], w: list[Any], g: list[Any]) -> Callable[[], Any]:
    """A step by the operators alone, for as long as there are no classes."""
    import lamella

    state = [[lamella.zeros_like(x) for x in w] for _ in range(2)]
    steps = [lamella.zeros(()) for _ in w]
    sgd = {"momentum": 0.9, "dampening": 0.0, "weight_decay": 0.0, "nesterov": False, "maximize": False, **options}
    adam = {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0, "amsgrad": False, "maximize": False}

    def step() -> None:
        if name == "SGD":
            lamella._fused_sgd_(w, g, state[0], **sgd, is_first_step=False)
        else:
            lamella._foreach_add_(steps, 1)
            lamella._fused_adam_(w, g, *state, [], steps, **{**adam, **options})

    return step


def lamella_step(name: str, options: dict[str, Any], w: list[Any], g: list[Any]) -> Callable[[], Any]:
    import lamella

    if hasattr(lamella, "optim"):
        return class_step(lamella, name, options, w, g)
    return operator_step(name, options, w, g)


def row(name: str, optimizer: str, options: dict[str, Any], shapes: Shapes, passes: int) -> Row:
    import lamella
    import torch

    start, slopes = arrays(shapes, 0), arrays(shapes, 1)
    params = {p: tensors(lamella if p == "lamella" else torch, start) for p in ("lamella", "torch", "fused")}
    grads = {p: tensors(lamella if p == "lamella" else torch, slopes) for p in params}
    calls = {
        "lamella": lamella_step(optimizer, options, params["lamella"], grads["lamella"]),
        "torch": class_step(torch, optimizer, options, params["torch"], grads["torch"]),
        "fused": class_step(torch, optimizer, {**options, "fused": True}, params["fused"], grads["fused"]),
    }
    for _ in range(3):
        for call in calls.values():
            call()
    same({p: np.concatenate([x.detach().numpy().ravel() for x in each]) for p, each in params.items()})
    source = torch.ones(sum(int(np.prod(s)) for s in shapes) * passes // 2)
    target = torch.empty_like(source)
    calls["floor"] = lambda: target.copy_(source)
    runs = {p: timer("call()", {"call": call}) for p, call in calls.items()}
    bounds = [Bound("torch", DEFAULT), Bound("fused", FUSED), Bound("floor", FLOOR)]
    return Row(name, measure(runs, rounds=ROUNDS, seconds=0.05), bounds)


def rows(wanted: Callable[[str], bool], threads: int) -> Iterator[Row]:
    for name, (optimizer, options, shapes, passes) in CASES.items():
        if wanted(name):
            yield row(f"{name}, {threads} threads", optimizer, options, shapes, passes)


def main(word: str = "") -> list[Row]:
    import lamella
    import torch

    made = []
    before = lamella.get_num_threads(), torch.get_num_threads()
    try:
        for threads in (1, 2):
            lamella.set_num_threads(threads)
            torch.set_num_threads(threads)
            made += list(rows(lambda name: word in name, threads))
    finally:
        lamella.set_num_threads(before[0])
        torch.set_num_threads(before[1])
    print(table("Steps of optimizers", made))
    return made


if __name__ == "__main__":
    main(*sys.argv[1:])
