"""Constraints: what they accept, their text, and errors of distributions that quote them and the values."""

import math

import lamella
import numpy as np
import pytest
from families import t
from lamella import distributions as d
from lamella.distributions import constraints as c

pytestmark = pytest.mark.needs("autograd")
CHECKS = {
    "boolean": (c.boolean, t(0.0, 1.0, 0.5), [True, True, False]),
    "one_hot": (c.one_hot, lamella.tensor([[0.0, 1.0], [1.0, 1.0], [0.5, 0.5]]), [True, False, False]),
    "integer_interval": (c.integer_interval(0, 2), t(-1.0, 0.0, 1.5, 2.0, 3.0), [False, True, False, True, False]),
    "of integers": (c.integer_interval(0, 2), lamella.tensor([-1, 0, 2, 3]), [False, True, True, False]),
    "nonnegative_integer": (c.nonnegative_integer, t(-1.0, 0.0, 0.5), [False, True, False]),
    "positive_integer": (c.positive_integer, t(0.0, 1.0), [False, True]),
    "real": (c.real, t(-math.inf, 0.0, math.nan), [True, True, False]),
    "positive": (c.positive, t(0.0, 1.0, math.nan), [False, True, False]),
    "nonnegative": (c.nonnegative, t(-1.0, 0.0), [False, True]),
    "less_than": (c.less_than(1.0), t(0.0, 1.0), [True, False]),
    "unit_interval": (c.unit_interval, t(-0.1, 0.0, 1.0, 1.1), [False, True, True, False]),
    "half_open_interval": (c.half_open_interval(0.0, 1.0), t(0.0, 1.0), [True, False]),
    "simplex": (c.simplex, lamella.tensor([[0.5, 0.5], [0.5, 0.6], [-0.5, 1.5]]), [True, False, False]),
    "multinomial": (c.multinomial(2), lamella.tensor([[1.0, 1.0], [1.0, 2.0], [-1.0, 1.0]]), [True, False, False]),
    "lower_triangular": (c.lower_triangular, lamella.tensor([[[1.0, 0], [1, -1]], [[1, 1], [0, 1]]]), [True, False]),
    "lower_cholesky": (c.lower_cholesky, lamella.tensor([[[1.0, 0], [1, 1]], [[1, 0], [0, -1]]]), [True, False]),
    "corr_cholesky": (c.corr_cholesky, lamella.tensor([[[1.0, 0], [0.6, 0.8]], [[1, 0], [0.6, 0.6]]]), [True, False]),
    "square": (c.square, lamella.ones(3, 2, 2), [True, True, True]),
    "not square": (c.square, lamella.ones(3, 2, 1), [False, False, False]),
    "symmetric": (c.symmetric, lamella.tensor([[[1.0, 2], [2, 1]], [[1, 2], [3, 1]]]), [True, False]),
    "independent": (c.independent(c.positive, 1), lamella.tensor([[1.0, 2.0], [1.0, -1.0]]), [True, False]),
    "cat": (c.cat([c.positive, c.real], 0, [1, 2]), t(-1.0, -1.0, math.nan), [False, True, False]),
    "stack": (c.stack([c.positive, c.real]), t(-1.0, -1.0), [False, True]),
}


@pytest.mark.parametrize("name", CHECKS)
def test_checks(name):
    one, value, want = CHECKS[name]
    assert one.check(value).tolist() == want


def test_of_matrices():
    values = lamella.tensor([[[1.0, 0], [0, 1]], [[0, 0], [0, 1]], [[-1, 0], [0, 1]]])
    assert c.positive_definite.check(values).tolist() == [True, False, False]
    assert c.positive_semidefinite.check(values).tolist() == [True, True, False]
    assert c.positive_definite.check(lamella.tensor([[1.0, 0.0], [1.0, 1.0]])).tolist() is False


def test_texts_and_properties():
    assert repr(c.positive) == "GreaterThan(lower_bound=0.0)" and repr(c.real) == "Real()"
    assert repr(c.unit_interval) == "Interval(lower_bound=0.0, upper_bound=1.0)"
    assert repr(c.real_vector) == "IndependentConstraint(Real(), 1)" and c.real_vector.event_dim == 1
    assert c.simplex.event_dim == 1 and c.boolean.is_discrete and not c.positive.is_discrete
    assert c.is_dependent(c.dependent) and not c.is_dependent(c.real)
    assert c.dependent(is_discrete=True, event_dim=1).event_dim == 1
    assert c.is_dependent(d.Uniform.support) and d.Uniform.support.event_dim == 0
    assert c.cat([c.boolean, c.simplex]).event_dim == 1 and c.cat([c.boolean, c.simplex]).is_discrete
    assert c.stack([c.real, c.simplex], -1).event_dim == 1 and c.stack([c.simplex, c.simplex], -2).event_dim == 2
    with pytest.raises(NotImplementedError, match="event_dim of this constraint"):
        _ = c.dependent.event_dim
    with pytest.raises(ValueError, match="dependent constraint"):
        c.dependent.check(t(1.0))
    with pytest.raises(ValueError, match="at least 2 dimensions"):
        c.independent(c.real, 2).check(t(1.0))
    with pytest.raises(AssertionError, match="expected constraints"):
        c.cat([3])
    with pytest.raises(AssertionError, match="dim 5"):
        c.stack([c.real], 5).check(t(1.0))
    with pytest.raises(TypeError, match="lower_bound, upper_bound"):
        c.interval(1.0)
    with pytest.raises(NotImplementedError, match="has no check"):
        c.Constraint().check(t(1.0))


@pytest.mark.parametrize(
    "call, text",
    [
        (
            lambda: d.Normal(0.0, -1.0),
            r"Expected parameter scale .* Normal\(loc: 0.0, scale: -1.0\) to satisfy the constraint "
            r"GreaterThan\(lower_bound=0.0\), but found invalid values: -1.0",
        ),
        (lambda: d.Normal(0.0, t(1.0, -2.0, -3.0)), r"invalid values: -2.0 at \[1\], -3.0 at \[2\]$"),
        (lambda: d.Normal(0.0, -lamella.ones(9)), r"-1.0 at \[2\] and 6 more$"),
        (lambda: d.Normal(float("nan"), 1.0), r"Expected parameter loc .* Real\(\), .*nan"),
        (lambda: d.Uniform(1.0, 0.0), "parameter low .* LessThan"),
        (lambda: d.Exponential(0.0), "parameter rate"),
        (lambda: d.Bernoulli(1.5), r"Interval\(lower_bound=0.0, upper_bound=1.0\)"),
        (lambda: d.Bernoulli(), "Either `probs` or `logits`"),
        (lambda: d.Geometric(0.0), "to be positive"),
        (lambda: d.ContinuousBernoulli(1.5), "probs has invalid values"),
        (lambda: d.Categorical(lamella.ones(2), lamella.ones(2)), "Either `probs` or `logits`"),
        (lambda: d.Categorical(lamella.ones(())), "at least one-dimensional"),
        (lambda: d.Categorical(t(-1.0, 2.0)), r"Simplex\(\), but found invalid values: \[-1.0, 2.0\]"),
        (lambda: d.Categorical(lamella.tensor([[1.0, 1.0], [0.0, 0.0]])), r"\[nan, nan\] at \[1\]"),
        (lambda: d.Categorical(t(math.inf, 2.0)), "Simplex"),
        (lambda: d.OneHotCategorical(t(0.0, 0.0)), "Simplex"),
        (lambda: d.Categorical(logits=t(-math.inf, -math.inf)), r"parameter logits .* \(Real\(\), 1\)|Real"),
        (lambda: d.Categorical(logits=t(math.inf, 0.0)), "parameter logits"),
        (lambda: d.Categorical(lamella.ones(2)).log_prob(lamella.tensor(2)), r"upper_bound=1\)\) of the .* values: 2$"),
        (lambda: d.Bernoulli(0.5).log_prob(lamella.tensor(0.3)), r"within the support \(Boolean\(\)\)"),
        (lambda: d.Uniform(0.0, 1.0).log_prob(lamella.tensor(2.0)), r"support \(Interval.* values: 2.0"),
        (lambda: d.Normal(lamella.zeros(2), 1.0).log_prob(lamella.ones(3)), "not broadcastable"),
        (lambda: d.Normal(0.0, 1.0).log_prob(1.0), "must be a Tensor"),
        (lambda: d.OneHotCategorical(lamella.ones(3)).log_prob(lamella.ones(2)), "right-most size"),
        (lambda: d.OneHotCategorical(lamella.ones(3)).log_prob(lamella.ones(3)), r"OneHot\(\).*\[1.0, 1.0, 1.0\]"),
        (lambda: d.Dirichlet(lamella.tensor(1.0)), "at least one dimension"),
        (lambda: d.Dirichlet(lamella.tensor([1.0, -1.0])), r"parameter concentration .*\[1.0, -1.0\]"),
        (lambda: d.Gamma(-1.0, 1.0), "parameter concentration"),
        (lambda: d.Beta(1.0, -1.0), "parameter concentration0"),
        (lambda: d.Chi2(-1.0), "parameter df"),
        (lambda: d.Poisson(-1.0), "parameter rate"),
        (lambda: d.Binomial(-1, lamella.tensor(0.5)), "parameter total_count"),
        (lambda: d.LogNormal(0.0, -1.0), "parameter scale"),
        (lambda: d.Distribution.set_default_validate_args(3), "True or False"),
    ],
)
def test_errors(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_checks_can_be_left_away():
    assert d.Uniform(0.0, 1.0, validate_args=False).log_prob(lamella.tensor(2.0)).item() == -math.inf
    assert d.Normal(0.0, -1.0, validate_args=False).expand((2,)).log_prob(lamella.ones(2)).shape == (2,)
    d.Distribution.set_default_validate_args(False)
    try:
        assert d.Normal(0.0, -1.0).scale.item() == -1
    finally:
        d.Distribution.set_default_validate_args(True)


def test_classes_without_constraints_warn():
    class Bare(d.Distribution):
        def log_prob(self, value):
            self._validate_sample(value)
            return value

    with pytest.warns(UserWarning, match="has no arg_constraints"):
        one = Bare()
    with pytest.warns(UserWarning, match="has no support"):
        one.log_prob(lamella.ones(()))
    with pytest.warns(FutureWarning, match="sample_n"):
        assert d.Normal(0.0, 1.0).sample_n(3).shape == (3,)
    for name in ("mean", "mode", "variance", "stddev"):
        with pytest.raises(NotImplementedError, match="Bare has no"):
            getattr(one, name)
    for name in ("cdf", "icdf", "entropy", "enumerate_support", "rsample", "sample", "perplexity"):
        with pytest.raises(NotImplementedError, match="Bare has no"):
            getattr(one, name)(*[lamella.ones(())] * (name in ("cdf", "icdf")))


def test_names():
    assert len(d.__all__) == 67 and all(hasattr(d, name) for name in d.__all__)
    for path in ("normal", "utils", "constraints", "transforms", "exp_family", "kl", "studentT", "constraint_registry"):
        assert getattr(d, path).__name__ == f"lamella.distributions.{path}"
    with pytest.raises(AttributeError, match="did you mean 'Normal'"):
        d.Normals  # noqa: B018
    with pytest.raises(NotImplementedError, match="Distribution has no log_prob"):
        d.Distribution(validate_args=False).log_prob(lamella.ones(1))
    text = repr(d.Normal(lamella.zeros(2), 1.0))
    assert text == "Normal(loc: lamella.Size([2]), scale: lamella.Size([2]))"
    assert np.isnan(d.Cauchy(0.0, 1.0).mean.item())
