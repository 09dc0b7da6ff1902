"""Gradients through subclasses, modes below autograd, and wrapper subclasses."""

import lamella
import numpy as np
from lamella import Tensor
from lamella.utils._python_dispatch import TorchDispatchMode
from wrappers import Wrapped


class Plain(Tensor):
    """A subclass without a __torch_function__ of its own."""


class Calls(TorchDispatchMode):
    def __init__(self):
        self.log = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.log.append(func.__name__)
        return func(*args, **(kwargs or {}))


def test_gradients_go_through():
    x = lamella.tensor([1.0, 2.0], requires_grad=True)
    y = (x.as_subclass(Plain) * 3).sum()
    assert type(y) is Plain and y.requires_grad
    y.backward()
    assert x.grad.tolist() == [3, 3]
    w = Tensor._make_subclass(Plain, lamella.ones(2), True)
    (w * w).sum().backward()
    assert type(w) is Plain and w.is_leaf and w.grad.tolist() == [2, 2]


def test_it_sees_what_autograd_records_and_backward_calls():
    x = lamella.tensor([1.0, 2.0], requires_grad=True)
    with Calls() as mode:
        y = (x.exp() * 2).sum()
        forward = list(mode.log)
        y.backward()
    assert forward == ["exp.default", "mul.Scalar", "sum.default"] and len(mode.log) > len(forward)
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp([1.0, 2.0]), rtol=1e-6)
    inside = []

    class Asks(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            inside.append(getattr(result, "requires_grad", None))
            return result

    with Asks():
        assert x.exp().requires_grad
    assert inside == [False]


def test_gradients_of_a_wrapper():
    w = Wrapped(lamella.tensor([1.0, 2.0]), requires_grad=True)
    (w * w).sum().backward()
    assert type(w.grad) is Wrapped and w.grad.inner.tolist() == [2, 4]
