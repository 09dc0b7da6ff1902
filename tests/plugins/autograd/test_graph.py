"""The graph as users see it: leaves and results, reading and setting grad, nodes, arguments of backward and grad."""

import gc
import weakref

import lamella
import numpy as np
import pytest

grad = lamella.autograd.grad

FACTORIES = {
    "zeros": lambda **k: lamella.zeros(2, **k),
    "ones": lambda **k: lamella.ones(2, 3, **k),
    "empty": lambda **k: lamella.empty(2, **k),
    "full": lambda **k: lamella.full((2,), 1.5, **k),
    "arange": lambda **k: lamella.arange(0.0, 3.0, **k),
    "linspace": lambda **k: lamella.linspace(0, 1, 3, **k),
    "eye": lambda **k: lamella.eye(2, **k),
    "rand": lambda **k: lamella.rand(2, **k),
    "randn": lambda **k: lamella.randn(2, **k),
    "tensor": lambda **k: lamella.tensor([1.0, 2.0], **k),
    "tensor of a number": lambda **k: lamella.tensor(1.0, **k),
    "zeros_like": lambda **k: lamella.zeros_like(lamella.ones(2), **k),
    "ones_like": lambda **k: lamella.ones_like(lamella.ones(2), **k),
    "full_like": lambda **k: lamella.full_like(lamella.ones(2), 2.0, **k),
    "rand_like": lambda **k: lamella.rand_like(lamella.ones(2), **k),
    "randn_like": lambda **k: lamella.randn_like(lamella.ones(2), **k),
    "empty_like": lambda **k: lamella.empty_like(lamella.ones(2), **k),
    "new_zeros": lambda **k: lamella.ones(2).new_zeros(2, **k),
    "new_full": lambda **k: lamella.ones(2).new_full((2,), 1.0, **k),
}


# ---- leaves ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", FACTORIES.values(), ids=FACTORIES)
def test_factories_take_requires_grad(make):
    assert make().requires_grad is False and make(requires_grad=False).requires_grad is False
    x = make(requires_grad=True)
    assert x.requires_grad is True and x.is_leaf is True and x.grad is None and x.grad_fn is None
    (x * 3).sum().backward()
    assert x.grad.tolist() == lamella.full_like(x, 3.0).tolist()
    assert x.grad.requires_grad is False


@pytest.mark.parametrize("dtype", [lamella.int64, lamella.bool, lamella.uint8, lamella.int32])
def test_integers_require_no_grad(dtype):
    for make in (
        lambda: lamella.ones(2, dtype=dtype, requires_grad=True),
        lambda: lamella.tensor([1, 0], dtype=dtype, requires_grad=True),
        lambda: lamella.ones(2, dtype=dtype).requires_grad_(),
        lambda: setattr(lamella.ones(2, dtype=dtype), "requires_grad", True),
    ):
        with pytest.raises(RuntimeError, match="floating point and complex"):
            make()
    x = lamella.ones(2, dtype=dtype)
    x.requires_grad = False
    assert not x.requires_grad_(False).requires_grad and x.is_leaf


@pytest.mark.parametrize(
    "dtype", [lamella.float16, lamella.bfloat16, lamella.float32, lamella.float64, lamella.complex64]
)
def test_the_gradient_has_the_dtype_of_its_tensor(dtype):
    x = lamella.ones(3, dtype=dtype, requires_grad=True)
    lamella.real(x.to(lamella.complex128)).sum().backward()
    assert x.grad.dtype is dtype and x.grad.tolist() == [1, 1, 1]


def test_requires_grad_is_for_leaves():
    x = lamella.ones(2)
    assert x.requires_grad_() is x and x.requires_grad
    y = x * 2
    assert y.requires_grad and not y.is_leaf
    assert y.requires_grad_() is y
    with pytest.raises(RuntimeError, match="leaf"):
        y.requires_grad_(False)
    with pytest.raises(RuntimeError, match="leaf"):
        y.requires_grad = False
    x.requires_grad = False
    assert not (x * 2).requires_grad and y.requires_grad
    with pytest.raises(TypeError):
        x.requires_grad = 1
    with pytest.raises((AttributeError, TypeError)):
        x.is_leaf = False
    with pytest.raises(AttributeError):
        x.grad_fn = None


def test_integer_results_require_nothing():
    x = lamella.rand(3, requires_grad=True)
    for y in (x > 0.5, x.argmax(), x.to(lamella.int64), lamella.eq(x, x)):
        assert not y.requires_grad and y.grad_fn is None and y.is_leaf
    values, indices = lamella.sort(x)
    assert values.requires_grad and not indices.requires_grad


def test_detach_shares_memory_without_history():
    x = lamella.ones(2, requires_grad=True)
    y = x * 2
    d = y.detach()
    assert not d.requires_grad and d.is_leaf and d.grad_fn is None
    assert d.data_ptr() == y.data_ptr() and y.requires_grad
    d.requires_grad_()
    (d * 3).sum().backward()
    assert d.grad.tolist() == [3, 3] and x.grad is None


def test_detach_in_place():
    x = lamella.ones(2, requires_grad=True)
    y = x * 2
    assert y.detach_() is y and y.is_leaf and not y.requires_grad and y.grad_fn is None
    assert not (y * 2).requires_grad
    with pytest.raises(RuntimeError, match="view"):
        (x * 2)[0].detach_()
    assert x.detach_() is x and not x.requires_grad


# ---- grad ------------------------------------------------------------------------------------------------------------


def test_gradients_accumulate_in_place():
    x = lamella.ones(3, requires_grad=True)
    (x * 2).sum().backward()
    first, where = x.grad, x.grad.data_ptr()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [5, 5, 5] and x.grad.data_ptr() == where and first.tolist() == [5, 5, 5]
    assert x.grad is x.grad
    x.grad = None
    assert x.grad is None
    x.sum().backward()
    assert x.grad.tolist() == [1, 1, 1] and first.tolist() == [5, 5, 5]


def test_with_create_graph_a_new_gradient_is_made():
    x = lamella.tensor(3.0, requires_grad=True)
    (x * x).backward(create_graph=True)
    first = x.grad
    assert first.requires_grad and first.item() == 6
    (x * x).backward(create_graph=True)
    assert first.item() == 6 and x.grad.item() == 12 and x.grad is not first
    (second,) = grad(x.grad, x)
    assert second.item() == 4
    x.grad = None  # else the leaf's gradient would keep the leaf alive


def test_what_the_user_holds_is_not_the_gradient_s_memory():
    x, y = lamella.ones(3, requires_grad=True), lamella.ones(3, requires_grad=True)
    g = lamella.tensor([1.0, 2.0, 3.0])
    (x + y).backward(g)
    g.zero_()
    assert x.grad.tolist() == [1, 2, 3] and y.grad.tolist() == [1, 2, 3]
    assert len({x.grad.data_ptr(), y.grad.data_ptr(), g.data_ptr()}) == 3
    x.grad.zero_()
    assert y.grad.tolist() == [1, 2, 3]
    # The same holds if the incoming gradient is a view, or not dense.
    for step in (lambda t: t.view(3), lambda t: t.reshape(3, 1).t().reshape(3), lambda t: t.expand(3)):
        a = lamella.ones(3, requires_grad=True)
        g = lamella.tensor([1.0, 2.0, 3.0])
        step(a).backward(g)
        g.zero_()
        assert a.grad.tolist() == [1, 2, 3]
    one = lamella.ones(2, 3, requires_grad=True)
    one.sum().backward()
    assert one.grad.is_contiguous()
    one.grad[0, 0] = 5
    assert one.grad.tolist() == [[5, 1, 1], [1, 1, 1]]


def test_a_gradient_that_a_hook_saw_is_its_own():
    x, seen = lamella.ones(2, requires_grad=True), []
    x.register_hook(lambda g: seen.append(g))
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    assert [g.tolist() for g in seen] == [[2, 2], [2, 2]] and x.grad.tolist() == [4, 4]


def test_what_may_be_a_grad():
    x = lamella.ones(2, requires_grad=True)
    x.grad = lamella.full((2,), 7.0)
    x.sum().backward()
    assert x.grad.tolist() == [8, 8]
    for wrong, words in (
        (lamella.ones(3), "shape"),
        (lamella.ones(2, dtype=lamella.float64), "dtype"),
        (lamella.ones(2, device="meta"), "device"),
        (x, "own grad"),
    ):
        with pytest.raises(RuntimeError, match=words):
            x.grad = wrong
    with pytest.raises(TypeError):
        x.grad = 1.0
    assert x.grad.tolist() == [8, 8]
    x.grad = None
    assert x.grad is None
    with pytest.raises((AttributeError, RuntimeError, TypeError)):
        del x.requires_grad


def test_retain_grad():
    x = lamella.ones(2, requires_grad=True)
    y = x * 2
    assert y.retains_grad is False and x.retains_grad is False
    y.retain_grad()
    y.retain_grad()
    x.retain_grad()
    assert y.retains_grad is True and x.retains_grad is False
    z = (y * 3).sum()
    z.backward(retain_graph=True)
    assert y.grad.tolist() == [3, 3] and x.grad.tolist() == [6, 6]
    z.backward()
    assert y.grad.tolist() == [6, 6]
    with pytest.raises(RuntimeError, match="requires_grad=False"):
        lamella.ones(1).retain_grad()


def test_retain_grad_follows_a_write_in_place():
    x = lamella.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.mul_(5)
    assert y.retains_grad
    (y * 3).sum().backward()
    assert y.grad.tolist() == [3, 3] and x.grad.tolist() == [30, 30]
    y = x * 2
    y.mul_(5)
    y.retain_grad()
    (y * 3).sum().backward()
    assert y.grad.tolist() == [3, 3]


def test_retain_grad_of_views():
    x = lamella.ones(3, requires_grad=True)
    y = x * 2
    v = y[:2]
    v.retain_grad()
    (v * 3).sum().backward()
    assert v.grad.tolist() == [3, 3] and x.grad.tolist() == [6, 6, 0]
    y = x * 2
    v = y[:2]
    v.retain_grad()
    v.mul_(4)
    (v * 3).sum().backward()
    assert v.retains_grad and v.grad.tolist() == [3, 3]


def test_retained_tensors_may_go_first():
    x = lamella.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    z = (y * 3).sum()
    del y
    z.backward()
    assert x.grad.tolist() == [6, 6]


# ---- nodes -----------------------------------------------------------------------------------------------------------


def test_nodes():
    x, w = lamella.ones(2, requires_grad=True), lamella.ones(2, requires_grad=True)
    y = x * w
    node = y.grad_fn
    assert node is y.grad_fn and node.name() == "MulBackward0" and "MulBackward0" in repr(node)
    (a, i), (b, j) = node.next_functions
    assert a.name() == b.name() == "AccumulateGrad" and (i, j) == (0, 0)
    assert a is lamella.autograd.graph.get_gradient_edge(x).node and a is not b
    z = y + 1
    assert z.grad_fn.next_functions[0][0] is node
    assert (x * 2.0).grad_fn.next_functions[0][0] is a
    half = lamella.ones(2) * x
    assert half.grad_fn.next_functions[0] == (None, 0) and half.grad_fn.next_functions[1][0] is a
    assert isinstance(node, lamella.autograd.graph.Node)
    with pytest.raises(TypeError):
        lamella.autograd.graph.Node()


def test_which_result_of_its_node_a_tensor_is():
    parts = lamella.unbind(lamella.ones(2, 3, requires_grad=True) * 2)
    values, _ = lamella.sort(lamella.rand(3, requires_grad=True))
    edges = [lamella.autograd.graph.get_gradient_edge(t) for t in (*parts, values)]
    assert edges[-1].output_nr == 0 and edges[-1].node.name() == "SortBackward0"
    both = lamella.frexp(lamella.rand(3, requires_grad=True)) if hasattr(lamella, "frexp") else None
    assert both is None or both[0].requires_grad
    with pytest.raises(RuntimeError, match="require grad"):
        lamella.autograd.graph.get_gradient_edge(lamella.ones(1))


def test_metadata_stays_with_the_node():
    x = lamella.ones(2, requires_grad=True)
    y = x * 2
    y.grad_fn.metadata["key"] = [1]
    gc.collect()
    assert y.grad_fn.metadata == {"key": [1]}
    (z,) = [y + 1]
    assert z.grad_fn.next_functions[0][0].metadata["key"] == [1]

    class Thing:
        pass

    thing = Thing()
    alive = weakref.ref(thing)
    y.grad_fn.metadata["thing"] = thing
    del thing
    gc.collect()
    assert alive() is not None
    del y, z
    gc.collect()
    assert alive() is None


def test_a_graph_outlives_its_tensors_and_not_longer():
    x = lamella.ones(2, requires_grad=True)
    leaf = weakref.ref(x)
    y = (x * 2).exp()
    node = y.grad_fn
    del x
    gc.collect()
    y.sum().backward()
    assert node.next_functions[0][0].name() == "MulBackward0"
    del y
    gc.collect()
    assert leaf() is None
    names = []
    while node is not None:
        names.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    assert names == ["ExpBackward0", "MulBackward0", "AccumulateGrad"]


# ---- backward and grad -----------------------------------------------------------------------------------------------


def test_what_backward_refuses():
    x = lamella.ones(2, requires_grad=True)
    for call, words in (
        (lambda: (x * 2).backward(), "scalar outputs"),
        (lambda: lamella.ones(1).backward(), "does not require grad"),
        (lambda: (x * 2).backward(lamella.ones(3)), "shape"),
        (lambda: (x * 2).backward(lamella.ones(2, dtype=lamella.complex64)), "dtype"),
        (lambda: (x * 2).backward(lamella.ones(2, dtype=lamella.int64)), "dtype"),
        (lambda: (x * 2).backward(lamella.ones(2, device="meta")), "device"),
        (lambda: lamella.autograd.backward([]), "empty"),
        (lambda: lamella.autograd.backward([x.sum()], [None, None]), "1 tensors and 2 gradients"),
        (lambda: x.sum().backward(inputs=lamella.ones(1)), "inputs does not require grad"),
        (lambda: (x * (1 + 2j)).sum().backward(), "real scalar"),
    ):
        with pytest.raises(RuntimeError, match=words):
            call()
    for call in (
        lambda: lamella.autograd.backward([1.0]),
        lambda: (x * 2).backward(1.0),
        lambda: grad(x.sum(), [None]),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises((ValueError, RuntimeError), match="empty"):
        x.sum().backward(inputs=[])
    assert x.grad is None


def test_a_gradient_of_another_precision_is_cast():
    x = lamella.ones(2, requires_grad=True)
    (x * 2).backward(lamella.ones(2, dtype=lamella.float64))
    assert x.grad.dtype is lamella.float32 and x.grad.tolist() == [2, 2]


def test_zero_dimensions_and_zero_elements():
    x = lamella.tensor(2.0, requires_grad=True)
    (x * x).backward()
    assert x.grad.shape == () and x.grad.item() == 4
    e = lamella.ones(0, 3, requires_grad=True)
    (e * 2).sum().backward()
    assert e.grad.shape == (0, 3)
    e.grad = None
    (e * 2).backward(lamella.ones(0, 3))
    assert e.grad.shape == (0, 3)
    w = lamella.ones(3, requires_grad=True)
    (e.detach() * w).sum().backward()
    assert w.grad.tolist() == [0, 0, 0]
    one = lamella.ones(1, 1, requires_grad=True)
    (one * 2).backward()
    assert one.grad.tolist() == [[2]]


def test_a_leaf_is_a_root():
    x = lamella.tensor(2.0, requires_grad=True)
    x.backward()
    x.backward()
    assert x.grad.item() == 2
    assert [g.item() for g in grad(x, x)] == [1]


def test_backward_for_chosen_inputs():
    x, w = lamella.ones(2, requires_grad=True), lamella.ones(2, requires_grad=True)
    h = x * 3
    y = (h * w).sum()
    y.backward(inputs=[x], retain_graph=True)
    assert x.grad.tolist() == [3, 3] and w.grad is None
    y.backward(inputs=w, retain_graph=True)
    assert x.grad.tolist() == [3, 3] and w.grad.tolist() == [3, 3]
    y.backward(inputs=[h])
    assert h.grad.tolist() == [1, 1] and x.grad.tolist() == [3, 3]


def test_several_roots_and_the_same_one_twice():
    x = lamella.ones(2, requires_grad=True)
    a, b = (x * 2).sum(), x * 5
    lamella.autograd.backward([a, b], [None, lamella.tensor([1.0, 10.0])])
    assert x.grad.tolist() == [7, 52]
    y = (x * 2).sum()
    (g,) = grad([y, y], x, retain_graph=True)
    assert g.tolist() == [4, 4]
    one, two = grad(y, [x, x])
    assert one.tolist() == two.tolist() == [2, 2]
    inner = x * 2
    outer = inner * 3
    (g,) = grad([outer.sum(), inner.sum()], x)  # the first root depends on the second
    assert g.tolist() == [8, 8]


def test_the_same_input_twice_gives_gradients_that_share_nothing():
    x = lamella.ones(2, requires_grad=True)
    y = x * 2
    one, two = grad(y.sum(), [x, x], retain_graph=True)
    assert one.tolist() == two.tolist() == [2, 2]
    y.sum().backward(inputs=[x, x])
    assert x.grad.tolist() == [2, 2]


def test_grad_with_respect_to_results_and_between():
    x = lamella.tensor([1.0, 2.0], requires_grad=True)
    h = x * x
    y = (h * 3).sum()
    gx, gh, gy = grad(y, [x, h, y])
    assert gx.tolist() == [6, 12] and gh.tolist() == [3, 3] and gy.item() == 1
    assert x.grad is None and h.is_leaf is False


def test_inputs_that_are_not_used():
    x, w = lamella.ones(2, requires_grad=True), lamella.ones(3, requires_grad=True)
    y = (x * 2).sum()
    with pytest.raises(RuntimeError, match="element 1 of inputs.*allow_unused"):
        grad(y, [x, w], retain_graph=True)
    a, b = grad(y, [x, w], allow_unused=True, retain_graph=True)
    assert a.tolist() == [2, 2] and b is None
    a, b = grad(y, [x, w], materialize_grads=True, retain_graph=True)
    assert b.tolist() == [0, 0, 0] and a.tolist() == [2, 2]
    with pytest.raises(ValueError, match="allow_unused"):
        grad(y, x, allow_unused=False, materialize_grads=True)
    with pytest.raises(RuntimeError, match="does not require grad"):
        grad(y, lamella.ones(1))
    with pytest.raises(ValueError, match="empty"):
        grad(y, [])


def test_a_second_backward():
    x = lamella.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time") as error:
        y.backward()
    assert "MulBackward0" in str(error.value) and "retain_graph=True" in str(error.value)
    assert x.grad.tolist() == [2, 2]
    z = (x * 2).sum()  # this graph saves no tensors, so backward frees none
    z.backward()
    z.backward()
    y = (x * x).sum()
    for _ in range(3):
        y.backward(retain_graph=True)
    grad(y, x, create_graph=True)  # create_graph retains the graph
    grad(y, x)
    with pytest.raises(RuntimeError, match="second time"):
        grad(y, x)


def test_batched_gradients():
    x = lamella.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * x
    (jacobian,) = grad(y, x, lamella.eye(3), is_grads_batched=True)
    assert jacobian.tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    w = lamella.ones(1, requires_grad=True)
    a, b = grad((x * x), [x, w], lamella.eye(3), is_grads_batched=True, allow_unused=True)
    assert b is None and a.shape == (3, 3)
    with pytest.raises(RuntimeError, match="first dimension"):
        grad([x * 2, x * 3], x, [lamella.ones(2, 3), lamella.ones(4, 3)], is_grads_batched=True)


def test_higher_orders():
    x = lamella.tensor(1.5, dtype=lamella.float64, requires_grad=True)
    y, wanted = x**5, [5 * 1.5**4, 20 * 1.5**3, 60 * 1.5**2, 120 * 1.5, 120.0]
    for value in wanted:
        (y,) = grad(y, x, create_graph=True)
        assert y.item() == pytest.approx(value)
    (y,) = grad(y, x, create_graph=True)
    assert y.item() == 0


def test_gradients_are_summed_over_broadcast_dimensions():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((3, 1, 4)), rng.standard_normal((2, 1))
    x, y = lamella.tensor(a, requires_grad=True), lamella.tensor(b, requires_grad=True)
    (x * y).sum().backward()
    whole = np.ones((3, 2, 4))
    np.testing.assert_allclose(x.grad.numpy(), (whole * b).sum(1, keepdims=True))
    np.testing.assert_allclose(y.grad.numpy(), (whole * a).sum((0, 2))[:, None])
