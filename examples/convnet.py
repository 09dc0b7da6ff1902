"""Handwritten digits by a small convolutional net, written with functions and a plain loop: what `make demo` runs.

The digits are scikit-learn's, enlarged to 28×28. Exits with 1 if fewer than 97 % of the held-out ones are read; with
--steps, which ends the training early, if the loss has not fallen. Options: --device, --epochs, --steps, --curve.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import lamella as torch
import lamella.nn.functional as F
import numpy as np
from sklearn.datasets import load_digits

SIDE, CLASSES, BATCH, RATE, MOMENTUM, THRESHOLD = 28, 10, 64, 0.05, 0.9, 0.97
CURVE = Path(__file__).resolve().parents[1] / "build" / "convnet.png"
SHAPES = [(10, 1, 5, 5), (10,), (20, 10, 5, 5), (20,), (50, 320), (50,), (CLASSES, 50), (CLASSES,)]


def split_digits(device):
    """Images and classes to train on, and the held-out fifth: drawn with seed 0, used for nothing else."""
    digits = load_digits()
    # Linear interpolation from the old rows to the new ones, and from columns to columns, is a product with a matrix.
    old = digits.images.shape[1]
    enlarge = np.maximum(0, 1 - np.abs(np.linspace(0, old - 1, SIDE)[:, None] - np.arange(old)))
    images = (enlarge @ (digits.images / 16) @ enlarge.T).astype(np.float32)[:, None]
    held_out, kept = np.split(np.random.default_rng(0).permutation(len(images)), [len(images) // 5])
    return [torch.from_numpy(a[part]).to(device) for part in (kept, held_out) for a in (images, digits.target)]


def new_parameters(device):
    """Weights scaled so that a layer's outputs are about as large as its inputs, and biases of zero."""
    torch.manual_seed(0)
    sizes = [(2 / np.prod(shape[1:])) ** 0.5 if len(shape) > 1 else 0.0 for shape in SHAPES]
    return [(torch.randn(shape) * s).to(device).requires_grad_() for shape, s in zip(SHAPES, sizes, strict=True)]


def forward(x, conv1, bias1, conv2, bias2, linear1, bias3, linear2, bias4):
    """The net's output: ten numbers for each image, the largest at the class that it predicts."""
    x = F.max_pool2d(F.relu(F.conv2d(x, conv1, bias1)), 2)
    x = F.max_pool2d(F.relu(F.conv2d(x, conv2, bias2)), 2)
    x = F.relu(F.linear(x.flatten(1), linear1, bias3))
    return F.linear(x, linear2, bias4)


def step(x, y, parameters, velocities, rate):
    """One step downhill on the cross entropy, which it returns; parameters and velocities change in place."""
    loss = F.cross_entropy(forward(x, *parameters), y)
    loss.backward()
    with torch.no_grad():
        for p, v in zip(parameters, velocities, strict=True):
            v.mul_(MOMENTUM).add_(p.grad)
            p -= rate * v
            p.grad = None
    return loss.item()


@torch.no_grad()
def accuracy(x, y, parameters) -> float:
    return (forward(x, *parameters).argmax(1) == y).float().mean().item()


def train(x, y, held_out, labels, parameters, epochs: int, steps: int | None):
    """Losses, one for each step, and accuracies on held-out images, each with the number of steps before it."""
    losses, accuracies = [], []
    velocities = [torch.zeros_like(p) for p in parameters]
    draw = np.random.default_rng(1)
    an_epoch = -(-len(x) // BATCH)
    batches = [b for _ in range(epochs) for b in np.array_split(draw.permutation(len(x)), an_epoch)][:steps]
    for i, batch in enumerate(batches):
        rate = RATE * (1 - i / len(batches))
        chosen = torch.from_numpy(batch).to(x.device)
        shift = draw.integers(-2, 3, 2).tolist()  # so that the net sees the same digits at different places
        losses.append(step(x[chosen].roll(shift, (2, 3)), y[chosen], parameters, velocities, rate))
        if (i + 1) % an_epoch == 0 or i + 1 == len(batches):
            accuracies.append((i + 1, accuracy(held_out, labels, parameters)))
            print(f"step {i + 1}: loss {losses[-1]:.3f}, {accuracies[-1][1]:.1%} of the held-out digits are read")
    return losses, accuracies


def draw_curve(losses, accuracies, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")  # no window
    from matplotlib import pyplot

    figure, left = pyplot.subplots(figsize=(7, 4))
    left.plot(range(1, len(losses) + 1), losses, color="tab:blue", linewidth=1)
    left.set(xlabel="step", ylabel="cross entropy of a batch", yscale="log")
    right = left.twinx()
    right.plot(*zip(*accuracies, strict=True), color="tab:orange", marker="o")
    right.set(ylabel="held-out digits that are read", ylim=(0, 1.02))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu", help="where to train, such as cpu")
    parser.add_argument("--epochs", type=int, default=15, help="how often each image is seen")
    parser.add_argument("--steps", type=int, help="end after these steps, and ask only that the loss has fallen")
    parser.add_argument("--curve", type=Path, default=CURVE, help=f"where the learning curve goes ({CURVE})")
    options = parser.parse_args()
    if options.epochs < 1 or (options.steps is not None and options.steps < 1):
        parser.error("arguments --epochs, --steps: must be at least 1")

    x, y, held_out, labels = split_digits(options.device)
    start = time.perf_counter()
    parameters = new_parameters(options.device)
    losses, accuracies = train(x, y, held_out, labels, parameters, options.epochs, options.steps)
    seconds, reached = time.perf_counter() - start, accuracies[-1][1]
    print(f"{len(x)} digits trained on, {len(labels)} held out: {reached:.1%} of these are read correctly")
    print(f"{len(losses)} steps on {options.device} in {seconds:.1f} s")
    draw_curve(losses, accuracies, options.curve)
    print(f"learning curve: {options.curve}")

    if options.steps:
        tenth = max(1, len(losses) // 10)
        fallen = np.mean(losses[-tenth:]) < np.mean(losses[:tenth]) / 1.1
        if not fallen:
            print("FAILED: the loss has not fallen")
        return 0 if fallen else 1
    if reached < THRESHOLD:
        print(f"FAILED: at least {THRESHOLD:.0%} of the held-out digits were to be read")
    return 0 if reached >= THRESHOLD else 1


if __name__ == "__main__":
    sys.exit(main())
