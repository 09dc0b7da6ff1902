"""tensor[index] and tensor[index] = value against numpy: views, masks, index tensors, natively and by composites."""

from contextlib import nullcontext

import lamella
import numpy as np
import pytest
from arrays import COMPUTED, DTYPES, assert_same, pairs, shapes, to_lamella, to_numpy, values
from hypothesis import assume, given
from hypothesis import strategies as st

BOUNDS = st.none() | st.integers(-5, 5)


@st.composite
def basic_indices(draw, shape):
    """Draws an index of integers, slices, None and at most one ..., valid for a shape."""
    used = draw(st.integers(0, len(shape)))
    dots = draw(st.integers(0, used)) if draw(st.booleans()) else None
    tail = len(shape) - (used - dots) if dots is not None else used
    dims = [*range(dots if dots is not None else used), *range(tail, len(shape))]
    items = [item_for(draw, shape[d]) for d in dims]
    if dots is not None:
        items.insert(dots, Ellipsis)
    for _ in range(draw(st.integers(0, 2))):
        items.insert(draw(st.integers(0, len(items))), None)
    return items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)


def item_for(draw, n):
    if n and draw(st.booleans()):
        i = draw(st.integers(-n, n - 1))
        return draw(st.sampled_from([i, np.int64(i)]))
    return slice(draw(BOUNDS), draw(BOUNDS), draw(st.none() | st.integers(1, 3)))


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "bfloat16", "complex128", "uint64"])
@given(data=st.data())
def test_basic_indices_are_views(dtype, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes())))
    index = data.draw(basic_indices(x.shape))
    assert_same(t[index], x[index])
    assert t[index].storage().data_ptr() == t.storage().data_ptr()


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "bfloat16", "complex128"])
@given(data=st.data())
def test_basic_assignment(dtype, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes()), expanded=False))
    x = x.copy()
    index = data.draw(basic_indices(x.shape))
    value, v = data.draw(pairs(dtype, np.shape(x[index])))
    version = t._version
    t[index] = v
    x[index] = value
    assert_same(t, x)
    assert t._version == version + 1
    t[index] = True
    x[index] = True
    assert_same(t, x)


def test_assigned_values_broadcast_and_convert():
    t = lamella.zeros(2, 3)
    t[:] = lamella.tensor([1, 2, 3])
    t[1] = [7, 8, 9]
    t[0, 1:] = -1.5
    assert t.tolist() == [[1.0, -1.5, -1.5], [7.0, 8.0, 9.0]]
    i = lamella.tensor([1, 2, 3])
    i[0] = 2.9  # an assignment converts, as numpy's does
    i[1:] = lamella.tensor([4.5, -4.5])
    assert i.tolist() == [2, 4, -4]


def test_assignment_to_itself_reads_before_it_writes():
    x = np.arange(10)
    t = to_lamella(x)
    t[1:] = t[:-1]
    x[1:] = x[:-1].copy()
    assert_same(t, x)


@st.composite
def masks(draw, x, offset):
    """Makes a mask over some dimensions of an array, starting at dimension `offset`, and its tensor."""
    span = draw(st.integers(0 if offset == 0 else 1, x.ndim - offset))
    return draw(pairs("bool", x.shape[offset : offset + span]))


@pytest.mark.parametrize("dtype", COMPUTED)
@given(data=st.data())
def test_masks(dtype, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes())))
    m, mask = data.draw(masks(x, 0))
    assert_same(t[mask], x[m])
    assert_same(t[mask, ...], x[m, ...])


@given(st.data())
def test_masks_after_other_indices(data):
    x, t = data.draw(pairs("int32", data.draw(shapes().filter(len))))
    offset = data.draw(st.integers(0, x.ndim - 1))
    m, mask = data.draw(masks(x, offset))
    lead = [item_for(data.draw, n) for n in x.shape[:offset]]
    assume(all(isinstance(i, slice) for i in lead))  # numpy joins integers with the mask
    assert_same(t[(*lead, mask)], x[(*lead, m)])


@pytest.mark.parametrize("dtype", COMPUTED)
@given(data=st.data())
def test_assignment_of_a_number_by_mask(dtype, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes()), expanded=False))
    x = x.copy()
    m, mask = data.draw(masks(x, 0))
    version = t._version
    t[mask] = 1
    x[m] = 1
    assert_same(t, x)
    assert t._version == version + 1


@pytest.mark.parametrize("dtype", ["float32", "int64", "bfloat16", "bool"])
@given(data=st.data())
def test_assignment_of_tensors_by_mask(dtype, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes()), expanded=False))
    x = x.copy()
    m, mask = data.draw(masks(x, 0))
    value, v = data.draw(pairs(dtype, x[m].shape))
    t[mask] = v
    x[m] = value
    assert_same(t, x)


@given(st.data())
def test_values_broadcast_over_a_mask(data):
    x, t = data.draw(pairs("float32", (4, 3), expanded=False))
    x = x.copy()
    m, mask = data.draw(pairs("bool", (4,)))
    value, v = data.draw(pairs("float32", (3,)))
    t[mask] = v
    x[m] = value
    assert_same(t, x)


def test_comparisons_index_as_in_a_training_loop():
    x = values("float32", 500, 3, -2, 2).reshape(50, 10)
    grad, h = to_lamella(x * 3), to_lamella(x)
    address = grad.data_ptr()
    grad[h < 0] = 0
    assert_same(grad, np.where(x < 0, np.float32(0), x * 3))
    assert grad.data_ptr() == address


def test_a_wrong_number_of_values_changes_nothing():
    t = lamella.arange(6).view(2, 3)
    for value in (lamella.tensor([1, 2]), lamella.tensor([[1], [2]])):
        with pytest.raises(RuntimeError):
            t[t > 2] = value
    assert t.tolist() == [[0, 1, 2], [3, 4, 5]]


@given(st.data())
def test_masked_operators(data):
    shape = data.draw(shapes(3))
    x, t = data.draw(pairs("float32", shape, expanded=False))
    m, mask = data.draw(pairs("bool", shape[data.draw(st.integers(0, len(shape))) :]))
    want = np.where(m, np.float32(2.5), x)
    assert_same(t.masked_select(mask), x[np.broadcast_to(m, x.shape)])
    assert_same(t.masked_fill(mask, 2.5), want)
    assert_same(t.masked_fill(mask, lamella.tensor(2.5)), want)
    assert t.masked_fill_(mask, 2.5) is t
    assert_same(t, want)


@pytest.mark.parametrize("dtype, number, kept", [("int64", 2.5, 2), ("bool", 3, True), ("uint8", -1, 255)])
def test_a_number_in_another_dtype(dtype, number, kept):
    """Every operator converts the written number to self's dtype, which results have too, even if both are zero-dim."""
    t, mask, first = lamella.zeros(2, dtype=getattr(lamella, dtype)), lamella.tensor([True, False]), lamella.tensor([0])
    value = lamella.tensor(number)
    by_mask, by_index = lamella.zeros_like(t), lamella.zeros_like(t)
    by_mask[mask] = number
    by_index[first] = number
    made = [t.masked_fill(mask, number), t.masked_fill(mask, value), t.clone().masked_fill_(mask, number)]
    made += [t.index_fill(0, first, number), t.index_fill(0, first, value), t.scatter(0, first, number)]
    for got in (*made, by_mask, by_index):
        assert got.tolist() == [kept, 0] and got.dtype is t.dtype
    assert t[0].masked_fill(lamella.tensor(True), value).dtype is t.dtype


@pytest.mark.parametrize("dtype, number", [("float32", 3j), ("int64", float("nan")), ("int64", 1e30), ("uint8", 300)])
def test_a_number_that_does_not_fit(dtype, number):
    t, mask, first = lamella.zeros(2, dtype=getattr(lamella, dtype)), lamella.tensor([True, False]), lamella.tensor([0])
    calls = {
        "masked_fill: argument 'value'": lambda: t.masked_fill(mask, number),
        "masked_fill_: argument 'value'": lambda: t.masked_fill_(mask, number),
        "index_fill: argument 'value'": lambda: t.index_fill(0, first, number),
        "scatter: argument 'value'": lambda: t.scatter(0, first, number),
        "fill_: argument 'value'": lambda: t.fill_(number),
        "full: argument 'fill_value'": lambda: lamella.full((2,), number, dtype=t.dtype),
        "index assignment": lambda: t.__setitem__(mask, number),
    }
    for text, call in calls.items():
        with pytest.raises((RuntimeError, TypeError), match=text + ".*does not fit dtype " + dtype):
            call()
    assert t.tolist() == [0, 0]
    if number == 3j:
        with pytest.raises(TypeError, match="index assignment: dtype complex64"):
            t[mask] = lamella.tensor(number)


@pytest.mark.parametrize("native", [True, False])
def test_everything_is_indexed(native):
    """Without index tensors, values are copied, or added, everywhere."""
    with nullcontext() if native else lamella.library.kernels_disabled(NATIVE, "cpu"):
        for indices in ([None], []):
            x = lamella.ones(2, 3)
            x.index_put_(indices, lamella.arange(3.0), accumulate=True)
            assert x.tolist() == [[1, 2, 3]] * 2
            assert lamella.index_put(x, indices, lamella.tensor(7.0)).tolist() == [[7] * 3] * 2


@pytest.mark.parametrize("native", [True, False])
def test_filling_a_zero_dim_tensor(native):
    with nullcontext() if native else lamella.library.kernels_disabled(NATIVE, "cpu"):
        x = lamella.tensor(1.0)
        assert x.index_fill(0, lamella.tensor([], dtype=lamella.int64), 5.0).item() == 1
        for index in ([0], [0, -1]):
            assert x.index_fill(0, lamella.tensor(index), 5.0).item() == 5
            assert x.index_fill(0, lamella.tensor(index), lamella.tensor(5.0)).item() == 5


@pytest.mark.parametrize("native", [True, False])
def test_alpha_of_index_add(native):
    with nullcontext() if native else lamella.library.kernels_disabled(NATIVE, "cpu"):
        z, i = lamella.zeros(2, dtype=lamella.complex64), lamella.tensor([0])
        assert z.index_add(0, i, lamella.tensor([3 + 0j]), alpha=1 + 1j).tolist() == [3 + 3j, 0]
        whole = lamella.zeros(2, dtype=lamella.int64)
        assert whole.index_add(0, i, lamella.tensor([-3]), alpha=2.5).tolist() == [-6, 0]  # alpha is 2 in these calls
        with pytest.raises(RuntimeError, match="index_add: argument 'alpha': .*does not fit dtype int64"):
            whole.index_add(0, i, lamella.tensor([3]), alpha=2j)


def test_too_many_dimensions():
    with pytest.raises(IndexError, match="index_put: argument 'indices': 66 index tensors"):
        lamella.index_put(lamella.zeros(2), [lamella.tensor(True)] * 66, lamella.tensor(1.0))
    for device in ("cpu", "meta"):
        many = lamella.zeros((1,) * 63 + (5,), device=device)
        with pytest.raises(IndexError, match="index: argument 'indices': the result would have 65 dimensions"):
            many[lamella.zeros(1, 1, dtype=lamella.int64, device=device)]


def test_an_index_out_of_range_leaves_out_alone():
    out = lamella.full((2,), 9.0)
    wrong = lamella.tensor([0, 7])
    for call in (
        lambda: lamella.gather(lamella.zeros(2), 0, wrong, out=out),
        lambda: lamella.scatter(lamella.zeros(2), 0, wrong, lamella.ones(2), out=out),
        lambda: lamella.index_select(lamella.zeros(2), 0, wrong, out=out),
    ):
        with pytest.raises(IndexError):
            call()
    assert out.tolist() == [9, 9]


@pytest.mark.parametrize(
    "index, error",
    [
        (2, IndexError),
        (-3, IndexError),
        (2**70, IndexError),
        ((0, 0, 0), IndexError),
        ((0, 3), IndexError),
        ((0, ..., 0, ..., 0), IndexError),
        (slice(None, None, -1), ValueError),
        (slice(None, None, 0), ValueError),
        ((slice(None), slice(None, None, -2)), ValueError),
        (1.0, IndexError),
        ("a", IndexError),
        (lamella.tensor([True, False, True]), IndexError),
        (lamella.tensor([[True, False]]), IndexError),
        (lamella.tensor([True, False, True, True]), IndexError),
        (lamella.tensor(1.0), IndexError),
    ],
    ids=repr,
)
def test_wrong_indices(index, error):
    t = lamella.arange(6).view(2, 3)
    with pytest.raises(error):
        t[index]
    with pytest.raises(error):
        t[index] = 1
    assert t.tolist() == [[0, 1, 2], [3, 4, 5]] and t._version == lamella.arange(6)._version


def test_elements_cannot_be_deleted():
    t = lamella.arange(3)
    with pytest.raises(TypeError, match="delete"):
        del t[0]


@pytest.mark.parametrize("value", ["a", None, object()])
def test_values_that_are_none(value):
    t = lamella.arange(3)
    with pytest.raises(TypeError, match="value"):
        t[0] = value
    with pytest.raises(TypeError, match="value"):
        t[t > 0] = value
    assert t.tolist() == [0, 1, 2]


def test_zero_dim_tensors():
    t = lamella.tensor(5)
    assert t[...].item() == t[()].item() == 5 and t[None].tolist() == [5]
    assert t[lamella.tensor(True)].tolist() == [5] and t[lamella.tensor(False)].tolist() == []
    for index in (0, slice(None)):
        with pytest.raises((IndexError, RuntimeError), match="zero-dim"):
            t[index]
    t[...] = 7
    t[()] += 1
    assert t.item() == 8


def test_integer_tensors_index_like_integers():
    t = lamella.arange(6).view(2, 3)
    assert t[lamella.tensor(1)].tolist() == [3, 4, 5]
    assert t[lamella.tensor(-1, dtype=lamella.int8), lamella.tensor(0)].item() == 3


def test_iteration_and_rows():
    t = lamella.arange(6).view(2, 3)
    assert [row.tolist() for row in t] == [[0, 1, 2], [3, 4, 5]]
    assert all(row._base is not None for row in t)
    for row in t:
        row += 10
    assert to_numpy(t).tolist() == [[10, 11, 12], [13, 14, 15]]


def test_meta_indexing():
    t = lamella.empty(4, 3, device="meta")
    assert t[1:, None, 0].shape == (3, 1)
    with pytest.raises(NotImplementedError, match="depends on the data"):
        t[lamella.empty(4, dtype=lamella.bool, device="meta")]


# ---- index tensors ------------------------------------------------------------------------------------------------

WAYS = ["native", "composite"]
NATIVE = ["aten::index.Tensor", "aten::index_put_", "aten::index_put", "aten::take"]


def way(name):
    return nullcontext() if name == "native" else lamella.library.kernels_disabled(NATIVE, "cpu")


@st.composite
def advanced_indices(draw, shape, unique=False):
    """(numpy index, lamella index): slices, None and ... among index arrays that broadcast, lists, masks and bools.

    There is no plain integer: numpy joins it with the arrays, torch makes a view. With `unique`, no place occurs twice.
    """
    wide = draw(st.lists(st.integers(0 if all(shape) else 1, 3), max_size=2))
    theirs, ours = [], []
    d, dots, used = 0, False, 0
    while d < len(shape):
        kind = draw(st.sampled_from(["slice", "array", "array", "mask", "none", "dots", "stop"]))
        if kind == "stop":
            break
        if kind == "none":
            theirs.append(None)
            ours.append(None)
        elif kind == "dots" and not dots:
            dots, skipped = True, draw(st.integers(1, len(shape) - d))  # not 0, for which numpy and torch differ
            theirs.append(Ellipsis)
            ours.append(Ellipsis)
            d += skipped
            tail = len(shape) - d
            for _ in range(tail):  # after ... every dimension has its index
                n = shape[d]
                item = slice(draw(BOUNDS), draw(BOUNDS)) if draw(st.booleans()) or not n or unique else None
                a = b = item
                if item is None:
                    a, b = index_array(draw, n, wide)
                theirs.append(a)
                ours.append(b)
                d += 1
        elif kind == "mask" and (not unique or not used):
            span = draw(st.integers(1, len(shape) - d))
            if not used and not wide or unique:
                m, mask = draw(pairs("bool", shape[d : d + span]))
                theirs.append(m)
                ours.append(mask)
                used += 1
                wide = [int(m.sum())] if not unique else wide
            else:
                theirs.append(slice(None))
                ours.append(slice(None))
                span = 1
            d += span
        elif kind == "array" and shape[d] and (not unique or not used):
            if unique:
                a = np.array(draw(st.permutations(range(shape[d])))[: draw(st.integers(0, shape[d]))], np.int64)
                b = to_lamella(a)
            else:
                a, b = index_array(draw, shape[d], wide)
            theirs.append(a)
            ours.append(b)
            used += 1
            d += 1
        else:
            s = slice(draw(BOUNDS), draw(BOUNDS), draw(st.none() | st.integers(1, 3)))
            theirs.append(s)
            ours.append(s)
            d += 1
    return tuple(theirs), tuple(ours)


def index_array(draw, n, wide):
    """Makes an integer array that broadcasts to `wide`, for a dimension of size n, and the same index for lamella."""
    shape = [1 if draw(st.integers(0, 3)) == 0 else w for w in wide[draw(st.integers(0, len(wide))) :]]
    count = int(np.prod(shape, dtype=int))
    a = np.array([draw(st.integers(-n, n - 1)) for _ in range(count)], np.int64).reshape(shape)
    kind = draw(st.sampled_from(["tensor", "int32", "int8", "list", "array"]))
    if a.ndim == 0:  # a view in torch and in lamella, an array of no dimensions in numpy
        a = a.reshape(1)
    if kind == "list" and a.size:  # an empty list has no inner dimensions
        return a, a.tolist()
    if kind == "array":
        return a, a
    return a, to_lamella(a if kind in ("tensor", "list") else a.astype(kind))


@pytest.mark.sweep
@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_advanced_indices(dtype, kind, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes())))
    theirs, ours = data.draw(advanced_indices(x.shape))
    with way(kind):
        assert_same(t[ours], x[theirs])


@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "bfloat16", "complex128"])
@given(data=st.data())
def test_advanced_assignment(dtype, kind, data):
    x, t = data.draw(pairs(dtype, data.draw(shapes()), expanded=False))
    x = x.copy()
    theirs, ours = data.draw(advanced_indices(x.shape, unique=True))
    shape = x[theirs].shape
    inner = tuple(1 if data.draw(st.integers(0, 3)) == 0 else n for n in shape[data.draw(st.integers(0, len(shape))) :])
    value, v = data.draw(pairs(dtype, inner))
    version = t._version
    with way(kind):
        t[ours] = v
        x[theirs] = value
        assert_same(t, x)
        assert t._version == version + 1
        if dtype != "complex128":
            t[ours] = True
            x[theirs] = True
            assert_same(t, x)
        if dtype not in ("bool", "bfloat16", "complex128"):
            t[ours] += 1
            x[theirs] += 1
            assert_same(t, x)


@pytest.mark.parametrize("kind", WAYS)
@given(st.data())
def test_index_put_of_equal_places(kind, data):
    """Of values for one place the last stays; with accumulate, all are added in row-major order."""
    x, t = data.draw(pairs("float32", data.draw(shapes(3).filter(lambda s: s and all(s))), -4, 5, expanded=False))
    x = x.copy()
    wide = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))
    arrays = [index_array(data.draw, n, wide) for n in x.shape[: data.draw(st.integers(1, x.ndim))]]
    theirs, ours = (
        tuple(a for a, _ in arrays),
        [b if isinstance(b, lamella.Tensor) else to_lamella(a) for a, b in arrays],
    )
    value, v = data.draw(pairs("float32", x[theirs].shape, -4, 5))
    with way(kind):
        added = x.copy()
        np.add.at(added, theirs, value)
        assert_same(t.index_put(ours, v, accumulate=True), added)
        x[theirs] = value
        assert_same(t.index_put(ours, v), x)


@pytest.mark.parametrize("kind", WAYS)
def test_forms_of_numpy(kind):
    x = np.arange(60).reshape(3, 4, 5)
    t = to_lamella(x)
    m = x % 2 == 0
    cases = [
        np.s_[[0, 2]],
        np.s_[[]],
        np.s_[[], [], []],
        np.s_[:, [3, -1], :],
        np.s_[np.array([[0, 1], [2, 0]])],
        np.s_[[0, 1], :, [1, 2]],
        np.s_[:, [0, 1], [1, 2]],
        np.s_[[[0], [1]], :, [1, 2, 3]],
        np.s_[None, [0, 1]],
        np.s_[[0, 1], None, [1, 2]],
        np.s_[..., [1, 2]],
        np.s_[[1], ..., [2]],
        np.s_[1:, ::2, [4, 0]],
        np.s_[True],
        np.s_[False],
        np.s_[True, [0, 1]],
        np.s_[:, True],
        np.s_[np.bool_(True), 1:],
        np.s_[m],
        np.s_[m[:, 0, 0], :, [1]],
        np.s_[:, m[0, :, 0]],
        np.s_[m[:, 0, 0].nonzero()[0], m[0, :, 0].nonzero()[0][:, None]],
        np.s_[range(2)],
        np.s_[np.array([2, 0], np.uint8)],
        np.s_[np.zeros((0, 3), np.int64)],
        np.s_[[True, False, True]],
        np.s_[[True, False, True], 1:],
        np.s_[np.array([0, 2]), np.array([1, 1]), np.array([4, 0])],
    ]
    with way(kind):
        for index in cases:
            assert_same(t[index], x[index])
            for value in (7, np.arange(5)):
                u, y = t.clone(), x.copy()
                try:
                    y[index] = value
                except ValueError:
                    continue
                u[index] = value
                assert_same(u, y)


def test_an_integer_beside_index_tensors_is_a_view():
    """As in torch, the integer makes a view; numpy joins it with the arrays and moves the dimensions to the front."""
    x = np.arange(24).reshape(2, 3, 4)
    t = to_lamella(x)
    assert_same(t[0, :, [1, 2]], x[0][:, [1, 2]])
    assert_same(t[[0, 1], :, lamella.tensor(2)], x[..., 2][[0, 1]])


def test_masks_of_no_dimensions():
    t = lamella.arange(3)
    assert_same(t[lamella.tensor(True)], np.arange(3)[None])
    t[lamella.tensor(False)] = 9
    assert t.tolist() == [0, 1, 2]
    t[lamella.tensor(True)] = 9
    assert t.tolist() == [9, 9, 9]
    for on in (True, False):
        mask = np.array(on)
        for kind in WAYS:
            with way(kind):
                got = lamella.ops.aten.index(lamella.arange(6).view(2, 3), [to_lamella(mask), lamella.tensor([1])])
            assert_same(got, np.arange(6).reshape(2, 3)[mask, np.array([1])])


def test_sources_that_overlap_the_target():
    for kind in WAYS:
        with way(kind):
            x = np.arange(8)
            t = to_lamella(x)
            t[[1, 2, 3, 4]] = t[:4]
            assert t.tolist() == [0, 0, 1, 2, 3, 5, 6, 7]
            i = lamella.tensor([1, 2, 0])
            i[i] = lamella.tensor([7, 8, 9])
            assert i.tolist() == [9, 7, 8]


@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize("threads", [1, 2])
def test_many_indices(kind, threads):
    lamella.set_num_threads(threads)
    rng = np.random.default_rng(2)
    x = rng.standard_normal((400, 300)).astype(np.float32)
    i, j = rng.integers(-400, 400, 100000), rng.integers(-300, 300, 100000)
    t = to_lamella(x)
    m = x > 0.5
    with way(kind):
        assert_same(t[to_lamella(i), to_lamella(j)], x[i, j])
        assert_same(t[to_lamella(i[:2000])], x[i[:2000]])
        assert_same(t[:, to_lamella(j[:1000])], x[:, j[:1000]])
        assert_same(t[to_lamella(m)], x[m])
        assert_same(t.t()[to_lamella(m).t()], x.T[m.T])
        y, u = x.copy(), t.clone()
        y[i, j] = i
        u[to_lamella(i), to_lamella(j)] = to_lamella(i.astype(np.float32))
        assert_same(u, y)
        y[m] = np.arange(m.sum())
        u[to_lamella(m)] = lamella.arange(int(m.sum()))
        assert_same(u, y)


WIDE = [
    ((lamella.tensor([0, 5]),), r"index.*: argument 'indices': index 5 is out of range for dimension 0 of size 2"),
    ((slice(None), [0, -4]), r"index -4 is out of range for dimension 1 of size 3"),
    (([0, 1], [0, 3]), "index 3 .* dimension 1 of size 3|index 5 is out of range"),
    (([0, 1], [0, 1, 2]), "position 1: shape .* does not broadcast"),
    (([0], [0], [0]), "3 indices for a tensor of 2 dimensions"),
    ((slice(None), lamella.tensor([0.5])), "position 1: expected integers or a bool mask, got dtype float32"),
    ((slice(None), [True, False]), "a mask of shape .* does not cover shape .* from dimension 1"),
    (([0], "a"), "position 1: expected int, slice"),
    (([0], 1.5), "position 1: expected int, slice"),
]


@pytest.mark.parametrize("index, words", WIDE)
def test_errors_name_the_position(index, words):
    t = lamella.arange(6).view(2, 3)
    with pytest.raises(IndexError, match=words):
        t[index]
    with pytest.raises(IndexError, match=words):
        t[index] = lamella.tensor(1)
    with pytest.raises(IndexError):
        t[index] = 1
    assert t.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_bad_index_among_several_is_seen_by_the_composite():
    with way("composite"):
        t = lamella.zeros(2, 3)
        for index in (([0, 2], [0, -3]), ([0, 1], [3, 0]), ([-3, 0], [0, 0])):
            with pytest.raises(IndexError, match="out of range"):
                t[index]
            with pytest.raises(IndexError, match="out of range"):
                t[index] = 1
        assert t.tolist() == [[0, 0, 0], [0, 0, 0]]


@given(st.data())
def test_masked_scatter_and_nonzero(data):
    shape = data.draw(shapes(3))
    x, t = data.draw(pairs("float32", shape, expanded=False))
    m, mask = data.draw(pairs("bool", shape[data.draw(st.integers(0, len(shape))) :]))
    wide = np.broadcast_to(m, x.shape)
    source, s = data.draw(pairs("float32", (int(wide.sum()) + 2,)))
    want = x.copy()
    want[wide] = source[: int(wide.sum())]
    assert_same(t.masked_scatter(mask, s), want)
    y, u = data.draw(pairs(data.draw(st.sampled_from(["int32", "float64", "bool", "complex64"])), shape))
    assert_same(u.nonzero(), np.argwhere(y).reshape(-1, y.ndim) if y.ndim else np.zeros((int(y != 0), 0), np.int64))
    assert_same(
        lamella.argwhere(u), np.argwhere(y).reshape(-1, y.ndim) if y.ndim else np.zeros((int(y != 0), 0), np.int64)
    )
    for got in (u.nonzero(as_tuple=True), lamella.where(u)):
        assert type(got) is tuple and len(got) == max(y.ndim, 1)
        for g, w in zip(got, np.atleast_1d(y).nonzero(), strict=True):
            assert_same(g, w)
    with pytest.raises(RuntimeError, match="masked_scatter: argument 'source'"):
        lamella.zeros(3).masked_scatter(lamella.tensor(True), lamella.ones(2))


def test_several_ellipses():
    """The first stands for the dimensions that no other index takes, the others for none."""
    x = lamella.arange(6).view(2, 3)
    assert x[..., ...].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert x[..., 1, ...].tolist() == [1, 4]
    assert x[1, ..., ..., 2].item() == 5
    assert x[..., None, ...].shape == (2, 3, 1)
    x[..., 0, ...] = 9
    assert x.tolist() == [[9, 1, 2], [9, 4, 5]]
