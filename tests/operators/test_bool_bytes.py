"""Bools whose bytes are not 0 or 1: every byte but 0 is true, whichever way it came into the memory (decision 0047)."""

import ctypes
import io

import lamella
import numpy as np
import pytest
from catalogue import SAMPLED, array, flat, run, tensors
from lamella.operators import samples

MEMORY = ("empty", "view.dtype", "view_copy.dtype")  # results that are the memory itself


def with_other_bytes(t) -> bool:
    """Replaces the bytes of a bool tensor's whole storage that are 1 by others but 0; returns whether there are any."""
    storage = t.storage()
    if not storage.nbytes():
        return False
    memory = np.frombuffer((ctypes.c_char * storage.nbytes()).from_address(storage.data_ptr()), np.uint8)
    true = memory != 0
    memory[...] = np.where(true, 2 + np.arange(memory.size) * 37 % 254, 0)
    return bool(true.any())


def values(result) -> list:
    """Returns dtypes and elements of results; of bools whether their bytes are 0."""
    found = []
    for r in flat(result):
        if isinstance(r, lamella.Tensor) and r.dtype == lamella.bool:
            found.append(("bool", (r.contiguous().view(lamella.uint8).numpy() != 0).tobytes()))
        else:
            name, elements = array(r)
            found.append((name, elements.tobytes()))
    return found


def byte_faults(sample) -> list[str]:
    """A call must give the same values, bit by bit, with other bytes in its bools; oracles check those with 0 and 1."""
    wanted, built = values(run(sample)), sample.build()
    if not any([with_other_bytes(t) for t in tensors(built) if t.dtype == lamella.bool]):
        return []
    return [] if values(run(sample, built=built)) == wanted else [f"{sample}: other values"]


def of_bools(operator) -> list:
    return [s for s in samples.of(operator) if any(spec.dtype == "bool" for spec in s.specs())]


OF_BOOLS = [t for t in SAMPLED if of_bools(t) and not t.startswith(MEMORY)]


@pytest.mark.sweep
@pytest.mark.parametrize("operator", OF_BOOLS)
def test_every_operator(operator):
    found = [fault for s in of_bools(operator) for fault in byte_faults(s)]
    assert not found, "\n".join(found[:6])


BYTES = [0, 1, 2, 255]


class Exporter:
    """Another library's tensor of bools, by DLPack."""

    def __init__(self):
        self.array = np.array(BYTES, np.uint8).view(bool)

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def over_the_storage():
    held = lamella.tensor(BYTES, dtype=lamella.uint8)
    return lamella.empty(0, dtype=lamella.bool).set_(held.untyped_storage(), 0, (4,))


def from_a_file():
    file = io.BytesIO()
    lamella.save(lamella.tensor(BYTES, dtype=lamella.uint8).view(lamella.bool), file)
    return lamella.load(io.BytesIO(file.getvalue()))


WAYS = {
    "view": lambda: lamella.tensor(BYTES, dtype=lamella.uint8).view(lamella.bool),
    "a strided view": lambda: lamella.tensor([[b, 7] for b in BYTES], dtype=lamella.uint8).view(lamella.bool)[:, 0],
    "from_numpy": lambda: lamella.from_numpy(np.array(BYTES, np.uint8).view(bool)),
    "tensor": lambda: lamella.tensor(np.array(BYTES, np.uint8).view(bool)),
    "asarray": lambda: lamella.asarray(np.array(BYTES, np.uint8).view(bool)),
    "frombuffer": lambda: lamella.frombuffer(bytearray(BYTES), dtype=lamella.bool),
    "from_dlpack": lambda: lamella.from_dlpack(Exporter()),
    "set_": over_the_storage,
    "load": from_a_file,
}


@pytest.mark.parametrize("way", WAYS)
def test_ways_in(way):
    m, x = WAYS[way](), lamella.tensor([1.0, 2.0, 3.0, 4.0])
    assert m.dtype == lamella.bool
    assert m.sum() == 3 and m.count_nonzero() == 3 and m.to(lamella.uint8).tolist() == [0, 1, 1, 1]
    assert m.to(lamella.float16).tolist() == [0, 1, 1, 1] and m.to(lamella.complex64).tolist() == [0, 1, 1, 1]
    assert (~m).tolist() == [True, False, False, False] and (~m).any() and not (~m).all()
    assert (m == True).tolist() == [False, True, True, True]  # noqa: E712
    assert (m ^ True).tolist() == [True, False, False, False] and (m & m).tolist() == [False, True, True, True]
    assert (~(m & m)).tolist() == [True, False, False, False] and (m.logical_not() | m).all()
    assert x[m].tolist() == [2, 3, 4] and x.masked_fill(m, 0).tolist() == [1, 0, 0, 0]
    assert lamella.where(m, 1, 0).tolist() == [0, 1, 1, 1] and lamella.where(m, x, -x).tolist() == [-1, 2, 3, 4]
    assert m.unique().tolist() == [False, True]
    assert m.sort(descending=True, stable=True).indices.tolist() == [1, 2, 3, 0]
    assert m.max(0).indices == 1 and m.cumsum(0).tolist() == [0, 1, 2, 3] and m[3].item() is True
    assert lamella.equal(m, lamella.tensor([False, True, True, True])) and m.prod() == 0 and m[1:].prod() == 1


def test_a_shared_buffer_is_read_as_it_is_now():
    memory = bytearray(4)
    m = lamella.frombuffer(memory, dtype=lamella.bool)
    assert m.sum() == 0
    memory[:] = bytes(BYTES)
    assert m.sum() == 3 and (~m).tolist() == [True, False, False, False]


def test_many():
    """Long rows, which go through vectors: numpy counts the bytes."""
    generator = np.random.default_rng(7)
    raw = (generator.integers(0, 256, (300, 301)) * generator.integers(0, 2, (300, 301))).astype(np.uint8)
    m, true = lamella.tensor(raw).view(lamella.bool), raw != 0
    for t, a in ((m, true), (m.t(), true.T), (m[:, ::3], true[:, ::3])):
        assert t.sum() == a.sum() and t.count_nonzero() == a.sum() and (~t).sum() == (~a).sum()
        np.testing.assert_array_equal(t.sum(0).numpy(), a.sum(0))
        np.testing.assert_array_equal(t.sum(1).numpy(), a.sum(1))
        np.testing.assert_array_equal((t ^ ~t).numpy(), np.ones_like(a))
        np.testing.assert_array_equal(t.to(lamella.float32).numpy(), a.astype(np.float32))
        np.testing.assert_array_equal(lamella.where(t, 5, 7).numpy(), np.where(a, 5, 7))
        np.testing.assert_array_equal(t.int().argmax(1).numpy(), a.argmax(1))
        np.testing.assert_array_equal(t.cumsum(1).numpy(), a.cumsum(1))
        np.testing.assert_array_equal(t.nonzero().numpy(), np.argwhere(a))
