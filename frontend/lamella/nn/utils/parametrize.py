"""Parametrizations: a parameter of a module is computed by other modules from original tensors, which are trained."""

from __future__ import annotations

import copyreg
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, TypeVar

from lamella._C import Tensor
from lamella._history import no_history
from lamella.nn.modules.container import ModuleDict, ModuleList
from lamella.nn.modules.module import Module
from lamella.nn.parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

M = TypeVar("M", bound=Module)
MARK = "_lamella_parametrized"  # an attribute of the class that a parametrized module gets

_depth = 0  # the number of open blocks of cached()
_cache: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Iterator[None]:
    """A block in which each parametrized tensor is computed only once, when it is first read.

    >>> import lamella.nn.utils.parametrize as P
    >>> class Counted(lamella.nn.Module):
    ...     def forward(self, x):
    ...         print("computed")
    ...         return x + 1
    >>> m = P.register_parametrization(lamella.nn.Linear(1, 1), "weight", Counted())
    computed
    >>> with P.cached():
    ...     m.weight is m.weight
    computed
    True
    """
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth:
            _cache.clear()


def _needs_grad(tensor: Any) -> bool:
    return getattr(tensor, "requires_grad", False)


def _own(module: Any, name: str, tensor: Any) -> None:
    """Registers a tensor as a parameter or as a buffer, according to its class."""
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _same(what: str, got: Any, kind: str, expected: Any) -> None:
    if got != expected:
        raise ValueError(f"{what} has the {kind} {got}, and must have {expected}, the tensor's, unless unsafe=True")


def _consistent(what: str, made: Any, dtype: Any, shape: Any) -> None:
    """Raises an error unless the result of a parametrization is a tensor of the given dtype and shape."""
    if not isinstance(made, Tensor):
        raise ValueError(f"{what} must return a Tensor, got {type(made).__name__}")
    _same(f"what {what} returned", made.dtype, "dtype", dtype)
    _same(f"what {what} returned", made.shape, "shape", shape)


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor in their order, and ``original``, from which they compute it.

    If ``right_inverse`` of the first one returns several tensors, these are ``original0``, ``original1`` and so on.
    ``register_parametrization`` creates the list.

    Raises:
        ValueError: there is no module; ``right_inverse`` did not return tensors, or returned one of another dtype or
        device; or without ``unsafe`` the result has another dtype or shape

    >>> import lamella.nn.utils.parametrize as P
    >>> m = P.register_parametrization(lamella.nn.Linear(2, 2), "weight", lamella.nn.Identity())
    >>> m.parametrizations.weight
    ParametrizationList(
      (0): Identity()
    )
    """

    original: Any
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList: argument 'modules' is empty; there must be one at least")
        super().__init__(modules)
        self.unsafe = unsafe
        dtype, shape = original.dtype, original.shape
        new: Any = original
        with no_history():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        pass
        self.is_tensor = isinstance(new, Tensor)
        if self.is_tensor:
            self.ntensors = 1
            for kind in ("dtype", "device"):
                if getattr(new, kind) != getattr(original, kind):
                    raise ValueError(
                        f"right_inverse: it must keep the {kind} {getattr(original, kind)}, got {getattr(new, kind)}"
                    )
            if new is not original:
                original.data = new.detach()  # type: ignore[attr-defined]
            _own(self, "original", original)
        else:
            self.ntensors = len(self._several(new))
            for i, part in enumerate(new):
                made: Any = Parameter(part, _needs_grad(original)) if isinstance(original, Parameter) else part
                if _needs_grad(made) != _needs_grad(original):
                    made.requires_grad_(_needs_grad(original))
                _own(self, f"original{i}", made)
        if not unsafe:
            _consistent("the parametrization", self(), dtype, shape)

    @staticmethod
    def _several(new: Any) -> Any:
        if not isinstance(new, Sequence) or not all(isinstance(part, Tensor) for part in new):
            raise ValueError(
                f"right_inverse: it must return a Tensor or a sequence of tensors, got {type(new).__name__}"
                + (f" with {[type(part).__name__ for part in new]}" if isinstance(new, Sequence) else "")
            )
        return new

    def right_inverse(self, value: Tensor) -> None:
        """Sets the originals so that the tensor has a value, by each ``right_inverse`` in reverse order.

        Raises:
            RuntimeError: a parametrization has no ``right_inverse``
            ValueError: it returned tensors that do not match the originals

        >>> import lamella.nn.utils.parametrize as P
        >>> class Doubled(lamella.nn.Module):
        ...     def forward(self, x):
        ...         return 2 * x
        ...     def right_inverse(self, x):
        ...         return x / 2
        >>> m = P.register_parametrization(lamella.nn.Linear(1, 1), "weight", Doubled())
        >>> m.weight = lamella.full((1, 1), 6.0)
        >>> m.parametrizations.weight.original.tolist()
        [[3.0]]
        """
        new: Any = value
        with no_history():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} has no right_inverse, so that the tensor that it "
                        "computes cannot be assigned to"
                    )
                new = module.right_inverse(new)
            if self.is_tensor:
                if not isinstance(new, Tensor):
                    raise ValueError(f"right_inverse: it must return a Tensor, got {type(new).__name__}")
                parts = [("original", new)]
            else:
                if len(self._several(new)) != self.ntensors:
                    raise ValueError(f"right_inverse: it must return {self.ntensors} tensors, got {len(new)}")
                parts = [(f"original{i}", part) for i, part in enumerate(new)]
            for name, part in parts:
                kept = getattr(self, name)
                if part.dtype != kept.dtype:
                    raise ValueError(f"right_inverse: {name} has the dtype {kept.dtype}, and {part.dtype} was returned")
                kept.data = part.detach()

    def forward(self) -> Any:
        """Computes the tensor from the originals.

        >>> import lamella.nn.utils.parametrize as P
        >>> m = P.register_parametrization(lamella.nn.Linear(1, 1), "weight", lamella.nn.ReLU())
        >>> bool((m.parametrizations.weight() >= 0).all())
        True
        """
        first, *rest = self
        names = ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]
        value = first(*(getattr(self, name) for name in names))
        for module in rest:
            value = module(value)
        return value


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    if (known := memo.get(id(self))) is not None:
        return known
    replica = memo[id(self)] = self.__new__(type(self))
    replica.__dict__.update(deepcopy(self.__dict__, memo))
    for slot in copyreg._slotnames(type(self)):  # type: ignore[attr-defined]
        if hasattr(self, slot):
            setattr(replica, slot, deepcopy(getattr(self, slot), memo))
    return replica


def _getstate(self: Any) -> Any:
    raise RuntimeError(
        f"{type(self).__name__}: a parametrized module cannot be pickled, since its class was made for it; save its "
        "state_dict()"
    )


def _own_class(module: Any) -> None:
    """Gives the module a subclass of its class, to which the properties are added."""
    cls = type(module)
    members: dict[str, Any] = {MARK: True, "__getstate__": _getstate, "__module__": cls.__module__}
    if not hasattr(cls, "__deepcopy__"):
        members["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), members)


def _property(name: str) -> property:
    def read(self: Any) -> Any:
        compute = self.parametrizations[name]
        if not _depth:
            return compute()
        key = id(self), name
        if key not in _cache:
            _cache[key] = compute()
        return _cache[key]

    def write(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(read, write)


def register_parametrization(module: M, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> M:
    """Replaces ``module.NAME`` by ``parametrization(original)``, computed at each access; returns the module.

    Args:
        tensor_name: the name of a parameter or a buffer; a second parametrization of it is applied after the first
        parametrization: its ``right_inverse``, if it has one, computes the original for the present value, and for
        values assigned later. It may return several tensors, which ``forward`` then takes
        unsafe: allows the result to have another dtype or shape, without a check

    An optimizer updates ``module.parametrizations.NAME.original``.

    Raises:
        ValueError: the module has no such tensor, or the results are not consistent (see ``ParametrizationList``)

    >>> import lamella.nn.utils.parametrize as P
    >>> class Symmetric(lamella.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).mT
    >>> m = P.register_parametrization(lamella.nn.Linear(3, 3), "weight", Symmetric())
    >>> lamella.equal(m.weight, m.weight.mT)
    True
    >>> list(m.state_dict())
    ['bias', 'parametrizations.weight.original']
    """
    parametrization.train(module.training)
    kept: Any = module
    if is_parametrized(module, tensor_name):
        if not unsafe:
            before = getattr(module, tensor_name)
            made = parametrization(before)
            _consistent("the parametrization", made, before.dtype, before.shape)
            if hasattr(parametrization, "right_inverse"):
                try:
                    back = parametrization.right_inverse(made)
                except NotImplementedError:
                    pass
                else:
                    _consistent("right_inverse", back, before.dtype, before.shape)
        kept.parametrizations[tensor_name].append(parametrization)
        kept.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._parameters or tensor_name in module._buffers:
        listed = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _own_class(module)
            kept.parametrizations = ModuleDict()
        setattr(type(module), tensor_name, _property(tensor_name))
        kept.parametrizations[tensor_name] = listed
    else:
        raise ValueError(
            f"register_parametrization: {type(module).__name__} has no parameter, buffer or parametrized tensor "
            f"{tensor_name!r}"
        )
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Returns whether a tensor of the module has a parametrization; without a name, whether any has.

    >>> lamella.nn.utils.parametrize.is_parametrized(lamella.nn.Linear(1, 1), "weight")
    False
    """
    listed = getattr(module, "parametrizations", None)
    if not isinstance(listed, ModuleDict):
        return False
    return len(listed) > 0 if tensor_name is None else tensor_name in listed


def remove_parametrizations(module: M, tensor_name: str, leave_parametrized: bool = True) -> M:
    """Makes a parametrized tensor an ordinary parameter or buffer again; returns the module.

    Args:
        leave_parametrized: the tensor keeps its present value; otherwise it gets that of ``original``

    Raises:
        ValueError: the tensor is not parametrized, or it has several originals and ``leave_parametrized`` is false

    >>> import lamella.nn.utils.parametrize as P
    >>> m = P.register_parametrization(lamella.nn.Linear(1, 1), "weight", lamella.nn.ReLU())
    >>> P.remove_parametrizations(m, "weight")
    Linear(in_features=1, out_features=1, bias=True)
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"remove_parametrizations: {tensor_name!r} of {type(module).__name__} is not parametrized")
    kept: Any = module
    listed = kept.parametrizations[tensor_name]
    if listed.is_tensor:
        original = listed.original
        if leave_parametrized:
            with no_history():
                value = getattr(module, tensor_name)
            if type(original) not in (Tensor, Parameter) and value.dtype != original.dtype:
                raise RuntimeError("remove_parametrizations: the class of the original cannot take another dtype")
            original.data = value.detach().clone() if value is original else value.detach()
    elif leave_parametrized:
        value = getattr(module, tensor_name).detach()
        needs = any(_needs_grad(getattr(listed, f"original{i}")) for i in range(listed.ntensors))
        several = any(isinstance(p, Parameter) for p in listed.parameters(recurse=False))
        original = Parameter(value, needs) if several else value
    else:
        raise ValueError(
            f"remove_parametrizations: {tensor_name!r} has {listed.ntensors} originals, none of which stands for it; "
            "use leave_parametrized=True"
        )
    delattr(type(module), tensor_name)
    del kept.parametrizations[tensor_name]
    _own(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """Returns the class that the module had before it was parametrized.

    >>> import lamella.nn.utils.parametrize as P
    >>> m = P.register_parametrization(lamella.nn.Linear(1, 1), "weight", lamella.nn.ReLU())
    >>> type(m).__name__, P.type_before_parametrizations(m).__name__
    ('ParametrizedLinear', 'Linear')
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Gives ``to_module`` the parametrizations of ``from_module`` and their originals; returns it.

    Args:
        tensor_name: the tensor that is transferred; by default all

    >>> import lamella.nn.utils.parametrize as P
    >>> m = P.register_parametrization(lamella.nn.Linear(1, 1), "weight", lamella.nn.ReLU())
    >>> other = P.transfer_parametrizations_and_params(m, lamella.nn.Linear(1, 1))
    >>> lamella.equal(other.weight, m.weight)
    True
    """
    if not is_parametrized(from_module):
        return to_module
    source: Any = from_module
    target: Any = to_module
    names = list(source.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        if not is_parametrized(from_module, name):
            raise ValueError(f"transfer_parametrizations_and_params: {name!r} of the first module is not parametrized")
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        for parametrization in source.parametrizations[name]:
            register_parametrization(to_module, name, parametrization, unsafe=True)
        theirs, ours = source.parametrizations[name], target.parametrizations[name]
        for key in [f"original{i}" for i in range(theirs.ntensors)] if not theirs.is_tensor else ["original"]:
            setattr(ours, key, getattr(theirs, key))
    return to_module
