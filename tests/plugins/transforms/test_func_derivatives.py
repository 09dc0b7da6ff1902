"""Derivatives of functions against finite differences in float64, and against loops over samples."""

import lamella
import pytest
from lamella import vmap
from lamella.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from lamella.testing import assert_close
from lamella.utils.checkpoint import checkpoint

F = lamella.nn.functional
POINTS = {-3: -1 / 60, -2: 3 / 20, -1: -3 / 4, 1: 3 / 4, 2: -3 / 20, 3: 1 / 60}  # exact up to degree 6


@pytest.fixture(autouse=True)
def no_level_stays_open():
    before = lamella._C._thread_layers()
    yield
    assert lamella._C._thread_layers() == before


def normal(*shape, seed=0):
    lamella.manual_seed(sum(shape) + seed)
    return lamella.randn(*shape, dtype=lamella.float64)


def differences(function, x, step=0.02):
    """Returns the Jacobian of the function at x by finite differences: of shape (*result, *x)."""
    columns = []
    for i in range(x.numel()):
        unit = lamella.zeros(x.numel(), dtype=x.dtype)
        unit[i] = step
        made = [function(x + n * unit.view(x.shape)).detach() * w for n, w in POINTS.items()]
        columns.append(sum(made) / step)
    found = lamella.stack(columns, -1)
    return found.reshape((*found.shape[:-1], *x.shape))


def close(found, expected):
    assert_close(found, expected, rtol=1e-6, atol=1e-7)


MATRIX = normal(3, 3, seed=5)
SCALAR = {
    "sum of squares": lambda x: (x * x).sum(),
    "tanh of a product": lambda x: (MATRIX @ x).tanh().sum(),
    "logsumexp": lambda x: x.logsumexp(0),
    "an element": lambda x: x[0] * x[2].exp(),
    "product": lambda x: x.prod() * x.norm(),
    "softmax": lambda x: (x.softmax(0) * x).sum(),
    "in-place": lambda x: x.clone().mul_(x).sin_().sum(),
    "writes into a view": lambda x: _written(x).sin().sum(),
    "where": lambda x: lamella.where(x > 0, x * x, x.sin()).sum(),
    "cat": lambda x: lamella.cat([x, x.flip(0) * x]).cumsum(0).pow(2).sum(),
    "sort": lambda x: (x.sort().values * lamella.arange(3.0, dtype=x.dtype)).exp().sum(),
    "einsum": lambda x: lamella.einsum("i,ij,j->", x, MATRIX, x.sin()),
    "solve": lambda x: lamella.linalg.solve(MATRIX + x.diag(), x).sum(),
    "layer_norm": lambda x: (F.layer_norm(x, (3,)) * MATRIX[0]).sum(),
    "gelu": lambda x: F.gelu(x).sum() + F.softplus(x).prod(),
    "mse_loss": lambda x: F.mse_loss(x.sin(), MATRIX[0]),
}


def _written(x):
    y = lamella.zeros_like(x)
    y[0] = x[1] * x[2]
    y[1:].add_(x[:2] ** 2)
    return y * x


@pytest.mark.parametrize("function", SCALAR.values(), ids=SCALAR)
def test_functions_of_a_vector(function):
    x = normal(3)
    gradient = differences(function, x)
    close(grad(function)(x), gradient)
    close(jacrev(function)(x), gradient)
    close(jacfwd(function)(x), gradient)
    value, back = vjp(function, x)
    close(value, function(x))
    close(back(lamella.tensor(2.0, dtype=x.dtype))[0], gradient * 2)
    close(jvp(function, (x,), (MATRIX[1],))[1], gradient @ MATRIX[1])
    value, forward = linearize(function, x)
    close(value, function(x))
    close(forward(MATRIX[1]), gradient @ MATRIX[1])
    second = differences(grad(function), x)
    close(hessian(function)(x), second)
    close(jacrev(jacrev(function))(x), second)
    close(jacrev(jacfwd(function))(x), second)
    close(jvp(grad(function), (x,), (MATRIX[0],))[1], second @ MATRIX[0])
    close(grad(lambda x: (grad(function)(x) * MATRIX[0]).sum())(x), second @ MATRIX[0])
    batch = normal(4, 3)
    close(vmap(grad(function))(batch), lamella.stack([grad(function)(b) for b in batch]))
    close(vmap(hessian(function))(batch), lamella.stack([hessian(function)(b) for b in batch]))
    close(vmap(lambda x: jvp(function, (x,), (MATRIX[1],))[1])(batch), vmap(grad(function))(batch) @ MATRIX[1])
    of_batch = grad(lambda b: sum(function(x) ** 2 for x in b))(batch)
    close(grad(lambda b: (vmap(function)(b) ** 2).sum())(batch), of_batch)


def vector(x, y):
    return (x * y.sum()).sin(), {"outer": x[:, None] * y.exp()}


def test_jacobians_of_nestings():
    x, y = normal(2), normal(3)
    by_x, by_y = differences(lambda x: vector(x, y)[0], x), differences(lambda y: vector(x, y)[0], y)
    outer_x = differences(lambda x: vector(x, y)[1]["outer"], x)
    outer_y = differences(lambda y: vector(x, y)[1]["outer"], y)
    for jac in (jacrev, jacfwd):
        made = jac(vector)(x, y)
        close(made[0], by_x)
        close(made[1]["outer"], outer_x)
        made = jac(vector, (0, 1))(x, y)
        close(made[0][0], by_x)
        close(made[0][1], by_y)
        close(made[1]["outer"][0], outer_x)
        close(made[1]["outer"][1], outer_y)
        close(jac(vector, argnums=-1)(x, y)[0], by_y)
        close(jac(vector, argnums=(1,))(x, y)[0][0], by_y)
        named = jac(lambda d: vector(d["x"], d["y"])[0])({"x": x, "y": y})
        close(named["x"], by_x)
        close(named["y"], by_y)
        for chunk_size in (1, 2, 100):
            close(jac(vector, chunk_size=chunk_size)(x, y)[1]["outer"], outer_x)
        found, aux = jac(lambda x: (x * y.sum(), (x, 3)), has_aux=True)(x)
        close(found, differences(lambda x: x * y.sum(), x))
        assert aux[1] == 3 and not aux[0].requires_grad
        close(aux[0], x)
        assert jac(lambda x: x * 2)(normal(2, 3)).shape == (2, 3, 2, 3)
    second = hessian(lambda a, b: (vector(a, b)[1]["outer"] ** 2).sum(), (0, 1))(x, y)
    for i in (0, 1):
        for j in (0, 1):
            f = lambda *p, i=i: grad(lambda a, b: (vector(a, b)[1]["outer"] ** 2).sum(), i)(*p)  # noqa: E731
            close(second[i][j], differences(lambda t, j=j, f=f: f(*((t, y) if j == 0 else (x, t))), (x, y)[j]))


def test_argnums_and_nestings_of_grad():
    def f(a, b, c):
        return (a * b["k"]).sum() * c[0] + b["l"][0].sin().sum()

    a, b, c = normal(2), {"k": normal(2, seed=1), "l": [normal(3)]}, (lamella.tensor(2.0, dtype=lamella.float64),)
    close(grad(f)(a, b, c), b["k"] * 2)
    by_b = grad(f, 1)(a, b, c)
    close(by_b["k"], a * 2)
    close(by_b["l"][0], b["l"][0].cos())
    by_c, by_a = grad(f, (-1, 0))(a, b, c)
    close(by_c[0], (a * b["k"]).sum())
    close(by_a, b["k"] * 2)
    (gradients, value) = grad_and_value(f, (0,))(a, b, c=c)
    assert isinstance(gradients, tuple)
    close(gradients[0], b["k"] * 2)
    close(value, f(a, b, c))
    gradients, aux = grad(lambda a: (a.sum(), {"twice": a * 2, "text": "x"}), has_aux=True)(a)
    close(gradients, lamella.ones(2, dtype=a.dtype))
    close(aux["twice"], a * 2)
    assert aux["text"] == "x" and not aux["twice"].requires_grad
    gradients, (value, aux) = grad_and_value(lambda a: (a.sum(), a * 2), has_aux=True)(a)
    close(value, a.sum())
    close(aux, a * 2)


def test_unused_arguments_have_zeros():
    x, y = normal(2), normal(3)
    close(grad(lambda x, y: (x * x).sum(), 1)(x, y), lamella.zeros_like(y))
    close(grad(lambda x: lamella.ones((), dtype=x.dtype))(x), lamella.zeros_like(x))
    close(vjp(lambda x, y: x * 2, x, y)[1](x)[1], lamella.zeros_like(y))
    close(jvp(lambda x: lamella.ones(3, dtype=x.dtype), (x,), (x,))[1], lamella.zeros_like(y))
    for jac in (jacrev, jacfwd):
        close(jac(lambda x: lamella.ones(3, dtype=x.dtype))(x), lamella.zeros(3, 2, dtype=x.dtype))
        close(jac(lambda x, y: x * 2, 1)(x, y), lamella.zeros(2, 3, dtype=x.dtype))
    close(hessian(lambda x: x.sum())(x), lamella.zeros(2, 2, dtype=x.dtype))
    close(grad(lambda x: (x.detach() * x).sum())(x), x)
    close(vmap(grad(lambda x, y: y.sum()), (0, None))(normal(3, 2), y), lamella.zeros(3, 2, dtype=x.dtype))


def test_the_functions_of_vjp_and_linearize_serve_many_calls():
    x = normal(3)
    value, back = vjp(lambda x: (x.sin(), x * x), x)
    assert isinstance(value, tuple)
    for v in (normal(3), normal(3, seed=2)):
        close(back((v, v * 2))[0], v * x.cos() + v * 4 * x)
    with pytest.raises(RuntimeError):
        back((x,))
    with pytest.raises(RuntimeError):
        back((x, x[:2]))
    close(vmap(lambda v: back((v, v))[0])(MATRIX), MATRIX * (x.cos() + 2 * x))
    _, forward = linearize(lambda x: x.sin() * 2, x)
    close(vmap(forward)(MATRIX), MATRIX * 2 * x.cos())
    close(forward(x), forward(x))
    assert len(vjp(lambda x: (x, x * 2), x, has_aux=True)) == 3
    _, _, aux = vjp(lambda x: (x, {"aux": x * 2}), x, has_aux=True)
    close(aux["aux"], x * 2)
    _, tangent, aux = jvp(lambda x: (x.sin(), x * 2), (x,), (x,), has_aux=True)
    close(tangent, x * x.cos())
    close(aux, x * 2)


def test_deep_nestings():
    x = normal(2, 3)
    f = lambda x: (x.sin() * x).sum()  # noqa: E731
    first, second = x.sin() + x * x.cos(), 2 * x.cos() - x * x.sin()
    close(vmap(vmap(grad(lambda t: t.sin() * t)))(x), first)
    close(vmap(vmap(grad(grad(lambda t: t.sin() * t))))(x), second)
    close(grad(lambda x: vmap(vmap(lambda t: t.sin() * t))(x).sum())(x), first)
    close(vmap(grad(lambda x: vmap(grad(lambda t: t.sin() * t))(x).sum()))(x), second)
    close(jacrev(lambda x: vmap(f)(x))(x), differences(vmap(f), x))
    close(jacfwd(vmap(grad(f)))(x), differences(vmap(grad(f)), x))
    close(vmap(jacrev(lambda x: x.outer(x)))(x), lamella.stack([differences(lambda r: r.outer(r), r) for r in x]))
    close(vmap(jacfwd(jacrev(f)))(x), lamella.stack([s.diag() for s in second]))
    close(jvp(vmap(grad(f)), (x,), (x,))[1], second * x)
    one = lamella.ones((), dtype=x.dtype)
    by_scale = differences(lambda s: (x * ((x * s).sin() + x * s * (x * s).cos())).sum(), one)
    close(grad(lambda s: vmap(lambda r: jvp(f, (r * s,), (r,))[1])(x).sum())(one), by_scale)
    third = grad(grad(grad(lambda t: t**4)))
    close(third(x[0, 0]), 24 * x[0, 0])
    close(vmap(third)(x[0]), 24 * x[0])
    close(grad(lambda w: vmap(lambda r: grad(lambda q: (w * q * q).sum())(r).sum())(x).sum())(x[0]), 2 * x.sum(0))
    close(vmap(lambda a: vmap(grad(lambda b: (a * b).sin().sum()))(x))(x), (x[:, None] * x).cos() * x[:, None])


def test_outer_tensors_that_require_gradients():
    x, w = normal(4, 3), normal(3, seed=1).requires_grad_()

    def penalty(per_sample):
        return (per_sample**2).sum()

    def f(w, r):
        return (w * r).sin().sum() * w[0]

    expected = differences(lambda w: penalty(lamella.stack([grad(f)(w, r) for r in x])), w.detach())
    for made in (
        lambda: vmap(grad(f), (None, 0))(w, x),
        lambda: lamella.stack([grad(f)(w, r) for r in x]),
        lambda: vmap(lambda r: grad(lambda v: f(v * 1, r))(w))(x),
        lambda: vmap(lambda r: vjp(lambda v: f(v, r), w)[1](lamella.ones((), dtype=w.dtype))[0])(x),
        lambda: vmap(lambda r: jacrev(f)(w, r))(x),
        lambda: vmap(lambda r: jacfwd(f)(w, r))(x),
    ):
        found = made()
        assert found.requires_grad
        close(lamella.autograd.grad(penalty(found), w)[0], expected)
    captured = vmap(grad(lambda r: f(w, r)))(x)
    assert captured.requires_grad
    by_w = differences(lambda w: penalty(lamella.stack([grad(f, 1)(w, r) for r in x])), w.detach())
    close(lamella.autograd.grad(penalty(captured), w)[0], by_w)
    tangents = vmap(lambda r: jvp(lambda q: f(w, q), (r,), (r,))[1])(x)
    close(
        lamella.autograd.grad(tangents.sum(), w)[0],
        differences(lambda w: vmap(lambda r: jvp(lambda q: f(w, q), (r,), (r,))[1])(x).sum(), w.detach()),
    )
    batch = x.clone().requires_grad_()
    vmap(grad(lambda r: (r**3).sum()))(batch).sum().backward()
    close(batch.grad, 6 * x)
    assert not vmap(grad(lambda r: (r**3).sum()))(x).requires_grad
    assert not grad(lambda v: (v * v).sum())(x).requires_grad
    mapped = vmap(lambda r, v: (r * v).sum(), (0, None))(x, w)
    close(lamella.autograd.grad(mapped.sum(), w)[0], x.sum(0))


def test_writes_to_samples_are_recorded():
    w = normal(2, 3).requires_grad_()
    y = w * 1
    vmap(lambda x: x.mul_(2))(y)
    y[0].mul_(3)

    def f(x):
        x[0].mul_(5)
        return x.sum()

    vmap(f)(y).sum().backward()
    close(w.grad, lamella.tensor([[30.0, 6.0, 6.0], [10.0, 2.0, 2.0]], dtype=w.dtype))
    with pytest.raises(RuntimeError, match="leaf"):
        vmap(lambda x: x.add_(1))(w)
    saved = w.exp()
    vmap(lambda x: x.mul_(2))(saved)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.sum().backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        vmap(grad(lambda x: _stale(x.exp())))(w)


def _stale(y):
    y.mul_(2)
    return y.sum()


def test_a_leaf_keeps_no_gradient_of_the_transform():
    w = normal(3).requires_grad_()
    grad(lambda x: (x * w).sum())(normal(3))
    jacrev(lambda x: x * w)(normal(3))
    assert w.grad is None and w.is_leaf


def test_no_grad():
    x, f = normal(3), (lambda x: (x**3).sum())
    with lamella.no_grad():
        found = grad(f)(x.clone().requires_grad_())
        assert not found.requires_grad
        close(found, 3 * x**2)
        close(grad(lambda x: grad(f)(x).sum())(x), 6 * x)
        close(hessian(f)(x), (6 * x).diag())
        close(jvp(grad(f), (x,), (x,))[1], 6 * x * x)
        close(vmap(grad(f))(MATRIX), 3 * MATRIX**2)
        close(vjp(f, x)[1](lamella.ones((), dtype=x.dtype))[0], 3 * x**2)
        close(jacrev(grad(f))(x), (6 * x).diag())
        assert not lamella.is_grad_enabled()
    assert lamella.is_grad_enabled()

    def inside(x):
        with lamella.no_grad():
            constant = (x * x).sum()
            shift = grad(f)(x)
        return (x * constant + shift).sum()

    close(grad(inside)(x), (x * x).sum().expand(3).contiguous())
    close(vmap(grad(inside))(MATRIX), (MATRIX**2).sum(1, keepdim=True).expand(3, 3).contiguous())


def test_requires_grad_inside():
    def f(x):
        y = lamella.ones(3, dtype=x.dtype).requires_grad_()
        [inner] = lamella.autograd.grad((y * y * x.detach()).sum(), y)
        return (x * inner).sum()

    x = normal(3)
    close(grad(f)(x), 2 * x)
    close(vmap(grad(f))(MATRIX), 2 * MATRIX)


def test_autograd_grad_inside_a_transform():
    def f(x):
        y = x.sin().sum()
        [g] = lamella.autograd.grad(y, x, create_graph=True)
        return (g * x).sum()

    x = normal(3)
    close(grad(f)(x), x.cos() - x * x.sin())
    close(vmap(grad(f))(MATRIX), MATRIX.cos() - MATRIX * MATRIX.sin())


def test_checkpoint():
    def block(w, x):
        return (x @ w).tanh()

    def f(w, x, keep):
        call = (lambda *a: block(*a)) if keep else (lambda *a: checkpoint(block, *a, use_reentrant=False))
        return call(w, call(w, x)).sum()

    w, x = normal(3, 3), normal(4, 3)
    close(grad(f)(w, x, False), grad(f)(w, x, True))
    per_sample = vmap(grad(f), (None, 0, None))(w, x, False)
    close(per_sample, lamella.stack([grad(f)(w, r, True) for r in x]))


def test_autocast():
    def f(w, x):
        with lamella.autocast("cpu", dtype=lamella.bfloat16):
            made = x @ w
        assert made.dtype == lamella.bfloat16
        return made.float().sin().sum()

    lamella.manual_seed(0)
    w, x = lamella.randn(3, 3), lamella.randn(4, 2, 3)
    assert_close(grad(f)(w, x[0]), grad(lambda w, x: (x @ w).sin().sum())(w, x[0]), rtol=0.05, atol=0.05)
    found = vmap(grad(f), (None, 0))(w, x)
    assert_close(found, lamella.stack([grad(f)(w, r) for r in x]), rtol=0.02, atol=0.02)
    with lamella.autocast("cpu", dtype=lamella.bfloat16):
        found = vmap(lambda r: r @ w)(x)
        assert_close(found, lamella.stack([r @ w for r in x]))


def test_complex_inputs():
    z = lamella.complex(normal(3), normal(3, seed=1))

    def f(z):
        return ((z * z).abs() ** 2).sum() + (z * (1 + 2j)).real.sum()

    def parts(p):
        return f(lamella.complex(p[0], p[1]))

    by_parts = differences(parts, lamella.stack([z.real, z.imag]))
    expected = lamella.complex(by_parts[0], by_parts[1])
    close(grad(f)(z), expected)
    batch = lamella.stack([z, z * 1j, z - 1])
    close(vmap(grad(f))(batch), lamella.stack([grad(f)(b) for b in batch]))
    with pytest.raises(RuntimeError):
        grad(lambda z: z.sum())(z)
    _, back = vjp(lambda z: z * (2 + 1j), z)
    close(back(z)[0], z * (2 - 1j))


X = lamella.arange(3.0)
WHOLE = lamella.arange(3)
BAD = {
    "whole numbers": (lambda: grad(lambda x: x.sum())(WHOLE), RuntimeError),
    "whole numbers of vjp": (lambda: vjp(lambda x: x * 2, WHOLE), RuntimeError),
    "whole numbers of jacrev": (lambda: jacrev(lambda x: x * 2)(WHOLE), RuntimeError),
    "whole numbers of jacfwd": (lambda: jacfwd(lambda x: x * 2)(WHOLE), RuntimeError),
    "a number": (lambda: grad(lambda x: X.sum() * x)(2.0), ValueError),
    "a number in a nesting": (lambda: grad(lambda p: p[0].sum())((X, 2.0)), ValueError),
    "a result with dimensions": (lambda: grad(lambda x: x)(X), RuntimeError),
    "a result with one element and a dimension": (lambda: grad(lambda x: x.sum()[None])(X), RuntimeError),
    "a result that is no tensor": (lambda: grad(lambda x: 1.0)(X), RuntimeError),
    "a tuple": (lambda: grad(lambda x: (x.sum(), x.sum()))(X), RuntimeError),
    "no aux": (lambda: grad(lambda x: x.sum(), has_aux=True)(X), RuntimeError),
    "three results with aux": (lambda: grad_and_value(lambda x: (x.sum(), 1, 2), has_aux=True)(X), RuntimeError),
    "argnums out of range": (lambda: grad(lambda x: x.sum(), 1)(X), RuntimeError),
    "argnums out of range below": (lambda: jacrev(lambda x: x, -2)(X), RuntimeError),
    "argnums of another type": (lambda: grad(lambda x: x.sum(), "0")(X), RuntimeError),
    "argnums twice": (lambda: grad(lambda x, y: (x * y).sum(), (0, -2))(X, X), RuntimeError),
    "no argnums": (lambda: jacfwd(lambda x: x, ())(X), RuntimeError),
    "a keyword of argnums": (lambda: grad(lambda x: x.sum())(x=X), RuntimeError),
    "vjp of a number": (lambda: vjp(lambda x: 1.0, X), RuntimeError),
    "vjp without results": (lambda: vjp(lambda x: (), X), RuntimeError),
    "jacrev of a number": (lambda: jacrev(lambda x: (x, 1.0))(X), RuntimeError),
    "primals that are no tuple": (lambda: jvp(lambda x: x, X, X), RuntimeError),
    "tangents that are no tuple": (lambda: jvp(lambda x: x, (X,), X), RuntimeError),
    "too many tangents": (lambda: jvp(lambda x: x, (X,), (X, X)), RuntimeError),
    "tangents of another shape": (lambda: jvp(lambda x: x, (X,), (X[:2],)), RuntimeError),
    "tangents that are no tensors": (lambda: jvp(lambda x: x, (X,), (1.0,)), RuntimeError),
    "strict, and no dependence": (lambda: jvp(lambda x: lamella.ones(1), (X,), (X,), strict=True), RuntimeError),
    "tangents of linearize": (lambda: linearize(lambda x: x * 2, X)[1](X[:2]), RuntimeError),
    "chunk_size of jacrev": (lambda: jacrev(lambda x: x * 2, chunk_size=0)(X), ValueError),
    "chunk_size of jacfwd": (lambda: jacfwd(lambda x: x * 2, chunk_size=-1)(X), ValueError),
}  # fmt: skip


@pytest.mark.parametrize("call, error", BAD.values(), ids=BAD)
def test_bad_arguments(call, error):
    with pytest.raises(error):
        call()
    assert lamella.is_grad_enabled()
    close(grad(lambda x: (x * x).sum())(X), 2 * X)
