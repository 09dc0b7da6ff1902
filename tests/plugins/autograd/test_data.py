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
