"""Transforms: inverses, Jacobians by autograd, caches, shapes, and the tables from constraints to transforms."""

import pickle

import lamella
import numpy as np
import pytest
from families import close, t
from lamella import distributions as d
from lamella.distributions import constraints as c

pytestmark = pytest.mark.needs("autograd")
ELEMENTS = {
    "exp": (d.ExpTransform(), [-1.0, 0.5]),
    "power": (d.PowerTransform(t(2.5).squeeze()), [0.5, 3.0]),
    "a falling power": (d.PowerTransform(-1.0), [0.5, 3.0]),
    "sigmoid": (d.SigmoidTransform(), [-1.0, 0.5]),
    "tanh": (d.TanhTransform(), [-1.0, 0.5]),
    "softplus": (d.SoftplusTransform(), [-1.0, 0.5]),
    "affine": (d.AffineTransform(t(1.0), t(-2.0)), [-1.0, 0.5]),
    "affine of numbers": (d.AffineTransform(1.0, 3.0), [-1.0, 0.5]),
    "cdf": (d.CumulativeDistributionTransform(d.Normal(t(0.5), t(2.0))), [-1.0, 0.5]),
    "composed": (
        d.ComposeTransform([d.AffineTransform(0.0, 0.5), d.ExpTransform(), d.PowerTransform(2.0)]),
        [0.1, 1.0],
    ),
    "cat": (d.CatTransform([d.ExpTransform(), d.TanhTransform()], 0, [1, 1]), [0.3, 0.5]),
    "stack": (d.StackTransform([d.ExpTransform(), d.TanhTransform()]), [0.3, 0.5]),
    "identity": (d.identity_transform, [0.3, 0.5]),
}
ELEMENTS |= {f"inverse of {k}": (v[0].inv, v[0](t(*v[1])).tolist()) for k, v in ELEMENTS.items() if k != "identity"}


def jacobian(f, x):
    x = x.detach().clone().requires_grad_()
    rows = [lamella.autograd.grad(y, x, retain_graph=True)[0] for y in f(x).flatten()]
    return lamella.stack([r.flatten() for r in rows]).numpy()


@pytest.mark.parametrize("name", ELEMENTS)
def test_of_numbers(name):
    one, values = ELEMENTS[name]
    x = t(*values)
    y = one(x)
    assert one.bijective and y.shape == x.shape and one.forward_shape((2,)) == (2,) and one.inverse_shape((2,)) == (2,)
    close(one.inv(y), values)
    slopes = np.diag(jacobian(one, x))
    close(one.log_abs_det_jacobian(x, y), np.log(np.abs(slopes)), atol=1e-12)
    assert one.inv.inv is one
    if not name.endswith(("cat", "stack")):
        assert bool((lamella.as_tensor(one.sign) == lamella.tensor(np.sign(slopes))).all())
    if one.domain.event_dim == 0:
        assert bool(one.domain.check(x).all()) and bool(one.codomain.check(y).all())


EVENTS = {
    "stick breaking": (d.StickBreakingTransform(), [0.3, -0.5, 1.0], slice(0, 3)),
    "cholesky of correlations": (d.CorrCholeskyTransform(), [0.3, -0.5, 1.0, 0.2, -1.5, 0.7], None),
    "reshape": (d.ReshapeTransform((4,), (2, 2)), [0.3, -0.5, 1.0, 0.2], slice(0, 4)),
}


@pytest.mark.parametrize("name", EVENTS)
def test_of_events(name):
    one, values, free = EVENTS[name]
    x = t(*values)
    y = one(x)
    assert tuple(one.forward_shape(x.shape)) == y.shape and tuple(one.inverse_shape(y.shape)) == x.shape
    close(one.inv(y), values)
    assert bool(one.codomain.check(y).all())
    whole = jacobian(one, x)
    if free is None:  # the elements below the diagonal are free
        places = np.tril_indices(y.shape[-1], -1)
        whole = whole[np.ravel_multi_index(places, tuple(y.shape))]
    else:
        whole = whole[free]
    close(one.log_abs_det_jacobian(x, y), np.linalg.slogdet(whole)[1], atol=1e-10)
    many = x.expand(5, 2, len(values))
    close(one(many)[3, 1], y.numpy())
    close(one.log_abs_det_jacobian(many, one(many)), np.full((5, 2), one.log_abs_det_jacobian(x, y).item()))


def test_without_bijection():
    close(d.SoftmaxTransform()(t(0.0, np.log(3.0))), [0.25, 0.75])
    close(d.AbsTransform()(t(-2.0)), [2.0])
    close(d.AbsTransform().inv(t(2.0)), [2.0])
    lower = d.LowerCholeskyTransform()(lamella.tensor([[0.0, 5.0], [2.0, 1.0]]))
    close(lower, [[1, 0], [2, np.e]])
    close(d.LowerCholeskyTransform().inv(lower), [[0, 0], [2, 1]], atol=1e-7)
    close(d.PositiveDefiniteTransform()(lamella.tensor([[0.0, 5.0], [2.0, 1.0]])), (lower @ lower.mT).numpy())
    with pytest.raises(NotImplementedError, match="has no log_abs_det_jacobian"):
        d.SoftmaxTransform().log_abs_det_jacobian(t(1.0), t(1.0))
    with pytest.raises(NotImplementedError, match="has no sign"):
        _ = d.AbsTransform().sign


def test_caches():
    one = d.ExpTransform(cache_size=1)
    x = t(0.3)
    y = one(x)
    assert one(x) is y and one.inv(y) is x and one.inv(y.clone()) is not x
    assert d.ExpTransform().with_cache(1)._cache_size == 1 and one.with_cache(1) is one
    for maker in ELEMENTS.values():
        assert maker[0].with_cache(1)._cache_size == 1
    with pytest.raises(ValueError, match="cache_size"):
        d.ExpTransform(cache_size=2)


def test_equality_and_text():
    assert d.ExpTransform() == d.ExpTransform() and d.ExpTransform() != d.TanhTransform()
    assert d.AffineTransform(0.0, t(1.0)) == d.AffineTransform(0.0, t(1.0)) != d.AffineTransform(1.0, t(1.0))
    assert d.PowerTransform(2.0) == d.PowerTransform(2.0) and d.PowerTransform(2.0) != d.PowerTransform(3.0)
    assert d.ExpTransform().inv == d.ExpTransform().inv
    assert repr(d.ComposeTransform([d.ExpTransform()])) == "ComposeTransform(\n    ExpTransform()\n)"
    assert pickle.loads(pickle.dumps(d.ExpTransform().inv)).inv == d.ExpTransform()
    independent = d.IndependentTransform(d.ExpTransform(), 1)
    assert repr(independent) == "IndependentTransform(ExpTransform(), 1)" and independent.event_dim == 1
    close(independent.log_abs_det_jacobian(t(1.0, 2.0), t(1.0, 2.0).exp()), 3.0)
    with pytest.raises(ValueError, match="at least 1 dimensions"):
        independent(lamella.tensor(1.0))


CONSTRAINTS = {
    "real": (c.real, [0.3]),
    "positive": (c.positive, [0.3]),
    "greater": (c.greater_than(2.0), [0.3]),
    "at least": (c.greater_than_eq(t(2.0)), [0.3]),
    "less": (c.less_than(-1.0), [0.3]),
    "unit": (c.unit_interval, [0.3]),
    "interval": (c.interval(-2.0, 5.0), [0.3]),
    "half open": (c.half_open_interval(t(-2.0), t(5.0)), [0.3]),
    "simplex": (c.simplex, [0.3, -1.0]),
    "correlations": (c.corr_cholesky, [0.3, -1.0, 0.5]),
    "independent": (c.independent(c.positive, 1), [0.3, -1.0]),
    "cat": (c.cat([c.positive, c.unit_interval], 0, [1, 2]), [0.3, -1.0, 2.0]),
    "stack": (c.stack([c.positive, c.unit_interval]), [0.3, -1.0]),
}


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_the_tables(name):
    constraint, values = CONSTRAINTS[name]
    for table in (d.biject_to, d.transform_to):
        one = table(constraint)
        y = one(t(*values))
        assert bool(constraint.check(y).all())
        if table is d.biject_to:
            assert one.bijective
            close(one.inv(y), values)


def test_tables_of_yours():
    class Own(c.Constraint):
        pass

    with pytest.raises(NotImplementedError, match="no transform is registered for Own"):
        d.biject_to(Own())
    table = d.constraint_registry.ConstraintRegistry()

    @table.register(Own)
    def made(constraint):
        return d.ExpTransform()

    assert table(Own()) == d.ExpTransform() and callable(made)
    with pytest.raises(TypeError, match="expected a constraint"):
        table.register(3, made)
    assert isinstance(d.transform_to(c.lower_cholesky), d.LowerCholeskyTransform)
    assert isinstance(d.transform_to(c.positive_definite), d.PositiveDefiniteTransform)


@pytest.mark.parametrize("diag", [-2, -1, 0, 1])
def test_triangles(diag):
    whole = lamella.arange(16, dtype=lamella.float64).view(4, 4)
    vector = d.utils.tril_matrix_to_vec(whole, diag)
    assert vector.tolist() == whole.numpy()[np.tril(np.ones((4, 4), bool), diag)].tolist()
    back = d.utils.vec_to_tril_matrix(vector, diag)
    close(back, np.tril(whole.numpy(), diag))
    with pytest.raises(ValueError, match="diag"):
        d.utils.tril_matrix_to_vec(whole, 4)
    with pytest.raises(ValueError, match="5 elements"):
        d.utils.vec_to_tril_matrix(lamella.ones(5))


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: d.ReshapeTransform((2,), (3,)), ValueError, "different numbers"),
        (lambda: d.ReshapeTransform((2, 2), (4,))(lamella.ones(4)), ValueError, "at least 2"),
        (lambda: d.ReshapeTransform((2, 2), (4,))(lamella.ones(3, 2)), ValueError, "expected last dimensions"),
        (lambda: d.CorrCholeskyTransform().forward_shape((2,)), ValueError, "triangle"),
        (lambda: d.CorrCholeskyTransform().inverse_shape((2, 3)), ValueError, "square"),
        (lambda: d.StickBreakingTransform().forward_shape(()), ValueError, "at least 1"),
        (lambda: d.CatTransform([3]), AssertionError, "expected transforms"),
        (lambda: d.CatTransform([d.ExpTransform()], lengths=[1, 2]), AssertionError, "lengths"),
        (lambda: d.CatTransform([d.ExpTransform()], lengths=[2])(lamella.ones(3)), AssertionError, "size 2"),
        (lambda: d.StackTransform([d.ExpTransform()], 3)(lamella.ones(1)), AssertionError, "dim 3"),
        (lambda: d.StickBreakingTransform().inv.with_cache().inv.event_dim + d.CorrCholeskyTransform().event_dim,
         ValueError, "domain.event_dim"),
    ],
)  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
