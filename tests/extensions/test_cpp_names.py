"""Every public operator is a function and a method in C++, and so are the usual torch names that are no operators."""

import re
from pathlib import Path

import lamella
import pytest
from lamella.extensions import include_paths

INCLUDE = Path(include_paths()[0]) / "lamella"
FUNCTIONS = (
    (INCLUDE / "operators.h").read_text() + (INCLUDE / "tensor.h").read_text() + (INCLUDE / "indexing.h").read_text()
)
METHODS = (INCLUDE / "tensor_methods.h").read_text() + (INCLUDE / "tensor.h").read_text()
RESERVED = ("bool", "float", "double", "int", "long", "short", "char", "and", "or", "not", "xor", "union")
USUAL = (
    "cpu cuda type_as toType slice elu gelu silu leaky_relu softplus mse_loss one_hot linear index index_put_ "
    "equal allclose new_empty new_zeros new_ones new_full is_cpu is_meta"
)


def named(text, name):
    return re.search(rf"\b{name}\(", text)


def catalogue():
    ours = [o for o in lamella._C._operators() if o["owner"] == "lamella"]
    assert len(ours) > 400
    return [(o, o["name"].partition("::")[2]) for o in ours if not o["name"].partition("::")[2].startswith("_")]


@pytest.mark.long
def test_every_operator_is_a_function():
    missing = {n for o, n in catalogue() if o["form"] == "functional" and not named(FUNCTIONS, n) and n not in RESERVED}
    assert not missing


def test_every_operator_on_a_tensor_is_a_method():
    takes = [n for o, n in catalogue() if o["form"] != "out" and o["args"] and o["args"][0]["type"] == "Tensor"]
    missing = {n for n in takes if not n.endswith("_backward") and not named(METHODS, n) and n not in RESERVED}
    assert len(takes) > 400 and not missing


def test_usual_names():
    assert [n for n in USUAL.split() if not named(METHODS, n)] == []


def test_the_check_sees_a_missing_name():
    assert not named("Tensor slice_copy(int);", "slice") and named("Tensor slice(int);", "slice")
