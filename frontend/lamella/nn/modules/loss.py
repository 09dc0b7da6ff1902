"""Losses: how far a prediction is from its target, as one number unless ``reduction`` is "none".

``reduction`` is "mean", "sum" or "none"; ``size_average`` and ``reduce`` are its older spellings.
"""

from __future__ import annotations

from typing import Any

from lamella._C import Tensor
from lamella.nn import functional as F
from lamella.nn.modules.module import Module

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CrossEntropyLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "NLLLoss",
    "NLLLoss2d",
    "SmoothL1Loss",
]


def _reduction(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The one word for torch's older switches, both true where they are absent."""
    if size_average is None and reduce is None:
        return reduction
    return "none" if reduce is False else "sum" if size_average is False else "mean"


class _Loss(Module):
    reduction: str

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"):
        super().__init__()
        self.reduction = _reduction(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    weight: Any

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class L1Loss(_Loss):
    """``|input - target|``.

    >>> lamella.nn.L1Loss()(lamella.tensor([1.0, 2.0]), lamella.tensor([2.0, 4.0]))
    tensor(1.5000)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """``(input - target)²``.

    >>> lamella.nn.MSELoss()(lamella.tensor([1.0, 2.0]), lamella.tensor([2.0, 4.0]))
    tensor(2.5000)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """``|d| - beta / 2``, and ``d² / (2 beta)`` where ``|d|`` is below ``beta``.

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
    """``d² / 2`` where ``|d|`` is below ``delta``, else ``delta * (|d| - delta / 2)``.

    >>> lamella.nn.HuberLoss()(lamella.tensor([1.0, 2.0]), lamella.tensor([1.5, 4.0]))
    tensor(0.8125)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0):
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class NLLLoss(_WeightedLoss):
    """Minus the log-probability of each target class, of log-probabilities (N, C) or (N, C, ...).

    Args:
        weight: a factor for each class; a mean is divided by the sum of the factors
        ignore_index: a target that counts for nothing

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

    >>> lamella.nn.NLLLoss2d()(lamella.full((1, 2, 1, 1), -0.5), lamella.tensor([[[1]]]))
    tensor(0.5000)
    """


class CrossEntropyLoss(_WeightedLoss):
    """NLLLoss of ``log_softmax`` of the input over dimension 1; the target is classes, or a probability of each class.

    Args:
        weight: a factor for each class
        ignore_index: a target class that counts for nothing
        label_smoothing: the share of the target that is spread evenly over all classes

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
    """``target * (log(target) - input)``, of log-probabilities; with ``log_target`` the target is logarithms, too.

    The reduction "batchmean" divides the sum by the size of the batch, which makes it the divergence of Kullback and
    Leibler.

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

    >>> lamella.nn.BCELoss()(lamella.tensor([0.5]), lamella.tensor([1.0]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """BCELoss of the sigmoid of the input, computed so that nothing overflows.

    Args:
        weight: a factor for each element
        pos_weight: a factor for the part of target 1, such as one for each class

    >>> lamella.nn.BCEWithLogitsLoss()(lamella.tensor([0.0]), lamella.tensor([1.0]))
    tensor(0.6931)
    """

    weight: Any
    pos_weight: Any

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class CTCLoss(_Loss):
    """How unlikely labels are, over all their alignments with the steps of a sequence.

    Called with logarithms of probabilities (T, N, C), labels (N, S) or one behind another, and the lengths of both.

    Args:
        blank: the class that stands between labels
        reduction: "none", "mean" (of each loss by the number of its labels) or "sum"
        zero_infinity: losses of labels for which there are too few steps are 0

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
