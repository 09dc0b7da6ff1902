"""Passes that other packages register, in C++ through <lamella/graph.h> and in Python."""

from pathlib import Path

import lamella
import pytest
from compiled import STRICT, compile_library, load
from lamella.graph import Program, passes, register_pass, run_pass
from pages import blocks

TEXT = """graph(%x : Tensor, %n : int, %c : bool) {
  %m : int = aten::add.int(%n, %n)
  %r : Tensor = prim::If(%c)
    block0() {
      %a : Tensor = aten::add.Tensor(%x, %x, alpha=1)
      %b : Tensor = aten::add.Tensor(%a, %x, alpha=1)
      -> (%b)
    }
    block1() {
      %d : Tensor = aten::add.Tensor(%x, %x, alpha=3)
      -> (%d)
    }
  return (%r, %m)
}
with f = graph(%x : Tensor) {
  %y : Tensor = aten::add.Tensor(%x, %x)
  return (%y)
}
"""


@pytest.fixture(scope="module", autouse=True)
def stranger(tmp_path_factory):
    _ = lamella.graph.parse  # loads the plugin's names
    load(compile_library(tmp_path_factory, Path(__file__).with_name("strangers_pass.cpp"), *STRICT))


def test_a_pass_in_cpp_reads_all_nodes():
    assert {"strangers_count", "strangers_doubles", "strangers_failing"} <= set(passes())
    assert not run_pass("strangers_count", Program(TEXT))
    count = lamella.ops.graph_stranger.counted
    assert [count("aten::add"), count("prim::If"), count("aten::mul")] == [5, 1, 0]


def test_a_pass_in_cpp_changes_all_graphs():
    p, plain = Program(TEXT), Program(TEXT)
    x = lamella.tensor([0.1, -3.0, float("inf")])
    p.run("", (x, 3, True))  # a run before the change
    assert run_pass("strangers_doubles", p)
    p.verify()
    assert str(p).count("aten::mul.Scalar") == 2
    assert str(p).count("aten::add") == 3
    for c in (True, False):
        assert [v.tolist() if hasattr(v, "tolist") else v for v in p.run("", (x, 3, c))] == [
            v.tolist() if hasattr(v, "tolist") else v for v in plain.run("", (x, 3, c))
        ]
    assert lamella.equal(p.run("f", (x,)), x + x)
    assert not run_pass("strangers_doubles", p)


def test_a_pass_in_cpp_that_fails():
    with pytest.raises(ValueError, match="this pass never works"):
        run_pass("strangers_failing", Program(TEXT))


def test_two_passes_with_one_name():
    for name in ("strangers_count", "dce"):
        with pytest.raises(ValueError, match=f"there is a pass '{name}' already"):
            register_pass(name, lambda g: False)


def test_a_pass_in_python():
    seen = []

    @register_pass("tests_drop_prints")
    def drop(graph):
        seen.append(graph)
        prints = [n for n in graph.nodes() if n.op == "prim::Print"]
        for n in prints:
            n.remove()
        return bool(prints)

    p = Program("graph(%n : int) { prim::Print(%n) return (%n) } with f = graph(%n : int) { return (%n) }")
    assert run_pass("tests_drop_prints", p)
    assert "Print" not in str(p)
    assert len(seen) == 2
    assert not run_pass("tests_drop_prints", p)


def test_a_pass_in_python_that_fails():
    error = LookupError("mine")

    @register_pass("tests_failing")
    def failing(graph):
        raise error

    with pytest.raises(LookupError) as e:
        run_pass("tests_failing", Program(TEXT))
    assert e.value is error


def test_a_pass_that_breaks_a_graph_is_found_by_the_next_run():
    @register_pass("tests_breaking")
    def breaking(graph):
        graph.insert("aten::neg", [], ["int"])
        return True

    p = Program(TEXT)
    assert run_pass("tests_breaking", p)
    with pytest.raises(ValueError, match="aten::neg: "):
        p.run("", (lamella.ones(1), 1, True))


def test_handles_of_removed_nodes_are_refused():
    p = Program("graph(%x : int) { %y : int = aten::neg(%x) %z : int = aten::neg(%y) return (%y) }")
    y, z = p.graph().nodes()
    with pytest.raises(ValueError, match="aten::neg: cannot be removed, since %y is used"):
        y.remove()
    z.remove()
    assert z.removed
    for change in (z.remove, lambda: z.set_attribute("a", 1), lambda: z.replace_input(0, p.graph().inputs()[0])):
        with pytest.raises(ValueError, match="aten::neg: the node was removed from its graph"):
            change()
    assert str(z.op) == "aten::neg"
    assert [n.op for n in p.graph().nodes()] == ["aten::neg"]
    with pytest.raises(IndexError, match="has 1 inputs, and no input 1"):
        y.replace_input(1, p.graph().inputs()[0])


@lamella.jit.script
def double(x):
    return x + x


def test_a_library_in_cpp_takes_part_in_saves_of_python(tmp_path):
    lamella.ops.graph_stranger.hooked(True)
    try:
        double.save(tmp_path / "double.lamella")
    finally:
        lamella.ops.graph_stranger.hooked(False)
    found = {"stranger": ""}
    loaded = lamella.jit.load(tmp_path / "double.lamella", _extra_files=found)
    assert found == {"stranger": b"was here"}
    assert "aten::mul" in str(loaded.graph) and "aten::mul" not in str(double.graph)
    assert loaded(lamella.ones(2)).tolist() == [2.0, 2.0]
    double.save(tmp_path / "double.lamella")
    found = {"stranger": ""}
    lamella.jit.load(tmp_path / "double.lamella", _extra_files=found)
    assert found == {"stranger": b""}


def test_the_pass_of_the_page(tmp_path_factory):
    """docs/write_a_pass.md shows a library whose pass removes dropout."""
    (source,) = blocks("docs/write_a_pass.md", "cpp")
    load(compile_library(tmp_path_factory, source, *STRICT))
    f = lamella.jit.trace(lambda x: lamella.dropout(x, 0.5, False) + 1, lamella.ones(2))
    assert "aten::dropout" in str(f.graph)
    assert run_pass("mine.no_dropout", f.graph) and not run_pass("mine.no_dropout", f.graph)
    assert "aten::dropout" not in str(f.graph) and f(lamella.ones(2)).tolist() == [2.0, 2.0]
