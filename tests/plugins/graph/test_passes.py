"""Passes: none changes a bit of a result, each does what it is for, and none grows without a bound."""

import time

import lamella
import pytest
import random_programs as programs
from hypothesis import given, settings
from lamella.graph import Program, parse, passes, run_pass
from pass_helpers import after, ops, places

OWN = ("inline", "constant_propagation", "peephole", "cse", "dce", "unroll")


def run(program):
    args = programs.arguments(program)
    return programs.state(program.run("", args), args)


@settings(max_examples=60)
@given(programs.programs())
def test_passes_change_no_bit(text):
    program = Program(text)
    program.verify()
    before = run(program)
    for name in OWN:
        one = program.copy()
        run_pass(name, one)
        one.verify()
        assert run(one) == before, name
        run_pass(name, one)  # a second time
        one.verify()
        assert run(one) == before, name
    together = program.copy()
    for _ in range(2):
        for name in OWN:
            run_pass(name, together)
            together.verify()
            assert run(together) == before, name
    assert Program(str(together)) == together


@settings(max_examples=60)
@given(programs.programs())
def test_source_lines_are_kept(text):
    """Each node that is left has a line, and its operator stood on that line; constants and counters are made anew."""
    program = Program(text)
    known = {(op, line) for op, line in places(program) if line}
    for name in OWN:
        run_pass(name, program)
        made = {"aten::max", "aten::floordiv", "aten::mul", "aten::add", "aten::sub", "prim::Constant"}
        for op, line in places(program):
            assert line or op in made, (name, op)
            assert not line or op in ("prim::Constant",) or (op, line) in known, (name, op, line)


def test_the_registered_passes():
    assert tuple(passes()[: len(OWN)]) == OWN
    with pytest.raises(ValueError, match="there is no pass 'spam'"):
        run_pass("spam", Program("graph() { return () }"))


# ---- dead and common nodes ----


def test_dead_nodes_are_removed_and_effects_are_not():
    changed, p = after(
        "dce",
        """class C {
  n : int
}
graph(%x : Tensor, %c : C, %i : int) {
  %a : Tensor = aten::exp(%x)
  %b : Tensor = aten::neg(%a)
  %w : Tensor = aten::neg_(%x)
  %r : Tensor = aten::rand_like(%x)
  prim::Print(%i)
  prim::SetAttr[name="n"](%c, %i)
  %t : bool = prim::Constant[value=True]()
  %k : int = prim::If(%t)
    block0() { %u : Tensor = aten::exp(%x) %v : Tensor = aten::add_.Tensor(%x, %x, alpha=1) -> (%i) }
    block1() { %u : Tensor = aten::exp(%x) -> (%i) }
  return () }""",
    )
    assert changed
    assert [o for o in ops(p) if o != "prim::Constant"] == [
        "aten::neg_", "aten::rand_like", "prim::Print", "prim::SetAttr", "prim::If",
    ]  # fmt: skip
    inner = [[n.op for n in b.nodes()] for b in p.graph().nodes()[-1].blocks()]
    assert inner == [["prim::Constant", "aten::add_"], []] or inner == [["aten::add_"], []]
    assert not run_pass("dce", p)


def test_common_nodes_are_shared():
    changed, p = after(
        "cse",
        """graph(%x : Tensor) {
      %a : Tensor = aten::exp(%x)
      %b : Tensor = aten::exp(%x)
      %c : Tensor = aten::mul.Tensor(%a, %b)
      return (%c) }""",
    )
    assert changed
    assert ops(p) == ["aten::exp", "aten::mul"]


@pytest.mark.parametrize("node", ["aten::rand_like(%x)", "aten::neg_(%x)", "prim::ListConstruct(%x)"])
def test_what_is_made_anew_is_not_shared(node):
    kind = "Tensor[]" if "List" in node else "Tensor"
    changed, p = after("cse", f"graph(%x : Tensor) {{ %a : {kind} = {node} %b : {kind} = {node} return (%a, %b) }}")
    assert not changed


def test_nothing_is_shared_across_a_write():
    text = """graph(%x : Tensor) {
      %a : Tensor = aten::exp(%x)
      %w : Tensor = aten::neg_(%x)
      %b : Tensor = aten::exp(%x)
      %c : Tensor = aten::sub.Tensor(%a, %b, alpha=1)
      return (%c) }"""
    changed, p = after("cse", text)
    assert not changed
    assert p.run("", (lamella.tensor([1.0]),)) != 0


CALLER = """graph(%x : Tensor) {
  %t : Tensor, %u : Tensor = prim::CallFunction[name="f"](%x)
  %w : Tensor = aten::neg_(%t)
  return (%t, %u)
}
with f = graph(%x : Tensor) {
  %a : Tensor = aten::abs(%x)
  %b : Tensor = aten::abs(%x)
  MORE
  return (RESULTS)
}
"""


@pytest.mark.parametrize(
    ("more", "results"),
    [
        ("", "%a, %b"),
        ("%c : Tensor = aten::t(%a) %d : Tensor = aten::t(%c)", "%d, %b"),
        ("%l : Tensor[] = prim::ListConstruct(%a, %b) %c : Tensor, %d : Tensor = prim::ListUnpack(%l)", "%c, %d"),
        ("%k : bool = aten::lt.int(1, 2) %c : Tensor = prim::If(%k) block0() { -> (%a) } block1() { -> (%x) }",
         "%c, %b"),
    ],
)  # fmt: skip
def test_two_results_that_the_caller_writes_stay_two(more, results):
    p = Program(CALLER.replace("MORE", more).replace("RESULTS", results))
    x = lamella.tensor([[1.0, -2.0]])
    run_pass("cse", p)
    t, u = p.run("", (x,))
    assert t.tolist() == [[-1.0, -2.0]]
    assert u.tolist() == [[1.0, 2.0]]


def test_two_zeros_are_not_one_constant():
    changed, p = after(
        "cse",
        """graph(%x : Tensor) {
      %a : float = prim::Constant[value=0.]() %b : float = prim::Constant[value=-0.]()
      %c : float = prim::Constant[value=nan]() %d : float = prim::Constant[value=nan]()
      %y : Tensor = aten::mul.Scalar(%x, %a) %z : Tensor = aten::mul.Scalar(%x, %b)
      return (%y, %z, %c, %d) }""",
    )
    assert changed  # the two nans
    y, z, c, d = p.run("", (lamella.ones(1),))
    assert lamella.signbit(z).item() and not lamella.signbit(y).item()
    assert len([o for o in ops(p) if o == "prim::Constant"]) == 3


# ---- constants ----


@pytest.mark.parametrize(
    ("node", "kind", "value"),
    [
        ("aten::add.int(2, 3)", "int", 5),
        ("aten::floordiv.int(-7, 2)", "int", -7 // 2),
        ("aten::remainder.int(-7, 2)", "int", -7 % 2),
        ("aten::div.int(7, 2)", "float", 3.5),
        ("aten::mul.float(0.1, 3.)", "float", 0.1 * 3.0),
        ("aten::lt.int(2, 3)", "bool", True),
        ('aten::add.str("a", "b")', "str", "ab"),
        ('aten::mul.str_int("ab", 3)', "str", "ababab"),
        ("aten::add.complex(complex(1, 2), complex(3, 4))", "complex", 4 + 6j),
        ('aten::len.str("abc")', "int", 3),
    ],
)
def test_constants_are_computed_as_python_does(node, kind, value):
    changed, p = after("constant_propagation", f"graph() {{ %r : {kind} = {node} return (%r) }}")
    assert changed
    run_pass("dce", p)
    (constant,) = p.graph().nodes()
    assert constant.op == "prim::Constant"
    assert constant.attributes["value"] == value
    assert type(constant.attributes["value"]) is type(value)


@pytest.mark.parametrize("node", ["aten::floordiv.int(1, 0)", "aten::add.int(9223372036854775807, 1)"])
def test_errors_are_left_for_the_run(node):
    changed, p = after("constant_propagation", f"graph() {{ %r : int = {node} return (%r) }}")
    assert not changed
    with pytest.raises((ZeroDivisionError, OverflowError)):
        p.run("", ())


def test_known_branches_and_loops_go_away():
    text = """graph(%x : int, %c : bool) {
      %t : bool = aten::lt.int(2, 3)
      %r : int = prim::If(%t)
        block0() {
          %s : int = prim::If(%c) block0() { -> (%x) } block1() { %n : int = aten::neg.int(%x) -> (%n) }
          -> (%s) }
        block1() { %bad : int = aten::floordiv.int(%x, 0) -> (%bad) }
      %z : int = aten::sub.int(1, 1)
      %u : int = prim::Loop(%z, %t, %r) block0(%i : int, %v : int) { %w : int = aten::add.int(%v, 1) -> (%t, %w) }
      %v : int = prim::Loop(%x, False, %u) block0(%i : int, %v : int) { %w : int = aten::add.int(%v, 1) -> (%t, %w) }
      return (%v) }"""
    changed, p = after("constant_propagation", text)
    assert changed
    run_pass("dce", p)
    assert ops(p) == ["prim::If"]
    assert [p.run("", (5, c)) for c in (True, False)] == [5, -5]


def test_long_texts_are_not_computed_by_a_pass():
    text = 'graph() { %r : str = aten::mul.str_int("abc", 1000000000) return (%r) }'
    begin = time.process_time()
    changed, _ = after("constant_propagation", text)
    assert not changed
    assert time.process_time() - begin < 1


# ---- loops ----

LOOP = """graph(%n : int, %x : Tensor) {{
  %t : bool = prim::Constant[value=True]()
  %trips : int = {trips}
  %y : Tensor = prim::Loop(%trips, %t, %x)
    block0(%i : int, %v : Tensor) {{
      %a : Tensor = aten::add.Scalar(%v, %i, alpha=1)
      %b : Tensor = aten::mul.Tensor(%a, %v)
      -> (%t, %b)
    }}
  return (%y)
}}
"""


def test_a_short_loop_becomes_its_trips():
    changed, p = after("unroll", LOOP.format(trips="prim::Constant[value=3]()"))
    assert changed
    assert [o for o in ops(p) if o.startswith("aten")] == ["aten::add", "aten::mul"] * 3


def test_a_loop_over_a_number_goes_by_four_with_a_rest():
    """The talk's transformation: trips // 4 rounds of four copies, and a second loop for the trips that are left."""
    text = LOOP.format(trips="aten::add.int(%n, 0)")
    changed, p = after("unroll", text)
    assert changed
    loops = [n for n in p.graph().nodes() if n.op == "prim::Loop"]
    copies = [[n.op for n in loop.blocks()[0].nodes()].count("aten::mul") for loop in loops]
    assert copies == [4 + 1, 1]  # and the product of round and four
    assert [n.op for n in p.graph().nodes() if n.op.startswith("aten")] == [
        "aten::add", "aten::max", "aten::floordiv", "aten::mul", "aten::sub",
    ]  # fmt: skip
    plain = Program(text)
    x = lamella.tensor([0.5, -0.25])
    for n in (-(2**63), -5, -1, *range(14)):
        assert lamella.equal(p.run("", (n, x)), plain.run("", (n, x))), n


def test_a_loop_with_a_condition_stays():
    text = """graph(%n : int) {
      %t : bool = prim::Constant[value=True]()
      %y : int = prim::Loop(%n, %t, %n)
        block0(%i : int, %v : int) { %c : bool = aten::lt.int(%v, 5) -> (%c, %v) }
      return (%y) }"""
    changed, _ = after("unroll", text)
    assert not changed


# ---- calls ----


def test_calls_become_graphs_and_recursion_stays():
    changed, p = after(
        "inline",
        """graph(%n : int) {
  %a : int = prim::CallFunction[name="twice"](%n)  # m.py:3:1
  %b : int = prim::CallFunction[name="down"](%a)
  %c : int = prim::CallFunction[name="even"](%b)
  return (%c)
}
with twice = graph(%x : int) { %y : int = prim::CallFunction[name="add"](%x, %x) return (%y) }
with add = graph(%x : int, %z : int) { %y : int = aten::add.int(%x, %z)  # m.py:9:2
 return (%y) }
with down = graph(%x : int) {
  %c : bool = aten::gt.int(%x, 3)
  %r : int = prim::If(%c)
    block0() { %m : int = aten::sub.int(%x, 1) %k : int = prim::CallFunction[name="down"](%m) -> (%k) }
    block1() { -> (%x) }
  return (%r)
}
with even = graph(%x : int) { %y : int = prim::CallFunction[name="odd"](%x) return (%y) }
with odd = graph(%x : int) {
  %c : bool = aten::gt.int(%x, 0)
  %r : int = prim::If(%c)
    block0() { %m : int = aten::sub.int(%x, 1) %k : int = prim::CallFunction[name="even"](%m) -> (%k) }
    block1() { -> (%x) }
  return (%r)
}""",
    )
    assert changed
    assert ops(p) == ["aten::add", "prim::CallFunction", "prim::CallFunction"]
    assert p.graph().nodes()[0].source == ("m.py", 9, 2)
    assert p.run("", (4,)) == 0


def chain(n, forward=True):
    """Functions each of which calls the next one twice: 2 ** n calls."""
    name = lambda i: f"f{i if forward else n - i:03}"  # noqa: E731
    text = f'graph(%x : int) {{ %r : int = prim::CallFunction[name="{name(0)}"](%x) return (%r) }}\n'
    for i in range(n):
        call = f'prim::CallFunction[name="{name(i + 1)}"]'
        text += f"with {name(i)} = graph(%x : int) {{ %a : int = {call}(%x) %b : int = {call}(%a) return (%b) }}\n"
    return text + f"with {name(n)} = graph(%x : int) {{ %y : int = aten::add.int(%x, 1) return (%y) }}\n"


@pytest.mark.parametrize("forward", [True, False])
def test_a_chain_of_calls_does_not_explode(forward):
    """2 ** 60 calls are not inlined, and the program still works where its calls end."""
    begin = time.process_time()
    _, p = after("inline", chain(60, forward))
    assert time.process_time() - begin < 10
    assert len(str(p)) < 40_000_000
    _, small = after("inline", chain(8, forward))
    assert small.run("", (0,)) == 256
    assert set(ops(small)) == {"aten::add", "prim::Constant"}


def test_many_nodes_are_quick():
    """A pass that compares each node with all others would take minutes."""
    n = 30000
    pair = "%y{0} : int = aten::add.int(%x, {0})\n%z{0} : int = aten::mul.int(%y{0}, %y{0})\n"
    body = "".join(pair.format(i) for i in range(n))
    p = Program(f"graph(%x : int) {{ {body} return (%z{n - 1}) }}")
    begin = time.process_time()
    for name in OWN:
        run_pass(name, p)
    assert time.process_time() - begin < 20
    assert p.run("", (1,)) == n**2


def test_a_graph_is_not_changed_by_a_pass_that_finds_nothing():
    g = parse("graph(%x : Tensor) { %y : Tensor = aten::exp(%x) return (%y) }")
    text = str(g)
    assert [run_pass(name, g) for name in OWN] == [False] * len(OWN)
    assert str(g) == text


def test_what_is_no_graph():
    function = lamella.jit.script(identity)
    message = "argument 'graph' must be a Graph or a Program, got ScriptFunction; give its attribute 'graph'"
    with pytest.raises(TypeError, match=f"run_pass: {message}"):
        lamella.graph.run_pass("dce", function)
    with pytest.raises(TypeError, match=f"rewrite: {message}"):
        lamella.graph.rewrite(function, "graph(%x : Tensor) { return (%x) }", "graph(%x : Tensor) { return (%x) }")
    assert not lamella.graph.run_pass("dce", function.graph)


def identity(x):
    return x
