"""Trains a small convolutional net on handwritten digits, with workers, a schedule, checkpoints; part of `make demo`.

The digits are scikit-learn's, enlarged to 28×28. A fifth is held out; if fewer than 98 % of these are read correctly,
the program exits with 1. With --kill-at STEP it starts the training as a process of its own, kills that by SIGKILL when
it has reported the step, and resumes it from its checkpoint. The losses must be equal, bit for bit, to those of a
training without interruption.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import lamella as torch
import lamella.nn.functional as F
import numpy as np
from lamella import nn, optim
from lamella.utils.data import DataLoader, Dataset
from rich.console import Console
from rich.progress import track
from sklearn.datasets import load_digits

SIDE, CLASSES, BATCH, RATE, MOMENTUM, THRESHOLD = 28, 10, 64, 0.05, 0.9, 0.98
MEAN_OF = 20  # batches of the running mean in the learning curve
RESUMED = "resumed after step "  # what a resumed training prints, before the number
CURVE = Path(__file__).resolve().parents[1] / "build" / "train_digits.png"


class Digits(Dataset):
    """Images and classes. If `shifted`, the worker that reads an image shifts it by up to two pixels."""

    def __init__(self, images, labels, shifted):
        self.images, self.labels, self.shifted = images, labels, shifted

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = self.images[index]
        if self.shifted:
            image = image.roll(torch.randint(-2, 3, (2,)).tolist(), (1, 2))
        return image, self.labels[index]


def split_digits():
    """Returns the digits to train on, and a fifth of the digits, which is held out."""
    digits = load_digits()
    # Linear interpolation of rows is a product with the matrix `enlarge`; so is that of columns.
    old = digits.images.shape[1]
    enlarge = np.maximum(0, 1 - np.abs(np.linspace(0, old - 1, SIDE)[:, None] - np.arange(old)))
    images = (enlarge @ (digits.images / 16) @ enlarge.T).astype(np.float32)[:, None]
    held_out, kept = np.split(np.random.default_rng(0).permutation(len(images)), [len(images) // 5])
    return [
        Digits(torch.from_numpy(images[part]), torch.from_numpy(digits.target[part]), part is kept)
        for part in (kept, held_out)
    ]


class Net(nn.Module):
    """Two convolutions and two linear layers; the largest of the ten outputs is the class."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 10, 5)
        self.conv2 = nn.Conv2d(10, 20, 5)
        self.fc1 = nn.Linear(320, 50)
        self.fc2 = nn.Linear(50, CLASSES)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


class Training:
    """A training: its model, optimizer, schedule and loader, and their checkpoints."""

    def __init__(self, options):
        torch.manual_seed(0)
        self.options = options
        digits, self.held_out = split_digits()
        self.loader = DataLoader(
            digits, BATCH, shuffle=True, num_workers=options.workers, persistent_workers=options.workers > 0
        )
        self.steps = options.steps or options.epochs * len(self.loader)
        self.model = Net().to(options.device)
        self.optimizer = optim.SGD(self.model.parameters(), lr=RATE, momentum=MOMENTUM, weight_decay=1e-4)
        self.scheduler = optim.lr_scheduler.CosineAnnealingLR(self.optimizer, self.steps)
        self.losses, self.accuracies = [], []  # accuracies: (number of steps done, share of held-out digits read)

    def save(self):
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scheduler": self.scheduler.state_dict(),
            "loader": self.loader.state_dict(),
            "random": torch.get_rng_state(),
            "losses": self.losses,
            "accuracies": self.accuracies,
        }
        torch.save(state, self.options.checkpoint)  # replaces the old file when the new one is complete

    def load(self):
        state = torch.load(self.options.checkpoint, map_location=self.options.device)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.scheduler.load_state_dict(state["scheduler"])
        self.loader.load_state_dict(state["loader"])
        torch.set_rng_state(state["random"])
        self.losses, self.accuracies = state["losses"], [tuple(pair) for pair in state["accuracies"]]

    def run(self):
        if self.options.resume:
            self.load()
            print(f"{RESUMED}{len(self.losses)}", flush=True)
        bar = Console(stderr=True)  # standard output is for steps, which a parent process reads
        for x, y in track(self.batches(), "training", self.steps, len(self.losses), console=bar):
            self.losses.append(self.step(x.to(self.options.device), y.to(self.options.device)))
            done = len(self.losses)
            if done % len(self.loader) == 0 or done == self.steps:
                self.accuracies.append((done, self.accuracy()))
            if self.options.checkpoint and (done % self.options.every == 0 or done == self.steps):
                self.save()
            if self.options.report:
                print("step", done, flush=True)

    def batches(self):
        """Yields the remaining batches: first the rest of the loader's current epoch, then whole epochs."""
        while len(self.losses) < self.steps:
            for batch in self.loader:
                yield batch
                if len(self.losses) == self.steps:
                    return

    def step(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        return loss.item()

    @torch.no_grad()
    def accuracy(self):
        right = sum(
            (self.model(x.to(self.options.device)).argmax(1) == y.to(self.options.device)).sum().item()
            for x, y in DataLoader(self.held_out, 256)
        )
        return right / len(self.held_out)


def child(options, checkpoint, *more):
    """Starts a training as a process of its own, which reports its steps."""
    own = [f"--{name}={getattr(options, name)}" for name in ("device", "epochs", "workers", "every")]
    own += [f"--steps={options.steps}"] if options.steps else []
    command = [sys.executable, __file__, *own, f"--checkpoint={checkpoint}", "--report", *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def fail(text):
    print(text)
    sys.exit(1)


def killed_and_resumed(options):
    """Kills and resumes a training, and compares it with one that is not killed.

    Returns its losses, its accuracies, and the marks of its curve: (step, what happened there).
    """
    marks = [(options.kill_at, f"killed at step {options.kill_at}")]
    with tempfile.TemporaryDirectory() as folder:
        interrupted, quiet = Path(folder, "interrupted.pt"), Path(folder, "quiet.pt")
        first = child(options, interrupted)
        for line in first.stdout:
            if line == f"step {options.kill_at}\n":
                os.kill(first.pid, signal.SIGKILL)
                break
        first.stdout.close()
        if first.wait() != -signal.SIGKILL:
            fail(f"FAILED: the training ended with status {first.returncode} before step {options.kill_at}")
        print(f"killed by SIGKILL at step {options.kill_at}")
        for process in (child(options, interrupted, "--resume"), child(options, quiet)):
            for line in process.stdout:
                if not line.startswith("step "):
                    print(line, end="")
                if line.startswith(RESUMED):
                    marks.append((int(line.removeprefix(RESUMED)), line.strip()))
            if process.wait():
                fail(f"FAILED: a training ended with status {process.returncode}")
        left = sorted(os.listdir(folder))
        if left != ["interrupted.pt", "quiet.pt"]:
            fail(f"FAILED: files are left over: {left}")
        resumed, whole = torch.load(interrupted), torch.load(quiet)
    if resumed["losses"] != whole["losses"]:
        fail("FAILED: the losses of the resumed training are not those of one that nothing interrupted")
    print(f"{len(whole['losses'])} losses are those of a training that nothing interrupted, bit for bit")
    return resumed["losses"], resumed["accuracies"], marks


def running_mean(values, window):
    """Returns for each value the mean of the last `window` values up to it, or of all if there are fewer."""
    sums = np.cumsum([0, *values])
    ends = np.arange(1, len(values) + 1)
    begins = np.maximum(0, ends - window)
    return (sums[ends] - sums[begins]) / (ends - begins)


def draw_curve(losses, accuracies, marks, title, path):
    """Draws losses, their running mean, accuracies, and a line at each mark (step, text); returns the figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # draws without a window
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    left = figure.subplots()
    steps = range(1, len(losses) + 1)
    left.plot(steps, losses, color="tab:blue", linewidth=0.8, alpha=0.4, label="loss of a batch")
    left.plot(steps, running_mean(losses, MEAN_OF), color="tab:blue", linewidth=1.8, label=f"mean of {MEAN_OF} batches")
    left.set(title=title, xlabel="step", ylabel="cross entropy", yscale="log")
    right = left.twinx()
    right.plot(*zip(*accuracies, strict=True), color="tab:orange", marker="o", label="held-out digits that are read")
    right.set(ylabel="share of held-out digits", ylim=(0, 1.02))
    for (step, text), color, style in zip(marks, ("tab:red", "tab:green"), ("-", "--"), strict=False):
        left.axvline(step, color=color, linestyle=style, linewidth=1.2, label=text)
    figure.legend(loc="outside lower center", ncols=3, fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    return figure


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu", help="where to train, such as cpu")
    parser.add_argument("--epochs", type=int, default=20, help="how often each image is seen")
    parser.add_argument("--steps", type=int, help="end after these steps, and ask only that the loss has fallen")
    parser.add_argument("--workers", type=int, default=2, help="processes that read images")
    parser.add_argument("--checkpoint", type=Path, help="where checkpoints go; without it none is written")
    parser.add_argument("--every", type=int, default=20, help="steps between two checkpoints")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    parser.add_argument("--kill-at", type=int, metavar="STEP", help="kill the training there, and resume it")
    parser.add_argument("--report", action="store_true", help="print each step")
    parser.add_argument("--curve", type=Path, default=CURVE, help=f"where the learning curve goes ({CURVE})")
    options = parser.parse_args()
    if options.epochs < 1 or options.every < 1 or (options.steps is not None and options.steps < 1):
        parser.error("arguments --epochs, --steps, --every: must be at least 1")
    if options.resume and not options.checkpoint:
        parser.error("argument --resume: needs --checkpoint")
    if options.kill_at is not None and options.kill_at < options.every:
        parser.error("argument --kill-at: must not be before the first checkpoint, which --every says")

    start = time.perf_counter()
    if options.kill_at is not None:
        losses, accuracies, marks = killed_and_resumed(options)
    else:
        training = Training(options)
        training.run()
        losses, accuracies, marks = training.losses, training.accuracies, []
    if options.report:
        return 0
    reached = accuracies[-1][1]
    print(f"{len(losses)} steps on {options.device} in {time.perf_counter() - start:.1f} s")
    print(f"held out: {reached:.1%} of these digits are read correctly")
    title = f"Handwritten digits on {options.device}: {reached:.1%} of the held-out ones are read"
    draw_curve(losses, accuracies, marks, title, options.curve)
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
