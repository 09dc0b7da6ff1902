"""Named tensors beside the same calls without names, and beside torch's where it has them (up to 2.12)."""

from __future__ import annotations

import warnings
from typing import Any

import common

A, B, IMAGES = ("n", "c"), ("c", "k"), ("n", "c", "h", "w")


def arguments(module: Any, names: bool) -> dict[str, Any]:
    """Returns the tensors of the calls; those of torch come from the same numbers."""
    import numpy as np

    rng = np.random.default_rng(0)
    shapes = {"x": ((2, 3), A), "y": ((2, 3), A), "w": ((3, 4), B)}
    made = {}
    for name, (shape, of) in shapes.items():
        tensor = module.from_numpy(rng.standard_normal(shape, dtype=np.float32))
        made[name] = tensor.rename(*of) if names else tensor
    return made


def plain(tensor: Any) -> Any:
    return (tensor.rename(None) if hasattr(tensor, "rename") else tensor).detach().numpy()


# A statement with names, the same without, and the most that the first may take of the second.
CALLS = {
    "a + b": ("x + y", "x + y", 1.2),
    "matmul": ("x @ w", "x @ w", 1.4),
    "sum('c')": ("x.sum('c')", "x.sum(1)", 1.4),
    "transpose": ("x.transpose('n', 'c')", "x.transpose(0, 1)", 1.4),
    "softmax('c')": ("x.softmax('c')", "x.softmax(1)", 1.4),
}


def rows() -> list[common.Row]:
    import lamella
    import torch

    found = []
    warnings.simplefilter("ignore", UserWarning)  # torch's names are experimental
    for name, (named, without, most) in CALLS.items():
        texts = {"lamella": (named, lamella, True), "unnamed": (without, lamella, False)}
        bounds = [common.Bound("unnamed", most)]
        if hasattr(torch.Tensor, "align_to"):
            texts["torch"] = (named, torch, True)
            bounds.append(common.Bound("torch", 0.1))
        spaces = {who: arguments(module, names) for who, (_, module, names) in texts.items()}
        common.same({who: plain(eval(text, spaces[who])) for who, (text, _, _) in texts.items()})
        runs = {who: common.timer(text, spaces[who]) for who, (text, _, _) in texts.items()}
        found.append(common.Row(name, common.measure(runs), bounds))
    return found


def network() -> list[common.Row]:
    """Forward and backward of a small convolutional network, with images that have names and without."""
    import lamella
    from lamella import nn

    lamella.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 13 * 13, 10))
    images = lamella.randn(64, 1, 28, 28)

    def step(x: Any) -> Any:
        loss = net(x).square().sum()
        loss.backward()
        return loss

    inputs = {"lamella": images.rename(*IMAGES), "unnamed": images}
    common.same({who: plain(step(x)) for who, x in inputs.items()})
    runs = {who: common.timer("step(x)", {"step": step, "x": x}) for who, x in inputs.items()}
    return [common.Row("convolutional network, 64 images", common.measure(runs), [common.Bound("unnamed", 1.02)])]


def main() -> list[common.Row]:
    found = rows() + network()
    print(common.table("Named tensors", found))
    return found


if __name__ == "__main__":
    main()
