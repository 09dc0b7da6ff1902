"""Losses: measures of the distance between a prediction and its target.

``reduction`` is "mean", "sum" or "none"; ``size_average`` and ``reduce`` are its older spellings.
"""

from __future__ import annotations

import math
from typing import Any

import lamella.nn.functional as F
from lamella._C import Tensor
from lamella.nn.modules._losses import _Loss, _WeightedLoss
from lamella.nn.modules._margin_losses import (
    CosineEmbeddingLoss,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)
from lamella.nn.modules.linear import Linear

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LinearCrossEntropyLoss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class L1Loss(_Loss):
    """``|input - target|``.

    Names of the arguments must agree; with reduction="none" the result has them.

    >>> lamella.nn.L1Loss()(lamella.tensor([1.0, 2.0]), lamella.tensor([2.0, 4.0]))
    tensor(1.5000)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """``(input - target)²``.

    Names of the arguments must agree; with reduction="none" the result has them.

    >>> lamella.nn.MSELoss()(lamella.tensor([1.0, 2.0]), lamella.tensor([2.0, 4.0]))
    tensor(2.5000)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """``|d| - beta / 2``, and ``d² / (2 beta)`` where ``|d|`` is below ``beta``, for ``d = input - target``.

    Names of the arguments must agree; with reduction="none" the result has them.

    >>> lamella.nn.SmoothL1Loss()(lamella.tensor([1.0, 2.0]), lamella.tensor([1.5, 4.0]))
    tensor(0.8125)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ):
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """``d² / 2`` where ``|d|`` is below ``delta``, else ``delta * (|d| - delta / 2)``, for ``d = input - target``.

    Names of the arguments must agree; with reduction="none" the result has them.

    >>> lamella.nn.HuberLoss()(lamella.tensor([1.0, 2.0]), lamella.tensor([1.5, 4.0]))
    tensor(0.8125)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0):
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class NLLLoss(_WeightedLoss):
    """Minus the log-probability of the target class, of log-probabilities (N, C) or (N, C, ...).

    Args:
        weight: a factor for each class; a mean is divided by the sum of the factors
        ignore_index: a target class that is ignored

    With reduction="none" the result has the names of the first two arguments without that of classes.

    >>> lamella.nn.NLLLoss()(lamella.tensor([[-0.5, -1.0]]), lamella.tensor([1]))
    tensor(1.)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class NLLLoss2d(NLLLoss):
    """The older name of NLLLoss for images.

    With reduction="none" the result has the names of the first two arguments without that of classes.

    >>> lamella.nn.NLLLoss2d()(lamella.full((1, 2, 1, 1), -0.5), lamella.tensor([[[1]]]))
    tensor(0.5000)
    """


class PoissonNLLLoss(_Loss):
    """``exp(input) - target * input``, of logarithms of rates; F.poisson_nll_loss describes the options.

    Names of the arguments must agree; with reduction="none" the result has them.

    >>> lamella.nn.PoissonNLLLoss()(lamella.tensor([0.0]), lamella.tensor([2.0]))
    tensor(1.)
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ):
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(_Loss):
    """``(log(var) + (input - target)² / var) / 2``, with a variance of at least ``eps``.

    Names of the arguments must agree; with reduction="none" the result has them.

    >>> lamella.nn.GaussianNLLLoss()(lamella.tensor([1.0]), lamella.tensor([3.0]), lamella.tensor([1.0]))
    tensor(2.)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean"):
        super().__init__(None, None, reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class CrossEntropyLoss(_WeightedLoss):
    """NLLLoss of ``log_softmax`` of the input over dimension 1; the target is classes, or a probability of each class.

    Args:
        weight: a factor for each class
        ignore_index: a target class that is ignored
        label_smoothing: the share of the target that is spread evenly over all classes

    With reduction="none" the result has the names of the first two arguments without that of classes.

    >>> lamella.nn.CrossEntropyLoss()(lamella.zeros(1, 2), lamella.tensor([1]))
    tensor(0.6931)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class KLDivLoss(_Loss):
    """``target * (log(target) - input)``, of log-probabilities. With ``log_target`` the target is a logarithm, too.

    The reduction "batchmean" divides the sum by the size of the batch, which gives the Kullback-Leibler divergence.

    Names of the arguments must agree; with reduction="none" the result has them.

    >>> lamella.nn.KLDivLoss(reduction="batchmean")(lamella.zeros(1, 2), lamella.tensor([[0.5, 0.5]]))
    tensor(-0.6931)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ):
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class BCELoss(_WeightedLoss):
    """``-(target * log(input) + (1 - target) * log(1 - input))``, of probabilities.

    Names of the arguments must agree; with reduction="none" the result has them.

    >>> lamella.nn.BCELoss()(lamella.tensor([0.5]), lamella.tensor([1.0]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    """BCELoss of the sigmoid of the input, computed without overflow.

    Args:
        weight: a factor for each element
        pos_weight: a factor for the term of target 1, such as one for each class

    Names of the arguments must agree; with reduction="none" the result has them.

    >>> lamella.nn.BCEWithLogitsLoss()(lamella.tensor([0.0]), lamella.tensor([1.0]))
    tensor(0.6931)
    """

    pos_weight: Any

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ):
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class CTCLoss(_Loss):
    """Connectionist temporal classification: minus the log-likelihood of the labels, summed over all their alignments.

    It is called with log-probabilities (T, N, C), labels (N, S) or in one sequence, and the lengths of both.

    Args:
        blank: the class that separates labels in an alignment
        reduction: "none", "mean" (of the losses, each divided by the number of its labels) or "sum"
        zero_infinity: losses of labels for which there are too few steps are 0

    Names are dropped.

    >>> log_probs = lamella.full((2, 1, 2), 0.5).log()
    >>> lamella.nn.CTCLoss()(log_probs, lamella.tensor([[1]]), lamella.tensor([2]), lamella.tensor([1]))
    tensor(0.2877)
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False):
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


class LinearCrossEntropyLoss(_WeightedLoss):
    """CrossEntropyLoss of a Linear of the input.

    Args:
        out_features: further dimensions of the Linear's result, after the dimension of the classes; each place in them
            has a loss of its own
        options: LinearCrossEntropyOptions, by which torch saves memory; the loss does not depend on them

    With reduction="none" the result has the names of the first two arguments without that of classes.

    >>> loss = lamella.nn.LinearCrossEntropyLoss(3, 5)
    >>> loss(lamella.zeros(2, 3), lamella.tensor([0, 4])).detach()
    tensor(1.6094)
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: Any = None,
    ):
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(
                f"LinearCrossEntropyLoss: expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}"
            )
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(
                f"LinearCrossEntropyLoss: expected label_smoothing to be in range [0, 1], got {label_smoothing}"
            )
        super().__init__(weight, None, None, reduction)
        self.num_classes, self.out_features = num_classes, out_features
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        self.linear = Linear(in_features, math.prod(out_features, start=num_classes), bias, device, dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        shape = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape((*shape, self.linear.in_features)),
            target,
            linear_bias=None if bias is None else bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, reduction={self.reduction}, "
            f"ignore_index={self.ignore_index}, label_smoothing={self.label_smoothing}, options={self.options}"
        )
