"""Steps of optimizers beside torch's default and fused ones and a copy of as many bytes; whole steps of training; the
making of the first optimizer in a process. ``python training.py WORD`` runs the rows with that word in their names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import models
import modules
import numpy as np
from common import Bound, Row, Sample, measure, same, table, timer
from imports import run_child

ROUNDS = 9
DEFAULT, FUSED, FLOOR = 0.4, 1.0, 1.3
Shapes = list[tuple[int, ...]]


def resnet18() -> Shapes:
    """Returns the shapes of ResNet-18's parameters."""
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


# Each name has the optimizer's name, its options, shapes, and how often a step reads or writes an element; 0 means that
# the case has no floor by memory.
CASES: dict[str, tuple[str, dict[str, Any], Shapes, int]] = {
    "Adam, 100 parameters of 10^4": ("Adam", {"lr": 1e-3}, [(10**4,)] * 100, 7),
    "Adam, 100 parameters of 16": ("Adam", {"lr": 1e-3}, [(16,)] * 100, 0),
    "SGD, 100 parameters of 16": ("SGD", {"lr": 1e-3}, [(16,)] * 100, 0),
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


def row(name: str, optimizer: str, options: dict[str, Any], shapes: Shapes, passes: int) -> Row:
    import lamella
    import torch

    start, slopes = arrays(shapes, 0), arrays(shapes, 1)
    params = {p: tensors(lamella if p == "lamella" else torch, start) for p in ("lamella", "torch", "fused")}
    grads = {p: tensors(lamella if p == "lamella" else torch, slopes) for p in params}
    calls = {
        "lamella": class_step(lamella, optimizer, options, params["lamella"], grads["lamella"]),
        "torch": class_step(torch, optimizer, options, params["torch"], grads["torch"]),
        "fused": class_step(torch, optimizer, {**options, "fused": True}, params["fused"], grads["fused"]),
    }
    for _ in range(3):
        for call in calls.values():
            call()
    same({p: np.concatenate([x.detach().numpy().ravel() for x in each]) for p, each in params.items()})
    bounds = [Bound("torch", DEFAULT), Bound("fused", FUSED)]
    if passes:
        source = torch.ones(sum(int(np.prod(s)) for s in shapes) * passes // 2)
        target = torch.empty_like(source)
        calls["floor"] = lambda: target.copy_(source)
        bounds.append(Bound("floor", FLOOR))
    runs = {p: timer("call()", {"call": call}) for p, call in calls.items()}
    return Row(name, measure(runs, rounds=ROUNDS, seconds=0.05), bounds)


# Each name has the model, its input's shape, the optimizer, its options, and the bound.
WHOLE: dict[str, tuple[Any, tuple[int, ...], str, dict[str, Any], float]] = {
    "a whole step: MLP 784-256-10, batch 64, Adam": (models.mlp, (64, 784), "Adam", {"lr": 1e-3}, 0.5),
    "a whole step: the MNIST convnet, batch 64, SGD with momentum": (
        models.convnet,
        (64, 1, 28, 28),
        "SGD",
        {"lr": 0.01, "momentum": 0.9},
        0.38,
    ),
}


def whole_step(ns: Any, module: Any, images: np.ndarray, optimizer: Any) -> Callable[[], Any]:
    x, y = ns.from_numpy(images), ns.arange(len(images)) % 10

    def step() -> Any:
        optimizer.zero_grad()
        loss = ns.nn.functional.cross_entropy(module(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def whole_row(
    name: str, make: Any, shape: tuple[int, ...], optimizer: str, options: dict[str, Any], most: float
) -> Row:
    images = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    calls = {}
    for peer, module in modules.alike(make).items():
        ns = modules.namespaces()[peer]
        made = getattr(ns.optim, optimizer)(module.parameters(), **options)
        calls[peer] = whole_step(ns, module, images, made)
    for _ in range(5):
        same({peer: call().item() for peer, call in calls.items()})
    runs = {p: timer("call()", {"call": call}) for p, call in calls.items()}
    return Row(name, measure(runs, rounds=ROUNDS, seconds=0.1), [Bound("torch", most)])


def first_row(name: str) -> Row:
    """Measures processes that import a peer and make an optimizer, minus processes that do nothing."""
    statements = {"nothing": "pass"}
    for peer in ("lamella", "torch"):
        statements[peer] = f"import {peer}; {peer}.optim.SGD([{peer}.zeros(1)], lr=0.1)"
    times: dict[str, list[float]] = {peer: [] for peer in statements}
    for n in range(ROUNDS + 1):
        for peer, statement in statements.items():
            seconds, _ = run_child(statement)
            if n:
                times[peer].append(seconds * 1e9)
    base = times.pop("nothing")
    samples = {peer: Sample([x - y for x, y in zip(t, base, strict=True)]) for peer, t in times.items()}
    return Row(name, samples, [Bound("torch", 0.08)])


def rows(wanted: Callable[[str], bool], threads: int) -> Iterator[Row]:
    for name, (optimizer, options, shapes, passes) in CASES.items():
        if wanted(name):
            yield row(f"{name}, {threads} threads", optimizer, options, shapes, passes)
    for name, case in WHOLE.items():
        if wanted(name):
            yield whole_row(f"{name}, {threads} threads", *case)
    if threads == 1 and wanted(name := "import and the first optim.SGD of a process"):
        yield first_row(name)


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
    print(table("Steps of training", made))
    return made


if __name__ == "__main__":
    main(*sys.argv[1:])
