"""Which numbers of a recorded graph depend on the sizes of its inputs.

A function is recorded by shape alone, with other sizes, and the graphs are compared. A number that is a multiple of one
size plus a constant becomes an expression of the graph; other differences are reported.
"""

from __future__ import annotations

from collections.abc import Callable

from lamella import Tensor

from ._python import Graph, Value
from ._python import replace_sizes as _replace

Again = Callable[[list[tuple[int, ...]]], Graph]


def replace_sizes(
    graph: Graph, tensors: list[Tensor], values: list[Value], names: list[str], again: Again
) -> list[str]:
    """Makes expressions of the numbers that depend on one size; returns the reports of the others.

    Args:
        graph: the graph that was recorded
        tensors: the tensors of its inputs, and `values` their values in the graph
        names: the names of the inputs, for reports
        again: records the function by shape for tensors of other sizes; returns the graph
    """
    shapes = [tuple(x.shape) for x in tensors]
    places: dict[int, list[tuple[int, int]]] = {}  # by size: the tensor and the dimension of each
    for t, shape in enumerate(shapes):
        for d, n in enumerate(shape):
            if n > 0:
                places.setdefault(n, []).append((t, d))
    others: list[tuple[int, int, int, Graph, Graph]] = []

    def vary(group: list[tuple[int, int]], n: int) -> bool:
        """Records with other sizes; returns whether the function admits them."""
        graphs = []
        for factor in (2, 3):
            changed = [list(shape) for shape in shapes]
            for t, d in group:
                changed[t][d] = factor * n
            try:
                graphs.append(again([tuple(shape) for shape in changed]))
            except Exception:  # the function says no: this size is fixed
                return False
        (t, d), (twice, thrice) = group[0], graphs
        others.append((t, d, n, twice, thrice))
        return True

    for n, group in places.items():
        if not vary(group, n) and len(group) > 1:
            for one in group:
                vary([one], n)
    return _replace(graph, values, names, others)
