"""Samplers equal plain Python's."""

import collections
import itertools

import lamella
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lamella.utils.data import (
    BatchSampler,
    DistributedSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

SIZE = st.integers(1, 40)


def generator(seed=0):
    made = lamella.Generator()
    made.manual_seed(seed)
    return made


@given(SIZE, st.integers(1, 100))
def test_random_without_replacement(size, count):
    drawn = list(RandomSampler(range(size), num_samples=count, generator=generator(size)))
    assert len(drawn) == count == len(RandomSampler(range(size), num_samples=count))
    for start in range(0, count, size):
        part = drawn[start : start + size]
        assert len(set(part)) == len(part) and set(part) <= set(range(size))


@given(SIZE, st.integers(1, 3000))
def test_random_with_replacement(size, count):
    drawn = list(RandomSampler(range(size), True, count, generator(count)))
    assert len(drawn) == count and set(drawn) <= set(range(size))


def test_random_is_random_and_follows_the_seed():
    lamella.manual_seed(4)
    first, second = list(RandomSampler(range(30))), list(RandomSampler(range(30)))
    lamella.manual_seed(4)
    assert list(RandomSampler(range(30))) == first != second
    counts = collections.Counter(RandomSampler(range(4), True, 4000, generator()))
    assert all(abs(count - 1000) < 150 for count in counts.values())  # 5.5 standard deviations


@given(SIZE, st.integers(1, 9), st.booleans())
def test_batches(size, batch, drop):
    wanted = [list(range(size))[k : k + batch] for k in range(0, size, batch)]
    if drop and len(wanted[-1]) < batch:
        wanted.pop()
    sampler = BatchSampler(SequentialSampler(range(size)), batch, drop)
    assert list(sampler) == wanted and len(sampler) == len(wanted)


def test_subset_and_weights():
    assert sorted(SubsetRandomSampler([5, 2, 9], generator())) == [2, 5, 9]
    counts = collections.Counter(WeightedRandomSampler([1, 0, 3], 4000, generator=generator()))
    assert counts[1] == 0 and abs(counts[2] - 3000) < 150
    assert sorted(WeightedRandomSampler([0.1, 2, 5], 3, replacement=False)) == [0, 1, 2]


@given(SIZE, st.integers(1, 7), st.booleans(), st.booleans(), st.integers(0, 3))
def test_distributed(size, replicas, shuffle, drop, epoch):
    samplers = [DistributedSampler(range(size), replicas, r, shuffle, 5, drop) for r in range(replicas)]
    for sampler in samplers:
        sampler.set_epoch(epoch)
    shares = [list(sampler) for sampler in samplers]
    assert {len(share) for share in shares} == {len(samplers[0])}
    dealt = [i for row in zip(*shares, strict=True) for i in row]
    if drop:
        assert len(dealt) == size // replicas * replicas and len(set(dealt)) == len(dealt)
    else:
        assert dealt == list(itertools.islice(itertools.cycle(dealt[:size]), len(dealt)))
        assert sorted(dealt[:size]) == list(range(size))
    if not shuffle:
        assert dealt == [i % size for i in range(len(dealt))]


def test_distributed_epochs_differ():
    sampler = DistributedSampler(range(50), 2, 0)
    first = list(sampler)
    assert list(sampler) == first
    sampler.set_epoch(1)
    assert list(sampler) != first


@pytest.mark.parametrize(
    "make, kind, text",
    [
        (lambda: RandomSampler([1], replacement=1), TypeError, "replacement"),
        (lambda: RandomSampler([]), ValueError, "num_samples"),
        (lambda: RandomSampler([1], num_samples=0), ValueError, "num_samples"),
        (lambda: WeightedRandomSampler([1], 0), ValueError, "num_samples"),
        (lambda: WeightedRandomSampler([1], True), ValueError, "num_samples"),
        (lambda: WeightedRandomSampler([1], 1, 2), ValueError, "replacement"),
        (lambda: WeightedRandomSampler([[1.0]], 1), ValueError, "1d"),
        (lambda: BatchSampler([1], 0, False), ValueError, "batch_size"),
        (lambda: BatchSampler([1], 2.0, False), ValueError, "batch_size"),
        (lambda: BatchSampler([1], 2, 1), ValueError, "drop_last"),
        (lambda: DistributedSampler([1]), ValueError, "init_process_group"),
        (lambda: DistributedSampler([1], 2, 2), ValueError, "Invalid rank"),
        (lambda: iter(Sampler()), NotImplementedError, "__iter__"),
    ],
)
def test_errors(make, kind, text):
    with pytest.raises(kind, match=text):
        make()
