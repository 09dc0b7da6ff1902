"""Operators of a plugin that say how their dimensions map: what `define` refuses, and what opcheck finds."""

from contextlib import closing

import lamella
import pytest
from lamella.library import Library, OpCheckError, describe, opcheck


@pytest.fixture
def lib():
    with closing(Library("mapped", "DEF", owner="a test")) as library:
        yield library


@pytest.mark.parametrize(
    ("schema", "dims", "words"),
    [
        ("f(Tensor x) -> Tensor", "same", ["mapped::f", '"same"', "'broadcast', 'keep', 'reduce'"]),
        ("f(Tensor x) -> Tensor", "a -> a -> a", ["one '->'"]),
        ("f(Tensor x) -> Tensor", "a! -> a", ["'a!' is no name"]),
        ("f(Tensor x) -> Tensor", "1 -> a", ["'1' is no name"]),
        ("f(Tensor x) -> Tensor", "... a ... -> a", ["'...' twice"]),
        ("f(Tensor x) -> Tensor", "a -> ...", ["no argument has it"]),
        ("f(Tensor x) -> Tensor", "a, b -> a", ["2 groups and 1", "takes 1 tensors and returns 1"]),
        ("f(Tensor x, Tensor? y, Tensor[] z) -> (Tensor, int)", "a -> a", ["1 groups and 1", "takes 3"]),
        ("f(int n) -> Tensor", "keep", ["needs a tensor among the arguments"]),
        ("f(Tensor x) -> int", "reduce", ["one among the results"]),
    ],
)
def test_a_wrong_text_is_refused(lib, schema, dims, words):
    with pytest.raises(ValueError, match="define: mapped::f") as error:
        lib.define(schema, dims=dims)
    assert all(w in str(error.value) for w in words), str(error.value)


def test_a_text_is_described(lib):
    lib.define("f(Tensor x, Tensor? y, int dim, *, int n) -> (Tensor, int)", dims="a b~, b -> a b~ | a, -> a")
    found = describe("mapped::f")
    assert found.dims == "a b~, b -> a b~ | a, -> a"
    assert [a.name for a in found.arguments if a.dim] == ["dim"]
    lib.define("plain(Tensor x) -> Tensor")
    assert describe("mapped::plain").dims == ""
    assert 'dimensions "a b~, b -> a b~ | a, -> a"' in lamella._C._show("mapped::f")


def test_a_text_that_changes_is_the_new_one(lib):
    for dims in ("keep", "", "broadcast"):
        handle = lib.define("f(Tensor x) -> Tensor", dims=dims)
        assert describe("mapped::f").dims == dims
        lib.withdraw(handle)


def test_the_category_pointwise_needs_a_promise(lib):
    with pytest.raises(ValueError, match="mapped::f: the category 'pointwise'.*dims=\"broadcast\""):
        lib.define("f(Tensor x) -> Tensor", category="pointwise")
    with pytest.raises(ValueError, match="the category 'pointwise'"):
        lib.define("f(Tensor x) -> Tensor", category="pointwise", dims="keep")
    lib.define("f(Tensor x) -> Tensor", category="pointwise", dims="broadcast")
    assert describe("mapped::f").category == "pointwise"


def checked(lib, schema, kernel, args, dims):
    lib.define(schema, dims=dims)
    lib.impl(schema.partition("(")[0], kernel)
    return opcheck("mapped::" + schema.partition("(")[0], args, test_utils="test_dims")


TRUE = [
    ("f(Tensor x, Tensor y) -> Tensor", lambda x, y: x * y + 1, (2, 3), "broadcast"),
    ("f(Tensor x, Tensor y) -> Tensor", lambda x, y: x.cumsum(0) * y, (2, 3), "a~ b, a~ b -> a~ b"),
    ("f(Tensor x, Tensor y) -> Tensor", lambda x, y: (x * y).sum(-1), (2, 3), "... k, ... k -> ..."),
    ("f(Tensor x, Tensor y) -> Tensor", lambda x, y: x.t() @ y, (2, 3), "k i, k j -> i j"),
    ("f(Tensor x, Tensor y) -> Tensor", lambda x, y: lamella.cat([x, y]), (2, 3), "a~ b, a~ b -> a~ b"),
]
LIES = [
    ("f(Tensor x, Tensor y) -> Tensor", lambda x, y: x.cumsum(0) * y, (2, 3), "broadcast", "dimension -2"),
    ("f(Tensor x, Tensor y) -> Tensor", lambda x, y: x - y.mean(-1, keepdim=True), (2, 3), "broadcast", "dimension -1"),
    ("f(Tensor x, Tensor y) -> Tensor", lambda x, y: x.t() * y, (3, 3), "broadcast", "dimension"),
    ("f(Tensor x, Tensor y) -> Tensor", lambda x, y: x[0] + y, (2, 3), "a b, a b -> a b", "'a'"),
    ("f(Tensor x, Tensor y) -> Tensor", lambda x, y: (x * y)[:, 0], (2, 3), "a k, a k -> a", "'k'"),
    ("f(Tensor x, Tensor y) -> Tensor", lambda x, y: lamella.cat([x, y]), (2, 3), "broadcast", "the size 2"),
    ("f(Tensor x, Tensor y) -> Tensor", lambda x, y: x + y, (2, 3), "reduce", "0 dimensions"),
    ("f(Tensor x, Tensor y) -> Tensor", lambda x, y: x + y, (2, 3), "a, a -> a", "no pattern"),
]


def two(shape):
    count = shape[0] * shape[1]
    return lamella.arange(1.0, count + 1).view(shape), lamella.arange(count + 2.0, 2.0, -1).view(shape).sqrt()


@pytest.mark.parametrize(("schema", "kernel", "shape", "dims"), TRUE)
def test_what_is_true_passes(lib, schema, kernel, shape, dims):
    assert checked(lib, schema, kernel, two(shape), dims) == {"test_dims": "SUCCESS"}


@pytest.mark.parametrize(("schema", "kernel", "shape", "dims", "words"), LIES)
def test_a_lie_is_reported(lib, schema, kernel, shape, dims, words):
    with pytest.raises(OpCheckError, match="opcheck: mapped::f: test_dims: its dims") as error:
        checked(lib, schema, kernel, two(shape), dims)
    assert words in str(error.value), str(error.value)


def test_random_and_writing_operators_are_checked_by_size_alone(lib):
    x = lamella.arange(6.0).view(2, 3)
    noise = checked(lib, "noise(Tensor x) -> Tensor", lambda x: x + lamella.rand(3), (x,), "broadcast")
    assert noise == {"test_dims": "SUCCESS"}
    with pytest.raises(OpCheckError, match="0 dimensions"):
        checked(lib, "few(Tensor x) -> Tensor", lambda x: lamella.rand(3), (x,), "reduce")


def test_an_operator_that_says_nothing_is_not_checked(lib):
    x = lamella.arange(6.0).view(2, 3)
    assert checked(lib, "f(Tensor x) -> Tensor", lambda x: x.cumsum(0), (x,), "") == {"test_dims": "SUCCESS"}
