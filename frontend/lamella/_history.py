"""Blocks in which autograd records nothing. They do nothing if autograd is not loaded."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

import lamella

F = TypeVar("F", bound=Callable[..., Any])


def no_history() -> Any:
    """Returns ``lamella.no_grad()``; without autograd, an empty context."""
    return getattr(lamella, "no_grad", nullcontext)()


def without_history(function: F) -> F:
    """Returns a function that calls ``function`` in a block of ``no_history()``."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with no_history():
            return function(*args, **kwargs)

    return called  # type: ignore[return-value]
