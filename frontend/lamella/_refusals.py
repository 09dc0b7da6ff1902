"""Functions of torch's that are not here: a call says why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lamella._usage import log_once


class Refusal:
    """A function of torch's that is not here: a call raises NotImplementedError with the reason."""

    placeholder = True  # a plugin may take the name

    def __init__(self, name: str, why: str):
        self.__name__ = self.__qualname__ = name.rpartition(".")[2]
        self.why = f"{name}: {why}"
        self.__doc__ = f"Not here: a call raises NotImplementedError, since {why}."

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        log_once("refused." + self.why.partition(":")[0])
        raise NotImplementedError(self.why)

    def __repr__(self) -> str:
        return f"<{self.why}>"


def refused(module: str, names: str, why: str) -> dict[str, Callable[..., Any]]:
    """Refusals of several names of a module."""
    return {name: Refusal(f"{module}.{name}", why) for name in names.split()}
