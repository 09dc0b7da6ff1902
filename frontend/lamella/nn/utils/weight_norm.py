"""Weight normalization by a hook: a weight as a norm and a direction (Salimans and Kingma, arXiv:1602.07868)."""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

from lamella._C import Tensor
from lamella.nn.modules.module import Module
from lamella.nn.parameter import Parameter, is_lazy
from lamella.nn.utils._pre_hooks import remove_pre_hook

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]

M = TypeVar("M", bound=Module)


def norm_except_dim(v: Tensor, dim: int) -> Any:
    """Returns the 2-norms over all dimensions but ``dim``, which keeps its size; with ``dim=-1`` the norm of all
    elements."""
    if dim == -1:
        return v.norm(2.0)
    others = [d for d in range(v.dim()) if d != dim]
    return v.norm(2.0, others, keepdim=True) if others else v.abs()


def normalized(v: Tensor, g: Tensor, dim: int) -> Any:
    """Returns ``v`` scaled to the norm ``g`` for each index of a dimension."""
    return v * (g / norm_except_dim(v, dim))


class WeightNorm:
    """The hook of ``weight_norm``: it computes the weight before each call."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Any:
        """Returns the weight for the norm and the direction in the module."""
        return normalized(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    @staticmethod
    def apply(module: Any, name: str, dim: int | None) -> WeightNorm:
        """Adds a hook to a module; raises a RuntimeError if the parameter has one already."""
        warnings.warn(
            "nn.utils.weight_norm is deprecated in favour of nn.utils.parametrizations.weight_norm",
            FutureWarning,
            stacklevel=3,
        )
        if any(isinstance(h, WeightNorm) and h.name == name for h in module._forward_pre_hooks.values()):
            raise RuntimeError(f"weight_norm: parameter {name!r} has a weight norm already")
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        if is_lazy(weight):
            raise ValueError(f"weight_norm: parameter {name!r} has no shape yet; call the lazy module once before")
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(norm_except_dim(weight.detach(), hook.dim)))
        module.register_parameter(name + "_v", Parameter(weight.detach()))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Any) -> None:
        """Makes the weight an ordinary parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: M, name: str = "weight", dim: int = 0) -> M:
    """Splits a parameter into its norm, ``NAME_g``, and its direction, ``NAME_v``; returns the module.

    Args:
        dim: the dimension that keeps its size: each of its indices has a norm; None for one norm of all elements

    It is deprecated in torch; ``parametrizations.weight_norm`` does the same without a hook.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> m = lamella.nn.utils.weight_norm(lamella.nn.Linear(4, 3))
    >>> m.weight_g.shape, m.weight_v.shape
    (lamella.Size([3, 1]), lamella.Size([3, 4]))
    """
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Makes the parameter an ordinary one again, with its present value; returns the module.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> m = lamella.nn.utils.weight_norm(lamella.nn.Linear(4, 3))
    >>> [n for n, _ in lamella.nn.utils.remove_weight_norm(m).named_parameters()]
    ['bias', 'weight']
    """
    if not remove_pre_hook(module, lambda hook: isinstance(hook, WeightNorm) and hook.name == name):
        raise ValueError(f"remove_weight_norm: {name!r} of {type(module).__name__} has no weight norm")
    return module
