"""The functions of torch.compiler that programs query. Lamella has no compiler: ``compile`` raises an error."""

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
    """Returns False: a program is never compiled.

    >>> lamella.compiler.is_compiling()
    False
    """
    return False


is_dynamo_compiling = is_exporting = is_compiling


def disable(fn: Any = None, recursive: bool = True, *, reason: Any = None) -> Any:
    """Returns the function unchanged, as ``@disable`` and as ``@disable()``.

    >>> lamella.compiler.disable(len) is lamella.compiler.disable()(len) is len
    True
    """
    return _same if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    """Returns the function unchanged.

    >>> lamella.compiler.allow_in_graph(len) is len
    True
    """
    return fn


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """Returns the names of compilers: an empty list.

    >>> lamella.compiler.list_backends()
    []
    """
    return []


def reset() -> None:
    """Does nothing, since there is no compiler whose state could be reset.

    >>> lamella.compiler.reset()
    """


def cudagraph_mark_step_begin() -> None:
    """Does nothing, since no graph is recorded.

    >>> lamella.compiler.cudagraph_mark_step_begin()
    """


def _same(fn: Any) -> Any:
    return fn
