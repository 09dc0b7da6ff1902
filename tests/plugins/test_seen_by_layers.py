"""Layers see each change of a tensor's sizes or memory in place, each conversion, and each exit of values."""

from contextlib import closing

import lamella
import numpy as np
import pytest
from lamella.library import Library


@pytest.fixture
def recorder():
    """Returns a layer that records the calls of the thread, and the list of (operator, arguments, keywords)."""
    calls = []

    def record(call, *args, **kwargs):
        calls.append((call.name.removeprefix("aten::"), args, kwargs))
        return lamella.arange(2.0) if call.name == "aten::_materialize" else call(*args, **kwargs)

    with closing(Library("recording", "FRAGMENT")) as lib:
        yield lib.register_layer("recorder", record, never_on_tensors=True), calls


ONES = lamella.ones(3, 1)


def opaque():
    return lamella._C._opaque(lamella.float32, [2], [1], "cpu")


def set_data(x):
    x.data = lamella.ones(3)


CHANGES = {  # operator: a call that changes a tensor of shape (2, 3)
    "t_": lambda x: x.t_(),
    "transpose_": lambda x: x.transpose_(0, 1),
    "swapaxes_": lambda x: x.swapaxes_(0, 1),
    "swapdims_": lambda x: x.swapdims_(0, 1),
    "squeeze_": lambda x: x.squeeze_(),
    "unsqueeze_": lambda x: x.unsqueeze_(1),
    "as_strided_": lambda x: lamella.as_strided_(x, (2, 2), (3, 1), 1),
    "resize_": lambda x: x.resize_(2, 2),
    "resize_as_": lambda x: lamella.resize_as_(x, ONES),
    "set_": lambda x: x.set_(ONES),
    "set_data": set_data,
}
CONVERSIONS = {
    "to a dtype": ("to", lambda x: x.to(lamella.float64)),
    "to another tensor's": ("to", lambda x: x.to(lamella.ones(1, dtype=lamella.float64))),
    "float": ("to", lambda x: x.double()),
    "type_as": ("to", lambda x: x.type_as(lamella.ones(1, dtype=lamella.float64))),
    "cpu": ("to", lambda x: x.cpu()),
}
EXITS = {
    "item": ("item", lambda x: x.sum().item()),
    "float": ("item", lambda x: float(x.sum())),
    "int": ("item", lambda x: int(x.sum())),
    "bool": ("item", lambda x: bool(x.sum())),
    "is_nonzero": ("is_nonzero", lambda x: x.sum().is_nonzero()),
    "equal": ("equal", lambda x: lamella.equal(x, x)),
    "equal of other sizes": ("equal", lambda x: x.equal(ONES)),
    "tolist": ("_materialize", lambda x: opaque().tolist()),
    "numpy": ("_materialize", lambda x: opaque().numpy()),
    "repr": ("_materialize", lambda x: repr(opaque())),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_in_place(recorder, name):
    layer, calls = recorder
    x = lamella.arange(6.0).view(2, 3)
    with layer.on():
        CHANGES[name](x)
    name = "transpose_" if name == "swapdims_" else name  # an alias is the operator that it stands for
    assert calls[-1][0] == name and calls[-1][1][0] is x
    assert [n for n, *_ in calls if n != name] == (["ones"] if name == "set_data" else [])


@pytest.mark.parametrize("name", [*CONVERSIONS, *EXITS])
def test_conversions_and_exits(recorder, name):
    layer, calls = recorder
    operator, call = (CONVERSIONS | EXITS)[name]
    with layer.on():
        call(lamella.arange(6.0).view(2, 3))
    assert operator in [n for n, *_ in calls]


def test_what_leaves_an_opaque_tensor(recorder):
    layer, _ = recorder
    with layer.on():
        assert opaque().tolist() == [0, 1]
        np.testing.assert_array_equal(opaque().numpy(), np.arange(2, dtype=np.float32))


def described(x):
    return x.shape, x.stride(), x.storage_offset(), x.tolist()


def test_a_record_gives_the_same_tensor(recorder):
    """The recorded calls, made with a second tensor, give its sizes, strides, offset and elements."""
    layer, calls = recorder
    x, y, other = lamella.arange(12.0).view(3, 4), lamella.arange(12.0).view(3, 4), lamella.arange(20.0)
    steps = (
        lambda: x.t_(),
        lambda: x.unsqueeze_(0).transpose_(0, 2),
        lambda: x.mul_(2),
        lambda: x.squeeze_(2),
        lambda: x.as_strided_((2, 3), (1, 2), 2),
        lambda: x.resize_(2, 2),
        lambda: x.resize_as_(ONES),
        lambda: x.set_(other.view(4, 5)[1:].t()),
        lambda: x.set_(other.untyped_storage(), 3, (2, 2), (1, 2)),
        lambda: setattr(x, "data", lamella.ones(2, 1).expand(2, 3)),
    )
    for step in steps:
        del calls[:]
        with layer.on():
            step()
        for name, args, kwargs in calls:
            if args and args[0] is x:
                getattr(lamella.ops.aten, name)(y, *args[1:], **kwargs)
        assert described(x) == described(y)
    assert y.shape == (2, 3) and y.stride() == (1, 0)


def test_versions_and_bases():
    """A change of sizes counts one version of its storage; other memory counts none, of neither storage."""
    base = lamella.arange(6.0).view(2, 3)
    part = base[1:]
    version = base._version
    assert part.t_()._base is base._base and base._version == version + 1
    part.as_strided_((2,), (2,), 1)
    assert part._base is base._base and part.tolist() == [1, 3] and base._version == version + 2
    other = lamella.ones(2)
    part.set_(other)
    lamella.zeros(1).data = other
    assert part._base is None and other._version == 0 and base._version == version + 2


def test_faults_change_nothing():
    x, far = lamella.ones(2, 3, 4), lamella.ones(2, device="meta")
    for wrong, says in (
        (lambda: x.t_(), "t_: argument 'self': expected at most 2 dimensions"),
        (lambda: x.transpose_(0, 3), "transpose_: argument 'dim1'"),
        (lambda: x.as_strided_((25,), (1,)), "as_strided_: .* reach beyond the storage of 96 bytes"),
        (lambda: x.set_(far), "set_: argument 'source' has dtype .* on meta, 'self'"),
        (lambda: x.set_(x, 20, (2, 3)), "set_: .* reach beyond the storage"),
        (lambda: opaque().unsqueeze_(0), "unsqueeze_: the tensor is opaque"),
    ):
        with pytest.raises((RuntimeError, IndexError, NotImplementedError), match=says):
            wrong()
    assert x.shape == (2, 3, 4) and x._version == 0
    assert lamella.ones(4).resize_as_(far).shape == (2,)  # only the sizes of the template count
