"""Handwritten digits by a two-layer network with gradients written by hand: what `make demo` runs.

Exits with 1 if fewer than 93 % of the held-out digits are read, or if the operations that the two FLOP layers count
differ from each other or from the formula here. Options: --device, --epochs.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from contextlib import ExitStack

import lattis as torch
import numpy as np
from lattis.cli import plugins
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.datasets import load_digits

PIXELS, HIDDEN, CLASSES = 64, 100, 10
BATCH, RATE, THRESHOLD = 64, 1e-3, 0.93


def split_digits(device):
    """Images scaled to [0, 1], one-hot targets, and the held-out fifth: drawn with seed 0, used for nothing else."""
    digits = load_digits()
    images = (digits.data / 16).astype(np.float32)
    targets = np.eye(CLASSES, dtype=np.float32)[digits.target]
    order = np.random.default_rng(0).permutation(len(images))
    held_out, kept = np.split(order, [len(order) // 5])
    train = [torch.from_numpy(a[kept]).to(device) for a in (images, targets)]
    return *train, torch.from_numpy(images[held_out]).to(device), digits.target[held_out]


def step(x, y, w1, w2):
    """One step downhill on the summed squared error, which it returns; the weights change in place."""
    # Forward: what the network says of x.
    h = x.mm(w1)
    h_relu = h.clamp(min=0)
    y_pred = h_relu.mm(w2)
    loss = (y_pred - y).pow(2).sum()

    # Backward: the chain rule, from the loss to each weight.
    grad_y_pred = 2.0 * (y_pred - y)
    grad_w2 = h_relu.t().mm(grad_y_pred)
    grad_h_relu = grad_y_pred.mm(w2.t())
    grad_h = grad_h_relu.clone()
    grad_h[h < 0] = 0
    grad_w1 = x.t().mm(grad_h)

    w1 -= RATE * grad_w1
    w2 -= RATE * grad_w2
    return loss


def step_flops(n: int) -> dict[str, int]:
    """The operations of one step on n images, by hand: 2mnk a matrix product, else one an element."""
    hidden, out, weights = n * HIDDEN, n * CLASSES, PIXELS * HIDDEN + HIDDEN * CLASSES
    forward, backward = 2 * n * HIDDEN * (PIXELS + CLASSES), 2 * n * HIDDEN * (2 * CLASSES + PIXELS)
    return {
        "aten::mm": forward + backward,
        "aten::clamp": hidden,
        "aten::sub": 2 * out,  # y_pred - y, twice
        "aten::pow": out,
        "aten::sum": out,
        "aten::mul": out + weights,  # 2.0 * (...), RATE * grad
        "aten::lt": hidden,
        "aten::where": hidden,  # the assignment under a mask chooses for each element
        "aten::sub_": weights,
    }


def expected_flops(images: int, epochs: int) -> dict[str, int]:
    total: dict[str, int] = {}
    for start in range(0, images, BATCH):
        for name, flops in step_flops(min(BATCH, images - start)).items():
            total[name] = total.get(name, 0) + epochs * flops
    return total


def flop_layers() -> dict[str, object]:
    """The layers of the package lattis_flops (examples/layer_plugin), if it is installed."""
    if importlib.util.find_spec("lattis_flops") is None:
        return {}
    from lattis_flops import native, twin

    return {"native": native, "python": twin}


def train(x, y, epochs: int, layers: dict, console: Console):
    torch.manual_seed(0)
    w1 = (torch.randn(PIXELS, HIDDEN) * 0.1).to(x.device)
    w2 = (torch.randn(HIDDEN, CLASSES) * 0.1).to(x.device)
    columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TextColumn("loss {task.fields[loss]:.3f}"))
    with ExitStack() as stack, Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        task = progress.add_task("training", total=epochs, loss=float("nan"))
        for layer in layers.values():
            layer.reset()
            stack.enter_context(layer.on())
        for _ in range(epochs):
            for start in range(0, len(x), BATCH):
                loss = step(x[start : start + BATCH], y[start : start + BATCH], w1, w2)
            progress.update(task, advance=1, loss=loss.item() / (len(x) - start))
    return w1, w2


def accuracy(x, labels, w1, w2) -> float:
    read = x.mm(w1).clamp(min=0).mm(w2).argmax(1)
    return float((read.to("cpu").numpy() == labels).mean())


def report_flops(expected: dict[str, int], layers: dict, console: Console) -> bool:
    """Prints operations by operator; False if a layer's count is not the formula's."""
    counted = {name: layer.counts() for name, layer in layers.items()}
    seen = {operator for counts in counted.values() for operator in counts}
    if "aten::mm" not in seen and "aten::bmm" in seen:  # a device without mm makes it of bmm, which is what layers see
        expected = {"aten::bmm" if operator == "aten::mm" else operator: n for operator, n in expected.items()}
    table = Table(title="floating-point operations")
    table.add_column("operator")
    for name in ["formula", *counted]:
        table.add_column(name, justify="right")
    for operator in sorted({*expected, *(o for c in counted.values() for o in c)}, key=lambda o: -expected.get(o, 0)):
        table.add_row(operator, *(f"{c.get(operator, 0):,}" for c in (expected, *counted.values())))
    table.add_section()
    table.add_row("total", *(f"{sum(c.values()):,}" for c in (expected, *counted.values())))
    console.print(table)
    return all(c == expected for c in counted.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu", help="where to train, such as cpu")
    parser.add_argument("--epochs", type=int, default=30, help="how often each image is seen")
    options = parser.parse_args()
    if options.epochs < 1:
        parser.error(f"argument --epochs: must be at least 1, got {options.epochs}")
    console = Console()

    x, y, held_out, labels = split_digits(options.device)
    layers = flop_layers()
    print(plugins(), "\n")
    w1, w2 = train(x, y, options.epochs, layers, console)
    agree = report_flops(expected_flops(len(x), options.epochs), layers, console)
    reached = accuracy(held_out, labels, w1, w2)
    print(f"{len(x)} digits trained on, {len(labels)} held out: {reached:.1%} of these are read correctly")

    if not layers:
        print("lattis-flops is not installed, so nothing was counted: pip install ./examples/layer_plugin")
    if not agree:
        print("FAILED: a layer's operations are not the formula's")
    if reached < THRESHOLD:
        print(f"FAILED: at least {THRESHOLD:.0%} of the held-out digits were to be read")
    return 0 if agree and reached >= THRESHOLD else 1


if __name__ == "__main__":
    sys.exit(main())
