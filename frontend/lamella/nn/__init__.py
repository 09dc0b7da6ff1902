"""Neural networks: modules, and the functions that they call. The names and their meaning are torch.nn's.

>>> model = lamella.nn.Sequential(lamella.nn.Linear(4, 8), lamella.nn.ReLU(), lamella.nn.Linear(8, 2))
>>> model(lamella.ones(3, 4)).shape
lamella.Size([3, 2])
>>> [name for name, _ in model.named_parameters()]
['0.weight', '0.bias', '2.weight', '2.bias']
"""

from typing import TYPE_CHECKING

from lamella._absent import explain
from lamella._lazy import contribute as _contribute_lazy
from lamella._usage_log import log_once as _log_once
from lamella.nn import attention, common_types, functional, init, modules, parameter  # noqa: F401
from lamella.nn.modules import *  # noqa: F403
from lamella.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter  # noqa: F401

_log_once("python.nn_module")

__all__ = sorted(
    [
        "Buffer",
        "Parameter",
        "UninitializedBuffer",
        "UninitializedParameter",
        "attention",
        "common_types",
        "factory_kwargs",
        "functional",
        "grad",
        "init",
        "modules",
        "parallel",
        "parameter",
        "utils",
        "DataParallel",
        *modules.__all__,
    ]
)

_contribute_lazy(__name__, ("grad", "parallel", "utils"))
if TYPE_CHECKING:
    from lamella.nn import grad as grad
    from lamella.nn import parallel as parallel
    from lamella.nn import utils as utils
    from lamella.nn.parallel import DataParallel as DataParallel


def factory_kwargs(kwargs):
    """Returns the device, dtype and memory format of a factory, from ``kwargs`` and its ``factory_kwargs``.

    Raises:
        TypeError: another keyword is there, or one is given twice

    >>> lamella.nn.factory_kwargs({"dtype": lamella.float64})
    {'dtype': lamella.float64}
    """
    allowed = {"device", "dtype", "memory_format"}
    given = {k: v for k, v in (kwargs or {}).items() if k != "factory_kwargs"}
    inner = (kwargs or {}).get("factory_kwargs", {})
    wrong = sorted(set(given) - allowed | set(inner) - allowed | set(given) & set(inner))
    if wrong:
        raise TypeError(f"factory_kwargs: keyword {wrong[0]!r} is unknown or given twice; known are {sorted(allowed)}")
    return {**inner, **given}


def __getattr__(name):
    if name == "DataParallel":
        return parallel.DataParallel  # ``parallel`` is imported at its first use
    if name.startswith("__"):
        raise AttributeError(f"module 'lamella.nn' has no attribute '{name}'")
    raise AttributeError(explain("lamella.nn", name, __all__))


def __dir__():
    return __all__
