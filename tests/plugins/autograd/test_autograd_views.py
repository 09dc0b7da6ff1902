"""Views and writes through them: the base keeps the history of shared memory, and each view's follows from it."""

import lamella
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

grad = lamella.autograd.grad


def leaf(*values):
    return lamella.tensor(list(values), dtype=lamella.float64, requires_grad=True)


def ones(*shape):
    return lamella.ones(*shape, dtype=lamella.float64)


def test_only_the_factor_requires_grad():
    x, w = ones(2, 2), leaf(3.0, 4.0)
    v = x[0]
    v.mul_(w)
    assert x.requires_grad and v.requires_grad and x.grad_fn.name() == "CopySlices"
    assert v.grad_fn.name() == "AsStridedBackward0"
    x.sum().backward()
    assert w.grad.tolist() == [1, 1]


def test_all_views_follow():
    x, w = ones(4), leaf(2.0)
    before, whole, part = x[1:3], x.view(2, 2), x[:2]
    part.mul_(w)
    assert before.requires_grad and whole.requires_grad and before.tolist() == [2, 1]
    after = x[:1]
    total = before.sum() + 10 * whole[0, 0] + 100 * after.sum()
    total.backward()
    assert w.grad.tolist() == [1 + 10 + 100]


def test_views_of_views():
    x, w = leaf(*range(1, 13)), leaf(2.0)
    y = (x * 1).view(3, 4)
    row = y[1]
    pair = row[1:3]
    last = pair[1:]
    last.mul_(w)
    pair.add_(row[:2])
    factors = lamella.arange(12).to(lamella.float64)
    (y.view(12) * factors).sum().backward()
    wanted = np.arange(12.0)
    wanted[4] += 5  # row[0] is added to row[1], and so on
    # row[1] = x5 + x4; row[2] = x6 w + x5
    wanted = np.arange(12.0)
    wanted[4], wanted[5], wanted[6] = 4 + 5, 5 + 6, 6 * 2
    np.testing.assert_allclose(x.grad.numpy(), wanted)
    assert w.grad.tolist() == [6 * 7]


def test_base_and_views_are_written_in_turns():
    x, w = leaf(1.0, 2.0, 3.0), leaf(5.0)
    y = x * 1
    v = y[:2]
    y.mul_(2)
    v.mul_(w)
    y.add_(1)
    v.mul_(3)
    y[1:].mul_(10)
    assert v.tolist() == [33, 630]
    y.sum().backward()
    assert x.grad.tolist() == [2 * 5 * 3, 2 * 5 * 3 * 10, 2 * 10] and w.grad.tolist() == [2 * 3 + 4 * 30]


def test_overlapping_writes():
    x, w = leaf(1.0, 2.0, 3.0), leaf(2.0, 3.0)
    y = x * 1
    left, right = y[:2], y[1:]
    left.mul_(w)
    right.mul_(w)
    assert y.tolist() == [2, 12, 9]
    y.sum().backward()
    assert x.grad.tolist() == [2, 6, 3] and w.grad.tolist() == [1 + 6, 2 * 2 + 3]


def test_a_write_from_a_view_of_the_same_memory():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = x * 1
    y[:2].copy_(y[2:])
    y[2:].add_(y[:2], alpha=5)
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 7, 7]


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.t(),
        lambda x: x.view(-1),
        lambda x: x[1],
        lambda x: x[:, 1:],
        lambda x: x[:, ::2],
        lambda x: x.unsqueeze(0),
        lambda x: x.diagonal(),
        lambda x: x.permute(1, 0),
        lambda x: x.narrow(1, 1, 2),
        lambda x: x.unfold(1, 1, 2),
        lambda x: x.select(1, 2),
        lambda x: x.transpose(0, 1)[1:].t(),
        lambda x: x.as_strided((2, 2), (3, 1), 1),
        lambda x: x.chunk(2, 1)[1],
        lambda x: x.split(2, 1)[0],
        lambda x: x.unbind(0)[1],
        lambda x: x.flatten(),
        lambda x: x.squeeze(),
        lambda x: x.movedim(0, 1),
        lambda x: x.reshape(3, 2),
        lambda x: x.view_as(x),
        lambda x: x.expand(2, 3),
        lambda x: x.detach().view(2, 3) if False else x.swapaxes(0, 1),
    ],
)
def test_every_view_writes_its_base(view):
    a = np.arange(6.0).reshape(2, 3) + 1
    w = lamella.tensor(3.0, dtype=lamella.float64, requires_grad=True)
    x = lamella.tensor(a, requires_grad=True)
    y = x * 2
    view(y).mul_(w)
    touched = np.zeros((2, 3))
    mark = lamella.zeros(2, 3, dtype=lamella.float64)
    view(mark).add_(1)
    touched = mark.numpy()
    assert lamella.allclose(y.detach(), lamella.tensor(np.where(touched, a * 6, a * 2)))
    factors = lamella.tensor(np.arange(6.0).reshape(2, 3) + 1)
    (y * factors).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.where(touched, 6.0, 2.0) * factors.numpy())
    np.testing.assert_allclose(w.grad.item(), (touched * 2 * a * factors.numpy()).sum())


def test_a_view_made_under_no_grad_is_a_view():
    x, w = leaf(1.0, 2.0), leaf(3.0)
    y = x * 1
    with lamella.no_grad():
        v = y[:1]
    assert not v.requires_grad
    v.mul_(w)
    assert v.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [3, 1] and w.grad.tolist() == [1]
    y = x * 1
    with lamella.no_grad():
        v = y[:1]
        u = v.view(1)
    u.mul_(7.0)
    assert v.requires_grad and y.tolist() == [7, 2]
    (g,) = grad(y.sum(), x)
    assert g.tolist() == [7, 1]
    with lamella.no_grad():
        v = x[:1]
    with pytest.raises(RuntimeError, match="leaf"):
        v.mul_(w)


def test_a_view_from_before_its_base_required_grad():
    base = ones(2)
    v = base[:1]
    base.requires_grad_()
    with pytest.raises(RuntimeError, match="leaf"):
        v.mul_(leaf(3.0))
    w = leaf(3.0)
    base = ones(2)
    v, u = base[:1], base[1:]
    v.mul_(w)
    u.mul_(2.0)
    assert u.requires_grad
    (base.sum() + u.sum()).backward()
    assert w.grad.tolist() == [1]


def test_a_detached_view_stays_detached():
    x = leaf(1.0, 2.0)
    y = x * 1
    d = y.detach()
    part = d[:1]
    y.mul_(2)
    assert not d.requires_grad and not part.requires_grad and d.tolist() == [2, 4]
    with lamella.no_grad():
        part.add_(1)
    assert y.tolist() == [3, 4]


def test_a_view_of_a_leaf():
    x = leaf(1.0, 2.0)
    v = x[:1]
    assert v.requires_grad and not v.is_leaf
    with lamella.no_grad():
        x.add_(1)
        v.add_(1)
    assert v.tolist() == [3]
    (v * 2).sum().backward()
    assert x.grad.tolist() == [2, 0]


def test_a_leaf_that_is_a_view():
    base = ones(2, 2)
    row = base[0]
    row.requires_grad_()
    assert row.is_leaf and not base.requires_grad
    (row * 3).sum().backward()
    assert row.grad.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="leaf"):
        row.mul_(2)


def test_writes_to_a_base_under_a_leaf_that_is_a_view():
    base, w = ones(2, 2), leaf(2.0)
    row = base[0].requires_grad_()
    with lamella.no_grad():
        base.mul_(2)
    assert row.is_leaf and row.requires_grad and row.tolist() == [2, 2]
    (row * 3).sum().backward()
    assert row.grad.tolist() == [3, 3] and w.grad is None


def test_views_of_complex_tensors():
    z = lamella.tensor([1 + 2j, 3 - 1j], dtype=lamella.complex128, requires_grad=True)
    w = leaf(2.0, 5.0)
    y = z * 1
    lamella.real(y).mul_(w)
    parts = lamella.view_as_real(y)
    parts[:, 1].add_(w)
    assert y.tolist() == [2 + 4j, 15 + 4j]
    lamella.view_as_real(y).sum().backward()
    assert z.grad.tolist() == [2 + 1j, 5 + 1j] and w.grad.tolist() == [1 + 1, 3 + 1]


def test_complex_views_of_real_tensors():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = (x * 1).view(2, 2)
    c = lamella.view_as_complex(y)
    c.mul_(1j)
    assert y.tolist() == [[-2, 1], [-4, 3]]
    (y * lamella.tensor([[1.0, 10.0], [100.0, 1000.0]], dtype=lamella.float64)).sum().backward()
    assert x.grad.tolist() == [10, -1, 1000, -100]
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = (x * 1).view(2, 2)
    lamella.imag(lamella.view_as_complex(y)).mul_(5)
    y.sum().backward()
    assert x.grad.tolist() == [1, 5, 1, 5]


def test_second_order_through_writes():
    x, w = leaf(1.0, 2.0, 3.0), leaf(2.0)
    y = x * x
    y[1:].mul_(w)
    y[:2].mul_(y[1:].detach() * 0 + w * w)
    total = (y * y).sum()
    gx, gw = grad(total, [x, w], create_graph=True)

    def value(x, w):
        y = x * x
        f = np.array([w * w, w * w * w, w])
        return ((y * f) ** 2).sum()

    a, b, h = np.array([1.0, 2.0, 3.0]), 2.0, 1e-4
    wanted = [(value(a + h * e, b) - value(a - h * e, b)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(gx.detach().numpy(), wanted, rtol=1e-5)
    np.testing.assert_allclose(gw.item(), (value(a, b + h) - value(a, b - h)) / (2 * h), rtol=1e-5)
    (mixed,) = grad(gw.sum(), x)
    wanted = [
        (value(a + h * e, b + h) - value(a - h * e, b + h) - value(a + h * e, b - h) + value(a - h * e, b - h))
        / (4 * h * h)
        for e in np.eye(3)
    ]
    np.testing.assert_allclose(mixed.numpy(), wanted, rtol=1e-3)


# ---- random programs -------------------------------------------------------------------------------------------------
# The same program runs twice: with views and writes in place, and as a pure one in which a view is a list of places in
# the base and a write makes a new base by index_put out of place.

SHAPE = (3, 4)
VIEWS = {
    "t": lambda t: t.t() if t.dim() == 2 else t,
    "first": lambda t: t[0] if t.dim() > 1 else t,
    "last": lambda t: t[-1] if t.dim() > 1 else t,
    "tail": lambda t: t[1:] if t.shape[0] > 1 else t,
    "head": lambda t: t[:2],
    "step": lambda t: t[::2],
    "columns": lambda t: t[:, 1:] if t.dim() == 2 and t.shape[1] > 1 else t,
    "diagonal": lambda t: t.diagonal() if t.dim() == 2 else t,
    "unsqueeze": lambda t: t.unsqueeze(0) if t.dim() < 3 else t,
    "reversed": lambda t: t.transpose(0, t.dim() - 1),
}
WRITES = {
    "mul": lambda t, w: t * w,
    "add": lambda t, w: t + w * w,
    "tanh": lambda t, w: lamella.tanh(t),
    "square": lambda t, w: t * t * 0.5,
    "fill": lambda t, w: t * 0 + 0.25,
    "set": lambda t, w: t * 0 + w,
}


def write_in_place(kind, t, w):
    if kind == "mul":
        t.mul_(w)
    elif kind == "add":
        t.add_(w * w)
    elif kind == "tanh":
        t.copy_(t.tanh())
    elif kind == "square":
        t.pow_(2).mul_(0.5)
    elif kind == "fill":
        t.fill_(0.25)
    else:
        t.copy_(w.expand(t.shape))


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("view"), st.integers(0, 9), st.sampled_from(sorted(VIEWS))),
        st.tuples(st.just("write"), st.integers(0, 9), st.sampled_from(sorted(WRITES))),
        st.tuples(st.just("write"), st.integers(0, 9), st.sampled_from(sorted(WRITES))),
        st.tuples(st.just("read"), st.integers(0, 9), st.integers(1, 5)),
        st.tuples(st.just("look"), st.integers(0, 9), st.just(0)),
    ),
    max_size=12,
)


def with_views(steps, x, w, base_requires_grad):
    base = x * 1 if base_requires_grad else x.detach().clone()
    views, total = [base], lamella.zeros((), dtype=lamella.float64)
    for what, which, how in steps:
        v = views[which % len(views)]
        if what == "view":
            views.append(VIEWS[how](v))
        elif what == "write":
            write_in_place(how, v, w)
        elif what == "read":
            total = total + (v.clone().sin() * how).sum()
        else:
            v.requires_grad  # noqa: B018  looking makes the history
    return total + (base * lamella.arange(12).to(lamella.float64).view(SHAPE)).sum()


def pure(steps, x, w, base_requires_grad):
    base = (x * 1 if base_requires_grad else x.detach() * 1).reshape(-1)
    places = [lamella.arange(12).view(SHAPE)]
    total = lamella.zeros((), dtype=lamella.float64)
    for what, which, how in steps:
        at = places[which % len(places)]
        flat = at.reshape(-1)
        if what == "view":
            places.append(VIEWS[how](at))
        elif what == "write":
            new = WRITES[how](base.index_select(0, flat), w)
            inverse = lamella.full((12,), flat.shape[0], dtype=lamella.int64)
            inverse[flat] = lamella.arange(flat.shape[0])
            chosen = lamella.cat([new, lamella.zeros(1, dtype=lamella.float64)]).index_select(0, inverse)
            base = lamella.where(inverse < flat.shape[0], chosen, base)
        elif what == "read":
            total = total + (base.index_select(0, flat).sin() * how).sum()
    return total + (base * lamella.arange(12).to(lamella.float64)).sum()


@given(STEPS, st.booleans())
def test_random_programs(steps, base_requires_grad):
    results = []
    for program in (with_views, pure):
        x = lamella.tensor(np.linspace(-1, 1, 12).reshape(SHAPE), requires_grad=True)
        w = lamella.tensor(0.7, dtype=lamella.float64, requires_grad=True)
        total = program(steps, x, w, base_requires_grad)
        if total.requires_grad:
            gx, gw = grad(total, [x, w], allow_unused=True, materialize_grads=True)
        else:
            gx, gw = lamella.zeros_like(x), lamella.zeros_like(w)
        results.append((total.item(), gx.numpy(), gw.numpy()))
    for got, wanted in zip(*results, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


SAVING = {
    "tanh_": lambda v: v.tanh_(),
    "sigmoid_": lambda v: v.sigmoid_(),
    "exp_": lambda v: v.exp_(),
    "sqrt_": lambda v: v.sqrt_(),
    "rsqrt_": lambda v: v.rsqrt_(),
    "reciprocal_": lambda v: v.reciprocal_(),
    "cumprod_": lambda v: v.cumprod_(0),
}
SEEN = {
    "[:2]": lambda y: y[:2],
    "[0]": lambda y: y[0],
    "t": lambda y: y.t(),
    "unbind": lambda y: y.unbind(0)[1],
    "[:]": lambda y: y[:],
    "of a view": lambda y: y.t()[1:].t(),
}


@pytest.mark.parametrize("view", SEEN)
@pytest.mark.parametrize("write", SAVING)
def test_second_order_through_a_write_that_saves_its_result(write, view):
    """The saved result is a view of the base after the write."""

    def f(x):
        y = x * 1.0
        SAVING[write](SEEN[view](y))
        return y * y

    x = ((lamella.arange(9, dtype=lamella.float64).reshape(3, 3) + 3) / 10).requires_grad_()
    assert lamella.autograd.gradcheck(f, (x,)) and lamella.autograd.gradgradcheck(f, (x,))


# ---- other sizes in place --------------------------------------------------------------------------------------------

IN_PLACE = {
    "t_": ((), lambda x: x.T),
    "transpose_": ((0, -1), lambda x: x.swapaxes(0, -1)),
    "swapaxes_": ((0, 1), lambda x: x.swapaxes(0, 1)),
    "unsqueeze_": ((1,), lambda x: x[:, None]),
    "squeeze_": ((), lambda x: x),
    "as_strided_": (((2, 2, 2), (3, 1, 1)), lambda x: np.stack([x[:, :2], x[:, 1:]], 1)),
}


@pytest.mark.parametrize("of_view", [False, True])
@pytest.mark.parametrize("name", IN_PLACE)
def test_other_sizes_in_place(name, of_view):
    """Gradients flow to the elements that the tensor has now, which numpy's views of their numbers tell."""
    args, view = IN_PLACE[name]
    x = leaf(*range(1, 7))
    y = (x * 1).view(2, 3) if of_view else x.view(2, 3) * 1
    before = y[0]
    assert getattr(y, name)(*args) is y and y.requires_grad
    at = view(np.arange(6).reshape(2, 3))
    assert y.detach().numpy().astype(int).tolist() == (at + 1).tolist()
    factors = np.arange(1.0, at.size + 1).reshape(at.shape)
    ((y * lamella.tensor(factors)).sum() + 100 * before.sum()).backward()
    wanted = np.where(np.arange(6) < 3, 100.0, 0.0)
    np.add.at(wanted, at.ravel(), factors.ravel())
    assert x.grad.tolist() == wanted.tolist()


def test_writes_after_other_sizes_in_place():
    x, w = leaf(*range(1, 7)), leaf(2.0)
    y = x.view(2, 3) * 1
    row = y[1]
    y.t_()[0].mul_(w)  # the first column
    (row * lamella.tensor([1.0, 10.0, 100.0], dtype=lamella.float64)).sum().backward()
    assert x.grad.tolist() == [0, 0, 0, 2, 10, 100] and w.grad.tolist() == [4]


def test_other_sizes_of_leaves_in_place():
    x = leaf(1.0, 2.0)
    for t in (x, x[:1]):
        with pytest.raises(RuntimeError, match="unsqueeze_: a (view of a )?leaf Variable that requires grad"):
            t.unsqueeze_(0)
    with lamella.no_grad():
        x.unsqueeze_(0)
    (x * 3).sum().backward()
    assert x.grad.tolist() == [[3, 3]]


def test_a_saved_tensor_is_noticed():
    y = leaf(1.0, 2.0).exp()  # saves its result
    y.unsqueeze_(0)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.sum().backward()


def test_a_window_that_leaves_elements_out():
    """A view that was made before would lose the gradient of an element that the tensor no longer has."""
    x = leaf(*range(1, 7))
    y = x * 1
    before = y[3:6]
    for size, stride in (((3,), (1,)), ((3,), (2,))):
        with pytest.raises(RuntimeError, match="as_strided_: the tensor requires grad, and its history has its shape"):
            y.as_strided_(size, stride, 0)
    before.sum().backward()
    assert x.grad.tolist() == [0, 0, 0, 1, 1, 1]


def test_a_leaf_that_gets_another_shape_after_it_was_used():
    x = leaf(1.0, 2.0)
    y = x * 2
    with lamella.no_grad():
        x.unsqueeze_(0)
    z = x * 3
    with pytest.raises(RuntimeError, match=r"backward: a leaf had the shape \(2\) when it was used"):
        (y.sum() + z.sum()).backward()
