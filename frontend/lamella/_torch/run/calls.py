"""Finds what a call in a program raises whatever its values are: from the call's text and Lamella's object alone."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType
from typing import Any, NamedTuple

from lamella._torch.refusals import Refusal
from lamella._torch.run.objects import look_up
from lamella._torch.run.outlook import is_argument
from lamella._torch.run.table import signature, taken

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Fault(NamedTuple):
    """What a call raises: an exception, and words that say why."""

    error: type[Exception]
    words: str


def fault(path: str, call: ast.Call | None) -> Fault | None:
    """Returns what the call of a name of torch raises; None unless it raises whatever the program's values are.

    ``call`` is None for a decorator without arguments.
    """
    found, lost = look_up(path)
    if lost is not None or not isinstance(look_up(path.rpartition(".")[0])[0], ModuleType):
        return None
    refusal = found if isinstance(found, Refusal) else vars(found).get("__init__") if isinstance(found, type) else None
    if isinstance(refusal, Refusal):
        return Fault(refusal.error, refusal.why.partition(": ")[2])
    if call is None:
        return None
    return of_arguments(path, found, call)


def of_arguments(path: str, found: Any, call: ast.Call) -> Fault | None:
    """Returns the TypeError for an argument that a function or class does not take."""
    names = taken(found)
    for name in (keyword.arg for keyword in call.keywords):
        if names is not None and name is not None and name not in names:
            whose = ", which torch has" if is_argument(path, name) else ""
            return Fault(TypeError, f"it has no argument '{name}'{whose}")
    parameters = signature(found)
    if parameters is None:
        return None
    kinds = [p.kind for p in parameters.values()]
    most, count = sum(kind in POSITIONAL for kind in kinds), len(call.args)
    if inspect.Parameter.VAR_POSITIONAL not in kinds and count > most:
        if not any(isinstance(x, ast.Starred) for x in call.args):
            return Fault(TypeError, f"it takes {most} arguments by position, and {count} are given")
    return None
