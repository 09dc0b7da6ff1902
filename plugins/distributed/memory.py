"""Memory that the processes of a machine share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lamella
from lamella import Tensor

from . import library
from .groups import joined


def symmetric_empty(*size: int | Sequence[int], dtype: Any = None, group: Any = None) -> Tensor | None:
    """Makes a tensor in memory that every rank of the group has mapped, if all run on one machine: ``all_reduce`` of
    it, or of a part of it, moves its data once. All ranks call this with equal arguments. The memory is freed with the
    tensor, and outlives the group. A rank's write is not seen in the other ranks' tensors.

    Args:
        size: the tensor's sizes, or one sequence of them
        dtype: the default dtype for None
        group: the group of all processes for None

    Returns:
        the tensor, whose elements are 0; None if this process is not in the group

    Raises:
        ValueError: the ranks have given different sizes
        DistBackendError: some rank has not so much memory

    >>> import lamella.distributed as dist
    >>> dist.init_process_group("mpi", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.symmetric_empty(2, 3).shape
    lamella.Size([2, 3])
    >>> dist.destroy_process_group()
    """
    g = joined(group, "symmetric_empty")
    if g is None:
        return None
    flat: Any = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    sizes = lamella.Size(flat)
    dtype = lamella.get_default_dtype() if dtype is None else dtype
    memory: Tensor = library.face().window(g.group_name, sizes.numel() * dtype.itemsize)
    return memory.view(dtype).view(sizes)
