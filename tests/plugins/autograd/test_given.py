"""autograd reads other libraries' structs up to their size, copies them, and never writes to them."""

import ctypes
from pathlib import Path

import lamella
import pytest
from compiled import STRICT, compile_library

SIZES = {"derivative": 40, "hook": 40, "node": 48, "saved": 56}  # sizes in version 1.0; they never change
NEWER = "has 1024 bytes and uses some behind the"


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    path = compile_library(tmp_path_factory, Path(__file__).parent / "given.cpp", *STRICT)
    lamella._C._load_plugin(str(path))
    library = ctypes.PyDLL(str(path))
    library.given_push.restype = ctypes.c_char_p
    library.given_push.argtypes = ctypes.c_int64, ctypes.c_int64
    return library


def leaf():
    return lamella.tensor([1.0, 2.0], requires_grad=True)


def gradient(y, x):
    return lamella.autograd.grad(y.sum(), x)[0].tolist()


def test_one_constant_derivative_serves_two_operators(given):
    x, y = leaf(), leaf()
    first, second = lamella.ops.given.first(x), lamella.ops.given.second(x.detach(), y)
    assert gradient(first, x) == [2, 2] and gradient(second, y) == [2, 2]
    assert (first.grad_fn.name(), second.grad_fn.name()) == ("FirstBackward0", "SecondBackward0")


@pytest.mark.parametrize("op, slope", [("exact", 2), ("longer", 2), ("functions", 3)])
def test_a_derivative_of_a_size_that_can_be_read(op, slope, given):
    x = leaf()
    assert gradient(getattr(lamella.ops.given, op)(x), x) == [slope, slope]


@pytest.mark.parametrize(
    "op, words",
    [
        ("unset", "the struct's size is 0; set it to sizeof"),
        ("half", "the struct's size is 16; set it to sizeof"),
        ("shorter", f"the struct's size is {SIZES['derivative'] - 8}; set it to sizeof"),
        ("newer", NEWER),
        ("neither", "neither formulas nor a function `backward`"),
        ("more", "it was written for 2 arguments, the operator has 1"),
    ],
)
def test_a_derivative_that_cannot_be_read(op, words, given):
    f = getattr(lamella.ops.given, op)
    assert f(lamella.ones(2)).tolist() == [1, 1]
    for _ in range(2):
        with pytest.raises(ValueError) as error:
            f(leaf())
        assert words in str(error.value) and f"given::{op}" in str(error.value)


@pytest.mark.parametrize("op, slope", [("grown", 2), ("called", 3)])
def test_a_derivative_of_an_operator_that_has_grown_since(op, slope, given):
    f, x = getattr(lamella.ops.given, op), leaf()
    assert gradient(f(x), x) == gradient(f(x, times=1, weight=None), x) == [slope, slope]
    assert f(x.detach(), times=2).tolist() == f(x.detach(), weight=x.detach()).tolist() == [1, 2]
    for argument, value in (("times", 2), ("weight", leaf())):
        words = f"given::{op}: the derivative was written before the argument '{argument}'"
        with pytest.raises(NotImplementedError, match=words):
            f(x, **{argument: value})


def hook(given, size, last):
    x = leaf()
    y = x * 1
    lamella.ops.given.hook(y, 0, size, last)
    return gradient(y, x)


def node(given, size, last):
    x = leaf()
    y = lamella.ops.given.node(x, size, last)
    assert y.grad_fn.name() == "TripleOfTheGradientBackward"
    return gradient(y, x)


def saved(given, size, last):
    if wrong := given.given_push(size, last):
        raise ValueError(wrong.decode())
    x = leaf()
    y = x.exp() * x
    given.given_pop()
    assert given.given_packed() > 0
    (y / y.detach()).sum().backward()
    del y
    assert given.given_packed() == 0
    return [3.0, 3.0] if lamella.allclose(x.grad, 1 + 1 / x.detach()) else x.grad.tolist()


KINDS = {"hook": hook, "node": node, "saved": saved}


@pytest.mark.parametrize("kind", KINDS)
def test_a_size_that_can_be_read(kind, given):
    for size in (SIZES[kind], SIZES[kind] + 8, 1024):
        assert KINDS[kind](given, size, 0) == [3, 3]


@pytest.mark.parametrize("kind", KINDS)
def test_a_size_that_cannot_be_read(kind, given):
    for size in (0, 4, 16, SIZES[kind] - 8):
        with pytest.raises(ValueError, match=rf"the struct's size is {size}; set it to sizeof"):
            KINDS[kind](given, size, 0)
    with pytest.raises(ValueError, match=NEWER):
        KINDS[kind](given, 1024, 1)


def test_a_kind_of_hook_that_the_plugin_does_not_know(given):
    with pytest.raises(ValueError, match="hook_add: there is no kind 9 of hooks"):
        lamella.ops.given.hook(leaf() * 1, 9, SIZES["hook"], 0)
