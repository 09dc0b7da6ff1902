"""Hooks that average gradients in their own dtype, or in a narrower one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lamella
from lamella import Tensor

from ... import collectives
from ...futures import Future
from ...reducer import GradBucket

__all__ = [
    "allreduce_hook",
    "bf16_compress_hook",
    "bf16_compress_wrapper",
    "fp16_compress_hook",
    "fp16_compress_wrapper",
]

Hook = Callable[[Any, GradBucket], Future[Tensor]]


def _average(tensor: Tensor, group: Any) -> Future[Any]:
    work = collectives.all_reduce(tensor, collectives.ReduceOp.AVG, group=group, async_op=True)
    assert work is not None
    return work.get_future()


def allreduce_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """Averages the gradients as they are. The hook's state is the group; None: that of all processes."""
    return _average(bucket.buffer(), process_group).then(lambda f: f.value()[0])


def _compressed(process_group: Any, bucket: GradBucket, dtype: Any) -> Future[Tensor]:
    buffer = bucket.buffer()
    return _average(buffer.to(dtype), process_group).then(lambda f: buffer.copy_(f.value()[0]))


def fp16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """Averages the gradients in float16: half the bytes of float32 move."""
    return _compressed(process_group, bucket, lamella.float16)


def bf16_compress_hook(process_group: Any, bucket: GradBucket) -> Future[Tensor]:
    """Averages the gradients in bfloat16: half the bytes of float32 move."""
    return _compressed(process_group, bucket, lamella.bfloat16)


def _wrapper(hook: Hook, dtype: Any) -> Hook:
    def compressed(state: Any, bucket: GradBucket) -> Future[Tensor]:
        buffer = bucket.buffer()
        narrow = buffer.to(dtype)
        begin = buffer.storage_offset()
        views = [narrow.as_strided(g.shape, g.stride(), g.storage_offset() - begin) for g in bucket.gradients()]
        inner = GradBucket(bucket.index(), bucket.is_last(), narrow, bucket.parameters(), views)
        return hook(state, inner).then(lambda f: buffer.copy_(f.value()))

    return compressed


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """Returns a hook that gives another one its gradients in float16."""
    return _wrapper(hook, lamella.float16)


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """Returns a hook that gives another one its gradients in bfloat16."""
    return _wrapper(hook, lamella.bfloat16)
