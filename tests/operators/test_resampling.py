"""Resampled images at sizes that the samples lack: kernels and composites agree; layouts, threads, transposes."""

import itertools

import lamella
import numpy as np
import pytest
from arrays import lt_dtype, to_lamella, to_numpy, values
from oracles.resampling import cubic, linear, nearest, smooth

A = lamella.ops.aten
KERNELS = ["aten::_resample", "aten::_resample_backward"]
SIZES = [(40, 70), (9, 8), (37, 16), (1, 1), (130, 3)]
FILTERS = {
    "upsample_bilinear2d": linear,
    "upsample_bicubic2d": cubic,
    "_upsample_bilinear2d_aa": smooth("hat"),
    "_upsample_bicubic2d_aa": smooth("keys"),
    "_upsample_lanczos2d_aa": smooth("lanczos"),
}


def image(shape, name="float64", seed=1):
    return values(name, int(np.prod(shape)), seed, -9, 9).reshape(shape)


@pytest.mark.parametrize("composite", [False, True])
@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("name", FILTERS)
def test_both_axes_are_products_with_a_matrix(name, align, composite):
    x = image((2, 3, 20, 33))
    with lamella.library.kernels_disabled(KERNELS if composite else [], "cpu"):
        for size in SIZES:
            rows, columns = (FILTERS[name](n, m, align, None) for n, m in zip(x.shape[2:], size, strict=True))
            wanted = np.einsum("ih,nchw,jw->ncij", rows, x, columns)
            np.testing.assert_allclose(to_numpy(getattr(A, name)(to_lamella(x), size, align)), wanted, atol=1e-11)
            g = image((2, 3, *size), seed=2)
            back = getattr(A, name + "_backward")(to_lamella(g), size, x.shape, align)
            np.testing.assert_allclose(to_numpy(back), np.einsum("ih,ncij,jw->nchw", rows, g, columns), atol=1e-9)


@pytest.mark.parametrize("composite", [False, True])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "int16", "bool", "complex128"])
def test_nearest_picks(dtype, exact, composite):
    x = image((2, 3, 20, 33), "float64").astype(dtype)
    f = A._upsample_nearest_exact2d if exact else A.upsample_nearest2d
    with lamella.library.kernels_disabled(KERNELS if composite else [], "cpu"):
        for size, scales in itertools.product(SIZES, [(None, None), (2.1, 0.7)]):
            at = [nearest(n, m, 0, s, exact / 2).argmax(1) for n, m, s in zip(x.shape[2:], size, scales, strict=True)]
            got = to_numpy(f(to_lamella(x), size, *scales))
            np.testing.assert_array_equal(got, x[:, :, at[0]][..., at[1]])


@pytest.mark.parametrize("name", [*FILTERS, "upsample_nearest2d"])
@pytest.mark.parametrize("channels", [3, 16, 33])
def test_channels_last(name, channels):
    """The result keeps the layout, on meta too, and has the values of the row-major one."""
    x = to_lamella(image((2, channels, 12, 9), "float32"))
    more = (False,) if name in FILTERS else ()
    for size in [(24, 18), (5, 30), (7, 4)]:
        plain, last = getattr(A, name)(x, size, *more), x.contiguous(memory_format=lamella.channels_last)
        got = getattr(A, name)(last, size, *more)
        assert got.is_contiguous(memory_format=lamella.channels_last)
        assert getattr(A, name)(last.to("meta"), size, *more).stride() == got.stride()
        np.testing.assert_allclose(to_numpy(got), to_numpy(plain), rtol=1e-5, atol=1e-5)
        g = to_lamella(image((2, channels, *size), "float32", 2))
        back = getattr(A, name + "_backward")
        wide = back(g.contiguous(memory_format=lamella.channels_last), size, x.shape, *more)
        assert wide.is_contiguous(memory_format=lamella.channels_last)
        np.testing.assert_allclose(to_numpy(wide), to_numpy(back(g, size, x.shape, *more)), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_are_rounded_once(name):
    x = to_lamella(image((1, 2, 8, 8), "float32")).to(lt_dtype(name))
    wide = A.upsample_bilinear2d(x.to(lamella.float32), (13, 5), False)
    assert (A.upsample_bilinear2d(x, (13, 5), False) == wide.to(x.dtype)).all()


def test_threads_do_not_change_a_bit():
    x = to_lamella(image((3, 20, 65, 65), "float32"))
    got = set()
    for threads in (1, 2):
        lamella.set_num_threads(threads)
        results = [
            A.upsample_bilinear2d(t, (130, 99), False) for t in (x, x.contiguous(memory_format=lamella.channels_last))
        ]
        results += [
            A.upsample_bicubic2d_backward(x, (65, 65), (3, 20, 32, 50), False),
            A.upsample_nearest2d(x, (70, 9)),
        ]
        got.add(b"".join(to_numpy(r).tobytes() for r in results))
    assert len(got) == 1


@pytest.mark.parametrize("composite", [False, True])
def test_what_is_not_finite_stays_where_it_is(composite):
    g = np.zeros((1, 1, 4, 4))
    g[0, 0, 1, 1], g[0, 0, 3, 3] = np.inf, np.nan
    with lamella.library.kernels_disabled(KERNELS if composite else [], "cpu"):
        back = to_numpy(A.upsample_nearest2d_backward(to_lamella(g), (4, 4), (1, 1, 2, 2)))
        assert back[0, 0, 0, 0] == np.inf and np.isnan(back[0, 0, 1, 1]) and (back[0, 0, [0, 1], [1, 0]] == 0).all()
        few = to_numpy(A.upsample_nearest2d_backward(to_lamella(g), (4, 4), (1, 1, 9, 9)))
        assert np.isfinite(few).sum() == 79


def test_three_axes():
    x = image((1, 2, 6, 5, 4))
    for size in [(9, 3, 8), (3, 9, 2)]:
        made = [linear(n, m, False, None) for n, m in zip(x.shape[2:], size, strict=True)]
        wanted = np.einsum("id,jh,kw,ncdhw->ncijk", *made, x)
        np.testing.assert_allclose(to_numpy(A.upsample_trilinear3d(to_lamella(x), size, False)), wanted, atol=1e-11)
        g = image((1, 2, *size), seed=2)
        back = to_numpy(A.upsample_trilinear3d_backward(to_lamella(g), size, x.shape, False))
        np.testing.assert_allclose(back, np.einsum("id,jh,kw,ncijk->ncdhw", *made, g), atol=1e-11)


@pytest.mark.parametrize("composite", [False, True])
@pytest.mark.parametrize("name", FILTERS)
def test_elements_without_a_weight_do_not_count(name, composite):
    """The matrix of the oracle says which elements count; inf times a weight of 0 would be NaN."""
    x = np.ones((1, 1, 4, 5))
    x[0, 0, 2, 4] = np.inf
    with lamella.library.kernels_disabled(KERNELS if composite else [], "cpu"):
        for size, align in itertools.product([(4, 5), (7, 9), (8, 10), (2, 2), (1, 3)], [False, True]):
            rows, columns = (FILTERS[name](n, m, align, None) for n, m in zip(x.shape[2:], size, strict=True))
            seen = np.multiply.outer(np.abs(rows[:, 2]) > 1e-9, np.abs(columns[:, 4]) > 1e-9)
            none = np.multiply.outer(rows[:, 2] == 0, columns[:, 4] == 0)
            for dtype in ("float64", "float32"):
                got = to_numpy(getattr(A, name)(to_lamella(x.astype(dtype)), size, align))[0, 0]
                assert not np.isfinite(got[seen]).any() and np.isfinite(got[none]).all()
                sums = np.einsum("ih,jw->ij", rows, columns)[none]
                np.testing.assert_allclose(got[none], sums, rtol=1e-6)


@pytest.mark.parametrize("composite", [False, True])
def test_a_place_on_an_infinite_element_is_infinite(composite):
    x = lamella.tensor([[[1.0, np.inf], [2.0, 3.0]]]).view(1, 1, 2, 2)
    with lamella.library.kernels_disabled(KERNELS if composite else [], "cpu"):
        for name in ("upsample_bilinear2d", "upsample_bicubic2d"):
            got = getattr(A, name)(x, (3, 3), True)[0, 0]
            assert got[::2, ::2].tolist() == [[1, np.inf], [2, 3]] and not got[1, 1].isfinite()
            g = lamella.zeros(1, 1, 3, 3)
            g[0, 0, 0, 2] = np.inf
            back = getattr(A, name + "_backward")(g, (3, 3), (1, 1, 2, 2), True)[0, 0]
            assert back.tolist() == [[0, np.inf], [0, 0]]


@pytest.mark.parametrize("name", [*FILTERS, "upsample_nearest2d", "_upsample_nearest_exact2d"])
def test_scales_of_any_size(name):
    """Places that are far beyond the image take its last element; smoothed ones the mean of the row."""
    x = lamella.tensor([[[[1.0, 2.0, 4.0]]]])
    more = (False,) if name in FILTERS else ()
    for scale in (1e-300, 5e-324, 1e-30):
        got = getattr(A, name)(x, (1, 3), *more, None, scale)[0, 0, 0].tolist()
        first = 1.0 if name == "upsample_nearest2d" else 4.0
        wanted = [first, 4.0, 4.0] if "_aa" not in name else [7 / 3, got[1], got[2]]
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
        assert np.isfinite(got).all()
