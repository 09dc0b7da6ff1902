"""Losses: measures of the distance between a prediction and its target."""

from __future__ import annotations

import math
import warnings

import lamella
from lamella._C import Tensor
from lamella.nn.functional._operators import op

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "gaussian_nll_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "linear_cross_entropy",
    "mse_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "smooth_l1_loss",
]

# Functions of this module that are the operators themselves, whose arguments are those of torch's functions.
binary_cross_entropy, binary_cross_entropy_with_logits = (
    op("binary_cross_entropy"),
    op("binary_cross_entropy_with_logits"),
)
cross_entropy, nll_loss, kl_div = op("cross_entropy"), op("nll_loss"), op("kl_div")
_l1_loss, _mse_loss = op("l1_loss"), op("mse_loss")
_smooth_l1_loss, _huber_loss = op("smooth_l1_loss"), op("huber_loss")
_linear, _log_sigmoid = op("linear"), op("log_sigmoid")


def _warn_of_broadcasting(who: str, input, target) -> None:
    warnings.warn(
        f"{who}: argument 'target': its shape {tuple(target.shape)} differs from the input's, {tuple(input.shape)}; "
        "the two are broadcast, and the loss compares each element with several others; reshape one of them",
        stacklevel=3,
    )


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """``|input - target|``. Warns if the shapes differ.

    >>> lamella.nn.functional.l1_loss(lamella.tensor([1.0, 2.0]), lamella.tensor([2.0, 4.0]))
    tensor(1.5000)
    """
    loss = _l1_loss(input, target, size_average, reduce, reduction, weight)
    if input.shape != target.shape:
        _warn_of_broadcasting("l1_loss", input, target)
    return loss


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """``(input - target)²``. Warns if the shapes differ.

    >>> lamella.nn.functional.mse_loss(lamella.tensor([1.0, 2.0]), lamella.tensor([2.0, 4.0]))
    tensor(2.5000)
    """
    loss = _mse_loss(input, target, size_average, reduce, reduction, weight)
    if input.shape != target.shape:
        _warn_of_broadcasting("mse_loss", input, target)
    return loss


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """``|d| - beta / 2``, and ``d² / (2 beta)`` where ``|d|`` is below ``beta``, for ``d = input - target``. Warns if
    the shapes differ.

    >>> lamella.nn.functional.smooth_l1_loss(lamella.tensor([1.0, 2.0]), lamella.tensor([1.5, 4.0]))
    tensor(0.8125)
    """
    loss = _smooth_l1_loss(input, target, size_average, reduce, reduction, beta)
    if input.shape != target.shape:
        _warn_of_broadcasting("smooth_l1_loss", input, target)
    return loss


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """``d² / 2`` where ``|d|`` is below ``delta``, else ``delta (|d| - delta / 2)``, for ``d = input - target``. Warns
    if the shapes differ.

    >>> lamella.nn.functional.huber_loss(lamella.tensor([1.0, 2.0]), lamella.tensor([1.5, 4.0]))
    tensor(0.8125)
    """
    loss = _huber_loss(input, target, reduction, delta, weight)
    if input.shape != target.shape:
        _warn_of_broadcasting("huber_loss", input, target)
    return loss


def _reduced(who: str, loss, reduction: str):
    """Reduces a loss by mean or sum, or returns it as it is."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{who}: argument 'reduction': expected 'none', 'mean' or 'sum', got {reduction!r}")
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def legacy_reduction(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """Returns the ``reduction`` that torch's older arguments mean, or the given one if both are None. If only one of
    them is None, that counts as true.

    >>> lamella.nn.functional.losses.legacy_reduction(False, None, "mean")
    'sum'
    """
    if size_average is None and reduce is None:
        return reduction
    return "none" if reduce is False else "sum" if size_average is False else "mean"


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean over classes of ``-(target * log(s(input)) + (1 - target) * log(1 - s(input)))``, with the sigmoid s.

    >>> F = lamella.nn.functional
    >>> F.multilabel_soft_margin_loss(lamella.zeros(1, 2), lamella.tensor([[1.0, 0.0]]))
    tensor(0.6931)
    """
    loss = -(target * _log_sigmoid(input) + (1 - target) * _log_sigmoid(-input))
    loss = loss if weight is None else loss * weight
    each = loss.sum(-1) / input.shape[-1]
    return _reduced("multilabel_soft_margin_loss", each, legacy_reduction(size_average, reduce, reduction))


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """``(log(var) + (input - target)² / var) / 2``, with ``var`` raised to at least ``eps``.

    As in torch, ``var`` has a gradient also where it was raised: the gradient at ``eps``.

    Args:
        var: a number, or a tensor of the input's shape, whose last dimension may be missing or of size 1
        full: adds ``log(2 pi) / 2``

    Raises:
        ValueError: ``var`` or ``eps`` is negative, or the shape of ``var`` does not go with the input's

    >>> F = lamella.nn.functional
    >>> F.gaussian_nll_loss(lamella.tensor([1.0]), lamella.tensor([3.0]), lamella.tensor([1.0]))
    tensor(2.)
    """
    if not eps >= 0:
        raise ValueError(f"gaussian_nll_loss: argument 'eps' must not be negative, got {eps}")
    if not isinstance(var, Tensor):
        if not var >= 0:
            raise ValueError(f"gaussian_nll_loss: argument 'var' must not be negative, got {var}")
        var = input.new_full(input.shape, var)
    elif not lamella.jit.is_tracing() and bool((var.detach() < 0).any()):  # a graph has no branch on a value
        least = var.detach().where(var < 0, 0).min().item()
        raise ValueError(f"gaussian_nll_loss: argument 'var' must not be negative, got {least}")
    if var.shape != input.shape:
        if var.shape == input.shape[:-1]:
            var = var.unsqueeze(-1)
        elif not (var.dim() == input.dim() and var.shape[:-1] == input.shape[:-1] and var.shape[-1] == 1):
            raise ValueError(
                f"gaussian_nll_loss: argument 'var': shape {tuple(var.shape)} does not go with the input's, "
                f"{tuple(input.shape)}"
            )
    kept = var + (var.detach().clamp(min=eps) - var.detach())
    loss = 0.5 * (kept.log() + (input - target) ** 2 / kept)
    return _reduced("gaussian_nll_loss", loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def linear_cross_entropy(
    input,
    linear_weight,
    target,
    *,
    linear_bias=None,
    weight=None,
    reduction="mean",
    ignore_index=None,
    label_smoothing=0.0,
    options=None,
):
    """``cross_entropy(linear(input, linear_weight, linear_bias), target)``.

    Args:
        input: (N, in_features) or (in_features,)
        linear_weight: (C, in_features), or (C, d1, ..., in_features) for a loss at each of d1, ... places
        ignore_index: a target class that is ignored, -100 by default; not with targets that are probabilities
        options: a LinearCrossEntropyOptions, by which torch saves memory; the loss does not depend on them

    >>> lamella.nn.functional.linear_cross_entropy(lamella.zeros(2, 3), lamella.ones(5, 3), lamella.tensor([0, 4]))
    tensor(1.6094)
    """
    who = "linear_cross_entropy"
    if input.ndim not in (1, 2):
        raise RuntimeError(f"{who}: argument 'input': expected dimensionality 1 or 2, got {input.ndim}")
    if linear_weight.ndim < 2:
        raise RuntimeError(
            f"{who}: argument 'linear_weight': expected dimensionality at least 2, got {linear_weight.ndim}"
        )
    *outer, features = linear_weight.shape
    if input.shape[-1] != features:
        raise RuntimeError(
            f"{who}: expected equal input and linear_weight last dimensions (in_features), got {input.shape[-1]} and "
            f"{features}"
        )
    if linear_bias is not None and list(linear_bias.shape) != outer:
        raise RuntimeError(
            f"{who}: argument 'linear_bias': expected shape {tuple(outer)}, got {tuple(linear_bias.shape)}"
        )
    if len(outer) > 1 and input.ndim == 1:
        raise RuntimeError(
            f"{who}: argument 'input': a linear_weight of shape {tuple(linear_weight.shape)} needs batched input, "
            f"(N, {features}), got shape {tuple(input.shape)}"
        )
    shape = (*input.shape[:-1], *outer)
    if tuple(target.shape) == shape and ignore_index is not None:
        raise RuntimeError(f"{who}: ignore_index cannot be specified when target contains probabilities")
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = _linear(input, linear_weight.reshape(-1, features), bias).reshape(shape)
    return cross_entropy(
        logits,
        target,
        weight=weight,
        ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )
