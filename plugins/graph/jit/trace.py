"""``jit.trace`` and ``jit.trace_module``: programs from what functions and modules call."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

from lamella import nn
from lamella.plugins.graph._python import Graph, Program
from lamella.plugins.graph.jit.functions import function_of
from lamella.plugins.graph.jit.modules import ScriptModule, module_of
from lamella.plugins.graph.script import Compiled
from lamella.plugins.graph.script.functions import Function, Parameter
from lamella.plugins.graph.script.signatures import overloads
from lamella.plugins.graph.script.types import ANY, BOOL, RESERVED, TENSOR, Object, Type
from lamella.plugins.graph.tracing import Tracing, warn


def trace(
    func: Callable | nn.Module,
    example_inputs: Any = None,
    optimize: None = None,
    check_trace: bool = True,
    check_inputs: Sequence[Any] | None = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    *,
    example_kwarg_inputs: dict[str, Any] | None = None,
) -> Any:
    """Runs a function or a module once, and returns the operators that it called as a program.

    A number that depends on a size of the inputs becomes an expression of the program where it is a multiple of one
    size plus a constant; other dependences are reported. What the function does by values of tensors cannot be
    recorded.

    Args:
        func: a function or a module.
        example_inputs: its inputs: a tuple, or the only one. A number or a text among them is a constant of the
            program, and there is a warning.
        check_trace: whether the program is compared with the function: once more, for other inputs, for other sizes.
        check_inputs: inputs to compare with, in the place of random ones.
        check_tolerance: the relative and absolute difference that the comparison admits.
        strict: whether reading the value of a tensor (``if x.sum() > 0``, ``int(x)``, ``x.numpy()``) is an error. If
            not, the value is a constant of the program, and there is a warning.
        example_kwarg_inputs: inputs by name.

    Returns:
        a :class:`ScriptFunction`, or a :class:`ScriptModule` with the parameters and buffers of the module.

    Raises:
        TracingError: the function cannot be recorded.
        TracingCheckError: the program computes something else than the function.
        RuntimeError: the function reads the value of a tensor; the message has the file and the line.

    >>> def scaled(x):
    ...     return x * 2 + x.shape[0]
    >>> f = lamella.jit.trace(scaled, lamella.ones(3))
    >>> f(lamella.zeros(2))
    tensor([2., 2.])
    """
    inputs = _inputs(example_inputs)
    checks = None if not check_trace else [_inputs(i) for i in check_inputs or ()]
    if isinstance(func, nn.Module):
        return _trace_module(func, {"forward": (inputs, example_kwarg_inputs or {})}, checks, check_tolerance, strict)
    name = re.sub(r"\W", "_", getattr(func, "__name__", type(func).__name__)).strip("_") or "function"
    program = Program(_empty(name))
    tracing = Tracing(program, name, func, inputs, example_kwarg_inputs or {})
    recording = tracing.trace(strict)
    if checks is not None:
        tracing.check(recording, _runner(program, name), check_tolerance, strict, checks)
    program.run_pass("dce")
    compiled = Compiled("", [], {}, name, {name: _function(name, tracing.names)})
    return function_of(compiled, func, program)


def trace_module(
    mod: nn.Module,
    inputs: dict[str, Any],
    optimize: None = None,
    check_trace: bool = True,
    check_inputs: Sequence[dict[str, Any]] | None = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
) -> ScriptModule:
    """Records several methods of a module; each becomes a method of the program.

    Args:
        mod: the module.
        inputs: the inputs of each method, by its name.
        check_trace, check_inputs, check_tolerance, strict: as of :func:`trace`; ``check_inputs`` are by name, too.

    >>> class Flow(lamella.nn.Module):
    ...     def forward(self, x): return x + 1
    ...     def inverse(self, y): return y - 1
    >>> flow = lamella.jit.trace_module(Flow(), {"forward": lamella.ones(2), "inverse": lamella.ones(2)})
    >>> flow.inverse(flow(lamella.zeros(2)))
    tensor([0., 0.])
    """
    if not isinstance(mod, nn.Module):
        raise TypeError(f"trace_module: argument 'mod' must be a Module, got {type(mod).__name__}")
    methods: dict[str, Any] = {name: (_inputs(i), {}) for name, i in inputs.items()}
    checks = None if not check_trace else [{k: _inputs(i) for k, i in c.items()} for c in check_inputs or ()]
    return _trace_module(mod, methods, checks, check_tolerance, strict)


def _inputs(given: Any) -> tuple[Any, ...]:
    if given is None:
        return ()
    return given if isinstance(given, tuple) else tuple(given) if isinstance(given, list) else (given,)


def _empty(name: str, parameter: str = "") -> str:
    return f"with {name} = graph({parameter}) {{ return () }}\n"


def _runner(program: Program, name: str, *first: Any) -> Callable:
    return lambda *inputs: program.run(name, (*first, *inputs))


def _function(name: str, parameters: list[str], self_type: Type | None = None) -> Function:
    made = [Parameter(p, TENSOR, inspect.Parameter.empty, False) for p in parameters]
    return Function(name, None, None, made, returned=ANY, self_type=self_type)  # type: ignore[arg-type]


class _Class:
    """The class of a recorded module: its parameters, buffers and submodules."""

    def __init__(self, name: str, attributes: dict[str, Type]):
        self.type = Object(name, self)
        self.attributes = attributes
        self.constants: dict[str, Any] = {}
        self.name = name
        self.is_interface = False

    def text(self) -> str:
        lines = "".join(f"  {name} : {t}\n" for name, t in self.attributes.items())
        return f"class {self.name} {{\n{lines}}}\n"


class _Classes:
    """The classes of a module and of those in it; modules with the same attributes share one."""

    def __init__(self, module: nn.Module):
        self.by_module: dict[int, _Class] = {}
        self.by_form: dict[tuple, _Class] = {}
        self.listed: list[tuple[Any, _Class]] = []
        self.names: dict[str, int] = dict.fromkeys(RESERVED, 0)
        self.top = self.add(module)

    def add(self, module: nn.Module) -> _Class:
        known = self.by_module.get(id(module))
        if known is not None:
            return known
        parameters, buffers, modules = module._parameters, module._buffers, module._modules
        children: Any = modules and [None if child is None else self.add(child) for child in modules.values()]
        left_out: Any = buffers and [n for n in buffers if n in module._non_persistent_buffers_set]
        kinds = [*map(type, parameters.values()), *map(type, buffers.values())] if parameters or buffers else ()
        form = (type(module), *parameters, None, *buffers, None, *modules, None, *left_out, None, *kinds, *children)
        found = self.by_form.get(form)
        if found is None:
            attributes: dict[str, Type] = {n: c.type for n, c in zip(modules, children, strict=True) if c is not None}
            attributes.update({n: TENSOR for n, t in (*parameters.items(), *buffers.items()) if t is not None})
            attributes["training"] = BOOL
            plain = re.sub(r"\W", "_", type(module).__name__)
            self.names[plain] = n = self.names.get(plain, -1) + 1
            found = self.by_form[form] = _Class(f"{plain}_{n}" if n else plain, attributes)
        self.by_module[id(module)] = found
        self.listed.append((module, found))
        return found

    def text(self) -> str:
        return "".join(c.text() for c in self.by_form.values())


def _trace_module(
    module: nn.Module,
    methods: dict[str, tuple[tuple[Any, ...], dict[str, Any]]],
    checks: Sequence[Any] | None,
    tolerance: float,
    strict: bool,
) -> ScriptModule:
    classes = _Classes(module)
    own = classes.top.name
    graphs = {name: f"{own}.{name}" for name in methods}
    text = classes.text() + "".join(_empty(g, f"%self : {own}") for g in graphs.values())
    program = Program(text)
    tracings = {}
    for name, (inputs, keywords) in methods.items():
        function = module if name == "forward" else getattr(module, name)
        tracings[name] = Tracing(program, graphs[name], function, inputs, keywords, module)
    recordings = {name: t.trace(strict) for name, t in tracings.items()}
    functions = {graphs[n]: _function(graphs[n], t.names, classes.top.type) for n, t in tracings.items()}
    compiled = Compiled("", [], {}, own, functions, classes.listed)  # type: ignore[arg-type]
    made = module_of(compiled, module, program, written=set())  # recorded graphs assign no attributes
    if checks is not None:
        for name, t in tracings.items():
            more = [c if isinstance(c, tuple) else c[name] for c in checks if isinstance(c, tuple) or name in c]
            t.check(recordings[name], _runner(program, graphs[name], made._object), tolerance, strict, more)
    program.run_pass("dce")
    for name in methods:
        _say_modes(program.graph(graphs[name]))
    return made


@functools.cache
def _mode_of(operator: str) -> int | None:
    """Returns the number of the argument by which an operator computes as in training; None if it has none."""
    names = [a.name for s in overloads(operator)[:1] for a in s.arguments]
    return next((i for i, name in enumerate(names) if name in ("train", "training")), None)


def _say_modes(graph: Graph) -> None:
    """Warns of operators that were recorded in training mode, which `eval()` does not change."""
    if all(_mode_of(op) is None for op in graph.operators()):
        return
    for n in graph.nodes():
        at = _mode_of(n.op)
        made_by = n.inputs()[at].node() if at is not None and at < len(n.inputs()) else None
        if made_by is not None and made_by.attributes.get("value") is True:
            place = f" at {n.source[0]}:{n.source[1]}" if n.source else ""
            text = f"trace: {n.op}{place} was recorded in training mode, which eval() of the program does not change"
            warn(text)


__all__ = ["trace", "trace_module"]
