"""The front end of ``jit.script``: the source of a function, a module or a class becomes the text of a program.

A function's source is read by ``ast`` (source.py); exits are rewritten (exits.py); statements and expressions become
nodes with types (statements.py, loops.py, expressions.py, calls.py) in blocks (builder.py, emit.py); operators are
chosen by their schemas (signatures.py, matching.py). program.py collects functions and classes, and gives the text.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .errors import NotSupportedError as NotSupportedError
    from .errors import ScriptError as ScriptError
    from .errors import UnsupportedNodeError as UnsupportedNodeError
    from .program import Compiled as Compiled
    from .program import compile_class as compile_class
    from .program import compile_function as compile_function
    from .program import compile_module as compile_module

# The names by module; a module is imported when one of its names is first used, since is_tracing() needs no compiler.
NAMES = {
    "errors": ("NotSupportedError", "ScriptError", "UnsupportedNodeError"),
    "program": ("Compiled", "compile_class", "compile_function", "compile_module"),
}
if not TYPE_CHECKING:  # type checkers see the imports above
    __all__ = [name for names in NAMES.values() for name in names]


def __getattr__(name):
    for module, names in NAMES.items():
        if name in names:
            found = import_module(f"{__name__}.{module}")
            globals().update({n: getattr(found, n) for n in names})
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
