"""The table of torch's public names: for each, whether Lamella has it, which arguments it lacks, or why it is not here.

``tools/torch_names.py`` writes docs/torch_names.md from it, and ``check.py`` reports the names that a program lacks.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Iterator
from typing import Any

import lamella._torch.run.names as names
from lamella import _C, _absent
from lamella._torch.refusals import Refusal
from lamella._torch.run.outlook import HERE, REFUSED, TENSOR, Status, arguments, expected, recorded
from lamella.plugins import contributions

KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
# Further arguments that operators take, though their schemas do not have them: aliases of names, and factories' own.
OTHERS = {"input", "x", "x1", "x2", "axis", "keepdims", "ddof", "where", "requires_grad", "pin_memory"}
# Arguments of forms of functions that torch has removed.
WITHOUT_MEANING = {"self"}
REFUSAL = re.compile(r"Raises \w+Error\b:? ?")


def refused(found: Any) -> str | None:
    """Returns the reason for which every call of an object or of its ``__init__`` raises; None if some call works."""
    parts = (found, vars(found).get("__init__") if isinstance(found, type) else None)
    for part in parts:
        if isinstance(part, Refusal):
            return part.why.partition(": ")[2]
        text = getattr(part, "__doc__", None) or ""
        if isinstance(text, str) and (match := REFUSAL.match(text)):
            return text[match.end() :].partition("\n\n")[0].replace("\n", " ").strip().rstrip(".")
    return None


def place(module: str) -> Any:
    """Returns Lamella's object for a module of torch or "torch.Tensor"; None if there is none."""
    if module == TENSOR:
        return _C.Tensor
    try:
        return names.find_ours(names.ours(module))
    except ImportError:  # the module needs a package or a plugin that is not installed
        return None


def status(module: str, name: str) -> Status:
    """Returns the status of ``torch.x.name``, where ``module`` is "torch.x", or of a tensor's attribute."""
    where = place(module)
    if where is _C.Tensor:
        if isinstance(inspect.getattr_static(where, name, None), _absent.Absent):
            return expected(module, name)
    if where is None or not hasattr(where, name):
        return expected(module, name)
    found = getattr(where, name)
    why = refused(found)
    if why is not None:
        return Status(REFUSED, why)
    return Status(HERE, "", lacking(found, recorded().get(module, {}).get(name)))


def every() -> Iterator[tuple[str, str, Status]]:
    """Yields module, name and status of each public name of torch, sorted."""
    for module, listed in sorted(recorded().items()):
        for name in sorted(listed):
            yield module, name, status(module, name)


# ---- arguments -------------------------------------------------------------------------------------------------------


def lacking(found: Any, text: str | None) -> tuple[str, ...]:
    """Returns the arguments in torch's text that Lamella's object does not take.

    The result is () if the arguments of the object are not known.
    """
    ours = taken(found)
    if ours is None or text is None:
        return ()
    return tuple(n for n in arguments(text) if n not in ours and n not in WITHOUT_MEANING and not n.startswith("_"))


def taken(found: Any) -> set[str] | None:
    """Returns the names of arguments that an object takes by keyword; None if it takes any, or they are not known."""
    if isinstance(found, _C.OperatorPacket):
        return of_packet(found)
    parameters = signature(found)
    if parameters is None or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
        return None
    return {name for name, p in parameters.items() if p.kind in KINDS}


def signature(found: Any) -> Any:
    """Returns the parameters of a function or class in Python; None for other objects, and for functions that wrap
    another one or set a signature."""
    if isinstance(found, type):
        # A class of C states its arguments in the first line of its documentation, if it does at all.
        of_python = inspect.isfunction(found.__init__)  # type: ignore[misc]
        if type(found) is not type or not (of_python or found.__text_signature__):
            return None
    elif not inspect.isfunction(found) or hasattr(found, "__wrapped__") or hasattr(found, "__signature__"):
        return None
    try:
        return inspect.signature(found, follow_wrapped=False).parameters
    except (ValueError, TypeError):
        return None


@functools.lru_cache(64)
def of_packet(packet: Any) -> set[str]:
    """Returns the names of arguments that an operator may take."""
    found = OTHERS | set(contributions.place("keyword").used)
    for schema in packet.schemas:
        text = str(schema)
        text = text[text.index("(") : text.rindex(" ->")]
        found |= set(re.findall(r"(\w+)(?=[,)=])", text))
        if "!) " in text.partition("*, ")[2]:  # results stand behind the keywords, under names of their own
            found.add("out")
    return found
