"""Counts of operators that vmap has run in a loop over samples, and the mode in which that is an error."""

from __future__ import annotations

from types import TracebackType

from lamella import ops

from .vectorize import strict

__all__ = ["fallback_counts", "reset_fallback_counts", "strict_mode"]


def fallback_counts() -> dict[str, int]:
    """Returns how many calls of each operator have run in a loop over the samples of vmap, in this process.

    An operator runs in a loop if neither its dimensions nor a rule say how it runs on a batch, and it is not composed
    of operators of which they do.

    >>> @lamella.library.custom_op("page::doubled", mutates_args=())
    ... def doubled(x: lamella.Tensor) -> lamella.Tensor:
    ...     return x * 2
    >>> lamella.func.reset_fallback_counts()
    >>> _ = lamella.vmap(doubled)(lamella.ones(3, 2))
    >>> lamella.func.fallback_counts()
    {'page::doubled': 1}
    >>> doubled.close()
    """
    return dict(zip(ops.vmap.loop_names(), ops.vmap.loop_numbers(), strict=True))


def reset_fallback_counts() -> None:
    """Sets the counts of ``fallback_counts`` to zero.

    >>> lamella.func.reset_fallback_counts()
    >>> lamella.func.fallback_counts()
    {}
    """
    ops.vmap.clear_loops()


class strict_mode:
    """In the block, a call of ``vmap`` on this thread raises where an operator would run in a loop over samples.

    >>> @lamella.library.custom_op("page::doubled", mutates_args=())
    ... def doubled(x: lamella.Tensor) -> lamella.Tensor:
    ...     return x * 2
    >>> with lamella.func.strict_mode():
    ...     lamella.vmap(doubled)(lamella.ones(3, 2))
    Traceback (most recent call last):
    ...
    RuntimeError: vmap: page::doubled has no rule for batches, and loops over samples are errors in strict mode; ...
    >>> doubled.close()
    """

    def __init__(self) -> None:
        self._before: list[bool] = []  # one value for each block that the object has entered

    def __enter__(self) -> strict_mode:
        self._before.append(strict.on)
        strict.on = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        strict.on = self._before.pop()
