"""Quantized tensors: the public names of ``lamella.quantization``.

A quantized tensor is a tensor of integers with the scale and the zero point that give them meaning. Operators compute
with the integers, or say that they do not. ``docs/quantization.md`` is the guide.

>>> q = lamella.quantize_per_tensor(lamella.tensor([0.5, 1.0]), 0.25, 0, lamella.int8)
>>> q.int_repr(), q.dequantize()
(tensor([2, 4], dtype=lamella.int8), tensor([0.5000, 1.0000]))
>>> with lamella.quantization.out_scale(0.5):
...     (q + q).int_repr()
tensor([2, 4], dtype=lamella.int8)
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .blocks import Call as Call
    from .blocks import out_scale as out_scale
    from .blocks import strict as strict
    from .blocks import trace as trace
    from .choosing import choose_scales as choose_scales
    from .choosing import quantize as quantize
    from .types import NumericType as NumericType
    from .types import memory as memory
    from .types import register_type as register_type
    from .types import scheme as scheme
    from .types import type_names as type_names

# The public names by module; a module is imported when one of its names is first used.
NAMES = {
    "blocks": ("Call", "out_scale", "strict", "trace"),
    "choosing": ("choose_scales", "quantize"),
    "types": ("NumericType", "memory", "register_type", "scheme", "type_names"),
}
if not TYPE_CHECKING:  # type checkers see the imports above
    __all__ = [name for names in NAMES.values() for name in names]


def __getattr__(name):
    for module, names in NAMES.items():
        if name in names:
            found = import_module(f"{__name__}.{module}")
            globals().update({n: getattr(found, n) for n in names})
            return globals()[name]
    raise AttributeError(f"module 'lamella.quantization' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *__all__})
