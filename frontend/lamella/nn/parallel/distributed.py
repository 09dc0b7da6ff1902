"""DistributedDataParallel: a module whose copies in several processes have one gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import lamella
from lamella import Tensor
from lamella.nn.modules.module import Module

__all__ = ["DistributedDataParallel"]

MIB = 1 << 20
FIRST_BUCKET_BYTES = 1 * MIB  # small, so that the first reduction begins soon
BUCKET_MIB = 25


def _moved(value: Any, device: Any) -> Any:
    """Returns nested tensors on a device."""
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, (list, tuple)):
        parts = [_moved(v, device) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {k: _moved(v, device) for k, v in value.items()}
    return value


class DistributedDataParallel(Module):
    """A wrapper of a module, whose parameters are named ``module.NAME``. Each process of a group makes one, and calls
    it with its own part of a batch; ``backward`` averages the gradients over the processes while it runs.

    Parameters and buffers begin as those of rank 0. Gradients lie in buckets that are reduced as wholes: ``p.grad`` is
    a view of a bucket, which the next backward writes, so a gradient that is kept has to be cloned. A parameter that no
    process has used keeps its gradient, or none; nothing has to be said about such parameters.

    Args:
        module: the module, at least one of whose parameters requires grad
        device_ids: None, or a list of one device, that of the module, to which inputs are moved then
        output_device, dim, check_reduction: accepted, as torch has them
        broadcast_buffers: whether buffers become those of rank 0 at each forward
        init_sync: whether parameters and buffers become those of rank 0 now
        process_group: the group; None: that of all processes
        bucket_cap_mb: the size at which a bucket is full, in MiB; 25 by default, and 1 for the first
        find_unused_parameters, gradient_as_bucket_view, static_graph, skip_all_reduce_unused_params: accepted; nothing
            depends on them here
        delay_all_reduce_named_params, param_to_hook_all_reduce, mixed_precision, device_mesh: must be None

    Raises:
        RuntimeError: no parameter requires grad, or the processes' modules differ
        ValueError: there is no group, or several devices are given

    >>> import lamella.distributed as dist
    >>> dist.init_process_group("mpi", store=dist.HashStore(), rank=0, world_size=1)
    >>> net = lamella.nn.parallel.DistributedDataParallel(lamella.nn.Linear(2, 1))
    >>> net(lamella.ones(3, 2)).sum().backward()
    >>> net.module.bias.grad
    tensor([3.])
    >>> list(net.state_dict())
    ['module.weight', 'module.bias']
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
    ) -> None:
        super().__init__()
        for name, given in (
            ("delay_all_reduce_named_params", delay_all_reduce_named_params),
            ("param_to_hook_all_reduce", param_to_hook_all_reduce),
            ("mixed_precision", mixed_precision),
            ("device_mesh", device_mesh),
        ):
            if given is not None:
                raise NotImplementedError(f"DistributedDataParallel: argument '{name}' must be None here")
        if not isinstance(module, Module):
            raise TypeError(
                f"DistributedDataParallel: argument 'module': expected a Module, got {type(module).__name__}"
            )
        if device_ids is not None and len(device_ids) > 1:
            raise ValueError(
                f"DistributedDataParallel: argument 'device_ids': expected None or one device, got {list(device_ids)}"
            )
        dist = lamella.distributed
        dist.get_rank(process_group)  # raises if there is no group
        group: Any = dist.group.WORLD if process_group is None else process_group
        self.process_group = group
        self._ignored = frozenset(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        named = [(n, p) for n, p in module.named_parameters() if n not in self._ignored]
        trained = [(n, p) for n, p in named if p.requires_grad]
        if not trained:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a "
                "gradient."
            )
        self.module = module
        self.device_ids = list(device_ids) if device_ids else None
        self.output_device, self.dim = output_device, dim
        self.device = trained[0][1].device
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters, self.static_graph = find_unused_parameters, static_graph
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        self.bucket_bytes_cap = int((BUCKET_MIB if bucket_cap_mb is None else bucket_cap_mb) * MIB)
        self._join: _Join | None = None
        self._compare_modules(named)
        if init_sync:
            self._take_from([p.detach() for _, p in named] + self._shared_buffers(), 0)
        self._first_bytes = min(self.bucket_bytes_cap, self.bucket_bytes_cap if bucket_cap_mb else FIRST_BUCKET_BYTES)
        self._make_reducer([p for _, p in trained])

    def _make_reducer(self, trained: list[Tensor]) -> None:
        self.reducer = lamella.distributed.Reducer(
            trained, self.process_group, self._first_bytes, self.bucket_bytes_cap
        )

    def _compare_modules(self, named: Sequence[tuple[str, Tensor]]) -> None:
        """Raises unless all ranks have parameters of equal names, shapes and dtypes."""
        own = [(n, tuple(p.shape), tuple(p.stride()), str(p.dtype), p.requires_grad) for n, p in named]
        every: list[Any] = [None] * self.process_group.size()
        lamella.distributed.all_gather_object(every, own, group=self.process_group)
        for rank, other in enumerate(every):
            if len(other) != len(every[0]):
                raise RuntimeError(
                    f"DistributedDataParallel: the modules differ: rank 0 has {len(every[0])} parameters, and rank "
                    f"{rank} has {len(other)}"
                )
            for here, there in zip(every[0], other, strict=True):
                if here != there:
                    raise RuntimeError(
                        f"DistributedDataParallel: the modules differ: parameter, shape, strides, dtype and "
                        f"requires_grad are {here} on rank 0, and {there} on rank {rank}"
                    )

    def _take_from(self, tensors: Sequence[Tensor], rank: int) -> None:
        """Gives tensors the elements that those of a rank have. Tensors of one dtype and device move together."""
        dist, kinds = lamella.distributed, dict[Any, list[Tensor]]()
        for t in tensors:
            kinds.setdefault((t.dtype, t.device), []).append(t)
        with lamella.no_grad():
            for alike in kinds.values():
                flat = lamella.cat([t.reshape(-1) for t in alike])
                dist.broadcast(flat, group=self.process_group, group_src=rank)
                for t, part in zip(alike, flat.split([t.numel() for t in alike]), strict=True):
                    t.copy_(part.view(t.shape))

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Calls the module; see the class."""
        averages = lamella.is_grad_enabled() and self.require_backward_grad_sync
        if self._join is not None:
            self._join.announce(averages)
        if lamella.is_grad_enabled():
            self.reducer.native.sync(self.require_backward_grad_sync)
        if self.will_sync_module_buffers():
            self._take_from(self._shared_buffers(), self._join.source if self._join else 0)
        self.require_forward_param_sync = averages  # so that an evaluation takes them once
        if self.device_ids:
            inputs, kwargs = _moved(inputs, self.device), _moved(kwargs, self.device)
        return self.module(*inputs, **kwargs)

    def will_sync_module_buffers(self) -> bool:
        """Returns whether the next forward takes the buffers of rank 0: the first one does, and each one after a
        forward whose backward averages gradients."""
        return self.require_forward_param_sync and self.broadcast_buffers and bool(self._shared_buffers())

    def _shared_buffers(self) -> list[Tensor]:
        return [b for n, b in self.module.named_buffers() if n not in self._ignored]

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """A block whose forwards have backwards that add up gradients of this process alone. The first backward after
        it averages their sum.

        >>> import lamella.distributed as dist
        >>> dist.init_process_group("mpi", store=dist.HashStore(), rank=0, world_size=1)
        >>> net = lamella.nn.parallel.DistributedDataParallel(lamella.nn.Linear(2, 1))
        >>> with net.no_sync():
        ...     net(lamella.ones(3, 2)).sum().backward()
        >>> net(lamella.ones(3, 2)).sum().backward()
        >>> net.module.bias.grad
        tensor([6.])
        >>> dist.destroy_process_group()
        """
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def register_comm_hook(self, state: Any, hook: Callable[[Any, Any], Any]) -> None:
        """Reduces each bucket by ``hook(state, bucket)`` in the place of a mean over the ranks.

        Args:
            state: the hook's first argument
            hook: gets a ``lamella.distributed.GradBucket``, and returns a ``lamella.futures.Future`` of a tensor with
                the bucket's gradients; ``lamella.distributed.algorithms.ddp_comm_hooks`` has some. Collectives that
                ``then`` starts need a group of their own, since they begin at different times on the ranks

        Raises:
            RuntimeError: there is a hook already
        """
        self.reducer.set_hook(state, hook)

    def join(
        self, divide_by_initial_world_size: bool = True, enable: bool = True, throw_on_early_termination: bool = False
    ) -> Any:
        """A block for ranks with different numbers of batches: a rank that leaves it takes part in the others'
        reductions with zeros until all have come to its end, and has the parameters of one that came last then.

        Args:
            divide_by_initial_world_size: whether gradients are divided by the number of all ranks, and not by that of
                the ranks that still have batches
            enable: False: the block does nothing
            throw_on_early_termination: whether all ranks raise when the first one leaves
        """
        return _Join(self, divide_by_initial_world_size, enable, throw_on_early_termination)

    def _set_static_graph(self) -> None:
        self.static_graph = True

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(module: Module, names: Sequence[str]) -> None:
        module._ddp_params_and_buffers_to_ignore = list(names)  # type: ignore[assignment]

    def __getstate__(self) -> Any:
        state = self.__dict__.copy()
        for name in ("process_group", "reducer", "_join"):
            state.pop(name, None)
        return state

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        dist = lamella.distributed
        dist.get_rank()
        self.process_group, self._join = dist.group.WORLD, None
        named = self.module.named_parameters()
        self._make_reducer([p for n, p in named if p.requires_grad and n not in self._ignored])


class _Join:
    """The block of DistributedDataParallel.join. At each forward a rank announces that it has a batch; one that has
    left counts none, and does what the others do until none announces any."""

    def __init__(self, ddp: DistributedDataParallel, divide_by_all: bool, enable: bool, throws: bool):
        self.ddp, self.divide_by_all, self.enable, self.throws = ddp, divide_by_all, enable, throws
        self.source = 0

    def __enter__(self) -> _Join:
        if self.enable:
            self.ddp._join = self
        return self

    def _announce(self, has_batch: bool) -> bool:
        """Says whether this rank has a batch; returns whether any has. ``source`` becomes the first that has one."""
        ddp, dist = self.ddp, lamella.distributed
        own = lamella.tensor([int(has_batch)])
        every = lamella.zeros(ddp.process_group.size(), dtype=lamella.int64)
        dist.all_gather_into_tensor(every, own, group=ddp.process_group)
        size, active = every.numel(), int(every.sum())
        if self.throws and 0 < active < size:
            raise RuntimeError("DistributedDataParallel.join: a rank has no more batches")
        if active:
            self.source = int(every.argmax())
            ddp.reducer.native.factor(1.0 if self.divide_by_all else size / active)
        return active > 0

    def _any(self, *here: bool) -> list[bool]:
        """Returns for each flag whether it is set on any rank."""
        flags = lamella.tensor([int(flag) for flag in here])
        lamella.distributed.all_reduce(flags, lamella.distributed.ReduceOp.MAX, group=self.ddp.process_group)
        return [flag > 0 for flag in flags.tolist()]

    def announce(self, averages: bool) -> None:
        """Says that this rank has a batch, and what its forward and backward will do."""
        self._announce(True)
        self._any(averages, self.ddp.will_sync_module_buffers())

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        ddp = self.ddp
        if not self.enable:
            return
        ddp._join = None
        if kind is None:
            while self._announce(False):
                averages, broadcasts = self._any(False, False)
                if broadcasts:
                    ddp._take_from(ddp._shared_buffers(), self.source)
                if averages:
                    ddp.reducer.native.shadow()
            parameters = [p.detach() for n, p in ddp.module.named_parameters() if n not in ddp._ignored]
            ddp._take_from([*parameters, *ddp._shared_buffers()], self.source)
        ddp.reducer.native.factor(1.0)
