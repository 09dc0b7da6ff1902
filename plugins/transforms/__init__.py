"""Transforms of functions: the public names of ``lamella.func``. ``docs/transforms.md`` is the guide.

>>> x = lamella.tensor([1.0, 2.0])
>>> lamella.vmap(lamella.func.grad(lambda x: x * x))(x)
tensor([2., 4.])
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import forward_ad as forward_ad
    from .counts import fallback_counts as fallback_counts
    from .counts import reset_fallback_counts as reset_fallback_counts
    from .counts import strict_mode as strict_mode
    from .derivatives import grad as grad
    from .derivatives import grad_and_value as grad_and_value
    from .derivatives import jvp as jvp
    from .derivatives import linearize as linearize
    from .derivatives import vjp as vjp
    from .functionalization import functionalize as functionalize
    from .jacobians import hessian as hessian
    from .jacobians import jacfwd as jacfwd
    from .jacobians import jacrev as jacrev
    from .modules import functional_call as functional_call
    from .modules import replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_
    from .modules import stack_module_state as stack_module_state
    from .vectorize import debug_unwrap as debug_unwrap
    from .vectorize import vmap as vmap

# The public names by module; a module is imported when one of its names is first used.
NAMES = {
    "counts": ("fallback_counts", "reset_fallback_counts", "strict_mode"),
    "derivatives": ("grad", "grad_and_value", "jvp", "linearize", "vjp"),
    "forward_ad": (),  # the names are those of lamella.autograd.forward_ad
    "functionalization": ("functionalize",),
    "jacobians": ("hessian", "jacfwd", "jacrev"),
    "modules": ("functional_call", "replace_all_batch_norm_modules_", "stack_module_state"),
    "vectorize": ("debug_unwrap", "vmap"),
}
if not TYPE_CHECKING:  # type checkers see the imports above
    __all__ = sorted(name for names in NAMES.values() for name in names)


def __getattr__(name):
    if name in NAMES:
        return import_module(f"{__name__}.{name}")
    for module, names in NAMES.items():
        if name in names:
            found = import_module(f"{__name__}.{module}")
            globals().update({n: getattr(found, n) for n in names})
            return globals()[name]
    raise AttributeError(f"module 'lamella.func' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *__all__})
