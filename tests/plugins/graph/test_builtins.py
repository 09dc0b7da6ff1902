"""Each builtin of graphs against CPython, with arguments by hypothesis, and those on tensors against numpy."""

import copy
import math

import builtin_cases
import builtin_tensor_cases
import builtin_text_cases
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lamella.plugins.graph import _python

MODULES = (builtin_cases, builtin_text_cases, builtin_tensor_cases)  # each adds its cases to the first one's CASES
CASES = builtin_cases.CASES
BITS = 2**63
# The kinds of errors of the C ABI have no ZeroDivisionError and no KeyError in Python.
ALSO = {ZeroDivisionError: RuntimeError, KeyError: LookupError, RecursionError: RuntimeError}


def name_of(schema: str) -> str:
    return schema.partition("(")[0]


def fits(v) -> bool:
    """Returns whether an int, also within a container, has 64 bits."""
    if isinstance(v, int):
        return -BITS <= v < BITS
    if isinstance(v, (list, tuple)):
        return all(map(fits, v))
    return not isinstance(v, dict) or (fits(list(v)) and fits(list(v.values())))


def agree(a, b, close: float) -> bool:
    """Returns whether two values are of one type and equal; NaN equals itself, and 0.0 does not equal -0.0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, complex):
        if close and a == a and b == b and abs(a) < 1e300 and abs(b) < 1e300:
            return abs(a - b) <= 1e-11 * max(1.0, abs(a))
        return agree(a.real, b.real, close) and agree(a.imag, b.imag, close)
    if isinstance(a, float):
        if close and math.isfinite(a) and math.isfinite(b):
            return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-300 if close is True else close)
        return a == b and math.copysign(1, a) == math.copysign(1, b) if a == a else b != b
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(agree(x, y, close) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return agree(list(a.items()), list(b.items()), close)
    return a == b


def expected(case, args):
    """Returns the oracle's result and its first argument afterwards, or the type of its error."""
    args = copy.deepcopy(args)
    try:
        result = case.oracle(*args)
    except (ArithmeticError, ValueError, TypeError, LookupError, RecursionError) as error:
        return type(error), None
    if not fits(result) or (case.written and not fits(args[0])):
        return OverflowError, None
    return result, args[0] if case.written else None


def test_every_builtin_has_a_case():
    known = {name_of(schema) for schema in _python.builtin_schemas()}
    assert not known - set(CASES) - set(builtin_tensor_cases.TESTED)
    assert not set(CASES) - known


@pytest.mark.parametrize("name", sorted(CASES))
@settings(max_examples=60, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(data=st.data())
def test_builtin(name, data):
    case = CASES[name]
    args = tuple(data.draw(a) for a in case.arguments)
    wanted, after = expected(case, args)
    if isinstance(wanted, type) and issubclass(wanted, Exception):
        with pytest.raises((wanted, ALSO.get(wanted, wanted))):
            _python.builtin(name, args)
        return
    got = _python.builtin(name, args)
    if case.written:
        got, args_after = got
        assert agree(args_after[0], after, False), (args, args_after[0], after)
    assert agree(got, wanted, case.close), (args, got, wanted)


@pytest.mark.parametrize("name", [n for n, test in builtin_tensor_cases.TESTED.items() if test])
def test_builtin_on_tensors(name):
    builtin_tensor_cases.TESTED[name]()


@pytest.mark.parametrize(
    "name, args",
    [
        ("aten::floordiv.int", (1, 0)),
        ("aten::remainder.int", (1, 0)),
        ("aten::__getitem__.t", ([1], 3)),
        ("aten::pop.t", ([], -1)),
        ("aten::index.t", ([1], 2)),
        ("aten::_set_slice.t", ([1, 2, 3], 0, 3, 2, [1])),
        ("aten::__getitem__.Dict", ({"a": 1}, "b")),
        ("aten::lt.t", ([1], ["a"])),
        ("aten::Int.str", ("ten",)),
        ("aten::Float.str", ("ten",)),
        ("aten::Int.float", (math.inf,)),
        ("aten::ord", ("ab",)),
        ("aten::center.str", ("a", 5, "ab")),
        ("aten::index.str", ("abc", "d")),
        ("aten::join", (",", ["a", 1])),
        ("aten::format", ("{} {}", 1)),
        ("aten::percentFormat", ("%d", "a")),
        ("aten::percentFormat", ("%d %d", 1)),
        ("aten::hash.t", ([1],)),
        ("aten::factorial.int", (-1,)),
        ("aten::sqrt.float", (-1.0,)),
    ],
)
def test_errors_have_the_words_of_python(name, args):
    words = {
        "aten::floordiv.int": "integer division or modulo by zero",
        "aten::remainder.int": "integer modulo by zero",
        "aten::__getitem__.t": "list index out of range",
        "aten::pop.t": "pop from empty list",
        "aten::index.t": "2 is not in list",
        "aten::_set_slice.t": "attempt to assign sequence of size 1 to extended slice of size 2",
        "aten::__getitem__.Dict": "'b'",
        "aten::lt.t": "'<' not supported between instances of 'int' and 'str'",
        "aten::Int.str": "invalid literal for int() with base 10: 'ten'",
        "aten::Float.str": "could not convert string to float: 'ten'",
        "aten::Int.float": "cannot convert float infinity to integer",
        "aten::ord": "ord() expected a character, but string of length 2 found",
        "aten::center.str": "The fill character must be exactly one character long",
        "aten::index.str": "substring not found",
        "aten::join": "sequence item 1: expected str instance, int found",
        "aten::format": "Replacement index 1 out of range for positional args tuple",
        "aten::percentFormat": (
            "%d format: a real number is required, not str",
            "not enough arguments for format string",
        ),
        "aten::hash.t": "unhashable type: 'list'",
        "aten::factorial.int": "factorial() not defined for negative values",
        "aten::sqrt.float": "math domain error",
    }
    with pytest.raises(Exception) as error:
        _python.builtin(name, args)
    assert error.value.args[0] in words[name]


def test_nested_values_end_in_an_error_and_not_in_a_full_stack():
    deep: list = []
    for _ in range(2000):
        deep = [deep]
    with pytest.raises(RuntimeError, match="maximum recursion depth exceeded"):
        _python.builtin("aten::repr", (deep,))
