"""Trains the convolutional net of train_digits.py in several processes, each of which sees its part of every batch.

    lamella launch --nproc 2 --max-restarts 1 examples/train_digits_ranks.py --kill-at 100

Rank 0 writes checkpoints. With --kill-at STEP the last rank kills itself by SIGKILL there; the launcher starts the job
anew, and it goes on from the checkpoint. At the end the parameters of all ranks must be equal, bit for bit, and 98 % of
the held-out digits must be read correctly; otherwise the program exits with 1.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path

import lamella as torch
import lamella.distributed as dist
import lamella.nn.functional as F
from lamella import optim
from lamella.nn.parallel import DistributedDataParallel
from lamella.utils.data import DataLoader
from lamella.utils.data.distributed import DistributedSampler
from train_digits import BATCH, MOMENTUM, RATE, THRESHOLD, Net, split_digits

ATTEMPT = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))


class Training:
    """The part of a training that one rank has."""

    def __init__(self, options):
        torch.manual_seed(0)
        self.options, self.rank, self.size = options, dist.get_rank(), dist.get_world_size()
        digits, self.held_out = split_digits()
        self.sampler = DistributedSampler(digits, shuffle=True, drop_last=True)
        self.loader = DataLoader(digits, BATCH // self.size, sampler=self.sampler, drop_last=True)
        self.model = DistributedDataParallel(Net())
        self.optimizer = optim.SGD(self.model.parameters(), lr=RATE, momentum=MOMENTUM, weight_decay=1e-4)
        self.scheduler = optim.lr_scheduler.CosineAnnealingLR(self.optimizer, options.epochs * len(self.loader))
        self.epoch = self.steps = 0

    def save(self):
        parts = {name: getattr(self, name).state_dict() for name in ("model", "optimizer", "scheduler")}
        torch.save({**parts, "epoch": self.epoch, "steps": self.steps}, self.options.checkpoint)

    def load(self):
        state = torch.load(self.options.checkpoint)
        for name in ("model", "optimizer", "scheduler"):
            getattr(self, name).load_state_dict(state[name])
        self.epoch, self.steps = state["epoch"], state["steps"]
        if self.rank == 0:
            print(f"resumed after step {self.steps}", flush=True)

    def run(self):
        while self.epoch < self.options.epochs:
            self.sampler.set_epoch(self.epoch)
            for x, y in self.loader:
                if ATTEMPT == 0 and self.steps == self.options.kill_at and self.rank == self.size - 1:
                    os.kill(os.getpid(), signal.SIGKILL)
                self.optimizer.zero_grad()
                F.cross_entropy(self.model(x), y).backward()
                self.optimizer.step()
                self.scheduler.step()
                self.steps += 1
            self.epoch += 1
            if self.rank == 0:
                self.save()

    def differing(self):
        """Returns the names of the parameters that are not equal on all ranks."""
        names = []
        for name, p in self.model.named_parameters():
            every = [torch.empty_like(p) for _ in range(self.size)]
            dist.all_gather(every, p.detach())
            if not all(torch.equal(every[0], other) for other in every):
                names.append(name)
        return names

    @torch.no_grad()
    def accuracy(self):
        net = self.model.module
        right = sum((net(x).argmax(1) == y).sum().item() for x, y in DataLoader(self.held_out, 256))
        return right / len(self.held_out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20, help="how often each image is seen")
    parser.add_argument("--checkpoint", type=Path, help="where rank 0 writes; without it a file that is removed")
    parser.add_argument("--kill-at", type=int, metavar="STEP", help="kill the last rank there")
    options = parser.parse_args()
    own = options.checkpoint is None
    if own:
        job = os.environ.get("TORCHELASTIC_RUN_ID", str(os.getpid()))
        options.checkpoint = Path(tempfile.gettempdir(), f"train_digits_ranks_{job}.pt")
    dist.init_process_group("mpi")
    training = Training(options)
    if ATTEMPT > 0 and options.checkpoint.exists():
        training.load()
    training.run()
    differing, reached = training.differing(), training.accuracy()
    if training.rank == 0:
        print(f"{training.steps} steps of {training.size} ranks; held out: {reached:.1%} of these digits are read")
        if own:
            options.checkpoint.unlink()
    dist.destroy_process_group()
    if differing:
        print(f"FAILED: parameters differ between ranks: {differing}")
    elif reached < THRESHOLD:
        print(f"FAILED: at least {THRESHOLD:.0%} of the held-out digits were to be read")
    return int(bool(differing) or reached < THRESHOLD)


if __name__ == "__main__":
    sys.exit(main())
