"""Whole modules in files: the names of their classes, and how a module is made of a class and a state.

Note [Whole modules]  A file has, for each module, the name of its class and what ``__getstate__`` returned: the dict of
  its attributes. A reader finds the class among those that the program has allowed by ``add_safe_globals``, or, with
  ``weights_only=False``, imports it by its name. Of a class it calls ``__new__`` without arguments, and
  ``__setstate__``; both are code of a class that the program chose, or that it imported as a class of modules. No other
  object that a file names is called. Classes of Lamella have several names, ``lamella.nn.Linear``,
  ``lamella.nn.modules.linear.Linear`` and those with "torch" in the place of "lamella"; each stands for all.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from lamella import _C
from lamella.serialization.errors import CheckpointError, Refused
from lamella.serialization.places import LONGEST, escaped
from lamella.serialization.safe_globals import find_allowed, is_allowed, is_blocked

MEMBERS = ("_parameters", "_buffers", "_modules")
MOST_NAMES = 100  # the most names in the line of a message
PATH = re.compile(r"\w+(\.\w+)*")
FUNCTIONAL = ("nn.functional", "_C._nn")  # modules of torch whose functions modules hold, as `activation`


class NoClass(CheckpointError):
    """A name in a file is not that of a class of modules."""


def nn() -> Any:
    """Returns ``lamella.nn``, which is imported when a file first names a class, since it takes as long as a load."""
    return importlib.import_module("lamella.nn")


def is_module(x: Any) -> bool:
    """Returns whether an object is a module; does not import ``lamella.nn``."""
    return isinstance(x, _C._ModuleBase)


def is_class(x: Any) -> bool:
    """Returns whether an object is a class of modules."""
    return isinstance(x, type) and issubclass(x, _C._ModuleBase)


def of_ours(module: str, name: str) -> Any:
    """Returns the class of ``lamella.nn`` that a name of Lamella's or torch's stands for; None for other names."""
    top, _, home = module.partition(".")
    if top not in ("torch", "lamella") or not (home == "nn" or home.startswith(("nn.modules.", "nn.parallel."))):
        return None
    found = getattr(nn(), name) if name in nn().__all__ else None  # for other names nn looks for one that is close
    if found is None and (file := sys.modules.get(f"lamella.{home}")) is not None:
        found = vars(file).get(name)  # such as NonDynamicallyQuantizableLinear, which is in no list
    return found if is_class(found) else None


def function_name(x: Any) -> str | None:
    """Returns the name of a function of ``lamella.nn.functional``; None for any other object."""
    if not callable(x):
        return None
    functional, name = nn().functional, getattr(x, "__name__", None)
    return name if type(name) is str and name in functional.__all__ and vars(functional).get(name) is x else None


def function(module: str, name: str) -> Any:
    """Returns the function of ``lamella.nn.functional`` that a name of Lamella's or torch's stands for, or None."""
    top, _, home = module.partition(".")
    if top not in ("torch", "lamella") or home not in FUNCTIONAL:
        return None
    functional = nn().functional
    return vars(functional)[name] if name in functional.__all__ else None


# ---- saving ----------------------------------------------------------------------------------------------------------


def name_of(kind: type) -> tuple[str, str]:
    """Returns the module and the qualified name under which a file has a class."""
    if of_ours("lamella.nn", kind.__qualname__) is kind:
        return "lamella.nn", kind.__qualname__
    return kind.__module__, kind.__qualname__


def in_torch(kind: type) -> tuple[str, str]:
    """Returns the module and the qualified name of a class in a file for torch: torch's own for a class of Lamella."""
    home, name = kind.__module__, kind.__qualname__
    if of_ours(home, name) is kind and home.rpartition(".")[2].startswith("_"):
        public = (module for path, module in vars(nn().modules).items() if not path.startswith("_"))
        home = next(m.__name__ for m in public if isinstance(m, ModuleType) and vars(m).get(name) is kind)
    return f"torch{home[7:]}" if f"{home}.".startswith("lamella.") else home, name


def state_of(module: Any) -> dict[str, Any]:
    """Returns the attributes of a module that a file holds. Raises Refused if it has hooks, or a state of its own that
    is no dict."""
    kind = type(module).__qualname__
    if getattr(module, "has_uninitialized_params", bool)():
        raise Refused(f"is a {kind} whose parameters have no shape; run the module once before it is saved")
    try:
        state = module.__getstate__()
    except RuntimeError as error:  # a parametrized module, whose class was made for it
        raise Refused(f"cannot be saved: {error}") from error
    if type(state) is not dict:
        raise Refused(f"is a {kind}, whose __getstate__() returns a {type(state).__name__}; a file holds a dict of it")
    if "<locals>" in kind:
        raise Refused(
            f"is a {kind}, whose class stands in a function, where no reader finds it; define the class at the top of "
            "a module"
        )
    kept = {}
    for name, value in state.items():
        if name not in module._made_on_use or name == "_non_persistent_buffers_set":
            kept[name] = value
        elif value and callable(hook := next(iter(value.values()))):  # not one of the marks of hooks
            raise Refused(
                f"is a {kind} with a hook in {name}, {hook!r}, which is code; remove hooks before the module is saved, "
                "and register them again after load, or save its state_dict()"
            )
    return kept


# ---- loading ---------------------------------------------------------------------------------------------------------


def allowed(module: str, name: str) -> Any:
    """Returns the object of a name that the program has allowed, by this name or another one of it; None if there is
    none."""
    found = find_allowed(module, name)
    if found is None and module.startswith("torch."):
        found = find_allowed(in_ours(module), name)
    if found is None and (ours := of_ours(module, name)) is not None and is_allowed(ours):
        found = ours
    return found


def in_ours(module: str) -> str:
    """Returns Lamella's name for a module of torch."""
    return f"lamella{module[5:]}" if f"{module}.".startswith("torch.") else module


def imported(module: str, name: str) -> Any:
    """Imports a class of modules. Each part of its name must be a class that the part before it defines, so that a name
    cannot lead into another module; nothing of what it leads through is called.

    Raises:
        NoClass: there is no class of modules of that name
    """
    if (ours := of_ours(module, name)) is not None:
        return ours
    if is_blocked(module, name) or not PATH.fullmatch(module) or not PATH.fullmatch(name):
        raise NoClass("which could run any code")
    try:
        found: Any = importlib.import_module(in_ours(module))
        getattr(found, "__all__", None)  # a lazy module of Lamella runs its file now
    except (Exception, SystemExit) as error:  # a program that is imported may end itself
        why = f"{type(error).__name__}: {error}"
        raise NoClass(f"a class that cannot be imported: {why}; {instead(module, name)}") from error
    for part in name.split("."):
        found = vars(found).get(part)
        if not isinstance(found, type):
            here = "define or import the class here, or, " if module == "__main__" else ""
            raise NoClass(f"which is no class of {in_ours(module)}; {here}{instead(module, name)}")
    if not is_class(found):
        raise NoClass(f"which is no class of modules; if you trust the file, allow it by {line([(module, name)])}")
    return found


class States:
    """Gives the modules of one file their states."""

    def __init__(self) -> None:
        self._given: dict[int, Any] = {}  # the modules, by id
        self._checked: dict[tuple[int, str], Any] = {}  # dicts of members, by id and name: many modules may share one

    def give(self, module: Any, state: dict[str, Any]) -> None:
        """Gives a new module its attributes. Raises ValueError if they are not those of a module, or if it has some."""
        kind = type(module)
        if id(module) in self._given:
            raise ValueError(f"a {kind.__qualname__} is given its state twice")
        self._given[id(module)] = module
        for name, made in kind._made_on_use.items():
            if name in state and not isinstance(state[name], set if made is set else dict):
                raise ValueError(f"the state of a {kind.__qualname__} has no {made.__name__} {name}")
        module.__setstate__({name: x for name, x in dict.items(state) if name not in kind._made_on_use or x})
        self._check(module)

    def check(self) -> None:
        """Checks the members of all modules. A pickle can add to a dict after the module that holds it has its
        state."""
        self._checked.clear()
        for module in self._given.values():
            self._check(module)

    def _check(self, module: Any) -> None:
        held, kinds, name_of_class = vars(module), (_C.Tensor, _C.Tensor, _C._ModuleBase), type(module).__qualname__
        for name, kind in zip(MEMBERS, kinds, strict=True):
            members = held.get(name)
            if not isinstance(members, dict):
                raise ValueError(f"the state of a {name_of_class} has no dict {name}")
            if (id(members), name) in self._checked:
                continue
            self._checked[id(members), name] = members
            for key, x in dict.items(members):
                if type(key) is not str or not (x is None or isinstance(x, kind)):
                    raise ValueError(f"the state of a {name_of_class} has a {type(x).__name__} in {name}")
        if not isinstance(held.get("training"), bool):
            raise ValueError(f"the state of a {name_of_class} does not say whether it is in training")


def line(names: Iterable[tuple[str, str]]) -> str:
    """Returns the line of Python that allows classes, given by their modules and names. Those whose names are none of
    Python's, or are very long, are left out: the line is to be run, and a file can give any text as a name."""
    homes, words = [], []
    for module, name in names:
        if not PATH.fullmatch(module) or not PATH.fullmatch(name) or len(module) + len(name) > LONGEST:
            continue
        if (ours := of_ours(module, name)) is not None:
            word = f"{name_of(ours)[0]}.{name}"
        elif module in ("__main__", "builtins"):
            word = name
        else:
            word = f"{in_ours(module)}.{name}"
            homes.append(in_ours(module))
        words.append(word)
    need = f"import {', '.join(dict.fromkeys(homes))}; " if homes else ""
    return f"{need}lamella.serialization.add_safe_globals([{', '.join(dict.fromkeys(words))}])"


def instead(module: str, name: str) -> str:
    """Returns the end of a message about a class that is gone: how to allow another one in its place."""
    return (
        "if another class has taken its place, allow that by lamella.serialization.add_safe_globals([(TheClass, "
        f"{f'{module}.{name}'!r})])"
    )


def refusal(file: str, place: str, names: list[tuple[str, str]]) -> str:
    """Returns the message about objects that the program has not allowed, by their modules and names, the first of
    which is at ``place``. It has the line of Python that allows them all."""
    count = len(names)
    some = "it" if count <= MOST_NAMES else f"the first {MOST_NAMES} of its {count} names"
    return (
        f"{named(file, place, *names[0])}, which is not built, as its code would run; if you trust the file, allow "
        f"{some} by {line(names[:MOST_NAMES])}"
    )


def named(file: str, place: str, module: str, name: str) -> str:
    """Returns the beginning of a message about a name in a file."""
    return f"load: {file} names {escaped(f'{module}.{name}')}{f' at {place}' if place else ''}"
