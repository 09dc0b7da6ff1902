"""The machine that runs programs, against CPython and eager calls: control flow, errors, threads, futures, layers."""

import contextlib
import io
import math
import operator
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy
import pytest
import random_programs
from hypothesis import given, settings
from threads import in_threads

import lamella
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
                with pytest.raises(RuntimeError, match="integer (division or )?modulo by zero"):
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
                with pytest.raises(RuntimeError, match="float division by zero"):
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


# ---- the death of values ----


def deaths(body, *, params="%c : bool", args=(True,), more="", log=None):
    """Runs a graph whose calls make(i) make tensor i and whose calls tick(i) mark a moment; returns what happened."""
    log = [] if log is None else log

    def make(i):
        array = numpy.zeros(2, numpy.float32)
        weakref.finalize(array, log.append, f"free {i}")
        return lamella.from_numpy(array)

    for i in range(10):
        body = body.replace(f"make({i})", f'prim::PythonCall[name="make"]({i})')
        body = body.replace(f"tick({i})", f'prim::PythonCall[name="tick"]({i})')
        more = more.replace(f"tick({i})", f'prim::PythonCall[name="tick"]({i})')
    functions = {"make": make, "tick": lambda i: log.append(i)}
    p = Program(f"graph({params}) {{ {body} return () }}\n{more}", (), functions)
    p.run("", args)
    return log


def test_a_tensor_dies_at_its_last_use():
    assert deaths("""%a : Tensor = make(1) tick(0)
      %b : Tensor = aten::abs(%a) tick(1)
      %d : Tensor = aten::abs(%b) tick(2)""") == [0, "free 1", 1, 2]


def test_a_result_that_nobody_uses_dies_at_once():
    assert deaths("%a : Tensor = make(1) tick(0)") == ["free 1", 0]


@pytest.mark.parametrize(("c", "log"), [(True, [0, 1, "free 1", 2, 5]), (False, [0, "free 1", 3, 5])])
def test_a_tensor_dies_in_each_branch(c, log):
    assert deaths("""%a : Tensor = make(1) tick(0)
      prim::If(%c)
        block0() { tick(1) %b : Tensor = aten::abs(%a) tick(2) -> () }
        block1() { tick(3) -> () }
      tick(5)""", args=(c,)) == log  # fmt: skip


def test_a_tensor_that_a_branch_gives_on():
    body = """%a : Tensor = make(1) %d : Tensor = make(2) tick(0)
      %r : Tensor = prim::If(%c) block0() { -> (%a) } block1() { -> (%d) }
      tick(1) %b : Tensor = aten::abs(%r) tick(2)"""
    assert deaths(body) == [0, "free 2", 1, "free 1", 2]
    assert deaths(body, args=(False,)) == [0, "free 1", 1, "free 2", 2]


def test_a_tensor_of_a_loop_s_body_dies_in_each_trip():
    assert deaths("""%two : int = prim::Constant[value=2]()
      prim::Loop(%two, %c)
        block0(%i : int) { %a : Tensor = make(1) tick(0) %b : Tensor = aten::abs(%a) tick(1) -> (%c) }
      tick(2)""") == [0, "free 1", 1] * 2 + [2]  # fmt: skip


def test_a_tensor_from_outside_dies_behind_the_loop():
    assert deaths("""%two : int = prim::Constant[value=2]() %a : Tensor = make(1)
      prim::Loop(%two, %c) block0(%i : int) { %b : Tensor = aten::abs(%a) tick(1) -> (%c) }
      tick(2)""") == [1, 1, "free 1", 2]  # fmt: skip


def test_a_carried_tensor_dies_when_it_is_replaced():
    assert deaths("""%two : int = prim::Constant[value=2]() %a : Tensor = make(1)
      %r : Tensor = prim::Loop(%two, %c, %a)
        block0(%i : int, %v : Tensor) { %b : Tensor = aten::abs(%v) tick(1) %n : Tensor = make(2) tick(3) -> (%c, %n) }
      tick(4) %d : Tensor = aten::abs(%r) tick(5)""") == ["free 1", 1, 3, "free 2", 1, 3, 4, "free 2", 5]  # fmt: skip


def test_an_argument_dies_within_the_called_function():
    more = "with f = graph(%x : Tensor) { %y : Tensor = aten::abs(%x) tick(1) return (%y) }"
    body = '%a : Tensor = make(1) %b : Tensor = prim::CallFunction[name="f"](%a) tick(2)'
    assert deaths(body, more=more) == ["free 1", 1, 2]


def test_elements_of_a_list_die_with_it():
    body = "%a : Tensor = make(1) %b : Tensor = make(2) %l : Tensor[] = prim::ListConstruct(%a, %b, %a) tick(0) "
    assert deaths(body + "%r : Tensor = aten::cat(%l, 0) tick(1)") == [0, "free 1", "free 2", 1]
    assert deaths(body + "%n : int = aten::len.t(%l) tick(1)") == [0, "free 1", "free 2", 1]
    pair = body.replace("Tensor[]", "(Tensor, Tensor, Tensor)").replace("List", "Tuple")
    index = "%x : Tensor = prim::TupleIndex[index=1](%l) tick(1) %y : Tensor = aten::abs(%x) tick(2)"
    assert deaths(pair + index) == [0, "free 1", 1, "free 2", 2]


def test_an_error_frees_what_is_held():
    log = []
    body = "%a : Tensor = make(1) %z : int = aten::floordiv.int(1, 0) %b : Tensor = aten::abs(%a)"
    with pytest.raises(RuntimeError, match="division") as e:
        deaths(body, log=log)
    del e
    assert log == ["free 1"]


# ---- errors ----

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
    with pytest.raises(RuntimeError, match="integer division or modulo by zero") as e:
        p.run("", (3,))
    notes = [line for note in e.value.__notes__ for line in note.splitlines()]
    assert notes == ["  in inner, lib/inner.py:7", "  in outer, lib/outer.py:11", "  in graph, main.py:3"]


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
    assert str(e.value) == str(eager.value)
    assert "net.py:4" in "".join(e.value.__notes__)


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
    assert len("".join(e.value.__notes__)) < 10000
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


# ---- the host ----


def test_print_goes_to_stdout():
    g = parse('graph(%a : int, %l : float[], %d : Dict(str, int)) { prim::Print(%a, %l, %d) prim::Print() return () }')
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        g(3, [1.0, 0.1], {"k": -1})
    expected = io.StringIO()
    print(3, [1.0, 0.1], {"k": -1}, file=expected)
    print(file=expected)
    assert out.getvalue() == expected.getvalue()


def test_functions_of_python():
    seen = []

    def host(*args):
        seen.append(args)
        return [len(args), 7]

    text = 'graph(%x : Tensor, %t : (int, str)) { %r : int[] = prim::PythonCall[name="host"](%x, %t, 2.5) return (%r) }'
    g = parse(text, functions={"host": host})
    x = lamella.ones(2)
    assert g(x, (1, "a")) == [3, 7]
    ((got, pair, number),) = seen
    assert got is x
    assert (pair, number) == ((1, "a"), 2.5)
    with pytest.raises(RuntimeError, match="host: the program calls a function of Python, which is not there"):
        parse(text)(x, (1, "a"))


def test_an_error_of_a_function_of_python_is_the_same_object():
    error = LookupError("mine")

    def host(_):
        raise error

    p = Program('graph(%n : int) { %r : int = prim::PythonCall[name="host"](%n)  # f.py:2:0\n return (%r) }', (),
                {"host": host})  # fmt: skip
    with pytest.raises(LookupError) as e:
        p.run("", (1,))
    assert e.value is error
    assert e.value.__notes__ == ["  in graph, f.py:2"]


@pytest.mark.parametrize("wrong", ["text", None, 1.5, [1]])
def test_a_function_of_python_that_gives_another_type(wrong):
    g = parse('graph() { %r : int = prim::PythonCall[name="host"]() return (%r) }', functions={"host": lambda: wrong})
    with pytest.raises(TypeError, match="host: the result of the function of Python has to be int, got"):
        g()


def test_a_function_of_python_that_runs_the_program_again():
    p = Program("""graph(%n : int) {
      %c : bool = aten::gt.int(%n, 0)
      %r : int = prim::If(%c)
        block0() { %k : int = prim::PythonCall[name="again"](%n) -> (%k) }
        block1() { -> (%n) }
      return (%r) }""", (), {"again": lambda n: p.run("", (n - 1,)) + 1})  # fmt: skip
    assert p.run("", (20,)) == 20


CLASS = """class C {
  n : int
  f : float
  t : Tensor
  l : int[]
  o : C?
}
graph(%c : C, %k : int) {
  %n : int = prim::GetAttr[name="n"](%c)
  %m : int = aten::add.int(%n, %k)
  prim::SetAttr[name="n"](%c, %m)
  return (%c)
}
"""


def new_object(p, **changes):
    return p.new_object("C", {"n": 1, "f": 2, "t": lamella.ones(1), "l": [1], "o": None} | changes)


def test_instances():
    p = Program(CLASS)
    c = new_object(p)
    same = p.run("", (c, 5))
    assert same == c
    assert (c.n, c.f, c.l, c.o) == (6, 2.0, [1], None)
    c.o = same
    c.n = 9
    assert c.o.n == 9
    c.o = None


@pytest.mark.parametrize(
    ("name", "wrong"), [("n", 1.5), ("n", "1"), ("n", True), ("t", 1), ("l", [1.5]), ("o", 3), ("n", None)]
)
def test_attributes_of_a_wrong_type_are_refused(name, wrong):
    p = Program(CLASS)
    c = new_object(p)
    with pytest.raises(TypeError, match=f"C: attribute '{name}' has to be "):
        setattr(c, name, wrong)
    with pytest.raises(TypeError, match=f"C: attribute '{name}' has to be "):
        new_object(p, **{name: wrong})
    assert p.run("", (c, 1)).n == 2


def test_attributes_that_are_not_there():
    p = Program(CLASS)
    with pytest.raises(AttributeError, match="class C has no attribute 'z'"):
        _ = new_object(p).z
    with pytest.raises(ValueError, match="class C has no attribute 'z'"):
        new_object(p).z = 1
    with pytest.raises(ValueError, match="attribute 'l' is missing"):
        p.new_object("C", {"n": 1, "f": 1.0, "t": lamella.ones(1)})
    with pytest.raises(ValueError, match="no class 'D'"):
        p.new_object("D", {})


@pytest.mark.parametrize(
    ("params", "args", "message"),
    [
        ("%a : int", (), "graph: takes 1 arguments, got 0"),
        ("", (1,), "graph: takes 0 arguments, got 1"),
        ("%a : int", ("x",), "graph: argument 'a' has to be int, got 'x'"),
        ("%a : int", (1.0,), "graph: argument 'a' has to be int, got 1.0"),
        ("%a : int", (True,), "graph: argument 'a' has to be int, got True"),
        ("%a : Tensor", (1,), "graph: argument 'a' has to be Tensor, got 1"),
        ("%a : int[]", ([1, "2"],), "graph: argument 'a' has to be int, got '2'"),
        ("%a : (int, int)", ((1,),), "graph: argument 'a' has to be (int, int), got (1,)"),
        ("%a : Dict(str, int)", ({1: 2},), "graph: argument 'a' has to be str, got 1"),
        ("%a : str", (["x" * 100],), "graph: argument 'a' has to be str, got ['" + "x" * 55 + "..."),
        ("%a : int?", ("x",), "graph: argument 'a' has to be int, got 'x'"),
    ],
)
def test_wrong_arguments(params, args, message):
    with pytest.raises(TypeError) as e:
        parse(f"graph({params}) {{ return () }}")(*args)
    assert str(e.value) == message


def test_arguments_are_converted():
    g = parse("graph(%f : float, %c : complex, %l : float[], %o : float?, %t : (float, int)) { return (%f, %c, %l, %o, %t) }")
    got = g(1, 2.5, [1, 2.5], 3, (4, 5))
    assert got == (1.0, 2.5 + 0j, [1.0, 2.5], 3.0, (4.0, 5))
    assert [type(x) for x in (got[0], got[1], got[2][0], got[3], got[4][0])] == [float, complex, float, float, float]


# ---- threads ----


def test_eight_threads_on_one_program():
    p = Program("""with work = graph(%x : Tensor, %n : int) {
      %t : bool = prim::Constant[value=True]()
      %y : Tensor = prim::Loop(%n, %t, %x)
        block0(%i : int, %v : Tensor) {
          %w : Tensor = aten::mul.Tensor(%v, %x)
          %l : int[] = prim::ListConstruct(%i, %i)
          %m : int[] = aten::append.t(%l, %n)
          %k : int = aten::len.t(%m)
          %z : Tensor = aten::sub.Scalar(%w, %k, alpha=1)
          -> (%t, %z) }
      return (%y) }""")

    def eager(x, n):
        v = x
        for _ in range(n):
            v = v * x - 3
        return v

    xs = [lamella.tensor([0.5 + i / 100, -0.25]) for i in range(8)]
    want = [eager(x, 300) for x in xs]
    got = in_threads(*[lambda x=x: [p.run("work", (x, 300)) for _ in range(20)] for x in xs])
    assert all(lamella.equal(r, w) for rs, w in zip(got, want, strict=True) for r in rs)


def test_a_run_does_not_wait_for_another_one():
    """The first run waits in a function of Python until the second run of the same program has ended."""
    ended, begun = threading.Event(), threading.Event()

    def host(first):
        if first:
            begun.set()
            assert ended.wait(60)
        return 1

    g = parse('graph(%b : bool) { %r : int = prim::PythonCall[name="host"](%b) return (%r) }', functions={"host": host})

    def second():
        assert begun.wait(60)
        result = g(False)
        ended.set()
        return result

    assert in_threads(lambda: g(True), second) == [1, 1]


def test_a_program_that_changes_while_a_call_is_under_way():
    """The call goes on with the program as it was; the next one runs the changed program."""
    begun, changed = threading.Event(), threading.Event()

    def host():
        begun.set()
        assert changed.wait(60)

    p = Program("""graph(%wait : bool) {
      prim::If(%wait) block0() { prim::PythonCall[name="host"]() -> () } block1() { -> () }
      %k : int = prim::Constant[value=1]()
      %r : int = aten::add.int(%k, %k)
      return (%r) }""", (), {"host": host})  # fmt: skip

    def change():
        assert begun.wait(60)
        p.graph().nodes()[-2].set_attribute("value", 21)
        result = p.run("", (False,))
        changed.set()
        return result

    assert in_threads(lambda: p.run("", (True,)), change) == [2, 42]


# ---- futures ----

FORK = """graph(%x : Tensor, %n : int) {
  %t : bool = prim::Constant[value=True]()
  %l : Future(Tensor)[] = prim::ListConstruct()
  prim::Loop(%n, %t)
    block0(%i : int) {
      %f : Future(Tensor) = prim::fork[name="scale"](%x, %i)
      %m : Future(Tensor)[] = aten::append.t(%l, %f)
      -> (%t)
    }
  %y : Tensor = prim::Loop(%n, %t, %x)
    block0(%i : int, %v : Tensor) {
      %f : Future(Tensor) = aten::__getitem__.t(%l, %i)
      %r : Tensor = aten::wait(%f)
      %w : Tensor = aten::add.Tensor(%v, %r, alpha=1)
      -> (%t, %w)
    }
  return (%y)
}
with scale = graph(%x : Tensor, %i : int) {
  %y : Tensor = aten::mul.Scalar(%x, %i)
  return (%y)
}
with tree = graph(%n : int) {
  %leaf : bool = aten::lt.int(%n, 1)
  %r : int = prim::If(%leaf)
    block0() { %one : int = prim::Constant[value=1]() -> (%one) }
    block1() {
      %m : int = aten::sub.int(%n, 1)
      %f : Future(int) = prim::fork[name="tree"](%m)
      %g : Future(int) = prim::fork[name="tree"](%m)
      %a : int = aten::wait(%f)
      %b : int = aten::wait(%g)
      %c : int = aten::add.int(%a, %b)
      -> (%c)
    }
  return (%r)
}
with bad = graph(%n : int) {
  %f : Future(int) = prim::fork[name="divide"](%n)
  %r : int = aten::wait(%f)
  return (%r)
}
with divide = graph(%n : int) {
  %r : int = aten::floordiv.int(1, %n)
  return (%r)
}
with given = graph(%n : int) {
  %f : Future(int) = prim::fork[name="divide"](%n)
  return (%f)
}
"""


def test_forked_functions():
    p = Program(FORK)
    x = lamella.tensor([1.0, -2.0])
    assert lamella.equal(p.run("", (x, 20)), x * (1 + sum(range(20))))


def test_more_futures_that_wait_than_threads():
    assert Program(FORK).run("tree", (8,)) == 2**8


def test_an_error_comes_with_the_wait():
    p = Program(FORK)
    assert p.run("bad", (1,)) == 1
    with pytest.raises(RuntimeError, match="integer division or modulo by zero"):
        p.run("bad", (0,))
    future = p.run("given", (0,))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="integer division or modulo by zero"):
            future.wait()
    assert p.run("given", (1,)).wait() == 1


def test_a_future_sees_the_settings_of_its_caller():
    p = Program("""graph(%x : Tensor) {
      %f : Future(Tensor) = prim::fork[name="square"](%x)
      %y : Tensor = aten::wait(%f)
      return (%y) }
with square = graph(%x : Tensor) { %y : Tensor = aten::mul.Tensor(%x, %x) return (%y) }""")
    x = lamella.ones(2, requires_grad=True)
    assert p.run("", (x,)).requires_grad
    with lamella.no_grad():
        assert not p.run("", (x,)).requires_grad


# ---- layers ----


def test_autograd_records_through_a_program():
    g = parse("""graph(%x : Tensor, %n : int) {
      %t : bool = prim::Constant[value=True]()
      %y : Tensor = prim::Loop(%n, %t, %x)
        block0(%i : int, %v : Tensor) {
          %odd : int = aten::remainder.int(%i, 2)
          %is : bool = aten::eq.int(%odd, 0)
          %w : Tensor = prim::If(%is)
            block0() { %s : Tensor = aten::sin(%v) -> (%s) }
            block1() { %m : Tensor = aten::mul.Tensor(%v, %x) -> (%m) }
          -> (%t, %w) }
      %c : Tensor = aten::clone(%y)
      %d : Tensor = aten::mul_.Scalar(%c, 3)
      %r : Tensor = aten::sum(%d, dtype=None)
      return (%r) }""")
    x = lamella.tensor([0.3, -1.2, 0.9], dtype=lamella.float64, requires_grad=True)
    g(x, 4).backward()
    h = 1e-6
    for i in range(3):
        step = lamella.zeros(3, dtype=lamella.float64)
        step[i] = h
        slope = (g(x.detach() + step, 4) - g(x.detach() - step, 4)).item() / (2 * h)
        assert abs(slope - x.grad[i].item()) < 1e-8


@pytest.mark.needs("profiler")
def test_the_profiler_sees_the_operators():
    g = parse("""graph(%x : Tensor, %n : int) {
      %t : bool = prim::Constant[value=True]()
      %y : Tensor = prim::Loop(%n, %t, %x) block0(%i : int, %v : Tensor) { %w : Tensor = aten::exp(%v) -> (%t, %w) }
      return (%y) }""")
    with lamella.profiler.profile(activities=["cpu"]) as profile:
        g(lamella.zeros(2), 3)
    assert {e.key: e.count for e in profile.key_averages()}["aten::exp"] == 3


@pytest.mark.needs("named_tensor")
def test_names_go_through_a_program():
    g = parse("graph(%x : Tensor) { %y : Tensor = aten::t(%x) %z : Tensor = aten::exp(%y) return (%z) }")
    assert g(lamella.zeros(2, 3, names=("n", "c"))).names == ("c", "n")


def test_a_custom_operator_runs_in_a_program():
    @lamella.library.custom_op("graph_tests::twice", mutates_args=())
    def twice(x: lamella.Tensor) -> lamella.Tensor:
        return x + x

    g = parse("graph(%x : Tensor) { %y : Tensor = graph_tests::twice(%x) return (%y) }")
    assert g(lamella.tensor([1.5])).item() == 3.0
