"""The programs of examples/graphs: what they print, and the graphs that talks on torch show of the same functions."""

import difflib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import lamella
import pytest
from lamella import jit

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "graphs"
PROGRAMS = sorted(p.stem for p in FOLDER.glob("*.py"))
PLACE_ELSEWHERE = re.compile(rf"  # (?!({'|'.join(PROGRAMS)})\.py:)\S+:\d+$")


def lines(text):
    """Returns the lines of an output without the places of nodes that stand in files of the package."""
    return [PLACE_ELSEWHERE.sub("", line) for line in text.splitlines()]


@pytest.mark.parametrize(
    "name", [pytest.param(p, marks=[pytest.mark.needs("quantization")] * (p == "quantized")) for p in PROGRAMS]
)
def test_what_a_program_prints(name):
    command, env = [sys.executable, "-B", f"{name}.py"], os.environ | {"PYTHONWARNINGS": "error"}
    done = subprocess.run(command, cwd=FOLDER, env=env, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
    wanted = (FOLDER / f"{name}.txt").read_text()
    assert list(difflib.unified_diff(lines(wanted), lines(done.stdout), lineterm="")) == []
    assert "graph(" in wanted and f"# {name}.py:" in wanted


def test_the_page_names_each_program():
    page = (FOLDER / "README.md").read_text()
    assert {f"{name}.py" for name in PROGRAMS} == set(re.findall(r"\]\((\w+\.py)\)", page))
    assert {f"{name}.txt" for name in PROGRAMS} == set(re.findall(r"\]\((\w+\.txt)\)", page))


# ---- the graphs of the talks ----


def example(name):
    spec = importlib.util.spec_from_file_location(f"graph_example_{name}", FOLDER / f"{name}.py")
    made = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


LEFT_OUT = {"prim::Constant", "prim::GetAttr", "prim::TupleUnpack", "prim::ListConstruct"}


def structure(graph):
    """Returns the operators of a graph in their order, each with the places of its operands.

    An operand is the number of the node that makes it, with the number of the result where there are several, or a
    letter for a parameter and an attribute, in the order in which they are first used. A constant is left out, except
    where a block or the graph gives it. Overloads are left out, too: the talks' graphs do not show them.
    """
    numbers, letters, count = {}, {}, [0]

    def name(value, constants):
        node = value.node()
        if value.name in numbers:
            return numbers[value.name]
        if node is not None and node.op == "prim::TupleConstruct":
            return ", ".join(name(v, constants) for v in node.inputs())
        if node is not None and node.op == "prim::Constant":
            return str(node.attributes["value"]) if constants else None
        if node is not None and node.op == "prim::ListConstruct":
            return None
        return letters.setdefault(value.name, "abcdefghijklm"[len(letters)])

    def names(values, constants=False):
        return ", ".join(filter(None, [name(v, constants) for v in values]))

    def of_block(block):
        found = []
        for node in block.nodes():
            if node.op in LEFT_OUT or node.op == "prim::TupleConstruct":
                continue
            text = f"{node.op.partition('::')[2]}({names(node.inputs())})"
            own, outputs = str(count[0]), node.outputs()
            count[0] += 1
            found.append(text + "".join(f" {{{of_block(b)}}}" for b in node.blocks()))
            for i, value in enumerate(outputs):
                numbers[value.name] = own if len(outputs) == 1 else f"{own}.{i}"
        return " ".join([*found, "-> " + names(block.outputs(), True)])

    return of_block(graph.block())


GATES = (
    "add(1, 3) chunk(4) ListUnpack(5) sigmoid(6.0) sigmoid(6.1) tanh(6.2) sigmoid(6.3) "
    "mul(8, g) mul(7, 9) add(11, 12) tanh(13) mul(10, 14) -> 15, 13"
)


@pytest.mark.parametrize("kind", ["trace", "script"])
def test_the_cell_of_an_lstm(kind):
    """The talk's trace expands the biases before it calls addmm."""
    lstm = example("lstm")
    r = lamella.randn
    cell, x, state = lstm.Cell(), r(3, 10), (r(3, 20), r(3, 20))
    program = jit.trace(cell, (x, state)) if kind == "trace" else jit.script(cell)
    with_linear = "linear(a, b, c) linear(d, e, f) add(0, 1) "
    assert structure(program.graph).startswith(with_linear)
    assert lamella.graph.rewrite(program.graph, lstm.LINEAR, lstm.ADDMM) == 2
    lamella.graph.run_pass("dce", program.graph)
    assert structure(program.graph) == "t(a) addmm(b, c, 0) t(d) addmm(e, f, 2) " + GATES
    if kind == "trace":
        shapes = [v.type for n in program.graph.nodes() if n.op.startswith("aten::") for v in n.outputs()]
        assert [str(t) for t in shapes[4:]] == ["Float(3, 80)", "Tensor[]", *["Float(3, 20)"] * 9]


def test_the_loop_of_five_multiplications():
    loops = example("loops")
    assert structure(loops.power.graph) == "Loop(a) {mul(b, b) -> True, 1} -> 0"
    loops.run_passes(loops.power.graph, "unroll", "constant_propagation", "dce")
    assert structure(loops.power.graph) == "mul(a, a) mul(0, 0) mul(1, 1) mul(2, 2) mul(3, 3) -> 4"


def test_the_loop_by_four():
    """The body has four trips of the loop in it; the rest is a second loop with the loop's own body."""
    loops = example("loops")
    loops.run_passes(loops.total.graph, "unroll", "constant_propagation", "cse", "dce")
    nodes = [n for n in loops.total.graph.block().nodes() if n.op == "prim::Loop"]
    bodies = [[n.op for n in loop.blocks()[0].nodes()] for loop in nodes]
    counts = [sum(op == "aten::add" for op in body) for body in bodies]
    assert len(nodes) == 2 and [b.count("prim::Loop") for b in bodies] == [0, 0]
    assert counts == [4 + 3, 1 + 1]  # of tensors, and of trip numbers
    assert loops.total(lamella.zeros(1), 11).item() == sum(range(11))


def test_the_branch():
    """The talks' graph has `prim::Bool` for `bool(tensor)`, and the trace has a `detach` behind `to`."""
    branches = example("branches")
    assert structure(branches.my_script.graph) == "mean(a) gt(0) Bool(1) If(2) {-> 1} {-> 2} -> 3"
    x = lamella.ones(2, 2)
    with pytest.raises(RuntimeError, match=r"is read \(item\) at .*branches.py:\d+: .*Script the function"):
        jit.trace(branches.my_function, x)
    with pytest.warns(jit.TracerWarning, match=r"is read \(item\) at .*branches.py:\d+"):
        traced = jit.trace(branches.my_function, x, strict=False)
    assert structure(traced.graph) == "to() -> 0"
    assert [traced(x).item(), traced(x + 1).item()] == [2.0, 2.0]
    assert [branches.my_script(x), branches.my_script(x + 1)] == [2, 1]


def test_the_transpose_of_a_transpose():
    passes = example("passes")
    traced = jit.trace(passes.twice_transposed, lamella.ones(2, 2))
    assert structure(traced.graph) == "t(a) t(0) -> 1"
    for name in ("peephole", "dce"):
        lamella.graph.run_pass(name, traced.graph)
    assert structure(traced.graph) == "-> a" and traced.graph.nodes() == []
