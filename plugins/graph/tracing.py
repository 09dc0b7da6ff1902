"""``jit.trace``: runs a function once with stand-ins for its tensors, and keeps what it calls as a graph."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import lamella
from lamella import Tensor

from ._python import Graph, Program, Recorder, Value
from .sizes import Sizes


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
        strict: whether the function may not read values of tensors
        by_shape: whether operators run on ``meta``, so that nothing is computed
    """

    def __init__(self, program: Program, name: str, strict: bool, by_shape: bool = False):
        self.program, self.name = program, name
        self.graph: Graph = program.graph(name)
        self.recorder = Recorder(program, name, strict, by_shape)
        self.tensors: list[Tensor] = []
        self.values: list[Value] = []
        self.names: list[str] = []
        self.fixed: list[tuple[str, Any]] = []  # the inputs that are numbers or texts
        self.result: Any = None
        self.state: Any = None  # of the generator, when the recording began

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

    def run(self, function: Callable, inputs: Sequence[Any], keywords: dict[str, Any]) -> None:
        """Runs the function with stand-ins, and makes its result the graph's."""
        try:
            self.recorder.start()
            try:
                result = function(*inputs, **keywords)
            finally:
                self.recorder.stop()
            self.result = map_tensors(_real, result)
            self.graph.add_output(self.output(result))
        finally:
            self.recorder.end()


def _real(t: Tensor) -> Tensor:
    from ._python import real

    return real(t).detach()


def parameter_names(function: Callable, count: int) -> list[str]:
    """Returns a name for each input by place: those of the function's parameters, or `input.1` and so on."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return plain[:count] + [f"input.{i}" for i in range(len(plain), count)]


class Tracing:
    """Records a function or a method of a module, and checks the graph.

    Args:
        program: makes a program with an empty graph ``name``, and classes for a module
        name: the graph
        function: what is called
        inputs, keywords: its inputs
        module: the module whose parameters and buffers are attributes of the graph's first parameter, or None
    """

    def __init__(self, program: Callable[[], Program], name: str, function: Callable, inputs: tuple[Any, ...],
                 keywords: dict[str, Any], module: Any = None):  # fmt: skip
        self.make, self.name, self.function, self.module = program, name, function, module
        signed = function.forward if hasattr(function, "forward") else function
        self.names = parameter_names(signed, len(inputs)) + list(keywords)
        self.places = len(inputs)
        self.inputs = [*inputs, *keywords.values()]

    def record(self, inputs: list[Any], strict: bool, by_shape: bool = False) -> Recording:
        """Records the function for inputs."""
        recording = Recording(self.make(), self.name, strict, by_shape)
        if self.module is not None:
            (own,) = recording.graph.inputs()
            seen: set[int] = set()
            for path, m in self.module.named_modules():
                for name, t in (*m._parameters.items(), *m._buffers.items()):
                    if t is not None and id(t) not in seen:
                        seen.add(id(t))
                        recording.recorder.attribute(t, own, [*path.split("."), name] if path else [name])
        given = [recording.input(x, name) for x, name in zip(inputs, self.names, strict=True)]
        self.call(recording.run, self.function, given)
        return recording

    def call(self, run: Callable, function: Any, inputs: list[Any]) -> Any:
        keywords = dict(zip(self.names[self.places :], inputs[self.places :], strict=True))
        return run(function, inputs[: self.places], keywords)

    def plain(self, inputs: list[Any]) -> Any:
        """Calls the function itself."""
        return self.call(lambda f, args, keywords: f(*args, **keywords), self.function, inputs)

    def copies(self, inputs: list[Any]) -> list[Any]:
        """Returns inputs with tensors of their own, which the function may write."""
        return map_tensors(lambda t: t.detach().clone().requires_grad_(t.requires_grad), inputs)

    def trace(self, strict: bool) -> Recording:
        """Records the function; buffers that it writes are afterwards as they were."""
        state = lamella.get_rng_state()
        with _Kept(self.module):
            recording = self.record(self.copies(self.inputs), strict)
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
            with _Kept(self.module):
                lamella.set_rng_state(recording.state)
                again = run(*self.copies(self.inputs))
                self.compare(recording.result, again, "when it runs again", tolerance, strict)
            for inputs in [list(m) for m in more] or [self.others()]:
                self.check_inputs(inputs, run, state, tolerance, strict)
        finally:
            lamella.set_rng_state(state)
        values = (recording.tensors, recording.values, recording.names)
        for report in Sizes(recording.graph, *values, self.by_shape).run():
            warn(report)

    def check_inputs(self, inputs: list[Any], run: Callable, state: Any, tolerance: float, strict: bool) -> None:
        with _Kept(self.module):
            try:
                lamella.set_rng_state(state)
                expected = self.plain(self.copies(inputs))
            except Exception:  # the function does not admit these inputs
                return
        with _Kept(self.module):
            lamella.set_rng_state(state)
            got = run(*self.copies(inputs))
        self.compare(expected, got, "for other inputs", tolerance, strict)

    def others(self) -> list[Any]:
        """Returns inputs with other numbers: those of floating point are drawn anew, others stay."""

        def other(t: Tensor) -> Tensor:
            floating = t.is_floating_point() or t.is_complex()
            return lamella.randn_like(t) if floating else t

        return map_tensors(other, self.inputs)

    def by_shape(self, shapes: list[tuple[int, ...]]) -> Graph:
        left = iter(shapes)
        inputs = map_tensors(lambda t: lamella.empty(next(left), dtype=t.dtype, device="meta"), self.inputs)
        return self.record(inputs, strict=True, by_shape=True).graph

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
    """Keeps the buffers of a module: what a block writes into them is undone behind it."""

    def __init__(self, module: Any):
        buffers = module.buffers() if module is not None else ()
        self.buffers = [(b, b._version, b.detach().clone()) for b in buffers]

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        with lamella.no_grad():
            for buffer, version, saved in self.buffers:
                if buffer._version != version:
                    buffer.copy_(saved)


def _difference(a: Tensor, b: Tensor, tolerance: float) -> str:
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{a.dtype} of shape {tuple(a.shape)} and {b.dtype} of shape {tuple(b.shape)}"
    a, b = a.detach(), b.detach()
    if lamella.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True):
        return ""
    if not a.is_floating_point():
        return "the elements differ"
    return f"the greatest difference is {(a - b).abs().max().item():.3g}"
