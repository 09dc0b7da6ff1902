"""Transforms at their edges: writes to arguments, history of results, empty tensors, Functions, chunks, messages."""

import lamella
import pytest
from lamella import func, return_types, vmap
from lamella.autograd import Function
from lamella.func import grad, grad_and_value, jacfwd, jacrev, jvp, linearize, vjp
from lamella.testing import assert_close
from lamella.utils import _pytree as pytree

X = lamella.arange(6.0).reshape(2, 3)


def close(found, expected):
    assert_close(found, expected, rtol=1e-5, atol=1e-6)


def written(x):
    x.mul_(2)
    return (x * x).sum()


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_write_to_an_argument_of_a_derivative_is_an_error(requires_grad):
    x = lamella.ones(3).requires_grad_(requires_grad) * 1
    calls = (
        lambda f: grad(f)(x),
        lambda f: grad_and_value(f)(x),
        lambda f: vjp(f, x),
        lambda f: jvp(f, (x,), (x,)),
        lambda f: linearize(f, x),
        lambda f: vmap(grad(f))(X),
        lambda f: jacrev(f)(x),
    )
    for call in calls:
        with pytest.raises(RuntimeError, match="clone"):
            call(written)

    def hidden(x):
        with lamella.no_grad():
            x.mul_(2)
        return (x * x).sum()

    for call in (lambda: grad(hidden)(X.clone()), lambda: vmap(grad(hidden))(X.clone())):
        with pytest.raises(RuntimeError, match=r"grad\(hidden\).*clone"):
            call()
    close(grad(lambda x: written(x.clone()))(X), 8 * X)


def test_errors_name_the_function_that_was_called():
    def mine(x):
        return x

    for call, name in (
        (lambda: grad(mine)(X), "grad"),
        (lambda: grad_and_value(mine)(X), "grad_and_value"),
        (lambda: vjp(mine, X)[1](X[0]), "vjp"),
        (lambda: jacrev(mine)(lamella.arange(3)), "jacrev"),
        (lambda: jacfwd(mine)(lamella.arange(3)), "jacfwd"),
    ):
        with pytest.raises(RuntimeError, match=rf"^{name}\(mine\): "):
            call()


# ---- history of results ------------------------------------------------------------------------------------


def test_aux_keeps_the_graph_that_leads_outside():
    w = lamella.tensor([1.0, 2.0, 3.0], requires_grad=True)

    def loss(x):
        y = x.exp()
        return y.sum(), y * w

    gradients, aux = grad(loss, has_aux=True)(X[0])
    assert not gradients.requires_grad
    [by_w] = lamella.autograd.grad(aux.sum(), w)
    close(by_w, X[0].exp())
    _, aux = vmap(grad(loss, has_aux=True))(X)
    close(lamella.autograd.grad(aux.sum(), w)[0], X.exp().sum(0))


def test_results_are_plain_without_recording():
    w = lamella.tensor([1.0, 2.0, 3.0], requires_grad=True)
    f = lambda x: (x * x * w).sin()  # noqa: E731
    scalar = lambda x: f(x).sum()  # noqa: E731
    x, vector = X[0], X[1]

    def results():
        return (
            grad_and_value(lambda x: (scalar(x), f(x)), has_aux=True)(x),
            grad(scalar)(w),
            vjp(f, x)[0],
            vjp(f, x)[1](vector),
            jvp(f, (x,), (vector,)),
            linearize(f, x)[0],
            linearize(f, x)[1](vector),
            jacrev(f)(x),
            jacfwd(f)(x),
            vmap(grad_and_value(scalar))(X),
            vmap(lambda x: jvp(f, (x,), (vector,)))(X),
            vmap(lambda x: linearize(f, x)[1](x))(X),
            vmap(jacrev(f))(X),
            vmap(grad_and_value(lambda w, x: scalar(x) * w.sum()), (0, None))(w.expand(2, 3), x),
        )

    with lamella.no_grad():
        plain = pytree.tree_leaves(results())
    for a, b in zip(plain, pytree.tree_leaves(results()), strict=True):
        assert not a.requires_grad and a.grad_fn is None
        assert b.requires_grad
        close(a, b.detach())


def test_a_tangent_that_requires_a_gradient_keeps_its_history():
    v = lamella.ones(3, requires_grad=True)
    close(lamella.autograd.grad(jvp(lamella.sin, (X[0],), (v,))[1].sum(), v)[0], X[0].cos())
    close(lamella.autograd.grad(linearize(lamella.sin, X[0])[1](v).sum(), v)[0], X[0].cos())
    _, back = vjp(lamella.sin, X[0])
    close(lamella.autograd.grad(back(v)[0].sum(), v)[0], X[0].cos())
    rows = lamella.ones(2, 3, requires_grad=True)
    close(lamella.autograd.grad(vmap(lambda v: back(v)[0])(rows).sum(), rows)[0], X[0].cos().expand(2, 3).contiguous())
    assert not back(X[1])[0].requires_grad


# ---- results with names, whole numbers, empty tensors -------------------------------------------------------


def test_results_with_names():
    spread = lamella.tensor([[3.0, 1.0], [2.0, 5.0]])
    made = vmap(lambda x: lamella.max(x, 0))(spread)
    assert type(made) is return_types.max
    assert made.values.tolist() == [3, 5] and made.indices.tolist() == [0, 1]
    assert vmap(lambda r: r.values * 2)(made).tolist() == [6, 10]
    values, back = vjp(lambda x: lamella.sort(x, 0), spread[0])
    assert type(values) is return_types.sort
    [gradient] = back(return_types.sort([lamella.tensor([1.0, 2.0]), lamella.zeros(2)]))
    assert gradient.tolist() == [2, 1]
    jacobian = jacrev(lambda x: lamella.sort(x, 0))(spread[0])
    assert jacobian.values.tolist() == [[0, 1], [1, 0]]
    assert (jacobian.indices == 0).all()
    leaves, spec = pytree.tree_flatten({"qr": lamella.linalg.qr(spread)})
    assert len(leaves) == 2
    assert type(spec.unflatten([1, 2])["qr"]) is return_types.linalg_qr
    [(path, _), _] = pytree.tree_leaves_with_path(lamella.max(spread, 0))
    assert pytree.keystr(path) == ".values"


def test_tangents_of_whole_numbers_are_zeros():
    (value, index), (tangent, none) = jvp(lambda x: (x.sin(), x.argmax()), (X[0],), (X[1],))
    assert index == 2 and none.dtype == index.dtype and none == 0
    close(tangent, X[1] * X[0].cos())
    close(value, X[0].sin())
    assert jvp(lambda x: x.long(), (X[0],), (X[1],))[1].tolist() == [0, 0, 0]
    assert vmap(lambda x: jvp(lambda x: (x.long(), x), (x,), (x,))[1][0])(X).tolist() == [[0, 0, 0]] * 2


@pytest.mark.parametrize("jac", [jacrev, jacfwd])
@pytest.mark.parametrize("chunk_size", [None, 2])
def test_jacobians_of_empty_tensors(jac, chunk_size):
    empty = lamella.zeros(0, 2)
    assert jac(lambda x: x * 2, chunk_size=chunk_size)(empty).shape == (0, 2, 0, 2)
    assert jac(lambda x: x[:0], chunk_size=chunk_size)(X).shape == (0, 3, 2, 3)
    made = jac(lambda a, b: {"sum": a.sum() + b, "none": a}, (0, 1), chunk_size=chunk_size)(empty, X[0])
    assert made["sum"][0].shape == (3, 0, 2) and made["none"][1].shape == (0, 2, 3)
    close(made["sum"][1], lamella.eye(3))
    assert vmap(jac(lambda x: x[:0], chunk_size=chunk_size))(X).shape == (2, 0, 3)


# ---- autograd.Function --------------------------------------------------------------------------------------


class Product(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, y):
        return x * y, x.sum()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, by_product, by_sum):
        x, y = ctx.saved_tensors
        return by_product * y + by_sum, by_product * x if ctx.needs_input_grad[1] else None


class Half(Product):
    @staticmethod
    def backward(ctx, by_product, by_sum):
        return by_product * ctx.saved_tensors[1] + by_sum, None


def own(function):
    return lambda x, y: (function.apply(x, y)[0] ** 2).sum() + function.apply(x, y)[1]


def plain(x, y):
    return ((x * y) ** 2).sum() + x.sum()


def test_generated_rules_at_two_levels():
    x, y = X + 1, lamella.tensor([[1.0, 2.0, 0.5], [3.0, -1.0, 2.0]])
    twice = lambda f: vmap(vmap(f, (0, None)), (None, 0))  # noqa: E731
    close(twice(own(Product))(x, y), twice(plain)(x, y))
    for at in (0, 1):
        close(twice(grad(own(Product), at))(x, y), twice(grad(plain, at))(x, y))
        close(
            grad(lambda *a: twice(own(Product))(*a).sum(), at)(x, y), grad(lambda *a: twice(plain)(*a).sum(), at)(x, y)
        )
        nested = lambda f, at=at: vmap(grad(lambda *a: vmap(f, (0, None))(*a).sum(), at), (None, 0))  # noqa: E731
        close(nested(own(Product))(x, y), nested(plain)(x, y))
    weighted = lambda f, y: vmap(f, (0, None))(x, y).sum()  # noqa: E731
    second = lambda f: jacrev(grad(lambda y: weighted(f, y)))(y[1])  # noqa: E731
    close(second(own(Product)), second(plain))
    close(jacfwd(grad(lambda x: vmap(own(Product))(x, y).sum()))(x), jacfwd(grad(lambda x: vmap(plain)(x, y).sum()))(x))
    own_leaf, plain_leaf = x.clone().requires_grad_(), x.clone().requires_grad_()
    twice(own(Product))(own_leaf, y).sum().backward()
    twice(plain)(plain_leaf, y).sum().backward()
    close(own_leaf.grad, plain_leaf.grad)


def test_a_backward_without_a_gradient_for_a_batched_input():
    x, y = X + 1, X * 2 - 1
    by_x = grad(lambda x: vmap(plain)(x, y).sum())(x)
    close(grad(lambda x: vmap(own(Half))(x, y).sum())(x), by_x)
    close(grad(lambda y: vmap(own(Half))(x, y).sum())(y), lamella.zeros(2, 3))
    both = grad(lambda x, y: vmap(own(Half))(x, y).sum(), (0, 1))(x, y)
    close(both[0], by_x)
    close(both[1], lamella.zeros(2, 3))
    close(vmap(grad(own(Half), 1))(x, y), lamella.zeros(2, 3))


def test_a_derived_class_has_a_rule_of_its_own():
    x, y = X + 1, X * 2 - 1
    close(vmap(grad(own(Product), 1))(x, y), vmap(grad(plain, 1))(x, y))
    made = []

    class Later(Product):
        @staticmethod
        def forward(x, y):
            made.append(x.shape)
            return x * y, x.sum()

    for _ in range(2):
        close(vmap(grad(own(Later)))(x, y), vmap(grad(plain))(x, y))
    assert made == [(3,)] * 4


@pytest.fixture
def cubed():
    @lamella.library.custom_op("mine::cubed", mutates_args=())
    def cubed(x: lamella.Tensor) -> lamella.Tensor:
        return x * x * x

    cubed.register_vmap(lambda info, in_dims, x: (x * x * x, in_dims[0]))
    cubed.register_autograd(
        lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2,
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    yield cubed
    cubed.close()


def test_derivatives_that_python_registers_run_on_samples(cubed):
    close(vmap(grad(lambda x: cubed(x).sum()))(X), 3 * X**2)
    close(grad(lambda x: vmap(cubed)(x).sum())(X), 3 * X**2)
    batch = X.clone().requires_grad_()
    with pytest.raises(RuntimeError, match="lost"):
        vmap(grad(lambda x: cubed(x).sum()))(batch)
    with lamella.no_grad():
        close(vmap(grad(lambda x: cubed(x).sum()))(batch.detach()), 3 * X**2)


class Once(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    @lamella.autograd.function.once_differentiable
    def backward(ctx, by):
        return by * 2 * ctx.saved_tensors[0]


def test_once_differentiable_within_vmap():
    close(vmap(grad(lambda x: Once.apply(x).sum()))(X), 2 * X)
    close(vmap(grad(lambda x: (Once.apply(x) * x).sum()))(X), 3 * X**2)


def test_checkpoint_within_vmap():
    from lamella.utils.checkpoint import checkpoint

    def loss(x):
        return checkpoint(lambda x: x.sin() * x, x, use_reentrant=False).sum()

    close(vmap(grad(loss))(X), X.sin() + X * X.cos())


# ---- vmap itself --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk_size", [1, 2, 3])
def test_chunks_draw_the_same_numbers(chunk_size):
    x = lamella.zeros(5, 3)
    draw = vmap(lambda x: x + lamella.rand(3), randomness="same", chunk_size=chunk_size)
    made = draw(x)
    assert (made == made[0]).all()
    assert (draw(x) != made).any(), "the next call draws others"
    nested = vmap(draw, randomness="same")(lamella.zeros(2, 5, 3))
    assert (nested == nested[0, 0]).all()
    different = vmap(lambda x: x + lamella.rand(3), randomness="different", chunk_size=chunk_size)(x)
    assert all((a != b).any() for i, a in enumerate(different) for b in different[:i])


def test_a_sample_of_a_closed_level_and_an_operator_of_python():
    op = lamella.library.custom_op("mine::same", lambda x: x.clone(), mutates_args=(), schema="(Tensor x) -> Tensor")
    op.register_vmap(lambda info, in_dims, x: (x.clone(), 0))
    kept = []
    vmap(lambda x: kept.append(x) or x)(X)
    for use in (op, lambda x: Product.apply(x, x)):
        with pytest.raises(RuntimeError, match="has ended"):
            use(kept[0])
    op.close()


def test_a_block_of_strict_mode_within_itself():
    mode = func.strict_mode()
    op = lamella.library.custom_op("mine::copied", lambda x: x.clone(), mutates_args=(), schema="(Tensor x) -> Tensor")
    loops = lambda: vmap(op)(lamella.ones(2, 2, 2))  # noqa: E731
    with mode:
        with mode, pytest.raises(RuntimeError, match="strict mode"):
            loops()
        with pytest.raises(RuntimeError, match="strict mode"):
            loops()
    loops()
    op.close()


def test_in_dims_is_no_list():
    with pytest.raises(ValueError, match="in_dims"):
        vmap(lamella.mul, in_dims=[0, 0])(X, X)
    close(vmap(lambda p: p[0] * p[1], in_dims=([0, None],))([X, X[0]]), X * X[0])
