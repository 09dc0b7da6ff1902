"""cat, stack and their relatives, repeats, turns, triangles and diagonals against numpy, natively and by composites."""

from contextlib import nullcontext

import lamella
import numpy as np
import pytest
from arrays import COMPUTED, DTYPES, assert_same, layouts, pairs, shapes, to_lamella, values
from hypothesis import given
from hypothesis import strategies as st

NATIVE = "cat stack flip roll tril triu diag_embed eye eye.m linspace zeros full".split()
WAYS = ["native", "composite"]


def way(name):
    ops = [f"aten::{op}" for op in NATIVE]
    return nullcontext() if name == "native" else lamella.library.kernels_disabled(ops, "cpu")


@st.composite
def several(draw, dtypes, same=False):
    """Draws a dimension, and up to four pairs that join along it."""
    shape = draw(shapes(3).filter(len))
    dim = draw(st.integers(0, len(shape) - 1))
    made = []
    for _ in range(draw(st.integers(1, 4))):
        n = shape[dim] if same else draw(st.integers(0, 4))
        made.append(
            draw(pairs(draw(st.sampled_from(dtypes)), tuple(n if d == dim else s for d, s in enumerate(shape))))
        )
    return draw(st.sampled_from([dim, dim - len(shape)])), [x for x, _ in made], [t for _, t in made]


@pytest.mark.sweep
@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_cat_and_stack(dtype, kind, data):
    dim, arrays, tensors = data.draw(several([dtype]))
    with way(kind):
        for f in (lamella.cat, lamella.concat, lamella.concatenate):
            assert_same(f(tensors, dim), np.concatenate(arrays, dim))
        dim, arrays, tensors = data.draw(several([dtype], same=True))
        assert_same(lamella.stack(tensors, dim), np.stack(arrays, dim))


@pytest.mark.parametrize("kind", WAYS)
@given(st.data())
def test_dtypes_are_promoted(kind, data):
    dim, arrays, tensors = data.draw(several(["int8", "int32", "float64", "bool"]))
    with way(kind):
        got = lamella.cat(tensors, dim)
    # torch has the same common dtype for these
    assert_same(got, np.concatenate(arrays, dim))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dim, widths", [(0, (300, 200)), (1, (300, 200, 1)), (1, (8, 16, 32)), (1, (1, 2, 4))])
def test_large_pieces(threads, dim, widths):
    lamella.set_num_threads(threads)
    arrays = [values("float32", 2000 * w, w).reshape((w, 2000) if dim == 0 else (2000, w)) for w in widths]
    assert_same(lamella.cat([to_lamella(x) for x in arrays], dim), np.concatenate(arrays, dim))
    x = arrays[0]
    assert_same(to_lamella(x).flip(1), np.flip(x, 1))
    assert_same(to_lamella(x).roll(7, 0), np.roll(x, 7, 0))
    assert_same(to_lamella(x).roll(-70001), np.roll(x, -70001))
    assert_same(to_lamella(x).tril(-3), np.tril(x, -3))


def test_an_empty_vector_joins_with_anything():
    x = lamella.ones(2, 3)
    for kind in WAYS:
        with way(kind):
            assert_same(lamella.cat([lamella.zeros(0), x, lamella.zeros(0)], 1), np.ones((2, 3), np.float32))


def test_cat_out():
    x, out = lamella.ones(2, 2), lamella.empty(0)
    assert lamella.cat([x, x], out=out) is out and out.shape == (4, 2)
    wide = lamella.zeros(4, 4)
    lamella.cat([x, x], out=wide[:, ::2])
    assert wide[:, ::2].tolist() == [[1, 1]] * 4 and wide[:, 1::2].tolist() == [[0, 0]] * 4
    lamella.stack([x[0], x[1]], out=x)  # read before it is written
    assert x.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("name", ["hstack", "vstack", "dstack", "column_stack"])
@given(data=st.data())
def test_stacks(name, data):
    shape = data.draw(shapes(3))
    made = [data.draw(pairs("int32", shape)) for _ in range(data.draw(st.integers(1, 3)))]
    assert_same(getattr(lamella, name)([t for _, t in made]), getattr(np, name)([x for x, _ in made]))


@pytest.mark.parametrize("dtype", ["float32", "bool", "complex128", "int16"])
@given(data=st.data())
def test_repeats(dtype, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes(3))))
    counts = [data.draw(st.integers(0, 3)) for _ in range(x.ndim + data.draw(st.integers(0, 2)))]
    assert_same(t.repeat(counts), np.tile(x, counts))
    short = counts[data.draw(st.integers(0, len(counts))) :]
    assert_same(t.tile(short), np.tile(x, short))
    k = data.draw(st.integers(0, 3))
    assert_same(t.repeat_interleave(k), np.repeat(x, k))
    if x.ndim:
        dim = data.draw(st.integers(-x.ndim, x.ndim - 1))
        assert_same(t.repeat_interleave(k, dim), np.repeat(x, k, dim))
        each = np.array([data.draw(st.integers(0, 3)) for _ in range(x.shape[dim])], np.int64)
        assert_same(t.repeat_interleave(to_lamella(each), dim), np.repeat(x, each, dim))


@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_flips_and_rolls(dtype, kind, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes(3))))
    dims = data.draw(st.lists(st.integers(0, max(x.ndim - 1, 0)), max_size=x.ndim, unique=True))
    shifts = [data.draw(st.integers(-5, 5)) for _ in dims]
    with way(kind):
        assert_same(t.flip(dims), np.flip(x, dims) if dims else x)
        if dims:
            assert_same(t.roll(shifts, dims), np.roll(x, shifts, dims))
        assert_same(t.roll(3), np.roll(x, 3))
        if x.ndim > 1:
            assert_same(lamella.fliplr(t), np.fliplr(x))
            k, (i, j) = data.draw(st.integers(-5, 5)), data.draw(st.permutations(range(x.ndim)))[:2]
            assert_same(lamella.rot90(t, k, (i, j)), np.rot90(x, k, (i, j)))
        if x.ndim:
            assert_same(lamella.flipud(t), np.flipud(x))


@pytest.mark.parametrize("kind", WAYS)
def test_what_flips_and_rolls_nothing_is_a_copy(kind):
    x = lamella.arange(6.0).view(2, 3)
    with way(kind):
        results = [x.flip([]), x.roll(0), x.roll((0, 3), (0, 1)), x[:1].flip(0), x[:0].roll(1), lamella.rot90(x, 4)]
    for result in results:
        assert result.storage().data_ptr() != x.storage().data_ptr() and result._base is None


@pytest.mark.parametrize("dtype, kind", [(d, "native") for d in DTYPES] + [(d, "composite") for d in COMPUTED])
@given(data=st.data())
def test_triangles(dtype, kind, data):
    x, t = data.draw(pairs(dtype, (*data.draw(shapes(2)), *data.draw(st.tuples(st.integers(0, 5), st.integers(0, 5))))))
    k = data.draw(st.integers(-7, 7))
    with way(kind):
        for name in ("tril", "triu"):
            assert_same(getattr(lamella, name)(t, k), getattr(np, name)(x, k))
            c = t.clone()
            assert getattr(c, name + "_")(k) is c
            assert_same(c, getattr(np, name)(x, k))
            rows, columns = x.shape[-2:]
            want = np.stack(getattr(np, name + "_indices")(rows, k, columns))
            assert_same(getattr(lamella, name + "_indices")(rows, columns, k), want)


@pytest.mark.parametrize("kind", WAYS)
@given(st.data())
def test_diagonals(kind, data):
    x, t = data.draw(pairs("float32", (data.draw(st.integers(0, 4)),)))
    k = data.draw(st.integers(-3, 3))
    m, u = data.draw(pairs("int32", data.draw(st.tuples(st.integers(0, 4), st.integers(0, 4)))))
    with way(kind):
        assert_same(lamella.diag(t, k), np.diag(x, k))
        assert_same(lamella.diagflat(u, k), np.diagflat(m, k))
        assert_same(lamella.diag(u, k), np.diag(m, k))
        assert_same(lamella.trace(u), np.trace(m, dtype=np.int64))
        wide = lamella.diag_embed(u, k)
        assert_same(wide.diagonal(k, -2, -1), m)
        assert_same(wide.sum(), np.array(m.sum(dtype=np.int64)))
        assert_same(lamella.diag_embed(u, k, 0, -1).diagonal(k, 0, -1), m)
        assert_same(lamella.diag_embed(u, k, -1, 0), lamella.diag_embed(u, -k, 0, -1).numpy())


@given(st.data())
def test_pieces_in_any_layout_go_into_any_layout(data):
    made = [data.draw(pairs("float32", (2, 3))) for _ in range(2)]
    layout = data.draw(layouts((4, 3), expanded=False))
    out = layout.tensor(lamella.zeros(layout.span))
    lamella.cat([t for _, t in made], out=out)
    assert_same(out, np.concatenate([x for x, _ in made]))


@pytest.mark.parametrize("diagonal", [2**63 - 1, 2**63 - 2, -(2**63) + 9, 5, -5])
def test_triangles_far_from_the_matrix(diagonal):
    x = np.arange(1.0, 7.0).reshape(2, 3)
    near = max(min(diagonal, 9), -9)
    t = lamella.tensor(x)
    np.testing.assert_array_equal(t.tril(diagonal).numpy(), np.tril(x, near))
    np.testing.assert_array_equal(t.triu(diagonal).numpy(), np.triu(x, near))
    np.testing.assert_array_equal(lamella.tril_indices(2, 3, diagonal).numpy(), np.array(np.tril_indices(2, near, 3)))
    np.testing.assert_array_equal(lamella.triu_indices(2, 3, diagonal).numpy(), np.array(np.triu_indices(2, near, 3)))
