"""Margin losses: most are 0 once a score is on the right side by at least the margin; soft ones only approach 0."""

from __future__ import annotations

from collections.abc import Callable

import lamella.nn.functional as F
from lamella._C import Tensor
from lamella.nn.modules._losses import _Loss, _WeightedLoss
from lamella.nn.modules.distance import PairwiseDistance


class _MarginLoss(_Loss):
    """A loss whose only parameter is its margin."""

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class HingeEmbeddingLoss(_MarginLoss):
    """The input where the target is 1, ``max(0, margin - input)`` where it is -1.

    Names of the arguments must agree; with reduction="none" the result has them.

    >>> lamella.nn.HingeEmbeddingLoss()(lamella.tensor([0.5, 0.25]), lamella.tensor([1, -1]))
    tensor(0.6250)
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ):
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_MarginLoss):
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1, for the cosine cos of both inputs.

    With reduction="none" the result has the names of the first two arguments without the last one.

    >>> lamella.nn.CosineEmbeddingLoss()(lamella.ones(1, 2), lamella.ones(1, 2), lamella.tensor([-1]))
    tensor(1.)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(_MarginLoss):
    """``max(0, -target * (input1 - input2) + margin)``, of targets 1 and -1.

    Names of the arguments must agree; with reduction="none" the result has them.

    >>> lamella.nn.MarginRankingLoss()(lamella.tensor([3.0]), lamella.tensor([1.0]), lamella.tensor([-1.0]))
    tensor(2.)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """The sum of ``max(0, 1 - input[t] + input[i])`` over targets t and other classes i, divided by the
    number of all classes.

    A row of the target lists classes up to the first -1.

    With reduction="none" the result has the names of the first two arguments without that of classes.

    >>> lamella.nn.MultiLabelMarginLoss()(lamella.tensor([1.0, 0.5]), lamella.tensor([0, -1]))
    tensor(0.2500)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """``log(1 + exp(-target * input))``, of targets 1 and -1.

    Names of the arguments must agree; with reduction="none" the result has them.

    >>> lamella.nn.SoftMarginLoss()(lamella.tensor([0.0]), lamella.tensor([1.0]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over classes of the binary cross entropy of the sigmoid of the scores.

    With reduction="none" the result has the names of the first two arguments without that of classes.

    >>> lamella.nn.MultiLabelSoftMarginLoss()(lamella.zeros(1, 2), lamella.tensor([[1.0, 0.0]]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """The sum of ``max(0, margin - input[target] + input[i]) ** p`` over classes i other than the target, divided by
    the number of all classes.

    Args:
        p: 1 or 2
        weight: a factor for each target class

    With reduction="none" the result has the names of the first two arguments without that of classes.

    >>> lamella.nn.MultiMarginLoss()(lamella.tensor([[1.0, 0.5]]), lamella.tensor([0]))
    tensor(0.2500)
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ):
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError(f"MultiMarginLoss: only p == 1 and p == 2 supported, got {p}")
        if weight is not None and weight.ndim != 1:
            raise ValueError(f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.ndim}D instead")
        self.p, self.margin = p, margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(
            input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


def _positive(who: str, margin: float) -> float:
    if margin <= 0:
        raise ValueError(f"{who}: expected margin to be greater than 0, got {margin} instead")
    return margin


class TripletMarginLoss(_Loss):
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)``, with F.pairwise_distance d.

    With ``swap``, d(positive, negative) replaces d(anchor, negative) where it is smaller. After Balntas et al. (2016).

    With reduction="none" the result has the names of the first two arguments without the last one.

    >>> lamella.nn.TripletMarginLoss(4.0)(lamella.tensor([[0.0]]), lamella.tensor([[2.0]]), lamella.tensor([[5.0]]))
    tensor(1.)
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ):
        super().__init__(size_average, reduce, reduction)
        self.margin, self.p, self.eps, self.swap = _positive("TripletMarginLoss", margin), p, eps, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """TripletMarginLoss with the caller's distance, a function or module of two tensors.

    With reduction="none" the result has the names of the first two arguments without the last one.

    >>> loss = lamella.nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(-1))
    >>> loss(lamella.tensor([[0.0]]), lamella.tensor([[2.0]]), lamella.tensor([[2.5]]))
    tensor(0.5000)
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ):
        super().__init__(reduction=reduction)
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin, self.swap = _positive("TripletMarginWithDistanceLoss", margin), swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
