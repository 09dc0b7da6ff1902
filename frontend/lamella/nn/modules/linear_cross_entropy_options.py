"""The options of linear_cross_entropy."""

from __future__ import annotations

import dataclasses
from typing import Any

__all__ = ["LinearCrossEntropyOptions"]


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """Options by which torch splits the batch of linear_cross_entropy to save memory.

    Lamella accepts them and computes all rows at once. The loss does not depend on them.

    Args:
        batch_chunk_size: the number of rows in a chunk
        chunking_method: "auto", "aspect_ratio" or "aspect_ratio:N"
        acc_policy: "auto", "accurate", "balanced" or "compact"

    >>> lamella.nn.LinearCrossEntropyOptions(batch_chunk_size=64).chunking_method
    'auto'
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self):
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"LinearCrossEntropyOptions: invalid acc_policy: {self.acc_policy!r}")
        name, colon, factor = (self.chunking_method or "auto").partition(":")
        counted = not colon or (factor.isdigit() and int(factor) > 0)
        if self.chunking_method not in (None, "auto") and not (name == "aspect_ratio" and counted):
            raise ValueError(f"LinearCrossEntropyOptions: invalid chunking_method: {self.chunking_method!r}")
        size = self.batch_chunk_size
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"LinearCrossEntropyOptions: batch_chunk_size must be positive int or None, got {size!r}")
        if self.acc_dtype is not None and not self.acc_dtype.is_floating_point:
            raise ValueError(f"LinearCrossEntropyOptions: acc_dtype must be floating or None, got {self.acc_dtype!r}")
