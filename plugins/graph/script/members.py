"""The attributes and methods of tensors, lists, dictionaries, texts and numbers, by the operators that they are."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

from lamella.plugins.graph.script.emit import Value, Word
from lamella.plugins.graph.script.types import (
    COMPLEX,
    DEVICE,
    DTYPE,
    INT,
    STR,
    TENSOR,
    Dict,
    Future,
    List,
    Tuple,
    Type,
)

STR_METHODS = frozenset(
    "join split rsplit splitlines partition rpartition replace strip lstrip rstrip upper lower capitalize title "
    "swapcase isalnum isalpha isdecimal isdigit isidentifier islower isnumeric isprintable isspace "
    "istitle isupper startswith endswith find rfind index rindex count center ljust rjust zfill expandtabs "
    "removeprefix removesuffix format".split()
)
LIST_METHODS = frozenset("append extend insert pop remove index count clear reverse sort copy".split())
DICT_METHODS = frozenset("get setdefault pop popitem clear update keys values items copy".split())


def methods_of(t: Type) -> frozenset[str]:
    """Returns the names of the methods that values of a type have; tensors have others."""
    if t == STR:
        return STR_METHODS
    if isinstance(t, List):
        return LIST_METHODS | {"numel"} if t.element == INT else LIST_METHODS
    if isinstance(t, Dict):
        return DICT_METHODS
    if isinstance(t, Tuple):
        return frozenset({"count", "index", "_asdict", "_replace"})
    if isinstance(t, Future):
        return frozenset({"wait", "value"})
    return frozenset({"conjugate"}) if t == COMPLEX else frozenset()


PROPERTIES: dict[Type, dict[str, str]] = {
    COMPLEX: {"real": "aten::real", "imag": "aten::imag"},
    DEVICE: {"type": "prim::type", "index": "prim::index"},
    DTYPE: {
        "is_floating_point": "prim::is_floating_point",
        "is_complex": "prim::is_complex",
        "is_signed": "prim::is_signed",
        "itemsize": "prim::itemsize",
    },
}


def _transposed(f: Any, x: Value) -> Value:
    return f.program.library(f, "transposed", [x])


def _last_transposed(f: Any, x: Value) -> Value:
    return f.op("aten::transpose", x, f.constant(-2), f.constant(-1))


TENSOR_PROPERTIES: dict[str, str | Callable[[Any, Value], Value]] = {
    "shape": "aten::size",
    "ndim": "aten::dim",
    "dtype": "prim::dtype",
    "device": "prim::device",
    "layout": "prim::layout",
    "requires_grad": "prim::requires_grad",
    "grad": "prim::grad",
    "data": "prim::data",
    "itemsize": "prim::itemsize",
    "nbytes": "prim::nbytes",
    "is_leaf": "aten::is_leaf",
    "is_cpu": "prim::is_cpu",
    "is_cuda": "prim::is_cuda",
    "is_meta": "prim::is_meta",
    "is_mps": "prim::is_mps",
    "is_xpu": "prim::is_xpu",
    "is_sparse": "prim::is_sparse",
    "is_quantized": "prim::is_quantized",
    "T": _transposed,
    "mT": _last_transposed,
    "H": _transposed,
    "mH": _last_transposed,
    "real": "aten::real",
    "imag": "aten::imag",
}

# Methods of tensors that are an operator of another name, or one of the builtins.
TENSOR_METHODS = {
    "dim": "aten::dim",
    "ndimension": "aten::dim",
    "numel": "aten::numel",
    "nelement": "aten::numel",
    "size": "aten::size",
    "stride": "aten::stride",
    "storage_offset": "aten::storage_offset",
    "element_size": "aten::element_size",
    "get_device": "aten::get_device",
    "is_contiguous": "aten::is_contiguous",
    "is_floating_point": "aten::is_floating_point",
    "is_complex": "aten::is_complex",
    "is_signed": "aten::is_signed",
    "is_same_size": "aten::is_same_size",
    "is_conj": "aten::is_conj",
    "is_neg": "aten::is_neg",
    "is_inference": "aten::is_inference",
    "item": "aten::item",
    "tolist": "aten::tolist",
    "backward": "aten::backward",
    "requires_grad_": "aten::requires_grad_",
    "detach": "aten::detach",
    "__len__": "aten::len",
}

# Methods that convert to a dtype.
DTYPE_METHODS = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "bool": "bool",
    "cfloat": "complex64",
    "cdouble": "complex128",
}

# Methods that library.py writes in the scripted language.
LIBRARY_METHODS = frozenset(
    "type_as cpu cuda view_as reshape_as expand_as new_zeros new_ones new_full new_empty adjoint "
    "allclose isreal nonzero resolve_conj resolve_neg".split()
)

# Methods that are an operator whose second argument is the tensor.
SECOND_METHODS = frozenset({"polygamma", "where"})


def is_tensor_method(name: str) -> bool:
    """Returns whether tensors have a method in scripts: those above, every operator that is a method in Python, and
    the functions that plugins contribute as methods."""
    import lamella

    if name in TENSOR_METHODS or name in DTYPE_METHODS or name in LIBRARY_METHODS or name in SECOND_METHODS:
        return True
    return operator_of(lamella.Tensor, name) is not None or contributed(name) is not None


def contributed(name: str) -> types.FunctionType | None:
    """Returns the function of Python that a plugin contributes as a method of tensors; None for other names."""
    import lamella

    found = inspect.getattr_static(lamella.Tensor, name, None)
    if not isinstance(found, types.FunctionType) or found.__module__.startswith("lamella._"):
        return None
    kinds = {p.kind for p in inspect.signature(found).parameters.values()}
    return None if kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} else found


def operator_of(owner: Any, name: str) -> str | None:
    """Returns ``aten::name`` if the attribute of a class or a module is an operator; else None."""
    import lamella

    try:
        found = getattr(owner, name)
    except AttributeError:
        return None
    return operator_name(found) if isinstance(found, type(lamella.ops.aten.add)) else None


def operator_name(packet: Any) -> str:
    """Returns the name of an operator as graphs have it: ``aten::add``."""
    schemas = packet.schemas
    return schemas[0].partition("(")[0].partition(".")[0] if schemas else str(packet)[len("<operator ") : -1]


def dtype(name: str) -> Word:
    """Returns the literal of a dtype."""
    return Word(str(DTYPE), name)


__all__ = ["PROPERTIES", "TENSOR", "TENSOR_PROPERTIES", "methods_of"]
