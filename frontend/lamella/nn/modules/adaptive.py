"""A softmax over many classes that is cheaper for frequent classes, and its loss."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import lamella.nn.functional as F
from lamella import _C
from lamella._C import Tensor
from lamella.nn.modules.container import ModuleList, Sequential
from lamella.nn.modules.linear import Linear
from lamella.nn.modules.module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log-probability of each target class, and the mean of their negatives. After Grave et al. (2017).

    Classes are numbered from the most frequent one on. The head, one Linear, scores the first classes and each cluster
    of later ones. A cluster scores its classes by two Linears, with fewer features in between, and only for the rows
    that belong to it.

    Args:
        cutoffs: the first class of each cluster, in ascending order
        div_value: the factor by which each cluster has fewer features than the one before
        head_bias: whether the head has a bias

    Names of the arguments must agree; the log-probabilities have that of the batch.

    >>> m = lamella.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10])
    >>> output, loss = m(lamella.zeros(3, 8), lamella.tensor([0, 7, 19]))
    >>> output.shape, loss.shape, m.log_prob(lamella.zeros(3, 8)).shape
    (lamella.Size([3]), lamella.Size([]), lamella.Size([3, 20]))
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError(f"{type(self).__name__}: cutoffs should be a sequence of length larger than 0")
        ascending = all(a < b for a, b in pairwise([0, *cutoffs, n_classes]))
        if not ascending or any(int(c) != c for c in cutoffs):
            raise ValueError(
                f"{type(self).__name__}: cutoffs should be ascending integers from 1 to n_classes - 1, got {cutoffs} "
                f"for {n_classes} classes"
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = cutoffs[0]
        self.n_clusters = len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        at = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **at)
        self.tail = ModuleList()
        for i, (first, end) in enumerate(pairwise(self.cutoffs)):
            size = int(in_features // (div_value ** (i + 1)))
            self.tail.append(
                Sequential(Linear(in_features, size, bias=False, **at), Linear(size, end - first, bias=False, **at))
            )

    def reset_parameters(self) -> None:
        """Draws new values."""
        for linear in (self.head, *(part for cluster in self.tail for part in cluster)):
            linear.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> Any:
        """Returns a named tuple of ``output``, a log-probability for each row, and ``loss``.

        Raises:
            RuntimeError: a target is not a class, or the shapes do not fit each other
        """
        if target_.ndim > 1:
            raise RuntimeError(
                f"0D or 1D target tensor expected, multi-target not supported; got shape {tuple(target_.shape)}"
            )
        if input_.ndim != target_.ndim + 1:
            raise RuntimeError(
                f"{target_.ndim}D target tensor expects {target_.ndim + 1}D input tensors, "
                f"but found inputs with size {tuple(input_.shape)}"
            )
        if target_.ndim == 1 and input_.shape[0] != target_.shape[0]:
            raise RuntimeError(
                "Input and target should have the same size in the batch dimension. "
                f"Got {input_.shape[0]} and {target_.shape[0]}."
            )
        if target_.ndim == 0:
            output, loss = self.forward(input_.unsqueeze(0), target_.unsqueeze(0))
            return _ASMoutput(output.squeeze(0), loss)
        outside = (target_ < 0) | (target_ >= self.n_classes)
        if bool(outside.any()):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], "
                f"but values in range [{target_.min().item()}, {target_.max().item()}] were found."
            )
        head = F.log_softmax(self.head(input_), dim=1)
        places = target_.clone()  # each row's class or cluster in the head
        within = _C._packet("aten::zeros")((len(target_),), dtype=head.dtype, device=head.device)
        for i, (first, end) in enumerate(pairwise(self.cutoffs)):
            rows = ((target_ >= first) & (target_ < end)).nonzero().squeeze(1)
            if rows.numel():
                places.index_fill_(0, rows, self.shortlist_size + i)
                scores = F.log_softmax(self.tail[i](input_.index_select(0, rows)), dim=1)
                chosen = scores.gather(1, (target_.index_select(0, rows) - first).unsqueeze(1))
                within = within.index_copy(0, rows, chosen.squeeze(1))
        output = within + head.gather(1, places.unsqueeze(1)).squeeze(1)
        return _ASMoutput(output, (-output).mean())

    def _of_all(self, input: Tensor, head: Tensor) -> Tensor:
        logs = F.log_softmax(head, dim=1)
        parts = [logs[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            parts.append(F.log_softmax(cluster(input), dim=1) + logs[:, self.shortlist_size + i].unsqueeze(1))
        return _C._packet("aten::cat")(parts, 1)

    def log_prob(self, input: Tensor) -> Tensor:
        """Returns the log-probabilities of all classes, (N, n_classes)."""
        return self._of_all(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """Returns the most probable class of each row. The clusters are computed only for the rows for which the head
        gives some cluster the highest score."""
        head = self.head(input)
        found = head.argmax(dim=1)
        rows = (found >= self.shortlist_size).nonzero().squeeze(1)
        if rows.numel() == 0:
            return found
        among = self._of_all(input.index_select(0, rows), head.index_select(0, rows)).argmax(dim=1)
        return found.index_copy(0, rows, among)
