"""Losses against their definitions in numpy and scipy, with the signatures of torch.nn.functional."""

import math

import lamella
import numpy as np
import pytest
import scipy.special
from arrays import to_lamella, to_numpy, values

F = lamella.ops.aten
REDUCTIONS = ("none", "mean", "sum")
PICK = ["aten::_nll_pick", "aten::_class_loss", "aten::_pair_loss"]
WAYS = [pytest.param([], id="kernel"), pytest.param(PICK, id="composite")]


def draw(shape, seed, low=-3, high=3, dtype="float32"):
    return values(dtype, int(np.prod(shape)), seed, low, high).reshape(shape)


def reduced(loss, how):
    return {"none": loss, "mean": loss.mean(), "sum": loss.sum()}[how]


def check(tensor, exact):
    assert tuple(tensor.shape) == np.shape(exact)
    np.testing.assert_allclose(to_numpy(tensor), exact, rtol=2e-5, atol=2e-6)


def huber(d, width):
    return np.where(np.abs(d) < width, d * d / 2, width * (np.abs(d) - width / 2))


PLAIN = {
    "mse_loss": (lambda d: d * d, {}),
    "l1_loss": (np.abs, {}),
    "smooth_l1_loss": (lambda d: huber(d, 0.7) / 0.7, {"beta": 0.7}),
    "huber_loss": (lambda d: huber(d, 0.7), {"delta": 0.7}),
}


@pytest.mark.parametrize("how", REDUCTIONS)
@pytest.mark.parametrize("name", PLAIN)
def test_distances(name, how):
    exact, options = PLAIN[name]
    for x_shape, y_shape in [((3, 4), (3, 4)), ((3, 1), (4,)), ((), ())]:
        x, y = draw(x_shape, 1), draw(y_shape, 2)
        got = getattr(F, name)(to_lamella(x), to_lamella(y), reduction=how, **options)
        check(got, reduced(exact(x.astype(float) - y), how))
    x, y = draw((4, 3), 1), draw((4, 3), 2)
    check(
        getattr(F, name)(to_lamella(x).t(), to_lamella(y).t(), reduction=how, **options), reduced(exact(x - y).T, how)
    )


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "huber_loss"])
def test_weighted_distances(name):
    x, y, w = draw((3, 4), 1), draw((3, 4), 2), draw((3, 4), 3, 0.1, 2)
    exact, options = PLAIN[name]
    loss = exact(x.astype(float) - y) * w
    mean = loss.mean() if name == "huber_loss" else loss.sum() / w.sum()
    for how, want in (("none", loss), ("sum", loss.sum()), ("mean", mean)):
        check(getattr(F, name)(*map(to_lamella, (x, y)), reduction=how, weight=to_lamella(w), **options), want)


@pytest.mark.parametrize("how", REDUCTIONS)
def test_kl_div(how):
    x, t = draw((3, 4), 1), draw((3, 4), 2, 0.1, 1)
    t[0, 0] = 0
    exact = scipy.special.xlogy(t, t).astype(float) - t * x
    check(F.kl_div(to_lamella(x), to_lamella(t), reduction=how), reduced(exact, how))
    log = draw((3, 4), 2)
    check(
        F.kl_div(to_lamella(x), to_lamella(log), reduction=how, log_target=True), reduced(np.exp(log) * (log - x), how)
    )
    check(F.kl_div(to_lamella(x), to_lamella(t), reduction="batchmean"), exact.sum() / 3)


@pytest.mark.parametrize("how", REDUCTIONS)
def test_binary_cross_entropy(how):
    p, t, w = draw((3, 4), 1, 0, 1), draw((3, 4), 2, 0, 1), draw((3, 4), 3, 0.1, 2)
    p[0, :2], t[0, :2] = (0, 1), (1, 1)
    with np.errstate(divide="ignore"):
        yes, no = np.maximum(np.log(p.astype(float)), -100), np.maximum(np.log1p(-p.astype(float)), -100)
    exact = -(t * yes + (1 - t) * no)
    check(F.binary_cross_entropy(to_lamella(p), to_lamella(t), reduction=how), reduced(exact, how))
    check(F.binary_cross_entropy(to_lamella(p), to_lamella(t), to_lamella(w), reduction=how), reduced(exact * w, how))


@pytest.mark.parametrize("how", REDUCTIONS)
def test_binary_cross_entropy_with_logits(how):
    x, t, w = draw((3, 4), 1, -120, 120), draw((3, 4), 2, 0, 1), draw((3, 4), 3, 0.1, 2)
    pos = draw((4,), 4, 0.1, 2)
    log = np.logaddexp(0, -x.astype(float))
    f = F.binary_cross_entropy_with_logits
    check(f(to_lamella(x), to_lamella(t), reduction=how), reduced((1 - t) * x + log, how))
    exact = ((1 - t) * x + ((pos - 1) * t + 1) * log) * w
    got = f(to_lamella(x), to_lamella(t), to_lamella(w), reduction=how, pos_weight=to_lamella(pos))
    check(got, reduced(exact, how))


# ---- by class --------------------------------------------------------------------------------------------------------

SHAPES = [(5,), (6, 5), (2, 5, 3), (2, 5, 3, 4)]


def by_class(shape, seed):
    classes = shape[0] if len(shape) == 1 else shape[1]
    samples = () if len(shape) == 1 else shape[:1] + shape[2:]
    return np.asarray(np.random.default_rng(seed).integers(0, classes, samples)), draw((classes,), seed, 0.1, 2)


def nll(log, target, weight, ignore, how):
    dim = 0 if log.ndim == 1 else 1
    picked = np.take_along_axis(log, np.expand_dims(target, dim), dim).squeeze(dim)
    kept = (target != ignore) * (1.0 if weight is None else weight[target])
    loss = -picked * kept
    return loss.sum() / kept.sum() if how == "mean" else reduced(loss, how)


@pytest.mark.parametrize("passed_over", WAYS)
@pytest.mark.parametrize("how", REDUCTIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_nll_loss(shape, how, passed_over):
    x = draw(shape, 1)
    target, w = by_class(shape, 2)
    ignore = int(target.flat[-1]) if target.ndim else -100
    with lamella.library.kernels_disabled(passed_over, "cpu"):
        for weight in (None, w):
            for skipped in (-100, ignore):
                lw = None if weight is None else to_lamella(weight)
                got = F.nll_loss(to_lamella(x), to_lamella(target), lw, reduction=how, ignore_index=skipped)
                check(got, nll(x.astype(float), target, weight, skipped, how))


@pytest.mark.parametrize("passed_over", WAYS)
@pytest.mark.parametrize("how", REDUCTIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_cross_entropy(shape, how, passed_over):
    x, dim = draw(shape, 1, -30, 30), 0 if len(shape) == 1 else 1
    target, w = by_class(shape, 2)
    log = scipy.special.log_softmax(x.astype(float), dim)
    along = [1] * len(shape)
    along[dim] = -1
    for weight in (None, w):
        lw = None if weight is None else to_lamella(weight)
        weights = np.ones(len(w)) if weight is None else weight
        for s in (0.0, 0.2):
            with lamella.library.kernels_disabled(passed_over, "cpu"):
                got = F.cross_entropy(to_lamella(x), to_lamella(target), lw, reduction=how, label_smoothing=s)
            even = -(log * weights.reshape(along)).sum(dim)
            even = even.sum() / weights[target].sum() if how == "mean" else reduced(even, how)
            check(got, (1 - s) * nll(log, target, weight, -100, how) + s / len(w) * even)
            p = draw(shape, 5, 0, 1)
            got = F.cross_entropy(to_lamella(x), to_lamella(p), lw, reduction=how, label_smoothing=s)
            loss = -(log * (p * (1 - s) + s / len(w)) * weights.reshape(along)).sum(dim)
            check(got, reduced(np.asarray(loss), how))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_cross_entropy_dtypes(dtype):
    x = draw((6, 5), 1, dtype=dtype)
    target, _ = by_class((6, 5), 2)
    got = F.cross_entropy(to_lamella(x), to_lamella(target.astype(np.int32)))
    exact = nll(scipy.special.log_softmax(x.astype(float), 1), target, None, -100, "mean")
    assert abs(got.item() - exact) <= {"float64": 1e-14, "float16": 4e-3, "bfloat16": 3e-2}[dtype] * exact


def test_targets_that_are_no_class():
    for f in (F.nll_loss, F.cross_entropy):
        for bad in (3, -1):
            with pytest.raises(IndexError, match=f"^{f.__name__.split('.')[-1]}: argument 'target': class {bad}"):
                f(lamella.zeros(2, 3), lamella.tensor([0, bad]))
        with pytest.raises(ValueError, match="argument 'target': shape"):
            f(lamella.zeros(2, 3), lamella.tensor([0]))
        with pytest.raises(RuntimeError, match="argument 'target'.*float32"):
            f(lamella.zeros(2, 3), lamella.zeros(2))
        with pytest.raises(RuntimeError, match="argument 'weight'.*all 3 classes"):
            f(lamella.zeros(2, 3), lamella.tensor([0, 1]), lamella.ones(2))
        with pytest.raises(ValueError, match="argument 'reduction'.*'avg'"):
            f(lamella.zeros(2, 3), lamella.tensor([0, 1]), reduction="avg")
    assert math.isnan(F.nll_loss(lamella.zeros(0, 3), lamella.zeros(0, dtype=lamella.int64)).item())
    assert math.isnan(F.nll_loss(lamella.zeros(1, 3), lamella.tensor([1]), ignore_index=1).item())


def test_older_switches():
    x, y = lamella.tensor([1.0, 3.0]), lamella.tensor([1.0, 1.0])
    assert F.mse_loss(x, y, False).item() == 4
    assert F.mse_loss(x, y, None, False).tolist() == [0, 4]
    assert F.mse_loss(x, y, True, True).item() == 2


def test_wrong_widths():
    x = lamella.ones(2)
    with pytest.raises(RuntimeError, match="argument 'delta'"):
        F.huber_loss(x, x, delta=0.0)
    with pytest.raises(RuntimeError, match="argument 'beta'"):
        F.smooth_l1_loss(x, x, beta=-1.0)
    with pytest.raises(RuntimeError, match="argument 'label_smoothing'"):
        F.cross_entropy(lamella.zeros(2, 3), lamella.tensor([0, 1]), label_smoothing=2.0)


def test_probabilities_are_checked():
    half = lamella.tensor([0.5])
    for wrong in (-0.1, 1.1, math.nan):
        with pytest.raises(RuntimeError, match="between 0 and 1"):
            lamella.nn.functional.binary_cross_entropy(lamella.tensor([0.5, wrong]), lamella.tensor([1.0, 1.0]))
    assert lamella.nn.functional.binary_cross_entropy(half, half).item() == pytest.approx(math.log(2))


@pytest.mark.parametrize("shape, classes", [((3000, 7), 7), ((5, 6, 40, 30), 6), ((4, 0), 0)])
@pytest.mark.parametrize("how", REDUCTIONS)
def test_threads_do_not_change_cross_entropy(shape, classes, how):
    x = to_lamella(draw(shape, 5))
    target = to_lamella(np.random.default_rng(6).integers(-1, max(classes, 0), shape[:1] + shape[2:]))
    before, made = lamella.get_num_threads(), []
    try:
        for n in (1, 2):
            lamella.set_num_threads(n)
            made.append(to_numpy(F.cross_entropy(x, target, reduction=how, ignore_index=-1)))
    finally:
        lamella.set_num_threads(before)
    np.testing.assert_array_equal(*made)
