"""Automatic mixed precision: the public names of ``lamella.amp``. ``docs/autocast.md`` is the guide.

>>> x = lamella.ones(2, 2)
>>> with lamella.amp.autocast("cpu"):
...     (x @ x).dtype
lamella.bfloat16
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .autocast_mode import autocast as autocast
    from .autocast_mode import custom_bwd as custom_bwd
    from .autocast_mode import custom_fwd as custom_fwd
    from .autocast_mode import is_autocast_available as is_autocast_available
    from .grad_scaler import GradScaler as GradScaler
    from .policies import find_policy as find_policy

# The public names by module; a module is imported when one of its names is first used.
NAMES = {
    "autocast_mode": ("autocast", "custom_bwd", "custom_fwd", "is_autocast_available"),
    "grad_scaler": ("GradScaler",),
    "policies": ("find_policy",),
}
if not TYPE_CHECKING:  # type checkers see the imports above
    __all__ = [name for names in NAMES.values() for name in names]


def __getattr__(name):
    if name in NAMES:
        return import_module(f"{__name__}.{name}")
    for module, names in NAMES.items():
        if name in names:
            found = import_module(f"{__name__}.{module}")
            globals().update({n: getattr(found, n) for n in names})
            return globals()[name]
    raise AttributeError(f"module 'lamella.amp' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *__all__})
