"""Connectionist temporal classification."""

from __future__ import annotations

from lamella.nn.functional._operators import op

__all__ = ["ctc_loss"]

_ctc_loss = op("ctc_loss")
_REDUCTIONS = ("none", "mean", "sum")


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """Connectionist temporal classification: minus the log-likelihood of the labels, summed over all their alignments.

    After Graves et al. (2006). The derivative is that with respect to ``log_probs`` as given. torch's derivative
    assumes that they come from ``log_softmax``; through a ``log_softmax`` both give the same.

    Args:
        log_probs: logarithms of probabilities (T, N, C), or (T, C) of one sequence, in float32 or float64
        targets: labels (N, S), or those of all sequences one after another
        input_lengths, target_lengths: how many steps and labels each sequence has: tensors or lists
        blank: the class that separates labels in an alignment
        reduction: "none", "mean" (of the losses, each divided by the number of its labels) or "sum"
        zero_infinity: losses of labels for which there are too few steps are 0, and have no gradient

    Raises:
        RuntimeError: lengths or shapes do not go together
        ValueError: ``reduction`` is unknown

    >>> log_probs = lamella.full((2, 1, 2), 0.5).log()
    >>> lamella.nn.functional.ctc_loss(log_probs, lamella.tensor([[1]]), (2,), (1,))
    tensor(0.2877)
    """
    if reduction not in _REDUCTIONS:
        raise ValueError(
            f"ctc_loss: argument 'reduction': {reduction} is not a valid value for reduction; "
            "expected 'none', 'mean' or 'sum'"
        )
    number = _REDUCTIONS.index(reduction)
    lengths = [n.tolist() if hasattr(n, "tolist") else n for n in (input_lengths, target_lengths)]
    lengths = [[n] if isinstance(n, int) else n for n in lengths]
    return _ctc_loss(log_probs, targets, *lengths, blank, number, zero_infinity)
