"""Refusals of vmap, its state after an error, threads, loops over samples, and operators that Python defines."""

import threading

import lamella
import pytest
from lamella import func, vmap
from lamella.testing import assert_close
from threads import in_threads


@pytest.fixture(autouse=True)
def no_level_stays_open():
    """The layers of the thread are the same before and after each test, and vmap works after it."""
    before = lamella._C._thread_layers()
    yield
    assert lamella._C._thread_layers() == before
    assert vmap(lambda x: x.sum())(lamella.ones(2, 3)).tolist() == [3, 3]


X = lamella.arange(6.0).reshape(2, 3)
BAD_DIMS = {
    "in_dims of another type": (lambda: vmap(lamella.mul, in_dims="0")(X, X), ValueError),
    "a set": (lambda: vmap(lamella.mul, in_dims={0})(X, X), ValueError),
    "a float in in_dims": (lambda: vmap(lamella.mul, in_dims=(0, 0.5))(X, X), ValueError),
    "too few in_dims": (lambda: vmap(lamella.mul, in_dims=(0,))(X, X), ValueError),
    "too many in_dims": (lambda: vmap(lamella.sin, in_dims=(0, 0))(X), ValueError),
    "another nesting": (lambda: vmap(lambda p: p[0], in_dims=([0, 0, 0],))([X, X]), ValueError),
    "other keys": (lambda: vmap(lambda p: p["a"], in_dims=({"b": 0},))({"a": X}), ValueError),
    "a nesting for a tensor": (lambda: vmap(lamella.mul, in_dims=((0, 0), 0))(X, X), ValueError),
    "a dim for a number": (lambda: vmap(lamella.mul, in_dims=(0, 0))(X, 2.0), ValueError),
    "in_dims for all with a number": (lambda: vmap(lamella.mul)(X, 2.0), ValueError),
    "out of range": (lambda: vmap(lamella.sin, in_dims=2)(X), ValueError),
    "out of range below": (lambda: vmap(lamella.sin, in_dims=-3)(X), ValueError),
    "a tensor without dimensions": (lambda: vmap(lamella.sin)(lamella.tensor(1.0)), ValueError),
    "other sizes": (lambda: vmap(lamella.mul)(X, X.T), ValueError),
    "other sizes in a nesting": (lambda: vmap(lambda p, q: p[0])((X, X), X.T), ValueError),
    "no tensor is mapped": (lambda: vmap(lamella.mul, in_dims=(None, None))(X, X), ValueError),
    "in_dims is None": (lambda: vmap(lamella.sin, in_dims=None)(X), ValueError),
    "no arguments": (lambda: vmap(lambda: X)(), ValueError),
    "keyword arguments alone": (lambda: vmap(lambda x: x)(x=X), ValueError),
    "empty arguments": (lambda: vmap(lambda x: X)([]), ValueError),
    "out_dims of another type": (lambda: vmap(lamella.sin, out_dims="0")(X), ValueError),
    "a float in out_dims": (lambda: vmap(lambda x: (x, x), out_dims=(0, 0.5))(X), ValueError),
    "too many out_dims": (lambda: vmap(lamella.sin, out_dims=(0, 0))(X), ValueError),
    "too few out_dims": (lambda: vmap(lambda x: (x, x), out_dims=(0,))(X), ValueError),
    "out_dims of another nesting": (lambda: vmap(lambda x: (x, (x, x)), out_dims=(0, (0, 0, 0)))(X), ValueError),
    "out_dims None, the result differs": (lambda: vmap(lamella.sin, out_dims=None)(X), ValueError),
    "out_dims out of range": (lambda: vmap(lamella.sin, out_dims=2)(X), IndexError),
    "out_dims out of range below": (lambda: vmap(lamella.sin, out_dims=-3)(X), IndexError),
    "the result is a number": (lambda: vmap(lambda x: 1.0)(X), ValueError),
    "the result is None": (lambda: vmap(lambda x: None)(X), ValueError),
    "a number in the results": (lambda: vmap(lambda x: (x, 1))(X), ValueError),
    "randomness": (lambda: vmap(lamella.sin, randomness="some")(X), RuntimeError),
    "chunk_size 0": (lambda: vmap(lamella.sin, chunk_size=0)(X), ValueError),
    "chunk_size -1": (lambda: vmap(lamella.sin, chunk_size=-1)(X), ValueError),
}


@pytest.mark.parametrize("call, error", BAD_DIMS.values(), ids=BAD_DIMS)
def test_bad_arguments(call, error):
    with pytest.raises(error, match="vmap"):
        call()


VALUES = {
    "item": lambda x: x[0].item(),
    "float": lambda x: float(x[0]),
    "int": lambda x: int(x[0]),
    "bool": lambda x: bool(x[0]),
    "if": lambda x: x if x.sum() > 0 else -x,
    "and": lambda x: (x.sum() > 0) and x,
    "while": lambda x: [x for _ in iter(lambda: bool(x[0] > 9), True)],
    "tolist": lambda x: x.tolist(),
    "range": lambda x: x[: x[0].long()],
    "equal": lambda x: lamella.equal(x, x),
    "nonzero": lambda x: x.nonzero(),
    "argwhere": lambda x: lamella.argwhere(x),
    "where with one argument": lambda x: lamella.where(x > 0)[0],
    "masked_select": lambda x: x.masked_select(x > 0),
    "a mask": lambda x: x[x > 0],
    "a mask over a shared tensor": lambda x: lamella.ones(3)[x > 0],
    "unique": lambda x: x.unique(),
    "repeat_interleave": lambda x: lamella.ones(3).repeat_interleave(x.long()),
    "numpy": lambda x: x.numpy(),
}


@pytest.mark.parametrize("function", VALUES.values(), ids=VALUES)
def test_values_of_samples_are_no_numbers(function):
    with pytest.raises(RuntimeError, match="vmap|sample") as found:
        vmap(function)(X)
    assert len(str(found.value)) > 30, "the message says what to do instead"
    with pytest.raises(RuntimeError):
        vmap(vmap(function))(X.expand(2, 2, 3))


def test_values_of_shared_tensors_are_numbers():
    shared = lamella.tensor([1.0, 0.0])
    made = vmap(lambda x: x * shared[0].item() if shared[0] > 0 else x[shared.nonzero()])(X)
    assert_close(made, X)
    assert_close(vmap(lambda x: x[: int(shared.sum())])(X), X[:, :1].contiguous())


def test_a_sample_that_outlives_its_call():
    kept = []
    vmap(lambda x: kept.append(x) or x)(X)
    for use in (
        lambda x: x + 1,
        lambda x: lamella.ones(3) + x,
        lambda x: x.sum(),
        lambda x: x[0],
        lambda x: x.add_(1),
        lambda x: x.clone(),
        lambda x: x.item(),
        lambda x: vmap(lambda y: y + x)(X),
        lambda x: vmap(lambda y: y + 1)(x[None]),
    ):
        with pytest.raises(RuntimeError, match="ended"):
            use(kept[0])
    assert kept[0].shape == (3,)
    assert isinstance(repr(kept[0]), str)
    vmap(lambda x: kept.append(x) or x)(X)
    with pytest.raises(RuntimeError, match="ended"):
        kept[0] + kept[1]
    assert_close(X, lamella.arange(6.0).reshape(2, 3))


def test_a_sample_of_an_inner_call_that_has_ended():
    kept = []

    def outer(x):
        vmap(lambda y: kept.append(y) or y)(x)
        return kept[-1] + x[0]

    with pytest.raises(RuntimeError, match="ended"):
        vmap(outer)(X)


def raises(*args):
    raise KeyError("mine")


def test_errors_leave_no_level_open():
    before = lamella._C._thread_layers()
    for call in (
        lambda: vmap(raises)(X),
        lambda: vmap(vmap(raises))(X),
        lambda: vmap(lambda x: vmap(raises)(x))(X),
        lambda: vmap(func.grad(raises))(X),
        lambda: func.grad(vmap(raises))(X),
        lambda: func.jacrev(raises)(X),
        lambda: func.jacfwd(raises)(X),
        lambda: func.hessian(raises)(X),
        lambda: vmap(raises, chunk_size=1)(X),
        lambda: vmap(lambda x: x.custom, randomness="same")(X),
        lambda: vmap(lambda x: x @ lamella.ones(7))(X),
        lambda: vmap(lambda x: x.view(2, 2))(X),
        lambda: vmap(lambda x: x.transpose(0, 3))(X),
    ):
        with pytest.raises((KeyError, AttributeError, RuntimeError, IndexError)):
            call()
        assert lamella._C._thread_layers() == before
        assert_close(vmap(lamella.sin)(X), X.sin())


def test_an_error_of_the_inner_level_that_the_function_catches():
    def f(x):
        for inner in (raises, lambda y: y.item(), lambda y: vmap(raises)(y[None]), lambda y: lamella.rand(3)):
            with pytest.raises((KeyError, RuntimeError)):
                vmap(inner)(x)
        return vmap(lambda y: y * 2)(x) + x

    assert_close(vmap(f)(X), X * 3)


def test_the_errors_of_operators_are_those_of_samples():
    """An index or a dimension out of range of a sample raises, though the batch has one dimension more."""
    for function in (
        lambda x: x.sum(1),
        lambda x: x.transpose(0, 1),
        lambda x: x.select(0, 3),
        lambda x: x.softmax(1),
        lambda x: x[0, 0],
        lambda x: x.unsqueeze(3),
        lambda x: x.cumsum(-2),
        lambda x: lamella.cat([x, x], 1),
        lambda x: x.flatten(0, 1),
    ):
        with pytest.raises(IndexError):
            function(X[0])
        with pytest.raises(IndexError):
            vmap(function)(X)
    for function in (lambda x: x + lamella.ones(2), lambda x: x.view(2), lambda x: x.mm(x), lambda x: x @ x[:2]):
        with pytest.raises(RuntimeError):
            function(X[0])
        with pytest.raises(RuntimeError):
            vmap(function)(X)


# ---- threads -----------------------------------------------------------------------------------------------


def test_two_threads_at_once():
    gate = threading.Barrier(2, timeout=60)

    def work(scale):
        def f(x):
            gate.wait()
            y = x * scale
            gate.wait()
            return vmap(lambda z: z + y.sum())(y)

        return lambda: [vmap(f)(X) for _ in range(5)]

    for scale, found in zip((2, 3), in_threads(work(2), work(3)), strict=True):
        for f in found:
            assert_close(f, X * scale + (X * scale).sum(1, keepdim=True))


def test_derivatives_on_two_threads():
    f = func.grad(lambda w, x: (w * x).sin().sum())
    w = lamella.ones(3)
    for found in in_threads(*[lambda: vmap(f, (None, 0))(w, X)] * 2):
        assert_close(found, X * X.cos())


def test_a_sample_on_another_thread():
    def f(x):
        with pytest.raises(RuntimeError, match="thread"):
            in_threads(lambda: x + 1)
        return x

    assert_close(vmap(f)(X), X)
    assert in_threads(lambda: vmap(lambda x: x * 2)(X))[0].tolist() == (X * 2).tolist()


# ---- operators that Python defines -------------------------------------------------------------------------


@pytest.fixture
def doubled():
    """An operator with a kernel in Python, which sees no more than a sample."""
    shapes = []

    @lamella.library.custom_op("mine::doubled", mutates_args=())
    def doubled(x: lamella.Tensor, y: lamella.Tensor) -> lamella.Tensor:
        shapes.append((tuple(x.shape), tuple(y.shape)))
        return x * 2 + y.sum()

    doubled.shapes = shapes
    yield doubled
    doubled.close()


def test_an_operator_without_a_rule_runs_once_for_each_sample(doubled):
    func.reset_fallback_counts()
    assert_close(vmap(doubled, (0, None))(X, X[0]), X * 2 + X[0].sum())
    assert doubled.shapes == [((3,), (3,))] * 2
    assert list(func.fallback_counts().values()) == [1]
    assert "doubled" in next(iter(func.fallback_counts()))
    assert_close(vmap(vmap(doubled))(X, X), X * 2 + X)
    assert sum(func.fallback_counts().values()) > 1
    func.reset_fallback_counts()
    assert func.fallback_counts() == {}
    vmap(lambda x: x.sin() @ x)(X)
    assert func.fallback_counts() == {}


def test_strict_mode(doubled):
    with func.strict_mode():
        assert_close(vmap(lambda x: x * 2)(X), X * 2)
        with pytest.raises(RuntimeError, match="doubled.*strict mode"):
            vmap(doubled)(X, X)
        with func.strict_mode():
            pass
        with pytest.raises(RuntimeError, match="strict mode"):
            vmap(doubled)(X, X)
        assert_close(in_threads(lambda: vmap(doubled)(X, X))[0], X * 2 + X.sum(1, keepdim=True))
    with pytest.raises(KeyError), func.strict_mode():
        raise KeyError
    assert_close(vmap(doubled)(X, X), X * 2 + X.sum(1, keepdim=True))


def test_a_rule_that_python_registers(doubled):
    seen = []

    @doubled.register_vmap
    def rule(info, in_dims, x, y):
        seen.append((info.batch_size, info.randomness, in_dims, tuple(x.shape), tuple(y.shape)))
        total = y.sum() if in_dims[1] is None else y.flatten(1).sum(1).view(-1, *[1] * (x.dim() - 1))
        return (x * 2 + total).movedim(0, -1), x.dim() - 1

    func.reset_fallback_counts()
    assert_close(vmap(doubled, (1, None), randomness="same")(X, X[0]), (X * 2 + X[0].sum()).T.contiguous())
    assert_close(vmap(doubled)(X, X), X * 2 + X.sum(1, keepdim=True))
    assert seen == [(3, "same", (0, None), (3, 2), (3,)), (2, "error", (0, 0), (2, 3), (2, 3))]
    assert_close(vmap(vmap(doubled, (0, None)), (0, None))(X, X), X * 2 + X.sum())
    assert func.fallback_counts() == {}
    assert_close(doubled(X, X), X * 2 + X.sum())
    with func.strict_mode():
        vmap(doubled)(X, X)


def test_a_rule_with_several_results():
    lib = lamella.library.Library("mine", "DEF")
    lib.define("both(Tensor x, int times) -> (Tensor, Tensor)")
    lib.impl("both", lambda x, times: (x + 1, x.sum() * times), "backend")

    @lamella.library.register_vmap("mine::both", lib=lib)
    def rule(info, in_dims, x, times):
        assert in_dims == (0, None)
        return (x + 1, x.sum(1) * times), (0, 0)

    found = vmap(lambda x: lamella.ops.mine.both(x, 2))(X)
    assert_close(found[0], X + 1)
    assert_close(found[1], X.sum(1) * 2)
    lib.close()


def test_a_composite_runs_its_operators_on_the_batch():
    seen = []

    def kernel(x, by):
        seen.append(tuple(x.shape))
        return x.sin() * by + x.max()

    lib = lamella.library.Library("mine", "DEF")
    lib.define("composed(Tensor x, Tensor by) -> Tensor")
    lib.impl("composed", kernel, "composite")
    op = lamella.ops.mine.composed
    func.reset_fallback_counts()
    assert_close(vmap(op, (0, None))(X, X[0]), X.sin() * X[0] + X.max(1, keepdim=True).values)
    assert seen == [(3,)] and func.fallback_counts() == {}
    assert_close(vmap(vmap(op))(X, X), X.sin() * X + X)
    found = vmap(func.grad(lambda x, y: op(x, y).sum()), (0, None))(X, X[0])
    expected = [func.grad(lambda x: (x.sin() * X[0] + x.max()).sum())(x) for x in X]
    assert_close(found, lamella.stack(expected))
    lib.close()


def test_a_rule_and_a_derivative(doubled):
    doubled.register_vmap(lambda info, in_dims, x, y: (x * 2 + y.sum(), 0))

    def backward(ctx, g):
        return g * 2, g.sum() * lamella.ones(3)

    doubled.register_autograd(backward)
    y = lamella.ones(3)
    found = vmap(func.grad(lambda x: (doubled(x, y) ** 2).sum()))(X)
    assert_close(found, 4 * (X * 2 + 3))
    assert_close(func.grad(lambda x: vmap(doubled, (0, None))(x, y).sum())(X), lamella.full((2, 3), 2.0))
