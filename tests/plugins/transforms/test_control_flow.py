"""cond, while_loop, scan, associative_scan and map, alone and within transforms."""

import itertools

import lamella
import numpy as np
import pytest
from lamella import func, vmap
from lamella._higher_order_ops import associative_scan, cond, map, scan, while_loop
from lamella.utils import _pytree as pytree


def tensors(*shape, seed=0):
    return lamella.randn(*shape, generator=lamella.Generator().manual_seed(seed))


# ---- cond


@pytest.mark.parametrize("pred", [True, 1, 2.5, lamella.tensor(True), lamella.tensor([[3]])])
def test_cond_calls_one_function(pred):
    called = []

    def branch(name, x):
        called.append(name)
        return {"x": x * 2}

    x = tensors(3)
    found = lamella.cond(pred, lambda x: branch("yes", x), lambda x: branch("no", x), (x,))
    assert called == ["yes"] and lamella.equal(found["x"], x * 2)


def test_cond_differs_between_samples():
    x = tensors(5, 4)
    found = vmap(lambda x: cond(x.sum() > 0, lambda x: (x.sin(), x), lambda x: (x.cos(), x), (x,)))(x)
    right = lamella.stack([row.sin() if row.sum() > 0 else row.cos() for row in x])
    assert lamella.allclose(found[0], right) and lamella.equal(found[1], x)


def test_cond_in_nested_maps_and_with_a_condition_that_all_samples_share():
    x, y = tensors(3), tensors(4, seed=1)
    both = vmap(vmap(lambda a, b: cond(a > b, lambda: a * b, lambda: a - b), (None, 0)), (0, None))
    right = [[a * b if a > b else a - b for b in y.tolist()] for a in x.tolist()]
    assert np.allclose(both(x, y).numpy(), right, atol=1e-6)
    called = []
    vmap(lambda a: cond(x[0] == x[0], lambda: called.append(1) or a, lambda: called.append(2) or a))(y)
    assert called == [1]


def test_derivatives_of_cond():
    x = tensors(6)

    def f(x):
        return cond(x > 0, lambda x: x**3, lambda x: -2 * x, (x,))

    right = lamella.where(x > 0, 3 * x**2, lamella.full((), -2.0))
    assert lamella.allclose(vmap(func.grad(f))(x), right)
    assert lamella.allclose(func.grad(lambda x: vmap(f)(x).sum())(x), right)
    assert lamella.allclose(func.jvp(vmap(f), (x,), (lamella.ones(6),))[1], right)
    assert lamella.allclose(func.jvp(f, (x[0],), (lamella.ones(()),))[1], right[0])


@pytest.mark.parametrize(
    "pred, operands, message",
    [
        ("yes", (), "argument 'pred' must be a bool or a tensor, got str"),
        (lamella.ones(2), (), r"argument 'pred' must have one element, got a tensor of size \(2,\)"),
        (lamella.ones(1), 3, "argument 'operands' must be a tuple or a list, got int"),
        (lamella.ones(1), (3,), "argument 'operands' must hold tensors alone, got int"),
    ],
)
def test_bad_arguments_of_cond(pred, operands, message):
    with pytest.raises(RuntimeError, match=f"cond: {message}"):
        cond(pred, lambda *a: a, lambda *a: a, operands)


def test_branches_that_do_not_fit():
    x = tensors(3)
    with pytest.raises(RuntimeError, match="'true_fn' and 'false_fn' must be functions"):
        cond(True, 3, lambda: 4)
    with pytest.raises(RuntimeError, match=r"cond: value 0 of the result of 'true_fn' is a tensor of size \(2,\)"):
        vmap(lambda x: cond(x > 0, lambda: lamella.ones(2), lambda: lamella.ones(3)))(x)
    with pytest.raises(RuntimeError, match="differs between samples, and the results have the nestings"):
        vmap(lambda x: cond(x > 0, lambda: (x,), lambda: x))(x)


def test_a_branch_that_writes_to_an_operand():
    def f(x):
        return cond(x.sum() > 2, lambda x: x.add_(1), lambda x: x * 5, (x,))

    assert f(lamella.ones(3)).tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="cond: .* writes in place to an operand; let it write to a clone()"):
        vmap(f)(lamella.ones(2, 3))


# ---- while_loop


def test_while_loop():
    n, x = while_loop(lambda n, x: n < 4, lambda n, x: (n + 1, {"x": x["x"] * 2}), (0, {"x": lamella.ones(2)}))
    assert n == 4 and x["x"].tolist() == [16.0, 16.0]
    same = lamella.ones(2)
    (found,) = while_loop(lambda x: False, lambda x: (x,), (same,))
    assert found is not same and lamella.equal(found, same)


def collatz(n):
    steps = 0
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps


def test_samples_leave_a_while_loop_at_their_own_time():
    def steps(n):
        def body(n, count):
            return lamella.where(n % 2 == 1, 3 * n + 1, n // 2), count + 1

        return while_loop(lambda n, count: n != 1, body, (n, 0))[1]

    n = lamella.tensor([1, 7, 27, 6, 97])
    assert vmap(steps)(n).tolist() == [collatz(k) for k in n.tolist()]


def test_derivatives_of_a_while_loop():
    def f(x):
        return while_loop(lambda n, x: x.abs() < 10, lambda n, x: (n + 1, x * x), (0, x))[1]

    x = lamella.tensor([1.5, 3.0, 20.0])
    right = lamella.tensor([8 * 1.5**7, 4 * 3.0**3, 1.0])
    assert lamella.allclose(vmap(func.grad(f))(x), right)
    assert lamella.allclose(vmap(func.jacfwd(f))(x), right)


@pytest.mark.parametrize(
    "condition, body, inputs, message",
    [
        (lambda x: 1, lambda x: (x,), (lamella.ones(2),), "'cond_fn' must return a bool or a bool tensor .* got int"),
        (lambda x: x > 0, lambda x: (x,), (lamella.ones(2),), r"got lamella.bool of size \(2,\)"),
        (lambda x: True, lambda x: x, (lamella.ones(2),), "'body_fn' must return a tuple, got Tensor"),
        (lambda x: True, lambda x: (x, x), (lamella.ones(2),), "has the nesting .* and 'carried_inputs' has"),
        (lambda x: True, lambda x: (x.double(),), (lamella.ones(2),), "value 0 of the result of 'body_fn' is a tensor"),
        (lambda x: True, lambda x: (x,), 3, "'carried_inputs' must be a tuple or a list, got int"),
        (lambda x: True, lambda x: (x,), ("x",), "'carried_inputs' must hold tensors and ints, got str"),
        (3, lambda x: (x,), (1,), "'cond_fn' and 'body_fn' must be functions"),
    ],
)
def test_bad_while_loops(condition, body, inputs, message):
    with pytest.raises(RuntimeError, match=f"while_loop: .*{message}"):
        while_loop(condition, body, inputs)


# ---- scans


@pytest.mark.parametrize("dim, reverse", list(itertools.product((0, 1, -1), (False, True))))
def test_scan_is_a_cumulative_sum(dim, reverse):
    xs = tensors(4, 3, 2)
    init = lamella.zeros_like(xs.select(dim, 0))
    last, found = scan(lambda total, x: (total + x, total + x), init, xs, dim=dim, reverse=reverse)
    right = xs.flip(dim).cumsum(dim).flip(dim) if reverse else xs.cumsum(dim)
    assert lamella.allclose(found, right) and lamella.allclose(last, xs.sum(dim), atol=1e-6)


def test_scan_of_nestings():
    xs = {"a": tensors(5, 2), "b": [lamella.arange(5)]}

    def step(state, x):
        return (state[0] * x["a"], state[1] + x["b"][0]), [x["b"][0] * 2, x["a"].sum()]

    state, outputs = scan(step, (lamella.ones(2), lamella.tensor(0)), xs)
    assert lamella.allclose(state[0], xs["a"].prod(0)) and state[1].item() == 10
    assert outputs[0].tolist() == [0, 2, 4, 6, 8] and lamella.allclose(outputs[1], xs["a"].sum(1))
    assert scan(step, 3, {}) == (3, [])


def test_derivatives_of_scan():
    w, xs = tensors(3, 3), tensors(6, 3, seed=1)

    def f(w, xs):
        return scan(lambda h, x: ((w @ h + x).tanh(), (w @ h + x).tanh()), lamella.zeros(3), xs)[1].sum()

    def loop(w, xs):
        h, total = lamella.zeros(3), 0
        for x in xs:
            h = (w @ h + x).tanh()
            total = total + h.sum()
        return total

    assert lamella.allclose(func.grad(f)(w, xs), func.grad(loop)(w, xs), atol=1e-6)
    batches = lamella.stack([xs, xs * 2])
    right = lamella.stack([func.grad(loop)(w, x) for x in batches])
    assert lamella.allclose(vmap(func.grad(f), (None, 0))(w, batches), right, atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 13, 64])
@pytest.mark.parametrize("mode, reverse", list(itertools.product(("pointwise", "generic"), (False, True))))
def test_associative_scan(n, mode, reverse):
    xs = tensors(2, n)
    found = associative_scan(lamella.mul, xs, 1, reverse, mode)
    right = np.cumprod(xs.double().numpy()[:, :: -1 if reverse else 1], 1)[:, :: -1 if reverse else 1]
    assert np.allclose(found.numpy(), right, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("mode", ["pointwise", "generic"])
def test_associative_scan_of_affine_maps(mode):
    """The composition of maps x -> a x + b, which does not commute."""
    a, b = tensors(9, 3), tensors(9, 3, seed=1)

    def compose(one, other):
        return {"a": other["a"] * one["a"], "b": other["a"] * one["b"] + other["b"]}

    found = associative_scan(compose, {"a": a, "b": b}, 0, combine_mode=mode)
    x, rows = lamella.zeros(3), []
    for k in range(9):
        x = a[k] * x + b[k]
        rows.append(x)
    assert lamella.allclose(found["b"], lamella.stack(rows), atol=1e-5)
    assert lamella.allclose(found["a"], a.cumprod(0), atol=1e-5)


def test_associative_scan_of_matrices_and_its_derivative():
    xs = tensors(5, 3, 3)
    found = associative_scan(lamella.matmul, xs, 0, combine_mode="generic")
    right = list(itertools.accumulate(xs, lamella.matmul))
    assert lamella.allclose(found, lamella.stack(right), atol=1e-5)
    grad = func.grad(lambda xs: associative_scan(lamella.mul, xs, 0).sum())(xs)
    assert lamella.allclose(grad, func.grad(lambda xs: xs.cumprod(0).sum())(xs), atol=1e-4)
    several = vmap(lambda xs: associative_scan(lamella.add, xs, 0))(xs)
    assert lamella.allclose(several, xs.cumsum(1), atol=1e-6)


def test_map():
    xs = tensors(4, 3)
    found = map(lambda x, y: {"sum": x.sum() + y, "x": x}, xs, lamella.ones(2))
    assert lamella.allclose(found["sum"], xs.sum(1)[:, None] + 1) and lamella.equal(found["x"], xs)
    pairs = map(lambda x: x[0] * x[1], [xs, xs])
    assert lamella.equal(pairs, xs * xs)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: scan(3, lamella.ones(1), lamella.ones(1)), RuntimeError, "scan: argument 'combine_fn'"),
        (lambda: scan(len, lamella.ones(1), lamella.ones(1), dim="0"), RuntimeError, "'dim' must be an int, got str"),
        (lambda: scan(len, lamella.ones(1), lamella.ones(1), reverse=1), RuntimeError, "'reverse' must be a bool"),
        (lambda: scan(len, lamella.ones(1), lamella.ones(1), dim=1), IndexError, "'dim' must be from -1 to 0"),
        (lambda: scan(len, (), lamella.ones(1)), RuntimeError, "'init' must have at least one tensor"),
        (lambda: scan(len, 3, lamella.ones(1)), RuntimeError, "'init' must be tensors, got int"),
        (lambda: scan(len, lamella.ones(1), [lamella.ones(1), 3]), RuntimeError, "'xs' must be tensors, got int"),
        (lambda: scan(len, lamella.ones(1), lamella.ones(0)), RuntimeError, "must have elements along dimension 0"),
        (
            lambda: scan(len, lamella.ones(1), [lamella.ones(1), lamella.ones(2)]),
            RuntimeError,
            r"tensors of 'xs' have the sizes \[1, 2\] in dimension 0",
        ),
        (lambda: scan(lambda s, x: s, lamella.ones(1), lamella.ones(1)), RuntimeError, "must return a pair"),
        (lambda: scan(lambda s, x: (x, 1), lamella.ones(()), lamella.ones(1)), RuntimeError, "outputs must be tensors"),
        (
            lambda: scan(lambda s, x: ([s], s), lamella.ones(1), lamella.ones(1)),
            RuntimeError,
            "a state has the nesting",
        ),
        (
            lambda: scan(lambda s, x: (x, x), lamella.ones(2), lamella.ones(1)),
            RuntimeError,
            r"value 0 of a state is a tensor of size \(\), .* and that of 'init' is a tensor of size \(2,\)",
        ),
        (lambda: associative_scan(3, lamella.ones(1), 0), ValueError, "argument 'combine_fn' must be a function"),
        (lambda: associative_scan(len, lamella.ones(1), None), ValueError, "argument 'dim' must be an int"),
        (lambda: associative_scan(len, [], 0), ValueError, "argument 'xs' must have at least one tensor"),
        (lambda: associative_scan(len, lamella.ones(1), 0, 3), RuntimeError, "argument 'reverse' must be a bool"),
        (
            lambda: associative_scan(len, lamella.ones(1), 0, combine_mode="x"),
            ValueError,
            "argument 'combine_mode' must be 'pointwise' or 'generic', got 'x'",
        ),
        (
            lambda: associative_scan(lambda a, b: (a, b), lamella.ones(2), 0),
            RuntimeError,
            "the result of 'combine_fn' has the nesting",
        ),
        (lambda: map(len, 3), RuntimeError, "map: argument 'xs' must be tensors, got int"),
    ],
)
def test_bad_scans(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_modules_have_the_names_of_torch():
    import lamella._higher_order_ops as hop
    from lamella._higher_order_ops.associative_scan import associative_scan as one
    from lamella._higher_order_ops.scan import scan as other

    assert hop.cond is lamella.cond and hop.while_loop is lamella.while_loop
    assert one is associative_scan and other is scan
    assert pytree.tree_leaves(hop.__all__) == sorted(hop.__all__)


def test_an_import_of_a_module_leaves_the_function_of_its_name():
    import sys

    import lamella._higher_order_ops.map  # noqa: F401

    assert lamella._higher_order_ops.map is map and lamella._higher_order_ops.scan is scan
    assert sys.modules["lamella._higher_order_ops.map"].map is map
