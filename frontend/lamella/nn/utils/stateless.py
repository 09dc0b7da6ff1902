"""Calls a module with other parameters and buffers than its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from lamella._C import Tensor
from lamella.nn.modules.module import Module

__all__ = ["functional_call"]

MISSING = object()


def _owners(module: Any) -> dict[str, Any]:
    """Returns all parameters and buffers by their dotted names. Tied ones appear under each of their names."""
    named = module.named_parameters(remove_duplicate=False)
    return {**dict(named), **dict(module.named_buffers(remove_duplicate=False))}


def _with_tied(module: Any, given: Any) -> dict[str, Any]:
    """Returns the given tensors, and the same tensors under all other names that are tied to theirs."""
    groups: dict[int, list[str]] = {}
    for name, tensor in _owners(module).items():
        groups.setdefault(id(tensor), []).append(name)
    completed = dict(given)
    for names in groups.values():
        values = [given[name] for name in names if name in given]
        if values and any(value is not values[0] for value in values):
            raise ValueError(
                f"functional_call: {sorted(names)} are one tensor in the module and were given several; give one of "
                "them, or tie_weights=False"
            )
        completed.update((name, values[0]) for name in names if values)
    return completed


def _put(module: Any, name: str, value: Any) -> Any:
    """Replaces a member by a value, and returns the former value, or MISSING."""
    path, _, last = name.rpartition(".")
    owner = module.get_submodule(path)
    for place in (owner._parameters, owner._buffers):
        if last in place:
            before = place[last]
            place[last] = value
            return before
    before = getattr(owner, last, MISSING)
    if before is not MISSING and not isinstance(before, Tensor):
        raise TypeError(f"functional_call: {name!r} is a {type(before).__name__} of the module, and no tensor")
    if value is MISSING:
        if before is not MISSING:
            delattr(owner, last)
    elif isinstance(getattr(type(owner), last, None), property):  # a parametrized tensor
        raise KeyError(f"functional_call: {name!r} is computed from others; give parametrizations.{name}.original")
    else:
        setattr(owner, last, value)
    return before


@contextmanager
def _other_members(module: Any, given: Any, tie_weights: bool, strict: bool) -> Iterator[None]:
    """A block in which the module has the given tensors. Assignments that the module makes are stored in ``given``."""
    complete = _with_tied(module, given) if tie_weights else dict(given)
    if strict:
        own = _owners(module)
        faults = [f"unexpected {sorted(extra)}" for extra in [set(complete) - set(own)] if extra]
        faults += [f"missing {sorted(absent)}" for absent in [set(own) - set(complete)] if absent]
        if faults:
            raise RuntimeError(f"functional_call: for {type(module).__name__} there are {' and '.join(faults)}")
    before: dict[str, Any] = {}
    try:
        for name, tensor in complete.items():
            if not isinstance(tensor, Tensor):
                raise TypeError(f"functional_call: {name!r} must be a Tensor, got {type(tensor).__name__}")
            before[name] = _put(module, name, tensor)
        yield
    finally:
        for name, tensor in reversed(before.items()):
            now = _put(module, name, tensor)
            if name in given and now is not MISSING and isinstance(given, MutableMapping):
                given[name] = now


def _functional_call(
    module: Any, given: Any, args: Any = None, kwargs: Any = None, *, tie_weights: bool = True, strict: bool = False
) -> Any:
    if not isinstance(module, Module):
        raise TypeError(f"functional_call: argument 'module' must be a Module, got {type(module).__name__}")
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    with _other_members(module, given, tie_weights, strict):
        return module(*arguments, **(kwargs or {}))


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """``lamella.func.functional_call`` under its older name. It warns.

    >>> import warnings
    >>> layer = lamella.nn.Linear(1, 1, bias=False)
    >>> with warnings.catch_warnings(record=True):
    ...     y = lamella.nn.utils.stateless.functional_call(
    ...         layer, {"weight": lamella.full((1, 1), 3.0)}, lamella.ones(1))
    >>> y
    tensor([3.])
    """
    warnings.warn(
        "nn.utils.stateless.functional_call is the older place of lamella.func.functional_call",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
