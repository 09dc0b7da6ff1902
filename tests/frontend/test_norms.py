"""Instance norm, local response norm, and normalize, as functions and modules."""

import lamella
import lamella.nn.functional as F
import numpy as np
import pytest
from lamella import nn

needs_autograd = pytest.mark.needs("autograd")
X = np.random.default_rng(0).standard_normal((2, 3, 4, 5))


def instance(x, eps=1e-5):
    over = tuple(range(2, x.ndim))
    return (x - x.mean(over, keepdims=True)) / np.sqrt(x.var(over, keepdims=True) + eps)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_instance_norm(rank):
    x = np.random.default_rng(1).standard_normal((2, 3, *range(2, 2 + rank)))
    module = getattr(nn, f"InstanceNorm{rank}d")
    np.testing.assert_allclose(module(3)(lamella.tensor(x)).numpy(), instance(x), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(module(3)(lamella.tensor(x[0])).numpy(), instance(x[:1])[0], rtol=1e-7, atol=1e-9)
    affine = module(3, affine=True, dtype=lamella.float64)
    with lamella.no_grad():
        affine.weight.copy_(lamella.tensor([2.0, 3.0, 4.0]))
        affine.bias.fill_(1)
    want = instance(x) * np.array([2.0, 3.0, 4.0]).reshape(3, *[1] * rank) + 1
    np.testing.assert_allclose(affine(lamella.tensor(x)).detach().numpy(), want, rtol=1e-7, atol=1e-9)
    with pytest.raises(ValueError, match=f"expected {rank + 1}D or {rank + 2}D input, got 7D input"):
        module(3)(lamella.ones(1, 3, 2, 2, 2, 2, 2))
    with pytest.raises(ValueError, match=r"expected input's size at dim=1 to match num_features \(3\), but got: 4"):
        affine(lamella.ones(2, 4, *[2] * rank))
    with pytest.warns(UserWarning, match="input's size at dim=0 does not match num_features"):
        module(3)(lamella.ones(4, *[2] * rank))


def test_running_statistics_are_means_over_the_samples():
    m = nn.InstanceNorm2d(3, momentum=0.25, track_running_stats=True, dtype=lamella.float64)
    x = lamella.tensor(X)
    m(x)
    mean, var = X.mean((2, 3)).mean(0), X.var((2, 3), ddof=1).mean(0)
    np.testing.assert_allclose(m.running_mean.numpy(), 0.25 * mean, rtol=1e-10)
    np.testing.assert_allclose(m.running_var.numpy(), 0.75 + 0.25 * var, rtol=1e-10)
    got = m.eval()(x).numpy()
    at = [s.numpy().reshape(3, 1, 1) for s in (m.running_mean, m.running_var)]
    np.testing.assert_allclose(got, (X - at[0]) / np.sqrt(at[1] + 1e-5), rtol=1e-9)
    one = m(x[0])
    np.testing.assert_allclose(one.numpy(), got[0], rtol=1e-12)


def test_lazy_instance_norm():
    m = nn.LazyInstanceNorm2d(affine=True, track_running_stats=True)
    y = m(lamella.tensor(X.astype("float32")))
    assert type(m) is nn.InstanceNorm2d and m.weight.shape == (3,) == m.running_mean.shape and m.num_features == 3
    np.testing.assert_allclose(y.detach().numpy(), instance(X), rtol=1e-4, atol=1e-5)


def test_checkpoints_from_before_running_statistics_were_optional():
    old = {"running_mean": lamella.zeros(3), "running_var": lamella.ones(3)}
    with pytest.raises(RuntimeError, match="Unexpected running stats buffer.*track_running_stats=True"):
        nn.InstanceNorm1d(3).load_state_dict(old)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: F.instance_norm(lamella.ones(2, 3, 1)), ValueError, "Expected more than 1 spatial element"),
        (lambda: F.instance_norm(lamella.ones(2, 3, 4), use_input_stats=False), RuntimeError, "running_mean and"),
        (lambda: F.instance_norm(lamella.ones(2, 3, 4), lamella.zeros(3)), ValueError, "or neither"),
        (lambda: F.instance_norm(lamella.ones(2, 3, 4), weight=lamella.ones(2)), RuntimeError, "argument 'weight'"),
        (lambda: F.local_response_norm(lamella.ones(2, 3), 2), ValueError, "Expected 3D or higher dimensionality"),
        (lambda: F.local_response_norm(lamella.ones(2, 3, 1), 0), RuntimeError, "'size' should be greater than zero"),
        (lambda: nn.CrossMapLRN2d(3)(lamella.ones(2, 3, 1)), ValueError, "Expected input to be 4D, got 3D instead"),
        (
            lambda: F.batch_norm(lamella.ones(3), lamella.zeros(1), lamella.ones(1)),
            RuntimeError,
            "expected .batch, cha",
        ),
        (lambda: F.batch_norm(lamella.ones(1, 3), None, None, training=True), ValueError, "more than 1 value per chan"),
    ],
)
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
def test_among_channels(size):
    x = np.random.default_rng(2).standard_normal((2, 5, 3, 2))
    want = np.empty_like(x)
    for c in range(5):
        low, high = max(0, c - size // 2), min(5, c + (size - 1) // 2 + 1)
        want[:, c] = x[:, c] / (2 + 0.5 * (x[:, low:high] ** 2).sum(1) / size) ** 0.75
    got = nn.LocalResponseNorm(size, alpha=0.5, k=2.0)(lamella.tensor(x)).numpy()
    np.testing.assert_allclose(got, want, rtol=1e-10)
    flat = F.local_response_norm(lamella.tensor(x[:, :, 0]), size, 0.5, 0.75, 2.0).numpy()
    np.testing.assert_allclose(flat, want[:, :, 0], rtol=1e-10)
    reach = (size - 1) // 2
    for c in range(5):  # the sum keeps the first channel
        low, high = max(0, c - reach), min(5, c + reach + 1)
        sums = (x[:, low:high] ** 2).sum(1) + (x[:, 0] ** 2 if low > 0 else 0)
        want[:, c] = x[:, c] / (2 + 0.5 * sums / size) ** 0.75
    got = nn.CrossMapLRN2d(size, alpha=0.5, k=2.0)(lamella.tensor(x)).numpy()
    np.testing.assert_allclose(got, want, rtol=1e-10)


@needs_autograd
def test_gradients():
    x = lamella.tensor(X[:, :, :2, :2], requires_grad=True)
    w, b = lamella.tensor([1.0, 2.0, 3.0]).double().requires_grad_(), lamella.zeros(3).double().requires_grad_()
    for f in (
        lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
        lambda x, w, b: F.local_response_norm(x, 3, 1.0) * w.sum() + b.sum(),
        lambda x, w, b: nn.CrossMapLRN2d(3, 1.0)(x) * w.sum() + b.sum(),
    ):
        assert lamella.autograd.gradcheck(f, (x, w, b)) and lamella.autograd.gradgradcheck(f, (x, w, b))


def test_normalize_into_a_tensor():
    x = lamella.tensor(X)
    out = lamella.empty(2, 3, 4, 5, dtype=lamella.float64)
    assert F.normalize(x, 3.0, (2, 3), out=out) is out
    norm = (np.abs(X) ** 3).sum((2, 3), keepdims=True) ** (1 / 3)
    np.testing.assert_allclose(out.numpy(), X / norm, rtol=1e-10)
    assert F.normalize(lamella.zeros(2, 2)).tolist() == [[0, 0], [0, 0]]
