"""Pruning: masks that make elements of a parameter zero, chosen by value, at random or by the caller.

If the parameter NAME of a module is pruned, ``NAME_orig`` is the parameter, ``NAME_mask`` a buffer, and NAME their
product, which a hook computes before each call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import lamella
import lamella.nn.utils._masks as masks
from lamella._C import Tensor
from lamella.nn.modules.module import Module
from lamella.nn.utils._pre_hooks import remove_pre_hook
from lamella.nn.utils.convert_parameters import parameters_to_vector

M = TypeVar("M", bound=Module)


def _same_shape(scores: Any, tensor: Any) -> Any:
    if scores is not None and scores.shape != tensor.shape:
        raise AssertionError(
            f"prune: argument 'importance_scores' must have the shape {tuple(tensor.shape)}, got {tuple(scores.shape)}"
        )
    return tensor if scores is None else scores


class BasePruningMethod(ABC):
    """A method of pruning, and the hook of a parameter that is pruned by it.

    A subclass has ``compute_mask(t, default_mask)``, which returns a mask of the shape of ``t``, and ``PRUNING_TYPE``:
    "unstructured", "structured" (along its ``dim``) or "global". For a tensor that is pruned already, ``t`` has,
    in the order of these types, only the elements that are left, only the slices that are left, or everything.

    >>> class FirstColumn(lamella.nn.utils.prune.BasePruningMethod):
    ...     PRUNING_TYPE = "global"
    ...     def compute_mask(self, t, default_mask):
    ...         mask = default_mask.clone()
    ...         mask[:, 0] = 0
    ...         return mask
    >>> m = lamella.nn.Linear(2, 1)
    >>> method = FirstColumn.apply(m, "weight")
    >>> m.weight_mask
    tensor([[0., 1.]])
    """

    PRUNING_TYPE: str
    _tensor_name: str | None = None

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._name(), self.apply_mask(module))

    def _name(self) -> str:
        if self._tensor_name is None:
            raise AssertionError(f"{type(self).__name__}: it prunes no parameter; use {type(self).__name__}.apply()")
        return self._tensor_name

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Returns the mask for a tensor of importances and its present mask."""

    def apply_mask(self, module: Any) -> Any:
        """Returns the parameter times the mask of the module."""
        name = self._name()
        original = getattr(module, name + "_orig")
        return getattr(module, name + "_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prunes a parameter. Returns the method, or the container of all methods that were applied to it.

        Args:
            importance_scores: used instead of the values to choose elements
            args, kwargs: arguments of the constructor
        """
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        hooks = module._forward_pre_hooks
        earlier = [k for k, h in hooks.items() if isinstance(h, BasePruningMethod) and h._tensor_name == name]
        if len(earlier) > 1:
            raise AssertionError(f"prune: {name!r} has {len(earlier)} hooks; one PruningContainer must hold them")
        again = bool(earlier)
        if again:
            before = hooks[earlier[0]]
            container = before if isinstance(before, PruningContainer) else PruningContainer(before)
            container.add_pruning_method(method)
            method = container
        original = getattr(module, name)
        scores = _same_shape(importance_scores, original)
        default = getattr(module, name + "_mask").detach().clone() if again else lamella.ones_like(original.detach())
        mask = method.compute_mask(scores.detach(), default_mask=default)
        if again:
            del hooks[earlier[0]]
        else:
            del module._parameters[name]
            module.register_parameter(name + "_orig", original)
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """Returns a tensor times the mask that this method computes for it."""
        scores = _same_shape(importance_scores, t)
        default = lamella.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=default)

    def remove(self, module: Any) -> None:
        """Makes the product an ordinary parameter, and removes the mask."""
        name = self._name()
        value = self.apply_mask(module).detach()
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        del module._buffers[name + "_mask"]
        original.data = value
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several methods for one parameter. Each prunes what the earlier ones left.

    >>> p = lamella.nn.utils.prune
    >>> m = p.random_unstructured(p.l1_unstructured(lamella.nn.Linear(4, 3), "weight", 2), "weight", 3)
    >>> int(m.weight_mask.sum())
    7
    """

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Adds a method for the same parameter."""
        if method is not None and not isinstance(method, BasePruningMethod):
            raise TypeError(f"PruningContainer: a method must be a BasePruningMethod, got {type(method).__name__}")
        if method is not None and method._tensor_name != self._tensor_name:
            raise ValueError(
                f"PruningContainer: its methods are for {self._tensor_name!r}, and this one for {method._tensor_name!r}"
            )
        self._pruning_methods += (method,)  # type: ignore[operator]

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Returns the mask after the last method has pruned what the earlier ones left."""
        method: Any = self._pruning_methods[-1]
        seen: Any
        if method.PRUNING_TYPE == "unstructured":
            seen = default_mask == 1
        elif method.PRUNING_TYPE == "structured":
            if not hasattr(method, "dim"):
                raise AttributeError(f"{type(method).__name__}: a structured method must have an attribute 'dim'")
            if not -t.dim() <= method.dim < t.dim():
                raise IndexError(
                    f"prune: argument 'dim' is {method.dim}, and the tensor has the shape {tuple(t.shape)}"
                )
            dim = method.dim % t.dim()
            kept = default_mask.sum([d for d in range(t.dim()) if d != dim]) != 0
            seen = tuple(kept if d == dim else slice(None) for d in range(t.dim()))
        elif method.PRUNING_TYPE == "global":
            seen = (slice(None),) * t.dim()
        else:
            raise ValueError(
                f"prune: PRUNING_TYPE {method.PRUNING_TYPE!r} of {type(method).__name__} is not known; it must be "
                "'unstructured', 'structured' or 'global'"
            )
        mask = default_mask.to(dtype=t.dtype, copy=True)
        part = method.compute_mask(t[seen], default_mask=default_mask[seen])
        mask[seen] = part.to(dtype=mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing: the mask is all ones.

    >>> lamella.nn.utils.prune.Identity().prune(lamella.ones(2))
    tensor([1., 1.])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Returns the mask unchanged."""
        return default_mask

    @classmethod
    def apply(cls, module: Any, name: str) -> Any:  # type: ignore[override]
        """Prunes a parameter."""
        return super().apply(module, name)


class _Amount(BasePruningMethod):
    """The base of methods with an amount: a fraction (a float) or a number (an int) of elements or slices."""

    def __init__(self, amount: Any) -> None:
        self.amount = masks.checked_amount(amount)


class RandomUnstructured(_Amount):
    """Prunes elements at random.

    >>> lamella.nn.utils.prune.RandomUnstructured(0.5).prune(lamella.ones(6)).sum()
    tensor(3.)
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Returns the mask without the elements that were drawn at random."""
        count = masks.pruned(self.amount, t.numel())
        return masks.without(default_mask, lamella.rand_like(t) if count else t, count, largest=True)

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any) -> Any:  # type: ignore[override]
        """Prunes a parameter."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Amount):
    """Prunes the elements with the smallest absolute values.

    >>> lamella.nn.utils.prune.L1Unstructured(2).prune(lamella.tensor([3.0, -1.0, 2.0]))
    tensor([3., -0., 0.])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Returns the mask without the elements with the smallest absolute values."""
        return masks.without(default_mask, t.abs(), masks.pruned(self.amount, t.numel()), largest=False)

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:  # type: ignore[override]
        """Prunes a parameter."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _Structured(_Amount):
    """The base of methods that prune slices along a dimension."""

    PRUNING_TYPE = "structured"
    dim: int

    @abstractmethod
    def _kept(self, t: Any, size: int, count: int) -> Any:
        """Returns the indices of all but ``count`` of the ``size`` slices."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Returns the mask without the slices that are pruned."""
        size = masks.channels(t, self.dim)
        count = masks.pruned(self.amount, size)
        if not count:
            return default_mask
        mask = masks.only(t, self.dim, self._kept(t, size, count))
        return mask * default_mask.to(dtype=mask.dtype)


class RandomStructured(_Structured):
    """Prunes slices along a dimension at random.

    >>> lamella.nn.utils.prune.RandomStructured(1, dim=0).prune(lamella.ones(3, 2)).sum()
    tensor(4.)
    """

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _kept(self, t: Any, size: int, count: int) -> Any:
        return lamella.randperm(size, device=t.device)[count:]

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any, dim: int = -1) -> Any:  # type: ignore[override]
        """Prunes a parameter."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Structured):
    """Prunes the slices along a dimension with the smallest norms of order ``n``.

    >>> lamella.nn.utils.prune.LnStructured(1, n=2, dim=0).prune(lamella.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[0., 0.],
            [3., 4.]])
    """

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.n = n
        self.dim = dim

    def _kept(self, t: Any, size: int, count: int) -> Any:
        return masks.slice_norms(t, self.n, self.dim).topk(size - count, largest=True).indices

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None
    ) -> Any:
        """Prunes a parameter."""
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask from the caller.

    >>> lamella.nn.utils.prune.CustomFromMask(lamella.tensor([0, 1])).prune(lamella.ones(2))
    tensor([0., 1.])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Returns the product of both masks."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"prune: argument 'mask' must have the shape {tuple(default_mask.shape)}, got {tuple(self.mask.shape)}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Any, name: str, mask: Any) -> Any:  # type: ignore[override]
        """Prunes a parameter."""
        return super().apply(module, name, mask=mask)


def identity(module: M, name: str) -> M:
    """Gives a parameter a mask of ones; returns the module.

    >>> lamella.nn.utils.prune.identity(lamella.nn.Linear(2, 1), "bias").bias_mask
    tensor([1.])
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: M, name: str, amount: Any) -> M:
    """Prunes elements of a parameter at random: a fraction (a float) or a number (an int); returns the module.

    >>> lamella.nn.utils.prune.random_unstructured(lamella.nn.Linear(2, 3), "weight", 2).weight_mask.sum()
    tensor(4.)
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: M, name: str, amount: Any, importance_scores: Any = None) -> M:
    """Prunes the elements of a parameter with the smallest absolute values, or scores; returns the module.

    >>> m = lamella.nn.utils.prune.l1_unstructured(lamella.nn.Linear(2, 3), "weight", 0.5)
    >>> sorted(m.state_dict())
    ['bias', 'weight_mask', 'weight_orig']
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: M, name: str, amount: Any, dim: int) -> M:
    """Prunes slices of a parameter along a dimension at random; returns the module.

    >>> m = lamella.nn.utils.prune.random_structured(lamella.nn.Linear(2, 3), "weight", 2, dim=0)
    >>> m.weight_mask.sum()
    tensor(2.)
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: M, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None) -> M:
    """Prunes the slices of a parameter along a dimension with the smallest norms of order ``n``; returns the module.

    >>> m = lamella.nn.utils.prune.ln_structured(lamella.nn.Linear(2, 3), "weight", 1, n=2, dim=1)
    >>> m.weight_mask.sum()
    tensor(3.)
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: M, name: str, mask: Any) -> M:
    """Prunes a parameter by a mask; returns the module.

    >>> m = lamella.nn.Linear(2, 1)
    >>> lamella.nn.utils.prune.custom_from_mask(m, "weight", lamella.tensor([[0, 1]])).weight_mask
    tensor([[0., 1.]])
    """
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any) -> None:
    """Prunes elements of several parameters together, as if they were one vector.

    Args:
        parameters: pairs of a module and the name of a parameter
        pruning_method: a class of unstructured methods
        importance_scores: a dict from such pairs to tensors, used instead of the values to choose elements
        kwargs: arguments of the method, such as ``amount``

    >>> p, m = lamella.nn.utils.prune, lamella.nn.Linear(2, 3)
    >>> p.global_unstructured([(m, "weight"), (m, "bias")], p.L1Unstructured, amount=4)
    >>> (m.weight_mask.sum() + m.bias_mask.sum()).item()
    5.0
    """
    if not isinstance(parameters, Iterable):
        raise TypeError(f"global_unstructured: argument 'parameters' must be pairs, got {type(parameters).__name__}")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError(
            f"global_unstructured: argument 'importance_scores' must be a dict, got {type(scores).__name__}"
        )
    pairs: list[Any] = list(parameters)
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f"global_unstructured: argument 'pruning_method' must be an unstructured one, {type(method).__name__} is "
            f"{method.PRUNING_TYPE}"
        )
    seen = parameters_to_vector([scores.get((m, n), getattr(m, n)).detach() for m, n in pairs])
    before = parameters_to_vector([_mask(m, n) for m, n in pairs])
    container = PruningContainer()
    container._tensor_name = method._tensor_name = "together"
    container.add_pruning_method(method)
    mask = container.compute_mask(seen, before)
    start = 0
    for module, name in pairs:
        param: Tensor = getattr(module, name)
        end = start + param.numel()
        custom_from_mask(module, name, mask[start:end].view_as(param))
        start = end


def _mask(module: Any, name: str) -> Any:
    found = getattr(module, name + "_mask", None)
    return lamella.ones_like(getattr(module, name).detach()) if found is None else found


def remove(module: M, name: str) -> M:
    """Makes a pruned parameter an ordinary one, with zeros where it is pruned; returns the module.

    >>> p = lamella.nn.utils.prune
    >>> m = p.remove(p.identity(lamella.nn.Linear(2, 1), "weight"), "weight")
    >>> sorted(m.state_dict())
    ['bias', 'weight']
    """
    if not remove_pre_hook(module, lambda hook: isinstance(hook, BasePruningMethod) and hook._tensor_name == name):
        raise ValueError(f"prune.remove: {name!r} of {type(module).__name__} is not pruned")
    return module


def is_pruned(module: Module) -> bool:
    """Returns whether a parameter of the module, or of a module below it, is pruned.

    >>> lamella.nn.utils.prune.is_pruned(lamella.nn.Linear(1, 1))
    False
    """
    return any(
        isinstance(hook, BasePruningMethod) for part in module.modules() for hook in part._forward_pre_hooks.values()
    )
