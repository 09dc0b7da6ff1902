"""The sampler of one process among several that share a dataset."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import lamella
from lamella.utils.data.sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[Any]):
    """Yields every ``num_replicas``-th index of a common order, from ``rank`` on; all processes get equally many.

    Call ``set_epoch`` before each epoch, else every epoch has the same order.

    Args:
        dataset: the table, whose length when the sampler is made determines the number of indices
        num_replicas: the number of processes; required unless ``init_process_group`` has made a group, which gives it
        rank: the number of this process, from 0 on; likewise
        shuffle: draw the order from ``seed`` plus the epoch; otherwise it is 0, 1, …
        seed: the same in all processes
        drop_last: leave out the remainder; otherwise some of the first indices are repeated

    Raises:
        RuntimeError: ``num_replicas`` or ``rank`` is missing, and ``lamella.distributed`` is not available
        ValueError: ``rank`` is not from 0 to ``num_replicas - 1``, or one of the two is missing and there is no group

    >>> from lamella.utils.data import DistributedSampler
    >>> [list(DistributedSampler("abcde", 2, rank, shuffle=False)) for rank in range(2)]
    [[0, 2, 4], [1, 3, 0]]
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if (num_replicas is None or rank is None) and not lamella.distributed.is_available():
            raise RuntimeError(
                "DistributedSampler: Requires distributed package to be available; otherwise give num_replicas and rank"
            )
        self.num_replicas = lamella.distributed.get_world_size() if num_replicas is None else num_replicas
        self.rank = lamella.distributed.get_rank() if rank is None else rank
        if self.rank >= self.num_replicas or self.rank < 0:
            last = self.num_replicas - 1
            raise ValueError(
                f"DistributedSampler: Invalid rank {self.rank}, rank should be in the interval [0, {last}]"
            )
        self.dataset = dataset
        self.epoch = 0
        self.drop_last = drop_last
        if drop_last:
            self.num_samples = len(dataset) // self.num_replicas
        else:
            self.num_samples = math.ceil(len(dataset) / self.num_replicas)
        self.total_size = self.num_samples * self.num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[int]:
        size = len(self.dataset)
        if self.shuffle:
            generator = lamella.Generator()
            generator.manual_seed(self.seed + self.epoch)
            order = lamella.randperm(size, generator=generator).tolist()
        else:
            order = list(range(size))
        order = list(itertools.islice(itertools.cycle(order), self.total_size))
        if len(order) != self.total_size or self.total_size < size - self.num_replicas:
            raise AssertionError(
                f"Number of indices ({size}) does not match total_size ({self.total_size}): the dataset has changed "
                "its length since the sampler was made"
            )
        return iter(order[self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Sets the order of the next pass, which depends on ``seed`` plus ``epoch``."""
        self.epoch = epoch
