"""The tenant vmap with gradients: outside of it, inside of it and both are those of a loop over the examples."""

import lamella
import pytest
from lamella import nn
from lamella.nn import functional as F

from . import loop, same

pytestmark = pytest.mark.needs("autograd")
CLOSE = {"rtol": 1e-4, "atol": 1e-5}


def network():
    return nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.Tanh(), nn.Linear(8, 3))


def batch():
    return lamella.randn(5, 4), lamella.tensor([0, 1, 2, 0, 1])


def grad(*args, **options):
    return lamella.autograd.grad(*args, **options)


def test_gradients_outside(device, vmap):
    net, (x, labels) = network(), batch()
    weights = list(net.parameters())
    f = lambda x, label: F.cross_entropy(net(x), label)  # noqa: E731
    wanted = grad(loop(f, x, labels).sum(), weights)
    assert same(grad(vmap(f)(x, labels).sum(), weights), wanted, **CLOSE)


def test_gradients_inside(device, vmap):
    """The gradients of each example: of the input, and of weights that the examples share."""
    net, (x, labels) = network(), batch()

    def f(x, label):
        x = x.clone().requires_grad_()
        return grad(F.cross_entropy(net(x), label), [x, *net.parameters()])

    wanted = loop(lambda x, label: tuple(f(x, label)), x, labels)
    got = vmap(f)(x, labels)
    assert same(got, wanted, **CLOSE) and got[1].shape == (5, 8, 4)


def test_a_convolutional_network(device, vmap):
    """Gradients outside, and those of each example, also of weights."""
    layers = (
        nn.Conv2d(1, 3, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(3, 2, 2),
        nn.MaxPool2d(2),
        nn.Flatten(0),
        nn.Linear(2, 3),
    )
    net, images, labels = nn.Sequential(*layers), lamella.randn(5, 1, 4, 4), batch()[1]
    weights = list(net.parameters())
    f = lambda image, label: F.cross_entropy(net(image), label)  # noqa: E731
    wanted = grad(loop(f, images, labels).sum(), weights)
    assert same(grad(vmap(f)(images, labels).sum(), weights), wanted, **CLOSE)
    each = lambda image, label: tuple(grad(f(image, label), weights))  # noqa: E731
    assert same(vmap(each)(images, labels), loop(each, images, labels), **CLOSE)


def test_gradients_on_both_sides(device, vmap):
    w, (x, _) = lamella.randn(3, 4, requires_grad=True), batch()

    def f(x):
        x = x.clone().requires_grad_()
        return grad(F.linear(x, w).tanh().square().sum(), x, create_graph=True)[0]

    wanted = grad(loop(f, x).square().sum(), w)
    assert same(grad(vmap(f)(x).square().sum(), w), wanted, **CLOSE)


def test_a_jacobian_and_a_hessian(device, vmap):
    x, w = lamella.randn(4, requires_grad=True), lamella.randn(3, 4)
    y = F.linear(x, w).tanh()
    row = lambda v: grad(y, x, v, retain_graph=True)[0]  # noqa: E731
    assert same(vmap(row)(lamella.eye(3)), loop(row, lamella.eye(3)), **CLOSE)
    (slope,) = grad((x.exp() * x[0]).sum(), x, create_graph=True)
    row = lambda v: grad(slope, x, v, retain_graph=True)[0]  # noqa: E731
    assert same(vmap(row)(lamella.eye(4)), loop(row, lamella.eye(4)), **CLOSE)


def test_gradients_of_writes(device, vmap):
    x = lamella.randn(3, 4, requires_grad=True)

    def outside(x):
        z = x * 2
        z[1:3].mul_(x[0])
        return z.exp_().sum()

    assert same(grad(vmap(outside)(x).sum(), x), grad(loop(outside, x).sum(), x), **CLOSE)

    def inside(x):
        x = x.clone().requires_grad_()
        return grad((x * 2).mul_(x[0]).exp_().sum(), x)[0]

    assert same(vmap(inside)(x.detach()), loop(inside, x.detach()), **CLOSE)


def test_without_gradients(device, vmap):
    w = lamella.randn(3, 4, requires_grad=True)
    with lamella.no_grad():
        assert not vmap(lambda x: w @ x)(lamella.randn(2, 4)).requires_grad
    assert vmap(lambda x: w @ x)(lamella.randn(2, 4)).requires_grad
    x = lamella.randn(2, 4)
    (got,) = grad(vmap(lambda x: (w[0] * x.detach() * w[0].detach()).sum())(x).sum(), w)
    (wanted,) = grad((w[0] * x * w[0].detach()).sum(), w)
    assert same(got, wanted, **CLOSE)
