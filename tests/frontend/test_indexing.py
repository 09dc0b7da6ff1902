"""tensor[index] and tensor[index] = value against numpy: integers, slices, None, ..., boolean masks."""

import lattis
import numpy as np
import pytest
from arrays import COMPUTED, assert_same, pairs, shapes, to_lattis, to_numpy, values
from hypothesis import assume, given
from hypothesis import strategies as st

BOUNDS = st.none() | st.integers(-5, 5)


@st.composite
def basic_indices(draw, shape):
    """An index of integers, slices, None and at most one ..., valid for a shape."""
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
    t = lattis.zeros(2, 3)
    t[:] = lattis.tensor([1, 2, 3])
    t[1] = [7, 8, 9]
    t[0, 1:] = -1.5
    assert t.tolist() == [[1.0, -1.5, -1.5], [7.0, 8.0, 9.0]]
    i = lattis.tensor([1, 2, 3])
    i[0] = 2.9  # an assignment converts, as numpy's does
    i[1:] = lattis.tensor([4.5, -4.5])
    assert i.tolist() == [2, 4, -4]


def test_assignment_to_itself_reads_before_it_writes():
    x = np.arange(10)
    t = to_lattis(x)
    t[1:] = t[:-1]
    x[1:] = x[:-1].copy()
    assert_same(t, x)


@st.composite
def masks(draw, x, offset):
    """A mask over some dimensions of an array, starting at dimension `offset`, and its tensor."""
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
    grad, h = to_lattis(x * 3), to_lattis(x)
    address = grad.data_ptr()
    grad[h < 0] = 0
    assert_same(grad, np.where(x < 0, np.float32(0), x * 3))
    assert grad.data_ptr() == address


def test_a_wrong_number_of_values_changes_nothing():
    t = lattis.arange(6).view(2, 3)
    for value in (lattis.tensor([1, 2]), lattis.tensor([[1], [2]])):
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
    assert_same(t.masked_fill(mask, lattis.tensor(2.5)), want)
    assert t.masked_fill_(mask, 2.5) is t
    assert_same(t, want)


@pytest.mark.parametrize("dtype", ["int64", "bool"])
def test_a_fill_that_does_not_fit(dtype):
    t = lattis.zeros(2, dtype=getattr(lattis, dtype))
    with pytest.raises(RuntimeError, match="masked_fill: argument 'value'"):
        t.masked_fill(lattis.tensor([True, False]), 1.5)


@pytest.mark.parametrize(
    "index, error",
    [
        (2, IndexError),
        (-3, IndexError),
        (2**70, IndexError),
        ((0, 0, 0), IndexError),
        ((0, 3), IndexError),
        ((..., ...), IndexError),
        (slice(None, None, -1), ValueError),
        (slice(None, None, 0), ValueError),
        ((slice(None), slice(None, None, -2)), ValueError),
        (1.0, IndexError),
        ("a", IndexError),
        (lattis.tensor([True, False, True]), IndexError),
        (lattis.tensor([[True, False]]), IndexError),
        (lattis.tensor([True, False, True, True]), IndexError),
        (lattis.tensor(1.0), IndexError),
    ],
    ids=repr,
)
def test_wrong_indices(index, error):
    t = lattis.arange(6).view(2, 3)
    with pytest.raises(error):
        t[index]
    with pytest.raises(error):
        t[index] = 1
    assert t.tolist() == [[0, 1, 2], [3, 4, 5]] and t._version == lattis.arange(6)._version


def test_elements_cannot_be_deleted():
    t = lattis.arange(3)
    with pytest.raises(TypeError, match="delete"):
        del t[0]


@pytest.mark.parametrize("value", ["a", None, object()])
def test_values_that_are_none(value):
    t = lattis.arange(3)
    with pytest.raises(TypeError, match="value"):
        t[0] = value
    with pytest.raises(TypeError, match="value"):
        t[t > 0] = value
    assert t.tolist() == [0, 1, 2]


def test_zero_dim_tensors():
    t = lattis.tensor(5)
    assert t[...].item() == t[()].item() == 5 and t[None].tolist() == [5]
    assert t[lattis.tensor(True)].tolist() == [5] and t[lattis.tensor(False)].tolist() == []
    for index in (0, slice(None)):
        with pytest.raises((IndexError, RuntimeError), match="zero-dim"):
            t[index]
    t[...] = 7
    t[()] += 1
    assert t.item() == 8


def test_integer_tensors_index_like_integers():
    t = lattis.arange(6).view(2, 3)
    assert t[lattis.tensor(1)].tolist() == [3, 4, 5]
    assert t[lattis.tensor(-1, dtype=lattis.int8), lattis.tensor(0)].item() == 3


def test_iteration_and_rows():
    t = lattis.arange(6).view(2, 3)
    assert [row.tolist() for row in t] == [[0, 1, 2], [3, 4, 5]]
    assert all(row._base is not None for row in t)
    for row in t:
        row += 10
    assert to_numpy(t).tolist() == [[10, 11, 12], [13, 14, 15]]


def test_meta_indexing():
    t = lattis.empty(4, 3, device="meta")
    assert t[1:, None, 0].shape == (3, 1)
    with pytest.raises(NotImplementedError, match="depends on the data"):
        t[lattis.empty(4, dtype=lattis.bool, device="meta")]
