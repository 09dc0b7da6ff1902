"""PowerSGD: gradients that are matrices move as products of two narrow ones.

Vogels, Karimireddy, Jaggi: PowerSGD, Practical Low-Rank Gradient Compression for Distributed Optimization, NeurIPS
2019, algorithms 1 and 2.
"""

from __future__ import annotations

from typing import Any

import lamella
from lamella import Tensor

from ... import collectives
from ...futures import Future
from ...reducer import GradBucket

__all__ = ["PowerSGDState", "powerSGD_hook"]


class PowerSGDState:
    """What PowerSGD keeps between backwards: the narrow matrices it begins with, and what was lost by compression.

    Args:
        process_group: the group; None: that of all processes
        matrix_approximation_rank: the number of columns of the narrow matrices
        start_powerSGD_iter: the number of backwards before it whose gradients move whole
        min_compression_rate: a gradient moves whole unless it becomes this many times smaller
        use_error_feedback: whether what was lost is added to the next gradient
        warm_start: whether a backward begins with the last one's narrow matrices
        orthogonalization_epsilon: added to the norms of columns, so that none is divided by zero
        random_seed: of the first narrow matrices, which are equal on all ranks

    >>> from lamella.distributed.algorithms.ddp_comm_hooks import powerSGD_hook
    >>> powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=2).matrix_approximation_rank
    2
    """

    def __init__(
        self,
        process_group: Any,
        matrix_approximation_rank: int = 1,
        start_powerSGD_iter: int = 1000,
        min_compression_rate: float = 2,
        use_error_feedback: bool = True,
        warm_start: bool = True,
        orthogonalization_epsilon: float = 0,
        random_seed: int = 0,
        compression_stats_logging_frequency: int = 10000,
        batch_tensors_with_same_shape: bool = False,
    ):
        if matrix_approximation_rank < 1:
            raise ValueError(
                f"PowerSGDState: argument 'matrix_approximation_rank' must be positive, got {matrix_approximation_rank}"
            )
        if start_powerSGD_iter < 2 and (use_error_feedback or warm_start):
            raise ValueError(
                "PowerSGDState: argument 'start_powerSGD_iter' must be at least 2 with error feedback or a warm start, "
                "since buckets change after the first backward"
            )
        self.process_group = process_group
        self.matrix_approximation_rank, self.start_powerSGD_iter = matrix_approximation_rank, start_powerSGD_iter
        self.min_compression_rate = min_compression_rate
        self.use_error_feedback, self.warm_start = use_error_feedback, warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.iter = 0
        self.generator = lamella.Generator().manual_seed(random_seed)
        self.errors: dict[int, Tensor] = {}  # by parameter, as `qs`
        self.qs: dict[int, Tensor] = {}


def _columns(matrix: Tensor, epsilon: float) -> Tensor:
    """Returns orthonormal columns that span those of a matrix."""
    wide = matrix.float() if matrix.element_size() < 4 else matrix
    return lamella.linalg.qr(wide + epsilon if epsilon else wide)[0].to(matrix.dtype)


def powerSGD_hook(state: PowerSGDState, bucket: GradBucket) -> Future[Tensor]:
    """Averages gradients by PowerSGD: for each matrix M the narrow P = M Q and Q = Mᵀ P move in its place, and M
    becomes P Qᵀ. Other gradients, and those that would hardly become smaller, move whole.

    >>> import lamella.distributed as dist
    >>> from lamella.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import PowerSGDState, powerSGD_hook
    >>> dist.init_process_group("mpi", store=dist.HashStore(), rank=0, world_size=1)
    >>> net = lamella.nn.parallel.DistributedDataParallel(lamella.nn.Linear(8, 8))
    >>> net.register_comm_hook(PowerSGDState(None, start_powerSGD_iter=2), powerSGD_hook)
    >>> net(lamella.ones(3, 8)).sum().backward()
    >>> dist.destroy_process_group()
    """
    group = state.process_group
    whole_buckets = state.iter < state.start_powerSGD_iter
    if bucket.is_last():
        state.iter += 1
    buffer = bucket.buffer()
    if whole_buckets:
        work = collectives.all_reduce(buffer, collectives.ReduceOp.AVG, group=group, async_op=True)
        assert work is not None
        return work.get_future().then(lambda f: f.value()[0])
    rank = state.matrix_approximation_rank
    matrices, others = [], []
    for parameter, gradient in zip(bucket.parameters(), bucket.gradients(), strict=True):
        matrix = gradient.view(gradient.shape[0], -1) if gradient.dim() > 1 else None
        if matrix is None or matrix.numel() < state.min_compression_rate * rank * sum(matrix.shape):
            others.append(gradient)
        else:
            matrices.append((id(parameter), matrix))
    for gradient in others:
        collectives.all_reduce(gradient, collectives.ReduceOp.AVG, group=group)
    for key, matrix in matrices:
        if state.use_error_feedback and key in state.errors:
            matrix.add_(state.errors[key])
        whole = matrix.clone() if state.use_error_feedback else None
        q = state.qs.get(key) if state.warm_start else None
        if q is None:
            q = lamella.randn(matrix.shape[1], rank, generator=state.generator).to(matrix.device, matrix.dtype)
        p = matrix @ _columns(q, state.orthogonalization_epsilon)
        collectives.all_reduce(p, collectives.ReduceOp.SUM, group=group)
        p = _columns(p, state.orthogonalization_epsilon)
        q = matrix.t() @ p
        collectives.all_reduce(q, collectives.ReduceOp.AVG, group=group)
        lamella.mm(p, q.t(), out=matrix)
        if state.warm_start:
            state.qs[key] = q
        if whole is not None:
            state.errors[key] = whole.sub_(matrix)
    done: Future[Tensor] = Future()
    done.set_result(buffer)
    return done
