"""Deep copies of scripted modules: new objects of the same program, with copies of their tensors."""

from __future__ import annotations

import copy
from typing import Any

from lamella.plugins.graph._python import Object


def copy_of_value(program: Any, value: Any, memo: dict[int, Any]) -> Any:
    """Returns a deep copy of an attribute of a program's object.

    Args:
        program: the program, which the copy shares
        value: the attribute
        memo: what was copied already, as for ``copy.deepcopy``
    """
    if isinstance(value, Object):
        key = ("object", value)
        if key not in memo:
            names = program.attributes(value._class)
            attributes = {n: copy_of_value(program, getattr(value, n), memo) for n in names}
            memo[key] = program.new_object(value._class, attributes)  # type: ignore[index]
        return memo[key]  # type: ignore[index]
    if isinstance(value, (list, tuple)):
        made = [copy_of_value(program, v, memo) for v in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    if isinstance(value, dict):
        return {k: copy_of_value(program, v, memo) for k, v in value.items()}
    return copy.deepcopy(value, memo)


def copy_of_module(module: Any, memo: dict[int, Any]) -> Any:
    """Returns a deep copy of a scripted module; methods under ``jit.ignore`` get copies of the modules of Python."""
    program, originals = module._program, module.__dict__.get("_originals")
    copied: dict[Any, Any] = {}
    for m in module.modules():
        made = copy_of_value(program, m._object, memo)
        if originals is not None:
            copied[made] = copy.deepcopy(m._python, memo) if module._description.callables else m._python
    if originals is not None and module._description.callables:
        originals.update(copied)
    new = type(module)(module._description, program, memo[("object", module._object)], copied or None)  # type: ignore[index]
    pairs = list(zip(module.modules(), new.modules(), strict=True))
    memo.update({id(old): made for old, made in pairs})
    for old, made in pairs:
        if originals is not None:
            made.__dict__["_originals"] = originals
        for name, value in vars(old).items():
            if name not in vars(made) or name.endswith("_hooks"):
                made.__dict__[name] = copy.deepcopy(value, memo)
    return new
