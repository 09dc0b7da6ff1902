"""Losses and distances as functions and modules: names of reductions, arguments, errors, gradients at kinks."""

import math
import warnings

import lamella
import lamella.nn.functional as F
import numpy as np
import pytest
from arrays import numbers
from lamella import nn

needs_autograd = pytest.mark.needs("autograd")


def signs(n):
    return lamella.tensor([1.0, -1.0] * (n // 2))


A, B, C = numbers(6, 4, seed=1), numbers(6, 4, seed=2), numbers(6, 4, seed=3)
CLASSES = lamella.tensor([0, 3, 1, 2, 0, 3])
# A module, the function, and the arguments of both.
PAIRS = {
    "MarginRankingLoss": (nn.MarginRankingLoss, F.margin_ranking_loss, (A[:, 0], B[:, 0], signs(6)), {"margin": 0.3}),
    "HingeEmbeddingLoss": (nn.HingeEmbeddingLoss, F.hinge_embedding_loss, (A[:, 0], signs(6)), {"margin": 0.3}),
    "CosineEmbeddingLoss": (nn.CosineEmbeddingLoss, F.cosine_embedding_loss, (A, B, signs(6)), {"margin": 0.1}),
    "SoftMarginLoss": (nn.SoftMarginLoss, F.soft_margin_loss, (A[:, 0], signs(6)), {}),
    "MultiMarginLoss": (nn.MultiMarginLoss, F.multi_margin_loss, (A, CLASSES), {"p": 2, "margin": 0.5}),
    "MultiLabelMarginLoss": (
        nn.MultiLabelMarginLoss,
        F.multilabel_margin_loss,
        (A, lamella.tensor([[1, 0, -1, 2]] * 6)),
        {},
    ),
    "MultiLabelSoftMarginLoss": (
        nn.MultiLabelSoftMarginLoss,
        F.multilabel_soft_margin_loss,
        (A, (B > 0).double()),
        {"weight": lamella.tensor([1.0, 2.0, 0.5, 1.0]).double()},
    ),
    "PoissonNLLLoss": (nn.PoissonNLLLoss, F.poisson_nll_loss, (A, B.abs() * 3), {"full": True}),
    "TripletMarginLoss": (
        nn.TripletMarginLoss,
        F.triplet_margin_loss,
        (A, B, C),
        {"margin": 2.0, "p": 1, "swap": True},
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_modules_and_reductions(name):
    module, function, given, more = PAIRS[name]
    each = function(*given, **more, reduction="none")
    assert each.shape == (6,) or name == "PoissonNLLLoss"
    for word, want in (("mean", each.mean()), ("sum", each.sum()), ("none", each)):
        for got in (function(*given, **more, reduction=word), module(**more, reduction=word)(*given)):
            np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-12)
    older = (({"size_average": False}, each.sum()), ({"reduce": False}, each), ({"reduce": True}, each.mean()))
    for switches, want in older:
        for got in (function(*given, **more, **switches), module(**more, **switches)(*given)):
            np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-12)
    with pytest.raises(ValueError, match="argument 'reduction'"):
        function(*given, **more, reduction="most")


@needs_autograd
def test_a_triplet_by_a_distance_of_ones_own():
    x = A.clone().requires_grad_()
    got = nn.TripletMarginWithDistanceLoss(distance_function=nn.PairwiseDistance(3.0), margin=2.0, swap=True)(x, B, C)
    want = F.triplet_margin_loss(x, B, C, margin=2.0, p=3.0, swap=True)
    assert abs(got.item() - want.item()) < 1e-12
    assert (lamella.autograd.grad(got, x)[0] - lamella.autograd.grad(want, x)[0]).abs().max().item() < 1e-12
    plain = F.triplet_margin_with_distance_loss(A, B, C)
    assert abs(plain.item() - F.triplet_margin_loss(A, B, C).item()) < 1e-12


def test_gaussian():
    var = lamella.tensor([0.5, 2.0, 1e-9])
    x, y = lamella.tensor([1.0, 2.0, 3.0]), lamella.zeros(3)
    v = np.array([0.5, 2.0, 1e-6])
    want = 0.5 * (np.log(v) + np.array([1.0, 4.0, 9.0]) / v + math.log(2 * math.pi))
    got = nn.GaussianNLLLoss(full=True, reduction="none")(x, y, var)
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-5)
    with pytest.raises(ValueError, match="argument 'var'"):
        nn.GaussianNLLLoss()(x, y, -var)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (
            lambda: nn.TripletMarginLoss(margin=-1),
            ValueError,
            "TripletMarginLoss: expected margin to be greater",
        ),
        (lambda: nn.TripletMarginWithDistanceLoss(margin=0), ValueError, "WithDistanceLoss: expected margin to be"),
        (lambda: F.triplet_margin_loss(A, B, C, margin=0), ValueError, "margin must be greater than 0, got 0"),
        (lambda: F.triplet_margin_with_distance_loss(A, B[0], C), RuntimeError, "same number of dimensions"),
        (lambda: nn.MultiMarginLoss(p=3), ValueError, "only p == 1 and p == 2 supported"),
        (lambda: nn.MultiMarginLoss(weight=lamella.ones(2, 2)), ValueError, "expected weight to be None or 1D tensor"),
        (lambda: F.multi_margin_loss(A, CLASSES + 1), RuntimeError, "target out of range: a class is from 0 to 3"),
        (lambda: F.cosine_embedding_loss(A, B, A), RuntimeError, "0D or 1D target tensor expected"),
        (lambda: nn.Bilinear(0, 2, 3), ValueError, "in1_features must be > 0"),
        (lambda: nn.LinearCrossEntropyLoss(3, 4, label_smoothing=2), RuntimeError, "label_smoothing to be in range"),
        (lambda: nn.LinearCrossEntropyLoss(3, 4, weight=A), RuntimeError, "expected weight shape to be"),
        (lambda: nn.LinearCrossEntropyOptions(acc_policy="best"), ValueError, "invalid acc_policy: 'best'"),
        (lambda: nn.LinearCrossEntropyOptions(chunking_method="aspect_ratio:0"), ValueError, "invalid chunking_method"),
        (lambda: nn.LinearCrossEntropyOptions(batch_chunk_size=0), ValueError, "must be positive int or None"),
        (lambda: F.linear_cross_entropy(A, C[:, :3], CLASSES), RuntimeError, "expected equal input and linear_weight"),
        (lambda: F.linear_cross_entropy(A, C, CLASSES, linear_bias=A), RuntimeError, "argument 'linear_bias'"),
        (lambda: F.linear_cross_entropy(A[0], numbers(3, 2, 4), CLASSES), RuntimeError, "needs batched input"),
        (lambda: F.linear_cross_entropy(A[0, 0], C, CLASSES), RuntimeError, "dimensionality 1 or 2, got 0"),
        (lambda: F.linear_cross_entropy(A, C, numbers(6, 6), ignore_index=1), RuntimeError, "contains probabilities"),
        (lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 9, []), ValueError, "length larger than 0"),
        (lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 9, [5, 3]), ValueError, "ascending integers from 1 to n_classes - 1"),
        (lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 9, [9]), ValueError, "ascending integers"),
    ],
)
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()


# ---- distances -------------------------------------------------------------------------------------------------------


@needs_autograd
@pytest.mark.parametrize("p", [0, 0.5, 1, 1.5, 2, 3, math.inf])
def test_gradients_of_distances_where_points_meet(p):
    """The gradient is 0 for equal rows, else d |d|^(p-2) / distance^(p-1) for each element; for an infinite order it is
    the sign of each largest element."""
    x = lamella.tensor([[0.0, 1.0, 2.0], [0.0, 1.0, 2.0], [3.0, 0.0, 5.0]]).requires_grad_()
    lamella.pdist(x, p).sum().backward()
    d = np.array([-3.0, 1.0, -3.0])
    size = 0 if p == 0 else 3.0 if p == math.inf else (np.abs(d) ** p).sum() ** (1 / p)
    if p == 0:
        each = np.zeros(3)
    elif p == math.inf:
        each = np.array([-1.0, 0.0, -1.0])
    else:
        each = np.sign(d) * np.abs(d) ** (p - 1) / size ** (p - 1)
    np.testing.assert_allclose(x.grad.numpy(), [each, each, -2 * each], rtol=1e-5)
    left, right = x.detach().clone().requires_grad_(), x.detach().clone().requires_grad_()
    lamella.cdist(left, right, p).sum().backward()
    np.testing.assert_allclose(left.grad.numpy(), [each, each, -2 * each], rtol=1e-5)
    np.testing.assert_allclose(right.grad.numpy(), [each, each, -2 * each], rtol=1e-5)


@needs_autograd
def test_distances_by_a_product():
    x, y = numbers(30, 3).requires_grad_(), numbers(2, 4, 3, seed=1).requires_grad_()
    fast, exact = lamella.cdist(x, y), lamella.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")
    np.testing.assert_allclose(fast.detach().numpy(), exact.detach().numpy(), rtol=1e-9)
    weights = numbers(2, 30, 4, seed=2)
    pairs = [lamella.autograd.grad((d * weights).sum(), (x, y)) for d in (fast, exact)]
    for a, b in zip(*pairs, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-7, atol=1e-9)
    assert lamella.autograd.gradgradcheck(lambda x, y: lamella.cdist(x, y, 2, "use_mm_for_euclid_dist"), (x[:3], y[0]))


@needs_autograd
def test_similarity_of_nothing():
    x = lamella.zeros(2, requires_grad=True)
    similarity = nn.CosineSimilarity(dim=0)(x, lamella.tensor([3.0, 4.0]))
    similarity.backward()
    assert similarity.item() == 0 and x.grad.isfinite().all()
    large = lamella.full((3,), 1e30)  # the squares of these would overflow
    assert abs(nn.CosineSimilarity(0)(large, large).item() - 1) < 1e-6


def test_similarity_and_bilinear():
    got = nn.CosineSimilarity()(A, B).numpy()
    a, b = A.numpy(), B.numpy()
    np.testing.assert_allclose(got, (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1), rtol=1e-12)
    m = nn.Bilinear(4, 4, 3, dtype=lamella.float64)
    w, bias = m.weight.detach().numpy(), m.bias.detach().numpy()
    want = np.einsum("ni,kij,nj->nk", a, w, b) + bias
    np.testing.assert_allclose(m(A, B).detach().numpy(), want, rtol=1e-10)
    assert np.abs(w).max() <= 0.5


# ---- losses that contain a layer -------------------------------------------------------------------------------------


@needs_autograd
def test_linear_cross_entropy():
    w, bias = numbers(5, 4, seed=5), numbers(5, seed=6)
    target = lamella.tensor([0, 4, -100, 2, 1, 1])
    given = {"weight": lamella.tensor([1.0, 2.0, 0.5, 1.0, 3.0]).double(), "label_smoothing": 0.1}
    got = F.linear_cross_entropy(A, w, target, linear_bias=bias, **given)
    assert got.item() == F.cross_entropy(F.linear(A, w, bias), target, **given).item()
    spread = numbers(5, 2, 4, seed=7)
    many = F.linear_cross_entropy(A, spread, lamella.ones(6, 2, dtype=lamella.int64), reduction="none")
    assert many.shape == (6, 2)
    np.testing.assert_allclose(
        many[:, 1].numpy(), F.cross_entropy(F.linear(A, spread[:, 1]), CLASSES * 0 + 1, reduction="none").numpy()
    )
    m = nn.LinearCrossEntropyLoss(4, 5, bias=True, dtype=lamella.float64, options=nn.LinearCrossEntropyOptions())
    loss = m(A, target)
    assert loss.item() == F.cross_entropy(m.linear(A), target).item()
    loss.backward()
    assert m.linear.weight.grad.shape == (5, 4) and m.linear.bias.grad.shape == (5,)


@needs_autograd
def test_adaptive_softmax():
    m = nn.AdaptiveLogSoftmaxWithLoss(4, 12, [2, 5], div_value=2.0, head_bias=True, dtype=lamella.float64)
    target = lamella.tensor([0, 1, 2, 4, 11, 5])
    logs = m.log_prob(A)
    np.testing.assert_allclose(logs.exp().sum(1).detach().numpy(), np.ones(6), rtol=1e-12)
    head = m.head(A).log_softmax(1).detach().numpy()
    third = m.tail[1](A).log_softmax(1).detach().numpy()
    np.testing.assert_allclose(logs[:, 5:].detach().numpy(), third + head[:, 3:4], rtol=1e-10)
    output, loss = m(A, target)
    np.testing.assert_allclose(output.detach().numpy(), logs.detach().numpy()[np.arange(6), target.numpy()], rtol=1e-12)
    assert abs(loss.item() + output.mean().item()) < 1e-12
    assert m.predict(A).tolist() == logs.argmax(1).tolist()
    one = m(A[0], target[0])
    assert one.output.shape == () and abs(one.output.item() - output[0].item()) < 1e-12
    loss.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in m.parameters())
    for wrong, words in (((A, target[:3]), "same size in the batch"), ((A, target + 1), r"should be in \[0, 11\]")):
        with pytest.raises(RuntimeError, match=words):
            m(*wrong)
    with pytest.raises(RuntimeError, match="1D target tensor expects 2D input"):
        m(A[0], target)
    m.reset_parameters()


def test_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.poisson_nll_loss(A, B.abs()), F.pairwise_distance(A, B), nn.MultiMarginLoss()(A, CLASSES)


# ---- warnings, and arguments that make no sense ----------------------------------------------------------------------

SAME_SHAPE = ["l1_loss", "mse_loss", "smooth_l1_loss", "huber_loss"]


@pytest.mark.parametrize("name", SAME_SHAPE)
def test_broadcast_targets_warn(name):
    column, row = lamella.tensor([[0.5], [1.0], [1.5], [2.0]]), lamella.tensor([0.5, 1.0, 1.5, 2.0])
    d = np.abs(column.numpy() - row.numpy())
    bent = np.where(d < 1, d * d / 2, d - 0.5)
    want = {"l1_loss": d, "mse_loss": d * d, "smooth_l1_loss": bent, "huber_loss": bent}[name]
    module = getattr(nn, {"l1_loss": "L1Loss", "mse_loss": "MSELoss"}.get(name, name.title().replace("_", "")))()
    for call in (getattr(F, name), module):
        words = rf"{name}: argument 'target': its shape \(4,\) differs .* \(4, 1\)"
        with pytest.warns(UserWarning, match=words) as seen:
            got = call(column, row)
        assert abs(got.item() - want.mean()) < 1e-6 and len(seen) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert call(column, column).item() == 0 and call(row, row).item() == 0


@pytest.mark.parametrize("number", [1.5, -0.5, math.nan, math.inf])
@pytest.mark.parametrize("name", ["input", "target"])
def test_binary_cross_entropy_takes_probabilities(name, number):
    good, bad = lamella.tensor([0.5, 0.25]), lamella.tensor([0.5, number])
    given = (bad, good) if name == "input" else (good, bad)
    for call in (F.binary_cross_entropy, nn.BCELoss(), lamella.ops.aten.binary_cross_entropy):
        with pytest.raises(RuntimeError, match=f"argument '{name}': all elements .* got .*{number}"):
            call(*given)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: F.gaussian_nll_loss(A, B, B.abs(), eps=-1.0), ValueError, "'eps' must not be negative, got -1"),
        (lambda: F.gaussian_nll_loss(A, B, A * 0 - 2.0), ValueError, "argument 'var' must not be negative, got -2.0"),
        (lambda: F.gaussian_nll_loss(A, B, math.nan), ValueError, "argument 'var' must not be negative, got nan"),
        (lambda: F.gaussian_nll_loss(A, B, A * -math.inf), ValueError, "must not be negative, got -inf"),
        (lambda: F.poisson_nll_loss(A.abs(), B, log_input=False, eps=-1.0), RuntimeError, "'eps': .* got -1"),
        (lambda: F.cosine_similarity(A, B, eps=-1.0), RuntimeError, "argument 'eps': must not be negative, got -1"),
        (lambda: F.cosine_similarity(A, B, eps=math.nan), RuntimeError, "'eps': must not be negative, got nan"),
        (lambda: F.soft_margin_loss(A[:, :1], A[:, 0]), RuntimeError, r"'target': shape \(6,\) does not expand"),
        (lambda: F.gumbel_softmax(A, tau=-1.0), ValueError, "argument 'tau': .* must be positive, got -1.0"),
        (lambda: F.gumbel_softmax(A, tau=0), ValueError, "argument 'tau': .* must be positive, got 0"),
        (lambda: F.batch_norm(A, None, None, training=True, eps=-1.0), ValueError, "argument 'eps': .* got -1.0"),
    ],
)
def test_arguments_without_a_meaning(call, error, words):
    with pytest.raises(error, match=words):
        call()
