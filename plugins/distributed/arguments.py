"""Arguments of collectives and messages: what is checked, and what becomes of them before and after a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lamella
from lamella import Tensor

from .groups import ProcessGroup


def check_tensor(t: Any, function: str, argument: str) -> Tensor:
    if not isinstance(t, Tensor):
        raise TypeError(f"{function}: argument '{argument}' must be a Tensor, got {type(t).__name__}")
    return t


def check_tensors(ts: Any, function: str, argument: str, n: int | None = None) -> list[Tensor]:
    """Returns a list of tensors, of which there have to be ``n``."""
    if not isinstance(ts, (list, tuple)):
        raise TypeError(f"{function}: argument '{argument}' must be a list of tensors, got {type(ts).__name__}")
    if n is not None and len(ts) != n:
        raise ValueError(f"{function}: argument '{argument}': expected {n} tensors, one for each rank, got {len(ts)}")
    return [check_tensor(t, function, argument) for t in ts]


def check_alike(ts: Sequence[Tensor], like: Tensor, function: str, argument: str) -> None:
    for i, t in enumerate(ts):
        if t.shape != like.shape or t.dtype != like.dtype:
            raise ValueError(
                f"{function}: argument '{argument}[{i}]': expected shape {tuple(like.shape)} and {like.dtype}, got "
                f"{tuple(t.shape)} and {t.dtype}"
            )


def hand_to(outs: Sequence[Tensor], parts: Sequence[Tensor]) -> None:
    for out, part in zip(outs, parts, strict=True):
        out.copy_(part.view(out.shape))


def peer(g: ProcessGroup, rank: int | None, group_rank: int | None, function: str, argument: str) -> int:
    """Returns a rank within the group, which a caller gives as a global one or as one within the group."""
    if (rank is None) == (group_rank is None):
        raise ValueError(f"{function}: give one of '{argument}' and 'group_{argument}'")
    if group_rank is not None:
        return group_rank
    assert rank is not None
    return g.rank_of(rank, argument)


def fits(output: Tensor, sizes: Sequence[int], dtype: Any, function: str, argument: str) -> Tensor:
    """Returns a view of an output in the shape in which ranks follow one another in the first dimension."""
    expected = lamella.Size(sizes)
    if output.dtype != dtype or output.numel() != expected.numel() or not output.is_contiguous():
        raise ValueError(
            f"{function}: argument '{argument}': expected a contiguous tensor of {expected.numel()} elements of "
            f"{dtype}, got shape {tuple(output.shape)} of {output.dtype}"
        )
    return output.view(expected)


def apart(x: Tensor, out: Tensor, async_op: bool) -> Tensor:
    """Returns an input without history. One that shares memory with the output of a call that goes on is copied."""
    shares = async_op and x.untyped_storage().data_ptr() == out.untyped_storage().data_ptr()
    return x.detach().clone() if shares else x.detach()


def rows(t: Tensor, n: int) -> list[int]:
    """Returns the shape of n tensors that follow one another in the first dimension."""
    return [t.shape[0] * n, *t.shape[1:]] if t.dim() else [n]
