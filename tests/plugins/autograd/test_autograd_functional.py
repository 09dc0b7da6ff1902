"""Jacobians, Hessians and products with them agree with each other, also for tuples."""

import lamella
import pytest
from lamella.autograd import functional
from lamella.testing import assert_close


def double(*shape):
    lamella.manual_seed(sum(shape))
    return lamella.randn(*shape, dtype=lamella.float64)


def f(x, y):
    return x * y.sum(), (x * x).sum() * y


def scalar(x, y):
    return (x * x * x).sum() * y.sin().sum()


def test_jacobian():
    x, y = double(2), double(3)
    (xx, xy), (yx, yy) = functional.jacobian(f, (x, y))
    assert_close(xx, lamella.eye(2, dtype=lamella.float64) * y.sum())
    assert_close(xy, x[:, None].expand(2, 3))
    assert_close(yx, y[:, None] * 2 * x)
    assert_close(yy, lamella.eye(3, dtype=lamella.float64) * (x * x).sum())
    assert functional.jacobian(lambda x: x[:, None] * x, x).shape == (2, 2, 2)
    assert functional.jacobian(lambda x: x.sum(), double(2, 3)).shape == (2, 3)
    assert functional.jacobian(lambda x: x * 2, double(0)).shape == (0, 0)
    assert isinstance(functional.jacobian(f, (x, y)), tuple)
    assert_close(functional.jacobian(lambda x: lamella.ones(2), x), lamella.zeros(2, 2, dtype=lamella.float64))


@pytest.mark.parametrize("vectorize", [False, True])
def test_functions_of_a_number(vectorize):
    x = double(1)[0]
    assert_close(functional.jacobian(lambda x: x**3, x, vectorize=vectorize), 3 * x**2)
    assert_close(functional.hessian(lambda x: x**3, x, vectorize=vectorize), 6 * x)
    forward = functional.jacobian(lambda x: x**3, x, vectorize=True, strategy="forward-mode")
    assert_close(forward, 3 * x**2)


def test_products_are_those_with_the_jacobian():
    x, y = double(2), double(3)
    v, w = double(2), double(3)
    (xx, xy), (yx, yy) = functional.jacobian(f, (x, y))
    outputs, (gx, gy) = functional.vjp(f, (x, y), (v, w))
    assert_close(outputs, f(x, y))
    assert_close(gx, v @ xx + w @ yx)
    assert_close(gy, v @ xy + w @ yy)
    outputs, (a, b) = functional.jvp(f, (x, y), (v, w))
    assert_close(outputs, f(x, y))
    assert_close(a, xx @ v + xy @ w)
    assert_close(b, yx @ v + yy @ w)


def test_hessian_and_its_products():
    x, y = double(2), double(3)
    v, w = double(2), double(3)
    (xx, xy), (yx, yy) = functional.hessian(scalar, (x, y))
    assert_close(xx, (6 * x).diag() * y.sin().sum())
    assert_close(yy, (-y.sin()).diag() * (x * x * x).sum())
    assert_close(xy, yx.t())
    for product in (functional.hvp, functional.vhp):
        value, (a, b) = product(scalar, (x, y), (v, w))
        assert_close(value, scalar(x, y))
        assert_close(a, xx @ v + xy @ w)
        assert_close(b, yx @ v + yy @ w)
    assert_close(functional.hessian(lambda x: x.sum(), x), lamella.zeros(2, 2, dtype=lamella.float64))


def test_results_can_be_differentiated():
    x = double(2).requires_grad_()
    functional.jacobian(lambda x: x * x * x, x, create_graph=True).sum().backward()
    assert_close(x.grad, 6 * x.detach())
    x.grad = None
    functional.vjp(lambda x: (x * x * x).sum(), x, create_graph=True)[1].sum().backward()
    assert_close(x.grad, 6 * x.detach())
    x.grad = None
    functional.hvp(lambda x: (x * x * x).sum(), x, lamella.ones_like(x), create_graph=True)[1].sum().backward()
    assert_close(x.grad, lamella.full((2,), 6.0, dtype=lamella.float64))
    for plain in (functional.vjp(lambda x: x.sum(), x), functional.jvp(lambda x: x * 1, x, x)):
        assert not plain[0].requires_grad and not plain[1].requires_grad


def test_under_no_grad():
    with lamella.no_grad():
        assert_close(functional.jacobian(lambda x: x * 2, double(2)), 2 * lamella.eye(2, dtype=lamella.float64))


def test_strict():
    x = double(2)
    for product in (functional.vjp, functional.jvp):
        with pytest.raises(RuntimeError, match="output 0 does not depend on the inputs"):
            product(lambda x: lamella.ones(2), x, lamella.ones(2, dtype=lamella.float64), strict=True)
    with pytest.raises(RuntimeError, match="jacobian: no output depends on input 1"):
        functional.jacobian(lambda x, y: x, (x, x), strict=True)
    with pytest.raises(RuntimeError, match="hessian: the gradient of input 0 does not depend"):
        functional.hessian(lambda x: x.sum(), x, strict=True)


def test_bad_calls():
    x = double(2)
    with pytest.raises(RuntimeError, match="vjp: argument 'v' can be left out only where"):
        functional.vjp(lambda x: x, x)
    with pytest.raises(RuntimeError, match=r"jvp: element 0 of argument 'v' has shape \(3,\)"):
        functional.jvp(lambda x: x, x, double(3))
    with pytest.raises(RuntimeError, match="hvp: argument 'func' must return one tensor of one element"):
        functional.hvp(lambda x: x, x, x)
    with pytest.raises(TypeError, match="jacobian: the result of argument 'func' must be a Tensor, got float"):
        functional.jacobian(lambda x: 1.0, x)
    with pytest.raises(TypeError, match="vjp: element 1 of argument 'inputs' must be a Tensor, got int"):
        functional.vjp(lambda x, n: x, (x, 3))
    with pytest.raises(ValueError, match="'strategy' must be 'reverse-mode' or 'forward-mode', got 'sideways'"):
        functional.jacobian(lambda x: x, x, strategy="sideways")
    with pytest.raises(NotImplementedError, match="strategy 'forward-mode' is there with vectorize=True alone"):
        functional.jacobian(lambda x: x, x, strategy="forward-mode")
    with pytest.raises(RuntimeError, match="strict=True is not possible with vectorize=True"):
        functional.jacobian(lambda x: x, x, strict=True, vectorize=True)


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_vectorized_jacobians(strategy):
    """All rows, or all columns, in one walk are those that are computed one by one."""
    weight = double(4, 3)

    def function(x, y):
        return (weight @ x).sin() * y, (x.prod() + y.sum()).reshape(1)

    inputs = double(3), double(4)
    right = functional.jacobian(function, inputs)
    found = functional.jacobian(function, inputs, vectorize=True, strategy=strategy)
    assert all(lamella.allclose(f, r) for fs, rs in zip(found, right, strict=True) for f, r in zip(fs, rs, strict=True))
    assert functional.jacobian(lambda x: x[:0], double(2), vectorize=True, strategy=strategy).shape == (0, 2)


def test_vectorized_hessian():
    x = double(3)
    right = functional.hessian(lambda x: x.prod() ** 2, x)
    assert lamella.allclose(functional.hessian(lambda x: x.prod() ** 2, x, vectorize=True), right)
