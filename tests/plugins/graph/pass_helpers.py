"""Helpers for tests of passes."""

from lamella.graph import Program, run_pass


def places(program):
    """The lines of all nodes but constants, which a pass may make."""

    def within(block):
        for n in block.nodes():
            yield n.op, n.source
            for b in n.blocks():
                yield from within(b)

    return [p for name in program.names for p in within(program.graph(name).block())]


def after(name, text):
    p = Program(text)
    p.verify()
    changed = run_pass(name, p)
    p.verify()
    return changed, p


def ops(p, graph=""):
    return [n.op for n in p.graph(graph).nodes()]
