"""Loops as graphs: one with a constant number of trips, which unrolls; one over a number, by four; one over time.

Talks on torch print the graph that runs the first loop: five multiplications, fused to one kernel. Here they are five
nodes, since no pass fuses. The second loop becomes two: one with four trips of the loop in each of its own, and one for
the rest.
"""

import lamella
from lamella import jit, nn


@jit.script
def power(x):
    for _ in range(5):
        x = x * x
    return x


@jit.script
def total(x, n: int):
    for i in range(n):
        x = x + i
    return x


class Recurrent(jit.ScriptModule):
    """A simple recurrent network over the first dimension of its input; it prints what it sees at every tenth step."""

    def __init__(self, size, out):
        super().__init__()
        self.w_in, self.w_state = nn.Parameter(lamella.eye(size)), nn.Parameter(-lamella.eye(size))
        self.w_out = nn.Parameter(lamella.ones(size, out))

    @jit.script_method
    def forward(self, x, h):
        ys = []
        for t in range(x.size(0)):
            h = lamella.tanh(x[t] @ self.w_in + h @ self.w_state)
            ys += [h @ self.w_out]
            if t % 10 == 0:
                print("step", t, "mean", round(float(h.mean()), 3))
        return lamella.stack(ys), h


def run_passes(graph, *names):
    for name in names:
        lamella.graph.run_pass(name, graph)


def main():
    print("a loop of five trips:", power.graph, "", sep="\n")
    before = power(lamella.tensor([0.5, 1.5]))
    run_passes(power.graph, "unroll", "constant_propagation", "dce")
    print("unrolled:", power.graph, "", sep="\n")
    print("the same bits:", lamella.equal(power(lamella.tensor([0.5, 1.5])), before), "\n")

    run_passes(total.graph, "unroll", "constant_propagation", "cse", "dce")
    print("a loop over a number, by four with a rest:", total.graph, sep="\n")
    print("sums of 0 to 10:", total(lamella.zeros(1), 11).tolist(), "\n")

    network = Recurrent(4, 2)
    print("a loop over time:", network.graph, sep="\n")
    ys, h = network(lamella.ones(12, 1, 4), lamella.zeros(1, 4))
    print("shapes:", tuple(ys.shape), tuple(h.shape))


if __name__ == "__main__":
    main()
