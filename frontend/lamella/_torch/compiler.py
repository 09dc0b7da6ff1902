"""torch.compiler as far as programs ask it something; there is no compiler, and ``compile`` says so."""

from __future__ import annotations

from typing import Any

from lamella._torch.refusals import refuse

__all__ = [
    "allow_in_graph",
    "compile",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
]

WHY = "Lamella has no compiler; call the function or the module as it is"

refuse("lamella.compiler", "compile load_cache_artifacts save_cache_artifacts substitute_in_graph", WHY)


def is_compiling() -> bool:
    """False: a program is never compiled.

    >>> lamella.compiler.is_compiling()
    False
    """
    return False


is_dynamo_compiling = is_exporting = is_compiling


def disable(fn: Any = None, recursive: bool = True, *, reason: Any = None) -> Any:
    """The function as it is, for ``@disable`` and ``@disable()``.

    >>> lamella.compiler.disable(len) is lamella.compiler.disable()(len) is len
    True
    """
    return _same if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    """The function as it is.

    >>> lamella.compiler.allow_in_graph(len) is len
    True
    """
    return fn


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """The names of compilers: none.

    >>> lamella.compiler.list_backends()
    []
    """
    return []


def reset() -> None:
    """Nothing: nothing is kept of a compiler.

    >>> lamella.compiler.reset()
    """


def cudagraph_mark_step_begin() -> None:
    """Nothing: no graph is recorded.

    >>> lamella.compiler.cudagraph_mark_step_begin()
    """


def _same(fn: Any) -> Any:
    return fn
