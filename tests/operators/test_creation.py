"""Factories, copies and casts against numpy."""

from contextlib import nullcontext

import lamella
import numpy as np
import pytest
from arrays import (
    COMPLEX,
    DTYPES,
    FLOATS,
    all_pairs,
    assert_same,
    bits,
    class_of,
    lt_dtype,
    np_dtype,
    pairs,
    shapes,
    to_numpy,
    values,
)
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize("dtype", DTYPES)
@given(shape=shapes())
def test_constant_factories(dtype, shape):
    d = lt_dtype(dtype)
    assert_same(lamella.zeros(shape, dtype=d), np.zeros(shape, np_dtype(dtype)))
    assert_same(lamella.ones(*shape or [()], dtype=d), np.ones(shape, np_dtype(dtype)))
    fill = class_of(dtype) > 0 and 3 or True
    assert_same(lamella.full(shape, fill, dtype=d), np.full(shape, fill, np_dtype(dtype)))
    made = lamella.empty(shape, dtype=d)
    assert made.shape == shape and made.dtype is d and made.is_contiguous()


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_like_factories(dtype, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes())))
    assert_same(lamella.zeros_like(t), np.zeros_like(x))
    assert_same(lamella.ones_like(t), np.ones_like(x))
    assert_same(lamella.full_like(t, True), np.full_like(x, True))
    assert_same(lamella.zeros_like(t, dtype=lamella.int16), np.zeros(x.shape, np.int16))
    assert lamella.empty_like(t).shape == x.shape and lamella.empty_like(t).dtype is lt_dtype(dtype)
    assert lamella.empty_like(t, memory_format=lamella.contiguous_format).is_contiguous()


@pytest.mark.parametrize("number, dtype", [(True, "bool"), (2, "int64"), (2.5, "float32"), (1j, "complex64")])
def test_full_takes_the_numbers_dtype(number, dtype):
    made = lamella.full((2,), number)
    assert made.dtype is lt_dtype(dtype) and made.tolist() == [number] * 2


BOUND = st.integers(-40, 40)


@given(BOUND, BOUND, st.integers(-7, 7).filter(bool))
def test_arange_of_integers(start, end, step):
    if (end - start) * step < 0:
        with pytest.raises(RuntimeError, match="arange: argument 'step'.*leads away"):
            lamella.arange(start, end, step)
        return
    assert lamella.arange(start, end, step).tolist() == list(range(start, end, step))
    assert lamella.arange(start, end, step).dtype is lamella.int64


@given(BOUND, st.integers(0, 40), st.sampled_from([0.25, 0.5, 1.0, 3.0]))
def test_arange_of_floats(start, length, step):
    want = np.arange(start, start + length, step)
    assert_same(lamella.arange(start, start + length, step, dtype=lamella.float64), want)
    assert_same(lamella.arange(float(start), start + length, step), want.astype(np.float32))


def test_arange_beyond_the_precision_of_floats():
    big = 2**62
    assert lamella.arange(big, big + 3).tolist() == [big, big + 1, big + 2]
    assert lamella.arange(2**53, 2**53 + 5, 2).tolist() == list(range(2**53, 2**53 + 5, 2))
    third = lamella.arange(0, 100_000, 1 / 3, dtype=lamella.float64)
    np.testing.assert_allclose(to_numpy(third), np.arange(third.numel()) / 3, rtol=1e-14)


@pytest.mark.parametrize("args", [(0, 5, 0), (0, float("inf")), (float("nan"),), (0, 1, float("nan")), (5, 0)])
def test_arange_refuses(args):
    with pytest.raises(RuntimeError, match="^arange: "):
        lamella.arange(*args)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", *FLOATS])
def test_arange_in_a_dtype(dtype):
    assert_same(lamella.arange(9, dtype=lt_dtype(dtype)), np.arange(9).astype(np_dtype(dtype)))


@pytest.mark.parametrize("size", [(-1,), (2, -3), (2**62, 4), (2**40, 2**40)])
@pytest.mark.parametrize("name", ["empty", "zeros", "ones", "rand"])
def test_impossible_sizes(name, size):
    with pytest.raises(RuntimeError, match="argument 'size'|size"):
        getattr(lamella, name)(size)


def test_empty_strided():
    t = lamella.empty_strided((2, 3), (1, 4))
    assert t.shape == (2, 3) and t.stride() == (1, 4)
    assert t.storage().nbytes() >= 4 * (1 + 2 * 4 + 1)
    for strides in ((1,), (-1, 1)):
        with pytest.raises(RuntimeError, match="empty_strided: argument 'stride'"):
            lamella.empty_strided((2, 3), strides)


# ---- copies and casts ------------------------------------------------------------------------------------------------


def casts_defined(x, to):
    """Returns elements whose cast both numpy and C define: floats that fit the integer."""
    if class_of(str(x.dtype)) < 2 or class_of(to) != 1:
        return np.ones(x.shape, bool)
    limits, real = np.iinfo(to), np.real(x).astype(np.longdouble)
    with np.errstate(all="ignore"):
        return np.isfinite(real) & (np.trunc(real) >= limits.min) & (np.trunc(real) <= limits.max)


@pytest.mark.sweep
@pytest.mark.parametrize("source, to", all_pairs(DTYPES))
@given(data=st.data())
def test_casts(source, to, data):
    x, t = data.draw(pairs(source, data.draw(shapes(3))))
    t_before = bits(t)
    with np.errstate(all="ignore"):
        wide = np.real(x) if class_of(source) == 3 and class_of(to) not in (0, 3) else x
        want = wide.astype(np_dtype(to))
    got = t.to(lt_dtype(to))
    defined = casts_defined(x, to)
    assert got.shape == x.shape and got.dtype is lt_dtype(to)
    exact = np.complex128 if class_of(to) == 3 else np.float64 if class_of(to) == 2 else want.dtype
    np.testing.assert_array_equal(to_numpy(got)[defined].astype(exact), want[defined].astype(exact))
    assert bits(t) == t_before


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_half_survives(dtype):
    """All 65536 bit patterns are converted to float32 and back."""
    every = np.arange(2**16, dtype=np.uint16).view(np_dtype(dtype))
    wide = lamella.tensor(every.astype(np.float32))
    np.testing.assert_array_equal(to_numpy(wide.to(lt_dtype(dtype))).astype(np.float32), every.astype(np.float32))
    np.testing.assert_array_equal(to_numpy(wide.to(lt_dtype(dtype)).to(lamella.float32)), every.astype(np.float32))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_rounding_to_half_is_to_nearest_even(dtype):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2**32, 200_000, dtype=np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        want = x.astype(np_dtype(dtype)).astype(np.float32)
    np.testing.assert_array_equal(to_numpy(lamella.tensor(x).to(lt_dtype(dtype)).to(lamella.float32)), want)


def test_to_returns_itself_where_nothing_changes():
    t = lamella.ones(2)
    assert t.to(lamella.float32) is t and t.to("cpu") is t and t.float() is t
    assert t.to(lamella.float32, copy=True) is not t
    assert t.to(lamella.zeros(1, dtype=lamella.int8)).dtype is lamella.int8
    assert t.to("cpu", lamella.float64).dtype is lamella.float64


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_clone(dtype, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes())))
    c = t.clone()
    assert_same(c, x)
    assert c._base is None and (not x.size or c.storage().data_ptr() != t.storage().data_ptr())
    assert t.clone(memory_format=lamella.contiguous_format).is_contiguous()


@given(st.data())
def test_copy_broadcasts_and_converts(data):
    x, t = data.draw(pairs("float64", (3, 4), expanded=False))
    y, s = data.draw(
        pairs(data.draw(st.sampled_from(["int32", "float32", "bool"])), data.draw(st.sampled_from([(4,), (3, 1), ()])))
    )
    version = t._version
    assert t.copy_(s) is t and t._version == version + 1
    assert_same(t, np.broadcast_to(y.astype(np.float64), (3, 4)))


def test_copy_refuses():
    t = lamella.zeros(2)
    with pytest.raises(RuntimeError, match=r"copy_: argument 'src'.*\(3,\).*\(2,\)"):
        t.copy_(lamella.ones(3))
    with pytest.raises(RuntimeError, match="copy_: .*share one memory location"):
        lamella.zeros(1).expand(3).copy_(lamella.ones(3))
    assert t.tolist() == [0.0, 0.0]


def test_overlapping_copy():
    x = np.arange(20.0)
    t = lamella.tensor(x)
    t[3:].copy_(t[:-3])
    np.testing.assert_array_equal(to_numpy(t)[3:], x[:-3])
    m = lamella.arange(9).view(3, 3)
    m.copy_(m.t().clone())
    assert m.tolist() == np.arange(9).reshape(3, 3).T.tolist()
    m.copy_(m.t())
    assert m.tolist() == np.arange(9).reshape(3, 3).tolist()


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d not in COMPLEX])
def test_fill_and_zero(dtype):
    t = lamella.from_numpy(values("float64", 24, 1).reshape(4, 6)).to(lt_dtype(dtype), copy=True)[::2, 1:]
    assert t.fill_(1) is t and to_numpy(t).astype(float).tolist() == [[1.0] * 5] * 2
    assert t.fill_(lamella.tensor(0)) is t and not to_numpy(t).astype(bool).any()
    t.fill_(True)
    assert t.zero_() is t and not to_numpy(t).astype(bool).any()


def test_move_to_meta_keeps_shape_and_dtype():
    t = lamella.ones(2, 3, dtype=lamella.int8).to("meta")
    assert t.device.type == "meta" and t.shape == (2, 3) and t.dtype is lamella.int8
    with pytest.raises(NotImplementedError, match="meta.*no data"):
        t.to("cpu")
    with pytest.raises(NotImplementedError, match="meta.*no data"):
        lamella.empty((), device="meta").item()


# ---- matrices and ranges -------------------------------------------------------------------------------------------

CREATED = ["aten::eye", "aten::eye.m", "aten::linspace", "aten::zeros", "aten::ones", "aten::full"]


@pytest.mark.parametrize("native", [True, False])
@given(data=st.data())
def test_linspace(native, data):
    ends = st.floats(-1e6, 1e6) | st.integers(-1000, 1000)
    start, end, steps = data.draw(ends), data.draw(ends), data.draw(st.integers(0, 700))
    with nullcontext() if native else lamella.library.kernels_disabled(CREATED, "cpu"):
        got = to_numpy(lamella.linspace(start, end, steps, dtype=lamella.float64))
        f32 = to_numpy(lamella.linspace(start, end, steps))
        whole = to_numpy(lamella.linspace(start, end, steps, dtype=lamella.int64))
    scale = max(abs(start), abs(end))
    np.testing.assert_allclose(got, np.linspace(start, end, steps), rtol=0, atol=scale * 1e-15 + 1e-300)
    assert (whole == np.trunc(got)).all() and (f32 == got.astype(np.float32)).all()
    if steps > 1:
        assert got[0] == start and got[-1] == end  # both ends exactly


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: lamella.linspace(1j, 1, 2), "linspace: argument 'start'"),
        (lambda: lamella.full((2,), 1j, dtype=lamella.float32), "full: argument 'fill_value'"),
    ],
)
def test_wrong_arguments_of_matrices_and_ranges(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()


# ---- into a given tensor -------------------------------------------------------------------------------------------

INTO = {
    "zeros": (lambda **out: lamella.zeros(2, 3, **out), np.zeros((2, 3))),
    "ones": (lambda **out: lamella.ones((2, 3), **out), np.ones((2, 3))),
    "full": (lambda **out: lamella.full((2,), 7, **out), np.full(2, 7)),
    "arange": (lambda **out: lamella.arange(5, **out), np.arange(5)),
    "arange of steps": (lambda **out: lamella.arange(5, 0, -2, **out), np.arange(5, 0, -2)),
    "range": (lambda **out: lamella.range(0, 4, **out), np.arange(5)),
    "eye": (lambda **out: lamella.eye(2, 3, **out), np.eye(2, 3)),
    "linspace": (lambda **out: lamella.linspace(0, 8, 5, **out), np.linspace(0, 8, 5)),
    "logspace": (lambda **out: lamella.logspace(0, 2, 3, **out), np.logspace(0, 2, 3)),
}


@pytest.mark.parametrize("name", INTO)
@pytest.mark.parametrize("dtype", [lamella.float64, lamella.int32, lamella.bfloat16])
def test_out_has_the_dtype(name, dtype):
    call, want = INTO[name]
    fitting = lamella.full(want.shape, 9, dtype=dtype)
    for target in (fitting, fitting.t().contiguous().t(), lamella.empty(0, dtype=dtype)):
        assert call(out=target) is target
        assert target.dtype is dtype and (target.double().numpy() == want).all()
    assert call(out=fitting, dtype=dtype, device="cpu") is fitting
    assert call(out=lamella.empty(0, dtype=dtype, device="meta")).shape == want.shape


@pytest.mark.parametrize("name", INTO)
def test_out_of_another_dtype_or_device(name):
    call, _ = INTO[name]
    target = lamella.full((1,), 9)
    named = name.partition(" ")[0]
    with pytest.raises(RuntimeError, match=rf"^{named}: argument 'dtype' is float32, but 'out' has dtype int64"):
        call(out=target, dtype=lamella.float32)
    with pytest.raises(RuntimeError, match=rf"^{named}: argument 'device' is .*meta.*, but 'out' has device cpu"):
        call(out=target, device="meta")
    assert target.tolist() == [9]
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        call(out=lamella.ones(1, requires_grad=True))


def test_empty_into_a_tensor():
    target = lamella.ones(2, 3)
    assert lamella.empty(2, 3, out=target) is target
    assert lamella.empty(4, out=lamella.empty(0, dtype=lamella.int8)).shape == (4,)


@pytest.mark.parametrize(
    "draw",
    [
        lambda **k: lamella.rand(3, 2, **k),
        lambda **k: lamella.randn(3, 2, **k),
        lambda **k: lamella.randint(9, (3, 2), **k),
        lambda **k: lamella.randint(-2, 9, (3, 2), **k),
        lambda **k: lamella.randperm(7, **k),
        lambda **k: lamella.normal(1.0, 2.0, (3, 2), **k),
    ],
)
def test_random_numbers_into_a_tensor(draw):
    for dtype in (lamella.float64, lamella.float32):
        target = lamella.empty(0, dtype=dtype)
        draw(out=target, generator=lamella.Generator().manual_seed(5))
        assert target.equal(draw(dtype=dtype, generator=lamella.Generator().manual_seed(5)))


def test_indices_into_a_tensor():
    target = lamella.empty(0, dtype=lamella.int64)
    assert lamella.nonzero(lamella.tensor([0, 3, 2]), out=target) is target and target.tolist() == [[1], [2]]
    with pytest.raises(RuntimeError, match="nonzero: argument 'out' has dtype float32"):
        lamella.nonzero(lamella.tensor([0, 3, 2]), out=lamella.empty(0))
    with pytest.raises(NotImplementedError, match="nonzero"):
        lamella.nonzero(lamella.ones(2, device="meta"), out=lamella.empty(0, dtype=lamella.int64, device="meta"))
