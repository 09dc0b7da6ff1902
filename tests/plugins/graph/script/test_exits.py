"""exits.py keeps the meaning of programs: CPython runs random functions before and after the rewriting."""

import ast
import itertools

from hypothesis import given, settings
from hypothesis import strategies as st
from lamella.plugins.graph.script.exits import RETURN, lower

SIMPLE = st.sampled_from(["trace.append({n})", "a += {n}", "b = a * 2 + {n}", "a, b = b, a"])
EXITS = st.sampled_from(["return a + {n}", "return", "raise ValueError({n})", "break", "continue"])
TESTS = st.sampled_from(["a > {n}", "b % 2 == 0", "trace[-1] == {n}", "a % 3 == 1"])


def blocks(depth, in_loop):
    """Returns a strategy of lists of lines."""
    exits = EXITS if in_loop else EXITS.filter(lambda line: line not in ("break", "continue"))
    line = st.one_of(SIMPLE, SIMPLE, exits).map(lambda text: [text])
    if depth == 0:
        return st.lists(line, min_size=1, max_size=3).map(lambda parts: list(itertools.chain(*parts)))
    inner, looped = blocks(depth - 1, in_loop), blocks(depth - 1, True)
    parts = [
        line,
        st.builds(lambda t, x: [f"if {t}:", *indented(x)], TESTS, inner),
        st.builds(lambda t, x, y: [f"if {t}:", *indented(x), "else:", *indented(y)], TESTS, inner, inner),
        st.builds(lambda x: ["for i in range(3):", "    a += i", *indented(x)], looped),
        st.builds(lambda x: ["while len(trace) < 12:", "    trace.append(a)", *indented(x)], looped),
        st.builds(lambda x: ["with context(trace):", *indented(x)], inner),
    ]
    return st.lists(st.one_of(*parts), min_size=1, max_size=4).map(lambda parts: list(itertools.chain(*parts)))


def indented(lines):
    return ["    " + line for line in lines]


class Context:
    def __init__(self, trace):
        self.trace = trace

    def __enter__(self):
        self.trace.append("in")

    def __exit__(self, kind, *_):
        if kind is None:
            self.trace.append("out")


def outcome(source):
    """Returns what a function gives, or raises, and what it has written to ``trace``."""
    names = {"context": Context}
    exec(source, names)
    trace = [0]
    try:
        return names["f"](3, 4, trace), trace
    except ValueError as error:
        return repr(error), trace


def rewritten(source):
    """Returns a function after the rewriting, as Python: a loop ends where one of its flags is set."""
    tree = ast.parse(source)
    function = tree.body[0]
    function.body = lower(function.body)
    assert not any(isinstance(n, (ast.Return, ast.Break, ast.Continue)) for n in ast.walk(tree))
    for node in list(ast.walk(tree)):
        if isinstance(node, (ast.For, ast.While)) and node.stops:
            flags = ast.BoolOp(ast.Or(), [ast.Name(n, ast.Load()) for n in node.stops] * 2)
            node.body.append(ast.If(flags, [ast.Break()], []))
    function.body.append(ast.Return(ast.Name(RETURN, ast.Load())))
    for node in ast.walk(tree):
        for part in ("body", "orelse"):
            if part == "body" and getattr(node, part, None) == []:
                node.body = [ast.Pass()]
    return ast.unparse(ast.fix_missing_locations(tree)).replace("$", "flag_")


@settings(max_examples=300)
@given(blocks(3, False), st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_meaning(lines, numbers):
    numbers = itertools.cycle(numbers)
    lines = [line.format(n=next(numbers)) for line in lines]
    source = "\n".join(["def f(a, b, trace):", *indented(lines)])
    before, after = outcome(source), outcome(rewritten(source))
    assert before == after, f"{source}\n---\n{rewritten(source)}"


def test_straight_exits_set_no_flags():
    """A chain of returns becomes nested branches without a flag."""
    source = "def f(a, b, trace):\n    if a > 1:\n        return a\n    if b > 1:\n        return b\n    return 0"
    assert "returned" not in rewritten(source)
