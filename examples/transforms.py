"""Transforms written as calls of operators: of a sample in the worker that reads it, and of a batch in the model.

The dataset flips and shifts each image by random numbers of the default generator, which do not depend on the number of
workers. The model standardizes the batch, and gradients pass through that. Options: --workers, --epochs.
"""

from __future__ import annotations

import argparse

import lamella
import lamella.nn.functional as F
import numpy as np
from lamella import nn
from lamella.utils.data import DataLoader, Dataset

SIDE, BATCH = 16, 32


class Bars(Dataset):
    """Pictures of one bright bar, across (class 0) or down (class 1), as bytes; a sample is a float image."""

    def __init__(self, size):
        draw = np.random.default_rng(0)
        self.labels = draw.integers(0, 2, size)
        self.pictures = draw.integers(0, 90, (size, SIDE, SIDE), np.uint8)
        for picture, label, place in zip(self.pictures, self.labels, draw.integers(2, SIDE - 2, size), strict=True):
            (picture.T if label else picture)[place] = 255

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = lamella.from_numpy(self.pictures[index]).to(lamella.float32)[None] / 255
        return augment(image), int(self.labels[index])


def augment(image):
    """Flips the image at random, and shifts it by up to two pixels; called in the worker."""
    if lamella.rand(()) < 0.5:
        image = image.flip(-1)
    down, right = lamella.randint(-2, 3, (2,)).tolist()
    return lamella.roll(image, (down, right), (-2, -1))


class Standardize(nn.Module):
    """Scales each image to mean 0 and deviation 1, on the model's device."""

    def forward(self, images):
        mean = images.mean((-2, -1), keepdim=True)
        return (images - mean) / images.std((-2, -1), keepdim=True)


def train(workers, epochs):
    """Trains a model; returns the losses of all batches."""
    lamella.manual_seed(0)
    model = nn.Sequential(Standardize(), nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveMaxPool2d(4), nn.Flatten())
    model.append(nn.Linear(64, 2))
    loader = DataLoader(Bars(256), BATCH, shuffle=True, num_workers=workers, persistent_workers=workers > 0)
    losses = []
    for _ in range(epochs):
        for images, labels in loader:
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            with lamella.no_grad():
                for p in model.parameters():
                    p -= 0.2 * p.grad
                    p.grad = None
            losses.append(loss.item())
    return losses


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--epochs", type=int, default=3)
    chosen = options.parse_args()
    losses = train(chosen.workers, chosen.epochs)
    print(f"the loss fell from {losses[0]:.3f} to {losses[-1]:.3f}")
