"""Losses equal their definitions in numpy and scipy, with the signatures of torch.nn.functional."""

import itertools
import math

import lamella
import numpy as np
import pytest
from arrays import to_lamella, to_numpy, values
from oracles import ORACLES

F = lamella.ops.aten
REDUCTIONS = ("none", "mean", "sum")
DISTANCES = {"mse_loss": {}, "l1_loss": {}, "smooth_l1_loss": {"beta": 0.7}, "huber_loss": {"delta": 0.7}}
PICK = ["aten::_nll_pick", "aten::_class_loss", "aten::_pair_loss"]
WAYS = [pytest.param([], id="kernel"), pytest.param(PICK, id="composite")]


def draw(shape, seed, low=-3, high=3, dtype="float32"):
    return values(dtype, int(np.prod(shape)), seed, low, high).reshape(shape)


def check(tensor, exact):
    assert tuple(tensor.shape) == np.shape(exact)
    np.testing.assert_allclose(to_numpy(tensor), exact, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("how", REDUCTIONS)
@pytest.mark.parametrize("name, options", DISTANCES.items())
def test_distances(name, options, how):
    for x_shape, y_shape in [((3, 4), (3, 4)), ((3, 1), (4,)), ((), ())]:
        x, y = draw(x_shape, 1), draw(y_shape, 2)
        got = getattr(F, name)(to_lamella(x), to_lamella(y), reduction=how, **options)
        check(got, ORACLES[name](x.astype(float), y, how, **options))
    x, y = draw((4, 3), 1).T, draw((4, 3), 2).T
    got = getattr(F, name)(to_lamella(x.T).t(), to_lamella(y.T).t(), reduction=how, **options)
    check(got, ORACLES[name](x.astype(float), y, how, **options))


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "huber_loss"])
def test_weighted_distances(name):
    x, y, w = draw((3, 4), 1), draw((3, 4), 2), draw((3, 4), 3, 0.1, 2)
    loss = ORACLES[name](x.astype(float), y, "none", **DISTANCES[name]) * w
    mean = loss.mean() if name == "huber_loss" else loss.sum() / w.sum()
    for how, want in (("none", loss), ("sum", loss.sum()), ("mean", mean)):
        got = getattr(F, name)(*map(to_lamella, (x, y)), reduction=how, weight=to_lamella(w), **DISTANCES[name])
        check(got, want)


def agree(name, *arrays, **options):
    """The function's result equals its oracle's in float64."""
    got = getattr(F, name)(*map(to_lamella, arrays), **options)
    check(got, ORACLES[name](*(a.astype(float) if a.dtype.kind == "f" else a for a in arrays), **options))


@pytest.mark.parametrize("how", [*REDUCTIONS, "batchmean"])
def test_kl_div(how):
    x, t = draw((3, 4), 1), draw((3, 4), 2, 0.1, 1)
    t[0, 0] = 0
    agree("kl_div", x, t, reduction=how)
    agree("kl_div", x, draw((3, 4), 2), reduction=how, log_target=True)


@pytest.mark.parametrize("how", REDUCTIONS)
def test_binary_cross_entropy(how):
    p, t, w = draw((3, 4), 1, 0, 1), draw((3, 4), 2, 0, 1), draw((3, 4), 3, 0.1, 2)
    p[0, :2], t[0, :2] = (0, 1), (1, 1)
    with np.errstate(divide="ignore"):
        agree("binary_cross_entropy", p, t, reduction=how)
        agree("binary_cross_entropy", p, t, w, reduction=how)


@pytest.mark.parametrize("how", REDUCTIONS)
def test_binary_cross_entropy_with_logits(how):
    x, t, w = draw((3, 4), 1, -120, 120), draw((3, 4), 2, 0, 1), draw((3, 4), 3, 0.1, 2)
    pos = draw((4,), 4, 0.1, 2)
    agree("binary_cross_entropy_with_logits", x, t, reduction=how)
    got = F.binary_cross_entropy_with_logits(*map(to_lamella, (x, t, w)), reduction=how, pos_weight=to_lamella(pos))
    check(got, ORACLES["binary_cross_entropy_with_logits"](x.astype(float), t, w, how, pos))


# ---- by class --------------------------------------------------------------------------------------------------------

SHAPES = [(5,), (6, 5), (2, 5, 3), (2, 5, 3, 4)]


def by_class(shape, seed):
    classes = shape[0] if len(shape) == 1 else shape[1]
    samples = () if len(shape) == 1 else shape[:1] + shape[2:]
    return np.asarray(np.random.default_rng(seed).integers(0, classes, samples)), draw((classes,), seed, 0.1, 2)


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
                check(got, ORACLES["nll_loss"](x.astype(float), target, weight, skipped, how))


@pytest.mark.parametrize("passed_over", WAYS)
@pytest.mark.parametrize("how", REDUCTIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_cross_entropy(shape, how, passed_over):
    x, p = draw(shape, 1, -30, 30), draw(shape, 5, 0, 1)
    target, w = by_class(shape, 2)
    for weight, y, smoothing in itertools.product((None, w), (target, p), (0.0, 0.2)):
        lw = None if weight is None else to_lamella(weight)
        with lamella.library.kernels_disabled(passed_over, "cpu"):
            got = F.cross_entropy(to_lamella(x), to_lamella(y), lw, reduction=how, label_smoothing=smoothing)
        check(got, ORACLES["cross_entropy"](x.astype(float), y, weight, -100, how, smoothing))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_cross_entropy_dtypes(dtype):
    x = draw((6, 5), 1, dtype=dtype)
    target, _ = by_class((6, 5), 2)
    got = F.cross_entropy(to_lamella(x), to_lamella(target.astype(np.int32)))
    exact = ORACLES["cross_entropy"](x.astype(float), target)
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
    made = []
    for n in (1, 2):
        lamella.set_num_threads(n)
        made.append(to_numpy(F.cross_entropy(x, target, reduction=how, ignore_index=-1)))
    np.testing.assert_array_equal(*made)
