"""Reductions against numpy and math.fsum: sum, mean, max, min, argmax, argmin."""

import math

import lattis
import numpy as np
import pytest
from arrays import (
    BOOL,
    FLOATS,
    INTEGERS,
    assert_same,
    bits,
    class_of,
    lt_dtype,
    name_of,
    np_dtype,
    pairs,
    to_lattis,
    to_numpy,
    values,
)
from hypothesis import given
from hypothesis import strategies as st

INTEGRAL = BOOL + INTEGERS
ORDERED = INTEGRAL + FLOATS


@st.composite
def cases(draw, dtype, min_size=0, **limits):
    """An array, its tensor, dimensions to reduce (as numpy wants them), and keepdim."""
    shape = draw(st.lists(st.integers(min_size, 4), max_size=4).map(tuple))
    x, t = draw(pairs(dtype, shape, **limits))
    axes = draw(st.lists(st.integers(0, len(shape) - 1), unique=True)) if shape else []
    return x, t, tuple(axes), draw(st.booleans())


def negative(draw, axes, ndim):
    return [a - ndim if draw(st.booleans()) else a for a in axes]


@pytest.mark.parametrize("dtype", INTEGRAL)
@given(data=st.data())
def test_integer_sums_wrap_in_int64(dtype, data):
    x, t, axes, keep = data.draw(cases(dtype))
    assert_same(t.sum(), np.sum(x.astype(np.int64)))
    wanted = np.sum(x.astype(np.int64), axis=axes or None, keepdims=keep)
    assert_same(lattis.sum(t, negative(data.draw, axes, x.ndim), keep), wanted)
    if len(axes) == 1:
        assert_same(t.sum(axes[0], keepdim=keep), wanted)


@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
def test_float_sums(dtype, data):
    x, t, axes, keep = data.draw(cases(dtype, low=-8, high=8))
    exact = np.sum(x.astype(np.longdouble), axis=axes or None, keepdims=keep)
    magnitude = np.sum(np.abs(x.astype(np.longdouble)), axis=axes or None, keepdims=keep)
    result = lattis.sum(t, negative(data.draw, axes, x.ndim), keep)
    assert result.shape == np.shape(exact) and name_of(result.dtype) == dtype
    eps = float(lattis.finfo(lt_dtype(dtype)).eps)
    error = np.abs(to_numpy(result).astype(np.longdouble) - exact)
    assert (error <= eps * np.abs(exact) + x.size * 2.0**-53 * magnitude).all()


@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
def test_means(dtype, data):
    x, t, axes, keep = data.draw(cases(dtype, min_size=1, low=-8, high=8))
    exact = np.mean(x.astype(np.longdouble), axis=axes or None, keepdims=keep)
    magnitude = np.mean(np.abs(x.astype(np.longdouble)), axis=axes or None, keepdims=keep)
    result = lattis.mean(t, negative(data.draw, axes, x.ndim), keep)
    assert result.shape == np.shape(exact) and name_of(result.dtype) == dtype
    eps = float(lattis.finfo(lt_dtype(dtype)).eps)
    error = np.abs(to_numpy(result).astype(np.longdouble) - exact)
    assert (error <= eps * np.abs(exact) + (x.size + 2) * 2.0**-53 * magnitude).all()


@pytest.mark.parametrize("count", [1, 7, 8, 1000, 16384, 16385, 300_001])
def test_long_sums_are_accurate(count):
    x = values("float32", count, 5, -1e4, 1e4)
    exact, magnitude = math.fsum(x.astype(float)), math.fsum(np.abs(x.astype(float)))
    # Half a unit in the last place, and the bound of pairwise summation.
    for t in (to_lattis(x), to_lattis(np.repeat(x, 2))[::2], to_lattis(x.reshape(-1, 1).repeat(3, 1))):
        got = t.sum(0).tolist()
        for g in got if isinstance(got, list) else [got]:
            assert abs(g - exact) <= 2.0**-24 * (abs(exact) + math.log2(count + 1) * magnitude)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "argmax", "argmin"])
@pytest.mark.parametrize("dim", [None, 0, 1])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
def test_values_do_not_depend_on_threads(name, dim, dtype):
    if name == "mean" and class_of(dtype) == 1:
        dtype = "bfloat16"
    t = to_lattis(values(dtype, 1000 * 307, 11, -100, 100).reshape(1000, 307))
    found = set()
    for threads in (1, 2, 3, 7):
        lattis.set_num_threads(threads)
        result = getattr(lattis, name)(t) if dim is None else getattr(lattis, name)(t, dim)
        found.add(b"".join(bits(r) for r in (result if isinstance(result, tuple) else [result])))
    assert len(found) == 1


def test_sum_of_special_values():
    nan, inf = math.nan, math.inf
    assert lattis.tensor([1.0, inf]).sum().item() == inf
    assert math.isnan(lattis.tensor([-inf, inf]).sum().item())
    assert math.isnan(lattis.tensor([1.0, nan]).sum().item())


def test_nothing_to_reduce():
    assert lattis.zeros(0).sum().item() == 0
    assert math.isnan(lattis.zeros(0).mean().item())
    assert lattis.zeros(0, 3).sum(0).tolist() == [0.0] * 3
    assert lattis.zeros(3, 0).sum(0).shape == (0,)
    assert lattis.zeros(2, 3).sum([]).item() == 0  # no dimension named: all of them
    for f in (lattis.max, lattis.min, lattis.argmax, lattis.argmin):
        with pytest.raises(IndexError, match=r"(max|min): argument 'self'.*\(0, 3\)"):
            f(lattis.zeros(0, 3))
        with pytest.raises(IndexError):
            f(lattis.zeros(0, 3), 0)
        result = f(lattis.zeros(0, 3), 1)
        assert (result.values if isinstance(result, tuple) else result).shape == (0,)


def test_dtype_argument():
    x = lattis.tensor([1.5, 2.5])
    assert x.sum(dtype=lattis.int64).item() == 3  # converted first, then added
    assert x.sum(dtype=lattis.float64).dtype is lattis.float64
    assert lattis.tensor([1, 2]).sum(dtype=lattis.float16).tolist() == 3.0
    assert lattis.tensor([1, 2]).mean(dtype=lattis.float32).item() == 1.5
    assert lattis.tensor([100, 100], dtype=lattis.int8).sum(dtype=lattis.int8).item() == np.int8(-56)
    assert lattis.tensor([[1, 2], [3, 4]]).sum(1, dtype=lattis.float64).tolist() == [3.0, 7.0]


@pytest.mark.parametrize("dtype", INTEGRAL)
def test_mean_needs_floats(dtype):
    with pytest.raises(RuntimeError, match=rf"mean: .*{dtype}"):
        lattis.zeros(2, dtype=lt_dtype(dtype)).mean()


@pytest.mark.parametrize("dtype", ORDERED)
@pytest.mark.parametrize("name", ["max", "min"])
@given(data=st.data())
def test_extrema(dtype, name, data):
    x, t, axes, keep = data.draw(cases(dtype, min_size=1))
    reduce, where = getattr(np, name), getattr(np, "arg" + name)
    assert_same(getattr(lattis, name)(t), reduce(x))
    assert_same(getattr(lattis, "arg" + name)(t), np.int64(where(x)))
    for axis in axes[:1]:
        found = getattr(lattis, name)(t, axis, keep)
        assert_same(found.values, reduce(x, axis=axis, keepdims=keep))
        assert_same(found.indices, where(x, axis=axis, keepdims=keep).astype(np.int64))
        assert_same(getattr(lattis, "arg" + name)(t, axis - x.ndim, keep), where(x, axis=axis, keepdims=keep))
        values_, indices = found
        assert values_ is found.values is found[0] and indices is found[1]


@pytest.mark.parametrize("name", ["max", "min"])
def test_the_first_of_equals_and_nan_win(name):
    position = getattr(lattis, "arg" + name)
    assert position(lattis.tensor([2, 2, 2])).item() == 0
    assert position(lattis.tensor([1.0, math.nan, 2.0, math.nan, -1.0])).item() == 1
    assert math.isnan(getattr(lattis, name)(lattis.tensor([1.0, math.nan, 2.0])).item())
    long = np.zeros(50_000, np.float32)
    long[[20_000, 40_000]] = 1 if name == "max" else -1
    assert position(to_lattis(long)).item() == 20_000


def test_zero_dim_reductions():
    t = lattis.tensor(3.0)
    assert t.sum(0).item() == t.max(0).values.item() == t.mean(-1).item() == 3.0
    assert t.argmax(0).item() == t.max(0).indices.item() == 0
    with pytest.raises(IndexError):
        t.sum(1)


OUTS = [
    (lattis.sum, (1,), lambda x: x.sum(1)),
    (lattis.mean, (0,), lambda x: x.mean(0)),
    (lattis.argmax, (1,), lambda x: x.argmax(1)),
    (lattis.argmin, (0,), lambda x: x.argmin(0)),
]


@pytest.mark.parametrize("f, args, oracle", OUTS)
def test_out(f, args, oracle):
    x = values("float64", 12, 1, -9, 9).reshape(3, 4)
    want = oracle(x)
    memory = lattis.zeros(3 * want.size, dtype=getattr(lattis, want.dtype.name))
    out = memory[::3]
    assert f(to_lattis(x), *args, out=out) is out
    np.testing.assert_allclose(memory.tolist()[::3], want, rtol=1e-15)
    assert memory.tolist()[1::3] == [0] * want.size


@pytest.mark.parametrize("name", ["max", "min"])
def test_two_outputs(name):
    x = values("float32", 12, 2, -9, 9).reshape(3, 4)
    out, where = lattis.zeros(2, 3)[1], lattis.zeros(6, dtype=lattis.int64)[::2]
    found = getattr(lattis, name)(to_lattis(x), 1, out=(out, where))
    assert found[0] is out and found[1] is where
    assert_same(out, getattr(np, name)(x, 1))
    assert_same(where, getattr(np, "arg" + name)(x, 1))
    with pytest.raises(TypeError, match=f"{name}: argument 'out' must be 2 tensors"):
        getattr(lattis, name)(to_lattis(x), 1, out=out)


@pytest.mark.parametrize("name", ["sum", "mean"])
@pytest.mark.parametrize(
    "dim, error", [(2, IndexError), (-3, IndexError), ((0, 0), RuntimeError), ((0, -2), RuntimeError)]
)
def test_wrong_dimensions(name, dim, error):
    with pytest.raises(error, match=f"^{name}: argument 'dim'"):
        getattr(lattis, name)(lattis.ones(2, 3), dim)


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_complex_has_no_order(name):
    with pytest.raises(RuntimeError, match=f"{name}: argument 'self'.*complex64"):
        getattr(lattis, name)(lattis.zeros(2, dtype=lattis.complex64))


@pytest.mark.parametrize("name", ["max", "min"])
@given(data=st.data())
def test_extremum_with_another_tensor_is_elementwise(name, data):
    x, t = data.draw(pairs("float32", (3, 2)))
    y, u = data.draw(pairs("float32", (2,)))
    assert_same(getattr(lattis, name)(t, u), getattr(np, name + "imum")(x, y))


@given(st.data())
def test_layout_does_not_change_integers(data):
    x, t, axes, keep = data.draw(cases("int64"))
    assert bits(t.sum(list(axes), keep)) == bits(t.clone().contiguous().sum(list(axes), keep))


def test_half_sums_are_not_accumulated_in_half():
    ones = lattis.ones(5000, dtype=lattis.float16)
    assert ones.sum().item() == np.float16(5000)
    assert ones.to(lattis.bfloat16).sum().item() == float(np.float32(5000).astype(np_dtype("bfloat16")))
