"""The version of the operators that programs are saved with, and the upgrades of older programs.

``upgrades.txt`` has an upgrade for each operator whose meaning or arguments have changed: the version that brings the
change, a graph of the operator alone as older programs have it, and a graph that computes the same now.
"""

from __future__ import annotations

import functools
import re
from importlib.resources import files
from typing import NamedTuple

from lamella.plugins.graph._python import Program

VERSION = 1
"""The version of the operators here. A program has the one that it was saved with in each of its graphs."""


class Upgrade(NamedTuple):
    """One change of an operator."""

    version: int
    """The first version with the change."""
    operator: str
    """The full name of the operator that older programs have."""
    inputs: int
    """The number of its inputs there."""
    new: str
    """The graph that computes the same now; its parameters are the inputs."""


@functools.cache
def table() -> tuple[Upgrade, ...]:
    """Returns the upgrades of ``upgrades.txt``."""
    return read(files(__package__).joinpath("upgrades.txt").read_text("utf-8"))


def read(text: str) -> tuple[Upgrade, ...]:
    """Reads upgrades: ``version N``, the old graph, ``->`` on a line of its own, and the new graph, for each.

    >>> read('''version 2
    ... graph(%x : Tensor) { %y : Tensor = aten::old(%x) return (%y) }
    ... ->
    ... graph(%x : Tensor) { %y : Tensor = aten::exp(%x) return (%y) }''')[0].operator
    'aten::old'
    """
    found = []
    text = re.sub(r"(?m)^#.*\n?", "", text)
    for part in re.split(r"(?m)^version ", text)[1:]:
        number, _, rest = part.partition("\n")
        old, arrow, new = rest.partition("\n->\n")
        if not arrow:
            raise ValueError(f"upgrades: version {number} has no line '->' between two graphs")
        nodes = Program(old).graph().nodes()
        if len(nodes) != 1:
            raise ValueError(f"upgrades: the old graph of version {number} has {len(nodes)} nodes; it must have one")
        operator = f"{nodes[0].op}.{nodes[0].overload}" if nodes[0].overload else nodes[0].op
        found.append(Upgrade(int(number), operator, len(nodes[0].inputs()), new.strip()))
    return tuple(sorted(found))


def upgraded(text: str, version: int, functions: dict[str, str]) -> str:
    """Returns a graph of an older program, in which calls of functions stand for operators that have changed.

    Args:
        text: the graph, as ``str(graph)`` has it.
        version: the version of the operators that it was saved with.
        functions: gets the graphs of the functions by name.
    """
    for u in table():
        if u.version > version:
            name = f"upgraded_{re.sub(r'[^0-9a-z]+', '_', u.operator, flags=re.IGNORECASE)}_{u.version}"
            inputs = ", ".join([r"%[\w.]+"] * u.inputs)
            line = rf"(?m)^((?: *%[^=\n]*=)? *){re.escape(u.operator)}\(({inputs})\)"
            text, count = re.subn(line, rf'\1prim::CallFunction[name="{name}"](\2)', text)
            if count:
                functions[name] = u.new
    return text
