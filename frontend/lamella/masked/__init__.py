"""Reductions, running sums and softmaxes of those elements of a tensor that a mask keeps; tensors with a mask.

>>> import lamella
>>> x = lamella.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
>>> lamella.masked.mean(x, 1, mask=x > 1)
tensor([2.5000, 5.0000])
"""

from lamella.masked._ops import (
    amax,
    amin,
    argmax,
    argmin,
    cumprod,
    cumsum,
    log_softmax,
    logaddexp,
    logsumexp,
    mean,
    median,
    norm,
    normalize,
    prod,
    softmax,
    softmin,
    std,
    sum,
    var,
)
from lamella.masked.maskedtensor.core import MaskedTensor, is_masked_tensor
from lamella.masked.maskedtensor.creation import as_masked_tensor, masked_tensor

__all__ = [
    "MaskedTensor",
    "amax",
    "amin",
    "argmax",
    "argmin",
    "as_masked_tensor",
    "cumprod",
    "cumsum",
    "is_masked_tensor",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "masked_tensor",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]
