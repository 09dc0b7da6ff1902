"""Writes through `.data`, which backward does not see."""

import lamella
import pytest


def test_clipping_between_forward_and_backward():
    w = lamella.tensor([2.0, -3.0], requires_grad=True)
    loss = (w * w).sum()
    w.data.clamp_(-1, 1)
    loss.backward()
    assert w.grad.tolist() == [2.0, -2.0]  # 2 w, of the values that are there now


def test_counts_of_writes():
    """The numbers are torch's."""
    w = lamella.ones(2)
    data = w.data
    data.add_(1)
    data[:1].add_(1)
    data.detach().add_(1)
    w.add_(1)
    assert (w._version, data._version, data[:1]._version) == (1, 3, 3)
    assert w.tolist() == [5.0, 4.0] and w.data.data_ptr() == w.data_ptr()
    w.detach().add_(1)
    assert w._version == 2 and data._version == 3


@pytest.mark.parametrize("resize", [False, True])
def test_the_flag_stays_with_a_tensor(resize):
    w = lamella.ones(2)
    data = w.data
    if resize:
        data.resize_(1)
    else:
        data.set_(w.untyped_storage(), 0, (1,))
    before = w._version
    data.zero_()
    assert w._version == before and w.tolist() == [0.0, 1.0]


def test_a_saved_data_is_checked():
    w, x = lamella.ones(2), lamella.ones(2, requires_grad=True)
    data = w.data
    y = (x * data).sum()
    w.add_(1)  # is not seen: the counts of both are apart
    data.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_assigned_data_counts_with_the_tensor():
    w = lamella.ones(2, requires_grad=True)
    w.data = lamella.full((2,), 3.0).data
    y = (w * w).sum()
    with lamella.no_grad():
        w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_parameters_of_data_have_the_other_count():
    x = lamella.ones(2)
    p = lamella.nn.Parameter(x.data)
    before = p._version
    y = (p * p).sum()
    p.data.zero_()
    assert p._version == before and p.tolist() == [0.0, 0.0]
    y.backward()
    with lamella.no_grad():
        p.add_(1)
    assert p._version == before + 1


def test_a_kernel_that_writes_through_data_counts_for_its_argument():
    library = lamella.library.Library("data_writer", "DEF", owner="a test")
    library.define("fill_with_(Tensor(a!) x, float value) -> Tensor(a!)")

    def fill_with_(x, value):
        x.data.mul_(0)
        x.data.add_(value)
        return x

    library.impl("fill_with_", fill_with_, "cpu")
    try:
        t = lamella.ones(2)
        before = t._version
        lamella.ops.data_writer.fill_with_(t, 3.0)
        assert t.tolist() == [3.0, 3.0] and t._version == before + 1
    finally:
        library.close()


@pytest.mark.parametrize("dtype", [lamella.float64, lamella.bfloat16, lamella.complex64])
def test_a_leaf_of_another_dtype_gets_gradients_of_it(dtype):
    """Module.to() replaces the data of a leaf that a backward has reached before; the dtypes are torch's."""
    w = lamella.tensor([1.0, 2.0], requires_grad=True)
    (w * w).sum().backward()
    assert w.grad.dtype is lamella.float32
    w.grad = None
    w.data = w.data.to(dtype)
    (w * w).sum().abs().backward()
    assert w.grad.dtype is dtype
    (grad,) = lamella.autograd.grad((w * 2).sum().abs(), w)
    assert grad.dtype is dtype

    layer = lamella.nn.Linear(2, 1)
    layer(lamella.ones(1, 2)).sum().backward()
    layer.zero_grad()
    layer.double()
    layer(lamella.ones(1, 2, dtype=lamella.float64)).sum().backward()
    assert {p.grad.dtype for p in layer.parameters()} == {lamella.float64}
