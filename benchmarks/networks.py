"""Networks for the benchmarks of autograd. The same code makes a network of torch and of lamella."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

Shapes = dict[str, tuple[int, ...]]
Loss = Callable[[ModuleType, dict[str, Any], Any, Any], Any]


@dataclass
class Network:
    """A network: shapes of parameters and inputs, and a `loss` of namespace, parameters by name, inputs, classes."""

    shapes: Shapes
    inputs: tuple[int, ...]  # the first size is that of the batch
    classes: int
    loss: Loss


class Training:
    """A network with one peer's tensors, which have the same values for each peer. A step is forward and backward."""

    def __init__(self, ns: ModuleType, network: Network) -> None:
        rng = np.random.default_rng(1)  # with this seed no activation is so near zero that rounding decides its sign
        self.ns, self.loss = ns, network.loss
        self.parameters = {}
        for name, shape in network.shapes.items():
            if len(shape) == 1:  # a bias, or the weight of a norm
                values = np.ones(shape) if name.endswith("scale") else np.zeros(shape)
            else:
                values = rng.standard_normal(shape) * (2 / np.prod(shape[1:])) ** 0.5
            self.parameters[name] = ns.from_numpy(values.astype(np.float32)).requires_grad_()
        self.x = ns.from_numpy(rng.standard_normal(network.inputs).astype(np.float32))
        self.y = ns.from_numpy(rng.integers(0, network.classes, network.inputs[0]))

    def step(self, images: int | None = None) -> float:
        for p in self.parameters.values():
            p.grad = None
        loss = self.loss(self.ns, self.parameters, self.x[:images], self.y[:images])
        loss.backward()
        return loss.item()

    def gradients(self) -> dict[str, np.ndarray]:
        return {name: np.asarray(p.grad) for name, p in self.parameters.items()}


def mlp_loss(ns: ModuleType, p: dict[str, Any], x: Any, y: Any) -> Any:
    f = ns.nn.functional
    h = f.relu(f.linear(x, p["w1"], p["b1"]))
    return f.cross_entropy(f.linear(h, p["w2"], p["b2"]), y)


def convnet_loss(ns: ModuleType, p: dict[str, Any], x: Any, y: Any) -> Any:
    f = ns.nn.functional
    x = f.max_pool2d(f.relu(f.conv2d(x, p["conv1"], p["conv1.b"])), 2)
    x = f.max_pool2d(f.relu(f.conv2d(x, p["conv2"], p["conv2.b"])), 2)
    x = f.relu(f.linear(x.view(-1, 320), p["fc1"], p["fc1.b"]))
    return f.cross_entropy(f.linear(x, p["fc2"], p["fc2.b"]), y)


def lstm_loss(ns: ModuleType, p: dict[str, Any], x: Any, y: Any) -> Any:
    """Runs one LSTM cell along the second dimension of x, and takes the last state as scores of classes."""
    f = ns.nn.functional
    h = c = ns.zeros(x.shape[0], 20)
    for t in range(x.shape[1]):
        gates = f.linear(x[:, t], p["w_x"], p["b_x"]) + f.linear(h, p["w_h"], p["b_h"])
        i, g, k, o = gates.chunk(4, 1)
        c = g.sigmoid() * c + i.sigmoid() * k.tanh()
        h = o.sigmoid() * c.tanh()
    return f.cross_entropy(h, y)


WIDTHS = (64, 128, 256, 512)


def resnet_shapes() -> Shapes:
    """Returns the shapes of ResNet-18's parameters: a stem, four stages of two blocks, a linear layer."""
    shapes: Shapes = {"stem": (64, 3, 7, 7)}
    before = 64
    for stage, width in enumerate(WIDTHS):
        for block in range(2):
            name = f"{stage}.{block}"
            shapes[f"{name}.1"] = (width, before, 3, 3)
            shapes[f"{name}.2"] = (width, width, 3, 3)
            if before != width:
                shapes[f"{name}.short"] = (width, before, 1, 1)
            before = width
    norms = {f"{k}.{part}": (v[0],) for k, v in shapes.items() for part in ("scale", "shift")}
    return shapes | norms | {"fc": (10, before), "fc.b": (10,)}


def resnet_loss(ns: ModuleType, p: dict[str, Any], x: Any, y: Any) -> Any:
    f = ns.nn.functional

    def convolved(x: Any, name: str, stride: int, padding: int) -> Any:
        x = f.conv2d(x, p[name], None, stride, padding)
        return f.batch_norm(x, None, None, p[name + ".scale"], p[name + ".shift"], True)

    x = f.max_pool2d(f.relu(convolved(x, "stem", 2, 3)), 3, 2, 1)
    for stage in range(len(WIDTHS)):
        for block in range(2):
            name = f"{stage}.{block}"
            stride = 2 if stage and not block else 1
            short = convolved(x, name + ".short", stride, 0) if name + ".short" in p else x
            h = f.relu(convolved(x, name + ".1", stride, 1))
            x = f.relu(convolved(h, name + ".2", 1, 1) + short)
    return f.cross_entropy(f.linear(x.mean((2, 3)), p["fc"], p["fc.b"]), y)


NETWORKS = {
    "MLP 784-256-10, batch 64": Network(
        {"w1": (256, 784), "b1": (256,), "w2": (10, 256), "b2": (10,)}, (64, 784), 10, mlp_loss
    ),
    "convolutional net, batch 64": Network(
        {
            "conv1": (10, 1, 5, 5),
            "conv1.b": (10,),
            "conv2": (20, 10, 5, 5),
            "conv2.b": (20,),
            "fc1": (50, 320),
            "fc1.b": (50,),
            "fc2": (10, 50),
            "fc2.b": (10,),
        },
        (64, 1, 28, 28),
        10,
        convnet_loss,
    ),
    "LSTM cell 20×(10→20), 100 steps": Network(
        {"w_x": (80, 10), "w_h": (80, 20), "b_x": (80,), "b_h": (80,)}, (20, 100, 10), 20, lstm_loss
    ),
    "ResNet-18's stack, batch 4, 3×64×64": Network(resnet_shapes(), (4, 3, 64, 64), 10, resnet_loss),
}
