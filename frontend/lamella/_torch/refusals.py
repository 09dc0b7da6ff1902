"""Functions of torch that Lamella has not: a call raises NotImplementedError with the reason."""

from __future__ import annotations

from typing import Any

from lamella._usage_log import log_once
from lamella.plugins import contributions


class Refusal:
    """A function of torch that Lamella has not."""

    def __init__(self, name: str, why: str):
        self.__name__ = self.__qualname__ = name.rpartition(".")[2]
        self.why = f"{name}: {why}"
        self.__doc__ = f"Not here: a call raises NotImplementedError, since {why}."

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        log_once("refused." + self.why.partition(":")[0])
        raise NotImplementedError(self.why)

    def __repr__(self) -> str:
        return f"<{self.why}>"


def refuse(module: str, names: str, why: str) -> None:
    """Contributes refusals to a module, for those of the names that no plugin has brought; they give way to plugins."""
    place = contributions.place(module)
    free = [name for name in names.split() if not contributions.Place.holder(place, name)]
    refusals = {name: Refusal(f"{module}.{name}", why) for name in free}
    contributions.contribute(contributions.gather(module, refusals, placeholder=True))
