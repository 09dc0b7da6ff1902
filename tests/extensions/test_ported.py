"""C++ as torch programs write it: uses of tensors that must work, and others that must be errors."""

import os
from pathlib import Path

import lamella
import numpy as np
import pytest
from compiled import STRICT, compile_library, load

HERE = Path(__file__).resolve().parent
ops = lamella.ops


@pytest.fixture(scope="module", autouse=True)
def ported(tmp_path_factory):
    load(compile_library(tmp_path_factory, HERE / "ported.cpp", *STRICT))


@pytest.mark.long
def test_texts_of_any_kind_and_none():
    x, y = lamella.tensor([0.0, 5.0, 7.0]), lamella.tensor([2.0, 2.0, 4.0])
    floor, same, literal, plain, norm, found, product = ops.ported.texts(x, y, "floor")
    assert floor.tolist() == same.tolist() == literal.tolist() == [0, 2, 1] and plain.tolist() == [0, 2.5, 1.75]
    assert norm.item() == 2 and found.tolist() == [1, 1, 1] and product.item() == 38


def test_what_is_assigned_to_a_part_is_written():
    x, y = lamella.zeros(3, 2), lamella.tensor([1.0, 2.0])
    ops.ported.writes(x, y)
    assert x.tolist() == [[1, 2], [2, 3], [7, 7]] and y.tolist() == [1, 2]


@pytest.mark.parametrize("name, slope", [("by_value", 6), ("reassigned", 10)])
def test_a_function_that_takes_its_argument_over(name, slope):
    if hasattr(lamella, "autograd"):
        x = lamella.ones(2, requires_grad=True)
        getattr(ops.ported, name)(x).sum().backward()
        assert x.grad.tolist() == [slope, slope]


def test_a_function_of_tensors_in_any_container():
    if hasattr(lamella, "autograd"):
        x, y, z = (lamella.ones(2, requires_grad=True) for _ in range(3))
        ops.ported.of_many(x, y, z).sum().backward()
        assert [t.grad.tolist() for t in (x, y, z)] == [[7, 7], [11, 11], [13, 13]]
        ops.ported.of_many_wrongly(True)
        with pytest.raises(RuntimeError, match="OfManyBackward: argument 0 is no tensor; its gradient must be"):
            ops.ported.of_many(x, y, z).sum().backward()
        ops.ported.of_many_wrongly(False)


def test_a_number_given_to_a_function_has_no_gradient():
    if hasattr(lamella, "autograd"):
        x = lamella.ones(2, requires_grad=True)
        ops.ported.weighted(x, 3.0, False).sum().backward()
        assert x.grad.tolist() == [3, 3]
        wanted = "WeightedBackward: argument 1 is no tensor; its gradient must be undefined"
        with pytest.raises(RuntimeError, match=wanted):
            ops.ported.weighted(x, 3.0, True).sum().backward()


def test_results_by_reference():
    x, y = lamella.ones(2), lamella.zeros(2)
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
    f = lamella.finfo(lamella.bfloat16)
    assert [lowest, largest, least, epsilon] == [f.min, f.max, f.tiny, f.eps] and denormal == 2.0**-133
    assert (infinity, negative, nan) == (np.inf, -np.inf, 1) and rest == [8, 2, 128, -125]


def test_complex_numbers_through_a_typed_call():
    assert ops.ported.conjugate(1 + 2j) == 1 - 2j and ops.ported.through(3 + 4j) == 4 - 2j


def test_factories_with_and_without_a_generator():
    g = lamella.Generator().manual_seed(1)
    x, plain, drawn, converted, single = ops.ported.made(g)
    assert x.dtype == plain.dtype == drawn.dtype == lamella.float64 and x.shape == (2, 3)
    assert converted.dtype == lamella.int32 and converted.tolist() == x.to(lamella.int32).tolist()
    assert single.dtype == lamella.float32 and 0 <= x.min().item() and x.max().item() < 1
    again = lamella.randn(2, dtype=lamella.float64, generator=lamella.Generator().manual_seed(1))
    assert drawn.tolist() == again.tolist() != plain.tolist()


def test_where_a_tensor_is():
    assert ops.ported.where(lamella.zeros(2)) == "cpu"
    assert ops.ported.where(lamella.zeros(2, device="meta")) == "no cpu"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "bool", "uint8", "float64"])
def test_dispatch_over_three_more_types(dtype):
    x = lamella.tensor([[1, 1, 0], [0, 1, 1]]).to(getattr(lamella, dtype))
    assert ops.ported.sum_of(x) == ops.ported.sum_of(x.t()) == 4
    with pytest.raises(NotImplementedError, match="sum_of: not implemented for dtype complex64"):
        ops.ported.sum_of(x.to(lamella.complex64))


def test_parts_of_a_message():
    with pytest.raises(ValueError, match=r"parts: 0x[0-9a-f]{6,} 0x0 true x 1.5 11"):
        ops.ported.message()


def test_lists_of_bools():
    for flipped in (ops.ported.flipped, ops.ported.flipped_by_name):
        assert flipped([True, False, False]) == (False, True, True) and flipped([]) == ()


def test_what_is_streamed():
    assert ops.ported.plain() == "0.333333333333 1 ff text more"
    assert ops.ported.streamed(lamella.ones(2, 3)) == "Tensor(shape=[2, 3], dtype=float32) [2, 3] float32 cpu 1.5"


@pytest.mark.parametrize(
    "convert, dtype",
    [
        (lambda x: ops.ported.byte_of(x), "uint8"),
        (lambda x: ops.ported.short_of(lamella.tensor(x, dtype=lamella.float64)), "int16"),
        (lambda x: ops.ported.long_of(x), "int64"),
    ],
    ids=["uint8", "int16", "int64"],
)
def test_numbers_that_do_not_fit(convert, dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    for x in (low, high, 0, 1.75, -0.0):
        if dtype != "int64" or abs(x) != high:  # a double cannot hold this value exactly
            assert convert(x) == int(x)
    if dtype == "uint8":
        assert [convert(x) for x in (-1, -255, -0.5, True)] == [255, 1, 0, 1]  # integers wrap as in torch
    below = -1.0 if dtype == "uint8" else -2.0 * high - 4
    for x in (2.0 * high, below, -2.0 * high - 4, float("inf"), float("-inf"), float("nan"), high + 1.0):
        with pytest.raises(RuntimeError, match="Scalar: .* cannot become an integer of"):
            convert(x)


def test_a_number_beyond_int64():
    assert ops.ported.large(lamella.zeros(1)).tolist() == [1 - 2.0**64]
    assert ops.ported.large(lamella.zeros(1, dtype=lamella.uint64)).tolist() == [2]
    with pytest.raises(RuntimeError, match="sub: .*18446744073709551615"):
        ops.ported.large(lamella.zeros(1, dtype=lamella.int64))
    with pytest.raises(RuntimeError, match="Scalar: 18446744073709551615 cannot become an integer of signed 64 bits"):
        ops.ported.long_of(2**64 - 1)


def test_a_number_divided_by_a_tensor():
    x = lamella.tensor([2.0, -4.0], requires_grad=hasattr(lamella, "autograd"))
    y = ops.ported.inverse(x)
    assert y.tolist() == [1, -0.5]
    if hasattr(lamella, "autograd"):
        y.sum().backward()
        assert x.grad.tolist() == [-0.5, -0.125]


def test_results_of_which_the_first_is_not_allocated():
    x = lamella.ones(1 << 20)
    live = []
    for _ in range(4):
        first, second = ops.ported.late(x)
        assert first[5].item() == 2 and second[-1].item() == 3
        del first, second
        live.append(lamella._C._memory_stats("cpu")["live_bytes"])
    assert live == live[:1] * 4


def test_an_operator_of_optional_tensors_in_a_list():
    x = lamella.arange(6).reshape(2, 3)
    assert ops.ported.indexed(x, [None, lamella.tensor([2, 0])]).tolist() == [[2, 0], [5, 3]]


def test_strides_that_do_not_belong_to_the_sizes():
    with pytest.raises(RuntimeError, match="a result of 2 dimensions has 3 strides"):
        ops.ported.strided(lamella.ones(2, 2))
    assert ops.ported.strided(lamella.ones(2, 2, 2)).shape == (2, 2, 2)


if os.environ.get("LAMELLA_PLANTED"):  # the sanitizer must report both tests

    def test_planted_behind_memory():
        ops.ported.behind_memory()

    def test_planted_behind_arguments():
        ops.ported.behind_arguments(1)
