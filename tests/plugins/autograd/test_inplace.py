"""Writes in place: the history of written tensors, refused writes, and saved tensors that were changed since."""

import lamella
import numpy as np
import pytest

grad = lamella.autograd.grad


def leaf(*values, **options):
    return lamella.tensor(list(values) or [1.0, 2.0], dtype=lamella.float64, requires_grad=True, **options)


def test_a_write_continues_the_history():
    x = leaf()
    y = x * 2
    before = y.grad_fn
    assert y.mul_(3) is y and y.grad_fn.name() == "MulBackward0" and y.grad_fn.next_functions[0][0] is before
    y.add_(1)
    y.exp_()
    y.sum().backward()
    assert lamella.allclose(x.grad, 6 * (x.detach() * 6 + 1).exp())


def test_a_write_that_brings_a_gradient():
    w = leaf(3.0, 4.0)
    y = lamella.ones(2, dtype=lamella.float64)
    y.mul_(w)
    assert y.requires_grad and not y.is_leaf
    y.sum().backward()
    assert w.grad.tolist() == [1, 1]
    y = lamella.zeros(2, dtype=lamella.float64)
    y.copy_(w)
    (y * 5).sum().backward()
    assert w.grad.tolist() == [6, 6]


def test_a_write_that_ends_a_gradient():
    x = leaf()
    for write in (
        lambda y: y.zero_(),
        lambda y: y.fill_(3.0),
        lambda y: y.copy_(lamella.ones(2, dtype=lamella.float64)),
        lambda y: y.normal_(),
        lambda y: y.uniform_(),
    ):
        y = x * 2
        write(y)
        (g,) = grad((y * 3).sum(), x)
        assert g.tolist() == [0, 0]


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(1),
        lambda x: x.zero_(),
        lambda x: x.fill_(0),
        lambda x: x.mul_(x),
        lambda x: x.copy_(lamella.ones(2)),
        lambda x: x.__setitem__(0, 1.0),
        lambda x: x.__setitem__(x.detach() > 0, 1.0),
        lambda x: x.exp_(),
        lambda x: x.clamp_(0),
        lambda x: x.normal_(),
        lambda x: x.uniform_(),
        lambda x: x.masked_fill_(x.detach() > 0, 0.0),
        lambda x: x[0].add_(1),
        lambda x: x.view(2, 1).t().mul_(2),
        lambda x: x.detach().add_(0) is None or x.unsqueeze(0).zero_(),
    ],
)
def test_leaves_and_their_views_are_not_written(write):
    x = leaf()
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        write(x)
    with lamella.no_grad():
        write(x)
    assert x.is_leaf and x.requires_grad
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_refused_write_writes_nothing():
    x = leaf()
    version = x._version
    with pytest.raises(RuntimeError):
        x.zero_()
    assert x.tolist() == [1, 2] and x._version == version


def test_steps_of_an_optimizer():
    x = leaf(5.0)
    for _ in range(100):
        x.grad = None
        ((x - 3) ** 2).sum().backward()
        with lamella.no_grad():
            x.sub_(x.grad, alpha=0.1)
    assert x.item() == pytest.approx(3)


# ---- versions --------------------------------------------------------------------------------------------------------


def test_a_saved_result_that_was_written():
    a = leaf()
    y = a.tanh()
    y.add_(2.0)
    root = y.sum()
    for _ in range(2):  # a second backward raises the same error
        with pytest.raises(RuntimeError) as error:
            root.backward()
    text = str(error.value)
    assert "TanhBackward0" in text and "modified by an inplace operation" in text
    assert "is at version 1; expected version 0" in text and "shape [2]" in text


def test_a_saved_argument_that_was_written():
    a, b = leaf(), leaf()
    h = a * 1
    y = h * b
    h.add_(1)
    h.add_(1)
    with pytest.raises(RuntimeError, match=r"MulBackward0.*version 2; expected version 0"):
        y.sum().backward()
    with lamella.no_grad():
        y = (a * b).sum()
        a.add_(1)
    y = (a * b).sum()
    with lamella.no_grad():
        a.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_write_through_a_view_or_its_base_is_noticed():
    for write in (lambda h: h[0].add_(1), lambda h: h.view(2, 1).add_(1), lambda h: h.detach().add_(1)):
        a = leaf()
        h = a * 1
        y = h.exp() * h
        write(h)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
    a = leaf()
    h = a * 1
    y = h[:1] * h[:1]
    h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_write_to_what_nobody_saved_is_fine():
    a = leaf()
    h = a * 2
    y = h + 1
    h.add_(5)
    (y + h).sum().backward()
    assert a.grad.tolist() == [4, 4]


def test_a_write_saves_its_own_argument_from_before():
    a = leaf(2.0, 3.0)
    y = a * 1
    y.mul_(y)
    y.sum().backward()
    assert a.grad.tolist() == [4, 6]
    a = leaf(2.0, 3.0)
    y = a * 1
    y.pow_(3)
    y.sum().backward()
    assert a.grad.tolist() == [12, 27]
    a, b = leaf(2.0, 3.0), leaf(5.0, 7.0)
    y = a * 1
    y.mul_(b)
    y.mul_(b)
    y.sum().backward()
    assert a.grad.tolist() == [25, 49] and b.grad.tolist() == [20, 42]


def test_what_is_written_with_itself_is_not_stale():
    a = leaf(2.0, 3.0)
    y = a.exp()
    y.exp_()  # exp saves its result, which this overwrites
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    y = (a * 1).exp_()
    y.sum().backward()
    assert lamella.allclose(a.grad, a.detach().exp())


# ---- index assignment ------------------------------------------------------------------------------------------------


def test_index_assignment():
    w = leaf(7.0, 8.0)
    x = leaf(1.0, 2.0, 3.0)
    y = x * 2
    y[0] = w[0]
    y[1:] = w
    assert y.tolist() == [7, 7, 8]
    (y * lamella.tensor([1.0, 10.0, 100.0], dtype=lamella.float64)).sum().backward()
    assert x.grad.tolist() == [0, 0, 0] and w.grad.tolist() == [11, 100]


def test_index_assignment_into_what_requires_nothing():
    w = leaf(7.0, 8.0)
    y = lamella.zeros(3, dtype=lamella.float64)
    y[1:] = w
    y[0] = 5.0
    y[1:].mul_(2)
    (y * y).sum().backward()
    assert w.grad.tolist() == [8 * 7, 8 * 8]


def test_assignment_by_masks_and_indices():
    x, w = leaf(1.0, 2.0, 3.0), leaf(7.0, 8.0)
    factors = lamella.tensor([1.0, 10.0, 100.0], dtype=lamella.float64)
    y = x * 2
    y[lamella.tensor([True, False, True])] = w
    (y * factors).sum().backward()
    assert x.grad.tolist() == [0, 20, 0] and w.grad.tolist() == [1, 100]
    x.grad = w.grad = None
    y = x * 2
    y[lamella.tensor([2, 0])] = w
    (y * factors).sum().backward()
    assert x.grad.tolist() == [0, 20, 0] and w.grad.tolist() == [100, 1]
    x.grad = w.grad = None
    y = x * 2
    y[lamella.tensor([True, False, True])] = 0.0
    y[lamella.tensor([1])] = 2 * y[1].detach() + y[1]
    (y * factors).sum().backward()
    assert x.grad.tolist() == [0, 20, 0]
    value = lamella.tensor(3.0, dtype=lamella.float64, requires_grad=True)
    y = x * 2
    y.masked_fill_(lamella.tensor([True, False, True]), value)
    (y * factors).sum().backward()
    assert value.grad.item() == 101


# ---- out= ------------------------------------------------------------------------------------------------------------

OUT = {
    "mul": lambda x, out: lamella.mul(x, 2, out=out),
    "exp": lambda x, out: lamella.exp(x, out=out),
    "cat": lambda x, out: lamella.cat([x], out=out),
    "matmul": lambda x, out: lamella.matmul(lamella.eye(2, dtype=lamella.float64), x, out=out),
    "stack": lambda x, out: lamella.stack([x], out=out.view(1, 2)),
    "sum": lambda x, out: lamella.sum(x.view(2, 1), 1, out=out),
    "var": lambda x, out: lamella.var(x.view(1, 2).expand(2, 2), 1, out=out),
    "hypot": lambda x, out: lamella.hypot(x, x, out=out),
    "clamp": lambda x, out: lamella.clamp(x, 0, out=out),
    "addmv": lambda x, out: lamella.addmv(x, lamella.eye(2, dtype=lamella.float64), x, out=out),
}


@pytest.mark.parametrize("call", OUT.values(), ids=OUT)
def test_out_is_refused_with_gradients(call):
    x = leaf()
    with pytest.raises(RuntimeError, match="out="):
        call(x, lamella.empty(2, dtype=lamella.float64))
    with pytest.raises(RuntimeError, match="out="):
        call(x.detach(), leaf())
    with lamella.no_grad():
        call(x, lamella.empty(2, dtype=lamella.float64))
    call(x.detach(), lamella.empty(2, dtype=lamella.float64))


def test_out_into_a_view_of_something_with_history():
    x = leaf()
    h = x * 1
    view = h[:1]
    with pytest.raises(RuntimeError, match="out="):
        lamella.exp(lamella.ones(1, dtype=lamella.float64), out=view)
    base = lamella.zeros(2, dtype=lamella.float64)
    view = base[:1]
    base.mul_(x)
    with pytest.raises(RuntimeError, match="out="):
        lamella.exp(lamella.ones(1, dtype=lamella.float64), out=view)


def test_in_place_composites():
    """In-place forms work also for operators that autograd decomposes."""
    x = leaf(0.5, -0.5)
    for write, derivative in (
        (lambda y: y.clamp_(min=0), [1, 0]),
        (lambda y: lamella.nn.functional.relu_(y) if hasattr(lamella.nn.functional, "relu_") else y.relu_(), [1, 0]),
        (lambda y: y.addcmul_(y.detach(), y.detach()), [1, 1]),
        (lambda y: y.sub_(1).neg_().abs_(), [-1, -1]),
        (lambda y: y.masked_fill_(lamella.tensor([True, False]), lamella.tensor(1.0, dtype=lamella.float64)), [0, 1]),
    ):
        y = x * 1
        write(y)
        (g,) = grad(y.sum(), x)
        np.testing.assert_allclose(g.numpy(), derivative)


@pytest.mark.parametrize(
    "call",
    [
        lambda y, name: getattr(y, name("float_power"))(2),
        lambda y, name: getattr(y, name("nan_to_num"))(),
        lambda y, name: getattr(y, name("cumprod"))(0),
        lambda y, name: getattr(lamella.ops.aten, name("gelu"))(y),
    ],
    ids=["float_power", "nan_to_num", "cumprod", "gelu"],
)
def test_what_a_composite_in_place_overwrites_is_kept_for_its_derivative(call):
    x = leaf(0.5, -1.5)
    y = x * 1
    alias = y[:1]
    assert call(y, lambda name: name + "_") is y
    assert alias.item() == y[0].item()
    z = call(x * 1, lambda name: name)
    assert y.tolist() == z.tolist()
    (g,), (h,) = grad((y * y).sum(), x), grad((z * z).sum(), x)
    assert g.tolist() == h.tolist()
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        call(x, lambda name: name + "_")
    assert x.tolist() == [0.5, -1.5]


@pytest.mark.parametrize("requires_grad", [False, True])
def test_what_cannot_hold_the_result_is_not_written_in_place(requires_grad):
    x = leaf(0.5, -1.5).requires_grad_(requires_grad)
    for call in (lambda y: y.float_power_(1j), lambda y: y.pow_(1j), lambda y: y.cumprod_(0, dtype=lamella.complex128)):
        y = x * 1
        with pytest.raises(RuntimeError, match="cannot hold the result's complex128"):
            call(y)
        assert y.tolist() == [0.5, -1.5]
    y = lamella.tensor([1, 2])
    for call in (lambda: y.mul_(x), lambda: y.float_power_(x)):
        with pytest.raises(RuntimeError, match="cannot hold the result's float64"):
            call()


@pytest.mark.parametrize("how", ["set_", "resize_", "data"])
def test_memory_that_is_exchanged_before_backward_is_noticed(how):
    x, w = lamella.ones(3, requires_grad=True), lamella.ones(3)
    y = (x * w).sum()
    if how == "set_":
        w.set_(lamella.zeros(3))
    elif how == "resize_":
        w.resize_(2)
    else:
        w.data = lamella.zeros(3)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.backward()
    for change in (lambda: x.set_(w), lambda: x.resize_(2)):
        with pytest.raises(RuntimeError, match="the tensor requires grad"):
            change()
    assert x.tolist() == [1, 1, 1]
