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

from importlib import import_module as _import_module

from lamella._absent import explain as _explain

# Maps each public class or function to the file that defines it; `make stubs` writes __init__.pyi from this table.
_HOMES = {
    "Adadelta": "adadelta",
    "Adafactor": "_adafactor",
    "Adagrad": "adagrad",
    "Adam": "adam",
    "AdamW": "adamw",
    "Adamax": "adamax",
    "ASGD": "asgd",
    "LBFGS": "lbfgs",
    "Muon": "_muon",
    "NAdam": "nadam",
    "Optimizer": "optimizer",
    "RAdam": "radam",
    "RMSprop": "rmsprop",
    "Rprop": "rprop",
    "SGD": "sgd",
    "SparseAdam": "sparse_adam",
    "swap_in_optimizer_params_and_state": "_swap",
}
_MODULES = ("lr_scheduler", "swa_utils")

__all__ = sorted((*_HOMES, *_MODULES))


def __getattr__(name):
    if home := _HOMES.get(name):
        found = globals()[name] = getattr(_import_module(f"{__name__}.{home}"), name)
        return found
    if name in _MODULES or name in _HOMES.values():
        return _import_module(f"{__name__}.{name}")
    if name.startswith("__"):
        raise AttributeError(f"module 'lamella.optim' has no attribute '{name}'")
    raise AttributeError(_explain("lamella.optim", name, __all__))


def __dir__():
    return __all__
