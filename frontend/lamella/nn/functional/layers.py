"""Layers: products, norms, rows of tables."""

from __future__ import annotations

import math

from lamella.nn.functional._operators import op

__all__ = [
    "batch_norm",
    "embedding",
    "group_norm",
    "layer_norm",
    "linear",
    "normalize",
    "one_hot",
    "pad",
    "rms_norm",
]

_batch_norm, _embedding = op("batch_norm"), op("embedding")
_div = op("div")

# Operators whose signature is the function's.
linear, pad, one_hot = op("linear"), op("pad"), op("one_hot")
layer_norm, group_norm, rms_norm = op("layer_norm"), op("group_norm"), op("rms_norm")


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    """Each channel less its mean, over its standard deviation: of the batch in training, else the running ones.

    >>> F, x = lamella.nn.functional, lamella.tensor([[1.0], [3.0]])
    >>> F.batch_norm(x, lamella.tensor([2.0]), lamella.tensor([1.0]), eps=0.0)
    tensor([[-1.],
            [ 1.]])
    """
    if training and input.ndim > 1 and input.shape[0] * math.prod(input.shape[2:]) == 1:
        raise ValueError(
            "batch_norm: argument 'input': Expected more than 1 value per channel when training, got input size "
            f"{tuple(input.shape)}"
        )
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """The rows of ``weight`` that the integers of ``input`` name.

    >>> lamella.nn.functional.embedding(lamella.tensor([1, 0]), lamella.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[3., 4.],
            [1., 2.]])
    """
    if max_norm is not None or sparse:
        raise NotImplementedError("embedding: arguments 'max_norm' and 'sparse' are not here yet")
    rows = weight.shape[0]
    if padding_idx is None:
        padding_idx = -1
    elif not -rows <= padding_idx < rows:
        raise RuntimeError(f"embedding: argument 'padding_idx': {padding_idx} is out of range for {rows} rows")
    elif padding_idx < 0:
        padding_idx += rows
    return _embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


# ---- norms -----------------------------------------------------------------------------------------------------------


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """``x / max(norm, eps)``, with the norm of order ``p`` along a dimension or several.

    >>> lamella.nn.functional.normalize(lamella.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    norm = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / norm if out is None else _div(input, norm, out=out)
