"""Trains a two-layer network on handwritten digits, with gradients by backward; part of `make demo`.

Exits with 1 if fewer than 95 % of the held-out digits are read correctly, if the two FLOP layers count different
numbers, or if their counts of matrix products differ from the formula of this file. Options: --device, --epochs.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from contextlib import ExitStack

import lamella as torch
import numpy as np
from lamella.cli import plugins
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.datasets import load_digits

PIXELS, HIDDEN, CLASSES = 64, 100, 10
BATCH, RATE, THRESHOLD = 64, 1e-3, 0.95


def split_digits(device):
    """Returns images scaled to [0, 1] and one-hot targets to train on, and images and labels of the held-out fifth."""
    digits = load_digits()
    images = (digits.data / 16).astype(np.float32)
    targets = np.eye(CLASSES, dtype=np.float32)[digits.target]
    order = np.random.default_rng(0).permutation(len(images))
    held_out, kept = np.split(order, [len(order) // 5])
    train = [torch.from_numpy(a[kept]).to(device) for a in (images, targets)]
    return *train, torch.from_numpy(images[held_out]).to(device), digits.target[held_out]


def new_weights(device):
    torch.manual_seed(0)
    shapes = (PIXELS, HIDDEN), (HIDDEN, CLASSES)
    return [(torch.randn(*shape) * 0.1).to(device).requires_grad_() for shape in shapes]


def step(x, y, w1, w2):
    """Makes one step of gradient descent on the summed squared error; changes the weights, and returns the error."""
    y_pred = x.mm(w1).clamp(min=0).mm(w2)
    loss = (y_pred - y).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        for w in (w1, w2):
            w -= RATE * w.grad
            w.grad = None
    return loss.detach()


def expected_flops(images: int, epochs: int) -> int:
    """Returns the operations of all products, 2mnk each. Backward has two products for each of forward's, but none for
    the gradient of x."""
    forward = 2 * HIDDEN * (PIXELS + CLASSES)
    backward = 2 * HIDDEN * (PIXELS + 2 * CLASSES)
    return epochs * images * (forward + backward)


def flop_layers() -> dict[str, object]:
    """Returns the layers of the package lamella_flops (examples/layer_plugin); {} if it is not installed."""
    if importlib.util.find_spec("lamella_flops") is None:
        return {}
    from lamella_flops import native, twin

    return {"native": native, "python": twin}


def train(x, y, epochs: int, layers: dict, console: Console):
    w1, w2 = new_weights(x.device)
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


@torch.no_grad()
def accuracy(x, labels, w1, w2) -> float:
    read = x.mm(w1).clamp(min=0).mm(w2).argmax(1)
    return float((read.to("cpu").numpy() == labels).mean())


def report_flops(expected: int, layers: dict, console: Console) -> bool:
    """Prints the counts, including those of backward; returns whether both layers and the formula agree."""
    counted = {name: layer.counts() for name, layer in layers.items()}
    table = Table(title="floating-point operations")
    for i, name in enumerate(["operator", "formula", *counted]):
        table.add_column(name, justify="right" if i else "left")
    products = ("aten::mm", "aten::bmm")  # on a device without a kernel of mm, layers see the bmm that it calls
    operators = sorted(
        {o for c in counted.values() for o in c}, key=lambda o: -max(c.get(o, 0) for c in counted.values())
    )
    for operator in operators:
        formula = f"{expected:,}" if operator in products else ""
        table.add_row(operator, formula, *(f"{c.get(operator, 0):,}" for c in counted.values()))
    table.add_section()
    table.add_row("total", "", *(f"{sum(c.values()):,}" for c in counted.values()))
    console.print(table)
    first = next(iter(counted.values()))
    return all(c == first and sum(c.get(p, 0) for p in products) == expected for c in counted.values())


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
    start = time.perf_counter()
    w1, w2 = train(x, y, options.epochs, layers, console)
    seconds = time.perf_counter() - start
    agree = not layers or report_flops(expected_flops(len(x), options.epochs), layers, console)
    reached = accuracy(held_out, labels, w1, w2)
    print(f"{len(x)} digits trained on, {len(labels)} held out: {reached:.1%} of these are read correctly")
    print(f"{options.epochs} epochs on {options.device} in {seconds:.2f} s")

    if not layers:
        print("lamella-flops is not installed, so nothing was counted: pip install ./examples/layer_plugin")
    if not agree:
        print("FAILED: the layers' operations differ, or their products are not the formula's")
    if reached < THRESHOLD:
        print(f"FAILED: at least {THRESHOLD:.0%} of the held-out digits were to be read")
    return 0 if agree and reached >= THRESHOLD else 1


if __name__ == "__main__":
    sys.exit(main())
