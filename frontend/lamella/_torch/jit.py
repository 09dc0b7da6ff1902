"""The functions of torch.jit that programs query. Lamella has no compiler: ``script`` and ``trace`` raise an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from lamella._torch.refusals import refuse

__all__ = ["Final", "annotate", "export", "ignore", "is_scripting", "is_tracing", "script_if_tracing", "unused"]

T = TypeVar("T")
WHY = "Lamella has no compiler; call the function or the module as it is"

refuse(
    "lamella.jit",
    "freeze fork interface load optimize_for_inference save script script_method trace trace_module wait",
    WHY,
)


def is_scripting() -> bool:
    """Returns False: a program is never compiled.

    >>> lamella.jit.is_scripting()
    False
    """
    return False


def is_tracing() -> bool:
    """Returns False: a program is never traced.

    >>> lamella.jit.is_tracing()
    False
    """
    return False


def annotate(the_type: Any, the_value: T) -> T:
    """Returns the value, and ignores the type, which only a compiler needs.

    >>> lamella.jit.annotate(int, 3)
    3
    """
    return the_value


def export(fn: T) -> T:
    """Returns the function unchanged.

    >>> lamella.jit.export(len) is len
    True
    """
    return fn


def unused(fn: T) -> T:
    """Returns the function unchanged.

    >>> lamella.jit.unused(len) is len
    True
    """
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Returns the function unchanged, as ``@ignore`` and as ``@ignore()``.

    >>> lamella.jit.ignore(len) is lamella.jit.ignore()(len) is len
    True
    """
    return drop if callable(drop) else _same


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function unchanged.

    >>> lamella.jit.script_if_tracing(len) is len
    True
    """
    return fn


def _same(fn: T) -> T:
    return fn
