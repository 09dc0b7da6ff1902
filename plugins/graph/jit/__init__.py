"""The names of ``lamella.jit``: programs from functions, modules and classes, by their source or by a record.

``docs/graphs.md`` is the guide.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final  # noqa: F401  the name of typing, which programs take from here

if TYPE_CHECKING:
    from lamella.plugins.graph.script.errors import (
        NotSupportedError as NotSupportedError,
    )
    from lamella.plugins.graph.script.errors import (
        ScriptError as ScriptError,
    )
    from lamella.plugins.graph.script.errors import (
        UnsupportedNodeError as UnsupportedNodeError,
    )
    from lamella.plugins.graph.script.markers import *  # noqa: F403
    from lamella.plugins.graph.tracing import (
        TracerWarning as TracerWarning,
    )
    from lamella.plugins.graph.tracing import (
        TracingCheckError as TracingCheckError,
    )

    from .functions import ScriptFunction as ScriptFunction
    from .loading import load as load
    from .modules import ScriptModule as ScriptModule
    from .modules import freeze as freeze
    from .saving import register_export_hook as register_export_hook
    from .saving import save as save
    from .scripting import *  # noqa: F403
    from .trace import trace as trace
    from .trace import trace_module as trace_module

# The public names by module; a module is imported when one of its names is first used.
NAMES = {
    "jit.scripting": ("script", "script_if_tracing", "script_method"),
    "jit.functions": ("ScriptFunction",),
    "jit.modules": ("ScriptModule", "freeze"),
    "jit.loading": ("load",),
    "jit.saving": ("register_export_hook", "save"),
    "jit.trace": ("trace", "trace_module"),
    "tracing": ("TracerWarning", "TracingCheckError"),
    "script.errors": ("NotSupportedError", "ScriptError", "UnsupportedNodeError"),
    "script.markers": (
        "Attribute",
        "Future",
        "_unwrap_optional",
        "annotate",
        "export",
        "fork",
        "ignore",
        "interface",
        "is_scripting",
        "is_tracing",
        "isinstance",
        "unused",
        "wait",
    ),
}
if not TYPE_CHECKING:  # type checkers see the imports above
    __all__ = sorted(["Final", *(name for names in NAMES.values() for name in names)])


def __getattr__(name):
    for module, names in NAMES.items():
        if name in names:
            found = import_module(f"lamella.plugins.graph.{module}")
            globals().update({n: getattr(found, n) for n in names})
            return globals()[name]
    raise AttributeError(f"module 'lamella.jit' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *__all__})
