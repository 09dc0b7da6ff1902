"""float8_e4m3fn and float8_e5m2 hold numbers and have no arithmetic; they equal ml_dtypes' bit for bit."""

import copy
import pickle

import lamella
import ml_dtypes
import numpy as np
import pytest

DTYPES = {
    lamella.float8_e4m3fn: ml_dtypes.float8_e4m3fn,
    lamella.float8_e5m2: ml_dtypes.float8_e5m2,
}
both = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def bits(t):
    return t.contiguous().view(lamella.uint8).numpy()


def of_bits(array, dtype):
    return lamella.from_numpy(np.ascontiguousarray(array, dtype=np.uint8)).view(dtype)


def same(found, expected):
    """Returns whether both have the same elements; NaN equals NaN."""
    a, b = np.asarray(found), np.asarray(expected)
    return a.shape == b.shape and bool(((a == b) | (np.isnan(a) & np.isnan(b))).all())


@both
def test_every_byte_is_the_number_that_it_should_be(dtype):
    every = np.arange(256, dtype=np.uint8)
    expected = every.view(DTYPES[dtype])
    t = of_bits(every, dtype)
    for to, kind in ((lamella.float32, np.float32), (lamella.float64, np.float64), (lamella.float16, np.float16)):
        found = t.to(to).numpy()
        assert same(found, expected.astype(kind))
        assert (np.signbit(found) == np.signbit(expected.astype(kind)))[~np.isnan(found)].all()
    assert same(np.array(t.tolist()), expected.astype(np.float64))
    back = t.float().to(dtype)
    assert (bits(back) == every)[~np.isnan(expected.astype(np.float32))].all()


def hard_numbers(dtype):
    """Returns random bits, every number of the dtype, the middles of neighbours, and the numbers next to these."""
    rng = np.random.default_rng(7)
    random = rng.integers(0, 2**32, 200_000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    near = rng.normal(size=100_000).astype(np.float32) * 10 ** rng.integers(-6, 6, 100_000).astype(np.float32)
    all_of = np.arange(256, dtype=np.uint8).view(DTYPES[dtype]).astype(np.float64)
    numbers = np.unique(all_of[np.isfinite(all_of)])
    middles = ((numbers[1:] + numbers[:-1]) / 2).astype(np.float32)
    edges = [np.float32(x) for x in (464, 479, 480, 61440, 65536, np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-45)]
    around = [np.nextafter(middles, np.float32(side)) for side in (-np.inf, np.inf)]
    return np.concatenate([random, near, numbers.astype(np.float32), middles, *around, edges, np.negative(edges)])


@both
def test_rounding(dtype):
    x = hard_numbers(dtype)
    with np.errstate(all="ignore"):
        expected = x.astype(DTYPES[dtype])
    found = lamella.from_numpy(x).to(dtype)
    wide = expected.astype(np.float32)
    assert same(found.float().numpy(), wide)
    assert (bits(found) == expected.view(np.uint8))[~np.isnan(wide)].all()


@both
@pytest.mark.parametrize("other", ["bool", "uint8", "int8", "int32", "int64", "float16", "bfloat16", "float64"])
def test_from_and_to_other_dtypes(dtype, other):
    """Conversions go through float32, in both directions."""
    x = lamella.tensor([0, 1, -3, 7.5, 100, -447, 60000]).to(getattr(lamella, other))
    expected = x.to(lamella.float32).to(dtype)
    assert (bits(x.to(dtype)) == bits(expected)).all()
    y = lamella.tensor([0, 1, 3, 7.5, 96]).to(dtype)
    assert y.to(getattr(lamella, other)).tolist() == y.float().to(getattr(lamella, other)).tolist()


def test_between_the_two():
    every = of_bits(np.arange(256), lamella.float8_e4m3fn)
    expected = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn).astype(ml_dtypes.float8_e5m2)
    assert same(every.to(lamella.float8_e5m2).float().numpy(), expected.astype(np.float32))


@both
def test_factories_fills_copies_and_views(dtype):
    assert lamella.zeros(2, 3, dtype=dtype).tolist() == [[0] * 3] * 2
    nearest = {lamella.float8_e4m3fn: 1.125, lamella.float8_e5m2: 1.0}[dtype]
    assert lamella.full((3,), 1.1, dtype=dtype).tolist() == [nearest] * 3
    assert lamella.eye(2, dtype=dtype).tolist() == [[1, 0], [0, 1]]
    assert lamella.ones_like(lamella.empty(2, dtype=dtype)).tolist() == [1, 1]
    assert lamella.empty(2, dtype=dtype).fill_(3).tolist() == [3, 3]
    assert lamella.tensor([[1, 2.5]], dtype=dtype).tolist() == [[1, 2.5]]
    rng = np.random.default_rng(1)
    x = rng.integers(0, 256, (7, 9, 40), dtype=np.uint8)
    t = of_bits(x, dtype)
    assert (t.element_size(), t.nbytes, t.itemsize, dtype.itemsize) == (1, x.size, 1, 1)
    views = [
        (t[1:, ::2], x[1:, ::2]),
        (t.permute(2, 0, 1), x.transpose(2, 0, 1)),
        (t[:, 3], x[:, 3]),
        (t[..., 5:6], x[..., 5:6]),
        (t.view(-1)[::3], x.reshape(-1)[::3]),
    ]
    for seen, array in views:
        expected = np.ascontiguousarray(array).view(DTYPES[dtype])
        assert (bits(seen.clone()) == array).all()
        assert same(seen.float().contiguous().numpy(), expected.astype(np.float32))
        target = lamella.zeros(array.shape, dtype=dtype)
        target.copy_(seen)
        assert (bits(target) == array).all()
        apart = lamella.zeros(*array.shape, 2, dtype=lamella.float64)[..., 0]  # into rows with gaps
        apart.copy_(seen)
        assert same(apart.contiguous().numpy(), expected.astype(np.float64))
        back = lamella.zeros(*array.shape, 2, dtype=dtype)[..., 1]
        back.copy_(apart)
        assert same(back.float().contiguous().numpy(), expected.astype(np.float32))
    wide = lamella.zeros(3, 40, dtype=dtype)
    wide.copy_(t[0, 0])  # broadcast
    assert (bits(wide) == x[0, 0]).all()
    halves = lamella.arange(9).to(lamella.float32)[::2]
    assert halves.to(dtype).float().tolist() == halves.tolist()
    assert lamella.cat([t, t]).shape == (14, 9, 40)


@both
def test_what_a_tensor_tells(dtype):
    t = lamella.tensor([1.5, -2, 0.25], dtype=dtype)
    assert repr(t) == f"tensor([ 1.5000, -2.0000,  0.2500], dtype={dtype})"
    assert t[0].item() == 1.5 == float(t[0]) and bool(t[0]) and t.is_floating_point() and dtype.is_floating_point
    assert dtype.is_signed and not dtype.is_complex and t.type() == f"lamella.F{str(dtype)[9:]}Tensor"
    info, expected = lamella.finfo(dtype), ml_dtypes.finfo(DTYPES[dtype])
    for name in ("bits", "eps", "max", "min", "tiny", "smallest_normal"):
        assert getattr(info, name) == float(getattr(expected, name)), name
    for again in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t), pickle.loads(pickle.dumps(dtype))):
        assert again is dtype or (again.dtype is dtype and again.tolist() == t.tolist())
    with pytest.raises(TypeError, match=f"numpy has no {str(dtype)[8:]}; use .to\\(lamella.float32\\)"):
        t.numpy()
    assert lamella.from_dlpack(t).tolist() == t.tolist() and lamella.from_dlpack(t).dtype is dtype
    assert lamella.empty(2, dtype=dtype, device="meta").to(lamella.float32).shape == (2,)
    x = lamella.rand(3)
    lamella.testing.assert_close(x.to(dtype), x.to(dtype))


@both
def test_arithmetic_is_an_error_that_says_so(dtype):
    t, x = lamella.ones(4, dtype=dtype), lamella.ones(4)
    name = str(dtype)[8:]
    calls = {
        "add": lambda: t + 1,
        "add_": lambda: t.add_(1),
        "sum": lambda: t.sum(),
        "eq": lambda: t == t,
        "sort": lambda: t.sort(),
        "mm": lambda: t.view(2, 2) @ t.view(2, 2),
        "arange": lambda: lamella.arange(3, dtype=dtype),
        "index": lambda: t[lamella.tensor([0])],
        "max": lambda: t.max(),
    }
    drawn = (lambda: t.normal_(), lambda: lamella.rand(3, dtype=dtype), lambda: lamella.randint(9, (2,), dtype=dtype))
    for call in (*drawn, lambda: lamella.randperm(5, dtype=dtype)):
        with pytest.raises(NotImplementedError, match=f"random numbers are not drawn in dtype {name}"):
            call()
    for call in calls.values():
        with pytest.raises(NotImplementedError, match=f"has dtype {name}, for which 'cpu' has no kernel"):
            call()
    with pytest.raises(RuntimeError, match="no dtype holds both|cannot be promoted|no common dtype"):
        x + t
    assert t.tolist() == [1] * 4 and x.tolist() == [1] * 4
    assert lamella.neg(x, out=t) is t and t.tolist() == [-1] * 4  # computed in float32, then rounded
    with pytest.raises(RuntimeError, match="promote_types: no dtype holds both"):
        lamella.promote_types(dtype, lamella.float32)
    assert lamella.promote_types(dtype, dtype) is dtype
    with pytest.raises(TypeError, match="set_default_dtype: argument 'd' must be a floating dtype"):
        lamella.set_default_dtype(dtype)
    assert (t.float() + 1).to(dtype).tolist() == [0] * 4
