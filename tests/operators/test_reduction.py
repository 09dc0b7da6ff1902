"""Reductions equal those of numpy, scipy and math.fsum, by kernel and by composite."""

import math

import lamella
import numpy as np
import pytest
import scipy.special
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
    to_lamella,
    to_numpy,
    values,
)
from hypothesis import given
from hypothesis import strategies as st
from oracles import ORACLES

INTEGRAL = BOOL + INTEGERS
ORDERED = INTEGRAL + FLOATS
KERNELS = [
    f"aten::{name}"
    for name in (
        "sum mean mean.dim max max.dim min min.dim argmin prod nansum aminmax any any.dim any.dims all all.dim "
        "all.dims count_nonzero count_nonzero.dim_IntList var var.dim var.correction std std.dim std.correction "
        "var_mean var_mean.dim var_mean.correction std_mean std_mean.dim std_mean.correction "
        "linalg_vector_norm logsumexp"
    ).split()
]
WAYS = [pytest.param([], id="kernel"), pytest.param(KERNELS, id="composite")]
EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}


def by(passed_over):
    """Disables these kernels, so that composites serve; with an empty list the kernels serve."""
    return lamella.library.kernels_disabled(passed_over, "cpu")


def near(tensor, exact, dtype, factor=16.0, magnitude=None):
    """Requires elements within some roundings of a result in float64."""
    assert tuple(tensor.shape) == np.shape(exact) and name_of(tensor.dtype) == dtype
    got, exact = to_numpy(tensor).astype(np.float64), np.asarray(exact, np.float64)
    size = np.abs(exact) if magnitude is None else magnitude
    np.testing.assert_array_equal(np.isnan(got), np.isnan(exact))
    with np.errstate(invalid="ignore"):
        fine = (got == exact) | np.isnan(exact) | (np.abs(got - exact) <= factor * EPS[dtype] * size + 1e-30)
    assert fine.all(), f"{got} is not {exact}"


@st.composite
def cases(draw, dtype, min_size=0, **limits):
    """Makes an array, its tensor, dimensions to reduce (in numpy's form), and keepdim."""
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
    assert_same(lamella.sum(t, negative(data.draw, axes, x.ndim), keep), wanted)
    if len(axes) == 1:
        assert_same(t.sum(axes[0], keepdim=keep), wanted)


@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
def test_float_sums(dtype, data):
    x, t, axes, keep = data.draw(cases(dtype, low=-8, high=8))
    exact = np.sum(x.astype(np.longdouble), axis=axes or None, keepdims=keep)
    magnitude = np.sum(np.abs(x.astype(np.longdouble)), axis=axes or None, keepdims=keep)
    result = lamella.sum(t, negative(data.draw, axes, x.ndim), keep)
    assert result.shape == np.shape(exact) and name_of(result.dtype) == dtype
    eps = float(lamella.finfo(lt_dtype(dtype)).eps)
    error = np.abs(to_numpy(result).astype(np.longdouble) - exact)
    assert (error <= eps * np.abs(exact) + x.size * 2.0**-53 * magnitude).all()


@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
def test_means(dtype, data):
    x, t, axes, keep = data.draw(cases(dtype, min_size=1, low=-8, high=8))
    exact = np.mean(x.astype(np.longdouble), axis=axes or None, keepdims=keep)
    magnitude = np.mean(np.abs(x.astype(np.longdouble)), axis=axes or None, keepdims=keep)
    result = lamella.mean(t, negative(data.draw, axes, x.ndim), keep)
    assert result.shape == np.shape(exact) and name_of(result.dtype) == dtype
    eps = float(lamella.finfo(lt_dtype(dtype)).eps)
    error = np.abs(to_numpy(result).astype(np.longdouble) - exact)
    assert (error <= eps * np.abs(exact) + (x.size + 2) * 2.0**-53 * magnitude).all()


@pytest.mark.parametrize("count", [1, 7, 8, 1000, 16384, 16385, 300_001])
def test_long_sums_are_accurate(count):
    x = values("float32", count, 5, -1e4, 1e4)
    exact, magnitude = math.fsum(x.astype(float)), math.fsum(np.abs(x.astype(float)))
    # The bound: half a unit in the last place plus the error of pairwise summation.
    for t in (to_lamella(x), to_lamella(np.repeat(x, 2))[::2], to_lamella(x.reshape(-1, 1).repeat(3, 1))):
        got = t.sum(0).tolist()
        for g in got if isinstance(got, list) else [got]:
            assert abs(g - exact) <= 2.0**-24 * (abs(exact) + math.log2(count + 1) * magnitude)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "argmax", "argmin"])
@pytest.mark.parametrize("dim", [None, 0, 1])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
def test_values_do_not_depend_on_threads(name, dim, dtype):
    if name == "mean" and class_of(dtype) == 1:
        dtype = "bfloat16"
    t = to_lamella(values(dtype, 1000 * 307, 11, -100, 100).reshape(1000, 307))
    found = set()
    for threads in (1, 2, 3, 7):
        lamella.set_num_threads(threads)
        result = getattr(lamella, name)(t) if dim is None else getattr(lamella, name)(t, dim)
        found.add(b"".join(bits(r) for r in (result if isinstance(result, tuple) else [result])))
    assert len(found) == 1


def test_sum_of_special_values():
    nan, inf = math.nan, math.inf
    assert lamella.tensor([1.0, inf]).sum().item() == inf
    assert math.isnan(lamella.tensor([-inf, inf]).sum().item())
    assert math.isnan(lamella.tensor([1.0, nan]).sum().item())


def test_nothing_to_reduce():
    assert lamella.zeros(0).sum().item() == 0
    assert math.isnan(lamella.zeros(0).mean().item())
    assert lamella.zeros(0, 3).sum(0).tolist() == [0.0] * 3
    assert lamella.zeros(3, 0).sum(0).shape == (0,)
    assert lamella.zeros(2, 3).sum([]).item() == 0  # an empty list means all dimensions
    for f in (lamella.max, lamella.min, lamella.argmax, lamella.argmin):
        with pytest.raises(IndexError, match=r"(max|min): argument 'self'.*\(0, 3\)"):
            f(lamella.zeros(0, 3))
        with pytest.raises(IndexError):
            f(lamella.zeros(0, 3), 0)
        result = f(lamella.zeros(0, 3), 1)
        assert (result.values if isinstance(result, tuple) else result).shape == (0,)


def test_dtype_argument():
    x = lamella.tensor([1.5, 2.5])
    assert x.sum(dtype=lamella.int64).item() == 3  # converted first, then added
    assert x.sum(dtype=lamella.float64).dtype is lamella.float64
    assert lamella.tensor([1, 2]).sum(dtype=lamella.float16).tolist() == 3.0
    assert lamella.tensor([1, 2]).mean(dtype=lamella.float32).item() == 1.5
    assert lamella.tensor([100, 100], dtype=lamella.int8).sum(dtype=lamella.int8).item() == np.int8(-56)
    assert lamella.tensor([[1, 2], [3, 4]]).sum(1, dtype=lamella.float64).tolist() == [3.0, 7.0]


@pytest.mark.parametrize("dtype", ORDERED)
@pytest.mark.parametrize("name", ["max", "min"])
@given(data=st.data())
def test_extrema(dtype, name, data):
    x, t, axes, keep = data.draw(cases(dtype, min_size=1))
    reduce, where = getattr(np, name), getattr(np, "arg" + name)
    assert_same(getattr(lamella, name)(t), reduce(x))
    assert_same(getattr(lamella, "arg" + name)(t), np.int64(where(x)))
    for axis in axes[:1]:
        found = getattr(lamella, name)(t, axis, keep)
        assert_same(found.values, reduce(x, axis=axis, keepdims=keep))
        assert_same(found.indices, where(x, axis=axis, keepdims=keep).astype(np.int64))
        assert_same(getattr(lamella, "arg" + name)(t, axis - x.ndim, keep), where(x, axis=axis, keepdims=keep))
        values_, indices = found
        assert values_ is found.values is found[0] and indices is found[1]


@pytest.mark.parametrize("name", ["max", "min"])
def test_the_first_of_equals_and_nan_win(name):
    position = getattr(lamella, "arg" + name)
    assert position(lamella.tensor([2, 2, 2])).item() == 0
    assert position(lamella.tensor([1.0, math.nan, 2.0, math.nan, -1.0])).item() == 1
    assert math.isnan(getattr(lamella, name)(lamella.tensor([1.0, math.nan, 2.0])).item())
    long = np.zeros(50_000, np.float32)
    long[[20_000, 40_000]] = 1 if name == "max" else -1
    assert position(to_lamella(long)).item() == 20_000


def test_zero_dim_reductions():
    t = lamella.tensor(3.0)
    assert t.sum(0).item() == t.max(0).values.item() == t.mean(-1).item() == 3.0
    assert t.argmax(0).item() == t.max(0).indices.item() == 0
    with pytest.raises(IndexError):
        t.sum(1)


@pytest.mark.parametrize("name", ["max", "min"])
def test_two_outputs(name):
    x = values("float32", 12, 2, -9, 9).reshape(3, 4)
    out, where = lamella.zeros(2, 3)[1], lamella.zeros(6, dtype=lamella.int64)[::2]
    found = getattr(lamella, name)(to_lamella(x), 1, out=(out, where))
    assert found[0] is out and found[1] is where
    assert_same(out, getattr(np, name)(x, 1))
    assert_same(where, getattr(np, "arg" + name)(x, 1))
    with pytest.raises(TypeError, match=f"{name}: argument 'out' must be 2 tensors"):
        getattr(lamella, name)(to_lamella(x), 1, out=out)


def test_half_sums_are_not_accumulated_in_half():
    ones = lamella.ones(5000, dtype=lamella.float16)
    assert ones.sum().item() == np.float16(5000)
    assert ones.to(lamella.bfloat16).sum().item() == float(np.float32(5000).astype(np_dtype("bfloat16")))


# ---- products, extrema over dimensions, truth ------------------------------------------------------------------------


@pytest.mark.parametrize("passed_over", WAYS)
@pytest.mark.parametrize("dtype", INTEGRAL)
@given(data=st.data())
def test_integer_products_wrap(dtype, passed_over, data):
    x, t, axes, keep = data.draw(cases(dtype))
    with by(passed_over):
        assert_same(t.prod(), np.prod(x.astype(np.int64)))
        for axis in axes[:1]:
            assert_same(t.prod(axis, keep), np.prod(x.astype(np.int64), axis=axis, keepdims=keep))


@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
def test_float_products(dtype, data):
    x, t, axes, keep = data.draw(cases(dtype, low=-2, high=2))
    for axis in axes[:1]:
        near(t.prod(axis, keep), np.prod(x.astype(np.float64), axis=axis, keepdims=keep), dtype)


@pytest.mark.sweep
@pytest.mark.parametrize("passed_over", WAYS)
@pytest.mark.parametrize("dtype", ORDERED)
@given(data=st.data())
def test_extrema_over_dimensions(dtype, passed_over, data):
    x, t, axes, keep = data.draw(cases(dtype, min_size=1))
    with by(passed_over):
        for name, oracle in (("amax", np.max), ("amin", np.min)):
            assert_same(getattr(lamella, name)(t, axes, keep), oracle(x, axis=axes or None, keepdims=keep))
        assert_same(lamella.max(t), np.max(x))
        assert_same(lamella.argmin(t), np.int64(np.argmin(x)))
        both = lamella.aminmax(t, dim=axes[0] if axes else None, keepdim=keep)
        assert_same(both.min, np.min(x, axis=axes[0] if axes else None, keepdims=keep))
        assert_same(both.max, np.max(x, axis=axes[0] if axes else None, keepdims=keep))
        for axis in axes[:1]:
            found = lamella.min(t, axis, keep)
            assert_same(found.values, np.min(x, axis=axis, keepdims=keep))
            assert_same(found.indices, np.argmin(x, axis=axis, keepdims=keep))


@pytest.mark.parametrize("passed_over", WAYS)
@pytest.mark.parametrize("dtype", ORDERED)
@given(data=st.data())
def test_truth(dtype, passed_over, data):
    x, t, axes, keep = data.draw(cases(dtype))
    kind = np.uint8 if dtype == "uint8" else np.bool_
    with by(passed_over):
        for name, oracle in (("any", np.any), ("all", np.all)):
            f = getattr(lamella, name)
            assert_same(f(t), oracle(x != 0).astype(kind))
            assert_same(f(t, axes, keepdim=keep), oracle(x != 0, axis=axes or None, keepdims=keep).astype(kind))
            for axis in axes[:1]:
                assert_same(f(t, axis - x.ndim, keep), oracle(x != 0, axis=axis, keepdims=keep).astype(kind))
        assert_same(lamella.count_nonzero(t), np.int64(np.count_nonzero(x)))
        for axis in axes[:1]:
            assert_same(lamella.count_nonzero(t, axis), np.count_nonzero(x, axis=axis))


def test_truth_stops_early_and_late():
    x = np.zeros(200_000, np.float32)
    assert not lamella.any(to_lamella(x)).item()
    for at in (0, 4095, 4096, 199_999):
        y = x.copy()
        y[at] = np.nan
        assert lamella.any(to_lamella(y)).item() and not lamella.all(to_lamella(y)).item()
        assert not lamella.all(to_lamella(1 - np.isnan(y).astype(np.float32))).item()


# ---- variances, norms, logsumexp -------------------------------------------------------------------------------------


@pytest.mark.parametrize("passed_over", WAYS)
@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
def test_variances(dtype, passed_over, data):
    x, t, axes, keep = data.draw(cases(dtype, min_size=1, low=-4, high=4))
    correction = data.draw(st.sampled_from([0, 1, 2]))
    wide, axis = x.astype(np.float64), axes or None
    count = wide.size if axis is None else math.prod(x.shape[a] for a in axes)
    with np.errstate(all="ignore"):
        var, std = (ORACLES[f](wide, axis, keepdim=keep, correction=correction) for f in ("var", "std"))
    with by(passed_over):
        pairs_ = [lamella.var_mean(t, axes, correction=correction, keepdim=keep)]
        pairs_.append((lamella.var(t, axes, correction=correction, keepdim=keep), pairs_[0][1]))
        roots = [lamella.std_mean(t, axes, correction=correction, keepdim=keep)[0]]
        roots.append(lamella.std(t, axes, correction=correction, keepdim=keep))
        if correction < 2:
            pairs_.append((t.var(list(axes), correction == 1, keep), pairs_[0][1]))
            roots.append(t.std(list(axes), correction == 1, keep))
    for found, mean in pairs_:
        if count > correction:
            near(found, var, dtype, magnitude=var + 4 * EPS[dtype])
        else:
            assert not np.isfinite(to_numpy(found).astype(float)).any()
        near(mean, wide.mean(axis, keepdims=keep), dtype, magnitude=4)
    for found in roots:
        if count > correction:
            near(found, std, dtype, magnitude=std + 4)


def test_variances_of_special_values():
    assert math.isnan(lamella.var(lamella.tensor([1.0])).item())
    assert math.isnan(lamella.var(lamella.zeros(0)).item())
    found, mean = lamella.var_mean(lamella.tensor([1.0, math.inf, 2.0]))
    assert math.isnan(found.item()) and mean.item() == math.inf
    with pytest.raises(RuntimeError, match="^var: argument 'self': a variance needs.*int64"):
        lamella.var(lamella.tensor([1, 2]))
    z = values("complex64", 12, 1, -2, 2) + 1j * values("complex64", 12, 2, -2, 2)
    z = z.astype(np.complex64).reshape(3, 4)
    for axis in (0, 1, None):
        found, mean = lamella.var_mean(to_lamella(z), axis)
        np.testing.assert_allclose(to_numpy(found), np.var(z.astype(complex), axis=axis, ddof=1), rtol=1e-6)
        np.testing.assert_allclose(to_numpy(mean), np.mean(z.astype(complex), axis=axis), rtol=1e-5, atol=1e-6)


@pytest.mark.sweep
@pytest.mark.parametrize("passed_over", WAYS)
@pytest.mark.parametrize("p", [0, 0.5, 1, 2, 3, math.inf, -math.inf, "fro"])
@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
def test_norms(dtype, p, passed_over, data):
    x, t, axes, keep = data.draw(cases(dtype, min_size=1, low=-4, high=4))
    exact = ORACLES["norm"](x.astype(np.float64), p, axes or None, keep)
    with by(passed_over):
        near(lamella.norm(t, p, axes, keep), exact, dtype, 64)


def test_norm_beyond_the_range_of_squares():
    for scale in (1e-30, 1e30):
        x = np.full(1000, scale, np.float32)
        assert abs(lamella.norm(to_lamella(x)).item() / (scale * math.sqrt(1000)) - 1) < 1e-6
    assert lamella.norm(lamella.zeros(0)).item() == 0
    with pytest.raises(RuntimeError, match="has no element"):
        lamella.norm(lamella.zeros(0), math.inf)
    with pytest.raises(RuntimeError, match="argument 'p': expected a number, 'fro' or 'nuc', got 'two'"):
        lamella.norm(lamella.zeros(2, 2), "two")
    z = np.array([3 + 4j, 0], np.complex64)
    assert lamella.norm(to_lamella(z)).item() == 5 and lamella.norm(to_lamella(z), 1).dtype is lamella.float32


@pytest.mark.parametrize("passed_over", WAYS)
@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
def test_logsumexp(dtype, passed_over, data):
    x, t, axes, keep = data.draw(cases(dtype, min_size=1, low=-50, high=50))
    with by(passed_over):
        got = lamella.logsumexp(t, axes, keep)
    exact = np.log(np.exp(x.astype(np.longdouble)).sum(axes or None, keepdims=keep))
    near(got, exact, dtype, magnitude=60)


@pytest.mark.parametrize("passed_over", WAYS)
def test_logsumexp_of_special_values(passed_over):
    inf, nan = math.inf, math.nan
    with by(passed_over):
        for x, want in (([-inf, -inf], -inf), ([inf, 1.0], inf), ([inf, -inf], inf), ([-inf, 2.0], 2.0), ([], -inf)):
            assert lamella.logsumexp(lamella.tensor(x), 0).item() == want
        assert math.isnan(lamella.logsumexp(lamella.tensor([nan, inf]), 0).item())
        assert lamella.logsumexp(lamella.tensor([0, 0]), 0).dtype is lamella.float32


@pytest.mark.parametrize("passed_over", WAYS)
@pytest.mark.parametrize("dtype", FLOATS)
@given(data=st.data())
def test_what_is_not_nan(dtype, passed_over, data):
    x, t, axes, keep = data.draw(cases(dtype, min_size=1))
    x = np.where(np.isinf(x), np.nan, x).astype(x.dtype)
    t = to_lamella(x)
    wide, axis = x.astype(np.float64), axes or None
    magnitude = np.nansum(np.abs(wide), axis=axis, keepdims=keep)
    with by(passed_over), np.errstate(all="ignore"):
        near(lamella.nansum(t, axes, keep), np.nansum(wide, axis=axis, keepdims=keep), dtype, magnitude=magnitude)
        count = (~np.isnan(wide)).sum(axis, keepdims=keep)
        exact = np.nansum(wide, axis=axis, keepdims=keep) / count
        near(lamella.nanmean(t, axes, keep), exact, dtype, magnitude=magnitude)


# ---- patterns of dimensions that are long enough for blocks, tiles and wide rows -------------------------------------


@pytest.mark.sweep
@pytest.mark.parametrize(
    "shape, axes",
    [
        ((20_000, 3), 0),
        ((3, 20_000), 1),
        ((40, 50, 60), 1),
        ((40, 50, 60), (0, 2)),
        ((5, 700, 1500), (0, 1)),
        ((9000, 7), (0, 1)),
        ((60, 1100), 0),
        ((2, 3, 4, 5, 6, 7), (1, 3, 5)),
    ],
)
@pytest.mark.parametrize("layout", ["plain", "transposed", "gaps"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "bfloat16"])
def test_long_patterns(shape, axes, layout, dtype):
    x = values(dtype, math.prod(shape), 3, -9, 9).reshape(shape)
    t = to_lamella(x)
    if layout == "transposed":
        order = list(range(x.ndim))[::-1]
        t = to_lamella(np.ascontiguousarray(x.transpose(order))).permute(*order)
    if layout == "gaps":
        t = to_lamella(np.repeat(x, 2, axis=-1))[..., ::2]
    wide = x.astype(np.float64)
    assert_same(lamella.amax(t, axes), x.max(axes))
    assert_same(
        lamella.count_nonzero(t, [axes] if isinstance(axes, int) else list(axes)), np.int64(np.count_nonzero(x, axes))
    )
    if isinstance(axes, int):
        assert_same(lamella.argmax(t, axes), x.argmax(axes))
        assert_same(lamella.min(t, axes).indices, x.argmin(axes))
    if dtype == "int32":
        assert_same(lamella.sum(t, axes), x.astype(np.int64).sum(axes))
        return
    near(lamella.sum(t, axes), wide.sum(axes), dtype, 2, np.abs(wide).sum(axes))
    near(lamella.var(t, axes), wide.var(axes, ddof=1), dtype)
    near(lamella.norm(t, 2, axes), np.sqrt((wide**2).sum(axes)), dtype)
    near(lamella.logsumexp(t, axes), scipy.special.logsumexp(wide, axes), dtype)


@pytest.mark.parametrize("name", ["prod", "amax", "aminmax", "var_mean", "norm", "any", "nansum", "logsumexp"])
@pytest.mark.parametrize("dim", [None, 0, 1])
def test_the_others_do_not_depend_on_threads(name, dim):
    t = to_lamella(values("float32", 1000 * 307, 11, 0.98, 1.02).reshape(1000, 307))
    keywords = (
        {"dim": (0, 1) if name == "logsumexp" and dim is None else dim}
        if dim is not None or name == "logsumexp"
        else {}
    )
    found = set()
    for threads in (1, 2, 5):
        lamella.set_num_threads(threads)
        result = getattr(lamella, name)(t, **keywords)
        found.add(b"".join(bits(r) for r in (result if isinstance(result, tuple) else [result])))
    assert len(found) == 1


@pytest.mark.parametrize("dtype", ["int64", "int8", "bool"])
def test_nansum_without_nan(dtype):
    x, t = (make([1, 0, 1], dtype) for make in (np.array, lambda v, d: lamella.tensor(v, dtype=getattr(lamella, d))))
    assert lamella.nansum(t).item() == np.nansum(x)


@pytest.mark.parametrize("shape", [(3, 3), (5, 2), (2, 5), (1, 4), (0, 3), (40, 30)])
def test_nuclear_norms(shape):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, *shape))
    for a in (x[0], x[0] + 1j * x[1], np.outer(x[0][:, :1], x[1][:1]) if 0 not in shape else x[0]):
        for dtype, bound in ((np.float64, 1e-9), (np.float32, 1e-5)):
            t = to_lamella(a.astype(np.result_type(dtype, np.complex64) if np.iscomplexobj(a) else dtype))
            wanted = np.linalg.svd(a, compute_uv=False).sum()
            assert abs(lamella.norm(t, "nuc").item() - wanted) <= bound * max(1, wanted)
    batch = to_lamella(x)
    wanted = np.linalg.svd(x, compute_uv=False).sum(-1)
    np.testing.assert_allclose(batch.norm("nuc", (1, 2)).numpy(), wanted, rtol=1e-9, atol=1e-12)
    assert batch.norm("nuc", (-1, -2), keepdim=True).shape == (2, 1, 1)
    with pytest.raises(RuntimeError, match="the norm 'nuc' is that of matrices"):
        batch.norm("nuc")
