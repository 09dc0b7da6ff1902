"""Collating and converting equal stacks made by numpy; both can be extended by type."""

import collections
import dataclasses

import lamella
import numpy as np
import pytest
from lamella.utils.data import DataLoader, default_collate, default_convert
from lamella.utils.data._utils.collate import collate, default_collate_fn_map, is_untouched

Point = collections.namedtuple("Point", ["x", "y"])


@pytest.mark.parametrize("kind", ["float32", "int64", "bool", "complex64", "uint8", "float16"])
def test_arrays_and_tensors(kind):
    arrays = [np.arange(6).reshape(2, 3).astype(kind) + np.array(k).astype(kind) for k in range(3)]
    for batch in (arrays, [lamella.from_numpy(a) for a in arrays], [a[::-1] for a in arrays]):
        made = default_collate(batch)
        wanted = np.stack([np.asarray(b) for b in batch])
        assert str(made.dtype) == f"lamella.{kind}" and np.array_equal(made.numpy(), wanted)


@pytest.mark.parametrize(
    "batch, wanted",
    [
        ([1, 2], lamella.tensor([1, 2])),
        ([1.5, 2.5], lamella.tensor([1.5, 2.5], dtype=lamella.float64)),
        ([True, False], lamella.tensor([True, False])),
        ([np.float32(1), np.float32(2)], lamella.tensor([1.0, 2.0])),
        ([np.int16(1)], lamella.tensor([1], dtype=lamella.int16)),
    ],
)
def test_numbers(batch, wanted):
    made = default_collate(batch)
    assert made.dtype == wanted.dtype and lamella.equal(made, wanted)


def test_containers():
    assert default_collate(["a", "b"]) == ["a", "b"] and default_collate([b"a"]) == [b"a"]
    point = default_collate([Point(1, "a"), Point(2, "b")])
    assert type(point) is Point and point.x.tolist() == [1, 2] and point.y == ("a", "b")
    pair = default_collate([(1, 2.0), (3, 4.0)])
    assert type(pair) is list and pair[0].tolist() == [1, 3]
    ordered = default_collate([collections.OrderedDict(a=1, b=[2]), collections.OrderedDict(a=3, b=[4])])
    assert type(ordered) is collections.OrderedDict and ordered["b"][0].tolist() == [2, 4]
    default = default_collate([collections.defaultdict(int, a=1)])
    assert default.default_factory is int and default["a"].tolist() == [1]
    assert default_collate([range(2), range(2)])[1].tolist() == [1, 1]


def test_errors():
    @dataclasses.dataclass
    class Record:
        x: int

    with pytest.raises(TypeError, match="Record"):
        default_collate([Record(1)])
    with pytest.raises(TypeError, match="<U1"):
        default_collate([np.array(["a"])])
    with pytest.raises(RuntimeError, match="equal size"):
        default_collate([[1], [1, 2]])
    with pytest.raises(RuntimeError, match="position 1"):
        default_collate([lamella.ones(2), lamella.ones(3)])
    with pytest.raises(KeyError):
        default_collate([{"a": 1}, {"b": 1}])


def test_extended_by_type(monkeypatch):
    class Text(str):
        pass

    def lengths(batch, *, collate_fn_map=None):
        return collate([len(text) for text in batch], collate_fn_map=collate_fn_map)

    monkeypatch.setitem(default_collate_fn_map, Text, lengths)
    assert default_collate([Text("ab"), Text("c")]).tolist() == [2, 1]
    assert default_collate(["ab"]) == ["ab"]
    assert collate([1, 2], collate_fn_map={(int, float): lambda batch, collate_fn_map: sum(batch)}) == 3
    assert is_untouched()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(default_collate_fn_map, float, len)
        assert not is_untouched()
    monkeypatch.setitem(default_collate_fn_map, lamella.Tensor, lambda batch, *, collate_fn_map=None: len(batch))
    dataset = lamella.utils.data.TensorDataset(lamella.ones(3))
    assert list(DataLoader(dataset, 3)) == [[3]]


def test_convert():
    made = default_convert(
        {"a": np.ones(2, np.float32), "b": (1, np.float64(2)), "c": Point(np.int8(1), "x"), "d": "t"}
    )
    assert lamella.equal(made["a"], lamella.ones(2)) and made["b"][0] == 1 and made["b"][1].dtype == lamella.float64
    assert made["c"].x.dtype == lamella.int8 and made["c"].y == "x" and made["d"] == "t"
    assert default_convert([np.array(["a"])])[0].dtype.kind == "U"
