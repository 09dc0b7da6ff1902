"""Datasets and their combinations equal plain Python's."""

import itertools

import lamella
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lamella.utils.data import (
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    default_collate,
    random_split,
)
from lamella.utils.data.dataset import batch_of, samples_of, takes_lists

SIZES = st.lists(st.integers(0, 5), min_size=1, max_size=4)


def same(a, b):
    """Requires equal tensors within equal containers."""
    if isinstance(a, lamella.Tensor):
        return isinstance(b, lamella.Tensor) and a.dtype == b.dtype and lamella.equal(a, b)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return a == b


def tensors(size=6):
    return TensorDataset(lamella.arange(size), lamella.arange(2.0 * size).view(size, 2))


@pytest.mark.parametrize(
    "dataset",
    [
        tensors(),
        Subset(tensors(9), [8, 0, 3, 3, 5, 1]),
        StackDataset(tensors(), list("abcdef")),
        StackDataset(a=tensors(), b=Subset(range(100), [9, 8, 7, 6, 5, 4])),
        ConcatDataset([tensors(2), tensors(4)]),
        Subset(ConcatDataset([tensors(2), tensors(6)]), [7, 1, 0, 2, 4, 4]),
        Subset(range(6), [5, 4, 3, 2, 1, 0]),
    ],
    ids=lambda d: type(d).__name__,
)
@pytest.mark.parametrize("indices", [[0], [5, 1, 1, 3], [-1, 2]])
def test_several_samples_are_those_one_by_one(dataset, indices):
    alone = [dataset[i] for i in indices]
    assert same(samples_of(dataset, indices), alone)
    assert same(batch_of(dataset, indices), default_collate(alone))


def test_a_subclass_that_changes_samples_is_asked_for_each():
    class Doubled(TensorDataset):
        def __getitem__(self, index):
            return tuple(2 * part for part in super().__getitem__(index))

    doubled = Doubled(lamella.arange(4))
    assert not takes_lists(doubled) and takes_lists(tensors())
    assert [b[0].tolist() for b in DataLoader(doubled, 2)] == [[0, 2], [4, 6]]
    assert [b[0].tolist() for b in DataLoader(Subset(doubled, [3, 1]), 2)] == [[6, 2]]


def test_a_proxy_serves_batches():
    class Proxy:
        def __init__(self, held):
            self.held = held

        def __getattr__(self, name):
            return getattr(self.held, name)

        def __len__(self):
            return len(self.held)

    assert [b[0].tolist() for b in DataLoader(Proxy(TensorDataset(lamella.arange(4))), 2)] == [[0, 1], [2, 3]]


def test_positions_that_are_no_integers_are_errors():
    for index in (1.5, "1"):
        with pytest.raises((TypeError, IndexError)):
            TensorDataset(lamella.arange(4)).__getitems__([0, index])


def test_a_dataset_that_makes_batches_itself():
    class Own(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return index

        def __getbatch__(self, indices):
            return "batch", indices

        def __getitems__(self, indices):
            return ["items", *indices][: len(indices)]

    assert list(DataLoader(Own(), 2)) == [("batch", [0, 1]), ("batch", [2, 3])]
    assert list(DataLoader(Own(), 2, collate_fn=list)) == [["items", 0], ["items", 2]]


def test_items_of_another_number_are_refused():
    class Short(Dataset):
        def __getitem__(self, index):
            return index

        def __getitems__(self, indices):
            return [0]

    with pytest.raises(ValueError, match="Expected 2, got 1"):
        next(iter(DataLoader(Subset(Short(), [0, 1]), 2)))


@given(SIZES)
def test_concat(sizes):
    parts = [[(k, i) for i in range(size)] for k, size in enumerate(sizes)]
    joined, flat = ConcatDataset(parts), list(itertools.chain(*parts))
    assert len(joined) == len(flat) and joined.cumulative_sizes == list(itertools.accumulate(sizes))
    assert [joined[i] for i in range(-len(flat), len(flat))] == flat + flat
    with pytest.raises((ValueError, IndexError)):
        joined[-len(flat) - 1]


def test_errors_of_construction():
    with pytest.raises(AssertionError, match="Size mismatch"):
        TensorDataset(lamella.ones(2), lamella.ones(3))
    with pytest.raises(ValueError, match="Size mismatch"):
        StackDataset([1], [1, 2])
    with pytest.raises(ValueError, match="both"):
        StackDataset([1], a=[1])
    with pytest.raises(ValueError, match="At least one"):
        StackDataset()
    with pytest.raises(AssertionError, match="empty"):
        ConcatDataset([])
    with pytest.raises(AssertionError, match="IterableDataset"):
        ConcatDataset([ChainDataset([])])
    with pytest.raises(AssertionError, match="IterableDataset"):
        list(ChainDataset([[1]]))
    with pytest.raises(TypeError, match="abstract"):
        IterableDataset()
    with pytest.raises(NotImplementedError):
        Dataset()[0]


@pytest.mark.filterwarnings("ignore:Length of split")
@given(SIZES.filter(sum))
def test_random_split_by_lengths(sizes):
    parts = random_split(range(sum(sizes)), sizes)
    assert [len(part) for part in parts] == sizes
    assert sorted(i for part in parts for i in part) == list(range(sum(sizes)))


@given(st.integers(1, 50), st.lists(st.integers(1, 8), min_size=1, max_size=4))
def test_random_split_by_fractions(size, weights):
    fractions = [w / 8 for w in weights]
    fractions[-1] = 1 - sum(fractions[:-1])
    if fractions[-1] < 0:
        with pytest.raises(ValueError):
            random_split(range(size), fractions)
        return
    wanted = [int(size * f) for f in fractions]
    for k in range(size - sum(wanted)):
        wanted[k % len(wanted)] += 1
    if 0 in wanted:
        with pytest.warns(UserWarning, match="is 0"):
            parts = random_split(range(size), fractions)
    else:
        parts = random_split(range(size), fractions)
    assert [len(part) for part in parts] == wanted


def test_random_split_draws_from_the_generator():
    def order(seed):
        generator = lamella.Generator()
        generator.manual_seed(seed)
        return random_split(range(20), [20], generator=generator)[0].indices

    assert order(1) == order(1) != order(2)
    with pytest.raises(ValueError, match="Sum of input lengths"):
        random_split(range(3), [1, 1])
