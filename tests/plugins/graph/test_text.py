"""The text of graphs: what is printed is read back as the same graph, torch's form is read, faults name their place."""

import re
from pathlib import Path

import generated
import lamella
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lamella.graph import Program, parse

HERE = Path(__file__).resolve().parent


def attributes_of(program):
    """The values of all attributes, in the order of the text."""

    def within(block):
        for node in block.nodes():
            yield from node.attributes.values()
            for inner in node.blocks():
                yield from within(inner)

    return [x for name in program.names for x in within(program.graph(name))]


@settings(max_examples=150)
@given(generated.programs())
@pytest.mark.long
def test_a_printed_program_is_read_as_the_same_program(case):
    text, attributes = case
    program = Program(text)
    printed = str(program)
    again = Program(printed)
    assert again == program
    assert str(again) == printed
    found = attributes_of(program)
    assert len(found) == len(attributes)
    assert all(map(generated.alike, found, attributes))


@settings(max_examples=150)
@given(generated.types)
def test_a_type_is_printed_as_it_was_written(t):
    text = f"graph(%x : {t}) {{\n  return (%x)\n}}"
    assert str(parse(text)) == text


@settings(max_examples=60)
@given(generated.types, generated.types)
def test_graphs_are_equal_exactly_if_their_types_are(a, b):
    one, other = (Program(f"graph(%x : {t}) {{ return (%x) }}") for t in (a, b))
    assert (one == other) == (a == b)


@settings(max_examples=300)
@given(st.floats())
def test_floats_have_their_shortest_text(x):
    """A float is read back bit for bit, and its text is no longer than Python's repr(), the shortest in its form."""
    g = parse(f"graph() {{ %c : float = prim::Constant[value={x!r}]() return (%c) }}")
    text = re.search(r"value=([^\]]*)\]", str(g))[1]
    assert generated.alike(float(text), x)
    assert len(text) <= max(len(repr(x)), 2)


@settings(max_examples=200)
@given(st.text())
def test_texts_of_any_characters(s):
    g = parse(f"graph() {{ %c : str = prim::Constant[value={generated.quoted(s)}]() return (%c) }}")
    assert g.nodes()[0].attributes == {"value": s}
    again = parse(str(g))
    assert again.nodes()[0].attributes == {"value": s}
    assert again() == s


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("aten::add(%x, %y)", "aten::add(%y, %x)"),
        ("aten::add(%x, %y)", "aten::add.Tensor(%x, %y)"),
        ("aten::add(%x, %y)", "aten::sub(%x, %y)"),
        ("aten::add(%x, %y)", "aten::add(%x)"),
        ("aten::f[a=1](%x)", "aten::f[a=2](%x)"),
        ("aten::f[a=1](%x)", "aten::f[a=1.](%x)"),
        ("aten::f[a=1](%x)", "aten::f[b=1](%x)"),
        ("aten::f[a=0.](%x)", "aten::f[a=1.](%x)"),
        ("aten::f[a=True](%x)", "aten::f[a=1](%x)"),
        ("aten::f[a=[1, 2]](%x)", "aten::f[a=[1, [2]]](%x)"),
        ('aten::f[a="cpu"](%x)', 'aten::f[a=Device("cpu")](%x)'),
        ("aten::f[a=<data/0>](%x)", "aten::f[a=<data/1>](%x)"),
        ("aten::f(%x)\n block0() { -> (%x) }", "aten::f(%x)\n block0() { -> (%y) }"),
        ("aten::f(%x)\n block0() { -> (%x) }", "aten::f(%x)"),
        ("aten::f(%x)\n block0(%i : int) { -> (%x) }", "aten::f(%x)\n block0() { -> (%x) }"),
    ],
)
def test_what_differs_is_not_equal(one, other):
    a, b = (
        Program(f"graph(%x : Tensor, %y : Tensor) {{ %z : Tensor = {node}\n return (%z) }}") for node in (one, other)
    )
    assert a == a.copy()
    assert a != b


def test_names_of_values_and_places_do_not_matter():
    a = Program("graph(%x : int) { %y : int = aten::neg(%x)  # f.py:1:2\n return (%y) }")
    b = Program("graph(%p : int) { %q.1 : int = aten::neg(%p)\n return (%q.1) }")
    assert a == b
    assert a != Program("graph(%x : int) { %y : int = aten::neg(%x) return (%x) }")


def test_nan_is_the_same_constant():
    text = "graph() { %c : float = prim::Constant[value=nan]() return (%c) }"
    assert Program(text) == Program(text)


def test_zeros_of_two_signs_are_two_constants():
    a, b = (Program(f"graph() {{ %c : float = prim::Constant[value={z}]() return (%c) }}") for z in ("0.", "-0."))
    assert a != b


@pytest.mark.parametrize(
    ("comment", "place"),
    [
        ("# f.py:3:5", ("f.py", 3, 5)),
        ("# f.py:3:0", ("f.py", 3, 0)),
        ("# f.py:3", ("f.py", 3, 0)),
        ("#  a dir/f:7:3:0", ("a dir/f:7", 3, 0)),
        ("# f:7:3:2", ("f:7", 3, 2)),
        ("#:3:0", None),
        ("# value", None),
        ("# f.py:x", None),
        ("# f.py:99999999999999999999", None),
    ],
)
def test_places(comment, place):
    p = Program(f"graph(%x : int) {{ %y : int = aten::neg(%x)  {comment}\n return (%y) }}")
    for each in (p, Program(str(p)), p.copy()):
        assert each.graph().nodes()[0].source == place


def test_several_graphs_and_classes():
    text = """class Net {
  weight : Tensor
  inner : Net?
}
graph(%x : Tensor) {
  return (%x)
}
with Net.forward = graph(%self : Net, %x : Tensor) {
  %w : Tensor = prim::GetAttr[name="weight"](%self)
  %y : Tensor = aten::mul.Tensor(%x, %w)  # net.py:7:4
  return (%y)
}
with twice = graph(%x : Tensor) {
  return (%x, %x)
}
"""
    p = Program(text)
    assert str(p) == text.rstrip()
    assert p.names == ["", "Net.forward", "twice"]
    assert p.classes == ["Net"]
    assert p.attributes("Net") == {"weight": "Tensor", "inner": "Net?"}
    assert p.graph("Net.forward").nodes()[1].source == ("net.py", 7, 4)


def test_a_name_that_two_blocks_use_is_made_unique():
    g = parse("""graph(%c : bool, %x : int) {
      %r : int = prim::If(%c)
        block0() { %y : int = aten::neg(%x) -> (%y) }
        block1() { %y : int = aten::abs(%x) -> (%y) }
      return (%r) }""")
    assert g(True, 3) == -3
    assert g(False, -4) == 4
    assert "%y.1 : int = aten::abs.int(%x)" in str(g).replace("aten::abs(", "aten::abs.int(")
    assert Program(str(g)) == g.program


# ---- torch's form: the blocks end by their indentation, literals stand among the arguments ----

LSTM_CELL = """
graph(%x : Float(10, 4)
      %h : Float(10, 3)
      %c : Float(10, 3)
      %w_ih : Float(12, 4)
      %w_hh : Float(12, 3)) {
  %5 : Float(4!, 12!) = aten::t(%w_ih)
  %6 : Float(10, 12) = aten::mm(%x, %5)
  %7 : Float(3!, 12!) = aten::t(%w_hh)
  %8 : Float(10, 12) = aten::mm(%h, %7)
  %9 : int = prim::Constant[value=1]()
  %gates : Float(10, 12) = aten::add(%6, %8, %9)
  %11 : Tensor[] = aten::chunk[chunks=4, dim=1](%gates)
  return (%gates);
}
"""
MY_FUNCTION = """
graph(%x : Tensor):
  %2 : float = prim::Constant[value=1]()
  %3 : Tensor = aten::mean(%x)
  %4 : Tensor = aten::gt(%3, %2)
  %5 : bool = aten::Bool(%4)
  %6 : Tensor = prim::If(%5) # my_function.py:4:2
    block0():
      %r : Tensor = aten::mul(%x, %2)
      -> (%r)
    block1():
      %s : Tensor = aten::add(%x, %2, alpha=1)
      -> (%s)
  return (%6)
"""
DUMB_FUNCTION = """
graph(%x : Tensor) {
  %1 : int = prim::Constant[value=5]()
  %2 : bool = prim::Constant[value=1]()
  %out : Tensor = prim::Loop(%1, %2, %x)
    block0(%i : int, %y.1 : Tensor) {
      %y.2 : Tensor = aten::mul(%y.1, %y.1)
      -> (%2, %y.2)
    }
  return (%out);
}
"""


@pytest.mark.parametrize("text", [LSTM_CELL, MY_FUNCTION, DUMB_FUNCTION], ids=["lstm", "my_function", "dumb_function"])
def test_graphs_of_the_talks(text):
    p = Program(text)
    printed = str(p)
    assert Program(printed) == p
    assert str(Program(printed)) == printed


def test_graphs_of_the_talks_run():
    """A bool that is written as 1, a float as 1, and an argument with its name mean what they do in torch."""
    f, loop = parse(MY_FUNCTION), parse(DUMB_FUNCTION)
    big, small = lamella.tensor([2.0, 4.0]), lamella.tensor([0.5, -4.0])
    assert lamella.equal(f(big), big * 1.0)
    assert lamella.equal(f(small), small + 1.0)
    assert lamella.equal(loop(big), big**32)
    assert f.nodes()[3].op == "aten::Bool"
    assert [n.source for n in f.nodes() if n.op == "prim::If"] == [("my_function.py", 4, 2)]
    sizes = [v.type for v in parse(LSTM_CELL).inputs()]
    assert sizes == ["Float(10, 4)", "Float(10, 3)", "Float(10, 3)", "Float(12, 4)", "Float(12, 3)"]


RECORDED = sorted((HERE / "torch_graphs").glob("*.txt"))


@pytest.mark.parametrize("file", RECORDED, ids=[f.stem for f in RECORDED])
def test_graphs_that_torch_printed(file):
    text = file.read_text()
    if "frozen" in file.stem:  # constant tensors, of which torch prints a few digits or only "<Tensor>"
        with pytest.raises(ValueError, match=r"\d+:\d+: .*a tensor that is printed .* has no exact values"):
            Program(text)
        return
    p = Program(text)
    printed = str(p)
    assert Program(printed) == p
    assert str(Program(printed)) == printed


# ---- wrong texts ----


def node(text):
    return f"graph(%x : int) {{\n  {text}\n  return (%x)\n}}"


WRONG = [
    ("grpah() { return () }", "1:1: expected 'graph', found 'grpah'"),
    ("graph { return () }", "1:7: expected '(', found '{'"),
    ("graph() return () }", "1:9: expected ':', found 'return'"),
    ("graph() { return ()", "1:20: expected '}', found the end of the text"),
    ("graph() { return () } more", "1:23: expected 'with' or the end of the text, found 'more'"),
    ("graph() { }", "1:11: expected an operator, namespace::name, found '}'"),
    ("graph(x) { return () }", "1:7: expected a value, %name, found 'x'"),
    ("graph(%) { return () }", "1:7: expected a value, %name, found '%'"),
    ("graph(%x, %x) { return () }", "1:13: %x is defined already, found ')'"),
    ("graph() {\n  return (%y)\n}", "2:11: the value is not defined before it is used, found '%y'"),
    (node("%y : int = aten::neg(%z)"), "2:24: the value is not defined before it is used, found '%z'"),
    (node("%y : int = aten::neg(%y)"), "2:24: the value is not defined before it is used, found '%y'"),
    (node("%x : int = aten::neg(%x)"), "3:3: %x is defined already, found 'return'"),
    (node("%y : int aten::neg(%x)"), "2:12: expected '=', found 'aten'"),
    (node("%y : int = neg(%x)"), "2:17: expected '::' and the operator's name after 'neg', found '('"),
    (node("%y : int = aten::(%x)"), "2:20: expected a name, found '('"),
    (node("%y : int = aten::neg %x"), "2:24: expected '(', found '%x'"),
    (node("%y : int = aten::add(%x %x)"), "2:27: expected ',', found '%x'"),
    (node("%y : int = aten::neg(%x)\n  block0() { -> (%x) "), "4:3: expected '}', found 'return'"),
    (node("%y : int = aten::neg(%x)\n  block0() { return (%x) }"), "3:14: expected '->', found 'return'"),
    (node("%y : = aten::neg(%x)"), "2:8: expected a name, found '='"),
    (node("%y : Dict(int) = aten::neg(%x)"), "2:16: expected ',', found ')'"),
    (node("%y : Dict(int, int = aten::neg(%x)"), "2:22: expected ')', found '='"),
    (node("%y : Future() = aten::neg(%x)"), "2:15: expected a name, found ')'"),
    (node("%y : (int, = aten::neg(%x)"), "2:14: expected a name, found '='"),
    (node("%y : NamedTuple(int) = aten::neg(%x)"), "2:22: expected ':', found ')'"),
    (node("%y : Float(2, colour=red) = aten::neg(%x)"), "2:24: a tensor has no property 'colour', found 'red'"),
    (node("%y : Float(..., 2) = aten::neg(%x)"), "2:19: a size after '...', found '2'"),
    (node("%y : Float(2.5) = aten::neg(%x)"), "2:14: expected an integer of 64 bits, found '2.5'"),
    (node("%y : int = prim::Constant[value=9223372036854775808]()"),
     "2:35: expected an integer of 64 bits, found '9223372036854775808'"),
    (node("%y : int = prim::Constant[value=1.2.3]()"), "2:35: expected a number, found '1.2.3'"),
    (node("%y : int = prim::Constant[value=spam]()"), "2:39: 'spam' is no literal, found ']'"),
    (node("%y : int = prim::Constant[value=]()"), "2:35: expected a name, found ']'"),
    (node("%y : int = prim::Constant[value=[1, 2]()"), "2:41: expected ',', found '('"),
    (node("%y : int = prim::Constant[value=1, value=2]()"), "2:44: a second attribute 'value', found '2'"),
    (node("%y : int = prim::Constant[value 1]()"), "2:35: expected '=', found '1'"),
    (node('%y : str = prim::Constant[value="abc]()'), "2:35: a text without its end, found '\"'"),
    (node(r'%y : str = prim::Constant[value="\q"]()'), "2:35: a text with an unknown escape, found '\"\\q\"'"),
    (node(r'%y : str = prim::Constant[value="\xg0"]()'), "2:35: a text with a wrong \\x, found '\"\\xg0\"'"),
    (node("%y : Tensor = prim::Constant[value=<Tensor>]()"),
     "2:39: expected <data/number>; a tensor that is printed otherwise has no exact values, found 'Tensor'"),
    (node("%y : Tensor = prim::Constant[value=<data/x>]()"), "2:44: expected an integer, found 'x'"),
    (node("%y : Device = prim::Constant[value=Device(cpu)]()"), "2:45: expected a text in quotes, found 'cpu'"),
    (node('%y : complex = prim::Constant[value=complex(1, "2")]()'), "2:53: expected a number, found ')'"),
    ("class C { a : int a : int }\ngraph() { return () }", "1:21: a second attribute 'a' of class C, found ':'"),
    ("class C {}\nclass C {}\ngraph() { return () }", "3:1: a second class with the name 'C', found 'graph'"),
    ("with f = graph() { return () }\nwith f = graph() { return () }",
     "2:10: a second graph with the name 'f', found 'graph'"),
    ("with f graph() { return () }", "1:8: expected '=', found 'graph'"),
    (node("%y : int = aten::neg(%x), scape: a"), "2:29: expected the end of the node, found 'scape'"),
    (node("%y : " + "(" * 300 + "int" + ")" * 300 + " = aten::neg(%x)"),
     "2:208: nested more deeply than 200 levels, found '('"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[str(i) for i in range(len(WRONG))])
def test_a_wrong_text_names_line_and_column(text, message):
    with pytest.raises(ValueError) as e:
        Program(text)
    assert str(e.value) == message


@pytest.mark.parametrize("what", ["blocks", "lists", "types", "optionals"])
def test_deep_nesting_is_refused(what):
    """No depth exhausts the stack. A suffix of a type counts as a level, too: types are compared level by level."""
    n = 100000
    text = {
        "blocks": "graph(%c : bool) { " + "prim::If(%c) block0() { " * n,
        "lists": "graph() { %c : int = prim::Constant[value=" + "[" * n,
        "types": "graph(%x : " + "Future(" * n,
        "optionals": "graph(%x : int" + "?[]" * n + ") { return (%x) }",
    }[what]
    with pytest.raises(ValueError, match="nested more deeply than 200 levels"):
        Program(text)


def test_reading_needs_a_graph_without_a_name():
    with pytest.raises(KeyError, match="no graph ''"):
        parse("with f = graph() { return () }")
    with pytest.raises(KeyError, match="no graph 'g'"):
        Program("with f = graph() { return () }").graph("g")
