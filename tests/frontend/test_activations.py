"""Gated activations, learned and random slopes, and the kinds of dropout."""

import warnings

import lamella
import lamella.nn.functional as F
import numpy as np
import pytest
from lamella import nn

needs_autograd = pytest.mark.needs("autograd")


def test_gates_and_slopes():
    x = np.random.default_rng(0).standard_normal((2, 4, 3))
    t = lamella.tensor(x)
    np.testing.assert_allclose(nn.GLU(1)(t).numpy(), x[:, :2] / (1 + np.exp(-x[:, 2:])), rtol=1e-12)
    m = nn.PReLU(4, init=0.5, dtype=lamella.float64)
    with lamella.no_grad():
        m.weight[1] = 3.0
    want = np.where(x > 0, x, np.array([0.5, 3.0, 0.5, 0.5])[:, None] * x)
    np.testing.assert_allclose(m(t).detach().numpy(), want, rtol=1e-12)
    with pytest.raises(RuntimeError, match="Found parameter numbers = 3 and channel size = 4"):
        nn.PReLU(3, dtype=lamella.float64)(t)
    with pytest.raises(RuntimeError, match="Halving dimension must be even, but dimension 2 is size 3"):
        nn.GLU()(t)


def test_limits_of_integers_are_integers():
    x = lamella.tensor([-3, 0, 5])
    assert F.hardtanh(x).tolist() == [-1, 0, 1] and F.hardtanh(x, -1.5, 2.5).tolist() == [-1, 0, 2]
    assert F.threshold(x, 1.5, 2.5).tolist() == [2, 2, 5] and F.hardtanh(x).dtype == lamella.int64
    assert F.threshold_(x.clone(), 0.5, -0.5).tolist() == [0, 0, 5] and F.hardtanh_(x.clone(), 0.0, 3.0).tolist() == [
        0,
        0,
        3,
    ]
    np.testing.assert_allclose(F.tanhshrink(x).numpy(), x.numpy() - np.tanh(x.numpy()), rtol=1e-6)
    with pytest.raises(RuntimeError, match="add: argument 'alpha'"):
        lamella.add(x, x, alpha=2.5)


A = lamella.ops.aten


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda x: F.hardtanh(x, 1, -1), ValueError, "hardtanh: argument 'min_val': must not exceed .*, got 1 and -1"),
        (lambda x: F.hardtanh(x, 1, -1, inplace=True), ValueError, "must not exceed max_val, got 1 and -1"),
        (lambda x: F.hardtanh_(x, 2.0, 1.5), ValueError, "must not exceed max_val, got 2 and 1.5"),
        (lambda x: A.hardtanh(x, 1, -1, out=x.clone()), ValueError, "must not exceed max_val, got 1 and -1"),
        (lambda x: nn.Hardtanh(1, -1), ValueError, "max_val must be above min_val"),
        (lambda x: F.softshrink(x, -1), RuntimeError, "softshrink: argument 'lambd': must not be negative, got -1"),
        (lambda x: F.softshrink(x, np.nan), RuntimeError, "argument 'lambd': must not be negative, got nan"),
        (lambda x: F.celu(x, 0), RuntimeError, "celu: argument 'alpha': .* cannot be 0"),
        (lambda x: F.celu_(x, 0.0), RuntimeError, "argument 'alpha': .* cannot be 0"),
        (lambda x: F.embedding(x.long(), lamella.ones(9, 2), max_norm=-1), RuntimeError, "'max_norm': .* got -1"),
        (lambda x: F.rrelu(x, 1.0, 0.2), RuntimeError, "argument 'lower': .* got 1 and 0.2"),
    ],
)
def test_limits_without_a_meaning(call, error, words):
    x = lamella.tensor([0.5, 3.0])
    with pytest.raises(error, match=words):
        call(x)
    assert x.tolist() == [0.5, 3.0]


def test_equal_limits_are_one_value():
    assert F.hardtanh(lamella.tensor([-3.0, 0.5, 3.0, np.nan]), 1, 1).tolist()[:3] == [1.0, 1.0, 1.0]


@needs_autograd
def test_slopes_have_gradients():
    x = lamella.tensor([[float("inf"), -2.0, 0.0]], requires_grad=True)
    w = lamella.tensor([0.5], requires_grad=True)
    F.prelu(x, w).sum().backward()
    assert x.grad.tolist() == [[1.0, 0.5, 0.5]] and w.grad.item() == -2.0


def test_random_slopes():
    x = -lamella.ones(20000)
    lamella.manual_seed(0)
    m = nn.RReLU(0.2, 0.6)
    slopes = -m(x)
    assert 0.2 <= slopes.min().item() and slopes.max().item() <= 0.6 and abs(slopes.mean().item() - 0.4) < 0.005
    np.testing.assert_allclose(m.eval()(x).numpy(), -0.4 * np.ones(20000), rtol=1e-6)
    y = x.clone()
    assert nn.RReLU(0.5, 0.5, inplace=True)(y) is y and (y == -0.5).all()
    assert F.rrelu_(y, 1.0, 1.0) is y


@needs_autograd
def test_the_gradient_of_a_random_slope_is_that_slope():
    x = -lamella.ones(100, requires_grad=True)
    y = F.rrelu(x, training=True)
    x.retain_grad()
    y.sum().backward()
    assert (x.grad == -y).all()


# ---- dropout ---------------------------------------------------------------------------------------------------------

KINDS = {
    "dropout": F.dropout,
    "alpha_dropout": F.alpha_dropout,
    "feature_alpha_dropout": F.feature_alpha_dropout,
    "dropout1d": F.dropout1d,
    "dropout2d": F.dropout2d,
    "dropout3d": F.dropout3d,
}
RANKS = {"dropout1d": 3, "dropout2d": 4, "dropout3d": 5}


@pytest.mark.parametrize("name", KINDS)
def test_a_dropout_writes_into_its_input_where_asked(name):
    f, x = KINDS[name], lamella.ones((4, 3, *[2] * (RANKS.get(name, 4) - 2)))
    lamella.manual_seed(3)
    made = f(x, 0.5, True)
    lamella.manual_seed(3)
    y = x.clone()
    assert f(y, 0.5, True, True) is y and (y == made).all() and not (made == x).all()
    assert f(x, 0.5, False) is x and (x == 1).all()
    with pytest.raises(ValueError, match=f"{name}: argument 'p': dropout probability has to be between 0 and 1"):
        f(x, 1.5)


@pytest.mark.parametrize("name", RANKS)
def test_whole_channels_fall(name):
    lamella.manual_seed(0)
    x = lamella.ones((50, 40, *[2] * (RANKS[name] - 2)))
    y = KINDS[name](x, 0.25).flatten(2)
    assert (y.amin(2) == y.amax(2)).all()
    kept = y[:, :, 0] != 0
    assert abs(kept.float().mean().item() - 0.75) < 0.03 and abs(y.max().item() - 4 / 3) < 1e-6


@pytest.mark.parametrize("module", [nn.AlphaDropout, nn.FeatureAlphaDropout])
def test_self_normalizing_dropout_keeps_mean_and_variance(module):
    lamella.manual_seed(0)
    x = lamella.randn(400, 400)
    y = module(0.3)(x)
    assert abs(y.mean().item()) < 0.02 and abs(y.var().item() - 1) < 0.03
    assert module(0.3).eval()(x) is x


def test_samples_without_a_batch():
    lamella.manual_seed(0)
    one = F.dropout1d(lamella.ones(30, 4), 0.5)
    assert one.shape == (30, 4) and (one.amin(1) == one.amax(1)).all() and one.min().item() == 0
    y = lamella.ones(30, 4)
    assert F.dropout1d(y, 0.5, inplace=True) is y and y.shape == (30, 4)
    volume = F.dropout3d(lamella.ones(30, 2, 2, 2), 0.5)
    assert (volume.flatten(1).amin(1) == volume.flatten(1).amax(1)).all()
    with pytest.warns(UserWarning, match="assuming that channel-wise 1D dropout"):
        rows = F.dropout2d(lamella.ones(30, 4, 5), 0.5)
    assert (rows.amin(2) == rows.amax(2)).all() and not (rows.amin(1) == rows.amax(1)).all()


def test_other_ranks():
    with pytest.raises(RuntimeError, match="dropout1d: Expected 2D or 3D input, but received a 4D input"):
        F.dropout1d(lamella.ones(1, 1, 1, 1))
    for f, rank in ((F.dropout2d, 2), (F.dropout3d, 2)):
        with pytest.warns(UserWarning, match=f"Received a {rank}-D input"):
            f(lamella.ones(2, 2))
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="Feature dropout requires at least 2 dimensions"):
        F.dropout2d(lamella.ones(3))
    with pytest.raises(ValueError, match="probability"):
        nn.Dropout2d(-1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nn.Dropout2d()(lamella.ones(1, 1, 1, 1)), nn.Dropout3d()(lamella.ones(1, 1, 1, 1))


@needs_autograd
def test_a_dropped_channel_has_no_gradient():
    x = lamella.ones(8, 8, 3, requires_grad=True)
    y = nn.Dropout1d()(x)
    y.sum().backward()
    assert (x.grad == y).all() and (x.grad == 0).any()
