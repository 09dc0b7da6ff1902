"""Writes the type stubs from the live registry: ``python -m lattis.stubs FOLDER`` (``make stubs``).

Only operators are generated; the types that are written by hand in C++ are described in ``TYPES`` below.
"""

from __future__ import annotations

import inspect
import keyword
import sys
from pathlib import Path

from lattis._namespace import PROPERTIES

HEAD = '''# Made by `make stubs` from the live registry; a test compares. Do not edit.
'''

TYPES = '''
from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

Number = int | float | bool | complex
_int = int
_float = float
_bool = bool

class dtype:
    @property
    def itemsize(self) -> _int: ...
    @property
    def is_floating_point(self) -> _bool: ...
    @property
    def is_complex(self) -> _bool: ...
    @property
    def is_signed(self) -> _bool: ...

class layout: ...
class memory_format: ...

class device:
    def __init__(self, type: device | str, index: _int | None = None) -> None: ...
    @property
    def type(self) -> str: ...
    @property
    def index(self) -> _int | None: ...

class Size(tuple[_int, ...]):
    def numel(self) -> _int: ...

class Generator:
    def __init__(self, device: device | str = "cpu") -> None: ...
    def manual_seed(self, seed: _int) -> Generator: ...
    def initial_seed(self) -> _int: ...
    def get_state(self) -> tuple[_int, _int]: ...
    def set_state(self, state: tuple[_int, _int]) -> Generator: ...
    @property
    def device(self) -> device: ...

class OutOfMemoryError(RuntimeError): ...

class Call:
    name: str
    overload: str
    schema: str
    category: str
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

_Dtype = dtype | str | type
_Device = device | str
_Index = Any
'''

TENSOR = '''
class Tensor:
    shape: Size
    dtype: dtype
    device: device
    ndim: _int
    itemsize: _int
    nbytes: _int
    T: Tensor
    mT: Tensor
    mH: Tensor
    H: Tensor
    _version: _int
    _base: Tensor | None
    _keys: _int
    def __init__(self, *args: Any) -> None: ...
    def size(self, dim: _int | None = None) -> Any: ...
    def stride(self, dim: _int | None = None) -> Any: ...
    def data_ptr(self) -> _int: ...
    def element_size(self) -> _int: ...
    def is_contiguous(self, memory_format: memory_format = ...) -> _bool: ...
    def numel(self) -> _int: ...
    def nelement(self) -> _int: ...
    def dim(self) -> _int: ...
    def ndimension(self) -> _int: ...
    def storage_offset(self) -> _int: ...
    def is_floating_point(self) -> _bool: ...
    def is_complex(self) -> _bool: ...
    def _storage_ptr(self) -> _int: ...
    def _storage_nbytes(self) -> _int: ...
    def _storage_id(self) -> _int: ...
    def storage(self) -> Any: ...
    def untyped_storage(self) -> Any: ...
    def new_empty(self, *size: _int | Sequence[_int], dtype: _Dtype | None = None, device: _Device | None = None, **keywords: Any) -> Tensor: ...
    def new_zeros(self, *size: _int | Sequence[_int], dtype: _Dtype | None = None, device: _Device | None = None, **keywords: Any) -> Tensor: ...
    def new_ones(self, *size: _int | Sequence[_int], dtype: _Dtype | None = None, device: _Device | None = None, **keywords: Any) -> Tensor: ...
    def new_full(self, size: Sequence[_int], fill_value: Number, *, dtype: _Dtype | None = None, device: _Device | None = None, **keywords: Any) -> Tensor: ...
    def new_tensor(self, data: Any, *, dtype: _Dtype | None = None, device: _Device | None = None, requires_grad: _bool = False, **keywords: Any) -> Tensor: ...
    def type(self, dtype: Any = None) -> Any: ...
    def equal(self, other: Tensor) -> _bool: ...
    def allclose(self, other: Tensor, rtol: _float = ..., atol: _float = ..., equal_nan: _bool = ...) -> _bool: ...
    def numpy(self, *, force: _bool = False) -> Any: ...
    def tolist(self) -> Any: ...
    def type_as(self, other: Tensor) -> Tensor: ...
    def cpu(self) -> Tensor: ...
    def byte(self) -> Tensor: ...
    def char(self) -> Tensor: ...
    def cfloat(self) -> Tensor: ...
    def cdouble(self) -> Tensor: ...
    def short(self) -> Tensor: ...
    def long(self) -> Tensor: ...
    def half(self) -> Tensor: ...
    def bfloat16(self) -> Tensor: ...
    def double(self) -> Tensor: ...
    def float(self) -> Tensor: ...
    def int(self) -> Tensor: ...
    def bool(self) -> Tensor: ...
    def __array__(self, dtype: Any = None, copy: _bool | None = None) -> Any: ...
    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[_int, _int]: ...
    def __getitem__(self, index: _Index) -> Tensor: ...
    def __setitem__(self, index: _Index, value: Any) -> None: ...
    def __len__(self) -> _int: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __contains__(self, value: Any) -> _bool: ...
    def __bool__(self) -> _bool: ...
    def __int__(self) -> _int: ...
    def __float__(self) -> _float: ...
    def __complex__(self) -> complex: ...
    def __index__(self) -> _int: ...
    def __hash__(self) -> _int: ...
    def __neg__(self) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]
    def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]
'''

BINARY = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
REFLECTED = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
INPLACE = "add sub mul truediv floordiv mod pow and or xor lshift rshift".split()
COMPARISONS = "lt le gt ge".split()

KINDS = {
    "Tensor": "Tensor",
    "Scalar": "Number",
    "int": "_int",
    "SymInt": "_int",
    "float": "_float",
    "bool": "_bool",
    "str": "str",
    "ScalarType": "_Dtype",
    "Layout": "layout",
    "Device": "_Device",
    "MemoryFormat": "memory_format",
    "Generator": "Generator",
}


def annotation(schema_type: str) -> str:
    """A schema's type in Python: "int[2]?" is "Sequence[_int] | _int | None"."""
    optional = schema_type.endswith("?")
    base = schema_type.rstrip("?")
    if "[" in base:
        inner, _, size = base.partition("[")
        element = annotation(inner)
        text = f"Sequence[{element}]"
        if size.rstrip("]") and inner in ("int", "SymInt"):
            text += " | _int"
    else:
        text = KINDS.get(base, "Any")
    return text + " | None" if optional else text


def parameter(arg: dict, method_self: bool) -> str:
    if method_self:
        return "self"
    name = arg["name"] + ("_" if keyword.iskeyword(arg["name"]) else "")
    text = f"{name}: {annotation(arg['type'])}"
    return text + " = ..." if arg["has_default"] else text


def returned(op: dict) -> str:
    kinds = [annotation(t) for t, _ in op["returns"]]
    if len(kinds) == 1:
        return kinds[0]
    return f"tuple[{', '.join(kinds)}]" if kinds else "None"


def signature(op: dict, method: bool, out: bool, name: str) -> str:
    parts, starred = [], False
    for i, arg in enumerate(op["args"]):
        if arg["keyword_only"] and not starred:
            parts.append("*")
            starred = True
        parts.append(parameter(arg, method and i == 0))
    spread = next((i for i, a in enumerate(op["args"]) if a["type"] == "SymInt[]" and i == int(method)), None)
    if spread is not None and name in ("empty", "zeros", "ones", "rand", "randn", "view", "reshape", "permute", "expand"):
        parts[spread] = f"*{op['args'][spread]['name']}: _int | Sequence[_int]"
        parts = [p for p in parts if p != "*"]
        starred = True
    if out:
        if not starred:
            parts.append("*")
        count = len(op["returns"])
        parts.append("out: Tensor | None = None" if count == 1 else f"out: tuple[{', '.join(['Tensor'] * count)}] | None = None")
    return f"def {name}({', '.join(parts)}) -> {returned(op)}: ..."


def definitions(ops: list[dict], method: bool, outs: set[str], indent: str) -> list[str]:
    by_name: dict[str, list[str]] = {}
    for op in ops:
        name = op["name"].partition("::")[2]
        wanted = op["method"] if method else op["function"]
        if method and name in PROPERTIES:
            by_name[name] = [f"{name}: Tensor"]
            continue
        if not op["name"].startswith("aten::") or op["form"] == "out" or op["private"] or not wanted:
            continue
        out = op["form"] == "functional" and f"{name}.{op['overload']}" in outs and not method
        text = signature(op, method, out, name)
        if text not in by_name.setdefault(name, []):
            by_name[name].append(text)
    lines = []
    for _name, texts in sorted(by_name.items()):
        for text in texts:
            if len(texts) > 1:
                lines.append(f"{indent}@overload")
            lines.append(f"{indent}{text}")
    return lines


def native_stub() -> str:
    """The text of ``_C.pyi``."""
    from lattis import _C

    ops = _C._operators()
    outs = with_out(ops)
    lines = [HEAD.rstrip(), TYPES.strip("\n"), TENSOR.rstrip()]
    for word, names in (("", BINARY), ("r", REFLECTED), ("i", INPLACE), ("", COMPARISONS)):
        lines += [f"    def __{word}{n}__(self, other: Any) -> Tensor: ..." for n in names]
    lines += definitions(ops, True, outs, "    ")
    for name in sorted(vars(_C)):
        value = getattr(_C, name)
        kind = type(value).__name__
        if kind in ("dtype", "layout", "memory_format"):
            lines.append(f"{name}: {kind}")
        elif name.startswith("_") and callable(value) and not name.startswith("__") or name in ("get_num_threads", "get_default_dtype", "from_numpy"):
            lines.append(f"{name}: Callable[..., Any]" if name != "_Library" else "_Library: Any")
    lines += ["_api: Any", "_compiler: str", "__version__: str"]
    return "\n".join(lines) + "\n"


def with_out(ops: list[dict]) -> set[str]:
    """ "name.overload" of the functional forms that take out=."""
    return {f"{o['name'].partition('::')[2]}.{o['overload']}" for o in ops if o["form"] == "functional" and has_out(o, ops)}


def has_out(op: dict, ops: list[dict]) -> bool:
    wanted = "out" if op["overload"] in ("", "Tensor") else op["overload"] + "_out"
    return any(o["form"] == "out" and o["name"] == op["name"] and o["overload"] == wanted for o in ops)


def package_stub() -> str:
    """The text of ``__init__.pyi``."""
    import lattis
    from lattis import _C, _functions

    ops = _C._operators()
    outs = with_out(ops)
    native = [n for n in lattis.__all__ if n in vars(_C)]
    python = [n for n in lattis.__all__ if n in vars(_functions) and n not in vars(_C)]
    lines = [HEAD.rstrip(), "from collections.abc import Sequence", "from typing import overload", ""]
    lines.append("__all__: list[str]")
    lines.append("from lattis import library as library")
    lines.append("from lattis import nn as nn")
    lines.append("from lattis import plugins as plugins")
    lines.append("from lattis import testing as testing")
    hidden = ["Number", "_bool", "_Device", "_Dtype", "_float", "_int", "__version__"]
    lines += [f"from lattis._C import {n} as {n}" for n in sorted(native) + hidden]
    lines += [f"from lattis._functions import {n} as {n}" for n in sorted(python)]
    lines += ["from lattis._namespace import ops as ops", ""]
    lines += definitions(ops, False, outs, "")
    return "\n".join(lines) + "\n"


def main(folder: str) -> None:
    Path(folder, "_C.pyi").write_text(native_stub())
    Path(folder, "__init__.pyi").write_text(package_stub())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(inspect.cleandoc(__doc__ or ""))
    main(sys.argv[1])
