"""The machine that runs programs, against CPython and eager calls: control flow, errors, threads, futures, layers."""

import math
import operator
import signal
import subprocess
import sys
import threading
import time

import lamella
import pytest
import random_programs
from hypothesis import given, settings
from lamella.graph import Program, parse


@settings(max_examples=80)
@given(random_programs.programs())
def test_random_programs_compute_what_python_and_eager_calls_do(text):
    program = Program(text)
    mine, theirs = random_programs.arguments(program), random_programs.arguments(program)
    result = random_programs.state(program.run("", mine), mine)
    assert result == random_programs.state(random_programs.interpret(program, "", theirs), theirs)


# ---- numbers ----

EDGES = [0, 1, -1, 2, -2, 7, -7, 2**62, -(2**62), 2**63 - 1, -(2**63)]


@pytest.mark.parametrize("op", ["add", "sub", "mul", "floordiv", "remainder", "eq", "ne", "lt", "le", "gt", "ge"])
def test_ints_are_python_s_or_overflow(op):
    kind = "bool" if op in ("eq", "ne", "lt", "le", "gt", "ge") else "int"
    g = parse(f"graph(%a : int, %b : int) {{ %r : {kind} = aten::{op}.int(%a, %b) return (%r) }}")
    name = {"remainder": "mod"}.get(op, op)
    python = getattr(operator, name)
    for a in EDGES:
        for b in EDGES:
            try:
                want = python(a, b)
            except ZeroDivisionError:
                with pytest.raises(ZeroDivisionError, match="integer (division or )?modulo by zero"):
                    g(a, b)
                continue
            if -(2**63) <= want < 2**63:
                assert g(a, b) == want
            else:
                with pytest.raises(OverflowError):
                    g(a, b)


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "eq", "ne", "lt", "le", "gt", "ge"])
def test_floats_are_python_s(op):
    kind = "float" if op in ("add", "sub", "mul", "div") else "bool"
    g = parse(f"graph(%a : float, %b : float) {{ %r : {kind} = aten::{op}.float(%a, %b) return (%r) }}")
    python = getattr(operator, {"div": "truediv"}.get(op, op))
    edges = [0.0, -0.0, 1.5, -1e308, 1e308, 5e-324, math.inf, -math.inf, math.nan]
    for a in edges:
        for b in edges:
            if op == "div" and b == 0:
                with pytest.raises(ZeroDivisionError, match="float division by zero"):
                    g(a, b)
            else:
                assert repr(g(a, b)) == repr(python(a, b)), (a, b)


# ---- control flow ----


@pytest.mark.parametrize("trips", [-1, 0, 1, 2, 1023, 1024, 1025, 5000])
def test_loops_have_their_trips(trips):
    g = parse("""graph(%n : int) {
      %t : bool = prim::Constant[value=True]()
      %zero : int = prim::Constant[value=0]()
      %s : int, %k : int = prim::Loop(%n, %t, %zero, %zero)
        block0(%i : int, %a : int, %b : int) { %c : int = aten::add.int(%a, %i) -> (%t, %b, %c) }
      return (%s, %k) }""")
    s = k = 0
    for i in range(trips):
        s, k = k, s + i
    assert g(trips) == (s, k)


def test_a_loop_ends_with_its_condition():
    g = parse("""graph(%n : int, %go : bool) {
      %most : int = prim::Constant[value=9223372036854775807]()
      %s : int = prim::Loop(%most, %go, %n)
        block0(%i : int, %a : int) {
          %half : int = aten::floordiv.int(%a, 2)
          %c : bool = aten::gt.int(%half, 1)
          -> (%c, %half) }
      return (%s) }""")
    assert [g(n, True) for n in (100, 1, -5)] == [1, 0, -3]
    assert g(100, False) == 100


def test_values_that_are_exchanged_by_a_loop():
    """Carried values are assigned all at once."""
    g = parse("""graph(%n : int, %a : Tensor, %b : Tensor, %c : str) {
      %t : bool = prim::Constant[value=True]()
      %x : Tensor, %y : Tensor, %z : str = prim::Loop(%n, %t, %a, %b, %c)
        block0(%i : int, %p : Tensor, %q : Tensor, %r : str) { -> (%t, %q, %p, %r) }
      return (%x, %y, %z, %a) }""")
    a, b = lamella.tensor([1]), lamella.tensor([2])
    for n in range(4):
        x, y, z, first = g(n, a, b, "text")
        assert [x.item(), y.item(), z, first.item()] == [1 + n % 2, 2 - n % 2, "text", 1]


# ---- errors ----


def said(error):
    """The text of an error with its notes, without indentation beyond two columns."""
    lines = "\n".join([str(error), *getattr(error, "__notes__", ())]).splitlines()
    return "\n".join(lines[:1] + ["  " + line.strip() for line in lines[1:]])


NESTED = """graph(%n : int) {
  %r : int = prim::CallFunction[name="outer"](%n)  # main.py:3:4
  return (%r)
}
with outer = graph(%n : int) {
  %t : bool = prim::Constant[value=True]()
  %s : int = prim::Loop(%n, %t, %n)  # lib/outer.py:10:2
    block0(%i : int, %v : int) {
      %w : int = prim::CallFunction[name="inner"](%v, %i)  # lib/outer.py:11:8
      -> (%t, %w)
    }
  return (%s)
}
with inner = graph(%a : int, %b : int) {
  %m : int = aten::sub.int(%b, 2)
  %r : int = aten::floordiv.int(%a, %m)  # lib/inner.py:7:0
  return (%r)
}
"""


def test_an_error_has_the_lines_of_the_calls():
    p = Program(NESTED)
    assert p.run("", (2,)) == 2 // -2 // -1
    with pytest.raises(ZeroDivisionError, match="integer division or modulo by zero") as e:
        p.run("", (3,))
    assert said(e.value).splitlines()[1:] == [
        "  in inner, lib/inner.py:7",
        "  in outer, lib/outer.py:11",
        "  in graph, main.py:3",
    ]


@pytest.mark.parametrize("kind", ["TypeError", "ValueError", "IndexError", "NotImplementedError", "OverflowError"])
def test_a_program_raises(kind):
    g = parse(f'graph(%s : str) {{ prim::RaiseException[kind="{kind}"](%s) return () }}')
    with pytest.raises(Exception, match="^what it says") as e:
        g("what it says")
    assert type(e.value).__name__ == kind


def test_an_error_of_an_operator_keeps_its_message():
    g = parse("graph(%x : Tensor, %y : Tensor) { %z : Tensor = aten::mm(%x, %y)  # net.py:4:1\n return (%z) }")
    x = lamella.ones(2, 3)
    with pytest.raises(RuntimeError) as eager:
        lamella.mm(x, x)
    with pytest.raises(RuntimeError) as e:
        g(x, x)
    assert said(e.value).splitlines() == [str(eager.value), "  in graph, net.py:4"]


def test_recursion_is_bounded():
    p = Program("""with f = graph(%n : int) {
      %go : bool = aten::gt.int(%n, 0)
      %r : int = prim::If(%go)
        block0() {
          %m : int = aten::sub.int(%n, 1)
          %k : int = prim::CallFunction[name="f"](%m)
          %s : int = aten::add.int(%k, 1)
          -> (%s) }
        block1() { -> (%n) }
      return (%r) }""")
    assert p.run("f", (990,)) == 990
    message = "f: the program calls itself more than 1000 times within each other"
    with pytest.raises(RuntimeError, match=message) as e:
        p.run("f", (10**6,))
    assert len(said(e.value)) < 10000
    assert p.run("f", (5,)) == 5


def test_recursion_through_futures_is_bounded():
    p = Program("""with f = graph(%n : int) {
      %u : Future(int) = prim::fork[name="f"](%n)
      %r : int = aten::wait(%u)
      return (%r) }""")
    with pytest.raises(RuntimeError, match="calls itself more than 1000 times"):
        p.run("f", (1,))


@pytest.mark.parametrize("nested", [1, 4])
def test_ctrl_c_ends_an_endless_loop(nested, tmp_path):
    """Also if no loop has many trips: four loops of 1000 trips within each other."""
    trips = 2**63 - 1 if nested == 1 else 1000
    body = "%y : int = aten::neg.int(%x) "
    for i in range(nested):
        body = f"prim::Loop(%n, %t) block0(%i{i} : int) {{ {body.replace('%y', f'%y{i}')} -> (%t) }} "
    text = f"graph(%x : int, %n : int, %t : bool) {{ {body} return () }}"
    program = f"""
import lamella
g = lamella.graph.parse('''{text}''')
print("begins", flush=True)
try:
    g(1, {trips}, True)
except KeyboardInterrupt:
    print("interrupted")
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        assert child.stdout.readline() == "begins\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate(timeout=20)
    finally:
        child.kill()
    assert output == "interrupted\n"
    assert child.returncode == 0


def test_a_constant_list_is_made_anew_for_each_run():
    g = parse(
        """
graph(%b : bool) {
  %k : int[] = prim::Constant[value=[1]]()
  %seven : int = prim::Constant[value=7]()
  %l : int[] = prim::If(%b)
    block0() {
      -> (%k)
    }
    block1() {
      -> (%k)
    }
  %m : int[] = aten::append.t(%l, %seven)
  return (%m)
}"""
    )
    assert g(True) == g(True) == g(False) == [1, 7]


def test_deep_recursion_fits_a_small_stack():
    p = Program(
        """
with down = graph(%n : int) {
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %done : bool = aten::le.int(%n, %zero)
  %r : int = prim::If(%done)
    block0() {
      -> (%zero)
    }
    block1() {
      %m : int = aten::sub.int(%n, %one)
      %s : int = prim::CallFunction[name="down"](%m)
      %t : int = aten::add.int(%s, %one)
      -> (%t)
    }
  return (%r)
}"""
    )
    found = []
    before = threading.stack_size(1 << 20)
    try:
        thread = threading.Thread(target=lambda: found.append(p.run("down", (990,))))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert found == [990]
