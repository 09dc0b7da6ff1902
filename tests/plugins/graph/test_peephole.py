"""The rules that make graphs shorter, each over samples of several dtypes and shapes; rules of users."""

import re

import lamella
import pytest
import random_programs as programs
from lamella.graph import Program, rewrite, run_pass
from pass_helpers import after, ops, places

SAMPLES = [
    lamella.tensor([[1.5, -2.0, 0.1], [3.0, -0.0, float("nan")]]),
    lamella.tensor([[1.5, -2.5], [float("inf"), -0.5]], dtype=lamella.float64).t(),
    lamella.tensor([[7, -3, 0]], dtype=lamella.int32),
    lamella.tensor([[1 + 2j, -3.5j]]),
    lamella.tensor([[True, False]]),
    lamella.tensor([[1.5, -2.5, 3.5]], dtype=lamella.bfloat16),
    lamella.zeros(0, 3),
    lamella.tensor([1.5, -2.5, 0.0]),
    lamella.tensor(-1.5),
]
RULES = [
    ("%a : Tensor = aten::t(%x) %r : Tensor = aten::t(%a)", []),
    ("%a : Tensor = aten::transpose.int(%x, %i, %j) %r : Tensor = aten::transpose.int(%a, %i, %j)", []),
    ("%a : Tensor = aten::transpose.int(%x, %i, %j) %r : Tensor = aten::transpose.int(%a, %j, %i)", []),
    ("%a : Tensor = aten::unsqueeze(%x, %i) %r : Tensor = aten::squeeze.dim(%a, %i)", []),
    ("%a : Tensor = aten::unsqueeze(%x, %j) %r : Tensor = aten::squeeze.dim(%a, %j)", []),
    ("%a : Tensor = aten::relu(%x) %r : Tensor = aten::relu(%a)", ["aten::relu"]),
    ("%a : Tensor = aten::abs(%x) %r : Tensor = aten::abs(%a)", ["aten::abs"]),
    ("%a : Tensor = aten::floor(%x) %r : Tensor = aten::floor(%a)", ["aten::floor"]),
    ("%a : Tensor = aten::ceil(%x) %r : Tensor = aten::ceil(%a)", ["aten::ceil"]),
    ("%a : Tensor = aten::trunc(%x) %r : Tensor = aten::trunc(%a)", ["aten::trunc"]),
]


def outcome(p, *args):
    try:
        return programs.frozen(p.run("", args).to(lamella.complex128).resolve_conj())
    except (RuntimeError, IndexError, NotImplementedError, TypeError, ValueError) as e:
        return type(e)


@pytest.mark.parametrize(("nodes", "left"), RULES, ids=[n.split("::")[1].split("(")[0] for n, _ in RULES])
def test_each_rule_keeps_every_sample(nodes, left):
    text = f"graph(%x : Tensor, %i : int, %j : int) {{ {nodes} return (%r) }}"
    plain = Program(text)
    changed, short = after("peephole", text)
    run_pass("dce", short)
    assert changed
    assert ops(short) == left
    compared = 0
    for x in SAMPLES:
        for i, j in ((0, 1), (0, -1), (1, 1)):
            before = outcome(plain, x, i, j)
            if isinstance(before, tuple):  # a rule may drop an error
                assert outcome(short, x, i, j) == before, (x, i, j)
                compared += 1
    assert compared >= 6


@pytest.mark.parametrize(
    ("nodes", "kind", "values"),
    [
        ("%a : bool = aten::__not__(%p) %r : bool = aten::__not__(%a)", "bool", (True, False)),
        ("%r : int = aten::add.int(%p, 0)", "int", (5, -(2**63), 2**63 - 1)),
        ("%r : int = aten::mul.int(%p, 1)", "int", (5, -(2**63), 2**63 - 1)),
    ],
)
def test_rules_of_numbers(nodes, kind, values):
    changed, p = after("peephole", f"graph(%p : {kind}) {{ {nodes} return (%r) }}")
    run_pass("dce", p)
    assert changed
    assert ops(p) == []
    assert [p.run("", (v,)) for v in values] == list(values)


@pytest.mark.parametrize(
    "nodes",
    [
        "%r : Tensor = aten::add.Scalar(%x, 0, alpha=1)",  # -0. + 0 is 0.
        "%a : Tensor = aten::t(%x) %w : Tensor = aten::neg_(%a) %r : Tensor = aten::t(%a)",
        "%a : Tensor = aten::neg(%x) %r : Tensor = aten::neg(%a)",
        "%a : Tensor = aten::transpose.int(%x, 0, 1) %r : Tensor = aten::transpose.int(%a, 0, 0)",
    ],
)
def test_what_no_rule_may_change(nodes):
    changed, _ = after("peephole", f"graph(%x : Tensor) {{ {nodes} return (%r) }}")
    assert not changed


def test_tuples_that_are_taken_apart_where_they_are_made():
    changed, p = after(
        "peephole",
        """graph(%x : int, %y : Tensor) {
      %t : (int, Tensor) = prim::TupleConstruct(%x, %y)
      %a : int, %b : Tensor = prim::TupleUnpack(%t)
      %c : Tensor = prim::TupleIndex[index=1](%t)
      return (%a, %b, %c) }""",
    )
    run_pass("dce", p)
    assert changed
    assert ops(p) == []


def test_a_rewritten_node_has_the_place_of_what_it_replaces():
    p = Program("""graph(%x : Tensor) {
      %k : Tensor = aten::abs(%x)
      %y : Tensor = aten::exp(%k)  # f.py:7:3
      return (%y) }""")
    old = "graph(%x : Tensor) { %y : Tensor = aten::exp(%x) return (%y) }"
    new = "graph(%x : Tensor) { %a : Tensor = aten::expm1(%x) %y : Tensor = aten::add.Scalar(%a, 1) return (%y) }"
    assert rewrite(p, old, new) == 1
    run_pass("dce", p)
    found = {op: line for op, line in places(p)}
    assert found["aten::expm1"] == found["aten::add"] == ("f.py", 7, 3)
    assert found["aten::abs"] is None, "it was there before, and has no place"


def test_rules_that_are_none():
    p = Program("graph(%x : Tensor) { return (%x) }")
    good = "graph(%x : Tensor) { %y : Tensor = aten::exp(%x) return (%y) }"
    for old, new, message in (
        ("graph(", good, "1:7: expected a value"),
        ("graph(%x : Tensor) { return (%x) }", good, "the graph that is replaced has no node"),
        (good, "graph() { %y : Tensor = aten::rand([2]) return (%y) }", "have the same parameters"),
        (good, "graph(%x : Tensor) { return (%x, %x) }", "has one result"),
    ):
        with pytest.raises((RuntimeError, ValueError), match=re.escape(message)):
            rewrite(p, old, new)
