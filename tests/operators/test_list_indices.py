"""Lists as indices: a list that holds more than numbers is a tuple, as in torch, and warns; numpy reads the tuple."""

import warnings

import lamella
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

SHAPE = (3, 4, 3)


def plain(item):
    """Returns an item of an index as numpy takes it."""
    if isinstance(item, lamella.Tensor):
        return item.numpy()
    if isinstance(item, list):
        return np.array(item, dtype=np.int64 if not item else None)
    return np.array(item) if isinstance(item, (tuple, range)) else item


@st.composite
def items(draw, n):
    """Draws what may stand for one dimension of n elements: all index tensors have two elements, so that they fit."""
    two = draw(st.lists(st.integers(-n, n - 1), min_size=2, max_size=2))
    mask = [i in (0, n - 1) for i in range(n)]
    return draw(
        st.sampled_from(
            [two, tuple(two), np.array(two), lamella.tensor(two), range(2), mask, np.array(mask), lamella.tensor(mask)]
            + [two[0], np.int64(two[0]), lamella.tensor(two[0]), slice(0, 2), slice(None, None, 2), [two], [[two]]]
        )
    )


@st.composite
def lists(draw):
    made = [draw(items(n)) for n in SHAPE[: draw(st.integers(1, 3))]]
    if len(made) < 3 and draw(st.booleans()):
        made.insert(draw(st.integers(0, len(made))), None)
    if len(made) < 3 and draw(st.booleans()):
        made.append(Ellipsis)
    return made


def special(item):
    return item is None or item is Ellipsis or isinstance(item, (slice, list, tuple, range, np.ndarray, lamella.Tensor))


@given(index=lists())
def test_a_list_of_more_than_numbers_is_a_tuple(index):
    """Numbers alone are one index tensor. An integer beside index tensors is a view here and in torch, not in numpy, so
    that the tuple, which other tests compare with numpy, is the oracle where both stand together."""
    x = np.arange(36).reshape(SHAPE)
    t = lamella.arange(36).view(SHAPE)
    as_tuple = any(map(special, index))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        got = t[index]
    assert [w.category for w in seen] == [UserWarning] * as_tuple
    integers = any(isinstance(i, (int, np.integer)) or getattr(i, "ndim", 1) == 0 for i in index)
    if not as_tuple:
        want = x[np.array(index)]
    elif integers:
        want = t[tuple(index)].numpy()
    else:
        want = x[tuple(map(plain, index))]
    np.testing.assert_array_equal(got.numpy(), want)
    written = t.clone()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        written[index] = -1
        again = t.clone()
        again[index] = lamella.full(got.shape, -1)
    places = np.isin(x, got.numpy())  # the elements differ
    np.testing.assert_array_equal(written.numpy(), np.where(places, -1, x))
    assert written.tolist() == again.tolist()


TORCHS = [  # index, shape and first elements of torch 2.13's result for arange(27) in three dimensions
    ([[0, 1], [1, 2]], (2, 3), [3, 4, 5, 15, 16, 17]),
    ([slice(0, 2), 1], (2, 3), [3, 4, 5, 12, 13, 14]),
    ([None, 0], (1, 3, 3), [0, 1, 2, 3, 4, 5]),
    ([..., 0], (3, 3), [0, 3, 6, 9, 12, 15]),
    ([[0, 1]], (2, 3, 3), [0, 1, 2, 3, 4, 5]),
    ([[True, False, True]], (2, 3, 3), [0, 1, 2, 3, 4, 5]),
    ([[[0, 1]]], (1, 2, 3, 3), [0, 1, 2, 3, 4, 5]),
    ([[0], [[1]], 2], (1, 1), [5]),
    ([[], []], (0, 3), []),
    ([[0], 1], (1, 3), [3, 4, 5]),
    ([np.array([0, 1]), np.array([1, 2])], (2, 3), [3, 4, 5, 15, 16, 17]),
    ([lamella.tensor(0), 1], (3,), [3, 4, 5]),
    ([None], (1, 3, 3, 3), [0, 1, 2, 3, 4, 5]),
]


@pytest.mark.parametrize("index, shape, first", TORCHS, ids=repr)
def test_values_of_torch(index, shape, first):
    t = lamella.arange(27).view(3, 3, 3)
    with pytest.warns(UserWarning, match="read as a tuple"):
        got = t[index]
    assert got.shape == shape and got.flatten()[:6].tolist() == first


@pytest.mark.parametrize(
    "index, shape",
    [
        ([0, 1], (2, 3, 3)),
        ([True, False, True], (2, 3, 3)),
        ([], (0, 3, 3)),
        ([np.int64(0), np.int64(1)], (2, 3, 3)),
        ([[0]] * 32, (32, 1, 3, 3)),
        (([[0, 1], [1, 2]],), (2, 2, 3, 3)),
        (np.array([[0, 1], [1, 2]]), (2, 2, 3, 3)),
        (range(2), (2, 3, 3)),
    ],
    ids=str,
)
def test_these_are_index_tensors(index, shape):
    t = lamella.arange(27).view(3, 3, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert t[index].shape == shape
        t[index] = 0


def test_tuples_in_tuples_are_sequences():
    x, t = np.arange(27).reshape(3, 3, 3), lamella.arange(27).view(3, 3, 3)
    for index in (((0, 2),), ((1,),), ((0, 1), (1, 2)), ([1], (2,), 0), (((0, 1), (2, 0)),), (0, ())):
        want = x[tuple(np.array(i, dtype=np.int64) if isinstance(i, (tuple, list)) else i for i in index)]
        np.testing.assert_array_equal(t[index].numpy(), want)
        assert t[index].shape == want.shape
    t[0, 0], t[0, :1, 1:] = (7, 8, 9), ((5, 6),)
    t[1] = (3,)
    assert t[0, 0].tolist() == [7, 5, 6] and t[1].tolist() == [[3] * 3] * 3


def test_a_warning_that_is_an_error_writes_nothing():
    t = lamella.zeros(3, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match=r"write x\[tuple\(list\)\]"):
            t[[[0, 1], [1, 2]]] = 1
    assert t.count_nonzero() == 0


def test_too_many_and_wrong_items():
    t = lamella.zeros(3, 3)
    for index in ([[0]] * 31, [[0], "a"], ["a"], [[0, slice(1)]]):
        with pytest.warns(UserWarning), pytest.raises((IndexError, TypeError)):
            t[index]
    with pytest.raises(TypeError, match="cannot be deleted"):
        del t[[[0, 1], [1, 2]]]
