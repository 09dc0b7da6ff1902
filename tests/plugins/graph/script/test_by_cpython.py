"""Random programs over ints, lists and texts: a script gives what CPython gives, or raises the same error."""

import itertools
import linecache
import textwrap
import typing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lamella.plugins.graph.jit import script

STATEMENTS = st.sampled_from(
    [
        "a += {n}",
        "b = a * {m} - b",
        "a, b = b, a",
        "xs.append(a)",
        "xs.insert({m}, b)",
        "xs[-1] += a",
        "s = s + str(b)",
        "s += f'{{a}}-{{b:3d}}'",
        "a = max(a, b) // {m}",
        "b = (a - {n}) % {m}",
        "a = len(s) if len(xs) > {n} else b",
        "xs = [x + {n} for x in xs if x != {m}]",
        "ys = xs[{n}:]\nxs += ys[:{m}]",
        "o = None if a > b else a",
        "if o is not None:\n    a = o + 1",
        "d['k{n}'] = a",
        "b += d.get('k{m}', {n})",
        "t = (a, s)\na, s = t[0] + 1, t[1]",
        "a = -a if not (a < 0 or b < 0) else abs(b)",
        "b = int(a < b < {n})",
        "while a > {n} and b < 100:\n    a -= {m}\n    b += 7",
        "a %= 1000003\nb %= 1000003",
    ]
)
TESTS = st.sampled_from(
    ["a > {n}", "b % 2 == 0 and a != b", "len(xs) < {n} or not s", "{m} in xs", "a == b or a < {n}"]
)
EXITS = st.sampled_from(["return a + {n}, xs, s", "return b, xs, s", "break", "continue", "assert a != {n}, 'equal'"])


def indented(text):
    return textwrap.indent(text, "    ")


def blocks(depth, in_loop):
    """Returns a strategy of texts of several statements."""
    exits = EXITS if in_loop else EXITS.filter(lambda line: line not in ("break", "continue"))
    line = st.one_of(STATEMENTS, STATEMENTS, STATEMENTS, exits)
    if depth == 0:
        return st.lists(line, min_size=1, max_size=4).map("\n".join)
    inner, looped = blocks(depth - 1, in_loop), blocks(depth - 1, True)
    parts = [
        line,
        st.builds(lambda t, x: f"if {t}:\n{indented(x)}", TESTS, inner),
        st.builds(lambda t, x, y: f"if {t}:\n{indented(x)}\nelse:\n{indented(y)}", TESTS, inner, inner),
        st.builds(lambda x: f"for i in range({{m}}):\n    a += i\n{indented(x)}", looped),
        st.builds(lambda x: f"for i, x in enumerate(xs[:4]):\n    b += i * x\n{indented(x)}", looped),
        st.builds(lambda x: f"while steps < 20:\n    steps += {{m}}\n{indented(x)}", looped),
    ]
    return st.lists(st.one_of(*parts), min_size=1, max_size=4).map("\n".join)


def outcome(function, arguments):
    xs, rest = list(arguments[2]), arguments[3]
    try:
        return function(arguments[0], arguments[1], xs, rest)
    except Exception as error:  # noqa: BLE001 - any error is the outcome
        return type(error).__name__, str(error.args[0] if error.args else "").splitlines()[:1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("programs")


@settings(max_examples=150)
@given(
    blocks(2, False),
    st.lists(st.integers(0, 9), min_size=3, max_size=9),
    st.lists(
        st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.lists(st.integers(0, 5), max_size=5)),
        min_size=1,
        max_size=3,
    ),
)
def test_same_as_cpython(folder, body, numbers, arguments):
    n, m = itertools.cycle(numbers), itertools.cycle([1 + x % 4 for x in reversed(numbers)])
    lines = [line.format(n=next(n), m=next(m)) for line in body.splitlines()]
    source = "\n".join(
        [
            "def f(a: int, b: int, xs: typing.List[int], s: str):",
            "    o: typing.Optional[int] = None",
            "    steps = 0",
            "    d: typing.Dict[str, int] = {}",
            *(indented(line) for line in lines),
            "    return a, xs, s",
        ]
    )
    path = folder / "program.py"
    path.write_text(source)
    linecache.checkcache()
    names = {"typing": typing}
    exec(compile(source, path, "exec"), names)
    scripted = script(names["f"])
    for a, b, xs in arguments:
        given = a, b, xs, "s"
        assert outcome(scripted, given) == outcome(names["f"], given), source
