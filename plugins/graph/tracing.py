"""``jit.trace``: runs a function once with stand-ins for its tensors, and keeps what it calls as a graph."""

from __future__ import annotations

import inspect
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import lamella
from lamella import Tensor

from ._python import Graph, Program, Recorder, Value, real
from .sizes import replace_sizes


class TracingError(RuntimeError):
    """A function cannot be recorded."""


class TracingCheckError(TracingError):
    """A recorded graph computes something else than its function."""


class TracerWarning(UserWarning):
    """A recorded graph may be wrong for other inputs than those that it was recorded with."""


HERE = str(Path(__file__).parent)


def warn(text: str) -> None:
    """Gives a :class:`TracerWarning` at the line of the program that called this plugin."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(HERE):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, TracerWarning, stacklevel=level)


def type_text(x: Any, what: str) -> str:
    """Returns the type of an input or a result in a graph; ``what`` names it in errors.

    >>> from lamella.plugins.graph.tracing import type_text
    >>> type_text((lamella.ones(2), 3), "x")
    '(Tensor, int)'
    """
    if isinstance(x, Tensor):
        return "Tensor"
    for kind, text in ((bool, "bool"), (int, "int"), (float, "float"), (complex, "complex"), (str, "str")):
        if isinstance(x, kind):
            return text
    if x is None:
        return "NoneType"
    if isinstance(x, tuple):
        return "(" + ", ".join(type_text(e, what) for e in x) + ")"
    if isinstance(x, list):
        return _only([type_text(e, what) for e in x] or ["Tensor"], what) + "[]"
    if isinstance(x, dict):
        key = _only([type_text(k, what) for k in x] or ["str"], what)
        return f"Dict({key}, {_only([type_text(v, what) for v in x.values()] or ['Tensor'], what)})"
    text = f"trace: {what} holds a {type(x).__name__}; a graph has tensors, numbers, texts, lists, tuples, dictionaries"
    raise TracingError(text)


def _only(types: list[str], what: str) -> str:
    if len(set(types)) > 1:
        text = f"trace: {what} has a list or a dictionary with elements of types {sorted(set(types))}; use a tuple"
        raise TracingError(text)
    return types[0]


def map_tensors(f: Callable[[Tensor], Any], x: Any) -> Any:
    """Returns a structure with ``f(t)`` in the place of each tensor."""
    if isinstance(x, Tensor):
        return f(x)
    if isinstance(x, (tuple, list)):
        made = [map_tensors(f, e) for e in x]
        return type(x)(*made) if hasattr(x, "_fields") else type(x)(made)
    if isinstance(x, dict):
        return {k: map_tensors(f, e) for k, e in x.items()}
    return x


def tensors_of(x: Any) -> list[Tensor]:
    """Returns the tensors of a structure, in their order."""
    found: list[Tensor] = []
    map_tensors(found.append, x)
    return found


class Recording:
    """A graph that is being recorded.

    Args:
        program, name: the program, and its graph to fill
        recorder: what fills it
    """

    def __init__(self, program: Program, name: str, recorder: Recorder):
        self.name, self.recorder = name, recorder
        self.graph: Graph = program.graph(name)
        self.tensors: list[Tensor] = []
        self.values: list[Value] = []
        self.names: list[str] = []
        self.fixed: list[tuple[str, Any]] = []  # the inputs that are numbers or texts
        self.result: Any = None
        self.state: Any = None  # of the generator, when the recording began

    def by_shape(self) -> Recording:
        """Returns a recording of the same function with operators on ``meta``, so that nothing is computed."""
        program, recorder = self.recorder.by_shape()
        return Recording(program, self.name, recorder)

    def input(self, x: Any, name: str) -> Any:
        """Adds a parameter; returns what the function gets for it."""
        return self._stand_in(x, self.graph.add_input(type_text(x, f"input '{name}'"), name), name)

    def _stand_in(self, x: Any, v: Value, name: str) -> Any:
        if isinstance(x, Tensor):
            self.tensors.append(x)
            self.values.append(v)
            self.names.append(name)
            return self.recorder.input(x, v)
        if isinstance(x, (tuple, list)):
            kind = "Tuple" if isinstance(x, tuple) else "List"
            parts = self.graph.insert(f"prim::{kind}Unpack", [v], [type_text(e, name) for e in x]).outputs()
            made = [self._stand_in(e, part, f"{name}[{i}]") for i, (e, part) in enumerate(zip(x, parts, strict=True))]
            return type(x)(*made) if hasattr(x, "_fields") else type(x)(made)
        if isinstance(x, dict):
            return {k: self._entry(e, v, k, f"{name}[{k!r}]") for k, e in x.items()}
        if x is not None:
            self.fixed.append((name, x))
        return x  # a number is a constant of the recording

    def _entry(self, x: Any, v: Value, key: Any, name: str) -> Any:
        node = self.graph.insert("aten::__getitem__.Dict", [v, self.recorder.value(key)], [type_text(x, name)])
        return self._stand_in(x, node.outputs()[0], name)

    def output(self, x: Any) -> Value:
        """Returns the value of the graph for a result of the function."""
        what = "the result"
        if isinstance(x, (tuple, list)):
            kind = "Tuple" if isinstance(x, tuple) else "List"
            return self._made(f"prim::{kind}Construct", [self.output(e) for e in x], type_text(x, what))
        if isinstance(x, dict):
            parts = [p for k, e in x.items() for p in (self.recorder.value(k), self.output(e))]
            return self._made("prim::DictConstruct", parts, type_text(x, what))
        type_text(x, what)
        return self.recorder.value(x)

    def _made(self, op: str, parts: list[Value], type: str) -> Value:
        return self.graph.insert(op, parts, [type]).outputs()[0]

    def run(self, function: Callable, inputs: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """Runs the function with stand-ins, and makes its result the graph's; returns it."""
        try:
            self.recorder.start()
            try:
                result = function(*inputs, **keywords)
            finally:
                self.recorder.stop()
            self.graph.add_output(self.output(result))
            return result
        finally:
            self.recorder.end()


def _real(t: Tensor) -> Tensor:
    return real(t).detach()


def modules_of(module: Any) -> list[Any]:
    """Returns a module and those in it, each once and behind the one that has it; nothing for None."""
    found = [] if module is None else [module]
    seen = {id(module)}
    for m in found:
        for child in m._modules.values():
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                found.append(child)
    return found


def parameter_names(function: Callable, count: int) -> list[str]:
    """Returns a name for each input by place: those of the function's parameters, or `input.1` and so on."""
    own = getattr(function, "__func__", function)
    if type(own) is types.FunctionType and not {"__wrapped__", "__signature__"} & own.__dict__.keys():
        code = own.__code__
        plain = list(code.co_varnames[own is not function : code.co_argcount])  # without self
    else:
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return plain[:count] + [f"input.{i}" for i in range(len(plain), count)]


class Tracing:
    """Records a function or a method of a module, and checks the graph.

    Args:
        program: a program with an empty graph ``name``, and classes for a module
        name: the graph
        function: what is called
        inputs, keywords: its inputs
        module: the module whose parameters and buffers are attributes of the graph's first parameter, or None
    """

    def __init__(self, program: Program, name: str, function: Callable, inputs: tuple[Any, ...],
                 keywords: dict[str, Any], module: Any = None):  # fmt: skip
        self.program, self.name, self.function = program, name, function
        self.modules = modules_of(module)
        self.kept = _Kept(self.modules)
        signed = function.forward if hasattr(function, "forward") else function
        self.names = parameter_names(signed, len(inputs)) + list(keywords)
        self.places = len(inputs)
        self.inputs = [*inputs, *keywords.values()]

    def record(self, inputs: list[Any], strict: bool) -> Recording:
        """Records the function for inputs."""
        recording = Recording(self.program, self.name, Recorder(self.program, self.name, strict))
        if self.modules:
            (own,) = recording.graph.inputs()
            named: list[tuple[Tensor, str]] = []
            prefixes = {id(self.modules[0]): ""}
            for m in self.modules:
                prefix = prefixes[id(m)]
                for name, child in m._modules.items():
                    prefixes.setdefault(id(child), f"{prefix}{name}.")
                for tensors in (m._parameters, m._buffers):
                    for name, t in tensors.items():
                        if t is not None:
                            named.append((t, prefix + name))
            recording.recorder.attributes(own, named)
        recording.result = map_tensors(_real, self.fill(recording, inputs))
        return recording

    def fill(self, recording: Recording, inputs: list[Any]) -> Any:
        """Calls the function with stand-ins for inputs; returns its result."""
        given = [recording.input(x, name) for x, name in zip(inputs, self.names, strict=True)]
        return self.call(recording.run, self.function, given)

    def call(self, run: Callable, function: Any, inputs: list[Any]) -> Any:
        n = self.places
        return run(function, inputs[:n], dict(zip(self.names[n:], inputs[n:], strict=True)) if n < len(inputs) else {})

    def plain(self, inputs: list[Any]) -> Any:
        """Calls the function itself."""
        return self.call(lambda f, args, keywords: f(*args, **keywords), self.function, inputs)

    def copies(self, inputs: list[Any]) -> list[Any]:
        """Returns inputs with tensors of their own, which the function may write."""

        def copy(t: Tensor) -> Tensor:
            made = t.detach().clone()
            return made.requires_grad_() if getattr(t, "requires_grad", False) else made

        return map_tensors(copy, inputs)

    def trace(self, strict: bool) -> Recording:
        """Records the function; buffers that it writes are afterwards as they were."""
        state = lamella.get_rng_state()
        with self.kept:
            recording = self.record(self.copies(self.inputs), strict)
        if self.kept.assigned:
            raise TracingError(
                f"trace: the function assigns the buffer {self.kept.assigned[0]}, and a recording has operators alone; "
                "write into the buffer, as `self.count += 1` and `self.count.copy_(x)` do, or script the module"
            )
        recording.state = state
        for name, x in recording.fixed:
            warn(f"trace: input '{name}' is {x!r}, a constant of the graph: a call with another value gives the same "
                 "results. Give it as a tensor, or script the function")  # fmt: skip
        for text in recording.recorder.warnings:
            warn(text)
        return recording

    # ---- checks ----

    def check(self, recording: Recording, run: Callable[..., Any], tolerance: float, strict: bool,
              more: Sequence[tuple[Any, ...]]) -> None:  # fmt: skip
        """Compares the graph with the function: once more, for other inputs, and by shape for other sizes."""
        state = lamella.get_rng_state()
        try:
            with self.kept:
                lamella.set_rng_state(recording.state)
                again = run(*self.copies(self.inputs))
                self.compare(recording.result, again, "when it runs again", tolerance, strict)
            for inputs in [list(m) for m in more] or [self.others()]:
                self.check_inputs(inputs, run, state, tolerance, strict)
        finally:
            lamella.set_rng_state(state)

        def by_shape(shapes: list[tuple[int, ...]]) -> Graph:
            left = iter(shapes)
            inputs = map_tensors(lambda t: lamella.empty(next(left), dtype=t.dtype, device="meta"), self.inputs)
            made = recording.by_shape()
            self.fill(made, inputs)
            return made.graph

        values = (recording.tensors, recording.values, recording.names)
        for report in replace_sizes(recording.graph, *values, by_shape):
            warn(report)

    def check_inputs(self, inputs: list[Any], run: Callable, state: Any, tolerance: float, strict: bool) -> None:
        with self.kept:
            try:
                lamella.set_rng_state(state)
                expected = self.plain(self.copies(inputs))
            except Exception:  # the function does not admit these inputs
                return
        with self.kept:
            lamella.set_rng_state(state)
            got = run(*self.copies(inputs))
        self.compare(expected, got, "for other inputs", tolerance, strict)

    def others(self) -> list[Any]:
        """Returns inputs with other numbers: those of floating point are drawn anew, others stay."""

        def other(t: Tensor) -> Tensor:
            floating = t.is_floating_point() or t.is_complex()
            return lamella.randn_like(t) if floating else t

        return map_tensors(other, self.inputs)

    def compare(self, expected: Any, got: Any, when: str, tolerance: float, strict: bool) -> None:
        for i, (a, b) in enumerate(zip(tensors_of(expected), tensors_of(got), strict=False)):
            why = _difference(a, b, tolerance)
            if not why:
                continue
            text = f"trace: {when}, the graph and the function differ in tensor {i} of the result: {why}"
            if strict:
                raise TracingCheckError(text)
            warn(text)
            return


class _Kept:
    """Keeps the buffers of modules as they are: what a block writes into them, or assigns, is undone behind it."""

    def __init__(self, modules: list[Any]):
        buffers = [b for m in modules for b in m._buffers.values() if b is not None]
        self.buffers = [[b, b._version, b.detach().clone()] for b in buffers]
        self.places = [(m, dict(m._buffers)) for m in modules if m._buffers]
        self.assigned: list[str] = []  # the buffers that the last block assigned

    def __enter__(self) -> _Kept:
        return self

    def __exit__(self, *error: object) -> None:
        self.assigned = []
        for module, before in self.places:
            for name, buffer in before.items():
                if module._buffers.get(name) is not buffer:
                    self.assigned.append(f"'{name}' of {type(module).__name__}")
                    module._buffers[name] = buffer
        for kept in self.buffers:
            buffer, version, saved = kept
            if buffer._version != version:
                with lamella.no_grad():
                    buffer.copy_(saved)
                kept[1] = buffer._version


def _difference(a: Tensor, b: Tensor, tolerance: float) -> str:
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{a.dtype} of shape {tuple(a.shape)} and {b.dtype} of shape {tuple(b.shape)}"
    a, b = a.detach(), b.detach()
    if lamella.equal(a, b) or lamella.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True):
        return ""
    if not a.is_floating_point():
        return "the elements differ"
    return f"the greatest difference is {(a - b).abs().max().item():.3g}"
