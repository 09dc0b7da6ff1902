"""The cell of an LSTM as a graph: recorded by jit.trace, compiled by jit.script, and in the form of older traces.

The recorded graph has sizes, and the scripted one has the names of the variables. Both have one node for a linear
layer. Traces that talks on torch show have `t`, `expand` and `addmm` in its place; a rule of rewriting brings the graph
to that form. There is no `expand` here, since `addmm` broadcasts its first operand by itself.
"""

import lamella
import lamella.nn.functional as F
from lamella import Tensor, jit, nn

IN, OUT = 10, 20


class Cell(nn.Module):
    """One step of an LSTM: the state after an input, by four gates."""

    def __init__(self):
        super().__init__()
        self.w_in, self.w_state = (nn.Parameter(lamella.randn(4 * OUT, n) / n) for n in (IN, OUT))
        self.b_in, self.b_state = (nn.Parameter(lamella.zeros(4 * OUT)) for _ in range(2))

    def forward(self, x, state: tuple[Tensor, Tensor]):
        h, c = state
        gates = F.linear(x, self.w_in, self.b_in) + F.linear(h, self.w_state, self.b_state)
        enter, keep, new, leave = gates.chunk(4, 1)
        enter, keep, new, leave = enter.sigmoid(), keep.sigmoid(), new.tanh(), leave.sigmoid()
        c = keep * c + enter * new
        h = leave * c.tanh()
        return h, c


LINEAR = "graph(%x : Tensor, %w : Tensor, %b : Tensor) { %y : Tensor = aten::linear(%x, %w, %b) return (%y) }"
ADDMM = """graph(%x : Tensor, %w : Tensor, %b : Tensor) {
  %t : Tensor = aten::t(%w)
  %y : Tensor = aten::addmm(%b, %x, %t)
  return (%y)
}"""


def main():
    lamella.manual_seed(0)
    cell = Cell()
    x, state = lamella.randn(3, IN), (lamella.randn(3, OUT), lamella.randn(3, OUT))
    traced, scripted = jit.trace(cell, (x, state)), jit.script(cell)
    print("traced:", traced.graph, "", "scripted:", scripted.graph, "", sep="\n")
    count = lamella.graph.rewrite(traced.graph, LINEAR, ADDMM)
    lamella.graph.run_pass("dce", traced.graph)  # removes the nodes that were replaced
    print(f"{count} linear layers of the trace as addmm:", traced.graph, "", sep="\n")
    (h, c), (h2, c2) = cell(x, state), scripted(x, state)
    print("the script gives the cell's bits:", lamella.equal(h, h2) and lamella.equal(c, c2))
    h3, c3 = traced(x, state)
    print("the rewritten trace agrees:", lamella.allclose(h, h3) and lamella.allclose(c, c3))


if __name__ == "__main__":
    main()
