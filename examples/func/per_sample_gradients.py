"""The gradients of each image of a batch, by vmap of grad in one call, and by a loop over the images.

Training with differential privacy clips the gradient of each image before it adds them, so that no image moves the
weights by more than a bound; the norms here are what it would clip.
"""

import sys
import time

import lamella
import lamella.nn.functional as F
from lamella import nn
from lamella.func import functional_call, grad

SIDE, CLASSES, BATCH, BOUND = 28, 10, 32, 1.0


class Net(nn.Module):
    """Two convolutions, each with a pool, and a linear layer."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.out = nn.Linear(16 * 25, CLASSES)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.out(x.flatten(1))


def strokes(n):
    """Returns images of thick strokes, and their classes: the angle of a stroke is that of its class, roughly."""
    labels = lamella.randint(0, CLASSES, (n,))
    angle = (labels + 0.2 * lamella.randn(n)) * (lamella.pi / CLASSES)
    line = lamella.linspace(-1, 1, SIDE)
    across = angle.cos()[:, None, None] * line - angle.sin()[:, None, None] * line[:, None]
    return (-((across * 4) ** 2)).exp().unsqueeze(1) + 0.1 * lamella.randn(n, 1, SIDE, SIDE), labels


def main():
    lamella.manual_seed(0)
    net = Net()
    params = {name: p.detach() for name, p in net.named_parameters()}
    images, labels = strokes(BATCH)

    def loss(params, image, label):
        return F.cross_entropy(functional_call(net, params, (image.unsqueeze(0),)), label.unsqueeze(0))

    start = time.perf_counter()
    found = lamella.vmap(grad(loss), in_dims=(None, 0, 0))(params, images, labels)
    middle = time.perf_counter()
    rows = [grad(loss)(params, image, label) for image, label in zip(images, labels, strict=True)]
    end = time.perf_counter()
    looped = {name: lamella.stack([row[name] for row in rows]) for name in params}

    difference = max((found[name] - looped[name]).abs().max().item() for name in params)
    print(f"{BATCH} images: {1e3 * (middle - start):.1f} ms by vmap, {1e3 * (end - middle):.1f} ms by a loop")
    print(f"largest difference of {sum(g.numel() for g in found.values())} numbers: {difference:.1e}")

    norms = lamella.stack([g.flatten(1).norm(dim=1) for g in found.values()]).norm(dim=0)
    print(f"norms of the images' gradients: from {norms.min().item():.3f} to {norms.max().item():.3f}")
    factors = (BOUND / norms).clamp(max=1.0)
    clipped = lamella.cat([(lamella.tensordot(factors, g, 1) / BATCH).flatten() for g in found.values()])
    print(f"{(norms > BOUND).sum().item()} are clipped to {BOUND}; the norm of the mean is {clipped.norm().item():.3f}")
    return 0 if difference < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
