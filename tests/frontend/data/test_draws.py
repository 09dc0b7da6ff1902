"""Random numbers of datasets: separate streams, by any generator, which do not affect the rest of the program."""

import functools
import itertools
import random
import threading

import lamella
import numpy as np
import pytest
from lamella.utils.data import DataLoader, Dataset, IterableDataset, Sampler, StackDataset, Subset, TensorDataset
from lamella.utils.data._utils import outside
from loaders import plain

pytestmark = pytest.mark.usefixtures("nothing_left")
SECONDS = 30


@pytest.fixture(autouse=True)
def kept():
    state = lamella.get_rng_state()
    with outside.kept():
        yield
    lamella.set_rng_state(state)


class Everywhere(Dataset):
    """Each sample draws by Lamella, Python and numpy."""

    def __len__(self):
        return 14

    def __getitem__(self, index):
        return index, float(lamella.rand(())), random.random(), np.random.randn()


class Parts(IterableDataset):
    """A stream of the same samples, for one worker."""

    def __iter__(self):
        return map(Everywhere().__getitem__, range(14))


def epoch(dataset=None, workers=0, **options):
    lamella.manual_seed(4)
    return plain(DataLoader(dataset or Everywhere(), 3, num_workers=workers, **options))


@pytest.mark.parametrize("dataset", [Everywhere, Parts])
def test_the_numbers_of_all_generators_are_those_of_the_batch(dataset):
    wanted = epoch(dataset())
    for k in (1, 2, 3):
        drawn = [x for batch in wanted for x in batch[k]]
        assert len(set(drawn)) == len(drawn) == 14
    random.seed(8)
    np.random.seed(8)
    assert epoch(dataset()) == wanted == epoch(dataset(), 1)
    if dataset is Everywhere:
        assert epoch(workers=2, persistent_workers=True) == wanted


class Batches(Everywhere):
    """Whole batches that draw by Lamella, Python and numpy."""

    def __getbatch__(self, indices):
        rows = zip(*(self[index] for index in indices), strict=True)
        return [lamella.tensor(row) for row in rows]


@pytest.mark.parametrize(
    "dataset", [Batches(), Subset(Batches(), range(14)), StackDataset(TensorDataset(lamella.arange(14)), Everywhere())]
)
def test_whole_batches_draw_the_numbers_of_the_batch(dataset):
    wanted = epoch(dataset)
    random.seed(8)
    np.random.seed(8)
    assert epoch(dataset) == wanted == epoch(dataset, 2)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_resumed_epoch_draws_them_again(workers):
    wanted = epoch()
    lamella.manual_seed(4)
    loader = DataLoader(Everywhere(), 3, num_workers=workers)
    batches = iter(loader)
    first = plain(itertools.islice(batches, 2))
    other = DataLoader(Everywhere(), 3, num_workers=workers)
    other.load_state_dict(loader.state_dict())
    assert first + plain(other) == wanted
    del batches


@pytest.mark.parametrize("count", [0, 1, 2, 623, 1301])
def test_the_program_goes_on_with_its_own_numbers(count):
    random.seed(1)
    np.random.seed(1)
    np.random.standard_normal(count)  # an odd number of draws leaves one number for the next draw
    random.gauss(0, 1)
    before = outside.states()
    epoch()
    assert outside.states() == before
    with pytest.raises(ZeroDivisionError):
        epoch(collate_fn=lambda batch: 1 / 0)
    assert outside.states() == before


def test_another_generator_of_numpy():
    before = np.random.mtrand._rand._bit_generator
    if not hasattr(np.random, "set_bit_generator"):
        return
    np.random.set_bit_generator(np.random.PCG64(3))
    try:
        state = np.random.get_state(legacy=False)
        with outside.kept():
            np.random.standard_normal(3)
        assert np.random.get_state(legacy=False) == state
    finally:
        np.random.set_bit_generator(before)


def test_what_an_init_fn_seeds_goes_on():
    def init(number):
        random.seed(5)
        np.random.seed(6)

    batches = epoch(workers=1, worker_init_fn=init)
    own, numpys = random.Random(5), np.random.RandomState(6)
    assert [x for b in batches for x in b[2]] == [own.random() for _ in range(14)]
    assert [x for b in batches for x in b[3]] == [numpys.randn() for _ in range(14)]
    assert [b[1] for b in batches] == [b[1] for b in epoch()]


class Forked(IterableDataset):
    """A stream that seeds a copy of the generator and draws from that."""

    def __iter__(self):
        with lamella.random.fork_rng():
            lamella.manual_seed(20)
            for k in range(10):
                yield k, float(lamella.rand(()))


@pytest.mark.parametrize("workers", [0, 1])
def test_a_stream_keeps_its_own_block_from_batch_to_batch(workers):
    wanted = lamella.rand(40, generator=lamella.Generator().manual_seed(20))[::4].tolist()  # four words a draw
    lamella.manual_seed(4)
    loader = DataLoader(Forked(), 3, num_workers=workers)
    lamella.manual_seed(5)
    own, drawn, got = lamella.Generator().manual_seed(5), [], []
    batches = iter(loader)
    lamella.manual_seed(5)
    for batch in batches:
        got += batch[1].tolist()
        drawn.append(float(lamella.rand(())))  # between batches the program draws from its own generator
    assert got == wanted
    assert drawn == [float(lamella.rand((), generator=own)) for _ in drawn]


def test_an_epoch_that_is_left_gives_the_generator_back():
    loader = DataLoader(Forked(), 3)
    for kept in [iter(loader), iter(loader)]:
        next(kept)
        lamella.manual_seed(6)
        assert lamella.default_generator().get_state() == (6, 0)
    del kept
    lamella.manual_seed(7)
    assert lamella.initial_seed() == 7 == lamella.default_generator().initial_seed()
    with lamella.random.fork_rng():
        pass
    assert lamella.get_rng_state() == (7, 0)


class Gated(Dataset):
    """A sample blocks until the test releases it."""

    def __init__(self):
        self.inside, self.open = threading.Event(), threading.Event()

    def __len__(self):
        return 4

    def __getitem__(self, index):
        self.inside.set()
        assert self.open.wait(SECONDS)
        return index, float(lamella.rand(())), random.random(), np.random.rand()


def in_thread(function):
    """Starts a thread; the returned function waits for its value."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()

    def result():
        thread.join(SECONDS)
        assert not thread.is_alive()
        return found[0]

    return result


def test_a_batch_in_another_thread_has_nothing_to_do_with_this_one():
    gate = Gated()
    lamella.manual_seed(4)
    wanted = [b[:2] for b in epoch()][:1]
    lamella.manual_seed(4)
    result = in_thread(lambda: plain(DataLoader(gate, 3)))
    assert gate.inside.wait(SECONDS)
    lamella.manual_seed(123)  # the end of the batch does not undo this
    random.seed(7)
    np.random.seed(7)
    drawn = lamella.rand(3).tolist(), random.random(), np.random.rand()
    gate.open.set()
    batches = result()
    assert [b[:2] for b in batches][:1] == wanted
    assert lamella.get_rng_state() == (123, 4)
    lamella.manual_seed(123)
    # In a thread, a dataset draws from Python's and numpy's own generators, which are global.
    own, numpys = random.Random(7), np.random.RandomState(7)
    assert drawn == (lamella.rand(3).tolist(), own.random(), numpys.rand())
    assert [x for b in batches for x in b[2]] == [own.random() for _ in range(4)]
    assert [x for b in batches for x in b[3]] == [numpys.rand() for _ in range(4)]


def test_loaders_of_several_threads_and_the_numbers_of_the_program():
    class Busy(Dataset):
        def __len__(self):
            return 200

        def __getitem__(self, index):
            return lamella.rand(())

    lamella.manual_seed(7)
    wanted = lamella.rand(200).tolist()
    results = [in_thread(lambda: len(plain(DataLoader(Busy(), 4, generator=lamella.Generator())))) for _ in range(3)]
    lamella.manual_seed(7)
    drawn = [float(lamella.rand(())) for _ in range(200)]
    assert [result() for result in results] == [50] * 3
    assert lamella.get_rng_state() == (7, 800)
    lamella.manual_seed(7)
    assert drawn == [float(lamella.rand(())) for _ in range(200)] and drawn[0] == wanted[0]


def test_a_dataset_that_seeds_in_another_thread_seeds_its_own_numbers():
    class Seeding(Gated):
        def __getitem__(self, index):
            if index == 0:
                lamella.manual_seed(9)
            return super().__getitem__(index)

    gate = Seeding()
    lamella.manual_seed(3)
    result = in_thread(lambda: plain(DataLoader(gate, 2, generator=lamella.Generator())))
    assert gate.inside.wait(SECONDS)
    assert lamella.get_rng_state() == (3, 0)
    gate.open.set()
    drawn = sum([b[1] for b in result()], [])
    assert lamella.get_rng_state() == (3, 0)
    lamella.manual_seed(9)
    assert drawn == [float(lamella.rand(())) for _ in range(4)]  # in each later batch


class Lazy(Sampler):
    """Draws each index from the default generator."""

    def __iter__(self):
        for _ in range(40):
            yield int(lamella.randint(0, 14, ()))

    def __len__(self):
        return 40


def test_a_sampler_in_the_thread_that_pins():
    lamella.manual_seed(4)
    wanted = plain(DataLoader(range(14), 2, sampler=Lazy()))
    lamella.manual_seed(4)
    batches = iter(DataLoader(range(14), 2, sampler=Lazy(), num_workers=1))
    batches._start_pinning(functools.partial(lambda data: data))
    lamella.manual_seed(5)
    drawn = []
    got = [(drawn.append(float(lamella.rand(()))), batch.tolist())[1] for batch in batches]
    assert got == wanted
    lamella.manual_seed(5)
    assert drawn == [float(lamella.rand(())) for _ in drawn]
    del batches
