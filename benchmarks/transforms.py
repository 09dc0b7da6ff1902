"""Transforms of functions beside torch.func, and beside our own loops: calls, gradients of each sample, Jacobians; and
autocast.

With words as arguments it runs the rows whose names have one of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import common

BATCH = 64


def numbers(*shape: int, seed: int = 0) -> Any:
    import numpy as np

    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def tensors(module: Any, *shapes: tuple[int, ...]) -> list[Any]:
    return [module.from_numpy(numbers(*shape, seed=i)) for i, shape in enumerate(shapes)]


def plain(made: Any) -> Any:
    """Returns all numbers of a tensor, or of a nesting of tensors, as one array."""
    import numpy as np

    if isinstance(made, dict):
        made = [made[name] for name in sorted(made)]
    if isinstance(made, tuple | list):
        return np.concatenate([plain(part).ravel() for part in made])
    return made.detach().numpy()


def convnet(module: Any) -> Any:
    """Returns the network of 28×28 digits, with the same parameters for each module."""
    nn = module.nn
    net = nn.Sequential(
        *(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(32 * 25, 10)),
    )
    return filled(module, net)


def mlp(module: Any) -> Any:
    nn = module.nn
    return filled(module, nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 64)))


def filled(module: Any, net: Any) -> Any:
    for i, p in enumerate(net.parameters()):
        fan = max(1, p[0].numel()) if p.dim() > 1 else 10
        p.data.copy_(module.from_numpy(numbers(*p.shape, seed=i) / fan**0.5))
    return net


def functional(module: Any, net: Any) -> tuple[dict[str, Any], Callable]:
    """Returns the parameters of a module, and a function of them and of inputs."""
    params = {name: p.detach() for name, p in net.named_parameters()}
    return params, lambda params, x: module.func.functional_call(net, params, (x,))


Case = Callable[[Any], Callable[[], Any]]  # takes lamella or torch, returns the call that is timed


def small_map(module: Any) -> Callable[[], Any]:
    x, y = tensors(module, (BATCH, 4), (BATCH, 4))
    f = module.vmap(lambda x, y: x * y + x)
    return lambda: f(x, y)


def scalar_gradient(module: Any) -> Callable[[], Any]:
    [x] = tensors(module, (4,))
    f = module.func.grad(lambda x: (x * x).sum())
    return lambda: f(x)


def sample_loss(module: Any) -> tuple[dict[str, Any], Callable, list[Any]]:
    params, call = functional(module, convnet(module))
    [images] = tensors(module, (BATCH, 1, 28, 28))
    labels = module.arange(BATCH) % 10

    def loss(params: Any, image: Any, label: Any) -> Any:
        out = call(params, image.unsqueeze(0))
        return module.nn.functional.cross_entropy(out, label.unsqueeze(0))

    return params, loss, [images, labels]


def sample_gradients(module: Any) -> Callable[[], Any]:
    params, loss, data = sample_loss(module)
    f = module.vmap(module.func.grad(loss), in_dims=(None, 0, 0))
    return lambda: f(params, *data)


def looped_gradients(module: Any) -> Callable[[], Any]:
    params, loss, data = sample_loss(module)
    f = module.func.grad(loss)

    def call() -> Any:
        rows = [f(params, image, label) for image, label in zip(*data, strict=True)]
        return {name: module.stack([row[name] for row in rows]) for name in params}

    return call


def jacobian(kind: str) -> Case:
    def made(module: Any) -> Callable[[], Any]:
        params, call = functional(module, mlp(module))
        [x] = tensors(module, (64,))
        if kind == "hessian":
            f = module.func.hessian(lambda x: call(params, x).square().sum())
        else:
            f = getattr(module.func, kind)(lambda x: call(params, x))
        return lambda: f(x)

    return made


def forward_of(tangent: bool) -> Case:
    """The convnet's call on a batch, alone or with its derivative along a tangent of the images."""

    def made(module: Any) -> Callable[[], Any]:
        params, call = functional(module, convnet(module))
        images, tangents = tensors(module, (BATCH, 1, 28, 28), (BATCH, 1, 28, 28))
        if tangent:
            return lambda: module.func.jvp(lambda x: call(params, x), (images,), (tangents,))
        return lambda: call(params, images)

    return made


def block_of_autocast(module: Any) -> Callable[[], Any]:
    [x] = tensors(module, (1,))

    def call() -> Any:
        with module.autocast("cpu"):
            return x

    return call


def products(cast: bool) -> Case:
    """A hundred small products, in one block of autocast or without."""

    def made(module: Any) -> Callable[[], Any]:
        x, w = tensors(module, (4, 4), (4, 4))

        def call() -> Any:
            with module.autocast("cpu", enabled=cast):
                for _ in range(100):
                    y = module.mm(x, w)
            return y.float()

        return call

    return made


# By the name of a row: the case, the most of torch's time, and our own case beside it with the most of its time.
CASES: dict[str, tuple[Case, float | None, tuple[str, Case, float] | None]] = {
    "vmap of x * y + x, 64×4": (small_map, 0.1, None),
    "grad of a scalar function, 4 elements": (scalar_gradient, 0.1, None),
    "gradients of each sample, convnet, 64": (sample_gradients, 0.5, ("loop", looped_gradients, 0.15)),
    "jacrev, MLP 64-64-64": (jacobian("jacrev"), 0.4, None),
    "jacfwd, MLP 64-64-64": (jacobian("jacfwd"), 0.4, None),
    "hessian, MLP 64-64-64": (jacobian("hessian"), 0.4, None),
    "jvp, convnet, 64": (forward_of(True), None, ("forward", forward_of(False), 2.2)),
    "with autocast('cpu'): pass": (block_of_autocast, 0.1, None),
    "100 products of 4×4 under autocast": (products(True), 0.1, None),
    "100 products of 4×4 without": (products(False), None, None),
}


def row(name: str) -> common.Row:
    import lamella
    import torch

    case, most, beside = CASES[name]
    calls = {"lamella": case(lamella), "torch": case(torch)}
    bounds = [common.Bound("torch", most)] if most else []
    common.same({who: plain(call()) for who, call in calls.items()})
    if beside:
        who, other, most_of_other = beside
        calls[who] = other(lamella)
        bounds.append(common.Bound(who, most_of_other))
        if who == "loop":
            common.same({peer: plain(calls[peer]()) for peer in ("lamella", who)})
    runs = {who: common.timer("f()", {"f": call}) for who, call in calls.items()}
    return common.Row(name, common.measure(runs, seconds=0.05), bounds)


def main(words: list[str] | None = None) -> list[common.Row]:
    found = [row(name) for name in CASES if not words or any(word in name for word in words)]
    print(common.table("Transforms", found))
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
