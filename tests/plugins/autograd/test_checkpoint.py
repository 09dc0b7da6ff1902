"""checkpoint: the same gradients from a function that runs twice and saves nothing."""

import gc
import weakref

import lamella
import pytest
from lamella.testing import assert_close
from lamella.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential


def double(*shape):
    lamella.manual_seed(3)
    return lamella.randn(*shape, dtype=lamella.float64).requires_grad_()


class Counted:
    def __init__(self):
        self.runs = 0

    def __call__(self, x, *others, scale=2):
        self.runs += 1
        return (x * x).sin() * scale


def gradient(y, x, **more):
    return lamella.autograd.grad(y.sum(), x, **more)[0]


def test_the_same_gradients():
    x, f = double(3), Counted()
    y = checkpoint(f, x, "text", scale=3, use_reentrant=False)
    assert f.runs == 1
    assert_close(gradient(y, x), gradient(f(x, scale=3), x))
    assert f.runs == 3


def test_nothing_is_kept():
    kept = []

    def f(x):
        y = x.exp()
        kept.append(weakref.ref(y))
        return y.sin()

    x = double(3)
    y = checkpoint(f, x)
    gc.collect()
    assert kept[0]() is None
    y.sum().backward()
    assert_close(x.grad, x.exp().cos() * x.exp())


def test_nested():
    inner, outer = Counted(), Counted()
    x = double(3)

    def f(x):
        return checkpoint(inner, outer(x).cos())

    y = checkpoint(f, x)
    assert_close(gradient(y, x), gradient(inner(outer(x).cos()), x))
    assert (inner.runs, outer.runs) == (4, 3)


def test_inner_arguments_are_not_kept():
    kept = []

    def f(x):
        middle = x.exp()
        kept.append(weakref.ref(middle))
        return checkpoint(lamella.sin, middle)

    y = checkpoint(f, double(3))
    gc.collect()
    assert kept[0]() is None and y.requires_grad


def test_random_numbers_are_the_same():
    x = double(100)
    y = checkpoint(lambda x: lamella.dropout(x, 0.5, True), x)
    lamella.manual_seed(9)
    state = lamella.default_generator().get_state()
    g = gradient(y, x)
    assert_close(g * x.detach(), y.detach())
    assert lamella.default_generator().get_state() == state


def test_second_order_and_twice():
    x, f = double(3), Counted()
    y = checkpoint(f, x)
    g = gradient(y, x, create_graph=True)
    plain = gradient(f(x), x, create_graph=True)
    assert_close(gradient(g, x, retain_graph=True), gradient(plain, x))
    assert_close(gradient(y, x), g.detach())


def test_parameters_that_are_no_arguments():
    w, x = double(3), double(3)
    y = checkpoint(lambda x: x * w, x)
    assert_close(gradient(y, w), x.detach())


def test_without_gradients():
    f = Counted()
    with lamella.no_grad():
        assert not checkpoint(f, double(3)).requires_grad
    assert f.runs == 1


def test_a_function_that_changes():
    calls = []

    def f(x):
        calls.append(1)
        return x.sin() if len(calls) == 1 else x.sin().cos()

    with pytest.raises(CheckpointError, match="1 tensor was saved when the function ran first, and 2"):
        checkpoint(f, double(3)).sum().backward()

    def g(x):
        calls.append(1)
        return (x.sin() if len(calls) == 3 else x.repeat(2).sin()).sum()

    with pytest.raises(CheckpointError, match=r"was \(\(3,\), .* and is \(\(6,\)"):
        checkpoint(g, double(3)).backward()


def test_an_argument_that_was_written():
    x = double(3)
    y = x * 1
    out = checkpoint(lamella.sin, y)
    with lamella.no_grad():
        y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


@pytest.mark.parametrize("segments", [1, 2, 3])
def test_sequential(segments):
    functions = [lamella.exp, lamella.sin, lamella.cos]
    x = double(3)
    y = checkpoint_sequential(functions, segments, x)
    assert_close(gradient(y, x), gradient(x.exp().sin().cos(), x))


def test_bad_calls():
    with pytest.raises(ValueError, match="'determinism_check'"):
        checkpoint(lamella.sin, double(1), determinism_check="some")
    with pytest.raises(ValueError, match="argument 'segments' must be from 1 to the number of functions, 1, got 2"):
        checkpoint_sequential([lamella.sin], 2, double(1))


def test_saved_tensors_hooks_leave_the_history():
    """A tensor that an unpack hook returns is differentiated like the saved one."""
    x, w = double(3), double(3)
    with lamella.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = (x * 2 * w).sin()
        z = x * x * w
    for out in (y, z):
        gx, gw = lamella.autograd.grad(out.sum(), (x, w), create_graph=True)
        again = lamella.autograd.grad((gx * gw).sum(), (x, w))
        plain = (x * 2 * w).sin() if out is y else x * x * w
        px, pw = lamella.autograd.grad(plain.sum(), (x, w), create_graph=True)
        for a, b in zip(again, lamella.autograd.grad((px * pw).sum(), (x, w)), strict=True):
            assert_close(a, b)


@pytest.mark.parametrize("use_reentrant", [True, False, None])
def test_reentrant(use_reentrant):
    """Both ways of torch are one: parameters get gradients, whether or not the argument does, by backward or grad."""
    layer = lamella.nn.Linear(3, 2, dtype=lamella.float64)
    x = double(3)
    want = lamella.autograd.grad(layer(x).exp().sum(), (x, layer.weight))
    y = checkpoint(lambda x: layer(x).exp(), x, use_reentrant=use_reentrant)
    assert_close(lamella.autograd.grad(y.sum(), (x, layer.weight)), want)
    checkpoint(lambda x: layer(x).exp(), x.detach(), use_reentrant=use_reentrant).sum().backward()
    assert_close(layer.weight.grad, want[1])
