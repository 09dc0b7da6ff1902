"""The record of torch's public names and their arguments, and the reasons for those that Lamella does not have.

The names are in ``torch_table.json``, and the reasons in ``outlook.json``. ``table.py`` has the names that are here.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import NamedTuple

from lamella import _absent

HERE, REFUSED, PLANNED, NOT_COMING, UNKNOWN = "here", "refused", "planned", "not coming", "unknown"
TENSOR = "torch.Tensor"  # stands for a module in the record: its names are the attributes of tensors


class Status(NamedTuple):
    """The status of one name of torch.

    ``kind`` is one of the five words above, ``words`` the reason, or the step that the name is planned with, and
    ``lacking`` are arguments that torch's object takes and Lamella's does not.
    """

    kind: str
    words: str = ""
    lacking: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.lacking:
            return f"{self.kind}, without {', '.join(f'`{name}`' for name in self.lacking)}"
        joint = {PLANNED: " with ", NOT_COMING: ": ", REFUSED: ": "}.get(self.kind, "")
        return f"{self.kind}{joint}{self.words}"


@functools.cache
def recorded() -> dict[str, dict[str, str | None]]:
    """Returns torch's public names by the paths of their modules, or "torch.Tensor".

    The value of a name is the text of its arguments, "input,dim,*,out", where "/input" is one that is no keyword, and
    "*rest" and "**rest" take others; None if there are none or torch hides them.
    """
    return json.loads(Path(__file__).with_name("torch_table.json").read_text())


@functools.cache
def outlook() -> dict[str, dict[str, tuple[str, str]]]:
    """Returns kind and words for names that Lamella does not have, by module and name; "*" stands for all other names.

    A module's path may end in ".*", which stands for the module and all in it.
    """
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for kind, reasons in json.loads(Path(__file__).with_name("outlook.json").read_text()).items():
        for words, places in reasons.items():
            for where, listed in places.items():
                for module in where.split():
                    found.setdefault(module, {}).update(dict.fromkeys(listed.split(), (kind, words)))
    return found


def expected(module: str, name: str) -> Status:
    """Returns the status of a name that is not here: planned, not coming, or unknown to the files."""
    place = "Tensor" if module == TENSOR else "lamella" + module.removeprefix("torch")
    step = _absent.planned_with(place, name)
    if step is not None:
        return Status(PLANNED, step)
    if name not in recorded().get(module, {}):  # torch does not have it, or not as a public name
        return Status(UNKNOWN)
    parts = module.split(".")
    around = [".".join(parts[:n]) + ".*" for n in range(len(parts), 0, -1)]
    rules = outlook()
    for wanted in (name, "*"):
        for where in (module, *around):
            if wanted in rules.get(where, {}):
                return Status(*rules[where][wanted])
    return Status(UNKNOWN)


@functools.cache
def arguments(text: str) -> tuple[str, ...]:
    """Returns the names of arguments in a recorded text that a call may give by keyword."""
    return tuple(name for name in text.split(",") if name and name[0] not in "*/")


def is_argument(path: str, name: str) -> bool:
    """Returns whether torch's function of a dotted name takes an argument."""
    module, _, own = path.rpartition(".")
    return name in arguments(recorded().get(module, {}).get(own) or "")
