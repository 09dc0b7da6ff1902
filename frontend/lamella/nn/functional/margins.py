"""Margin losses: the operators take a reduction as torch's number, these functions as a word."""

from __future__ import annotations

from lamella.nn.functional._operators import op
from lamella.nn.functional.losses import _reduced, legacy_reduction

__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "poisson_nll_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]

_NUMBERS = {"none": 0, "mean": 1, "sum": 2}
_cosine_embedding_loss, _hinge_embedding_loss = op("cosine_embedding_loss"), op("hinge_embedding_loss")
_margin_ranking_loss, _multi_margin_loss = op("margin_ranking_loss"), op("multi_margin_loss")
_multilabel_margin_loss, _poisson_nll_loss = op("multilabel_margin_loss"), op("poisson_nll_loss")
_soft_margin_loss, _triplet_margin_loss = op("soft_margin_loss"), op("triplet_margin_loss")
_pairwise_distance, _minimum = op("pairwise_distance"), op("minimum")


def _number(who: str, size_average: bool | None, reduce: bool | None, reduction: str) -> int:
    """Returns torch's number for a reduction, given in either of torch's two spellings."""
    word = legacy_reduction(size_average, reduce, reduction)
    if word not in _NUMBERS:
        raise ValueError(f"{who}: argument 'reduction': expected 'none', 'mean' or 'sum', got {word!r}")
    return _NUMBERS[word]


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """``max(0, -target * (input1 - input2) + margin)``, of targets 1 and -1.

    >>> F = lamella.nn.functional
    >>> F.margin_ranking_loss(lamella.tensor([3.0]), lamella.tensor([1.0]), lamella.tensor([-1.0]))
    tensor(2.)
    """
    number = _number("margin_ranking_loss", size_average, reduce, reduction)
    return _margin_ranking_loss(input1, input2, target, margin, number)


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """Returns the input where the target is 1, ``max(0, margin - input)`` where it is -1.

    >>> lamella.nn.functional.hinge_embedding_loss(lamella.tensor([0.5, 0.25]), lamella.tensor([1, -1]))
    tensor(0.6250)
    """
    return _hinge_embedding_loss(
        input, target, margin, _number("hinge_embedding_loss", size_average, reduce, reduction)
    )


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1, for the cosine cos of both inputs.

    >>> lamella.nn.functional.cosine_embedding_loss(lamella.ones(2), lamella.ones(2), lamella.tensor(-1))
    tensor(1.)
    """
    number = _number("cosine_embedding_loss", size_average, reduce, reduction)
    return _cosine_embedding_loss(input1, input2, target, margin, number)


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Returns the sum of ``max(0, margin - input[target] + input[i]) ** p`` over classes i other than the target,
    divided by the number of all classes.

    Args:
        input: (N, C) or (C,)
        p: 1 or 2
        weight: a factor for each target class

    >>> lamella.nn.functional.multi_margin_loss(lamella.tensor([[1.0, 0.5]]), lamella.tensor([0]))
    tensor(0.2500)
    """
    number = _number("multi_margin_loss", size_average, reduce, reduction)
    return _multi_margin_loss(input, target, p, margin, weight, number)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """The sum of ``max(0, 1 - input[t] + input[i])`` over targets t and other classes i, divided by the
    number of all classes.

    A row of the target, which has the input's shape, lists classes up to the first -1.

    >>> lamella.nn.functional.multilabel_margin_loss(lamella.tensor([1.0, 0.5]), lamella.tensor([0, -1]))
    tensor(0.2500)
    """
    return _multilabel_margin_loss(input, target, _number("multilabel_margin_loss", size_average, reduce, reduction))


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """``log(1 + exp(-target * input))``, of targets 1 and -1, without overflow.

    >>> lamella.nn.functional.soft_margin_loss(lamella.tensor([0.0]), lamella.tensor([1.0]))
    tensor(0.6931)
    """
    return _soft_margin_loss(input, target, _number("soft_margin_loss", size_average, reduce, reduction))


def poisson_nll_loss(
    input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"
):
    """``exp(input) - target * input``; without ``log_input``, for rates, ``input - target * log(input + eps)``.

    ``full`` adds Stirling's approximation of ``log(target!)`` where the target is above 1.

    >>> lamella.nn.functional.poisson_nll_loss(lamella.tensor([0.0]), lamella.tensor([2.0]))
    tensor(1.)
    """
    number = _number("poisson_nll_loss", size_average, reduce, reduction)
    return _poisson_nll_loss(input, target, log_input, full, eps, number)


# ---- triplets --------------------------------------------------------------------------------------------------------


def _check_margin(who: str, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"{who}: argument 'margin': margin must be greater than 0, got {margin}")


def triplet_margin_loss(
    anchor,
    positive,
    negative,
    margin=1.0,
    p=2,
    eps=1e-6,
    swap=False,
    size_average=None,
    reduce=None,
    reduction="mean",
):
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)``, with ``pairwise_distance`` d.

    With ``swap``, d(positive, negative) replaces d(anchor, negative) where it is smaller. After Balntas et al. (2016).

    >>> a, p, n = lamella.tensor([[0.0]]), lamella.tensor([[2.0]]), lamella.tensor([[5.0]])
    >>> lamella.nn.functional.triplet_margin_loss(a, p, n, margin=4.0)
    tensor(1.)
    """
    number = _number("triplet_margin_loss", size_average, reduce, reduction)
    _check_margin("triplet_margin_loss", margin)
    return _triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, number)


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """``triplet_margin_loss`` with the caller's distance, a function of two tensors.

    >>> a, p, n = lamella.tensor([[0.0]]), lamella.tensor([[2.0]]), lamella.tensor([[2.5]])
    >>> F = lamella.nn.functional
    >>> F.triplet_margin_with_distance_loss(a, p, n, distance_function=lambda a, b: (a - b).abs().sum(-1))
    tensor(0.5000)
    """
    who = "triplet_margin_with_distance_loss"
    _number(who, None, None, reduction)
    _check_margin(who, margin)
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            f"{who}: The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
            f"but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )
    distance = _pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _minimum(far, distance(positive, negative))
    return _reduced(who, (margin + near - far).clamp_min(0), reduction)
