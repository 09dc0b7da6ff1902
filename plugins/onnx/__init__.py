"""Export to ONNX: the public names of ``lamella.onnx``.

`export` runs a module while a layer records the operators that it calls, and writes them as an ONNX graph.
``docs/export_to_onnx.md`` is the guide. The package ``onnx`` is imported at the first export.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import errors as errors
    from .arguments import TrainingMode as TrainingMode
    from .errors import OnnxExporterError as OnnxExporterError
    from .exporter import export as export
    from .exporter import is_in_onnx_export as is_in_onnx_export
    from .table import register as register

# The public names by module; a module is imported when one of its names is first used.
NAMES = {
    "arguments": ("TrainingMode",),
    "errors": ("OnnxExporterError",),
    "exporter": ("export", "is_in_onnx_export"),
    "table": ("register",),
}
MODULES = ("errors",)  # submodules, imported at first use
if not TYPE_CHECKING:  # type checkers see the imports above
    __all__ = [name for names in NAMES.values() for name in names] + list(MODULES)


def __getattr__(name):
    if name in MODULES:
        return import_module(f"{__name__}.{name}")
    for module, names in NAMES.items():
        if name in names:
            found = import_module(f"{__name__}.{module}")
            globals().update({n: getattr(found, n) for n in names})
            return globals()[name]
    raise AttributeError(f"module 'lamella.onnx' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *__all__})
