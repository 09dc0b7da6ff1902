"""Programs in several threads, futures, and the layers that see a program's operators."""

import threading

import lamella
import pytest
from lamella.graph import Program, parse
from threads import in_threads


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
    with pytest.raises(ZeroDivisionError, match="integer division or modulo by zero"):
        p.run("bad", (0,))
    future = p.run("given", (0,))
    for error in (ZeroDivisionError, RuntimeError):  # Python's own exception is given once
        with pytest.raises(error, match="integer division or modulo by zero"):
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
