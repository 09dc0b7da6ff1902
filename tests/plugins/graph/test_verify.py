"""The verifier: for each of its rules a graph that breaks it, with the whole message."""

import re
from pathlib import Path

import lamella
import pytest
from lamella.graph import Program, parse

ROOT = Path(__file__).resolve().parents[3]
FILES = [ROOT / "plugins/graph/ir" / name for name in ("verify.cpp", "types_of_nodes.cpp")]

HEAD = "class C {\n  a : int\n  t : Tensor\n}\n"
TAIL = """
with f = graph(%p : int, %q : Tensor) { return (%q) }
with two = graph(%p : int) { return (%p, %p) }
with C.m = graph(%self : C, %p : int) { return (%p) }
"""
PARAMS = "%b : bool, %i : int, %x : Tensor, %l : int[], %t : (int, str), %c : C, %u : Future(int), %s : str"

CASES = [
    # control flow
    ("prim::If()", "prim::If: has 0 inputs, 0 outputs and 0 blocks; expected 1, 0 and 2"),
    ("prim::If(%b) block0() { -> () }", "prim::If: has 1 inputs, 0 outputs and 1 blocks; expected 1, 0 and 2"),
    ("prim::If(%i) block0() { -> () } block1() { -> () }",
     "prim::If: the condition, %i, is a int; it has to be a bool"),
    ("prim::If(%b) block0(%k : int) { -> () } block1() { -> () }", "prim::If: a branch has no parameters"),
    ("%r : int = prim::If(%b) block0() { -> (%i) } block1() { -> () }",
     "%r = prim::If: a branch gives 0 values for 1 outputs"),
    ("%r : int = prim::If(%b) block0() { -> (%i) } block1() { -> (%x) }",
     "%r = prim::If: the result of a branch, %x, is a Tensor; it has to be a int"),
    ("prim::Loop(%i) block0(%k : int) { -> (%b) }",
     "prim::Loop: has 1 inputs, 0 outputs and 1 blocks; expected 2, 0 and 1"),
    ("prim::Loop(%b, %b) block0(%k : int) { -> (%b) }",
     "prim::Loop: the number of trips, %b, is a bool; it has to be a int"),
    ("prim::Loop(%i, %i) block0(%k : int) { -> (%b) }", "prim::Loop: the condition, %i, is a int; it has to be a bool"),
    ("prim::Loop(%i, %b) block0() { -> (%b) }",
     "prim::Loop: the body has 0 parameters and 1 results for 0 carried values; it takes the trip's number and them, "
     "and gives the condition and them"),
    ("prim::Loop(%i, %b) block0(%k : int) { -> () }",
     "prim::Loop: the body has 1 parameters and 0 results for 0 carried values; it takes the trip's number and them, "
     "and gives the condition and them"),
    ("prim::Loop(%i, %b) block0(%k : str) { -> (%b) }",
     "prim::Loop: the trip's number, %k, is a str; it has to be a int"),
    ("prim::Loop(%i, %b) block0(%k : int) { -> (%k) }",
     "prim::Loop: the condition of the next trip, %k, is a int; it has to be a bool"),
    ("%r : int = prim::Loop(%i, %b, %x) block0(%k : int, %y : int) { -> (%b, %y) }",
     "%r = prim::Loop: a carried value, %x, is a Tensor; it has to be a int"),
    ("%r : int = prim::Loop(%i, %b, %i) block0(%k : int, %y : int) { -> (%b, %x) }",
     "%r = prim::Loop: a carried value of the body, %x, is a Tensor; it has to be a int"),
    ("%r : str = prim::Loop(%i, %b, %i) block0(%k : int, %y : int) { -> (%b, %y) }",
     "%r = prim::Loop: a carried value, %y, is a int; it has to be a str"),
    ("aten::neg(%i) block0() { -> () }", "aten::neg: has blocks, as only prim::If and prim::Loop have"),
    # constants
    ("%k : int = prim::Constant[value=1](%i)",
     "%k = prim::Constant: has 1 inputs, 1 outputs and 0 blocks; expected 0, 1 and 0"),
    ('%k : int = prim::Constant[value="1"]()', '%k = prim::Constant: the value "1" is no int'),
    ("%k : int = prim::Constant()", "%k = prim::Constant: the value None is no int"),
    ("%k : int[] = prim::Constant[value=[1, 2.5]]()", "%k = prim::Constant: the value [1, 2.5] is no int[]"),
    ("%k : (int, str) = prim::Constant[value=[1]]()", "%k = prim::Constant: the value [1] is no (int, str)"),
    # containers
    ("prim::ListConstruct(%i)", "prim::ListConstruct: has 1 inputs and 0 outputs; expected 1 and 1"),
    ("%r : int = prim::ListConstruct(%i)", "%r = prim::ListConstruct: %r is a int; it has to be a list"),
    ("%r : int[] = prim::ListConstruct(%i, %x)",
     "%r = prim::ListConstruct: an element, %x, is a Tensor; it has to be a int"),
    ("%r : int = prim::TupleConstruct(%i)", "%r = prim::TupleConstruct: %r is a int; it has to be a tuple"),
    ("%r : (int, int) = prim::TupleConstruct(%i)", "%r = prim::TupleConstruct: a tuple of another number of values"),
    ("%r : (int, int) = prim::TupleConstruct(%i, %x)",
     "%r = prim::TupleConstruct: a part of the tuple, %x, is a Tensor; it has to be a int"),
    ("%r : Dict(str, int) = prim::DictConstruct(%s)",
     "%r = prim::DictConstruct: has 1 inputs and 1 outputs; expected 0 and 1"),
    ("%r : int = prim::DictConstruct()", "%r = prim::DictConstruct: %r is a int; it has to be a dictionary"),
    ("%r : Dict(str, int) = prim::DictConstruct(%i, %i)",
     "%r = prim::DictConstruct: a key, %i, is a int; it has to be a str"),
    ("%r : Dict(str, int) = prim::DictConstruct(%s, %s)",
     "%r = prim::DictConstruct: a value, %s, is a str; it has to be a int"),
    ("%r : int = prim::ListUnpack(%t)", "%r = prim::ListUnpack: %t is a (int, str); it has to be a list"),
    ("%r : str = prim::ListUnpack(%l)", "%r = prim::ListUnpack: an element is a int; it has to be a str"),
    ("%r : int = prim::TupleUnpack(%t)", "%r = prim::TupleUnpack: a tuple of another number of values"),
    ("%r : int, %q : int = prim::TupleUnpack(%t)",
     "%r, %q = prim::TupleUnpack: a part of the tuple is a str; it has to be a int"),
    ("%r : int = prim::TupleIndex(%t)", "%r = prim::TupleIndex: needs an attribute 'index' within the tuple"),
    ("%r : int = prim::TupleIndex[index=2](%t)", "%r = prim::TupleIndex: needs an attribute 'index' within the tuple"),
    ("%r : int = prim::TupleIndex[index=1](%t)",
     "%r = prim::TupleIndex: the part of the tuple is a str; it has to be a int"),
    # classes
    ('%r : int = prim::GetAttr[name="a"](%x)', "%r = prim::GetAttr: %x is a Tensor; it has to be a class"),
    ("%r : int = prim::GetAttr(%c)", "%r = prim::GetAttr: needs an attribute 'name' with a text"),
    ("%r : int = prim::GetAttr[name=1](%c)", "%r = prim::GetAttr: needs an attribute 'name' with a text"),
    ('%r : int = prim::GetAttr[name="z"](%c)', "%r = prim::GetAttr: class C has no attribute 'z'"),
    ('%r : str = prim::GetAttr[name="a"](%c)', "%r = prim::GetAttr: attribute 'a' is a int; it has to be a str"),
    ('prim::SetAttr[name="a"](%c, %s)', "prim::SetAttr: attribute 'a', %s, is a str; it has to be a int"),
    ('%d : D = prim::CreateObject() %r : int = prim::GetAttr[name="a"](%c)',
     "%d = prim::CreateObject: there is no class 'D' in the program"),
    # calls
    ('%r : Tensor = prim::CallFunction[name="g"](%i, %x)',
     "%r = prim::CallFunction: there is no function 'g' in the program"),
    ('%r : Tensor = prim::CallFunction[name=""](%i, %x)',
     "%r = prim::CallFunction: there is no function '' in the program"),
    ('%r : Tensor = prim::CallFunction[name="f"](%i)', "%r = prim::CallFunction: f takes 2 arguments, and gets 1"),
    ('%r : Tensor = prim::CallFunction[name="f"](%i, %i)',
     "%r = prim::CallFunction: argument 'q' of f, %i, is a int; it has to be a Tensor"),
    ('prim::CallFunction[name="f"](%i, %x)', "prim::CallFunction: f gives 1 values, and the node has 0"),
    ('%r : int = prim::CallFunction[name="f"](%i, %x)',
     "%r = prim::CallFunction: the result of f is a Tensor; it has to be a int"),
    ('%r : int = prim::CallMethod[name="m"]()', "%r = prim::CallMethod: needs an instance"),
    ('%r : int = prim::CallMethod[name="m"](%x)', "%r = prim::CallMethod: %x is a Tensor; it has to be a class"),
    ('%r : int = prim::CallMethod[name="n"](%c)', "%r = prim::CallMethod: there is no function 'C.n' in the program"),
    ('%r : Tensor = prim::fork[name="f"](%i, %x)', "%r = prim::fork: %r is a Tensor; it has to be a Future"),
    ('%r : Future(int) = prim::fork[name="two"](%i)', "%r = prim::fork: two gives 2 values, and the node has 1"),
    ("%r : int = aten::wait(%x)", "%r = aten::wait: %x is a Tensor; it has to be a Future"),
    ("%r : str = aten::wait(%u)", "%r = aten::wait: the result is a int; it has to be a str"),
    ('%r : int, %q : int = prim::PythonCall[name="h"](%i)',
     "%r, %q = prim::PythonCall: has 1 inputs and 2 outputs; expected 1 and 1"),
    ("%r : int = prim::PythonCall(%i)", "%r = prim::PythonCall: needs an attribute 'name' with a text"),
    # further primitives
    ("%r : int = prim::isinstance[types=[\"int\"]](%i)",
     "%r = prim::isinstance: the answer is a bool; it has to be a int"),
    ("%r : bool = prim::isinstance(%i)", "%r = prim::isinstance: needs an attribute 'types'"),
    ("prim::RaiseException()", "prim::RaiseException: has 0 inputs and 0 outputs; expected 1 and 0"),
    ("%r : int = prim::unchecked_cast()", "%r = prim::unchecked_cast: has 0 inputs and 1 outputs; expected 1 and 1"),
    ("%r : int = prim::Uninitialized(%i)", "%r = prim::Uninitialized: has 1 inputs and 1 outputs; expected 0 and 1"),
    ("%r : int = prim::Print(%i)", "%r = prim::Print: has 1 inputs and 1 outputs; expected 1 and 0"),
    # operators
    ("%r : int = aten::no_such(%i)", "%r = aten::no_such: there is no such operator"),
    ("%r : int = aten::add.no_such(%i)", "%r = aten::add: there is no such operator with overload 'no_such'"),
    ("%r : int = aten::neg.int(%i, %i)", "%r = aten::neg: takes 1 arguments, and gets 2"),
    ("%r : int = aten::add.int(%i)", "%r = aten::add: argument 'b' is missing"),
    ("%r : int = aten::add.int(%i, %s)", "%r = aten::add: argument 'b', %s, is a str; it has to be a int"),
    ("%r : int[] = aten::append.t(%l, %s)", "%r = aten::append: argument 'el', %s, is a str; it has to be a int"),
    ("aten::add.int(%i, %i)", "aten::add: gives 1 values, and has 0 outputs"),
    ("%r : str = aten::add.int(%i, %i)", "%r = aten::add: the result is a int; it has to be a str"),
]  # fmt: skip


@pytest.mark.parametrize(("node", "message"), CASES, ids=[str(i) for i in range(len(CASES))])
def test_a_wrong_graph_is_refused(node, message):
    p = Program(f"{HEAD}graph({PARAMS}) {{\n  {node}\n  return () }}{TAIL}")
    with pytest.raises(ValueError) as e:
        p.verify()
    assert str(e.value) == message
    with pytest.raises(ValueError) as e:
        p.run("", ())
    assert str(e.value) == message, "a call verifies, too"


def test_the_message_names_the_place():
    p = Program("graph(%x : int) { %y : str = aten::neg.int(%x)  # dir/net.py:12:4\n return () }")
    with pytest.raises(ValueError) as e:
        p.verify()
    assert str(e.value) == "dir/net.py:12: %y = aten::neg: the result is a int; it has to be a str"


def changed(change):
    """A graph of three nodes, the second with a block, behind a change by handles; returns the verifier's message."""
    p = Program("""graph(%x : int, %b : bool) {
      %y : int = aten::neg(%x)
      %z : int = prim::If(%b)
        block0() { %inner : int = aten::neg(%y) -> (%inner) }
        block1() { -> (%y) }
      %w : int = aten::neg(%z)
      return (%w) }""")
    p.verify()
    neg, branch, last = p.graph().nodes()
    change(neg, branch, last)
    with pytest.raises(ValueError) as e:
        p.verify()
    return str(e.value)


def test_values_are_used_where_they_are_seen():
    used_before = changed(lambda neg, branch, last: neg.replace_input(0, last.outputs()[0]))
    assert used_before == "%y = aten::neg: %w is used where it is not defined"
    inner = lambda branch: branch.blocks()[0].nodes()[0].outputs()[0]  # noqa: E731
    from_a_block = changed(lambda neg, branch, last: last.replace_input(0, inner(branch)))
    assert from_a_block == "%w = aten::neg: %inner is used where it is not defined"


def test_values_of_another_graph_are_refused():
    g, other = (parse(f"graph(%{x} : int) {{ %y : int = aten::neg(%{x}) return (%y) }}") for x in ("near", "far"))
    far, node = other.inputs()[0], g.nodes()[0]
    for change in (
        lambda: node.replace_input(0, far),
        lambda: g.insert("aten::neg", [far], ["int"]),
        lambda: g.inputs()[0].replace_uses(far),
    ):
        with pytest.raises(ValueError, match="%far: the value is of another graph"):
            change()
    other.program.verify()
    assert other(3) == -3


def test_a_change_of_a_type_is_verified():
    def change(neg, branch, last):
        neg.outputs()[0].type = "str"

    assert changed(change) == "%y = aten::neg: the result is a int; it has to be a str"


GOOD = [
    "%r : int? = prim::If(%b) block0() { -> (%i) } block1() { %n : NoneType = prim::Constant() -> (%n) }",
    "%k : int? = prim::Constant()",
    "%k : float[] = prim::Constant[value=[1., nan]]()",
    '%k : (int, str) = prim::Constant[value=[1, "a"]]()',
    "%r : Scalar = prim::If(%b) block0() { -> (%i) } block1() { -> (%b) }",
    "%y : Float(3) = aten::abs(%x)",
    '%r : int = prim::CallMethod[name="m"](%c, %i)',
    '%f : Future(Tensor) = prim::fork[name="f"](%i, %x) %r : Float(2) = aten::wait(%f)',
    "%r : Any = prim::If(%b) block0() { -> (%i) } block1() { -> (%x) }",
    "%r : int[] = prim::ListConstruct()",
]


@pytest.mark.parametrize("node", GOOD)
def test_a_good_graph_passes(node):
    Program(f"{HEAD}graph({PARAMS}) {{\n  {node}\n  return () }}{TAIL}").verify()


def messages():
    """The texts of the messages in the verifier's sources, each as the longest literal of its statement."""
    for file in FILES:
        source = re.sub(r"//.*", "", file.read_text())
        for call in re.findall(r"(?:fail\(|throw Mismatch\(|expect\(|of_kind\()[^;{]*;", source):
            texts = re.findall(r'"((?:[^"\\]|\\.)*)"', call)
            if texts:
                yield max(texts, key=len)


def test_each_rule_has_a_case():
    shown = "\n".join(m for _, m in CASES) + Path(__file__).read_text()
    damaged = (ROOT / "tests/cpp/fuzz_graph.cpp").read_text()  # what no text and no handle can break
    assert len(set(messages())) > 50
    assert [m for m in messages() if m not in shown and m not in damaged] == []


def test_many_uses_of_one_value_are_quick():
    """100000 nodes use one value: a verifier that looks at all uses for each of them would take minutes."""
    n = 100000
    body = "\n".join(f"%y{i} : int = aten::neg.int(%x)" for i in range(n))
    p = Program(f"graph(%x : int) {{ {body} return (%y{n - 1}) }}")
    p.verify()
    assert p.run("", (3,)) == -3
    assert lamella.graph.run_pass("dce", p)
    assert len(p.graph().nodes()) == 1
