"""A layer's handler that decomposes a call: the composite's operators come to the layer, and not to those outside."""

from contextlib import closing

import lamella
import pytest
from lamella.library import Library

pytestmark = pytest.mark.needs("autograd")


@pytest.fixture
def layers():
    """Returns a function that registers a layer with a handler."""
    with closing(Library("decomposing", "FRAGMENT")) as lib:

        def register(name, handler, at):
            return lib.register_layer(f"decomposing_{name}", handler, at=at, never_on_tensors=True)

        yield register


def test_its_operators_come_to_the_layer_and_to_those_inside(layers):
    seen = {"outer": [], "middle": [], "inner": []}

    def passing(which):
        def handler(call, *args, **kwargs):
            seen[which].append(call.name)
            return call(*args, **kwargs)

        return handler

    def middle(call, *args, **kwargs):
        seen["middle"].append(call.name)
        if call.name == "aten::rot90":
            return call.decompose(*args, **kwargs)
        return call(*args, **kwargs)

    outer = layers("outer", passing("outer"), "modes")
    inner = layers("inner", passing("inner"), "backend")
    x = lamella.arange(6.0).reshape(2, 3)
    with outer.on(), layers("middle", middle, "profiler").on(), inner.on():
        y = lamella.rot90(x)
    assert y.tolist() == [[2, 5], [1, 4], [0, 3]]
    assert seen["outer"] == ["aten::rot90"]
    assert seen["middle"][0] == "aten::rot90"
    assert seen["middle"][1:] == seen["inner"]
    assert len(seen["inner"]) > 1


def test_gradients_are_recorded(layers):
    x = lamella.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    handler = lambda call, *args: call.decompose(*args) if call.name == "aten::rot90" else call(*args)  # noqa: E731
    with layers("middle", handler, "modes").on():
        y = lamella.rot90(x)
    (y * lamella.tensor([[1.0, 10.0], [100.0, 1000.0]])).sum().backward()
    assert x.grad.tolist() == [[100, 1], [1000, 10]]


def test_an_in_place_form_writes_its_argument(layers):
    def handler(call, *args, **kwargs):
        return call.decompose(*args, **kwargs) if call.name == "aten::cumprod_" else call(*args, **kwargs)

    x = lamella.tensor([1.0, 2.0, 3.0])
    with layers("middle", handler, "modes").on():
        y = x.cumprod_(0)
    assert y is x
    assert x.tolist() == [1, 2, 6]


def test_an_operator_without_a_composite(layers):
    x = lamella.zeros(2)
    with (
        layers("middle", lambda call, *args, **kwargs: call.decompose(*args, **kwargs), "modes").on(),
        pytest.raises(NotImplementedError, match="aten::exp has no composite to decompose it by"),
    ):
        lamella.exp(x)


def test_wrong_arguments(layers):
    x = lamella.zeros(2, 2)
    with (
        layers("middle", lambda call, *args: call.decompose(*args, 1, 2, 3, 4), "modes").on(),
        pytest.raises(TypeError, match="rot90: decompose: "),
    ):
        lamella.rot90(x)


def test_after_the_handler_has_returned(layers):
    kept = []

    def handler(call, *args, **kwargs):
        kept.append(call)
        return call(*args, **kwargs)

    with layers("middle", handler, "modes").on():
        lamella.ones(2)
    with pytest.raises(RuntimeError, match="decompose: the handler of this call has returned"):
        kept[0].decompose(2)


def test_what_the_handler_has_switched_off_stays_off(layers):
    def handler(call, *args):
        if call.name != "aten::rot90":
            return call(*args)
        with lamella.no_grad():
            return call.decompose(*args)

    x = lamella.ones(2, 2, requires_grad=True)
    with layers("middle", handler, "modes").on():
        y = lamella.rot90(x)
    assert not y.requires_grad
    assert lamella.rot90(x).requires_grad
