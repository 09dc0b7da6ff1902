"""Passes: a built-in one, a rule of one's own, and a function that changes a graph.

The first is the peephole rule that talks on torch show: the transpose of a transpose is the matrix itself.
"""

import lamella
from lamella import jit

EXP = "graph(%x : Tensor) { %y : Tensor = aten::exp(%x) %n : int = prim::Constant[value=1]() "
EXP += "%z : Tensor = aten::sub.Scalar(%y, %n) return (%z) }"
EXPM1 = "graph(%x : Tensor) { %z : Tensor = aten::expm1(%x) return (%z) }"


def twice_transposed(x):
    return x.t().t()


@jit.script
def growth(x, w):
    rate = x.exp() - 1
    return (rate @ w).relu()


def all_nodes(block):
    """Gives the nodes of a block, and those of the branches and loops in it."""
    for node in block.nodes():
        yield node
        for inner in node.blocks():
            yield from all_nodes(inner)


@lamella.graph.register_pass("example_print_sizes")
def print_sizes(graph):
    """Lets a program print the sizes of each operand of its products of matrices."""
    changed = False
    for node in all_nodes(graph.block()):
        if node.op == "aten::matmul":
            for operand in node.inputs():
                name = graph.insert("prim::Constant", [], ["str"], before=node)
                name.set_attribute("value", operand.name)
                size = graph.insert("aten::size", [operand], ["int[]"], before=node)
                graph.insert("prim::Print", [name.outputs()[0], size.outputs()[0]], [], before=node)
            changed = True
    return changed


def main():
    traced = jit.trace(twice_transposed, lamella.ones(2, 2))
    print("traced:", traced.graph, sep="\n")
    for name in ("peephole", "dce"):
        lamella.graph.run_pass(name, traced.graph)
    print("after peephole and dce:", traced.graph, "", sep="\n")

    x, w = lamella.tensor([[1e-7]]), lamella.ones(1, 1)
    print("scripted:", growth.graph, sep="\n")
    print(f"growth of 1e-7: {growth(x, w).item():.3g}")
    print("matches of the rule:", lamella.graph.rewrite(growth.graph, EXP, EXPM1))
    lamella.graph.run_pass("dce", growth.graph)  # removes the nodes that were replaced
    print("changed by print_sizes:", lamella.graph.run_pass("example_print_sizes", growth.graph))
    print(growth.graph)
    print(f"growth of 1e-7: {growth(x, w).item():.3g}")


if __name__ == "__main__":
    main()
