"""The note that an exception gets when it leaves the call of a module: the module, and its path in the network.

``net(x)`` calls its parts, and the part that fails does not know its own name. So the innermost module notes itself,
and each module around it puts the part's name in front: ``in encoder.layers.3.linear1: Linear(in_features=4, ...)``.
"""

from __future__ import annotations

from collections import deque
from typing import Any

# The attribute of an exception that holds the id of the outermost noted module, the path from it to the innermost one,
# and that one's description. It is an id and no module, since exceptions are pickled, and kept.
PLACE = "_lamella_module"


def note(module: Any, error: BaseException) -> None:
    """Notes in an exception that leaves the call of ``module`` where in the network it was raised. ``_ModuleBase``
    calls this function, and ignores its errors."""
    place = error.__dict__.get(PLACE)
    if place is None:
        path, what = "", _described(module)
        _add(error, _text(path, what))
    else:
        inner, below, what = place
        name = _name_within(module, inner)
        if name is None:  # the failed module is no member; a module further out may know the noted one
            return
        path = f"{name}.{below}" if below else name
        _replace(error, _text(below, what), _text(path, what))
    error.__dict__[PLACE] = (id(module), path, what)


def _text(path: str, what: str) -> str:
    return f"in {path}: {what}" if path else f"in {what}"


def _described(module: Any) -> str:
    """Returns the module without its parts, as ``repr`` shows it."""
    try:
        return f"{module._get_name()}({module.extra_repr().partition(chr(10))[0]})"
    except Exception:  # of the user's own extra_repr
        return type(module).__name__


def _name_within(module: Any, wanted: int) -> str | None:
    """Returns the shortest path from a module to the one below it with an id; None if there is none."""
    seen, waiting = {id(module)}, deque([("", module)])
    while waiting:
        prefix, above = waiting.popleft()
        for name, part in above._modules.items():
            if part is None or id(part) in seen:
                continue
            if id(part) == wanted:
                return f"{prefix}{name}"
            seen.add(id(part))
            waiting.append((f"{prefix}{name}.", part))
    return None


def _add(error: BaseException, text: str) -> None:
    if hasattr(error, "add_note"):
        error.add_note(text)
    elif _has_message(error):
        error.args = (f"{error.args[0]}\n{text}",)


def _replace(error: BaseException, before: str, text: str) -> None:
    if hasattr(error, "add_note"):
        notes: list[str] = vars(error)["__notes__"]
        notes[notes.index(before)] = text
    elif _has_message(error):
        error.args = (error.args[0].replace(before, text),)


def _has_message(error: BaseException) -> bool:
    """Whether the argument of an exception is its message, to which a line may be added. Python 3.10 has no notes."""
    shown = isinstance(error, (RuntimeError, TypeError, ValueError, IndexError))  # KeyError's argument is the key
    return shown and len(error.args) == 1 and isinstance(error.args[0], str)
