"""Scripted functions: what ``jit.script`` makes of a function of Python."""

from __future__ import annotations

import functools
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import lamella.plugins.graph.jit.values as values
from lamella.plugins.graph import _python
from lamella.plugins.graph.jit.description import Description, describe
from lamella.plugins.graph.script import Compiled
from lamella.plugins.graph.script.functions import Function
from lamella.plugins.graph.script.types import FLOAT


def callable_of(program: Any, function: Function, self: Any = None) -> Callable:
    """Returns a function of Python that calls a graph of a program.

    Args:
        program: the program of the binding
        function: the signature of the graph
        self: of a method, the object
    """
    names = tuple(p.name for p in function.parameters)
    changes = [values.to_program(p.type) for p in function.parameters]
    defaults: list[Any] = []
    for p, change in zip(function.parameters, changes, strict=True):
        if p.default is inspect.Parameter.empty:
            defaults.clear()
        else:
            value = float(p.default) if p.type == FLOAT and isinstance(p.default, int) else p.default
            defaults.append(change(value) if change else value)
    call = _python.Function(program, function.name, names, tuple(defaults), self)
    result = values.to_python(function.declared or function.returned)  # type: ignore[arg-type]
    if result is None and not any(changes):
        return call
    by_name = dict(zip(names, changes, strict=True))

    def changed(*args: Any, **kwargs: Any) -> Any:
        args = tuple(c(a) if c else a for c, a in zip(changes, args, strict=False)) + args[len(changes) :]
        kwargs = {k: by_name[k](v) if by_name.get(k) else v for k, v in kwargs.items()}  # type: ignore[misc]
        found = call(*args, **kwargs)
        return result(found) if result else found

    return changed


class ScriptFunction:
    """A function that a program runs without Python; ``jit.script`` makes it.

    It is called as the function that it was made of. ``graph`` is its graph, ``code`` the text of the whole program.

    >>> @lamella.jit.script
    ... def scaled(x, n: int):
    ...     return x * n
    >>> scaled(lamella.ones(2), 3)
    tensor([3., 3.])
    """

    def __init__(self, description: Description, program: Any, function: Callable | None = None):
        self._description, self._program = description, program
        self._call = callable_of(program, description.functions[description.main])
        if function is None:
            self.__name__ = self.__qualname__ = description.main
        else:
            self.__script_source__ = function
            functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    @property
    def name(self) -> str:
        """The function's name in its program."""
        return self._description.main

    @property
    def graph(self) -> Any:
        """The graph of the function; calls of other functions are nodes in it."""
        return self._program.graph(self.name)

    @property
    def inlined_graph(self) -> Any:
        """The graph of the function with the graphs of the functions that it calls in the place of the calls."""
        copy = self._program.copy()
        copy.run_pass("inline")
        return copy.graph(self.name)

    @property
    def code(self) -> str:
        """The text of the program: the graph of the function and those of the functions that it calls."""
        return str(self._program)

    def save(self, f: Any, _extra_files: dict[str, Any] | None = None, **options: Any) -> None:
        """Saves the function; see :func:`lamella.jit.save`."""
        from lamella.plugins.graph.jit.saving import save

        save(self, f, _extra_files, **options)

    def _parts_to_save(self) -> tuple[Any, Any, Any, str]:
        """Returns the description, the program, no object, and the name of the graph that a call runs."""
        return self._description, self._program, None, self.name

    def __deepcopy__(self, memo: dict[int, Any]) -> ScriptFunction:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise pickle.PicklingError(f"{self!r} cannot be pickled; jit.save or its method save() write it")

    def __repr__(self) -> str:
        return f"<ScriptFunction {self.name}>"


def function_of(compiled: Compiled, function: Callable, program: Any = None) -> ScriptFunction:
    """Returns the scripted function of a compiled or recorded one."""
    program = program or _python.Program(compiled.text, compiled.constants, compiled.callables)
    return ScriptFunction(describe(compiled), program, function)
