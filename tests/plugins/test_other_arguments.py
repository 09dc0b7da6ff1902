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
                made = call(*map(other, args), **{name: other(value) for name, value in kwargs.items()})
                return x if made is w else made  # a call in place returns its argument

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


def casting(call, *args, **kwargs):
    """Goes on with bfloat16 where it gets float32."""
    single = [isinstance(a, lamella.Tensor) and a.dtype is lamella.float32 for a in args]
    return call(*(a.to(lamella.bfloat16) if s else a for s, a in zip(single, args, strict=True)), **kwargs)


@pytest.mark.parametrize("at", ["profiler", "backend"])
@pytest.mark.parametrize(
    "write",
    [lambda x, o: x.add_(1), lambda x, o: x.mul_(x), lambda x, o: lamella.add(o, 1, out=x), lambda x, o: x.zero_()],
    ids=["add_", "mul_", "out", "zero_"],
)
def test_a_substitute_for_a_written_argument_is_an_error(write, at):
    x, o = lamella.ones(2), lamella.ones(2)

    def handler(call, *args, **kwargs):
        other = [x.clone() if a is x else a for a in args]
        return call(*other, **{k: x.clone() if v is x else v for k, v in kwargs.items()})

    with closing(Library("substitutes", "FRAGMENT")) as lib:
        layer = lib.register_layer(f"substitutes_{at}", handler, at=at, never_on_tensors=True)
        with (
            layer.on(),
            pytest.raises(RuntimeError, match="of layer .* must return the argument .(self|out)"),
        ):
            write(x, o)
    assert x.tolist() == [1.0, 1.0]


def test_a_layer_that_writes_the_result_back():
    def handler(call, x, *args, **kwargs):
        other = x.clone()
        call(other, *args, **kwargs)
        return x.copy_(other) if call.name == "aten::add_" else call(x, *args, **kwargs)

    with closing(Library("substitutes", "FRAGMENT")) as lib:
        layer = lib.register_layer("writes_back", handler, never_on_tensors=True)
        x = lamella.ones(2)
        with layer.on():
            assert x.add_(1) is x
        assert x.tolist() == [2.0, 2.0]


def test_a_sum_of_gradients_has_the_dtype_of_its_leaf():
    with closing(Library("casts", "FRAGMENT")) as lib:
        layer = lib.register_layer("casts_sums", fallthrough=True, at="autocast", never_on_tensors=True)
        for name in ("add.Tensor", "mul.Tensor"):
            lib.impl(f"aten::{name}", casting, "casts_sums")
        w = lamella.tensor([1.0, 2.0], requires_grad=True)
        with layer.on():
            (w * w).sum().backward()
        assert w.grad.dtype is lamella.float32 and w.grad.tolist() == [2.0, 4.0]


def test_a_form_that_an_operator_has_not():
    with closing(Library("aten", "IMPL")) as lib:
        with pytest.raises(RuntimeError, match="there is no operator aten::matmul_; aten::matmul has no in-place form"):
            lib.impl("matmul_", lambda call, x, y: x, "cpu")
