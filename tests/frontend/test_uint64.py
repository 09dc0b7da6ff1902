"""Whole numbers above int64's range: arguments, elements and results, for the dtypes that hold them."""

import bisect

import lamella
import numpy as np
import pytest

LARGE = [2**63, 2**63 + 5, 2**64 - 2, 2**64 - 1]


@pytest.mark.parametrize("n", LARGE)
def test_numbers_go_in_and_out(n):
    x = lamella.tensor([n], dtype=lamella.uint64)
    assert x.item() == n
    assert lamella.full((2,), n, dtype=lamella.uint64).tolist() == [n, n]
    assert lamella.full((1,), n).dtype is lamella.uint64
    assert lamella.tensor(n).dtype is lamella.uint64
    assert lamella.tensor([n, 1, True], dtype=lamella.uint64).tolist() == [n, 1, 1]
    assert lamella.zeros(1, dtype=lamella.uint64).fill_(n).item() == n
    assert lamella.tensor(np.uint64(n)).item() == n
    assert x.fill_(np.uint64(n)).item() == n


@pytest.mark.parametrize("n", LARGE)
def test_arithmetic_and_comparisons(n):
    array = np.array([1, n - 1, n], np.uint64)
    x = lamella.tensor(array)
    assert (x == n).tolist() == (array == np.uint64(n)).tolist()
    assert (x < n).tolist() == (array < np.uint64(n)).tolist()
    assert (x - n).tolist() == (array - np.uint64(n)).tolist()
    assert (x & n).tolist() == (array & np.uint64(n)).tolist()
    assert lamella.clamp(x, max=n - 1).tolist() == np.minimum(array, np.uint64(n - 1)).tolist()
    assert lamella.where(x == n, x, n).tolist() == [n, n, n]
    zero_dim = lamella.tensor(n, dtype=lamella.uint64)
    assert x.eq(zero_dim.item()).tolist() == (array == np.uint64(n)).tolist()


def test_floating_tensors_take_them_as_floats():
    n = 2**64 - 1
    assert (lamella.ones(1, dtype=lamella.float64) * n).item() == float(n)
    assert lamella.full((1,), n, dtype=lamella.float32).item() == np.float32(n)
    assert lamella.tensor([n, 0.5]).tolist() == [np.float32(n), 0.5]
    assert (lamella.ones(1, dtype=lamella.complex128) * n).item() == complex(n)


def test_two_numbers_of_python_are_of_one_kind():
    x = lamella.tensor([0, 5, 2**64 - 1], dtype=lamella.uint64)
    assert x.clamp(3, 2**63).tolist() == [3, 5, 2**63]
    assert lamella.where(x == 5, 0, 2**63).tolist() == [2**63, 0, 2**63]
    assert lamella.ones(2).clamp(0, 2**63).tolist() == [1, 1]


def test_powers():
    assert (lamella.ones(2) ** (2**63)).tolist() == [1, 1]
    x = lamella.tensor([3], dtype=lamella.uint64)
    assert (x ** (2**64 - 1)).item() == pow(3, 2**64 - 1, 2**64)


def test_where_they_do_not_fit_is_an_error():
    n = 2**63
    for dtype in (lamella.int64, lamella.uint8, lamella.int8):
        with pytest.raises(RuntimeError, match=f"{n}"):
            lamella.zeros(1, dtype=dtype) + n
        with pytest.raises(RuntimeError, match="9223372036854775808"):
            lamella.full((1,), n, dtype=dtype)
    for dtype in ("int64", "int8"):
        with pytest.raises(RuntimeError, match=f"{n} does not fit dtype {dtype}"):
            lamella.tensor([n], dtype=getattr(lamella, dtype))
    with pytest.raises(RuntimeError, match="does not fit 64 bits"):
        lamella.ones(2) + 2**64
    with pytest.raises(RuntimeError, match="does not fit 64 bits"):
        lamella.tensor(2**64)
    with pytest.raises(RuntimeError, match="does not fit 64 bits"):
        lamella.ones(2) + (-(2**63) - 1)
    with pytest.raises((RuntimeError, TypeError)):
        lamella.zeros(2, 2).sum(n)  # a dimension is an int64
    with pytest.raises(TypeError, match="uint64 and int64"):
        lamella.tensor([n, -1])


def test_a_layer_and_a_python_kernel_get_them():
    lib = lamella.library.Library("large", "DEF")
    lib.define("same(Scalar x) -> Scalar")
    lib.impl("same", lambda x: x)
    seen = []
    layer = lib.register_layer("large_layer", lambda call, *args: (seen.append(args), call(*args))[1])
    with layer.on():
        assert lamella.ops.large.same(2**64 - 1) == 2**64 - 1
    assert seen == [(2**64 - 1,)]
    lib.close()


@pytest.mark.parametrize(
    "dtype, numbers", [("uint64", [0, 5, 2**63 + 5]), ("int64", [-5, 0, 2**63 - 1]), ("uint8", [0, 255])]
)
@pytest.mark.parametrize("right", [False, True])
def test_numbers_beyond_the_boundaries_dtype(dtype, numbers, right):
    """The place is that among Python's integers, which have no bounds."""
    boundaries = lamella.tensor(numbers, dtype=getattr(lamella, dtype))
    composite = lamella._C._get_kernel(lamella.ops.aten.searchsorted.Scalar, "composite")
    for n in (-(2**63), -1, 0, 5, 255, 2**63 - 1, 2**63, 2**63 + 5, 2**64 - 1):
        place = (bisect.bisect_right if right else bisect.bisect_left)(numbers, n)
        assert lamella.searchsorted(boundaries, n, right=right).item() == place, n
        assert lamella.bucketize(n, boundaries, right=right).item() == place, n
        assert composite(boundaries, n, right=right).item() == place, n


def test_the_largest_floats_below_two_to_the_64():
    x = np.array([2.0**63, 2.0**64 - 2048, 9.3e18, 1.5, 2.0**63 - 1024])
    assert lamella.from_numpy(x).to(lamella.uint64).tolist() == [int(n) for n in x]
