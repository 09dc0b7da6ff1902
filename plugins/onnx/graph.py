"""The graph that translations write: nodes, initializers and names of ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import lcm
from typing import Any, NamedTuple

import lamella
import numpy as np
from onnx import TensorProto, helper

from .errors import OnnxExporterError
from .sizes import Fit, Size

TYPES = {
    "bool": "BOOL", "int8": "INT8", "int16": "INT16", "int32": "INT32", "int64": "INT64", "uint8": "UINT8",
    "uint16": "UINT16", "uint32": "UINT32", "uint64": "UINT64", "float16": "FLOAT16", "bfloat16": "BFLOAT16",
    "float32": "FLOAT", "float64": "DOUBLE", "complex64": "COMPLEX64", "complex128": "COMPLEX128",
}  # fmt: skip


def onnx_type(dtype: Any) -> int:
    """Returns ONNX's number of a dtype.

    Raises:
        OnnxExporterError: ONNX does not have it
    """
    name = str(dtype).rpartition(".")[2]
    if name not in TYPES:
        raise OnnxExporterError(f"export: there is no dtype {name} in ONNX; convert the tensor before")
    return getattr(TensorProto, TYPES[name])


def host(values: Any, dtype: Any) -> Any:
    """Returns a tensor of numbers in the host's memory, whatever the default device is."""
    return lamella.from_numpy(np.array(values)).to(dtype)


class Name(str):
    """The name of a tensor in the graph, with its dtype and shape if a recorded operator has made it."""

    dtype: Any = None
    shape: tuple[Any, ...] = ()

    @property
    def ndim(self) -> int:
        return len(self.shape)


class Result(NamedTuple):
    """What the operator that is being translated returns."""

    dtype: Any
    shape: tuple[int | Size, ...]


def named(name: str, dtype: Any, shape: Sequence[Any]) -> Name:
    made = Name(name)
    made.dtype, made.shape = dtype, tuple(shape)
    return made


class Graph:
    """A graph in the making. ``g.Mul(x, 2.0)`` writes a node of type Mul and returns the name of its output.

    An operand is a name; None for an input that is left out; a number, which becomes a tensor without dimensions of
    ``g.dtype``; a list of integers, which becomes one of int64; or a tensor of Lamella, which becomes an initializer.
    Integers may be sizes that depend on dynamic axes. Keywords are attributes; ``outputs=2`` asks for a tuple of names.

    Attributes:
        dtype: the dtype of the operator that is being translated, to which pointwise operands have been converted
        results: what it returns, as ``Result(dtype, shape)``; ``result`` is the first
        opset: the version of ONNX's operators
    """

    def __init__(self, opset: int, fit: Fit):
        self.opset, self.fit = opset, fit
        self.nodes: list[Any] = []
        self.initializers: dict[str, Any] = {}
        self.domains: set[str] = set()
        self.path, self.dtype = "", lamella.float32
        self.results: list[Result] = []
        self.values: dict[int, Name] = {}  # by the number of a recorded value
        self._taken: set[str] = set()
        self._constants: dict[Any, Name] = {}
        self._sizes: dict[Any, Name] = {}

    def __getattr__(self, op: str) -> Any:
        if not op[0].isupper():
            raise AttributeError(f"the graph has no attribute {op!r}; types of nodes begin with a capital letter")
        return partial(self.call, op)

    @property
    def result(self) -> Result:
        return self.results[0]

    def free(self, name: str) -> str:
        """Returns a name that is not taken yet, and takes it."""
        found, i = name, 0
        while found in self._taken:
            i += 1
            found = f"{name}_{i}"
        self._taken.add(found)
        return found

    def call(self, op: str, *inputs: Any, outputs: int = 0, domain: str = "", **attributes: Any) -> Any:
        """Writes a node of any type, also of another domain, and returns the name of its output, or a tuple of them."""
        operands = [self.operand(v) for v in inputs]
        while operands and not operands[-1]:
            operands.pop()
        title = self.free(f"{self.path}/{op}")
        made = [Name(self.free(f"{title}_output_{i}")) for i in range(outputs or 1)]
        attributes = {name: value for name, value in attributes.items() if value is not None}
        self.nodes.append(helper.make_node(op, operands, made, name=title, domain=domain or None, **attributes))
        self.domains.add(domain)
        return tuple(made) if outputs else made[0]

    # ---- operands ----------------------------------------------------------------------------------------------------

    def operand(self, value: Any) -> str:
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        if isinstance(value, list | tuple):
            return self.vector(value)
        if isinstance(value, lamella.Tensor):
            return self.initializer("constant", value)
        if isinstance(value, Size):
            return self.Cast(self.Squeeze(self.size(value), [0]), to=onnx_type(self.dtype))
        return self.number(value, self.dtype)

    def number(self, value: Any, dtype: Any) -> Name:
        """Returns a tensor without dimensions that holds a number."""
        if isinstance(value, Size):
            return self.cast(self.Squeeze(self.size(value), [0]), dtype)
        if not dtype.is_floating_point and not dtype.is_complex and isinstance(value, float) and value == int(value):
            value = int(value)
        return self._constant(("number", repr(value), str(dtype)), host(value, dtype))

    def vector(self, values: Sequence[Any]) -> Name:
        """Returns a tensor of int64 with one dimension."""
        if not any(isinstance(v, Size) for v in values):
            return self._constant(("vector", tuple(values)), host([int(v) for v in values], lamella.int64))
        parts = [self.size(v) if isinstance(v, Size) else self.vector([v]) for v in values]
        return parts[0] if len(parts) == 1 else self.Concat(*parts, axis=0)

    def _constant(self, key: Any, tensor: Any) -> Name:
        if key not in self._constants:
            self._constants[key] = self.initializer("constant", tensor)
        return self._constants[key]

    def initializer(self, name: str, tensor: Any, reserved: bool = False) -> Name:
        """Returns the name of an initializer with the values of a tensor; a name that is not reserved may change."""
        if tensor.is_meta:
            raise OnnxExporterError(f"export: {name!r} is on meta and has no values; pass export_params=False")
        t = tensor.detach().cpu().contiguous()
        raw = (t.view(lamella.int16) if t.dtype is lamella.bfloat16 else t).numpy().tobytes()
        made = named(name if reserved else self.free(name), t.dtype, t.shape)
        self.initializers[made] = helper.make_tensor(made, onnx_type(t.dtype), list(t.shape), raw, raw=True)
        return made

    # ---- sizes that depend on dynamic axes ---------------------------------------------------------------------------

    def size(self, size: Size) -> Name:
        """Returns a tensor of one int64 that holds a size."""
        key = frozenset(size.terms.items())
        if key in self._sizes:
            return self._sizes[key]
        below = lcm(*(c.denominator for c in size.terms.values()))
        total: Any = None
        for monomial, c in size.terms.items():
            part: Any = None
            for symbol in monomial:
                factor = self._symbol(symbol)
                part = factor if part is None else self.Mul(part, factor)
            if part is None or c * below != 1:
                part = self.vector([int(c * below)]) if part is None else self.Mul(part, [int(c * below)])
            total = part if total is None else self.Add(total, part)
        made = total if below == 1 else self.Div(total, [below])
        self._sizes[key] = made
        return made

    def _symbol(self, name: str) -> Name:
        source = self.fit.sources[name]
        key = frozenset({((name,), 1)})
        if key not in self._sizes:
            if source.value not in self.values:
                raise OnnxExporterError(
                    f"a size of its result does not follow from the dynamic axes {', '.join(self.fit.runs[0])}"
                )
            self._sizes[key] = self.Shape(self.values[source.value], start=source.dim, end=source.dim + 1)
        return self._sizes[key]

    # ---- what translations use ---------------------------------------------------------------------------------------

    def cast(self, x: Any, dtype: Any) -> Name:
        """Converts a tensor to a dtype, if it is not known to have it."""
        if getattr(x, "dtype", None) is dtype:
            return x
        made = self.Cast(x, to=onnx_type(dtype))
        made.dtype, made.shape = dtype, getattr(x, "shape", ())
        return made

    def reshape(self, x: Any, shape: Sequence[Any]) -> Name:
        """Reshapes a tensor. One size that depends on dynamic axes is left to ONNX to find."""
        open_ones = [i for i, n in enumerate(shape) if isinstance(n, Size)]
        unknown = [i for i in open_ones if any(self._own(s) for m in shape[i].terms for s in m)] or open_ones
        if len(unknown) == 1 or len(open_ones) == 1:
            shape = [-1 if i == unknown[0] else n for i, n in enumerate(shape)]
        return self.Reshape(x, list(shape), allowzero=1 if 0 in shape and -1 not in shape else None)

    def _own(self, symbol: str) -> bool:
        """Returns whether a symbol is the size of a value that is not in the graph yet."""
        return self.fit.sources[symbol].value not in self.values

    def expand(self, x: Any, shape: Sequence[Any]) -> Name:
        """Repeats a tensor along dimensions of size 1, and new ones before; -1 keeps a size."""
        return self.Expand(x, [1 if n == -1 else n for n in shape])

    def flags(self, x: Any) -> Name:
        """Converts a tensor to bool."""
        return self.cast(x, lamella.bool)
