"""Schemas from type hints: each hint, each default, and hints that no schema can express."""

from __future__ import annotations

import enum
import functools
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, List, Optional, Tuple, Union  # noqa: UP035
from typing import Sequence as TypingSequence  # noqa: UP035

import lamella
import numpy as np
import pytest
from lamella import Tensor
from lamella.library import custom_op, infer_schema


def everything(
    a: Tensor,
    b: Optional[Tensor],  # noqa: UP045
    c: Sequence[Tensor],
    d: List[Optional[Tensor]],  # noqa: UP006, UP045
    e: int,
    f: float,
    g: bool,
    h: str,
    i: lamella.dtype,
    j: lamella.device,
    k: Union[int, float],  # noqa: UP007
    l: numbers.Number,  # noqa: E741
    m: list[int],
    n: list[float] | None = None,
    o: int | float | bool | None = None,
    *,
    p: int = 1,
    q: float = -2.5e-8,
    r: bool = True,
    s: str = "a b",
    t: lamella.dtype = lamella.float32,
    u: lamella.device = lamella.device("cpu"),  # noqa: B008
    v: Sequence[int] = (1, 2),
    w: float = float("inf"),
) -> Tuple[Tensor, List[Tensor], int]:  # noqa: UP006
    return a, [a], 1


def test_every_hint():
    text = infer_schema(everything, op_name="f", mutates_args=())
    assert text == (
        "f(Tensor a, Tensor? b, Tensor[] c, Tensor?[] d, int e, float f, bool g, str h, ScalarType i, Device j, "
        "Scalar k, Scalar l, int[] m, float[]? n=None, Scalar? o=None, *, int p=1, float q=-2.5e-08, bool r=True, "
        'str s="a b", ScalarType t=float32, Device u="cpu", int[] v=[1, 2], float w=inf) -> (Tensor, Tensor[], int)'
    )
    assert lamella._C._parse_schema(text, "x")


def test_defaults_arrive(ns, opened):
    seen = []

    def f(x: Tensor, n: Sequence[int] = (1, 2), mode: str = "a b", *, by: float = float("inf")) -> None:
        seen.append((tuple(n), mode, by))

    op = opened(custom_op(f"{ns}::f", f, mutates_args=()))
    x = lamella.ones(1)
    op(x)
    op(x, [3], "c", by=1)
    op(x, n=[], by=-2.5)
    assert seen == [((1, 2), "a b", float("inf")), ((3,), "c", 1.0), ((), "a b", -2.5)]


def test_lists_and_dictionaries_of_values(ns, opened):
    """The function gets such values unchanged, both given ones and defaults."""
    seen = []

    def f(
        x: Tensor,
        names: list[str],
        numbers: list[Union[int, float]],  # noqa: UP007
        holes: Sequence[Optional[int]] = (1, None),  # noqa: UP045
        *,
        weights: dict[str, float] | None = None,
        options: Mapping[str, Any] | None = None,
        order: Sequence[str] = ("N", "C"),
    ) -> None:
        seen.append((names, numbers, holes, weights, options, order))

    words = "(Tensor x, str[] names, Scalar[] numbers, int?[] holes=[1, None], *, Dict(str, float)? weights=None, "
    assert infer_schema(f, mutates_args=()) == words + 'Dict(str, Any)? options=None, str[] order=["N", "C"]) -> ()'
    op = opened(custom_op(f"{ns}::f", f, mutates_args=()))
    x = lamella.ones(1)
    op(x, ["a", "é"], [1, 2.5])
    op(x, (), [True, 1j], [None], weights={"a": 1}, options={"k": [1, None, {"of": "x"}]}, order=[])
    as_lists = [[list(v) if isinstance(v, tuple) else v for v in call] for call in seen]
    assert as_lists[0] == [["a", "é"], [1, 2.5], [1, None], None, None, ["N", "C"]]
    assert as_lists[1] == [[], [True, 1j], [None], {"a": 1.0}, {"k": [1, None, {"of": "x"}]}, []]
    for wrong in ({"names": "ab"}, {"names": [1]}, {"numbers": ["a"]}, {"holes": ["a"]}, {"weights": {"a": "b"}},
                  {"weights": {1: 2.0}}, {"options": {"a": object()}}, {"options": {"a": x}}):  # fmt: skip
        with pytest.raises(TypeError, match=f"argument '{next(iter(wrong))}'"):
            op(**{"x": x, "names": [], "numbers": []} | wrong)
    assert len(seen) == 2


@pytest.mark.parametrize("mutates, wanted", [((), ""), (("x",), "(a0!)"), ("unknown", "(a0!)")])
def test_what_it_writes_to(mutates, wanted):
    def f(x: Tensor, n: int) -> None: ...

    assert infer_schema(f, mutates_args=mutates) == f"(Tensor{wanted} x, int n) -> ()"


def returns(hint):
    def f(x: Tensor): ...

    f.__annotations__["return"] = hint
    return f


@pytest.mark.parametrize(
    "hint, wanted",
    [
        (Tensor, "Tensor"),
        (None, "()"),
        (tuple[Tensor, Tensor], "(Tensor, Tensor)"),
        (list[Tensor], "Tensor[]"),
        (int, "int"),
        (tuple[Tensor, float], "(Tensor, float)"),
    ],
)
def test_what_it_returns(hint, wanted):
    assert infer_schema(returns(hint), mutates_args=()) == f"(Tensor x) -> {wanted}"


def bad_functions():
    def no_hint(x) -> Tensor: ...
    def no_result(x: Tensor): ...
    def arguments(*xs: Tensor) -> Tensor: ...
    def keywords(**xs: Tensor) -> Tensor: ...
    def positional(x: Tensor, /) -> Tensor: ...
    def a_dict(x: dict) -> Tensor: ...
    def a_tuple(x: tuple[int, int]) -> Tensor: ...
    def nested(x: list[list[int]]) -> Tensor: ...
    def an_object_default(x: Tensor, y: int = object()) -> Tensor: ...
    def a_quote(x: Tensor, y: str = 'a"b') -> Tensor: ...
    def local(x: Nowhere) -> Tensor: ...  # noqa: F821
    def a_set_result(x: Tensor) -> set: ...
    def a_list_of_what(x: List) -> Tensor: ...  # noqa: UP006
    def a_sequence_of_what(x: TypingSequence) -> Tensor: ...
    def many_results(x: Tensor) -> tuple[Tensor, ...]: ...

    def a_dict_of_tensors(x: dict[str, Tensor]) -> Tensor: ...
    def a_dict_by_number(x: dict[int, int]) -> Tensor: ...
    def lists_of_optional_strings(x: list[str | None]) -> Tensor: ...
    def dtypes(x: Sequence[lamella.dtype]) -> Tensor: ...
    def optional_devices(x: list[lamella.device] | None) -> Tensor: ...
    def a_tuple_of_one(x: Tensor) -> tuple[Tensor]: ...
    def a_tuple_in_a_tuple(x: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]: ...

    strange = (a_dict, a_tuple, nested, a_list_of_what, a_sequence_of_what)
    strange += (a_dict_of_tensors, a_dict_by_number, lists_of_optional_strings, dtypes, optional_devices)
    found = {f: "'" + next(iter(f.__annotations__)) + "'" for f in strange}
    found |= {no_hint: "'x' has no type hint", no_result: "hint for its result", arguments: "'xs'", keywords: "'xs'"}
    found |= {positional: "'x'", an_object_default: "'y'.*default", a_quote: "'y'.*default", local: "Nowhere.*module"}
    found |= {a_tuple_of_one: "result.*two or more", a_tuple_in_a_tuple: "result.*tuple"}
    return found | {a_set_result: "result.*set", many_results: r"result.*\.\.\."}


@pytest.mark.parametrize("f, text", bad_functions().items(), ids=lambda x: getattr(x, "__name__", ""))
def test_a_schema_that_cannot_be_inferred(f, text):
    with pytest.raises(ValueError, match=rf"infer_schema: .*{f.__name__}: .*{text}"):
        infer_schema(f, mutates_args=())


class Scales:
    """A class whose instances are called like functions."""

    by = 3.0

    def __call__(self, x: Tensor, more: List["Tensor"], by: float = 2.0) -> Tensor:  # noqa: UP006, UP037
        return x * by * self.by

    def method(self, x: Tensor) -> Tensor:
        return x * self.by


def test_what_is_called_as_a_function(ns, opened):
    scales = Scales()
    halves, partly = functools.partial(scales, by=0.5), functools.partial(everything, b=None)
    text = "(Tensor x, Tensor[] more, float by=2.0) -> Tensor"
    assert infer_schema(scales, mutates_args=()) == text
    assert infer_schema(halves, mutates_args=()) == "(Tensor x, Tensor[] more, *, float by=0.5) -> Tensor"
    assert infer_schema(scales.method, mutates_args=()) == "(Tensor x) -> Tensor"
    assert infer_schema(functools.lru_cache(scales.method), mutates_args=()) == "(Tensor x) -> Tensor"
    assert infer_schema(partly, mutates_args=()).startswith("(Tensor a, *, Tensor? b=None, Tensor[] c, ")
    x = lamella.ones(1)
    for i, (f, wanted) in enumerate([(scales, 6), (halves, 1.5)]):
        assert opened(custom_op(f"{ns}::f{i}", f, mutates_args=()))(x, []).item() == wanted
    with pytest.raises(ValueError, match="'x' has no type hint"):
        infer_schema(functools.partial(lambda x: x), mutates_args=())


class Color(enum.IntEnum):
    RED = 3


class Mode(str, enum.Enum):
    FAST = "fast"


def test_defaults_of_subclasses_are_their_values():
    def f(
        x: Tensor,
        by: float = np.sqrt(4.0),
        n: int = Color.RED,
        mode: str = Mode.FAST,
        ns: Sequence[int] = (Color.RED, 1),
    ) -> Tensor: ...

    text = '(Tensor x, float by=2.0, int n=3, str mode="fast", int[] ns=[3, 1]) -> Tensor'
    assert infer_schema(f, mutates_args=()) == text


def test_mutation_that_cannot_be():
    def f(x: Tensor, n: int) -> None: ...

    with pytest.raises(ValueError, match="'n' is in mutates_args, but only tensors"):
        infer_schema(f, mutates_args=("n",))
    with pytest.raises(ValueError, match="mutates_args names 'y', which is no parameter"):
        infer_schema(f, mutates_args=("y",))
    with pytest.raises(ValueError, match="argument 'mutates_args'.*'x'"):
        infer_schema(f, mutates_args="x")
