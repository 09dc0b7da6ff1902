"""Epochs that are resumed in the middle give the rest bit for bit: tables and streams, with and without workers."""

import itertools
import json
import random

import lamella
import numpy as np
import pytest
from lamella.utils.data import DataLoader, RandomSampler, Sampler, WeightedRandomSampler
from loaders import Counter, Drawn, Stream, plain

pytestmark = pytest.mark.usefixtures("nothing_left")
WORKERS = [0, 1, 3]
pytestmark = [pytestmark, pytest.mark.filterwarnings("ignore:This DataLoader will create")]


def interrupted(make, after, resumed=None):
    """Returns an epoch, its first part, and the rest, which another loader reads from the state as JSON."""
    lamella.manual_seed(21)
    loader = make()
    whole = plain(loader)
    second = plain(loader)
    lamella.manual_seed(21)
    loader = make()
    batches = iter(loader)
    first = plain(itertools.islice(batches, after))
    state = json.loads(json.dumps(loader.state_dict()))
    rng = lamella.get_rng_state()
    del batches, loader
    lamella.manual_seed(99)  # a new process would have another seed
    random.seed(99)
    loader = (resumed or make)()
    loader.load_state_dict(state)
    lamella.set_rng_state(rng)
    rest = plain(loader)
    assert first + rest == whole and len(first) == min(after, len(whole))
    if resumed is None:
        assert plain(loader) == second
    return whole


@pytest.mark.sweep
@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("after", [0, 3])
def test_tables(workers, after):
    interrupted(lambda: DataLoader(Drawn(), 4, shuffle=True, num_workers=workers), after)


@pytest.mark.sweep
@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("stream", [Stream, Counter])
def test_streams(workers, stream):
    whole = interrupted(lambda: DataLoader(stream(), 3, num_workers=workers), 4)
    assert sorted(n for numbers, _ in whole for n in numbers) == list(range(23))


def test_with_another_number_of_workers():
    interrupted(
        lambda: DataLoader(Drawn(), 4, shuffle=True),
        3,
        resumed=lambda: DataLoader(Drawn(), 4, shuffle=True, num_workers=2),
    )
    state = DataLoader(Stream(), 2, num_workers=2).state_dict()
    loader = DataLoader(Stream(), 2, num_workers=3)
    loader.load_state_dict(state)  # a state from outside of an epoch
    batches = iter(DataLoader(Stream(), 2))
    next(batches)
    running = batches._loader.state_dict()
    with pytest.raises(ValueError, match="of 0 workers"):
        loader.load_state_dict(running)


@pytest.mark.parametrize("after", [1, 5, 6])
def test_a_stateful_stream_is_not_read_again(after):
    stream = Counter()
    lamella.manual_seed(0)
    loader = DataLoader(stream, 4)
    batches = iter(loader)
    whole = plain(itertools.islice(batches, after))
    state = loader.state_dict()
    fresh = Counter()
    other = DataLoader(fresh, 4)
    other.load_state_dict(state)
    rest = iter(other)
    assert fresh.at == (4 * after if after < 6 else 0)  # else the stream has begun anew
    assert sum([b[0] for b in whole + plain(rest)], []) == list(range(23))


def generator():
    made = lamella.Generator()
    made.manual_seed(6)
    return made


class Lazy(Sampler):
    """Draws from the default generator during iteration."""

    def __iter__(self):
        for _ in range(20):
            yield int(lamella.randint(0, 23, ()))

    def __len__(self):
        return 20


class Outside(Lazy):
    """Draws from Python's and numpy's generators."""

    def __iter__(self):
        order = np.random.permutation(23)
        return iter(random.sample(order.tolist(), 20))


class Own(Lazy):
    """Has a state of its own."""

    def __init__(self):
        self.at = 0
        self.began = 0

    def __iter__(self):
        self.began += 1
        while self.at < 20:
            self.at += 1
            yield self.at - 1
        self.at = 0

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


@pytest.mark.sweep
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(
    "sampler",
    [
        lambda: RandomSampler(range(23), True, 20, generator()),
        lambda: WeightedRandomSampler(range(23), 20, generator=generator()),
        Lazy,
        Own,
    ],
    ids=["RandomSampler", "WeightedRandomSampler", "Lazy", "Own"],
)
def test_samplers(sampler, workers):
    interrupted(lambda: DataLoader(Drawn(), 3, sampler=sampler(), num_workers=workers), 2)


def test_a_sampler_that_draws_outside():
    random.seed(1)
    np.random.seed(1)
    loader = DataLoader(range(23), 3, sampler=Outside())
    batches = iter(loader)
    first = plain(itertools.islice(batches, 2))
    state = loader.state_dict()
    rest = plain(batches)
    random.seed(2)
    kept = random.getstate()
    other = DataLoader(range(23), 3, sampler=Outside())
    other.load_state_dict(state)
    assert plain(other) == rest and random.getstate() == kept and len(first) == 2


def test_out_of_order_and_persistent():
    def make():
        return DataLoader(range(40), 3, num_workers=2, in_order=False, persistent_workers=True)

    loader = make()
    batches = iter(loader)
    first = plain(itertools.islice(batches, 5))
    state = loader.state_dict()
    assert sorted(first + plain(batches)) == plain(DataLoader(range(40), 3))
    loader.load_state_dict(state)
    rest = plain(loader)
    assert sorted(first + rest) == plain(DataLoader(range(40), 3))
    alone = DataLoader(range(40), 3)
    alone.load_state_dict(state)
    assert sorted(first + plain(alone)) == plain(DataLoader(range(40), 3))
    del loader, batches


def test_after_an_epoch_and_before_one():
    loader = DataLoader(range(10), 3, shuffle=True, generator=generator())
    before = loader.state_dict()
    first = plain(loader)
    between = loader.state_dict()
    second = plain(loader)
    assert before["epoch"] is None and between["epoch"] is None
    other = DataLoader(range(10), 3, shuffle=True, generator=lamella.Generator())
    other.load_state_dict(between)
    assert other.state_dict() == between and plain(other) == second
    other.load_state_dict(before)
    assert plain(other) == first


def test_states_that_do_not_fit():
    loader = DataLoader(range(10), 3)
    state = loader.state_dict()
    for wrong, text in [
        ({}, "no state"),
        (None, "no state"),
        ({**state, "version": 9}, "version"),
        ({**state, "length": 11}, "length 11, and the dataset is a table of length 10"),
        ({**state, "kind": "stream"}, "stream"),
        ({**state, "generators": [(1, 0)]}, "generators"),
    ]:
        with pytest.raises(ValueError, match=text):
            loader.load_state_dict(wrong)
    batches = iter(loader)
    list(itertools.islice(batches, 3))
    late = DataLoader(range(10), batch_sampler=[[0], [1]])
    late.load_state_dict({**loader.state_dict(), "order": late.state_dict()["order"]})
    with pytest.raises(RuntimeError, match="after 3 batches, and the sampler has 2"):
        iter(late)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "options, text",
    [
        ({"batch_size": 5}, "batch_size=2, and the loader has batch_size=5"),
        ({"batch_size": None}, "batch_size=2, and the loader has batch_size=None"),
        ({"drop_last": True}, "drop_last=False, and the loader has drop_last=True"),
        ({"shuffle": True}, "sampler=SequentialSampler, and the loader has sampler=RandomSampler"),
        ({"sampler": [1, 2]}, "sampler=SequentialSampler, and the loader has sampler=list"),
        ({"batch_size": 1, "batch_sampler": [[1, 2]]}, "batch_size=2, and the loader has batch_size=None"),
    ],
)
def test_another_order_is_refused_within_an_epoch(options, text):
    loader = DataLoader(range(10), 2)
    before = loader.state_dict()
    batches = iter(loader)
    next(batches)
    other = DataLoader(range(10), **{"batch_size": 2, **options})
    with pytest.raises(ValueError, match=text):
        other.load_state_dict(loader.state_dict())
    untouched = plain(other)
    other.load_state_dict(before)  # a state from between epochs resumes nothing
    assert plain(other) == untouched or "shuffle" in options
    stream = DataLoader(Stream(), 2)
    batches = iter(stream)
    next(batches)
    with pytest.raises(ValueError, match="batch_size=2, and the loader has batch_size=3"):
        DataLoader(Stream(), 3).load_state_dict(stream.state_dict())
