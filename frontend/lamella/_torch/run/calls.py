"""Finds what a call in a program raises whatever its values are: from the call's text and Lamella's object alone."""

from __future__ import annotations

import ast
import inspect
import warnings
from types import ModuleType
from typing import Any, NamedTuple

from lamella._torch.refusals import Refusal
from lamella._torch.run.objects import look_up
from lamella._torch.run.outlook import is_argument
from lamella._torch.run.scopes import UNKNOWN, Scope, Torch
from lamella._torch.run.table import signature, taken

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
PLACEHOLDERS = {"lamella.amp", "lamella._torch.names", "lamella._torch.cuda_amp"}  # they define an `autocast`
UNREAD = {"dtype", "cache_enabled"}  # arguments of autocast that do not decide whether it raises


class Fault(NamedTuple):
    """What a call raises: an exception, and words that say why."""

    error: type[Exception]
    words: str


def fault(path: str, call: ast.Call | None, scope: Scope) -> Fault | None:
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
    if getattr(found, "__name__", "") == "autocast" and found.__module__ in PLACEHOLDERS:
        return of_autocast(found, call, scope)
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


def of_autocast(found: Any, call: ast.Call, scope: Scope) -> Fault | None:
    """Makes an autocast of the call's arguments, if they are constants, since it raises by its device alone."""
    try:
        bound = inspect.signature(found).bind(*call.args, **{str(k.arg): k.value for k in call.keywords}).arguments
    except TypeError as error:
        return Fault(TypeError, str(error)) if all(k.arg for k in call.keywords) else None
    values = {name: constant(node, scope) for name, node in bound.items() if name not in UNREAD}
    if any(value is UNKNOWN for value in values.values()):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found(**values)
    except NotImplementedError as error:
        return Fault(NotImplementedError, str(error).partition(": ")[2])
    except ValueError as error:
        return Fault(ValueError, str(error).partition(": ")[2])
    return None


def constant(node: Any, scope: Scope) -> Any:
    """Returns the value of a constant, or of a name that is bound to nothing but one; UNKNOWN for others."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and (owner := scope.owner(node.id)) is not None:
        bound = owner.bound[node.id]
        if len(bound) == 1 and isinstance(bound[0], ast.Constant) and not isinstance(scope.value(node), Torch):
            return bound[0].value
    return UNKNOWN
