"""Optimizers whose states are divided between the ranks of a group."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import lamella
from lamella import Tensor
from lamella.optim import Optimizer

from . import collectives, groups, objects

__all__ = ["ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer):
    """An optimizer of which each rank keeps the states of a part of the parameters. A step updates the own part, and
    gets the others' parameters from their ranks. Every rank has all gradients, as by DistributedDataParallel.

    Parameters are dealt out by size, the largest first, each to the rank that has the least so far.
    Rajbhandari et al.: ZeRO, Memory Optimizations Toward Training Trillion Parameter Models, 2020, the stage P_os.

    Args:
        params: parameters, or groups of them, equal on all ranks
        optimizer_class: the class of the optimizer
        process_group: the group; None: that of all processes
        parameters_as_bucket_view, overlap_with_ddp: accepted; ``overlap_with_ddp`` must be False
        defaults: arguments of the optimizer

    >>> import lamella.distributed as dist
    >>> from lamella.distributed.optim import ZeroRedundancyOptimizer
    >>> dist.init_process_group("mpi", store=dist.HashStore(), rank=0, world_size=1)
    >>> net = lamella.nn.Linear(2, 1)
    >>> optimizer = ZeroRedundancyOptimizer(net.parameters(), lamella.optim.Adam, lr=0.1)
    >>> net(lamella.ones(1, 2)).sum().backward()
    >>> optimizer.step()
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        params: Iterable[Any],
        optimizer_class: type[Optimizer],
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ):
        if overlap_with_ddp:
            raise NotImplementedError("ZeroRedundancyOptimizer: argument 'overlap_with_ddp' must be False here")
        self.process_group = groups.default_group() if process_group is None else process_group
        self._optimizer_class, self._defaults = optimizer_class, defaults
        self._states: list[dict[str, Any]] = []  # of all ranks, after consolidate_state_dict
        super().__init__(params, defaults)
        self._make_parts()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group of parameters, which are dealt out anew; states that are there go."""
        super().add_param_group(param_group)
        if hasattr(self, "optim"):
            self._make_parts()

    def _make_parts(self) -> None:
        size = self.process_group.size()
        loads = [0] * size
        self._owner: dict[int, int] = {}  # of each parameter, by its number
        numbered = [p for g in self.param_groups for p in g["params"]]
        for i in sorted(range(len(numbered)), key=lambda i: -numbered[i].numel()):
            rank = loads.index(min(loads))
            loads[rank] += numbered[i].numel()
            self._owner[i] = rank
        own, at = [], 0
        for group in self.param_groups:
            n = len(group["params"])
            mine = [p for i, p in enumerate(group["params"], at) if self._owner[i] == self.process_group.rank()]
            own.append({**{k: v for k, v in group.items() if k != "params"}, "params": mine})
            at += n
        self.optim = self._optimizer_class(own, **self._defaults)
        for group, given in zip(self.param_groups, self.optim.param_groups, strict=True):
            for name, value in given.items():
                group.setdefault(name, value)

    def step(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:  # type: ignore[override]
        """Updates the own part of the parameters, and gets the others'. Returns what ``closure`` returns."""
        loss = None
        if closure is not None:
            with lamella.enable_grad():
                loss = closure()
        for group, mine in zip(self.param_groups, self.optim.param_groups, strict=True):
            mine.update({k: v for k, v in group.items() if k != "params"})  # as a scheduler has set them
        if any(g["params"] for g in self.optim.param_groups):
            self.optim.step(**kwargs)
        self._exchange()
        return loss

    def _exchange(self) -> None:
        """Sends each rank's parameters to the others, those of one dtype and device at once."""
        kinds: dict[tuple[int, Any, Any], list[Tensor]] = {}
        at = 0
        for group in self.param_groups:
            for i, p in enumerate(group["params"], at):
                kinds.setdefault((self._owner[i], p.dtype, p.device), []).append(p)
            at += len(group["params"])
        with lamella.no_grad():
            for (rank, _, _), alike in sorted(kinds.items(), key=lambda item: tuple(map(str, item[0]))):
                flat = lamella.cat([p.detach().reshape(-1) for p in alike])
                collectives.broadcast(flat, group=self.process_group, group_src=rank)
                if rank != self.process_group.rank():
                    for p, part in zip(alike, flat.split([p.numel() for p in alike]), strict=True):
                        p.copy_(part.view(p.shape))

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Gathers the states of all ranks on rank ``to``, where ``state_dict`` can be called then. All ranks call
        this."""
        own = self.optim.state_dict()
        every: list[Any] | None = None
        if self.process_group.rank() == to:
            every = [None] * self.process_group.size()
        objects.gather_object(own, every, group=self.process_group, group_dst=to)
        self._states = every or []

    def state_dict(self) -> dict[str, Any]:
        """Returns the states of all ranks as one optimizer would.

        Raises:
            RuntimeError: ``consolidate_state_dict`` was not called, or for another rank
        """
        if not self._states:
            raise RuntimeError(
                f"ZeroRedundancyOptimizer.state_dict: rank {self.process_group.rank()} has the states of its own part; "
                f"call consolidate_state_dict(to={self.process_group.rank()}) on all ranks first"
            )
        state: dict[int, Any] = {}
        described = []
        at, begins = 0, [0] * len(self._states)  # of each rank's own numbers
        for g, group in enumerate(self.param_groups):
            numbers = list(range(at, at + len(group["params"])))
            at += len(numbers)
            for i in numbers:
                rank = self._owner[i]
                own = self._states[rank]["state"].get(begins[rank])
                begins[rank] += 1
                if own is not None:
                    state[i] = own
            settings = {k: v for k, v in self._states[0]["param_groups"][g].items() if k != "params"}
            described.append({**settings, **{k: group[k] for k in group if k != "params"}, "params": numbers})
        return {"state": state, "param_groups": described}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Loads the states of one optimizer; each rank keeps those of its own part."""
        own: dict[str, Any] = {"state": {}, "param_groups": []}
        mine = at = 0
        for group, given in zip(self.param_groups, state_dict["param_groups"], strict=True):
            if len(given["params"]) != len(group["params"]):
                raise ValueError(
                    f"ZeroRedundancyOptimizer.load_state_dict: a group has {len(given['params'])} parameters, expected "
                    f"{len(group['params'])}"
                )
            numbers = []
            for i, key in enumerate(given["params"], at):
                if self._owner[i] != self.process_group.rank():
                    continue
                if key in state_dict["state"]:
                    own["state"][mine] = state_dict["state"][key]
                numbers.append(mine)
                mine += 1
            at += len(group["params"])
            settings = {k: v for k, v in given.items() if k != "params"}
            own["param_groups"].append({**settings, "params": numbers})
            group.update(settings)
        self.optim.load_state_dict(own)
