"""Graphs of programs: the public names of ``lamella.graph``.

A graph is what a function computes, as data: nodes that compute values from values, with blocks for branches and loops.
It can be printed and read, changed by passes, and run without Python. ``docs/graphs.md`` is the guide.

>>> g = lamella.graph.parse('''
... graph(%x : Tensor, %n : int) {
...   %one : int = prim::Constant[value=1]()
...   %m : int = aten::add.int(%n, %one)
...   %y : Tensor = aten::mul.Scalar(%x, %m)
...   return (%y)
... }''')
>>> g(lamella.ones(2), 2)
tensor([3., 3.])
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .graphs import *  # noqa: F403
    from .jit.showing import show as show

# The public names by module; a module is imported when one of its names is first used.
NAMES = {
    "graphs": (
        "Block",
        "Graph",
        "Node",
        "Object",
        "Program",
        "Value",
        "parse",
        "passes",
        "register_pass",
        "rewrite",
        "run_pass",
        "signatures",
    ),
    "jit.showing": ("show",),
}
if not TYPE_CHECKING:  # type checkers see the imports above
    __all__ = [name for names in NAMES.values() for name in names]


def __getattr__(name):
    for module, names in NAMES.items():
        if name in names:
            found = import_module(f"{__name__}.{module}")
            globals().update({n: getattr(found, n) for n in names})
            return globals()[name]
    raise AttributeError(f"module 'lamella.graph' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *__all__})
