"""Replaces the parameters and the state of an optimizer within a block."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Any, swapin_parameters: dict[str, Any], swapin_optim_state: dict[str, Any]
) -> Iterator[None]:
    """Gives the optimizer other parameters and another state within the block, and restores its own afterwards.

    Args:
        swapin_parameters: tensors in the order of the optimizer's parameters
        swapin_optim_state: a dict that ``state_dict()`` returned; its tensors are used without copying

    Raises:
        RuntimeError: the optimizer has no state, or the dict does not match its groups

    >>> w, other = lamella.ones(1), lamella.zeros(1)
    >>> optimizer = lamella.optim.Adagrad([w], lr=1.0)
    >>> other.grad = lamella.ones(1)
    >>> with lamella.optim.swap_in_optimizer_params_and_state(optimizer, {"w": other}, optimizer.state_dict()):
    ...     optimizer.step()
    >>> w, other
    (tensor([1.]), tensor([-1.]))
    """
    who = "swap_in_optimizer_params_and_state"
    if not optimizer.state:
        raise RuntimeError(f"{who}: the optimizer has no state yet; make a step first")
    state, groups = swapin_optim_state.get("state"), swapin_optim_state.get("param_groups")
    if not isinstance(state, dict) or not isinstance(groups, list) or len(groups) != len(optimizer.param_groups):
        raise RuntimeError(
            f"{who}: argument 'swapin_optim_state' must be a result of state_dict() with "
            f"{len(optimizer.param_groups)} groups"
        )
    tensors, kept = list(swapin_parameters.values()), [dict(group) for group in optimizer.param_groups]
    count = sum(len(group["params"]) for group in kept)
    if len(tensors) != count:
        raise RuntimeError(
            f"{who}: argument 'swapin_parameters' has {len(tensors)} tensors, and the optimizer {count} parameters"
        )
    for i, (mine, new) in enumerate(zip(kept, groups, strict=True)):
        if set(mine) != set(new) or len(mine["params"]) != len(new["params"]):
            raise RuntimeError(f"{who}: group {i} has other options, or another number of parameters")
    unknown = set(state) - {number for group in groups for number in group["params"]}
    if unknown:
        raise RuntimeError(f"{who}: state has entries of no parameter: {sorted(map(str, unknown))}")
    swapped: defaultdict[Any, Any] = defaultdict(dict)
    state_before, tensor = optimizer.state, iter(tensors)
    try:
        for live, new in zip(optimizer.param_groups, groups, strict=True):
            live.update(new)
            live["params"] = [next(tensor) for _ in new["params"]]
            for p, number in zip(live["params"], new["params"], strict=True):
                swapped[p] = dict(state.get(number, {}))
        optimizer.state = swapped
        yield
    finally:
        for live, old in zip(optimizer.param_groups, kept, strict=True):
            live.clear()
            live.update(old)
        optimizer.state = state_before
