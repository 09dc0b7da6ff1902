"""When values of a running program die: a tensor is freed at its last use, in each branch and in each trip."""

import weakref

import lamella
import numpy
import pytest
from lamella.graph import Program


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
    for call in ("%r : Tensor = aten::cat(%l, 0) tick(1)", "%n : int = aten::len.t(%l) tick(1)"):
        first, *freed, end = deaths(body + call)
        assert (first, sorted(freed), end) == (0, ["free 1", "free 2"], 1)
    pair = body.replace("Tensor[]", "(Tensor, Tensor, Tensor)").replace("List", "Tuple")
    index = "%x : Tensor = prim::TupleIndex[index=1](%l) tick(1) %y : Tensor = aten::abs(%x) tick(2)"
    assert deaths(pair + index) == [0, "free 1", 1, "free 2", 2]


def test_an_error_frees_what_is_held():
    log = []
    body = "%a : Tensor = make(1) %z : int = aten::floordiv.int(1, 0) %b : Tensor = aten::abs(%a)"
    with pytest.raises(ZeroDivisionError) as e:
        deaths(body, log=log)
    del e
    assert log == ["free 1"]
