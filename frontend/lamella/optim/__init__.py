"""Optimizers: rules that change parameters by their gradients; names and meaning are torch.optim's.

Each optimizer is loaded when it is first used.

The classes describe the options that are their own. Unless a class says otherwise, the other options are:

    params: tensors, named tensors or groups
    lr: the learning rate, a number or a tensor of one element
    weight_decay: the factor of the parameter that is added to the gradient
    foreach: True or False computes by operators over whole tensors; None uses one fused operator
    maximize: steps along the gradient instead of against it
    capturable: keeps the count of steps on the parameter's device
    differentiable: lets autograd record the step
    fused: True uses the fused operator, as by default; False computes by operators over whole tensors

A class raises a ValueError if an option is out of its range.

>>> w = lamella.nn.Parameter(lamella.tensor([1.0, 2.0]), requires_grad=False)
>>> optimizer = lamella.optim.SGD([w], lr=0.5)
>>> w.grad = lamella.ones(2)
>>> optimizer.step()
>>> w.tolist()
[0.5, 1.5]
"""

from __future__ import annotations

import re as _re
from importlib import import_module as _import_module
from pathlib import Path as _Path

from lamella._absent import explain as _explain

_STUB = _Path(__file__).with_name("__init__.pyi").read_text()
_HOMES = {name: home for home, name in _re.findall(r"^from (\S+) import (\w+)", _STUB, _re.MULTILINE)}

__all__ = sorted(_HOMES)


def __getattr__(name):
    home = _HOMES.get(name)
    if home == __name__ or f"{__name__}.{name}" in _HOMES.values():
        return _import_module(f"{__name__}.{name}")
    if home:
        found = globals()[name] = getattr(_import_module(home), name)
        return found
    if name.startswith("__"):
        raise AttributeError(f"module 'lamella.optim' has no attribute '{name}'")
    raise AttributeError(_explain("lamella.optim", name, __all__))


def __dir__():
    return __all__
