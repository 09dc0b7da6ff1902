"""Named tensors: the public names of ``lamella.named``.

A tensor may have a name for each dimension. Operators check names where tensors meet, results have the names that
follow, and a name may stand wherever an operator takes a dimension. ``docs/named_tensors.md`` is the guide.

>>> x = lamella.ones(2, 3, names=["batch", "feature"])
>>> x.sum("feature").names
('batch',)
>>> lamella.named.dot(x, lamella.ones(3, names=["feature"]), "feature").names
('batch',)
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .functions import dot as dot
    from .functions import einsum as einsum
    from .functions import find_rule as find_rule
    from .functions import get_matching as get_matching
    from .functions import matching as matching
    from .functions import register_rule as register_rule
    from .interop import from_xarray as from_xarray
    from .interop import parameters as parameters
    from .interop import rearrange as rearrange
    from .interop import reduce as reduce
    from .interop import repeat as repeat
    from .interop import to_xarray as to_xarray

# The public names by module; a module is imported when one of its names is first used.
NAMES = {
    "functions": ("dot", "einsum", "find_rule", "get_matching", "matching", "register_rule"),
    "interop": ("from_xarray", "parameters", "rearrange", "reduce", "repeat", "to_xarray"),
}
if not TYPE_CHECKING:  # type checkers see the imports above
    __all__ = [name for names in NAMES.values() for name in names]


def __getattr__(name):
    for module, names in NAMES.items():
        if name in names:
            found = import_module(f"{__name__}.{module}")
            globals().update({n: getattr(found, n) for n in names})
            return globals()[name]
    raise AttributeError(f"module 'lamella.named' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *__all__})
