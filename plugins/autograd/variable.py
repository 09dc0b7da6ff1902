"""Variable, an older name that programs for torch use: since tensors have gradients, a Variable is a tensor."""

from __future__ import annotations

import warnings
from typing import Any

import lamella
from lamella import Tensor


class _VariableMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableMeta):
    """``Variable(data, requires_grad)`` is a tensor over the memory of ``data``, cut off from its history.

    Every tensor is an instance of it. New programs use ``tensor(..., requires_grad=True)``.

    Raises:
        TypeError: ``data`` is no tensor

    >>> x = lamella.autograd.Variable(lamella.ones(2), requires_grad=True)
    >>> (x * 3).sum().backward()
    >>> x.grad, isinstance(lamella.ones(1), lamella.autograd.Variable)
    (tensor([3., 3.]), True)
    """

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: Any = None) -> Any:
        if volatile is not None:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.", stacklevel=2
            )
        if data is None:
            data = lamella.empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        made: Any = data.detach()
        return made.requires_grad_() if requires_grad else made
