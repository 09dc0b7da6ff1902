"""Function: steps of the graph in Python, with everything that their ctx offers."""

import gc
import weakref

import lamella
import pytest
from lamella.autograd import Function
from lamella.autograd.function import once_differentiable

grad = lamella.autograd.grad


def leaf(*values):
    return lamella.tensor(list(values) or [1.0, 2.0], dtype=lamella.float64, requires_grad=True)


def function(forward, backward, setup=None):
    """Makes a subclass of Function from two or three plain functions."""
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    if setup:
        methods["setup_context"] = staticmethod(setup)
    return type("Made", (Function,), methods)


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


def test_forward_and_backward():
    x = leaf()
    y = Cube.apply(x)
    assert y.tolist() == [1, 8] and y.requires_grad and not y.is_leaf
    assert y.grad_fn.name() == "CubeBackward" and y.grad_fn.next_functions[0][0].name() == "AccumulateGrad"
    y.sum().backward()
    assert x.grad.tolist() == [3, 12]


def test_several_orders_through_saved_inputs_and_results():
    x = leaf()
    y = Cube.apply(x).sum()
    for wanted in ([3, 12], [6, 12], [6, 6]):
        (y,) = grad(y.sum(), x, create_graph=True)
        assert y.tolist() == wanted
    x = leaf(0.0, 1.0)
    y = Exp.apply(x)
    for _ in range(3):
        (g,) = grad(y.sum(), x, create_graph=True)
        lamella_exp = x.detach().exp()
        assert lamella.allclose(g, lamella_exp)
        y = g


def test_setup_context():
    def forward(x, k):
        return x * k

    def setup(ctx, inputs, output):
        ctx.k = inputs[1]
        ctx.save_for_backward(inputs[0], output)
        seen.append((type(inputs), output.requires_grad))

    def backward(ctx, g):
        x, y = ctx.saved_tensors
        assert y.tolist() == [3, 6] and x.tolist() == [1, 2]
        return g * ctx.k, None

    seen = []
    x = leaf()
    F = function(forward, backward, setup)
    F.apply(x, 3).sum().backward()
    assert x.grad.tolist() == [3, 3] and seen == [(tuple, False)]


def test_nothing_is_recorded_without_need():
    y = Cube.apply(lamella.ones(2))
    assert not y.requires_grad and y.grad_fn is None
    with lamella.no_grad():
        assert not Cube.apply(leaf()).requires_grad

    calls = []
    F = function(lambda ctx, x: x * 2, lambda ctx, g: calls.append(1))
    F.apply(lamella.ones(2))
    assert calls == []


def test_several_results_and_results_that_are_no_tensors():
    def backward(ctx, *g):
        came.append([None if t is None else t.tolist() for t in g])
        return g[0] * 2 + g[3] * 5

    came = []
    F = function(lambda ctx, x: (x * 2, "text", None, x * 5), backward)
    x = leaf()
    a, text, nothing, b = F.apply(x)
    assert (text, nothing) == ("text", None) and a.requires_grad and b.requires_grad
    assert a.grad_fn is b.grad_fn
    b.sum().backward()
    assert came == [[[0, 0], None, None, [1, 1]]] and x.grad.tolist() == [5, 5]


def test_gradients_are_not_materialized_on_request():
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def backward(ctx, a, b):
        came.append((a is None, b is None))
        return (0 if a is None else a * 2) + (0 if b is None else b * 3)

    came = []
    x = leaf()
    _, b = function(forward, backward).apply(x)
    b.sum().backward()
    assert came == [(True, False)] and x.grad.tolist() == [3, 3]


def test_needs_input_grad():
    def backward(ctx, g):
        seen.append(ctx.needs_input_grad)
        return g, None, g

    def forward(ctx, x, k, y):
        seen.append(ctx.needs_input_grad)
        return x + y

    seen = []
    x = leaf()
    function(forward, backward).apply(x, 3, lamella.ones(2, dtype=lamella.float64)).sum().backward()
    assert seen == [(True, False, False)] * 2 and x.grad.tolist() == [1, 1]


@pytest.mark.parametrize(
    "returned, words",
    [
        (lambda g: (g,), "expected 2, got 1"),
        (lambda g: (g, g, g), "expected 2, got 3"),
        (lambda g: g, "expected 2, got 1"),
    ],
)
def test_the_number_of_gradients_must_be_right(returned, words):
    F = function(lambda ctx, x, y: x * y, lambda ctx, g: returned(g))
    with pytest.raises(RuntimeError, match="MadeBackward returned an incorrect number of gradients") as caught:
        F.apply(leaf(), leaf()).sum().backward()
    assert words in str(caught.value)


def test_none_gradients():
    x, w = leaf(), leaf()
    F = function(lambda ctx, x, y: x * y, lambda ctx, g: (None, g * 2, None, None))
    y = F.apply(x, w).sum()
    assert grad(y, [x, w], allow_unused=True, retain_graph=True)[0] is None
    y.backward()
    assert x.grad is None and w.grad.tolist() == [2, 2]


def test_gradients_of_a_wrong_kind():
    x = leaf()
    F = function(lambda ctx, x: x * 2, lambda ctx, g: 5)
    with pytest.raises(TypeError, match="MadeBackward: a gradient must be a Tensor or None, got int"):
        F.apply(x).sum().backward()
    F = function(lambda ctx, x: x * 2, lambda ctx, g: lamella.ones(7))
    with pytest.raises(RuntimeError, match="MadeBackward.*shape"):
        F.apply(x).sum().backward()
    F = function(lambda ctx, x: x * 2, lambda ctx, g: lamella.ones(1, dtype=lamella.float32))
    (g,) = grad(F.apply(leaf(1.0)).sum(), x, allow_unused=True)
    assert g is None


def test_an_input_that_is_no_tensor_has_no_gradient():
    x = leaf()
    F = function(lambda ctx, x, s: x * s, lambda ctx, g: (g * 2, g))
    with pytest.raises(
        RuntimeError, match="MadeBackward: input 1 is no tensor; its gradient must be None, got lamella"
    ):
        F.apply(x, 2.0).sum().backward()
    F.apply(x, leaf().detach()).sum().backward()  # an input without requires_grad may still get a gradient


def test_keywords_are_refused():
    with pytest.raises(TypeError, match="keyword"):
        Cube.apply(x=leaf())


def test_errors_come_back_as_they_are():
    class Mine(Exception):
        pass

    error = Mine("text")

    def fails(*_):
        raise error

    x = leaf()
    with pytest.raises(Mine) as caught:
        function(fails, fails).apply(x)
    assert caught.value is error and lamella.is_grad_enabled()
    y = function(lambda ctx, x: x * 2, fails).apply(x)
    with pytest.raises(Mine) as caught:
        y.sum().backward()
    assert caught.value is error
    with pytest.raises(NotImplementedError, match="forward"):
        type("Empty", (Function,), {}).apply(x)
    no_backward = type("Half", (Function,), {"forward": staticmethod(lambda ctx, x: x * 2)})
    with pytest.raises(NotImplementedError, match="backward"):
        no_backward.apply(x).sum().backward()


@pytest.mark.parametrize("kind", [tuple, list])
def test_several_results_keep_their_kind(kind):
    f = function(lambda ctx, x: kind([x * 2, x * 3]), lambda ctx, a, b: a * 2 + b * 3)
    for x in (leaf(), leaf().detach()):
        results = f.apply(x)
        assert type(results) is kind and [r.tolist() for r in results] == [[2, 4], [3, 6]]
    x = leaf()
    assert grad(sum(f.apply(x)).sum(), x)[0].tolist() == [5, 5]


# ---- in place --------------------------------------------------------------------------------------------------------


def doubled(ctx, x):
    x.mul_(2)
    ctx.mark_dirty(x)
    return x


def test_mark_dirty():
    F = function(doubled, lambda ctx, g: g * 2)
    x = leaf()
    y = x * 3
    version = y._version
    z = F.apply(y)
    assert z is y and y.grad_fn.name() == "MadeBackward" and y._version > version
    z.sum().backward()
    assert x.grad.tolist() == [6, 6]
    with pytest.raises(RuntimeError, match="leaf"):
        F.apply(leaf())


def test_mark_dirty_of_a_view_writes_its_base():
    F = function(doubled, lambda ctx, g: g * 2)
    x = leaf(1.0, 2.0, 3.0)
    y = x * 3
    v = y[1:]
    assert F.apply(v) is v
    y.sum().backward()
    assert x.grad.tolist() == [3, 6, 6]


def test_mark_dirty_of_a_view_among_several_results_is_refused():
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x, x + 1

    F = function(forward, lambda ctx, g, h: g * 2 + h * 2)
    y = leaf(1.0, 2.0, 3.0) * 3
    with pytest.raises(RuntimeError, match="view"):
        F.apply(y[1:])
    x = leaf()
    a, b = F.apply(x * 1)
    (a + b).sum().backward()
    assert x.grad.tolist() == [4, 4]


def test_a_view_that_it_returned_is_not_written():
    """Neither the returned view nor a view of it may be written: the write would bypass the function's backward."""
    F = function(lambda ctx, x: x[0], lambda ctx, g: lamella.stack([g * 2, g * 0]))
    x = lamella.ones(2, 3, requires_grad=True) * 1
    v = F.apply(x)
    for view in (v, v.view(3), v[1:], v.view(3)[:2]):
        with pytest.raises(RuntimeError, match=f"mul_: a view that {F.__name__} returned"):
            view.mul_(2)
    assert v.tolist() == [1, 1, 1]


def test_what_is_marked_dirty_is_an_input_and_is_returned():
    def other(ctx, x):
        ctx.mark_dirty(lamella.ones(1))
        return x * 2

    def not_returned(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x + 1

    for forward in (other, not_returned):
        with pytest.raises(RuntimeError, match="mark_dirty"):
            function(forward, lambda ctx, g: g).apply(leaf() * 1)


def test_a_saved_input_that_is_written_is_noticed():
    x = leaf()
    h = x * 1
    y = Cube.apply(h)
    h.add_(1)
    with pytest.raises(RuntimeError, match="CubeBackward.*modified by an inplace operation.*version"):
        y.sum().backward()
    y = Exp.apply(x)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="ExpBackward.*its result"):
        y.sum().backward()


# ---- results without gradient, inputs as results --------------------------------------------------------------------


def test_mark_non_differentiable():
    def forward(ctx, x):
        order, rank = lamella.sort(x)[1], x * 0
        ctx.mark_non_differentiable(order, rank)
        return x * 2, order, rank

    def backward(ctx, g, order, rank):
        came.append((order is None, None if rank is None else rank.tolist()))
        return g * 2

    came = []
    x = leaf()
    y, order, rank = function(forward, backward).apply(x)
    assert y.requires_grad and not order.requires_grad and not rank.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [2, 2] and len(came) == 1


def test_a_saved_result_without_gradient_has_none_in_backward():
    def forward(ctx, x):
        scale = 1 / (x * x).sum()
        ctx.mark_non_differentiable(scale)
        ctx.save_for_backward(x, scale)
        return x * scale, scale

    def backward(ctx, g, _):
        x, scale = ctx.saved_tensors
        assert not scale.requires_grad and scale.grad_fn is None
        scale = 1 / (x * x).sum()
        return scale * g - 2 * scale * scale * (g * x).sum() * x

    f = function(forward, backward).apply
    x = lamella.tensor([1.0, -2.0], dtype=lamella.float64, requires_grad=True)
    assert lamella.autograd.gradcheck(f, x) and lamella.autograd.gradgradcheck(f, x)


def test_forward_that_returns_its_input():
    F = function(lambda ctx, x: x, lambda ctx, g: g * 7)
    x = leaf()
    y = F.apply(x)
    assert y is not x and y.data_ptr() == x.data_ptr() and x.is_leaf and y.grad_fn.name() == "MadeBackward"
    y.sum().backward()
    assert x.grad.tolist() == [7, 7]
    with pytest.raises(RuntimeError, match="in-place|inplace|in place"):
        F.apply(leaf()).mul_(2)
    with pytest.raises(RuntimeError, match="in-place|inplace|in place"):
        F.apply(leaf() * 1).mul_(2)


def test_forward_that_returns_a_view_of_its_input():
    def backward(ctx, g):
        return lamella.stack([g * 7, g * 0])

    F = function(lambda ctx, x: x[0], backward)
    x = leaf()
    y = F.apply(x)
    y.backward()
    assert x.grad.tolist() == [7, 0]
    h = leaf() * 1
    y = F.apply(h)
    with pytest.raises(RuntimeError, match="in-place|inplace|in place"):
        y.mul_(2)


# ---- ctx -------------------------------------------------------------------------------------------------------------


def test_ctx():
    x = leaf()
    seen = {}

    def forward(ctx, x):
        ctx.number = 5
        ctx.save_for_backward(x, None)
        seen["ctx"] = ctx
        return x * 2

    def backward(ctx, g):
        seen["same"] = ctx is seen["ctx"]
        a, b = ctx.saved_tensors
        seen["saved"] = (a is x, b)
        return g * ctx.number

    function(forward, backward).apply(x).sum().backward()
    assert x.grad.tolist() == [5, 5] and seen["same"] and seen["saved"] == (True, None)
    with pytest.raises(AttributeError):
        seen["ctx"].missing  # noqa: B018
    with pytest.raises(TypeError, match="save_for_backward can only take tensors"):
        function(lambda ctx, x: ctx.save_for_backward(1), backward).apply(x)


def test_a_freed_graph_says_so_in_saved_tensors():
    y = Cube.apply(leaf()).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_the_ctx_goes_with_the_graph():
    kept = []

    class F(Function):
        @staticmethod
        def forward(ctx, x):
            kept.append(weakref.ref(ctx))
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    y = F.apply(leaf()).sum()
    gc.collect()
    assert kept[0]() is not None
    y.backward()
    del y
    gc.collect()
    assert kept[0]() is None


@pytest.mark.long
def test_cycles_through_ctx_are_collected():
    kept = []

    class F(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.cycle = y
            kept.append(weakref.ref(ctx))
            return y

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class G(F):
        @staticmethod
        def forward(ctx, x):
            kept.append(weakref.ref(ctx))
            return x * 2

    def direct():
        F.apply(leaf())

    def further():
        F.apply(leaf()).exp().sum()

    def by_the_result():
        y = G.apply(leaf())
        kept[-1]().result = y

    def by_a_later_result():
        z = G.apply(leaf()).exp().sum()
        kept[-1]().result = z

    for make in (direct, further, by_the_result, by_a_later_result):
        kept.clear()
        make()
        gc.collect()
        gc.collect()
        assert kept[0]() is None, make.__name__


# ---- once ------------------------------------------------------------------------------------------------------------


class Once(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        assert not lamella.is_grad_enabled()
        return 2 * g * ctx.saved_tensors[0]


def test_once_differentiable():
    x = leaf()
    Once.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 4]
    (g,) = grad(Once.apply(x).sum(), x, create_graph=True)
    assert g.tolist() == [2, 4]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        grad(g.sum(), x)


def test_a_function_in_a_function():
    F = function(lambda ctx, x: Cube.apply(x) * 2, lambda ctx, g: Cube.apply(g))
    x = leaf()
    F.apply(x).sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_recording_inside_forward():
    def forward(ctx, x):
        with lamella.enable_grad():
            inner = x.detach().requires_grad_()
            y = (inner * inner).sum()
        ctx.inner, ctx.y = inner, y
        return y.detach()

    def backward(ctx, g):
        return g * grad(ctx.y, ctx.inner)[0]

    x = leaf()
    function(forward, backward).apply(x).backward()
    assert x.grad.tolist() == [2, 4]


def test_a_gradient_on_another_device_is_refused():
    F = function(lambda ctx, x: x * 2, lambda ctx, g: lamella.empty(2, device="meta", dtype=lamella.float64))
    with pytest.raises(RuntimeError, match="MadeBackward.*device"):
        F.apply(leaf()).sum().backward()


@pytest.mark.parametrize("materialize", [True, False])
def test_gradients_of_results_without_one(materialize):
    """A result that is marked, or of integers, gets zeros of its shape and dtype; None where the class wants None."""
    got = []

    def forward(ctx, x):
        marked, whole = x[:1] + 1, x.long()
        ctx.mark_non_differentiable(marked)
        ctx.set_materialize_grads(materialize)
        return x * 2, marked, whole, 3

    def backward(ctx, *grads):
        got.extend(grads)
        return grads[0] * 2

    x = leaf()
    results = function(forward, backward).apply(x)
    assert [r.requires_grad for r in results[:3]] == [True, False, False]
    results[0].sum().backward()
    assert x.grad.tolist() == [2.0, 2.0] and got[3] is None
    if not materialize:
        assert got[1:3] == [None, None]
        return
    assert [(g.tolist(), g.dtype) for g in got[1:3]] == [([0.0], lamella.float64), ([0, 0], lamella.int64)]


def test_the_node_has_the_attributes_of_ctx():
    def forward(ctx, x):
        ctx.scale = 3.0
        ctx.save_for_backward(x)
        return x * 3

    x = leaf()
    node = function(forward, lambda ctx, g: g * ctx.scale).apply(x).grad_fn
    assert node.scale == 3.0 and node.saved_tensors[0].tolist() == [1.0, 2.0] and node.needs_input_grad == (True,)
    assert node.name() == "MadeBackward" and node.metadata == {}
    with pytest.raises(AttributeError, match="nothing"):
        _ = node.nothing
    node.scale = 7.0
    y = function(forward, lambda ctx, g: g * ctx.scale).apply(x)
    y.grad_fn.scale = 7.0
    y.sum().backward()
    assert x.grad.tolist() == [7.0, 7.0]
    with pytest.raises(AttributeError):
        (x * 2).grad_fn.scale = 1
