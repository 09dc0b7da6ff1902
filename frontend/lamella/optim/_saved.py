"""Converts an optimizer's state to a dict in which numbers stand for parameters, and back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

import lamella
from lamella._C import Tensor


def pack(param_groups: list[dict[str, Any]], state: Any) -> dict[str, Any]:
    """Returns groups and state with numbers in the place of parameters, counted through all groups."""
    numbers: dict[int, int] = {}
    groups = []
    start = 0
    for group in param_groups:
        packed = {key: value for key, value in group.items() if key != "params"}
        for i, p in enumerate(group["params"], start):
            numbers.setdefault(id(p), i)
        packed["params"] = [numbers[id(p)] for p in group["params"]]
        start += len(packed["params"])
        groups.append(packed)
    packed_state = {numbers[id(key)] if isinstance(key, Tensor) else key: value for key, value in state.items()}
    return {"state": packed_state, "param_groups": groups}


def unpack(optimizer: Any, state_dict: dict[str, Any]) -> dict[str, Any]:
    """Returns the ``state`` and ``param_groups`` of a packed dict with the optimizer's parameters in the place of
    numbers. The optimizer is not changed."""
    who, groups = type(optimizer).__name__, optimizer.param_groups
    for key in ("param_groups", "state"):
        if key not in state_dict:
            raise KeyError(f"{who}.load_state_dict: {key!r} is absent; give what state_dict() returned")
    if not isinstance(state_dict["state"], dict):
        raise ValueError(f"{who}.load_state_dict: 'state' is {lamella.typename(state_dict['state'])}, not a dict")
    saved = deepcopy(state_dict["param_groups"])
    if len(groups) != len(saved):
        raise ValueError(
            "loaded state dict has a different number of parameter groups: "
            f"it has {len(saved)}, the optimizer {len(groups)}"
        )
    for i, (group, new) in enumerate(zip(groups, saved, strict=True)):
        if len(group["params"]) != len(new["params"]):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group: "
                f"group {i} has {len(new['params'])} parameters, the optimizer's {len(group['params'])}"
            )
    numbers = chain.from_iterable(g["params"] for g in saved)
    params = dict(zip(numbers, chain.from_iterable(g["params"] for g in groups), strict=True))
    state: defaultdict[Any, Any] = defaultdict(dict)
    for number, value in state_dict["state"].items():
        if number in params:
            p = params[number]
            state[p] = _cast_all(optimizer, p, value, number, saved)
        else:
            state[number] = deepcopy(value)
    for group, new in zip(groups, saved, strict=True):
        new["params"] = group["params"]
        if "param_names" in group:
            new.setdefault("param_names", group["param_names"])
    return {"state": state, "param_groups": saved}


def _cast_all(optimizer: Any, p: Any, value: Any, number: int, groups: Any, key: Any = None) -> Any:
    if isinstance(value, Tensor):
        made = optimizer._process_value_according_to_param_policy(p, value, number, groups, key)
        return made.clone() if made is value else made  # the saved dict keeps its own
    if isinstance(value, dict):
        return {k: _cast_all(optimizer, p, v, number, groups, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return type(value)(_cast_all(optimizer, p, v, number, groups) for v in value)  # type: ignore[call-arg]
    return value


def cast(param: Any, value: Any, param_id: int, param_groups: list[dict[Any, Any]], key: Any = None) -> Any:
    """Moves a tensor of the state to its parameter's device and, if the parameter is floating-point, converts it to the
    parameter's dtype; ``step`` stays as it is, or becomes float32 on that device if the group is capturable."""
    if key == "step":
        group = next((g for g in param_groups if param_id in g["params"]), {})
        if group.get("capturable"):
            return value.to(dtype=lamella.float32, device=param.device)
        return value
    if param.is_floating_point():
        return value.to(dtype=param.dtype, device=param.device)
    return value.to(device=param.device)


def check(optimizer: Any) -> None:
    """Raises ValueError if loaded groups or states do not fit the optimizer's class or its parameters."""
    who, number = f"{type(optimizer).__name__}.load_state_dict", 0
    for i, group in enumerate(optimizer.param_groups):
        for option in optimizer._checks:
            if option not in group:
                raise ValueError(f"{who}: parameter group {i} has no {option!r}; it is that of another optimizer")
        names = group.get("param_names")
        for k, p in enumerate(group["params"]):
            own = optimizer.state.get(p)
            where = f"{who}: parameter {number}" + (f" ({names[k]})" if names else "")
            number += 1
            if own is not None and not isinstance(own, dict):
                raise ValueError(f"{where}: its state is {lamella.typename(own)}, not a dict")
            if own:
                for key, shape in optimizer._shapes(p, group, own).items():
                    _check_shape(where, own, key, shape)


def _check_shape(where: str, own: dict[str, Any], key: str, shape: tuple[int, ...]) -> None:
    expected = f"a tensor of shape {shape}" if shape else "a number"
    if key not in own:
        raise ValueError(f"{where}: its state has no {key!r}; expected {expected}")
    value = own[key]
    if not isinstance(value, Tensor):
        raise ValueError(f"{where}: its {key!r} is {lamella.typename(value)}; expected {expected}")
    if tuple(value.shape) != shape and (shape or value.numel() != 1):
        raise ValueError(f"{where}: its {key!r} has shape {tuple(value.shape)}; expected {expected}")
