"""A layer's kernel of a functional form serves the in-place and out= forms, unless these have kernels of their own."""

from contextlib import closing

import lamella
import pytest
from lamella.library import Library, describe, fallthrough_kernel


@pytest.fixture
def served():
    """Returns a library with the layer "forms", the layer, and the calls that its kernels got."""
    calls = []

    def kernel(call, *args, **kwargs):
        calls.append((describe(call).form, sorted(kwargs)))
        return call(*args, **kwargs)

    with closing(Library("aten", "FRAGMENT")) as lib:
        yield lib, lib.register_layer("forms", fallthrough=True, never_on_tensors=True), kernel, calls


def all_forms(x):
    y = x.clone()
    assert lamella.add(x, 1).tolist() == [2, 2]
    assert y.add_(1).tolist() == [2, 2] and y.tolist() == [2, 2]
    out = lamella.empty(2)
    assert lamella.add(x, 1, out=out) is out and out.tolist() == [2, 2]


@pytest.mark.parametrize("whole", [False, True])
def test_one_kernel_for_all(served, whole):
    lib, layer, kernel, calls = served
    lib.impl("add.Tensor", kernel, "forms", all_forms=whole)
    lib.impl("add.Scalar", kernel, "forms", all_forms=whole)
    with layer.on():
        all_forms(lamella.ones(2))
    got = [form for form, _ in calls]
    assert got == (["functional", "in-place", "out"] if whole else ["functional"])
    assert not whole or calls[2][1] == ["out"]


def test_a_kernel_of_a_form_goes_first(served):
    lib, layer, kernel, calls = served
    for op in ("add.Tensor", "add.Scalar"):
        lib.impl(op, kernel, "forms", all_forms=True)
    handles = [lib.impl(op, fallthrough_kernel, "forms") for op in ("add_.Tensor", "add_.Scalar")]
    with layer.on():
        all_forms(lamella.ones(2))
        assert [form for form, _ in calls] == ["functional", "out"]
        for handle in handles:  # withdrawn kernels give way again, also in tables that were filled before
            lib.withdraw(handle)
        del calls[:]
        all_forms(lamella.ones(2))
    assert [form for form, _ in calls] == ["functional", "in-place", "out"]


def test_operators_of_others(served):
    _, layer, kernel, calls = served
    with closing(Library("theirs", "DEF")) as lib:
        lib.define("f(Tensor self) -> Tensor", inplace=True, out=True)
        lib.impl("f", lambda x: x + 1, "composite")
        lib.impl("f", kernel, "forms", all_forms=True)
        x, out = lamella.ones(2), lamella.empty(2)
        with layer.on():
            assert lamella.ops.theirs.f(x).tolist() == [2, 2]
            assert lamella.ops.theirs.f(x, out=out) is out and out.tolist() == [2, 2]
            lamella.ops.theirs.f_(x)
        assert x.tolist() == [2, 2] and [form for form, _ in calls] == ["functional", "out", "in-place"]


@pytest.mark.parametrize(
    "op, key, text",
    [
        ("add.Tensor", "cpu", "is for kernels of layers; a device's serves all forms"),
        ("add.Tensor", "composite", "is for kernels of layers"),
        ("add_.Tensor", "forms", "is for kernels of functional forms"),
    ],
)
def test_where_it_has_no_meaning(served, op, key, text):
    lib, *_ = served
    with pytest.raises(ValueError, match=f"kernel: aten::{op} for '{key}': LAMELLA_KERNEL_ALL_FORMS {text}"):
        lib.impl(op, lambda *args: args[0], key, all_forms=True)
