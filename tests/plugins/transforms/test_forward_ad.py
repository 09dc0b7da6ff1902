"""Forward mode: levels and duals, writes and views, custom functions, nested transforms, and bad input."""

import threading

import lamella
import numpy as np
import pytest
from lamella import func
from lamella.autograd import Function, gradcheck, gradgradcheck
from lamella.plugins.autograd.gradcheck_error import GradcheckError
from lamella.testing import assert_close

pytestmark = pytest.mark.needs("autograd")

fw = None
X = lamella.tensor([0.5, -1.0, 2.0], dtype=lamella.float64)
T = lamella.tensor([1.0, 2.0, -0.5], dtype=lamella.float64)


@pytest.fixture(autouse=True)
def forward_ad():
    global fw
    from lamella.autograd import forward_ad

    fw = forward_ad


def normal(*shape, dtype=lamella.float64):
    return lamella.randn(*shape, dtype=dtype, generator=lamella.Generator().manual_seed(sum(shape)))


def differences(function, x, t, step=1e-6):
    return (function(x + step * t) - function(x - step * t)) / (2 * step)


# ---- levels and duals ---------------------------------------------------------------------------------------------


def test_a_dual_and_its_parts():
    with fw.dual_level():
        x = fw.make_dual(X, T)
        assert x.shape == X.shape and x.dtype == X.dtype and x.device == X.device
        made = fw.unpack_dual(x.sin())
        assert isinstance(made, tuple) and made._fields == ("primal", "tangent")
        assert_close(made.primal, X.sin())
        assert_close(made.tangent, T * X.cos())
        assert fw.unpack_dual(X).tangent is None
        assert fw.unpack_dual(x > 0).tangent is None
        assert "tangent=tensor([ 1.0000,  2.0000, -0.5000])" in repr(x)


def test_a_dual_shares_memory_with_its_primal():
    x, t = X.clone(), T.clone()
    with fw.dual_level():
        dual = fw.make_dual(x, t)
        part, same = dual[:2], dual.contiguous()
        dual.mul_(2)
        assert_close(fw.unpack_dual(dual).tangent, 2 * T)
        assert_close(fw.unpack_dual(part).tangent, 2 * T[:2])
        assert_close(fw.unpack_dual(same).tangent, 2 * T)
    assert_close(x, 2 * X)
    assert_close(t, T)  # a write changes no tensor but the dual and its primal


def test_a_result_has_a_tangent_of_its_own():
    x, t = normal(2, 3).t(), normal(3, 3)[:, :2].contiguous()
    with fw.dual_level():
        dual = fw.make_dual(x, t)
        copy = dual.contiguous()  # the primal is copied, and the tangent is contiguous already
        copy.mul_(3)
        assert_close(fw.unpack_dual(dual).tangent, t)
        moved = dual.to(lamella.float32)
        moved.mul_(3)
        assert_close(fw.unpack_dual(dual).tangent, t)


def test_a_dual_outlives_its_level_as_its_primal():
    with fw.dual_level():
        left = fw.make_dual(X, T) * 2
        written = lamella.zeros(3, dtype=X.dtype)
        written.copy_(left)
    assert fw.unpack_dual(left).tangent is None
    assert_close(left + 1, 2 * X + 1)
    assert_close(written + 1, 2 * X + 1)
    left.add_(1)
    assert_close(left * 1, 2 * X + 1)
    with fw.dual_level():
        assert fw.unpack_dual(left).tangent is None
        assert_close(fw.unpack_dual(fw.make_dual(left * 1, T) * left).tangent, T * (2 * X + 1))


def test_values_of_duals_are_read():
    """The value of a primal may decide what a function does: it is no function of the tangent."""

    def function(x):
        return x * 2 if x.sum() > 0 and x[0].item() == 0.5 else -x

    assert_close(func.jvp(function, (X,), (T,))[1], 2 * T)


def test_gradients_are_not_recorded_for_tangents_alone():
    with lamella.no_grad():
        made, tangent = func.jvp(lambda x: (x.exp() * x).tanh(), (X,), (T,))
    assert not made.requires_grad and not tangent.requires_grad
    assert_close(tangent, differences(lambda x: (x.exp() * x).tanh(), X, T))
    made, tangent = func.jvp(lambda x: (x.exp() * x).tanh(), (X,), (T,))
    assert not made.requires_grad and not tangent.requires_grad


def test_levels_of_threads_are_their_own():
    seen = []

    def run():
        try:
            fw.make_dual(X, T)
        except RuntimeError as error:
            seen.append(str(error))

    with fw.dual_level():
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert seen and "no level" in seen[0]


# ---- writes and views -----------------------------------------------------------------------------------------------

WRITES = {
    "in place": lambda x: x.clone().mul_(x).sin_().add_(x, alpha=2),
    "an element": lambda x: put(x.clone(), 1, x[0] * x[2]),
    "a constant": lambda x: put(x.clone(), slice(0, 2), 5.0) * x,
    "into zeros": lambda x: put(lamella.zeros(3, 2, dtype=x.dtype), (slice(None), 1), x.exp()) * x[:, None],
    "into a view of zeros": lambda x: whole(lambda y: y.view(3, 2)[:, 0].copy_(x * x), lamella.zeros(6, dtype=x.dtype)),
    "through a transposed view": lambda x: whole(lambda y: y.t()[0].add_(x), x.expand(2, 3).t().clone()),
    "zero_": lambda x: whole(lambda y: y[1:].zero_(), x * x),
    "fill_": lambda x: whole(lambda y: y[1:].fill_(x[0]), x * x),
    "masked_fill_": lambda x: (x * x).masked_fill_(x > 0, 3.0),
    "index_put_": lambda x: (x * x).index_put_((lamella.tensor([0, 2]),), x[:2].exp()),
    "index_add": lambda x: lamella.zeros(3, dtype=x.dtype).index_add(0, lamella.tensor([0, 0, 2]), x * x),
    "scatter_": lambda x: lamella.zeros(4, dtype=x.dtype).scatter_(0, lamella.tensor([3, 1, 0]), x.sin()),
    "unsqueeze_": lambda x: (x * x).unsqueeze_(0).transpose_(0, 1),
    "a view before the write": lambda x: view_before(x),
}


def put(y, at, value):
    y[at] = value
    return y


def whole(write, y):
    write(y)
    return y


def view_before(x):
    y = lamella.zeros(3, dtype=x.dtype)
    part, rest = y[:1], y[1:]
    part.copy_(x[:1] ** 2)
    rest.add_(x[1:])
    y.mul_(x)
    return lamella.cat([part, rest, y])


def test_writes_of_random_numbers_and_results():
    draw = lambda x: whole(lambda y: y[:1].normal_(generator=lamella.Generator().manual_seed(1)), x * x) * x  # noqa: E731
    assert_close(func.jvp(draw, (X,), (T,))[1], differences(draw, X, T))
    into = lambda x: lamella.mul(x, x, out=lamella.empty(3, dtype=x.dtype))  # noqa: E731
    assert_close(func.jvp(into, (X,), (T,))[1], 2 * X * T)
    with fw.dual_level():
        x = fw.make_dual(X, T)
        with pytest.raises(RuntimeError, match=r"argument 'out' must have shape \[3\], got \[2\]"):
            lamella.mul(x, x, out=lamella.empty(2, dtype=x.dtype))
        assert fw.unpack_dual(lamella.mul(X, X, out=x * 1)).tangent.abs().sum() == 0


@pytest.mark.parametrize("case", WRITES)
def test_writes(case):
    function = WRITES[case]
    right = differences(function, X, T)
    made, tangent = func.jvp(function, (X,), (T,))
    assert_close(made, function(X))
    assert_close(tangent, right, atol=1e-6, rtol=1e-6)
    jacobian = func.jacfwd(function)(X)
    assert_close(jacobian @ T, right, atol=1e-6, rtol=1e-6)
    energy = lambda x: (function(x) ** 2).sum()  # noqa: E731
    second = differences(func.grad(energy), X, T)
    assert_close(func.jvp(func.grad(energy), (X,), (T,))[1], second, atol=1e-5, rtol=1e-5)
    over = func.grad(lambda x: (func.jvp(function, (x,), (T,))[1] ** 2).sum())(X)
    steps = lamella.eye(3, dtype=X.dtype)
    square = lambda x: (differences(function, x, T, 1e-4) ** 2).sum()  # noqa: E731
    assert_close(over, lamella.stack([differences(square, X, e, 1e-4) for e in steps]), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    "primal",
    [
        lambda: normal(4, 3).t(),
        lambda: normal(4, 6)[:, ::2],
        lambda: normal(3).expand(4, 3),
        lambda: normal(6).unfold(0, 3, 1),
        lambda: normal(2, 3, 4, 5).contiguous(memory_format=lamella.channels_last),
        lambda: normal(0, 3),
        lambda: normal(1)[0],
    ],
    ids=["transposed", "strided", "expanded", "overlapping", "channels_last", "empty", "scalar"],
)
@pytest.mark.parametrize("tangent", ["dense", "expanded", "reversed"])
def test_primals_and_tangents_of_other_strides(primal, tangent):
    x = primal()
    t = normal(*x.shape) if x.dim() else normal(2)[1]
    if tangent == "expanded":
        t = lamella.ones((), dtype=x.dtype).expand(x.shape)
    if tangent == "reversed":
        order = tuple(reversed(range(t.dim())))
        t = t.permute(order).contiguous().permute(order)

    def function(x):
        y = x.reshape(-1)[: max(x.numel() - 1, 0)]
        z = x.transpose(0, -1) if x.dim() else x
        w = x.clone()
        w.flatten().mul_(1.0)
        w.view_as(w).add_(x * x)
        return (y.sin().sum() + (z * z).sum() + w.sum()) * x

    right = differences(function, x, t)
    assert_close(func.jvp(function, (x,), (t,))[1], right, atol=1e-6, rtol=1e-6)
    assert_close(func.vmap(lambda t: func.jvp(function, (x,), (t,))[1])(lamella.stack([t, 2 * t]))[1], 2 * right,
                 atol=1e-6, rtol=1e-6)  # fmt: skip


@pytest.mark.parametrize("dtype", [lamella.complex64, lamella.complex128])
def test_complex_numbers(dtype):
    z = lamella.complex(normal(3), normal(2, 3)[1]).to(dtype)
    t = lamella.complex(normal(4)[:3], normal(3, 3)[2]).to(dtype)
    functions = [
        lambda z: z * z.conj(),
        lambda z: z.abs() * z.real,
        lambda z: (z * (2 + 1j)).exp() + z.imag,
        lambda z: lamella.view_as_real(z).sum(-1) * z,
        lambda z: z.angle() + z.sgn() / z,
        lambda z: lamella.fft.fft(z) * z,
    ]
    for function in functions:
        right = differences(lambda v, f=function: f(v.to(lamella.complex128)), z.to(lamella.complex128), t)
        found = func.jvp(function, (z,), (t,))[1]
        assert_close(found.to(right.dtype), right, atol=1e-4, rtol=1e-4)


# ---- custom functions and operators ----------------------------------------------------------------------------------


class Cube(Function):
    @staticmethod
    def forward(x, by):
        return x**3 * by, x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, by = inputs
        ctx.save_for_backward(x)
        ctx.save_for_forward(x, None)
        ctx.by = by

    @staticmethod
    def backward(ctx, grad, other):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad * ctx.by + 2 * other, None

    @staticmethod
    def jvp(ctx, tangent, by):
        assert by is None
        x, nothing = ctx.saved_tensors
        assert nothing is None
        return 3 * x**2 * tangent * ctx.by, 2 * tangent


class Derived(Function):
    """Without a jvp: its backward can be differentiated."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        return grad * 3 * ctx.saved_tensors[0] ** 2


def test_functions_with_a_jvp():
    function = lambda x: Cube.apply(x, 2.0)[0] + Cube.apply(x, 1.0)[1].sin()  # noqa: E731
    plain = lambda x: 2 * x**3 + (2 * x).sin()  # noqa: E731
    for transform in (func.jacfwd, lambda f: func.jacfwd(func.grad(lambda x: f(x).sum()))):
        assert_close(transform(function)(X), transform(plain)(X))
    twice = lambda f: func.jvp(lambda x: func.jvp(f, (x,), (T,))[1], (X,), (T,))  # noqa: E731
    for found, right in zip(twice(function), twice(plain), strict=True):
        assert_close(found, right)
    over = lambda f: func.grad(lambda x: func.jvp(f, (x,), (T,))[1].sum())(X)  # noqa: E731
    assert_close(over(function), over(plain))
    assert gradcheck(function, X.clone().requires_grad_(), check_forward_ad=True, check_batched_forward_grad=True)


def test_functions_without_a_jvp_follow_their_backward():
    assert_close(func.jvp(Derived.apply, (X,), (T,))[1], 3 * X**2 * T)

    class Fixed(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def backward(ctx, grad):
            return lamella.from_numpy(grad.detach().numpy() * 3)

    with pytest.raises(RuntimeError, match=r"Fixed: its tangents are wanted.*'jvp\(ctx, \*tangents\)'"):
        func.jvp(Fixed.apply, (X,), (T,))


def test_a_jvp_that_gives_other_than_its_results():
    class Short(Cube):
        @staticmethod
        def jvp(ctx, tangent, by):
            return tangent

    with pytest.raises(RuntimeError, match="'jvp' must return a tangent or None for each of the 2 results"):
        func.jvp(lambda x: Short.apply(x, 1.0), (X,), (T,))

    class Wrong(Derived):
        @staticmethod
        def jvp(ctx, tangent):
            return tangent.sum()

    with pytest.raises(RuntimeError, match=r"Wrong\.jvp: argument 'tangent' must have the shape"):
        func.jvp(Wrong.apply, (X,), (T,))


def test_operators_of_packages():
    library = lamella.library.Library("forward_of_packages", "DEF")
    library.define("cube(Tensor x, int n) -> Tensor")
    library.impl("cube", lambda x, n: lamella.from_numpy(x.numpy() ** 3 * n), "cpu")
    cube = lamella.ops.forward_of_packages.cube
    with pytest.raises(NotImplementedError, match="forward_of_packages::cube.*no derivative"):
        func.jvp(lambda x: cube(x, 2), (X,), (T,))
    library.register_autograd(
        "forward_of_packages::cube",
        lambda ctx, grad: (grad * 3 * ctx.n * ctx.saved_tensors[0] ** 2, None),
        setup_context=lambda ctx, inputs, output: (ctx.save_for_backward(inputs[0]), setattr(ctx, "n", inputs[1])),
    )
    assert_close(func.jvp(lambda x: cube(x, 2), (X,), (T,))[1], 6 * X**2 * T)
    lamella.library.register_vmap(
        "forward_of_packages::cube", lambda info, dims, x, n: (cube(x, n), dims[0]), lib=library
    )
    assert_close(func.jvp(lambda x: cube(x, 2), (X,), (T,))[1], 6 * X**2 * T)
    batch = func.vmap(lambda x: func.jvp(lambda x: cube(x, 2), (x,), (T,))[1])(lamella.stack([X, 2 * X]))
    assert_close(batch, lamella.stack([6 * X**2 * T, 24 * X**2 * T]))
    library.close()


# ---- gradcheck -------------------------------------------------------------------------------------------------------


class WrongJvp(Derived):
    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 2


def test_gradcheck_of_forward_mode():
    a, b = (normal(*s).requires_grad_() for s in ((3, 2), (2, 4)))
    function = lambda a, b: (a @ b).tanh()  # noqa: E731
    for fast in (False, True):
        assert gradcheck(function, (a, b), check_forward_ad=True, check_batched_forward_grad=True, fast_mode=fast)
        assert gradcheck(function, (a, b), check_forward_ad=True, check_backward_ad=False, fast_mode=fast)
        assert gradgradcheck(function, (a, b), check_fwd_over_rev=True, fast_mode=fast)
        assert gradgradcheck(function, (a, b), check_fwd_over_rev=True, check_rev_over_rev=False, fast_mode=fast)
        x = X.clone().requires_grad_()
        assert gradcheck(WrongJvp.apply, x, fast_mode=fast)
        with pytest.raises(GradcheckError, match="derivative of output 0 by forward mode, along the direction"):
            gradcheck(WrongJvp.apply, x, check_forward_ad=True, fast_mode=fast)
        assert not gradcheck(WrongJvp.apply, x, check_forward_ad=True, fast_mode=fast, raise_exception=False)
    z = lamella.complex(normal(3), normal(4)[:3]).requires_grad_()
    assert gradcheck(lambda z: z * z.abs(), z, check_forward_ad=True, check_batched_forward_grad=True)
    for checks, wanted in (
        ({"check_backward_ad": False}, "nothing is checked"),
        ({"check_batched_forward_grad": True}, "wants check_forward_ad"),
        ({"check_batched_grad": True, "check_backward_ad": False, "check_forward_ad": True}, "wants check_backward_ad"),
    ):
        with pytest.raises(ValueError, match=wanted):
            gradcheck(function, (a, b), **checks)


# ---- networks --------------------------------------------------------------------------------------------------------


def test_a_network_against_differences():
    lamella.manual_seed(0)
    nn, F = lamella.nn, lamella.nn.functional  # noqa: N806
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 5)).double()
    params = dict(model.named_parameters())
    x, t = normal(2, 1, 8, 8), normal(1, 2, 8, 8).view(2, 1, 8, 8)
    target = lamella.tensor([1, 4])

    def loss(params, x):
        return F.cross_entropy(func.functional_call(model, params, (x,)), target)

    made, tangent = func.jvp(lambda x: loss(params, x), (x,), (t,))
    assert tangent.requires_grad  # by the parameters
    assert_close(tangent, differences(lambda x: loss(params, x), x, t), atol=1e-6, rtol=1e-6)
    along = {k: normal(*p.shape) for k, p in params.items()}
    tangent = func.jvp(lambda p: loss(p, x), (params,), (along,))[1]
    gradients = func.grad(lambda p: loss(p, x))(params)
    assert_close(tangent, sum((gradients[k] * along[k]).sum() for k in params))
    # the product of the Hessian and a vector, forward over reverse
    products = func.jvp(func.grad(lambda p: loss(p, x)), (params,), (along,))[1]
    step = 1e-5
    ahead, behind = (
        func.grad(lambda p: loss(p, x))({k: p + s * along[k] for k, p in params.items()}) for s in (step, -step)
    )
    for k in params:
        assert_close(products[k], (ahead[k] - behind[k]) / (2 * step), atol=1e-6, rtol=1e-5)
    # gradients of a tangent by parameters, reverse over forward
    by_params = func.grad(lambda p: func.jvp(lambda x: loss(p, x), (x,), (t,))[1])(params)
    ahead, behind = (func.grad(lambda p, s=s: loss(p, x + s * t))(params) for s in (step, -step))
    for k in params:
        assert_close(by_params[k], (ahead[k] - behind[k]) / (2 * step), atol=1e-6, rtol=1e-5)


def test_training_through_tangents_updates_parameters():
    """backward() of a loss of tangents reaches parameters."""
    w = X.clone().requires_grad_()
    tangent = func.jvp(lambda x: (w * x).sin().sum(), (X,), (T,))[1]
    tangent.backward()
    right = func.grad(lambda w: (w * T * (w * X).cos()).sum())(X)
    assert_close(w.grad, right)


def test_dropout_uses_one_mask():
    x = lamella.ones(1000)
    made, tangent = func.jvp(lambda x: lamella.nn.functional.dropout(x, 0.5), (x,), (2 * x,))
    assert_close(tangent, 2 * made)
    assert 300 < (made == 0).sum().item() < 700


def test_autocast_within_and_outside():
    a, t = normal(4, 4, dtype=lamella.float32), normal(4, 4, dtype=lamella.float32)
    right = func.jvp(lambda a: a @ a, (a,), (t,))[1]
    with lamella.autocast("cpu", dtype=lamella.bfloat16):
        made, tangent = func.jvp(lambda a: a @ a, (a,), (t,))
    assert made.dtype == tangent.dtype == lamella.bfloat16
    assert_close(tangent.float(), right, atol=0.15, rtol=0.05)


# ---- bad input -------------------------------------------------------------------------------------------------------


def test_bad_input():
    with pytest.raises(RuntimeError, match="make_dual: no level of forward mode is open"):
        fw.make_dual(X, T)
    with pytest.raises(RuntimeError, match="exit_dual_level: no level"):
        fw.exit_dual_level()
    with fw.dual_level() as level:
        with pytest.raises(RuntimeError, match="do not nest"), fw.dual_level():
            pass
        with pytest.raises(RuntimeError, match=rf"must be the open one, {level}"):
            fw.exit_dual_level(level=level + 1)
        with pytest.raises(ValueError, match="argument 'tensor' must be of floats or complex, got lamella.int64"):
            fw.make_dual(lamella.arange(3), lamella.arange(3))
        with pytest.raises(TypeError, match="argument 'tangent' must be a Tensor, got float"):
            fw.make_dual(X, 1.0)
        with pytest.raises(RuntimeError, match=r"'tangent' must have the shape of the tensor.*\[3\].*\[2\]"):
            fw.make_dual(X, T[:2])
        with pytest.raises(RuntimeError, match="'tangent' must have the dtype of the tensor"):
            fw.make_dual(X, T.float())
        with pytest.raises(RuntimeError, match="has a tangent already"):
            fw.make_dual(fw.make_dual(X, T), T)
    with pytest.raises(RuntimeError, match=r"jvp\(<lambda>\): the function must return tensors, got int"):
        func.jvp(lambda x: 1, (X,), (T,))
    with pytest.raises(RuntimeError, match="must be of floats or complex, got lamella.int64"):
        func.jvp(lambda x: x, (lamella.arange(3),), (lamella.arange(3),))
    with pytest.raises(RuntimeError, match="does not depend on the primals"):
        func.jvp(lambda x: X, (X,), (T,), strict=True)
    assert_close(func.jvp(lambda x: X, (X,), (T,))[1], lamella.zeros_like(X))
    with pytest.raises(RuntimeError, match="writes in place to an argument"):
        func.jvp(lambda x: x.mul_(2), (X.clone(),), (T,))


def test_memory_of_a_dual_is_refused():
    """numpy reads memory, which would lose the tangent without a word."""
    with fw.dual_level():
        dual = fw.make_dual(X, T)
        with pytest.raises(RuntimeError, match=r"has a tangent.*detach\(\)"):
            dual.numpy()
        np.testing.assert_allclose(dual.detach().numpy(), X.numpy())
        np.testing.assert_allclose(fw.unpack_dual(dual).primal.numpy(), X.numpy())


# ---- values that were lost once -------------------------------------------------------------------------------------


def test_gradients_by_the_tangent():
    """The tangent alone depends on `v`."""
    product = lambda v: func.jvp(func.grad(lambda x: (x**3).sum()), (X,), (v,))[1]  # noqa: E731
    assert_close(func.grad(lambda v: product(v).sum())(T), 6 * X)
    assert product(T.clone().requires_grad_()).requires_grad


def test_dropout_in_place_has_tangents():
    F = lamella.nn.functional  # noqa: N806
    assert_close(func.jvp(lambda x: F.dropout(x * 1, 0.5, training=False, inplace=True), (X,), (T,))[1], T)
    assert_close(func.jvp(lambda x: F.rrelu(x * 1, inplace=True), (X.abs(),), (T,))[1], T)
    made, tangent = func.jvp(lambda x: F.dropout(x * 1, 0.5, inplace=True), (lamella.ones(100),), (lamella.ones(100),))
    assert_close(made, tangent)


def test_views_that_are_older_than_the_tangent_of_their_base():
    def function(x):
        y = lamella.zeros(2, 3, dtype=x.dtype)
        row, other, twice = y[0], y[0], y.t()[:, 0]
        row.copy_(x)
        y.mul_(x)
        return row * other + twice

    assert_close(func.jvp(function, (X,), (T,))[1], differences(function, X, T), atol=1e-6, rtol=1e-6)


def test_new_tensors_of_a_dual():
    for make in (lambda x: x.new_zeros(3), lambda x: x.new_ones(3), lambda x: x.new_full((3,), 2.0)):
        made, tangent = func.jvp(lambda x, make=make: make(x) + x, (X,), (T,))
        assert_close(made, make(X) + X)
        assert_close(tangent, T)
    batch = lamella.vmap(lambda x: func.jvp(lambda x: x.new_ones(3) * x, (x,), (T,))[1])(lamella.stack([X, X]))
    assert_close(batch, lamella.stack([T, T]))


def test_a_tensor_that_an_inner_level_has_written():
    def function(x):
        y = x * 2
        func.jvp(lambda z: y.add_(z), (lamella.ones(3, dtype=X.dtype),), (lamella.ones(3, dtype=X.dtype),))
        return y

    assert_close(func.jvp(function, (X,), (T,))[1], 2 * T)
    kept = lamella.zeros(3, dtype=X.dtype)
    for _ in range(5):
        func.jvp(lambda x: kept.mul_(0.5).add_(x), (X,), (T,))
    assert_close(kept * 1, X * (1 + 0.5 + 0.25 + 0.125 + 0.0625))
    assert_close(kept.detach().numpy(), (kept * 1).numpy())


def test_a_function_of_a_tensor_that_became_a_dual():
    class Round(Function):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, grad):
            return grad

        @staticmethod
        def jvp(ctx, tangent):
            return tangent

    def function(x):
        y = lamella.zeros(3, dtype=x.dtype)
        y.copy_(x)
        return Round.apply(y)

    assert_close(func.jvp(function, (X,), (T,))[1], T)


def test_a_buffer_that_a_function_writes():
    class AddInto(Function):
        @staticmethod
        def forward(y, x):
            return y.add_(x)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_dirty(inputs[0])
            ctx.needs = ctx.needs_input_grad

        @staticmethod
        def backward(ctx, grad):
            return grad, grad

        @staticmethod
        def jvp(ctx, before, tangent):
            assert ctx.needs == (before is not None, True)
            return tangent if before is None else before + tangent

    def function(x):
        y = lamella.zeros(3, dtype=x.dtype)
        AddInto.apply(y, x)
        return y * 1

    assert_close(func.jvp(function, (X,), (T,))[1], T)


def test_added_tangents_of_a_product_with_infinities():
    x = lamella.tensor([[lamella.inf, 1.0]])
    made, tangent = func.jvp(
        lambda b: lamella.nn.functional.linear(x, lamella.ones(2, 2), b), (lamella.zeros(2),), (lamella.ones(2),)
    )
    assert_close(tangent, lamella.ones(1, 2))
    assert_close(
        func.jvp(lambda s: lamella.addmm(s, x, lamella.ones(2, 2)), (lamella.zeros(1, 2),), (tangent,))[1], tangent
    )


def test_integers_that_are_written():
    with fw.dual_level():
        whole = lamella.zeros(3, dtype=lamella.int64)
        whole.copy_(fw.make_dual(X, T))
        assert whole.tolist() == X.to(lamella.int64).tolist()
        assert_close(lamella.softmax(whole, 0, dtype=lamella.float64), X.to(lamella.int64).double().softmax(0))
        with pytest.raises(RuntimeError, match="cannot be cast"):
            lamella.arange(3).mul_(fw.make_dual(X, T))


def test_a_dual_on_another_thread():
    seen = []

    def run(dual):
        try:
            seen.append(dual * 2)
        except RuntimeError as error:
            seen.append(str(error))

    with fw.dual_level() as level:
        thread = threading.Thread(target=run, args=(fw.make_dual(X, T),))
        thread.start()
        thread.join()
    assert "another thread" in seen[0]
    with pytest.raises(RuntimeError, match="is not open"):
        fw.make_dual(X, T, level=level)
    with pytest.raises(RuntimeError, match="must be real"):
        func.jvp(lambda x: x, (X,), (X + 1j,))


def test_recorded_tangents_of_a_function_with_ctx_are_refused():
    with pytest.raises(RuntimeError, match="Derived.*'setup_context"):
        func.jvp(func.grad(lambda x: Derived.apply(x).sum()), (X,), (T,))


def test_the_ways_are_shown():
    show = lamella.ops.vmap.find_tangent
    assert [show(f"aten::{op}") for op in ("linear", "select.int", "tanh", "tanh_", "dist", "convolution")] == [
        "each input weight + bias",
        "view",
        "derivative",
        "functional form",
        "compose",
        "each input weight + bias",
    ]


def test_a_recorded_tensor_from_outside_that_duals_are_written_into():
    w = lamella.ones(3, requires_grad=True)
    y = w * 1

    def f(x):
        y.mul_(x)
        return y.sum()

    value, tangent = func.jvp(f, (lamella.full((3,), 2.0),), (lamella.ones(3),))
    assert value.item() == 6 and tangent.item() == 3
    value.backward()
    assert w.grad.tolist() == [2, 2, 2]
