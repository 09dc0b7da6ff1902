"""Modules as functions of their parameters: calls with other tensors, and the stacked parameters of several models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lamella
from lamella import Tensor
from lamella.nn.modules.module import Module
from lamella.nn.utils.stateless import _functional_call

__all__ = ["functional_call", "replace_all_batch_norm_modules_", "stack_module_state"]


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Calls a module with other tensors in the place of its parameters and buffers, and restores these afterwards.

    Args:
        parameter_and_buffer_dicts: tensors by their dotted names; or several such dicts
        args: a tuple of arguments, or a single argument of another type
        tie_weights: if a tensor of the module has several names, a value for one of them replaces it under all
        strict: all parameters and buffers must be given, and no other name

    If the module assigns to such a name during the call, the dict holds the assigned value afterwards.

    Raises:
        ValueError: two dicts have the same name, or one tensor of the module is given two values
        RuntimeError: with ``strict``, names are missing or unknown

    >>> layer = lamella.nn.Linear(1, 1)
    >>> other = {"weight": lamella.full((1, 1), 2.0), "bias": lamella.ones(1)}
    >>> lamella.func.functional_call(layer, other, lamella.ones(1))
    tensor([3.])
    """
    given: Any = parameter_and_buffer_dicts
    if not isinstance(given, dict):
        if not isinstance(given, Sequence) or not all(isinstance(d, dict) for d in given):
            raise ValueError(
                "functional_call: argument 'parameter_and_buffer_dicts' must be a dict or a sequence of dicts, got "
                f"{type(given).__name__}"
            )
        names = [name for d in given for name in d]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"functional_call: {twice} are in several dicts; give each name in one dict only")
        given = {name: tensor for d in given for name, tensor in d.items()}
    return _functional_call(module, given, args, kwargs, tie_weights=tie_weights, strict=strict)


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Stacks the parameters of several models of one class, and their buffers; returns two dicts by their names.

    Raises:
        RuntimeError: there is no model, their classes differ, some are in training and some not, or some parameters of
            a name require a gradient and others do not

    >>> params, buffers = lamella.func.stack_module_state([lamella.nn.Linear(2, 3) for _ in range(5)])
    >>> params["weight"].shape, buffers
    (lamella.Size([5, 3, 2]), {})
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: there must be one model at least, got none")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state: some models are in training and some in evaluation")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: the models are of several classes")
    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    return (
        {name: _stacked(name, [p[name] for p in parameters]) for name in parameters[0]},
        {name: _stacked(name, [b[name] for b in buffers]) for name in buffers[0]},
    )


def _stacked(name: str, tensors: list[Any]) -> Any:
    needs = {getattr(t, "requires_grad", False) for t in tensors}
    if len(needs) > 1:
        raise RuntimeError(f"stack_module_state: {name} of some models requires a gradient and of some does not")
    stacked: Any = lamella.stack(tensors)
    return stacked.detach().requires_grad_() if needs == {True} else stacked


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Makes batch norms within a module normalize by their batch, also in evaluation; returns the module.

    Within ``vmap`` a batch norm cannot update statistics that all samples share, so they are dropped.

    >>> net = lamella.nn.Sequential(lamella.nn.Linear(2, 3), lamella.nn.BatchNorm1d(3))
    >>> lamella.func.replace_all_batch_norm_modules_(net)[1].running_mean is None
    True
    """
    for module in root.modules():
        if isinstance(module, lamella.nn.modules.batchnorm._BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
