"""``jit.script`` and its kin: programs from the source of functions, modules and classes."""

from __future__ import annotations

from builtins import isinstance as _isinstance
from typing import Any

from lamella import nn
from lamella.plugins.graph.jit.functions import ScriptFunction, function_of
from lamella.plugins.graph.jit.modules import ScriptMethod, ScriptModule, script_module
from lamella.plugins.graph.script import ScriptError, compile_class, compile_function

__all__ = ["script", "script_if_tracing", "script_method"]


def script(obj: Any, optimize: None = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any:
    """Compiles a function, a module or a class from its source.

    Args:
        obj: a function, a module, or a class; what is scripted already is returned as it is.

    Returns:
        a :class:`ScriptFunction` or a :class:`ScriptModule`; a class is returned as it is, once it is found to compile.

    Raises:
        ScriptError: the program is none of the scripted subset; the message shows the line and says what is admitted.

    >>> @lamella.jit.script
    ... def count(xs: list[int], x: int) -> int:
    ...     n = 0
    ...     for y in xs:
    ...         if x == y:
    ...             n += 1
    ...     return n
    >>> count([1, 2, 1], 1)
    2
    """
    if _isinstance(obj, (ScriptFunction, ScriptModule)):
        return obj
    if _isinstance(obj, nn.Module):
        return script_module(obj)
    if _isinstance(obj, type):
        if issubclass(obj, nn.Module):
            raise ScriptError(f"{obj.__name__}: a class of modules cannot be scripted; script an instance of it")
        if not vars(obj).get("_lamella_interface"):
            compile_class(obj)
        return obj
    return function_of(compile_function(obj), obj)


def script_method(function: Any) -> Any:
    """Makes a method of a class of :class:`ScriptModule` a scripted one, which the first call compiles.

    >>> class Scale(lamella.jit.ScriptModule):
    ...     @lamella.jit.script_method
    ...     def forward(self, x):
    ...         return x * 2
    >>> Scale()(lamella.ones(2))
    tensor([2., 2.])
    """
    return ScriptMethod(function)


def script_if_tracing(function: Any) -> Any:
    """Returns the function unchanged: a trace records what it runs.

    >>> lamella.jit.script_if_tracing(len) is len
    True
    """
    return function
