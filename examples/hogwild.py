"""Hogwild: processes train one model in shared memory, without locks. Run: python hogwild.py [processes] [steps]"""

import sys

import lamella as torch
import lamella.multiprocessing as mp
from lamella import nn, optim
from lamella.nn import functional as F


def made_data(seed, count=512):
    """Makes points around three centres; returns them, and the number of each point's centre."""
    generator = torch.Generator().manual_seed(seed)
    target = torch.randint(0, 3, (count,), generator=generator)
    centres = torch.tensor([[2.0, 0.0], [-1.0, 2.0], [-1.0, -2.0]])
    return centres[target] + 0.7 * torch.randn(count, 2, generator=generator), target


def loss_of(model, seed=99):
    data, target = made_data(seed)
    with torch.no_grad():
        return F.cross_entropy(model(data), target).item()


def train(rank, model, steps, lr=0.05):
    """Trains the shared parameters in one process, by gradients of its own data."""
    torch.manual_seed(rank)
    data, target = made_data(rank)
    optimizer = optim.SGD(model.parameters(), lr=lr)
    for step in range(steps):
        rows = torch.arange(step * 32, step * 32 + 32) % len(data)
        optimizer.zero_grad()
        F.cross_entropy(model(data[rows]), target[rows]).backward()
        optimizer.step()  # other processes write the same parameters at the same time


def main(processes=2, steps=200, start_method="spawn"):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 3))
    model.share_memory()  # shares parameters, but not gradients
    before = loss_of(model)
    mp.start_processes(train, (model, steps), nprocs=processes, start_method=start_method)
    after = loss_of(model)
    print(f"loss {before:.3f} -> {after:.3f} with {processes} processes of {steps} steps")
    return before, after


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
