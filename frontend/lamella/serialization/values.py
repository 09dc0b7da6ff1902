"""Plain values that JSON lacks, to and from the index: each is an object with one key, its tag."""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Callable
from typing import Any

from lamella import _C
from lamella.serialization.containers import is_text
from lamella.serialization.errors import Refused

BITS = 2**63  # larger integers are written as hexadecimal text, which is read in linear time
FORMATS = ("channels_last", "contiguous_format", "preserve_format")


def from_float(x: float) -> Any:
    """Returns a finite number unchanged, since its shortest text is exact; another one as its bits."""
    return x if math.isfinite(x) else {"$float": struct.pack(">d", x).hex()}


def to_float(payload: Any) -> float:
    if isinstance(payload, float):
        return payload
    return struct.unpack(">d", bytes.fromhex(payload["$float"]))[0]


def from_complex(z: complex) -> Any:
    return {"$complex": [from_float(z.real), from_float(z.imag)]}


def from_constant(x: Any) -> Any:
    """Returns a dtype, layout or memory format as its name."""
    tag = {_C.dtype: "$dtype", _C.layout: "$layout", _C.memory_format: "$memory_format"}[type(x)]
    return {tag: str(x).rpartition(".")[2]}


def to_layout(name: str) -> Any:
    found = getattr(_C, name, None)
    if not isinstance(found, _C.layout):
        raise ValueError(f"layout '{name}' is unknown; 'strided' and 'sparse_coo' are some")
    return found


def to_format(name: str) -> Any:
    if name not in FORMATS:
        raise ValueError(f"memory format '{name}' is unknown; it must be one of {', '.join(FORMATS)}")
    return getattr(_C, name)


def from_generator(g: Any) -> Any:
    return {"$generator": [str(g.device), *g.get_state()]}


def to_generator(payload: Any) -> Any:
    device, seed, offset = payload
    made = _C.Generator(device)
    made.set_state((seed, offset))
    return made


def from_scalar(x: Any) -> Any:
    """Returns a numpy scalar as its dtype and its bytes."""
    if x.dtype.kind not in "biufcSUMm":
        raise Refused(f"is a numpy scalar of dtype {x.dtype}; save x.item()")
    return {"$scalar": [x.dtype.str, x.tobytes().hex()]}


def to_scalar(payload: Any) -> Any:
    import numpy as np

    text, data = payload[0], bytes.fromhex(payload[1])
    return np.frombuffer(data, plain_dtype(text), 1)[0] if data else plain_dtype(text).type()


def plain_dtype(text: str) -> Any:
    """Returns the dtype of numpy that a text names. Raises ValueError unless its elements are plain bytes."""
    import numpy as np

    dtype = np.dtype(text) if isinstance(text, str) and len(text) < 32 else None
    if dtype is None or dtype.kind not in "biufcSUMm" or dtype.subdtype is not None:
        raise ValueError(f"{text!r} is no dtype of numpy that a checkpoint holds")
    return dtype


def from_text(x: str) -> Any:
    """Returns text unchanged, or as its bytes if JSON would read two surrogates as one character."""
    return x if is_text(x) else {"$text": x.encode("utf-8", "surrogatepass").hex()}


def from_int(x: int) -> Any:
    return x if -BITS <= x < BITS else {"$int": hex(x)}


# type -> function that makes the form of a value in the index
ENCODERS: dict[type, Callable[[Any], Any]] = {
    type(None): lambda x: x,
    bool: lambda x: x,
    str: from_text,
    int: from_int,
    float: from_float,
    complex: from_complex,
    bytes: lambda x: {"$bytes": base64.b64encode(x).decode()},
    bytearray: lambda x: {"$bytearray": base64.b64encode(x).decode()},
    _C.Size: lambda x: {"$size": list(x)},
    _C.dtype: from_constant,
    _C.layout: from_constant,
    _C.memory_format: from_constant,
    _C.device: lambda x: {"$device": str(x)},
    _C.Generator: from_generator,
}
# tag -> function that makes the value from the entry of the tag
DECODERS: dict[str, Callable[[Any], Any]] = {
    "$text": lambda x: bytes.fromhex(x).decode("utf-8", "surrogatepass"),
    "$int": lambda x: int(x, 16),
    "$float": lambda x: to_float({"$float": x}),
    "$complex": lambda x: complex(to_float(x[0]), to_float(x[1])),
    "$bytes": lambda x: base64.b64decode(x, validate=True),
    "$bytearray": lambda x: bytearray(base64.b64decode(x, validate=True)),
    "$size": lambda x: _C.Size(x),
    "$dtype": lambda x: _C._find_dtype(x),
    "$layout": to_layout,
    "$memory_format": to_format,
    "$device": lambda x: _C.device(x),
    "$generator": to_generator,
    "$scalar": to_scalar,
}
