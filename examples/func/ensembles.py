"""An ensemble of networks that trains as one: stacked parameters, and vmap over models.

Each network starts from weights of its own. Where they disagree the ensemble is unsure, which one network alone cannot
know.
"""

import sys

import lamella
import lamella.nn.functional as F
from lamella import nn
from lamella.func import functional_call, grad_and_value, stack_module_state

MODELS, WIDTH, POINTS, STEPS, RATE = 8, 32, 128, 200, 1.0


def moons(n):
    """Returns points on two half circles that lie in each other, with noise, and the number of the circle of each."""
    labels = lamella.arange(n) % 2
    angle = lamella.pi * lamella.rand(n)
    x = lamella.where(labels == 0, angle.cos(), 1 - angle.cos())
    y = lamella.where(labels == 0, angle.sin(), 0.5 - angle.sin())
    return lamella.stack([x, y], 1) + 0.2 * lamella.randn(n, 2), labels


def main():
    lamella.manual_seed(0)
    points, labels = moons(POINTS)
    held_out, truth = moons(POINTS)
    models = [nn.Sequential(nn.Linear(2, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 2)) for _ in range(MODELS)]
    stacked, _ = stack_module_state(models)
    params = {name: p.detach() for name, p in stacked.items()}

    def call(params, x):
        return functional_call(models[0], params, (x,))

    def loss(params, x, y):
        return F.cross_entropy(call(params, x), y)

    together = lamella.vmap(call, in_dims=(0, None))
    alone = lamella.stack([model(points).detach() for model in models])
    difference = (together(params, points) - alone).abs().max().item()
    print(f"{MODELS} models in one call: the largest difference to calls of each is {difference:.1e}")

    step = lamella.vmap(grad_and_value(loss), in_dims=(0, None, None))
    losses = []
    for _ in range(STEPS):
        gradients, values = step(params, points, labels)
        params = {name: p - RATE * gradients[name] for name, p in params.items()}
        losses.append(values)
    first, last = losses[0], losses[-1]
    print(f"losses of the models: {first.min().item():.3f} to {first.max().item():.3f} at first, ", end="")
    print(f"{last.min().item():.3f} to {last.max().item():.3f} after {STEPS} steps")

    each = together(params, held_out).softmax(-1)  # by model, point and class
    right = (each.argmax(-1) == truth).float().mean(1)
    share = (each.mean(0).argmax(-1) == truth).float().mean().item()
    print(f"held-out points read: {right.min().item():.1%} to {right.max().item():.1%}; by the ensemble {share:.1%}")
    far = together(params, held_out + 3 * lamella.randn(POINTS, 2)).softmax(-1)
    near, away = (found[..., 0].std(0).mean().item() for found in (each, far))
    print(f"deviation of the models' probabilities: {near:.3f} at these points, {away:.3f} away from them")
    return 0 if difference < 1e-5 and bool((last < first).all()) and share > 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
