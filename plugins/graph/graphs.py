"""Reading, printing, changing and running graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lamella import Tensor

from ._python import Block, Graph, Node, Object, Program, Value
from ._python import passes as _passes
from ._python import register_pass as _register_pass
from ._python import signatures as _signatures

__all__ = [
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
]


def parse(text: str, constants: Sequence[Tensor] = (), functions: dict[str, Callable] | None = None) -> Graph:
    """Reads a graph from its text, in the form that ``str(graph)`` has or in that of ``torch.jit``.

    Args:
        text: the graph, perhaps with classes before it and further graphs (``with name = graph(...)``) behind it.
        constants: the tensors that the text names as ``<data/0>``, ``<data/1>`` and so on.
        functions: functions of Python that the graph calls by ``prim::PythonCall``, by name.

    Returns:
        the graph without a name; ``graph.program`` has the others.

    Raises:
        ValueError: the text is no graph; the message has the line and the column.
        KeyError: the text has only graphs with names: read it as a :class:`Program`.

    >>> print(lamella.graph.parse("graph(%x : Float(2, 2)) { %y : Float(2, 2) = aten::t(%x) return (%y) }"))
    graph(%x : Float(2, 2)) {
      %y : Float(2, 2) = aten::t(%x)
      return (%y)
    }
    """
    return Program(text, constants, functions or {}).graph()


def passes() -> list[str]:
    """Returns the names of the passes, those of plugins included, in the order in which they were registered.

    >>> "dce" in lamella.graph.passes()
    True
    """
    return _passes()


def run_pass(name: str, graph: Graph | Program) -> bool:
    """Runs a pass over all graphs of a program; returns whether it changed one.

    Args:
        name: the pass, one of :func:`passes`.
        graph: a program, or a graph of it.

    Raises:
        ValueError: there is no pass with this name, or the program is not well formed.
        TypeError: ``graph`` is neither a graph nor a program.

    >>> twice = "graph(%x : Tensor) { %a : Tensor = aten::t(%x) %b : Tensor = aten::t(%a) return (%b) }"
    >>> g = lamella.graph.parse(twice)
    >>> lamella.graph.run_pass("peephole", g), lamella.graph.run_pass("dce", g)
    (True, True)
    >>> print(g)
    graph(%x : Tensor) {
      return (%x)
    }
    """
    return _program("run_pass", graph).run_pass(name)


def rewrite(graph: Graph | Program, old: str, new: str) -> int:
    """Replaces each match of a graph by another graph with the same parameters; returns the number of replacements.

    A match is closed: no other node uses a value within it. Graphs that write to a value are left alone, since two of
    their values may differ although they are computed alike.

    Args:
        graph: a program, or a graph of it.
        old: the text of the graph to replace. It has one result.
        new: the text of the graph to put there.

    Raises:
        RuntimeError: one of the texts is no graph, has more than one result, or has other parameters.
        TypeError: ``graph`` is neither a graph nor a program.

    >>> g = lamella.graph.parse("graph(%x : Tensor) { %y : Tensor = aten::exp(%x) return (%y) }")
    >>> lamella.graph.rewrite(g, "graph(%x : Tensor) { %y : Tensor = aten::exp(%x) return (%y) }",
    ...                          "graph(%x : Tensor) { %y : Tensor = aten::expm1(%x) return (%y) }")
    1
    """
    return _program("rewrite", graph).rewrite(old, new)


def register_pass(name: str, function: Callable[[Graph], bool] | None = None):
    """Registers a pass: a function that changes a graph and returns whether it did.

    Args:
        name: the name for :func:`run_pass`, which no other pass has.
        function: the pass; without it, ``register_pass`` is a decorator.

    Raises:
        ValueError: there is a pass with this name.

    >>> @lamella.graph.register_pass("docs_count")
    ... def count(graph):
    ...     print(len(graph.nodes()))
    ...     return False
    >>> g = lamella.graph.parse("graph(%x : Tensor) { %y : Tensor = aten::exp(%x) return (%y) }")
    >>> lamella.graph.run_pass("docs_count", g)
    1
    False
    """
    if function is None:
        return lambda f: register_pass(name, f)
    _register_pass(name, function)
    return function


def signatures(name: str) -> list[str]:
    """Returns the signatures of an operator's overloads, builtins of graphs first.

    >>> lamella.graph.signatures("aten::add")[0]
    'aten::add.int(int a, int b) -> int'
    """
    return _signatures(name)


def _program(who: str, graph: Graph | Program) -> Program:
    if isinstance(graph, (Graph, Program)):
        return graph if isinstance(graph, Program) else graph.program
    other = "; give its attribute 'graph'" if hasattr(graph, "graph") else ""
    raise TypeError(f"{who}: argument 'graph' must be a Graph or a Program, got {type(graph).__name__}{other}")
