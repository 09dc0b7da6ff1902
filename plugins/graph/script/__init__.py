"""The front end of ``jit.script``: the source of a function, a module or a class becomes the text of a program.

A function's source is read by ``ast`` (source.py); exits are rewritten (exits.py); statements and expressions become
nodes with types (statements.py, loops.py, expressions.py, calls.py) in blocks (builder.py, emit.py); operators are
chosen by their schemas (signatures.py, matching.py). program.py collects functions and classes, and gives the text.
"""

from lamella.plugins.graph.script.errors import NotSupportedError, ScriptError, UnsupportedNodeError
from lamella.plugins.graph.script.program import Compiled, compile_class, compile_function, compile_module

__all__ = [
    "Compiled",
    "NotSupportedError",
    "ScriptError",
    "UnsupportedNodeError",
    "compile_class",
    "compile_function",
    "compile_module",
]
