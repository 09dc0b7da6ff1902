"""Functions of dtypes (limits, promotion, names), and Tensor's methods that return its dtype or convert it."""

from __future__ import annotations

import builtins
import sys
from typing import Any

from lamella import _C
from lamella._C import Tensor, dtype
from lamella._creation import tensor
from lamella._devices import host

_FLOATS = {  # maps a name to: bits, smallest normal exponent, mantissa bits, largest number
    "float8_e4m3fn": (8, -6, 3, 448.0),
    "float8_e5m2": (8, -14, 2, 57344.0),
    "float16": (16, -14, 10, 65504.0),
    "bfloat16": (16, -126, 7, 3.3895313892515355e38),
    "float32": (32, -126, 23, 3.4028234663852886e38),
    "float64": (64, -1022, 52, 1.7976931348623157e308),
}


class finfo:
    """Limits of a floating dtype, or of the parts of a complex one: bits, eps, max, min, tiny, smallest_normal,
    resolution.

    >>> lamella.finfo(lamella.float32).eps
    1.1920928955078125e-07
    """

    def __init__(self, type: dtype | None = None):
        type = _C.get_default_dtype() if type is None else type
        name = str(type).rpartition(".")[2]
        if isinstance(type, dtype) and type.is_complex:
            name = {"complex64": "float32", "complex128": "float64"}[name]
        if name not in _FLOATS:
            raise TypeError(f"finfo: argument 'type' must be a floating dtype, got {type}; use iinfo for integers")
        self.bits, exponent, mantissa, self.max = _FLOATS[name]
        self.dtype = name
        self.min = -self.max
        self.eps = 2.0**-mantissa
        self.tiny = self.smallest_normal = 2.0**exponent
        self.resolution = 10.0 ** -int(mantissa * 0.30103)

    def __repr__(self):
        limits = f"resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}"
        return f"finfo({limits}, dtype={self.dtype})"


class iinfo:
    """Limits of an integer dtype: bits, min, max.

    >>> lamella.iinfo(lamella.int8).max
    127
    """

    def __init__(self, type: dtype):
        if not isinstance(type, dtype) or type.is_floating_point or type.is_complex or type is _C.bool:
            raise TypeError(f"iinfo: argument 'type' must be an integer dtype, got {type}; use finfo for floats")
        self.dtype = str(type).rpartition(".")[2]
        self.bits = 8 * type.itemsize
        signed = not self.dtype.startswith("u")
        self.max = 2 ** (self.bits - signed) - 1
        self.min = -(2 ** (self.bits - 1)) if signed else 0

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """Returns the dtype of the result of an operation on tensors of two dtypes.

    The rules are those of the array API standard. Where it has none, they are torch's: an integer with a float gives
    the float, float16 with bfloat16 gives float32.

    Raises:
        RuntimeError: there is no such dtype, as for uint64 with a signed integer or an 8-bit float with any other dtype

    >>> lamella.promote_types(lamella.uint8, lamella.int8)
    lamella.int16
    """
    return _C._promote(type1, type2)


def result_type(tensor1, tensor2) -> dtype:
    """Returns the dtype of an operation on two tensors or numbers, by torch's category rule. Shapes need not broadcast.

    >>> lamella.result_type(lamella.tensor([1]), 1.5)
    lamella.float32
    """
    empty = _C._packet("aten::empty")

    def like(t: Any) -> Any:  # of one element, in no or one dimension: zero-dim tensors count less
        return empty((1,) * min(t.ndim, 1), dtype=t.dtype, device="meta") if isinstance(t, Tensor) else t

    pair = [like(tensor1), like(tensor2)]
    if not any(isinstance(t, Tensor) for t in pair):
        pair[0] = tensor(pair[0], device="meta")
    return _C._packet("aten::where")(empty((), dtype=_C.bool, device="meta"), *pair).dtype


def can_cast(from_, to) -> bool:
    """Returns whether ``to`` is of the same or a later class in: bool, integers, floats, complex.

    Signed integers cannot be cast to unsigned ones.

    >>> lamella.can_cast(lamella.float64, lamella.float32), lamella.can_cast(lamella.float32, lamella.int64)
    (True, False)
    """

    def rank(dtype):
        if dtype is _C.bool:
            return 0
        return 3 if dtype.is_complex else 2 if dtype.is_floating_point else 1

    signs = rank(from_) == rank(to) == 1 and from_.is_signed and not to.is_signed
    return rank(from_) <= rank(to) and not signs


def is_floating_point(input: Tensor) -> bool:
    """Returns whether the dtype is floating.

    >>> lamella.is_floating_point(lamella.ones(1))
    True
    """
    return input.is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Returns whether the dtype is complex.

    >>> lamella.is_complex(lamella.ones(1))
    False
    """
    return input.is_complex()


def is_signed(input) -> bool:
    """Returns whether the dtype has negative numbers.

    >>> lamella.is_signed(lamella.ones(1)), lamella.is_signed(lamella.ones(1, dtype=lamella.uint8))
    (True, False)
    """
    return input.dtype.is_signed


def typename(obj) -> str:
    """Returns the name of a tensor's type, or the name of another object or of its type, with its module.

    >>> lamella.typename(lamella.ones(1)), lamella.typename(1)
    ('lamella.FloatTensor', 'int')
    """
    if isinstance(obj, Tensor):
        return obj.type()
    kind = obj if hasattr(obj, "__qualname__") else builtins.type(obj)
    home = getattr(kind, "__module__", None) or ""
    return kind.__qualname__ if home in ("", "builtins", "__builtin__") else f"{home}.{kind.__qualname__}"


_TYPE_NAMES = {
    _C.bool: "Bool",
    _C.uint8: "Byte",
    _C.uint16: "UInt16",
    _C.uint32: "UInt32",
    _C.uint64: "UInt64",
    _C.int8: "Char",
    _C.int16: "Short",
    _C.int32: "Int",
    _C.int64: "Long",
    _C.float16: "Half",
    _C.bfloat16: "BFloat16",
    _C.float8_e4m3fn: "Float8_e4m3fn",
    _C.float8_e5m2: "Float8_e5m2",
    _C.float32: "Float",
    _C.float64: "Double",
    _C.complex64: "ComplexFloat",
    _C.complex128: "ComplexDouble",
}


def type(self, dtype=None, non_blocking=False):
    """Returns the name of the type, ``"lamella.FloatTensor"``; or, with a dtype or a type, ``self`` converted to it.

    If ``lamella run`` runs a program that imports ``torch``, the name is ``"torch.FloatTensor"``.

    Raises:
        TypeError: ``dtype`` is neither a dtype, nor a type, nor the name of a type

    >>> lamella.ones(1).type(), lamella.ones(1).type(lamella.int64)
    ('lamella.FloatTensor', tensor([1]))
    """
    if dtype is None:
        home = "torch" if "torch" in sys.modules and sys.modules["torch"] is sys.modules["lamella"] else "lamella"
        return f"{home}.{_TYPE_NAMES.get(self.dtype, str(self.dtype)[8:])}Tensor"
    names = {f"{home}.{name}Tensor": d for d, name in _TYPE_NAMES.items() for home in ("lamella", "torch")}
    wanted = names.get(dtype) if isinstance(dtype, str) else dtype
    if wanted is Tensor:
        wanted = _C.get_default_dtype()
    elif isinstance(kind := getattr(wanted, "dtype", None), _C.dtype):  # FloatTensor and the other typed constructors
        wanted, device = kind, wanted.kind or host()
        return self.to(device, kind, non_blocking=non_blocking)
    if not isinstance(wanted, (_C.dtype, builtins.type)):
        raise TypeError(f"type: argument 'dtype' must be a dtype or a name as 'torch.FloatTensor', got {dtype!r}")
    return self.to(wanted, non_blocking=non_blocking)


def type_as(self, other):
    """Converts ``self`` to the dtype of ``other``.

    >>> lamella.ones(1).type_as(lamella.tensor([1])).dtype
    lamella.int64
    """
    return self.to(other.dtype)


CASTS = "bool short int long half bfloat16 float double cfloat cdouble".split()


def _cast(name, dtype):
    target = getattr(_C, dtype)

    def cast(self, memory_format=_C.preserve_format):
        return self.to(target, memory_format=memory_format)

    cast.__name__ = cast.__qualname__ = name
    cast.__doc__ = f"Converts ``self`` to {target}.\n\n>>> lamella.ones(1).{name}().dtype\n{target}\n"
    return cast


def methods() -> dict[str, Any]:
    """Returns the methods in this file for Tensor, by name."""
    targets = {**dict.fromkeys(CASTS), "char": "int8", "byte": "uint8"}
    found: dict[str, Any] = {f.__name__: f for f in (is_signed, type, type_as)}
    return found | {name: _cast(name, target or name) for name, target in targets.items()}
