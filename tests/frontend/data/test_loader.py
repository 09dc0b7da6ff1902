"""The loader without workers: options, lengths, order, generators, streams."""

import copy
import pickle
import warnings

import lamella
import numpy as np
import pytest
from lamella.utils.data import BatchSampler, DataLoader, IterableDataset, SequentialSampler, TensorDataset
from loaders import Drawn, Stream, plain


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("size", [1, 3, 7, 30])
def test_batches_in_order(size, drop):
    loader = DataLoader(range(23), size, drop_last=drop)
    wanted = np.split(np.arange(23), range(size, 23, size))
    wanted = [w.tolist() for w in wanted if not drop or len(w) == size]
    assert plain(loader) == wanted == plain(loader) and len(loader) == len(wanted)


def test_without_batches():
    assert list(DataLoader(["a", "b"], batch_size=None)) == ["a", "b"]
    lists = DataLoader(Indexed(), batch_size=None, sampler=BatchSampler(SequentialSampler(range(5)), 2, False))
    assert plain(lists) == [[0, 10], [20, 30], [40]]


class Indexed:
    def __getitem__(self, index):
        return np.array(index) * 10

    def __len__(self):
        return 5


def test_shuffled_orders_follow_the_seed():
    def epochs(generator=None):
        loader = DataLoader(range(30), 4, shuffle=True, generator=generator)
        return plain(loader), plain(loader)

    lamella.manual_seed(1)
    first, second = epochs()
    lamella.manual_seed(1)
    assert epochs() == (first, second) and first != second
    assert sorted(sum(first, [])) == list(range(30))
    own = lamella.Generator()
    own.manual_seed(2)
    state = lamella.get_rng_state()
    third, _ = epochs(own)
    assert lamella.get_rng_state() == state
    own.manual_seed(2)
    assert epochs(own)[0] == third


def test_samples_leave_the_numbers_of_the_program_alone():
    lamella.manual_seed(5)
    batches = iter(DataLoader(Drawn(), 2))
    state = lamella.get_rng_state()
    drawn = [batch["drawn"] for batch in batches]
    assert lamella.get_rng_state() == state
    assert len({tuple(d.flatten().tolist()) for d in drawn}) == len(drawn)


def test_a_dataset_that_seeds_itself_keeps_its_seed():
    class Seeded(IterableDataset):
        def __iter__(self):
            lamella.manual_seed(7)
            for _ in range(6):
                yield lamella.rand(())

    lamella.manual_seed(7)
    wanted = [lamella.rand(()).item() for _ in range(6)]
    assert sum(plain(DataLoader(Seeded(), 2)), []) == wanted


def test_streams():
    assert [b[0].tolist() for b in DataLoader(Stream(5), 2)] == [[0, 1], [2, 3], [4]]
    assert [b[0].tolist() for b in DataLoader(Stream(5), 2, drop_last=True)] == [[0, 1], [2, 3]]
    assert [n for n, _ in DataLoader(Stream(3), None)] == [0, 1, 2]
    with pytest.raises(TypeError):
        len(DataLoader(Stream(5), 2))


def test_a_stream_that_is_longer_than_it_tells():
    class Liar(Stream):
        def __len__(self):
            return 4

    loader = DataLoader(Liar(6), 2)
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="reported to be 2.*3 samples have been fetched"):
        list(loader)


@pytest.mark.parametrize(
    "options, kind, text",
    [
        ({"num_workers": -1}, ValueError, "num_workers"),
        ({"timeout": -1}, ValueError, "timeout"),
        ({"prefetch_factor": 2}, ValueError, "prefetch_factor"),
        ({"prefetch_factor": 0, "num_workers": 1}, ValueError, "prefetch_factor"),
        ({"persistent_workers": True}, ValueError, "persistent_workers"),
        ({"shuffle": True, "sampler": [0]}, ValueError, "mutually exclusive"),
        ({"batch_sampler": [[0]], "batch_size": 2}, ValueError, "mutually exclusive"),
        ({"batch_size": None, "drop_last": True}, ValueError, "drop_last"),
        ({"batch_size": 0}, ValueError, "batch_size"),
        ({"multiprocessing_context": "fork"}, ValueError, "num_workers"),
        ({"multiprocessing_context": "thread", "num_workers": 1}, ValueError, "start method"),
        ({"multiprocessing_context": 1, "num_workers": 1}, TypeError, "context"),
    ],
)
def test_options_that_are_refused(options, kind, text):
    with pytest.raises(kind, match=text):
        DataLoader(range(3), **options)


@pytest.mark.parametrize("options", [{"shuffle": True}, {"sampler": [0]}, {"batch_sampler": [[0]]}])
def test_streams_have_an_order(options):
    with pytest.raises(ValueError, match="IterableDataset"):
        DataLoader(Stream(), **options)


def test_attributes():
    loader = DataLoader(range(3))
    with pytest.raises(ValueError, match="batch_size attribute"):
        loader.batch_size = 2
    loader.num_workers = 0
    with pytest.raises(NotImplementedError):
        lamella.utils.data.IterDataPipe()
    with (
        pytest.warns(UserWarning, match="no accelerator")
        if not lamella.accelerator.is_available()
        else (warnings.catch_warnings())
    ):
        assert plain(DataLoader(range(3), 3, pin_memory=True)) == [[0, 1, 2]]


def test_a_dataset_that_shrinks():
    class Shrinking(list):
        def __getitem__(self, index):
            self.pop()
            return super().__getitem__(index)

    with pytest.raises(IndexError, match="changed its length: it had 6 samples .* and has 2"):
        list(DataLoader(Shrinking(range(6)), 2))


def test_dataset_with_gradients():
    x = lamella.ones(4, 2, requires_grad=True)
    (batch,) = next(iter(DataLoader(TensorDataset(x), 4)))
    batch.sum().backward()
    assert lamella.equal(x.grad, lamella.ones(4, 2))


@pytest.mark.parametrize("workers", [0, 1])
def test_an_iterator_that_has_ended_stays_so(workers):
    batches = iter(DataLoader(range(4), 2, num_workers=workers))
    assert len(list(batches)) == 2
    assert next(batches, "end") == "end" == next(batches, "end")


@pytest.mark.parametrize("workers", [0, 1])
def test_a_loader_that_was_iterated_is_pickled(workers):
    loader = DataLoader(range(4), 2, num_workers=workers, persistent_workers=workers > 0)
    first = plain(loader)
    assert plain(pickle.loads(pickle.dumps(loader))) == first == plain(copy.deepcopy(loader))


class Interrupted:
    """SIGINT arrives during the first read of sample 5."""

    came = False

    def __len__(self):
        return 10

    def __getitem__(self, index):
        if index == 5 and not self.came:
            self.came = True
            raise KeyboardInterrupt
        return index


def test_a_batch_that_was_interrupted_is_still_to_come():
    dataset = Interrupted()
    loader, seen = DataLoader(dataset, 2), []
    with pytest.raises(KeyboardInterrupt):
        seen.extend(batch.tolist() for batch in loader)
    again = DataLoader(dataset, 2)
    again.load_state_dict(loader.state_dict())
    assert seen + plain(again) == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]


class Shared(IterableDataset):
    """A stream that knows its length, and of which each worker reads its part."""

    def __len__(self):
        return 8

    def __iter__(self):
        info = lamella.utils.data.get_worker_info()
        yield from range(info.id, 8, info.num_workers) if info else range(8)


class Whole(Shared):
    """Each worker reads all of it, which is a mistake."""

    def __iter__(self):
        yield from range(8)


@pytest.mark.parametrize("workers", [0, 2, 3])
@pytest.mark.parametrize("size, drop", [(None, False), (1, False), (4, False), (3, True)])
def test_streams_that_workers_share(workers, size, drop):
    """The last batches of several workers may be smaller, so that there are more than len() says: no warning."""
    loader = DataLoader(
        Shared(), size, num_workers=workers, drop_last=drop, multiprocessing_context="fork" if workers else None
    )
    assert len(loader) == (8 if size is None else 8 // size if drop else -(-8 // size))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*worker processes in total")
        got = sorted(int(x) for batch in loader for x in lamella.as_tensor(batch).view(-1))
    assert drop or got == list(range(8))


def test_streams_that_every_worker_reads_whole():
    loader = DataLoader(Whole(), 2, num_workers=2)
    assert len(loader) == 4
    with pytest.warns(UserWarning, match="reported to be 4"):
        assert sum(1 for _ in loader) == 8
