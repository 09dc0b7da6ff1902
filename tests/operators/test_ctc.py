"""CTC: against all alignments, with all forms of targets and lengths, gradients at the borders, errors."""

import lamella
import lamella.nn.functional as F
import numpy as np
import pytest
from lamella import nn
from oracles.tables import ctc_loss as by_alignments

logits = np.random.default_rng(0).standard_normal((5, 3, 3))
TARGETS, STEPS, LENGTHS = [[1, 2], [2, 2], [1, 0]], [5, 4, 3], [2, 2, 1]


def log_probs():
    return lamella.from_numpy(logits.copy()).log_softmax(2)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("dtype", [lamella.int64, lamella.int32])
def test_forms_of_targets_and_lengths(reduction, dtype):
    number = ("none", "mean", "sum").index(reduction)
    want = by_alignments(log_probs().numpy(), np.array(TARGETS), STEPS, LENGTHS, 0, number)
    padded = lamella.tensor(TARGETS, dtype=dtype)
    flat = lamella.tensor([1, 2, 2, 2, 1], dtype=dtype)
    for targets in (padded, flat):
        for steps, lengths in (
            (STEPS, LENGTHS),
            (tuple(STEPS), tuple(LENGTHS)),
            (lamella.tensor(STEPS), lamella.tensor(LENGTHS, dtype=dtype)),
            (STEPS, lamella.tensor(LENGTHS)),
        ):
            got = F.ctc_loss(log_probs(), targets, steps, lengths, reduction=reduction)
            np.testing.assert_allclose(got.numpy(), want, rtol=1e-12)
    assert (nn.CTCLoss(reduction=reduction)(log_probs(), padded, STEPS, LENGTHS) == got).all()


def test_one_sequence_and_another_blank():
    one = log_probs()[:, 0]
    want = by_alignments(one.numpy(), np.array([0, 1]), [5], [2], 2, 0)
    for lengths in (((5,), (2,)), (lamella.tensor(5), lamella.tensor(2)), (lamella.tensor([5]), (2,))):
        got = F.ctc_loss(one, lamella.tensor([0, 1]), *lengths, blank=2, reduction="none")
        assert got.shape == () and got.item() == pytest.approx(float(want))


@pytest.mark.needs("autograd")
def test_steps_behind_the_last_have_no_gradient():
    t = lamella.from_numpy(logits.copy()).requires_grad_()
    F.ctc_loss(t.log_softmax(2), lamella.tensor(TARGETS), STEPS, LENGTHS).backward()
    np.testing.assert_allclose(t.grad.sum(2).numpy(), 0, atol=1e-12)
    assert (t.grad[3:, 2] == 0).all() and (t.grad[4, 1] == 0).all()


@pytest.mark.needs("autograd")
@pytest.mark.parametrize("zero", [False, True])
def test_labels_without_alignment(zero):
    """Two equal labels need a blank between them, so 2 steps are too few; no labels in no steps have loss 0."""
    t = log_probs().requires_grad_()
    loss = F.ctc_loss(t, lamella.tensor(TARGETS), [5, 2, 0], [2, 2, 0], reduction="none", zero_infinity=zero)
    assert loss[1].item() == (0 if zero else np.inf) and loss[2].item() == 0 and 0 < loss[0].item() < np.inf
    if zero:
        loss.sum().backward()
        assert (t.grad[:, 1:] == 0).all() and np.isfinite(t.grad.numpy()).all() and (t.grad[:, 0] != 0).any()


@pytest.mark.needs("autograd")
def test_impossible_classes_and_long_sequences():
    t = lamella.full((4, 1, 3), 0.5).log()
    t[:, :, 2] = -np.inf
    t.requires_grad_()
    loss = F.ctc_loss(t, lamella.tensor([[1]]), [4], [1])
    assert loss.item() == pytest.approx(-np.log(10 / 16))
    loss.backward()
    assert np.isfinite(t.grad.numpy()).all()
    long = lamella.randn(300, 2, 20, requires_grad=True)
    F.ctc_loss(long.log_softmax(2), lamella.randint(1, 20, (2, 60)), [300, 280], [60, 40]).backward()
    assert np.abs(long.grad.sum(2).numpy()).max() < 1e-5


def test_an_unknown_reduction():
    with pytest.raises(ValueError, match="average is not a valid value for reduction"):
        F.ctc_loss(log_probs(), lamella.tensor(TARGETS), STEPS, LENGTHS, 0, "average")
