"""Names of tensors in a checkpoint, for containers that occur twice and keys with dots."""

import collections
import io

import lamella
import pytest
from lamella import serialization


def saved(obj, **how):
    file = io.BytesIO()
    lamella.save(obj, file, **how)
    file.seek(0)
    return file


def test_a_container_that_is_there_twice_gives_two_names():
    sd = {"x": lamella.ones(1), "deep": [lamella.zeros(2), (lamella.zeros(3),)]}
    ordered = collections.OrderedDict(w=lamella.ones(4))
    ordered._metadata = {"": {"version": [1]}}  # these containers are counted too
    obj = [{"a": 1, "s": {1, 2}, "none": (), (1, 2): [lamella.ones(5)]}, ordered, {"a": sd, "b": sd}, sd]
    names = serialization.list_tensors(saved(obj))
    within = {"x": (1,), "deep.0": (2,), "deep.1.0": (3,)}
    expected = {f"{at}.{name}": size for at in ("2.a", "2.b", "3") for name, size in within.items()}
    assert {name: tuple(size) for name, (_, size) in names.items()} == {**expected, "1.w": (4,)}
    found = lamella.load(saved(obj), tensors=["2.b.deep.1.0", "3.x"])
    assert found["2.b.deep.1.0"].shape == (3,) and found["3.x"].tolist() == [1]


def test_two_tensors_of_one_name():
    one = lamella.ones(1)
    obj = {"a.b": lamella.zeros(1), "a": {"b": one}, "c.d": one, "c": {"d": one}}
    with pytest.raises(KeyError, match="two tensors of the name 'a.b'"):
        lamella.load(saved(obj), tensors=["a.b"])
    assert lamella.load(saved(obj), tensors=["c.d"])["c.d"].tolist() == [1]
    assert set(serialization.list_tensors(saved(obj))) == {"a.b", "c.d"}


def test_containers_that_double():
    obj = [lamella.ones(1)]
    for _ in range(60):
        obj = [obj, obj]
    file = saved(obj)
    with pytest.raises(serialization.CheckpointError, match="refer to each other"):
        serialization.list_tensors(file)
    file.seek(0)
    lamella.load(file)


def test_files_of_torch_have_no_list():
    with pytest.raises(ValueError, match="one of torch"):
        serialization.list_tensors(saved([lamella.ones(1)], format="torch"))
