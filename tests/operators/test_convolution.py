"""Convolutions equal scipy's correlate, for every layout, stride, dilation and group; padding equals numpy's."""

import itertools

import lamella
import numpy as np
import pytest
from arrays import lt_dtype, to_lamella, to_numpy, values
from hypothesis import given
from hypothesis import strategies as st
from oracles.products import conv

KERNELS = ["aten::convolution", "aten::constant_pad_nd"]
DTYPES = ("float32", "float64", "int64", "int32", "int16", "uint8")
COMPLEX = (("complex64", False), ("complex128", False))


def reference(x, w, bias, *how):
    """Computes the convolution in float64."""
    wide = np.complex128 if np.iscomplexobj(x) else np.float64
    return conv(x.ndim - 2)(x.astype(wide), w.astype(wide), bias, *how)


def drawn(name, shape, seed):
    if name.startswith("complex"):
        pair = np.random.default_rng(seed).standard_normal((2, *shape))
        return (pair[0] + 1j * pair[1]).astype(name)
    return values(name, int(np.prod(shape)), seed, 0, 5).reshape(shape)


def check(result, expected, name):
    assert tuple(result.shape) == expected.shape and result.dtype is lt_dtype(name)
    if "int" in name:
        np.testing.assert_array_equal(to_numpy(result), expected.astype(np.int64).astype(name))
    else:
        eps = np.finfo(name).eps * 64
        np.testing.assert_allclose(to_numpy(result), expected, rtol=eps, atol=eps * 300)


CASES = [  # input, weight, stride, padding, dilation, groups
    ((2, 3, 9, 10), (4, 3, 3, 3), (1, 1), (0, 0), (1, 1), 1),
    ((2, 4, 9, 10), (6, 2, 3, 2), (2, 2), (1, 1), (1, 1), 2),
    ((1, 6, 12, 7), (6, 1, 3, 3), (1, 1), (1, 1), (1, 1), 6),
    ((1, 3, 12, 7), (6, 1, 3, 3), (2, 3), (2, 0), (2, 1), 3),
    ((3, 5, 4, 4), (7, 5, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((3, 5, 4, 4), (7, 5, 1, 1), (2, 2), (0, 0), (1, 1), 1),
    ((1, 3, 21, 22), (40, 3, 7, 7), (2, 2), (3, 3), (1, 1), 1),
    ((1, 40, 6, 6), (50, 40, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((9, 1, 8, 8), (3, 1, 5, 5), (1, 1), (2, 2), (1, 1), 1),
    ((2, 8, 30), (6, 4, 5), (2,), (3,), (2,), 2),
    ((2, 2, 5, 6, 7), (4, 2, 2, 3, 2), (2, 1, 1), (1, 0, 1), (1, 2, 1), 1),
    ((1, 1, 4, 4), (1, 1, 3, 3), (1, 1), (0, 0), (1, 1), 1),
    ((9, 2, 12, 12), (20, 2, 5, 5), (1, 1), (0, 0), (1, 1), 1),
    ((9, 3, 9, 24), (10, 3, 3, 3), (1, 1), (1, 1), (1, 1), 1),
]


@pytest.mark.sweep
@pytest.mark.parametrize("name, composite", [*itertools.product(DTYPES, (False, True)), *COMPLEX])
@pytest.mark.parametrize("case", CASES, ids=lambda c: "-".join("x".join(map(str, s)) for s in c[:2]))
def test_against_scipy(case, name, composite):
    shape, kernel, stride, padding, dilation, groups = case
    x, w, b = drawn(name, shape, 1), drawn(name, kernel, 2), drawn(name, kernel[:1], 3)
    f = getattr(lamella, f"conv{len(shape) - 2}d")
    with lamella.library.kernels_disabled(KERNELS if composite else [], "cpu"):
        result = f(to_lamella(x), to_lamella(w), to_lamella(b), stride, padding, dilation, groups)
        check(result, reference(x, w, b, stride, padding, dilation, groups), name)
        plain = f(to_lamella(x), to_lamella(w), None, stride, padding, dilation, groups)
        check(plain, reference(x, w, None, stride, padding, dilation, groups), name)


@given(data=st.data())
def test_any_sizes(data):
    draw = lambda low, high: data.draw(st.integers(low, high))  # noqa: E731
    groups = draw(1, 3)
    kernel = (groups * draw(1, 3), draw(1, 4), draw(1, 3), draw(1, 4))
    dilation, stride = (draw(1, 2), draw(1, 2)), (draw(1, 3), draw(1, 3))
    padding = (draw(0, 2), draw(0, 2))
    least = [max(d * (k - 1) + 1 - 2 * p, 1) for d, k, p in zip(dilation, kernel[2:], padding, strict=True)]
    shape = (draw(0, 3), groups * kernel[1], *(n + draw(0, 20) for n in least))
    x, w = drawn("float64", shape, draw(0, 99)), drawn("float64", kernel, draw(0, 99))
    step = draw(1, 2)
    a = to_lamella(np.repeat(x, step, 3))[..., ::step]  # with gaps
    expected = reference(x, w, None, stride, padding, dilation, groups)
    check(lamella.conv2d(a, to_lamella(w), None, stride, padding, dilation, groups), expected, "float64")


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_are_rounded_once(name):
    x, w = to_lamella(drawn("float32", (2, 3, 9, 9), 1)).to(lt_dtype(name)), lamella.ones(4, 3, 3, 3)
    result = lamella.conv2d(x, w.to(x.dtype))
    assert result.dtype is x.dtype
    np.testing.assert_array_equal(
        to_numpy(result).astype("float32"),
        to_numpy(lamella.conv2d(x.to(lamella.float32), w).to(x.dtype)).astype("float32"),
    )


@pytest.mark.parametrize("composite", [False, True])
def test_channels_last_is_kept(composite):
    x, w = drawn("float64", (2, 3, 6, 7), 1), drawn("float64", (4, 3, 3, 3), 2)
    last = to_lamella(np.ascontiguousarray(x.transpose(0, 2, 3, 1))).permute(0, 3, 1, 2)
    with lamella.library.kernels_disabled(KERNELS if composite else [], "cpu"):
        result = lamella.conv2d(last, to_lamella(w), padding=1)
    assert result.stride() == (4 * 6 * 7, 1, 4 * 7, 4)
    check(result, reference(x, w, None, (1, 1), (1, 1), (1, 1), 1), "float64")
    meta = lamella.conv2d(
        lamella.empty(2, 6, 7, 3, device="meta").permute(0, 3, 1, 2), lamella.empty(4, 3, 3, 3, device="meta")
    )
    assert meta.stride() == (4 * 4 * 5, 1, 4 * 5, 4)


@pytest.mark.parametrize("kernel, dilation", [((3, 3), (1, 1)), ((2, 4), (1, 1)), ((3, 2), (2, 3))])
def test_same_and_valid(kernel, dilation):
    x, w = drawn("float64", (2, 2, 8, 9), 1), drawn("float64", (3, 2, *kernel), 2)
    reach = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    padded = np.pad(x, [(0, 0), (0, 0), *((r // 2, r - r // 2) for r in reach)])
    same = lamella.conv2d(to_lamella(x), to_lamella(w), padding="same", dilation=dilation)
    check(same, reference(padded, w, None, (1, 1), (0, 0), dilation, 1), "float64")
    valid = lamella.conv2d(to_lamella(x), to_lamella(w), padding="valid", dilation=dilation)
    check(valid, reference(x, w, None, (1, 1), (0, 0), dilation, 1), "float64")


def test_without_a_batch():
    x, w = drawn("float64", (3, 5, 6), 1), drawn("float64", (2, 3, 2, 2), 2)
    check(
        lamella.conv2d(to_lamella(x), to_lamella(w)),
        reference(x[None], w, None, (1, 1), (0, 0), (1, 1), 1)[0],
        "float64",
    )


@pytest.mark.parametrize("kernel", [(50, 40, 3, 3), (50, 40, 1, 1), (64, 40, 3, 3)])
@pytest.mark.parametrize("last", [False, True])
def test_threads_and_neighbours_do_not_change_a_bit(kernel, last):
    """The result is the same for an image alone, in a batch, and with two threads."""
    x, w = drawn("float32", (9, 40, 30, 30), 1), drawn("float32", kernel, 2)
    results = []
    for threads in (1, 2):
        lamella.set_num_threads(threads)
        a, b = to_lamella(lies_last(x) if last else x), to_lamella(w)
        results += [to_numpy(lamella.conv2d(a, b, padding=1))[4:5], to_numpy(lamella.conv2d(a[4:5], b, padding=1))]
    assert len({r.tobytes() for r in results}) == 1


def lies_last(x):
    """Returns the same numbers, with the channels of a pixel adjacent in memory."""
    return np.moveaxis(np.moveaxis(x, 1, -1).copy(), -1, 1)


PIXELS = [  # cases of the kernels that read channels last: one tap, or one channel a group
    ((2, 5, 4, 4), (7, 5, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((3, 70, 9, 10), (33, 70, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((2, 300, 5, 3), (1, 300, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((2, 3, 9, 10), (3, 1, 3, 3), (1, 1), (1, 1), (1, 1), 3),
    ((2, 37, 9, 10), (37, 1, 3, 2), (2, 1), (2, 1), (1, 3), 37),
    ((1, 64, 20, 33), (64, 1, 5, 5), (1, 2), (2, 2), (2, 1), 64),
    ((1, 32, 3, 3), (32, 1, 3, 3), (1, 1), (3, 4), (1, 1), 32),
    ((2, 32, 3, 3), (32, 1, 3, 3), (1, 1), (0, 0), (1, 1), 32),
    ((2, 6, 9, 10), (12, 1, 3, 3), (1, 1), (1, 1), (1, 1), 6),
]


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("case", PIXELS, ids=lambda c: "-".join("x".join(map(str, s)) for s in c[:2]))
def test_channels_last_without_copies(case, name):
    shape, kernel, stride, padding, dilation, groups = case
    x, w, b = drawn(name, shape, 1), drawn(name, kernel, 2), drawn(name, kernel[:1], 3)
    for bias in (b, None):
        expected = reference(x, w, bias, stride, padding, dilation, groups)
        given = None if bias is None else to_lamella(bias)
        bits = set()
        for threads in (1, 2):
            lamella.set_num_threads(threads)
            result = lamella.conv2d(to_lamella(lies_last(x)), to_lamella(w), given, stride, padding, dilation, groups)
            check(result, expected, name)
            assert result.is_contiguous(memory_format=lamella.channels_last)
            bits.add(to_numpy(result).tobytes())
        assert len(bits) == 1


LARGE = [  # input, weight, stride, padding, dilation: sizes for which oneDNN is used
    ((1, 32, 14, 15), (64, 32, 3, 3), (1, 1), (1, 1), (1, 1)),
    ((2, 64, 24, 24), (64, 64, 3, 2), (2, 1), (0, 1), (1, 2)),
    ((9, 32, 16, 16), (64, 32, 3, 3), (1, 1), (0, 0), (1, 1)),
    ((1, 3, 40, 42), (32, 3, 7, 7), (2, 2), (3, 3), (1, 1)),
    ((1, 64, 28, 28), (128, 64, 1, 1), (2, 2), (0, 0), (1, 1)),
    ((1, 64, 28, 28), (32, 64, 1, 1), (1, 1), (0, 0), (1, 1)),
    ((3, 32, 400), (64, 32, 5), (1,), (2,), (1,)),
    ((2, 7, 30, 31), (50, 7, 3, 3), (1, 1), (1, 1), (1, 1)),
    ((2, 64, 7, 7), (32, 64, 7, 7), (1, 1), (0, 0), (1, 1)),
]


@pytest.mark.sweep
@pytest.mark.parametrize("case", LARGE, ids=lambda c: "-".join("x".join(map(str, s)) for s in c[:2]))
def test_large_ones_for_every_layout_and_number_of_threads(case):
    shape, kernel, stride, padding, dilation = case
    x, w, b = (drawn("float32", s, i) for i, s in enumerate((shape, kernel, kernel[:1])))
    f = getattr(lamella, f"conv{len(shape) - 2}d")
    for bias in (b, None):
        expected = reference(x, w, bias, stride, padding, dilation, 1)
        given = None if bias is None else to_lamella(bias)
        images = (x, lies_last(x), np.repeat(x, 2, -1)[..., ::2])
        for image, weight in (*zip(images, (w, w, w), strict=True), (x, lies_last(w)), (lies_last(x), lies_last(w))):
            bits = set()
            for threads in (1, 2):
                lamella.set_num_threads(threads)
                result = f(to_lamella(image), to_lamella(weight), given, stride, padding, dilation)
                check(result, expected, "float32")
                bits.add(to_numpy(result).tobytes())
            assert len(bits) == 1


def test_nan_and_infinity_reach_their_windows_alone():
    x, w = drawn("float32", (1, 32, 14, 14), 1), drawn("float32", (64, 32, 3, 3), 2)
    x[0, 5, 2, 3], x[0, 7, 10, 10] = np.nan, np.inf
    odd = ~np.isfinite(to_numpy(lamella.conv2d(to_lamella(x), to_lamella(w), padding=1)))
    near = np.zeros((14, 14), bool)
    near[1:4, 2:5] = near[9:12, 9:12] = True
    assert not odd[..., ~near].any() and odd[:, :, 2, 3].all()


def test_more_shapes_than_the_cache_holds():
    w = lamella.ones(32, 16, 3, 3)
    for _ in range(2):
        for n in range(80, 400):
            assert lamella.conv2d(lamella.ones(1, 16, 12, n), w)[0, 31, 9, n - 3].item() == 144


@pytest.mark.parametrize(
    "shape, kernel, more, text",
    [
        ((1, 3, 5, 5), (2, 3, 3), {}, "argument 'weight': expected 4 dimensions"),
        ((1, 3, 5, 5), (2, 3, 3, 3), {"padding": "some"}, "argument 'padding': must be 'same', 'valid'"),
        ((1, 3, 5, 5), (2, 3, 3, 3), {"padding": "same", "stride": 2}, "'same' needs stride 1"),
        ((1, 3, 5, 5), (2, 3, 3, 3), {"dilation": (1, 2, 3)}, "argument 'dilation': takes one number or 2"),
    ],
)
def test_what_does_not_fit(shape, kernel, more, text):
    with pytest.raises(RuntimeError, match=text):
        lamella.conv2d(lamella.ones(shape), lamella.ones(kernel), **more)


def test_dtypes_must_agree():
    with pytest.raises(RuntimeError, match=r"argument 'weight': its dtype .*\.to\("):
        lamella.conv2d(lamella.ones(1, 1, 3, 3), lamella.ones(1, 1, 3, 3, dtype=lamella.float64))
    with pytest.raises(NotImplementedError, match="bools"):
        lamella.conv1d(lamella.ones(1, 1, 3, dtype=lamella.bool), lamella.ones(1, 1, 3, dtype=lamella.bool))


# ---- padding ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("composite", [False, True])
@pytest.mark.parametrize("pad", [(), (1, 2), (0, 0, 3, 1), (-1, 2, 1, -2), (1, 1, 0, 2, 3, 0), (-2, -2)])
def test_constant_padding(pad, composite):
    x = drawn("float64", (2, 4, 5), 1)
    pairs = [(0, 0)] * (3 - len(pad) // 2) + [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
    expected = np.pad(x, [(max(b, 0), max(a, 0)) for b, a in pairs], constant_values=7.0)
    cut = [slice(max(-b, 0), n - max(-a, 0)) for (b, a), n in zip(pairs, expected.shape, strict=True)]
    with lamella.library.kernels_disabled(KERNELS if composite else [], "cpu"):
        np.testing.assert_array_equal(to_numpy(lamella.constant_pad_nd(to_lamella(x), pad, 7.0)), expected[tuple(cut)])


@pytest.mark.parametrize("mode, numpy_mode", [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")])
@pytest.mark.parametrize("pad", [(1, 2), (2, 0, 3, 1)])
def test_padding_from_within(mode, numpy_mode, pad):
    x = drawn("int32", (2, 4, 5), 1)
    pairs = [(0, 0)] * (3 - len(pad) // 2) + [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
    result = lamella.ops.aten.pad(to_lamella(x), pad, mode)
    np.testing.assert_array_equal(to_numpy(result), np.pad(x, pairs, numpy_mode))


@pytest.mark.parametrize(
    "pad, mode, text",
    [
        ((1,), "constant", "takes pairs"),
        ((1, 1, 1, 1, 1, 1), "constant", "at most 2 dimensions"),
        ((-4, 0), "constant", "cannot be padded"),
        ((-2, -1), "reflect", "mode 'reflect' leaves nothing of dimension 1"),
        ((1, 1, 1, 1), "replicate", r"mode 'replicate' pads .*; got 4 amounts for 2 dimensions"),
        ((), "circular", r"mode 'circular' pads .*; got 0 amounts"),
        ((1, 0), "mirror", "argument 'mode': must be 'constant'"),
    ],
)
def test_bad_padding(pad, mode, text):
    with pytest.raises((RuntimeError, NotImplementedError), match=text):
        lamella.ops.aten.pad(lamella.ones(1, 3), pad, mode)


def test_volumes_of_one_plane_in_rows_that_are_apart():
    """Padding reads rows of an image, or of a volume with one plane, at their strides."""
    rng = np.random.default_rng(0)
    x = lamella.tensor(rng.standard_normal((1, 32, 1, 64, 140)).astype(np.float32))
    w = lamella.tensor(rng.standard_normal((32, 32, 1, 3, 3)).astype(np.float32))
    for part in (x[..., :64], x[..., ::2], x[:, :, :, ::2], x[:, :, :, :, 3:70]):
        assert lamella.equal(lamella.conv3d(part, w), lamella.conv3d(part.clone(), w))
        flat = lamella.conv2d(part[:, :, 0], w[:, :, 0])
        np.testing.assert_allclose(lamella.conv3d(part, w)[:, :, 0].numpy(), flat.numpy(), atol=2e-4)
