"""Profiles name the lines of the programs that call the operators."""

import inspect
import json
from pathlib import Path

import lamella
import pytest
from lamella import jit
from lamella.profiler import profile


def double(x):
    return x * 2


@jit.script
def twice(x, n: int):
    for _ in range(n):
        x = double(x)
    return x.neg()


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def test_stacks_name_the_lines_of_a_program():
    with profile(with_stack=True) as prof:
        twice(lamella.ones(2), 2)
    stacks = {e.name: e.stack for e in prof.events()}
    file = "test_program_lines.py"
    called, inner = line_of(twice.__script_source__, "double(x)"), line_of(double, "x * 2")
    assert stacks["aten::mul"][0].endswith(f"{file}({inner}): double")
    assert stacks["aten::mul"][1].endswith(f"{file}({called}): twice")
    assert stacks["aten::neg"][0].endswith(f"{file}({line_of(twice.__script_source__, 'neg')}): twice")
    assert stacks["aten::neg"][-1] in stacks["aten::mul"]  # Python's frames lie around them
    assert any(s.endswith(": test_stacks_name_the_lines_of_a_program") for s in stacks["aten::mul"])
    rows = [r.stack[0] for r in prof.key_averages(group_by_stack_n=1) if r.key == "aten::mul"]
    assert rows == [stacks["aten::mul"][0]]


def test_the_file_of_a_profile_has_the_lines_of_a_program_that_is_gone(tmp_path):
    g = lamella.graph.parse("graph(%x : Tensor) { %y : Tensor = aten::neg(%x)  # net.py:7\n return (%y) }")
    with profile(with_stack=True) as prof:
        g(lamella.ones(2))
    del g
    prof.export_chrome_trace(tmp_path / "t.json")
    spans = [e for e in json.loads((tmp_path / "t.json").read_text())["traceEvents"] if e.get("name") == "aten::neg"]
    assert [s["args"]["Call stack"].split(";")[0] for s in spans] == ["net.py(7): graph"]


def test_frames_of_a_future_are_its_own():
    g = lamella.graph.parse(
        """
graph(%x : Tensor) {
  %f : Future(Tensor) = prim::fork[name="negated"](%x)  # main.py:1
  %g : Future(Tensor) = prim::fork[name="negated"](%x)  # main.py:2
  %a : Tensor = aten::wait(%f)  # main.py:3
  %b : Tensor = aten::wait(%g)  # main.py:4
  %r : Tensor = aten::add.Tensor(%a, %b)  # main.py:5
  return (%r)
}
with negated = graph(%x : Tensor) { %y : Tensor = aten::neg(%x)  # part.py:9
  return (%y) }"""
    )
    with profile(with_stack=True) as prof:
        g(lamella.ones(2))
    stacks = [e.stack for e in prof.events() if e.name == "aten::neg"]
    assert [s[0] for s in stacks] == ["part.py(9): negated"] * 2
    assert all(s[1:] == [] or s[1] in ("main.py(3): graph", "main.py(4): graph") for s in stacks)


def divide(n: int) -> int:
    return 1 // n


@jit.script
def waits(n: int) -> int:
    future = jit.fork(divide, n)
    return jit.wait(future)


@jit.script
def forks(n: int):
    return jit.fork(divide, n)


def lines_of(error):
    return [line.strip() for line in "\n".join(error.__notes__).splitlines()]


def test_an_error_in_a_future_names_its_lines_and_those_that_wait():
    with pytest.raises(ZeroDivisionError) as e:
        waits(0)
    lines = lines_of(e.value)
    file = Path(__file__).name
    assert [line.rpartition("/")[2].removeprefix(line.split(",")[0] + ", ") for line in lines] == [
        f"{file}:{line_of(divide, '1 // n')}",
        f"{file}:{line_of(waits.__script_source__, 'jit.wait')}",
    ]
    assert [line.split(",")[0] for line in lines] == ["in divide", "in waits"]
    future = forks(0)
    with pytest.raises(ZeroDivisionError) as e:
        future.wait()
    assert [line.split(",")[0] for line in lines_of(e.value)] == ["in divide"]
    with pytest.raises(RuntimeError, match="integer division or modulo by zero"):  # Python's exception is there once
        future.wait()
