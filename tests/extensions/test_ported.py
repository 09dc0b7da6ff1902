"""What programs that were written for torch do with tensors in C++, and what they must not be able to do."""

import os
from pathlib import Path

import lattis
import numpy as np
import pytest
from compiled import STRICT, compile_library, load

HERE = Path(__file__).resolve().parent
ops = lattis.ops


@pytest.fixture(scope="module", autouse=True)
def ported(tmp_path_factory):
    load(compile_library(tmp_path_factory, HERE / "ported.cpp", *STRICT))


def test_texts_of_any_kind_and_none():
    x, y = lattis.tensor([0.0, 5.0, 7.0]), lattis.tensor([2.0, 2.0, 4.0])
    floor, same, literal, plain, norm, found, product = ops.ported.texts(x, y, "floor")
    assert floor.tolist() == same.tolist() == literal.tolist() == [0, 2, 1] and plain.tolist() == [0, 2.5, 1.75]
    assert norm.item() == 2 and found.tolist() == [1, 1, 1] and product.item() == 38


def test_what_is_assigned_to_a_part_is_written():
    x, y = lattis.zeros(3, 2), lattis.tensor([1.0, 2.0])
    ops.ported.writes(x, y)
    assert x.tolist() == [[1, 2], [2, 3], [7, 7]] and y.tolist() == [1, 2]


@pytest.mark.parametrize("name, slope", [("by_value", 6), ("reassigned", 10)])
def test_a_function_that_takes_its_argument_over(name, slope):
    if hasattr(lattis, "autograd"):
        x = lattis.ones(2, requires_grad=True)
        getattr(ops.ported, name)(x).sum().backward()
        assert x.grad.tolist() == [slope, slope]


def test_a_function_of_tensors_in_any_container():
    if hasattr(lattis, "autograd"):
        x, y, z = (lattis.ones(2, requires_grad=True) for _ in range(3))
        ops.ported.of_many(x, y, z).sum().backward()
        assert [t.grad.tolist() for t in (x, y, z)] == [[7, 7], [11, 11], [13, 13]]


def test_results_by_reference():
    x, y = lattis.ones(2), lattis.zeros(2)
    assert ops.ported.twice_(x) is x and x.tolist() == [2, 2]
    a, b = ops.ported.both_(x, y)
    assert a is x and b is y
    for _ in range(3):
        assert [t.tolist() for t in ops.ported.cached(x)] == [[2, 2], [2, 2]]


def test_memory_is_given_back_once():
    with pytest.raises(RuntimeError, match="requires|gradients"):
        ops.ported.blob()
    assert ops.ported.deleted() == 1
    assert ops.ported.bytes().tolist() == [1, 2]


def test_limits_of_half_floats():
    lowest, largest, least, epsilon, denormal, infinity, negative, nan, *rest = ops.ported.limits(False)
    f = np.finfo(np.float16)
    assert [lowest, largest, least, epsilon, denormal] == [f.min, f.max, f.tiny, f.eps, f.smallest_subnormal]
    assert (infinity, negative, nan) == (np.inf, -np.inf, 1) and rest == [11, 3, 16, -13]
    lowest, largest, least, epsilon, denormal, infinity, negative, nan, *rest = ops.ported.limits(True)
    f = lattis.finfo(lattis.bfloat16)
    assert [lowest, largest, least, epsilon] == [f.min, f.max, f.tiny, f.eps] and denormal == 2.0**-133
    assert (infinity, negative, nan) == (np.inf, -np.inf, 1) and rest == [8, 2, 128, -125]


def test_complex_numbers_through_a_typed_call():
    assert ops.ported.conjugate(1 + 2j) == 1 - 2j and ops.ported.through(3 + 4j) == 4 - 2j


def test_strides_that_do_not_belong_to_the_sizes():
    with pytest.raises(RuntimeError, match="a result of 2 dimensions has 3 strides"):
        ops.ported.strided(lattis.ones(2, 2))
    assert ops.ported.strided(lattis.ones(2, 2, 2)).shape == (2, 2, 2)


if os.environ.get("LATTIS_PLANTED"):  # the sanitizers' check of themselves

    def test_planted_behind_memory():
        ops.ported.behind_memory()

    def test_planted_behind_arguments():
        ops.ported.behind_arguments(1)
