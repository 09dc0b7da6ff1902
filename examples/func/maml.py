"""Learning to learn: initial weights from which a few gradient steps on ten points fit a sine that is new.

The loss of a task is that after its own gradient steps (Finn et al., Model-Agnostic Meta-Learning, 2017), so the
gradient of the initial weights passes through gradients: grad of a function that calls grad. vmap runs all tasks of a
step at once.
"""

import sys

import lamella
import lamella.nn.functional as F
from lamella import nn, optim
from lamella.func import functional_call, grad, grad_and_value

TASKS, POINTS, STEPS, INNER_STEPS, INNER_RATE, RATE = 16, 10, 160, 2, 0.03, 8e-3
net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))


def sines(n):
    """Returns tasks: points of sines of random amplitude and phase to adapt to, and others of the same sines."""
    amplitude, phase = 0.5 + 2 * lamella.rand(n, 1, 1), lamella.pi * lamella.rand(n, 1, 1)
    x = 10 * lamella.rand(n, 2 * POINTS, 1) - 5
    y = amplitude * (x + phase).sin()
    return x[:, :POINTS], y[:, :POINTS], x[:, POINTS:], y[:, POINTS:]


def loss(params, x, y):
    return F.mse_loss(functional_call(net, params, (x,)), y)


def adapted(params, x, y):
    """Returns parameters after some gradient steps on the points of one task."""
    for _ in range(INNER_STEPS):
        gradients = grad(loss)(params, x, y)
        params = {name: p - INNER_RATE * gradients[name] for name, p in params.items()}
    return params


def loss_after(params, x, y, other_x, other_y):
    return loss(adapted(params, x, y), other_x, other_y)


def over_tasks(function):
    """Returns a function of parameters and tasks: the mean of a function of parameters and one task."""
    return lambda params, *tasks: lamella.vmap(function, in_dims=(None, 0, 0, 0, 0))(params, *tasks).mean()


def losses(params, tasks):
    """Returns the mean losses of tasks before and after the steps on their points."""
    before = over_tasks(lambda params, x, y, other_x, other_y: loss(params, other_x, other_y))
    return before(params, *tasks).item(), over_tasks(loss_after)(params, *tasks).item()


def main():
    lamella.manual_seed(0)
    params = {name: p.detach().clone() for name, p in net.named_parameters()}
    held_out = sines(64)
    untrained = losses(params, held_out)
    optimizer = optim.Adam(params.values(), lr=RATE)
    step = grad_and_value(over_tasks(loss_after))
    for i in range(STEPS):
        gradients, value = step(params, *sines(TASKS))
        for name, p in params.items():
            p.grad = gradients[name]
        optimizer.step()
        if i % 40 == 0:
            print(f"step {i}: {value.item():.3f} after adaptation")
    before, after = losses(params, held_out)
    print(f"new sines, untrained weights: {untrained[0]:.3f} before adaptation, {untrained[1]:.3f} after")
    print(f"new sines, learned weights: {before:.3f} before adaptation, {after:.3f} after")
    return 0 if after < before and after < untrained[1] else 1


if __name__ == "__main__":
    sys.exit(main())
