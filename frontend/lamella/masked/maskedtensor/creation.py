"""Functions that make a MaskedTensor."""

from __future__ import annotations

from lamella._C import Tensor
from lamella.masked.maskedtensor.core import MaskedTensor, checked

__all__ = ["as_masked_tensor", "masked_tensor"]


def masked_tensor(data: Tensor, mask: Tensor, requires_grad: bool = False) -> MaskedTensor:
    """Makes a MaskedTensor with a copy of ``data`` and of ``mask``, without history.

    Args:
        data: the elements
        mask: bools in the shape of ``data``; True keeps an element

    Raises:
        TypeError: an argument is no tensor, or the mask is not bool
        ValueError: the shapes differ

    >>> import lamella
    >>> lamella.masked.masked_tensor(lamella.tensor([1.0, 2.0]), lamella.tensor([True, False])).sum()
    MaskedTensor(1.0000, True)
    """
    checked("masked_tensor", data, mask)
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data: Tensor, mask: Tensor) -> MaskedTensor:
    """Makes a MaskedTensor over the memory of ``data``, with its history: gradients reach ``data``.

    Raises:
        TypeError: an argument is no tensor, or the mask is not bool
        ValueError: the shapes differ

    >>> import lamella
    >>> x = lamella.ones(2, requires_grad=True)
    >>> lamella.masked.as_masked_tensor(x, lamella.tensor([True, False])).sum().backward()
    >>> x.grad
    tensor([1., 0.])
    """
    checked("as_masked_tensor", data, mask)
    return MaskedTensor._over(data, mask)
