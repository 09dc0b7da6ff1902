"""``lamella.ao``: the paths at which torch has the names of ``lamella.quantization``, for programs of torch."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["nn", "quantization"]
__path__: list[str] = []  # so that imports of modules in it look for attributes


class Forwarding(ModuleType):
    """A module with the names of the package, and with further modules."""

    __path__: list[str] = []

    def __init__(self, name: str, **modules: ModuleType):
        super().__init__(name, "The names of ``lamella.quantization`` under another path.")
        vars(self).update(modules)

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return sys.modules[__package__].__all__
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if name == "quantize":  # of torch's workflow; lamella.quantization.quantize quantizes a tensor
            return import_module(f"{__package__}.eager").quantize
        return getattr(sys.modules[__package__], name)

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *sys.modules[__package__].__all__})


nn = ModuleType("lamella.ao.nn", "``lamella.ao.nn.quantized`` has `FloatFunctional` and `QFunctional`.")
vars(nn).update(__path__=[], quantized=Forwarding("lamella.ao.nn.quantized"))
WHERE = "lamella.ao.quantization"
INNER = ("fake_quantize", "observer", "qconfig", "stubs")
quantization = Forwarding(WHERE, **{name: Forwarding(f"{WHERE}.{name}") for name in INNER})
