"""Optimizers: rules that change parameters by their gradients; names and meaning are torch.optim's.

Each optimizer is loaded when it is first used.

>>> w = lamella.nn.Parameter(lamella.tensor([1.0, 2.0]), requires_grad=False)
>>> optimizer = lamella.optim.SGD([w], lr=0.5)
>>> w.grad = lamella.ones(2)
>>> optimizer.step()
>>> w.tolist()
[0.5, 1.5]
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from lamella._absent import explain as _explain

if TYPE_CHECKING:
    from lamella.optim import lr_scheduler as lr_scheduler
    from lamella.optim import swa_utils as swa_utils
    from lamella.optim._adafactor import Adafactor as Adafactor
    from lamella.optim._muon import Muon as Muon
    from lamella.optim._swap import swap_in_optimizer_params_and_state as swap_in_optimizer_params_and_state
    from lamella.optim.adadelta import Adadelta as Adadelta
    from lamella.optim.adagrad import Adagrad as Adagrad
    from lamella.optim.adam import Adam as Adam
    from lamella.optim.adamax import Adamax as Adamax
    from lamella.optim.adamw import AdamW as AdamW
    from lamella.optim.asgd import ASGD as ASGD
    from lamella.optim.lbfgs import LBFGS as LBFGS
    from lamella.optim.nadam import NAdam as NAdam
    from lamella.optim.optimizer import Optimizer as Optimizer
    from lamella.optim.radam import RAdam as RAdam
    from lamella.optim.rmsprop import RMSprop as RMSprop
    from lamella.optim.rprop import Rprop as Rprop
    from lamella.optim.sgd import SGD as SGD
    from lamella.optim.sparse_adam import SparseAdam as SparseAdam

_CLASSES = "ASGD Adadelta Adagrad Adam AdamW Adamax LBFGS NAdam Optimizer RAdam RMSprop Rprop SGD"
_HOMES = {name: name.lower() for name in _CLASSES.split()} | {
    "Adafactor": "_adafactor",
    "Muon": "_muon",
    "SparseAdam": "sparse_adam",
    "swap_in_optimizer_params_and_state": "_swap",
}
_MODULES = sorted({home for home in _HOMES.values() if home[0] != "_"} | {"lr_scheduler", "swa_utils"})

__all__ = sorted([*_HOMES, "lr_scheduler", "swa_utils"])


def __getattr__(name):
    if name in _HOMES:
        found = globals()[name] = getattr(_import_module(f"{__name__}.{_HOMES[name]}"), name)
        return found
    if name in _MODULES:
        return _import_module(f"{__name__}.{name}")
    if name.startswith("__"):
        raise AttributeError(f"module 'lamella.optim' has no attribute '{name}'")
    raise AttributeError(_explain("lamella.optim", name, __all__))


def __dir__():
    return __all__
