"""Pools equal windows that numpy cuts: values, indices, layouts, and wrong arguments."""

import itertools

import lamella
import numpy as np
import pytest
from arrays import assert_same, lt_dtype, to_lamella, to_numpy, values
from oracles import ORACLES
from oracles.pools import strided
from oracles.products import max_pool_indices

A = lamella.ops.aten
KERNELS = [f"aten::{n}" for n in ("max_pool2d", "max_pool2d_with_indices", "avg_pool2d", "adaptive_avg_pool2d")]
KERNELS.append("aten::constant_pad_nd")
SHAPES = [(2, 3, 9, 10), (3, 13, 8), (1, 1, 4, 4), (2, 2, 21, 40)]
WINDOWS = list(itertools.product([(2, 2), (3, 3), (3, 2)], [(1, 1), (2, 2), (2, 3)], [(0, 0), (1, 1), (1, 0)]))
MEANS = [(True, None), (False, None), (False, 3)]


def fits(shape, kernel, stride, padding, dilation, ceil):
    """Returns whether both dimensions have a window."""
    return all(strided(*row, ceil) for row in zip(shape[-2:], kernel, stride, padding, dilation, strict=True))


@pytest.mark.parametrize("composite", [False, True])
@pytest.mark.parametrize("name", ["float32", "float64", "int64", "uint8", "int16"])
@pytest.mark.parametrize("dilation, ceil", [((1, 1), False), ((1, 1), True), ((2, 1), False), ((1, 2), True)])
@pytest.mark.parametrize("shape", SHAPES)
def test_max(shape, dilation, ceil, name, composite):
    x = values(name, int(np.prod(shape)), 1, 0 if name == "uint8" else -9, 9).reshape(shape)
    if "float" in name:
        x.flat[[3, 7]] = np.nan, -np.inf
    t, lowest = to_lamella(x), -np.inf if "float" in name else np.iinfo(name).min
    with lamella.library.kernels_disabled(KERNELS if composite else [], "cpu"):
        for window in WINDOWS:
            more = (*window, dilation, ceil)
            if not fits(shape, *more):
                continue
            found, at = max_pool_indices(x.astype(np.float64), *more)
            wanted = np.maximum(found, lowest).astype(name)
            assert_same(lamella.max_pool2d(t, *more), wanted)
            result, indices = A.max_pool2d_with_indices(t, *more)
            assert_same(result, wanted)
            clear = found != -np.inf  # a window with only padding has no index
            np.testing.assert_array_equal(to_numpy(indices)[clear], at[clear])


@pytest.mark.parametrize("composite", [False, True])
@pytest.mark.parametrize("name", ["float32", "float64"])
@pytest.mark.parametrize("ceil", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_mean(shape, ceil, name, composite):
    x = values(name, int(np.prod(shape)), 1, -9, 9).reshape(shape)
    eps = np.finfo(name).eps * 32
    with lamella.library.kernels_disabled(KERNELS if composite else [], "cpu"):
        for window, (counted, divisor) in itertools.product(WINDOWS, [*MEANS[:2], (True, 7)]):
            more = (*window, ceil, counted, divisor)
            if fits(shape, *window, (1, 1), ceil):
                result = A.avg_pool2d(to_lamella(x), *more)
                wanted = ORACLES["avg_pool2d"](x.astype(np.float64), *more)
                np.testing.assert_allclose(to_numpy(result), wanted, rtol=eps, atol=eps * 9)


@pytest.mark.parametrize("composite", [False, True])
@pytest.mark.parametrize("size", [(1, 1), (2, 3), (7, 5), (9, 10), (1, 0)])
@pytest.mark.parametrize("shape", SHAPES)
def test_adaptive_mean(shape, size, composite):
    x = values("float64", int(np.prod(shape)), 1, -9, 9).reshape(shape)
    wanted = ORACLES["adaptive_avg_pool2d"](x, size) if all(size) else np.empty((*shape[:-2], *size))
    with lamella.library.kernels_disabled(KERNELS if composite else [], "cpu"):
        got = A.adaptive_avg_pool2d(to_lamella(x), size)
    np.testing.assert_allclose(to_numpy(got), wanted, rtol=1e-13, atol=1e-13)


def test_one_dimension():
    x = values("float64", 24, 1, -9, 9).reshape(2, 3, 4)
    pairs = x.reshape(2, 3, 2, 2)
    np.testing.assert_array_equal(to_numpy(lamella.max_pool1d(to_lamella(x), 2)), pairs.max(-1))
    np.testing.assert_allclose(to_numpy(lamella.avg_pool1d(to_lamella(x), 2)), pairs.mean(-1))
    np.testing.assert_allclose(to_numpy(lamella.adaptive_avg_pool1d(to_lamella(x[0]), 2)), pairs[0].mean(-1))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves(name):
    x = to_lamella(values("float32", 64, 1, -9, 9).reshape(1, 8, 8)).to(lt_dtype(name))
    wide = x.to(lamella.float32)
    assert_same(lamella.max_pool2d(x, 2).to(lamella.float32), to_numpy(lamella.max_pool2d(wide, 2)))
    assert_same(A.avg_pool2d(x, 2), to_numpy(A.avg_pool2d(wide, 2).to(x.dtype)))


def test_layouts():
    """The result keeps channels last, on meta too; gaps do not matter."""
    x = values("float32", 2 * 5 * 6 * 7, 1, -9, 9).reshape(2, 5, 6, 7)
    last = to_lamella(np.ascontiguousarray(x.transpose(0, 2, 3, 1))).permute(0, 3, 1, 2)
    gaps = to_lamella(np.repeat(x, 3, 3))[..., ::3]
    for f in (lamella.max_pool2d, A.avg_pool2d):
        plain = f(to_lamella(x), 2)
        assert f(last, 2).stride() == (3 * 3 * 5, 1, 3 * 5, 5) == f(lamella.empty_like(last, device="meta"), 2).stride()
        assert_same(f(last, 2), to_numpy(plain))
        assert_same(f(gaps, 2), to_numpy(plain))


@pytest.mark.parametrize("name", ["float32", "float64", "int16"])
@pytest.mark.parametrize("shape", [(2, 3, 9, 10), (1, 70, 12, 7), (3, 1, 5, 5), (2, 33, 4, 21)])
def test_channels_last_agrees_with_plain(shape, name):
    x = values(name, int(np.prod(shape)), 1, -9, 9).reshape(shape)
    if "float" in name:
        x.flat[[3, 7]] = np.nan, -np.inf
    plain, last = to_lamella(x), to_lamella(np.moveaxis(np.moveaxis(x, 1, -1).copy(), -1, 1))
    assert last.is_contiguous(memory_format=lamella.channels_last)
    calls = [
        lambda t, w=w, d=d, c=c: lamella.max_pool2d(t, *w, d, c)
        for w, d, c in itertools.product(WINDOWS, [(1, 1), (1, 2)], [False, True])
    ]
    if "float" in name:
        calls += [lambda t, w=w, n=n, d=d: A.avg_pool2d(t, *w, True, n, d) for w in WINDOWS for n, d in MEANS]
        calls += [lambda t, n=n: A.adaptive_avg_pool2d(t, n) for n in (1, (2, 3), (4, 5), (1, 4))]
    for f in calls:
        expected, result = to_numpy(f(plain)), f(last)
        assert result.is_contiguous(memory_format=lamella.channels_last)
        np.testing.assert_allclose(to_numpy(result), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("last", [False, True])
def test_threads_do_not_change_a_bit(last):
    x = to_lamella(values("float32", 2 * 16 * 65 * 65, 1, -9, 9).reshape(2, 16, 65, 65))
    x = x.contiguous(memory_format=lamella.channels_last) if last else x
    got = set()
    for threads in (1, 2):
        lamella.set_num_threads(threads)
        results = (A.avg_pool2d(x, 3), lamella.max_pool2d(x, 3), A.adaptive_avg_pool2d(x, 7))
        got.add(b"".join(to_numpy(r).tobytes() for r in results))
    assert len(got) == 1


def test_dtypes():
    with pytest.raises(NotImplementedError, match="avg_pool2d: argument 'self': a mean needs .* or int64"):
        A.avg_pool2d(lamella.ones(1, 4, 4, dtype=lamella.int32), 2)
    with pytest.raises(NotImplementedError, match="adaptive_avg_pool2d: argument 'self': a mean needs a floating"):
        A.adaptive_avg_pool2d(lamella.ones(1, 4, 4, dtype=lamella.int64), 2)
    with pytest.raises(NotImplementedError, match="no largest element"):
        lamella.max_pool2d(lamella.ones(1, 4, 4, dtype=lamella.bool), 2)
    with pytest.raises(RuntimeError, match="argument 'divisor_override'"):
        A.avg_pool2d(lamella.ones(1, 4, 4), 2, 2, 0, False, True, 0)


@pytest.mark.parametrize("composite", [False, True])
def test_means_of_integers_are_rounded_toward_zero(composite):
    x = lamella.tensor([[[-3, 0, 5, 2], [0, 0, 0, 0]]])
    with lamella.library.kernels_disabled(KERNELS if composite else [], "cpu"):
        assert A.avg_pool2d(x, (1, 2)).tolist() == [[[-1, 3], [0, 0]]]
        assert A.avg_pool2d(x, 2, 1, 1, False, False).tolist() == [[[-3, -1, 2, 3, 2], [-1, 0, 1, 1, 1], [0] * 5]]
        assert A.avg_pool2d(x, (1, 2), divisor_override=-4).tolist() == [[[0, -1], [0, 0]]]
        assert lamella.avg_pool1d(x[0, :1], 4).tolist() == [[1]]


# ---- backward --------------------------------------------------------------------------------------------------------

BACKWARD = [
    "aten::max_pool2d_with_indices_backward",
    "aten::avg_pool2d_backward",
    "aten::_adaptive_avg_pool2d_backward",
]


@pytest.mark.parametrize("composite", [False, True])
@pytest.mark.parametrize("name", ["float32", "float64", "int64", "uint8", "int16"])
@pytest.mark.parametrize("ceil", [False, True])
@pytest.mark.parametrize("shape", [*SHAPES, (3, 2, 8, 28), (2, 3, 7, 15)])
def test_gradients_go_where_the_largest_stood(shape, ceil, name, composite):
    """The gradients of overlapping windows add up."""
    x = to_lamella(values(name, int(np.prod(shape)), 1, 0 if name == "uint8" else -9, 9).reshape(shape))
    with lamella.library.kernels_disabled([*KERNELS, *BACKWARD] if composite else [], "cpu"):
        for kernel, stride, padding in WINDOWS:
            more = (kernel, stride, padding, (1, 1), ceil)
            _, indices = A.max_pool2d_with_indices(x, *more)
            g = np.arange(indices.numel()).reshape(indices.shape).astype(name)
            expected = ORACLES["max_pool2d_with_indices_backward"](g, np.zeros(shape, name), *more, to_numpy(indices))
            assert_same(A.max_pool2d_with_indices_backward(to_lamella(g), x, *more, indices), expected)


@pytest.mark.parametrize("composite", [False, True])
@pytest.mark.parametrize("width", [8, 28])
def test_indices_of_other_windows_are_followed_and_those_outside_have_no_gradient(width, composite):
    g = np.arange(1.0, 1 + 2 * width).reshape(1, 4, width // 2)
    at = np.zeros(g.shape, np.int64)
    at[0, 0] = [-1, 4 * width * 2, 2**32, *range(width // 2 - 3)]
    x, expected = np.zeros((1, 8, width)), np.zeros((1, 8, width))
    inside = (at >= 0) & (at < 8 * width)
    np.add.at(expected.reshape(-1), at[inside], g[inside])
    with lamella.library.kernels_disabled([*KERNELS, *BACKWARD] if composite else [], "cpu"):
        got = A.max_pool2d_with_indices_backward(
            to_lamella(g), to_lamella(x), [2, 2], [], [0, 0], [1, 1], False, to_lamella(at)
        )
    assert_same(got, expected)


@pytest.mark.parametrize("composite", [False, True])
@pytest.mark.parametrize("name", ["float32", "float64"])
@pytest.mark.parametrize("ceil", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_gradients_of_means_are_their_transpose(shape, ceil, name, composite):
    """The scalar product of pool(x) with g equals that of x with the gradient for g."""
    eps = np.finfo(name).eps * 512
    x = values(name, int(np.prod(shape)), 1, -9, 9).reshape(shape)

    def agree(pooled, backward):
        g = values(name, pooled.numel(), 2, -9, 9).reshape(pooled.shape)
        back = backward(to_lamella(g))
        assert tuple(back.shape) == shape
        size = np.abs(to_numpy(pooled).astype(float) * g).sum() + np.abs(to_numpy(back).astype(float) * x).sum()
        difference = (to_numpy(pooled).astype(float) * g).sum() - (to_numpy(back).astype(float) * x).sum()
        assert abs(difference) <= eps * max(size, 1)

    t = to_lamella(x)
    with lamella.library.kernels_disabled([*KERNELS, *BACKWARD] if composite else [], "cpu"):
        for window, (counted, divisor) in itertools.product(WINDOWS, MEANS):
            more = (*window, ceil, counted, divisor)
            agree(A.avg_pool2d(t, *more), lambda g, more=more: A.avg_pool2d_backward(g, t, *more))
        for size in ((1, 1), (2, 3), (7, 5), (9, 10), (1, 0)):
            agree(A.adaptive_avg_pool2d(t, size), lambda g: A._adaptive_avg_pool2d_backward(g, t))


def test_an_empty_window_has_no_gradient():
    """Both taps lie in the padding, so the window has no largest element."""
    x = to_lamella(np.arange(1.0, 5).reshape(1, 2, 2))
    more = (2, 1, 1, 3)
    for disabled in ([], KERNELS):
        with lamella.library.kernels_disabled(disabled, "cpu"):
            value, indices = A.max_pool2d_with_indices(x, *more)
            assert value.item() == -np.inf
            g = lamella.ones_like(value)
            assert_same(A.max_pool2d_with_indices_backward(g, x, *more, False, indices), np.zeros((1, 2, 2)))
