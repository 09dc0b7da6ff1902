"""Normalization over a batch, over each sample, and over neighbouring channels."""

from __future__ import annotations

import math

from lamella.nn.functional._operators import op

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "normalize",
    "rms_norm",
]

_batch_norm, _instance_norm, _div = op("batch_norm"), op("instance_norm"), op("div")
_avg_pool2d, _pad = op("avg_pool2d"), op("constant_pad_nd")

# Functions of this module that are the operators themselves, whose arguments are those of torch's functions.
layer_norm, group_norm, rms_norm = op("layer_norm"), op("group_norm"), op("rms_norm")


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    """Each channel minus its mean, divided by its standard deviation: those of the batch in training, else the running
    ones. In training, the running ones, if given, move by ``momentum`` towards those of the batch.

    >>> F, x = lamella.nn.functional, lamella.tensor([[1.0], [3.0]])
    >>> F.batch_norm(x, lamella.tensor([2.0]), lamella.tensor([1.0]), eps=0.0)
    tensor([[-1.],
            [ 1.]])
    """
    if not (eps > 0 if training else eps >= 0):
        bound = "positive in training" if training else "at least 0"
        raise ValueError(f"batch_norm: argument 'eps': must be {bound}, got {eps}")
    if training and input.ndim > 1 and input.shape[0] * math.prod(input.shape[2:]) == 1:
        raise ValueError(
            "batch_norm: argument 'input': Expected more than 1 value per channel when training, got input size "
            f"{tuple(input.shape)}"
        )
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


def instance_norm(
    input,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    use_input_stats=True,
    momentum=0.1,
    eps=1e-05,
):
    """Each channel of each sample minus its mean, divided by its standard deviation.

    With ``use_input_stats`` these are the sample's, and the running ones, if given, move by ``momentum`` towards the
    means over the samples; without it they are the running ones. After Ulyanov et al. (2016).

    >>> lamella.nn.functional.instance_norm(lamella.tensor([[[1.0, 3.0]]]), eps=0.0)
    tensor([[[-1.,  1.]]])
    """
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(
            "instance_norm: argument 'input': Expected more than 1 spatial element when training, got input size "
            f"{tuple(input.shape)}"
        )
    return _instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """``x / (k + alpha * m) ** beta``, with the mean m of the squares of ``size`` neighbouring channels, dimension 1.

    Channels outside of the range count as 0. After Krizhevsky et al. (2012).

    >>> lamella.nn.functional.local_response_norm(lamella.ones(1, 3, 1), 3, alpha=3.0, beta=1.0).flatten()
    tensor([0.3333, 0.2500, 0.3333])
    """
    if input.ndim < 3:
        raise ValueError(
            f"local_response_norm: argument 'input': Expected 3D or higher dimensionality input (got {input.ndim} "
            f"dimensions), (N, C, ...)"
        )
    if size < 1:
        raise RuntimeError(f"local_response_norm: argument 'size' should be greater than zero, but got {size}")
    if input.numel() == 0:
        return input
    squares = input.square().reshape(input.shape[0], 1, input.shape[1], -1)
    around = _pad(squares, (0, 0, size // 2, (size - 1) // 2))
    mean = _avg_pool2d(around, (size, 1), 1).reshape(input.shape)
    return input / (mean * alpha + k) ** beta


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """``x / max(norm, eps)``, with the norm of order ``p`` along a dimension or several.

    >>> lamella.nn.functional.normalize(lamella.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    norm = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / norm if out is None else _div(input, norm, out=out)
