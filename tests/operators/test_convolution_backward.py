"""Gradients of convolutions equal sums over the taps, for every layout, stride, dilation and group."""

import itertools

import lamella
import numpy as np
import pytest
from arrays import lt_dtype, to_lamella, to_numpy
from hypothesis import given
from hypothesis import strategies as st
from oracles.products import conv_backward

A = lamella.ops.aten
KERNELS = ["aten::_convolution_backward_input", "aten::_convolution_backward_weight", "aten::convolution"]


def drawn(name, shape, seed):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(name)


def places(image, kernel, stride, padding, dilation):
    sizes = zip(image, kernel, stride, padding, dilation, strict=True)
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in sizes)


def reference(g, x, w, *how):
    """Computes the gradients exactly, for small integers."""
    stride, padding, dilation, groups = how
    g, x, w = (a.astype(np.float64) for a in (g, x, w))
    return conv_backward(g, x, w, None, stride, padding, dilation, False, None, groups, [True] * 3)


def gradients(g, x, w, stride, padding, dilation, groups, mask=(True, True, True)):
    none = [0] * len(stride)
    return A.convolution_backward(
        g, x, w, [len(w)], list(stride), list(padding), list(dilation), False, none, groups, list(mask)
    )


def case(shape, kernel, stride, padding, dilation, groups, name="float32"):
    x, w = drawn(name, shape, 1), drawn(name, kernel, 2)
    g = drawn(name, (shape[0], kernel[0], *places(shape[2:], kernel[2:], stride, padding, dilation)), 3)
    return (g, x, w), (stride, padding, dilation, groups)


CASES = [  # input, weight, stride, padding, dilation, groups
    ((2, 3, 9, 10), (4, 3, 3, 3), (1, 1), (0, 0), (1, 1), 1),
    ((2, 4, 9, 10), (6, 2, 3, 2), (2, 2), (1, 1), (1, 1), 2),
    ((3, 6, 12, 7), (6, 1, 3, 3), (1, 1), (1, 1), (1, 1), 6),
    ((1, 3, 12, 7), (6, 1, 3, 3), (2, 3), (2, 0), (2, 1), 3),
    ((3, 5, 6, 5), (7, 5, 1, 1), (2, 2), (0, 0), (1, 1), 1),
    ((9, 1, 28, 28), (8, 1, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((9, 8, 14, 14), (16, 8, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((2, 40, 17, 16), (50, 40, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((1, 3, 21, 22), (40, 3, 7, 7), (2, 2), (3, 3), (1, 1), 1),
    ((2, 8, 30), (6, 4, 5), (2,), (3,), (2,), 2),
    ((2, 2, 5, 6, 7), (4, 2, 2, 3, 2), (2, 1, 1), (1, 0, 1), (1, 2, 1), 1),
    ((1, 1, 4, 4), (1, 1, 2, 2), (3, 3), (0, 0), (1, 1), 1),
    ((9, 10, 12, 12), (20, 10, 5, 5), (1, 1), (0, 0), (1, 1), 1),
    ((2, 6, 11, 13), (40, 3, 5, 5), (1, 1), (1, 2), (2, 1), 2),
    ((3, 5, 15, 15), (20, 5, 3, 3), (2, 1), (1, 0), (1, 2), 1),
    ((4, 30, 4, 3), (50, 30, 3, 3), (2, 1), (1, 1), (1, 1), 1),
    ((2, 3, 5, 9, 9), (24, 3, 3, 4, 4), (1, 1, 1), (0, 1, 0), (1, 1, 1), 1),
]


@pytest.mark.parametrize("composite", [False, True])
@pytest.mark.parametrize("name", ["float32", "float64", "int64", "int32", "int8"])
@pytest.mark.parametrize("sizes", CASES, ids=lambda c: "-".join("x".join(map(str, s)) for s in c[:2]))
def test_against_sums_over_taps(sizes, name, composite):
    arrays, how = case(*sizes, name)
    with lamella.library.kernels_disabled(KERNELS if composite else [], "cpu"):
        for got, wanted in zip(gradients(*map(to_lamella, arrays), *how), reference(*arrays, *how), strict=True):
            whole = wanted.astype(np.int64) if "int" in name else wanted
            expected = whole.astype(to_numpy(got).dtype)
            np.testing.assert_array_equal(to_numpy(got), expected)


@given(data=st.data())
def test_any_sizes(data):
    draw = lambda low, high: data.draw(st.integers(low, high))  # noqa: E731
    groups = draw(1, 3)
    kernel = (groups * draw(1, 20), draw(1, 4), draw(1, 4), draw(1, 4))
    stride, padding, dilation = (tuple(draw(low, 3) for _ in range(2)) for low in (1, 0, 1))
    least = [max(d * (k - 1) + 1 - 2 * p, 1) for d, k, p in zip(dilation, kernel[2:], padding, strict=True)]
    shape = (draw(0, 9), groups * kernel[1], *(n + draw(0, 20) for n in least))
    arrays, how = case(shape, kernel, stride, padding, dilation, groups)
    for got, wanted in zip(gradients(*map(to_lamella, arrays), *how), reference(*arrays, *how), strict=True):
        np.testing.assert_array_equal(to_numpy(got), wanted)


def lies_last(x):
    """Returns the same numbers, with the channels of a pixel adjacent in memory."""
    return np.moveaxis(np.moveaxis(x, 1, -1).copy(), -1, 1)


@pytest.mark.parametrize("sizes", [c for c in CASES if len(c[0]) == 4], ids=str)
def test_threads_layouts_and_position_do_not_change_a_bit(sizes):
    """The bits are the same for any threads, layout and position, even of sums that are rounded."""
    arrays, how = case(*sizes)
    arrays = [(a + np.random.default_rng(5).standard_normal(a.shape)).astype("float32") for a in arrays]
    got = set()
    for threads in (1, 2, 3):
        lamella.set_num_threads(threads)
        for moved in (
            lambda t: t,
            lambda t: to_lamella(np.append(np.zeros(1, "float32"), t.numpy()))[1:].view(t.shape),
        ):
            results = gradients(*(moved(to_lamella(a)) for a in arrays), *how)
            got.add(b"".join(to_numpy(r).tobytes() for r in results[:2]))
    assert len(got) == 1
    last = gradients(*(to_lamella(lies_last(a)) for a in arrays), *how)
    for r, wanted in zip(last, reference(*arrays, *how), strict=True):
        np.testing.assert_allclose(to_numpy(r), wanted, rtol=2e-4, atol=2e-3)


@pytest.mark.parametrize("shape", [(9, 40, 30, 30), (5, 40, 3, 3)], ids=str)
def test_neighbours_in_a_batch_do_not_change_an_images_gradient(shape):
    (g, x, w), how = case(shape, (50, 40, 3, 3), (1, 1), (1, 1), (1, 1), 1)
    many = gradients(*map(to_lamella, (g, x, w)), *how, (True, False, False))[0]
    one = gradients(*map(to_lamella, (g[4:5], x[4:5], w)), *how, (True, False, False))[0]
    assert lamella.equal(many[4:5], one)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_are_rounded_once(name):
    arrays, how = case((2, 3, 9, 9), (4, 3, 3, 3), (1, 1), (1, 1), (1, 1), 1)
    halves = [to_lamella(a).to(lt_dtype(name)) for a in arrays]
    for got, wide in zip(gradients(*halves, *how), gradients(*map(to_lamella, arrays), *how), strict=True):
        assert got.dtype is lt_dtype(name) and lamella.equal(got, wide.to(got.dtype))


def test_what_is_not_asked_for_is_none():
    arrays, how = case(*CASES[0])
    for mask in itertools.product((False, True), repeat=3):
        got = gradients(*map(to_lamella, arrays), *how, mask)
        assert [r is not None for r in got] == list(mask)


@pytest.mark.parametrize("columns", [5, 14, 16, 30])
def test_nan_and_infinity_reach_their_windows_alone(columns):
    (g, x, w), how = case((2, 8, 9, columns), (16, 8, 3, 3), (1, 1), (1, 1), (1, 1), 1)
    g = g.astype("float32")
    g[0, 3, 2, 3], g[1, 5, 7, 1] = np.nan, np.inf
    odd = ~np.isfinite(to_numpy(gradients(*map(to_lamella, (g, x, w)), *how)[0]))
    near = np.zeros((2, 9, columns), bool)
    near[0, 1:4, 2:5] = near[1, 6:9, 0:3] = True
    assert not odd[~np.broadcast_to(near[:, None], odd.shape)].any()
    assert odd[0, :, 2, 3].any()
    weight = ~np.isfinite(to_numpy(gradients(*map(to_lamella, (g, x, w)), *how)[1]))
    assert set(np.nonzero(weight)[0]) <= {3, 5}


def test_it_is_a_gradient():
    """The operator is linear, so its derivative along a direction is exactly the product with the gradient."""
    (g, x, w), how = case(*CASES[1], "float64")
    stride, padding, dilation, groups = how
    f = lambda x, w: lamella.conv2d(x, w, None, stride, padding, dilation, groups)  # noqa: E731
    g, x, w = map(to_lamella, (g, x, w))
    of_x, of_w, _ = gradients(g, x, w, *how)
    dx, dw = to_lamella(drawn("float64", x.shape, 7)), to_lamella(drawn("float64", w.shape, 8))
    assert (f(dx, w) * g).sum().item() == (dx * of_x).sum().item()
    assert (f(x, dw) * g).sum().item() == (dw * of_w).sum().item()
