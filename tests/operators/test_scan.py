"""Scans equal numpy's: cumsum, cumprod, along every dimension of every layout."""

import lamella
import numpy as np
import pytest
from arrays import (
    BOOL,
    FLOATS,
    INTEGERS,
    assert_same,
    bits,
    lt_dtype,
    name_of,
    np_dtype,
    pairs,
    shapes,
    to_lamella,
    to_numpy,
    values,
)
from hypothesis import given
from hypothesis import strategies as st

SCANS = ("cumsum", "cumprod")
WAYS = [("cumsum", []), ("cumprod", []), ("cumprod", ["aten::cumprod"])]  # a primitive, a kernel, a composite
COMPLEX = ("complex64", "complex128")


def axis_of(data, x):
    return data.draw(st.integers(-x.ndim, x.ndim - 1)) if x.ndim else 0


def scanned(name, x, axis):
    """Returns numpy's scan of a widened array."""
    if x.ndim == 0:
        return x
    return getattr(np, name)(x, axis=axis)


@pytest.mark.parametrize("name, passed_over", WAYS)
@pytest.mark.parametrize("dtype", BOOL + INTEGERS)
@given(data=st.data())
def test_integers_wrap(dtype, name, passed_over, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes())))
    axis = axis_of(data, x)
    with lamella.library.kernels_disabled(passed_over, "cpu"):
        assert_same(getattr(lamella, name)(t, axis), scanned(name, x.astype(np.int64), axis))


@pytest.mark.parametrize("name, passed_over", WAYS)
@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
def test_floats(dtype, name, passed_over, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes(max_size=9)), -2, 2))
    axis = axis_of(data, x)
    exact = scanned(name, x.astype(np.longdouble), axis)
    magnitude = scanned(name, np.abs(x.astype(np.longdouble)), axis)
    with lamella.library.kernels_disabled(passed_over, "cpu"):
        got = getattr(lamella, name)(t, axis)
    assert got.shape == x.shape and name_of(got.dtype) == dtype
    eps = float(lamella.finfo(lt_dtype(dtype)).eps)
    steps = 9 if dtype == "float64" or passed_over else 1
    tiny = float(lamella.finfo(lt_dtype(dtype)).smallest_normal)
    assert (np.abs(to_numpy(got).astype(np.longdouble) - exact) <= steps * eps * magnitude + tiny).all()


@pytest.mark.parametrize("name", SCANS)
@pytest.mark.parametrize("dtype", COMPLEX)
@given(data=st.data())
def test_complex(dtype, name, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes()), -2, 2))
    axis = axis_of(data, x)
    np.testing.assert_allclose(
        to_numpy(getattr(lamella, name)(t, axis)), scanned(name, x.astype(np.complex128), axis), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int32"])
@pytest.mark.parametrize("name", SCANS)
@pytest.mark.parametrize("shape, dim", [((100_001,), 0), ((1000, 300), 0), ((300, 1000), 1), ((7, 200, 33), 1)])
def test_values_do_not_depend_on_threads(name, dtype, shape, dim):
    t = to_lamella(values(dtype, int(np.prod(shape)), 3, 0.99, 1.01).reshape(shape))
    found = set()
    for threads in (1, 2, 5):
        lamella.set_num_threads(threads)
        found.add(bits(getattr(lamella, name)(t, dim)))
    assert len(found) == 1


@pytest.mark.parametrize("count", [1, 7, 8, 9, 16384, 16385, 100_000])
def test_long_sums(count):
    x = values("float32", count, 1, -100, 100)
    exact = np.cumsum(x.astype(np.longdouble))
    magnitude = np.cumsum(np.abs(x.astype(np.longdouble)))
    error = np.abs(to_numpy(lamella.cumsum(to_lamella(x), 0)).astype(np.longdouble) - exact)
    assert (error <= 2.0**-24 * np.abs(exact) + 2.0**-50 * magnitude).all()


def test_special_values_stay_where_they_are():
    x = np.array([1, np.inf, 2, -np.inf, 3, 1, 1, 1, 1, 1], np.float32)
    with np.errstate(invalid="ignore"):
        assert_same(lamella.cumsum(to_lamella(x), 0), np.cumsum(x))
    y = np.ones(40, np.float32)
    y[21] = np.nan
    assert_same(lamella.cumsum(to_lamella(y), 0), np.cumsum(y))


def test_forms_and_dtypes():
    x = lamella.tensor([1.5, 2.5])
    assert x.cumsum(0, dtype=lamella.int64).tolist() == [1, 3]
    assert lamella.ones(5000, dtype=lamella.float16).cumsum(0)[-1].item() == np.float16(5000)
    assert lamella.tensor([1, 2]).cumsum(0, dtype=lamella.float16).dtype is lamella.float16
    assert lamella.tensor([200, 100], dtype=lamella.uint8).cumsum(0, dtype=lamella.uint8).tolist() == [200, 44]
    assert lamella.tensor([0, 3, 5]).cumsum(0, dtype=lamella.bool).tolist() == [False, True, True]
    out = lamella.zeros(4)[::2]
    assert lamella.cumsum(x, 0, out=out) is out and out.tolist() == [1.5, 4.0]
    assert x.cumsum_(0) is x and x.tolist() == [1.5, 4.0]
    assert x.cumprod_(0).tolist() == [1.5, 6.0]


@pytest.mark.parametrize("name", SCANS)
def test_layout_and_bad_dimensions(name):
    x = lamella.ones(3, 4).t()
    assert getattr(lamella, name)(x, 0).stride() == x.stride()
    for dim in (2, -3):
        with pytest.raises(IndexError, match=f"^{name}: argument 'dim'"):
            getattr(lamella, name)(x, dim)
    assert getattr(lamella, name)(lamella.zeros(0, 3), 0).shape == (0, 3)
    assert np_dtype("float32") == to_numpy(getattr(lamella, name)(lamella.tensor(2.0), 0)).dtype
