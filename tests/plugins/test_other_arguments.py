"""A layer that goes on with other tensors: the layers of these tensors below it run, unless the call began without."""

from contextlib import closing

import lamella
import pytest
from lamella.library import Library

pytestmark = pytest.mark.needs("autograd")


@pytest.fixture
def putting():
    """Returns a function that registers a layer, which puts `w` in the place of each `x` among the arguments."""
    with closing(Library("putting", "FRAGMENT")) as lib:

        def register(x, w, at, seen=None):
            def other(value):
                if isinstance(value, (list, tuple)):
                    return [other(item) for item in value]
                return w if value is x else value

            def handler(call, *args, **kwargs):
                if seen is not None:
                    seen.append(call.name)
                return call(*map(other, args), **{name: other(value) for name, value in kwargs.items()})

            return lib.register_layer(f"putting_{at}", handler, at=at, never_on_tensors=True)  # a name keeps its bit

        yield register


CALLS = {
    "an argument": (lambda x: lamella.exp(x), lambda w: w.exp()),
    "a list": (lambda x: lamella.cat([x, x]), lambda w: lamella.ones(2) * 2),
    "a keyword": (lambda x: lamella.add(lamella.zeros(2), other=x), lambda w: lamella.ones(2)),
    "a composite": (lambda x: lamella.nn.functional.softplus(x), lambda w: w.sigmoid()),
}


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize("at", ["modes", "profiler", "names", "autocast"])
def test_their_gradients_are_recorded(putting, kind, at):
    call, derivative = CALLS[kind]
    x, w = lamella.ones(2), lamella.tensor([1.0, 2.0], requires_grad=True)
    with putting(x, w, at).on():
        y = call(x)
    assert y.requires_grad
    y.sum().backward()
    assert lamella.allclose(w.grad, derivative(w.detach()))


def test_layers_that_were_off_stay_off(putting):
    x, w = lamella.ones(2), lamella.ones(2, requires_grad=True)
    with putting(x, w, "modes").on(), lamella.no_grad():
        y = x.exp()
    assert not y.requires_grad


def test_a_handler_may_switch_them_off():
    x, w = lamella.ones(2), lamella.ones(2, requires_grad=True)

    def handler(call, *args):
        with lamella.no_grad():
            return call(w)

    with (
        closing(Library("putting", "FRAGMENT")) as lib,
        lib.register_layer("putting_modes", handler, at="modes", never_on_tensors=True).on(),
    ):
        y = x.exp()
    assert not y.requires_grad


def test_each_way_on_has_the_layers_of_its_own_arguments():
    x, w = lamella.ones(2), lamella.ones(2, requires_grad=True)
    results = []

    def handler(call, *args):
        results.extend([call(w), call(*args), call(w)])
        return results[1]

    with (
        closing(Library("putting", "FRAGMENT")) as lib,
        lib.register_layer("putting_modes", handler, at="modes", never_on_tensors=True).on(),
    ):
        x.exp()
    assert [y.requires_grad for y in results] == [True, False, True]


def test_layers_that_were_passed_do_not_run_again(putting):
    x, w = lamella.ones(2), lamella.ones(2, requires_grad=True)
    seen = []
    with putting(x, w, "backend", seen).on():  # inside autograd
        y = x.exp()
    assert not y.requires_grad and seen == ["aten::exp"]


def test_inside_autograd_the_old_arguments_get_the_gradients(putting):
    x, w = lamella.ones(2, requires_grad=True), lamella.full((2,), 5.0, requires_grad=True)
    with putting(x, w, "backend").on():
        y = x * 3
    y.sum().backward()
    assert y.tolist() == [15, 15] and x.grad.tolist() == [3, 3] and w.grad is None


def test_an_operator_in_place_writes_to_the_other_tensor(putting):
    x, w = lamella.ones(2), lamella.ones(2, requires_grad=True)
    v = w * 3
    with putting(x, v, "modes").on():
        x.mul_(2)
    v.sum().backward()
    assert x.tolist() == [1, 1] and v.tolist() == [6, 6] and w.grad.tolist() == [6, 6]


def test_layers_of_the_arguments_that_were_replaced_do_not_run():
    x, w = lamella.ones(2, requires_grad=True), lamella.ones(2)
    recorded = []
    with closing(Library("putting", "FRAGMENT")) as lib:

        def handler(call, *args):
            return call(w)

        def below(call, *args):
            recorded.append(call.name)
            return call(*args)

        inner = lib.register_layer("putting_below", below, at="backend", never_on_tensors=True)
        with lib.register_layer("putting_modes", handler, at="modes", never_on_tensors=True).on(), inner.on():
            y = x.exp()
    assert not y.requires_grad
    assert recorded == ["aten::exp"]  # a layer of the thread runs whatever the arguments are


def test_a_layer_that_keeps_every_result_lets_parameters_be_made():
    kept = []
    with closing(Library("keeping", "FRAGMENT")) as lib:

        def keep(call, *args, **kwargs):
            kept.append(call(*args, **kwargs))
            return kept[-1]

        data = lamella.ones(2)
        with lib.register_layer("keeping", keep, at="modes", never_on_tensors=True).on():
            made = lamella.nn.Parameter(data)
            layer = lamella.nn.Linear(2, 1)
            (layer(made) * 2).sum().backward()
    assert kept
    assert isinstance(made, lamella.nn.Parameter)
    assert made.data_ptr() == data.data_ptr()
    assert made.is_leaf
    assert lamella.equal(made.grad, layer.weight[0] * 2)
