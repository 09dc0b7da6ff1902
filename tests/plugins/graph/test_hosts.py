"""Programs and Python: what they print, functions of Python that they call, instances, and arguments."""

import contextlib
import io

import lamella
import pytest
from lamella.graph import Program, parse


def test_print_goes_to_stdout():
    g = parse("graph(%a : int, %l : float[], %d : Dict(str, int)) { prim::Print(%a, %l, %d) prim::Print() return () }")
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


@pytest.mark.parametrize(("name", "wrong"), [("n", 1.5), ("n", "1"), ("t", 1), ("l", [1.5]), ("o", 3), ("n", None)])
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
    g = parse(
        "graph(%f : float, %c : complex, %l : float[], %o : float?, %t : (float, int)) { return (%f, %c, %l, %o, %t) }"
    )
    assert [type(x) for x in parse("graph(%i : int, %f : float) { return (%i, %f) }")(True, False)] == [int, float]
    got = g(1, 2.5, [1, 2.5], 3, (4, 5))
    assert got == (1.0, 2.5 + 0j, [1.0, 2.5], 3.0, (4.0, 5))
    assert [type(x) for x in (got[0], got[1], got[2][0], got[3], got[4][0])] == [float, complex, float, float, float]
