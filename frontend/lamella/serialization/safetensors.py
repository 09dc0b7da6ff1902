"""Reads and writes files of safetensors by the library of that name: ``pip install lamella[safetensors]``.

Note [Opaque tensors]  The format holds plain tensors. For an opaque one, a file has the tensors that its layers save,
  such as ``weight.quantization.codes`` and ``weight.quantization.scale``, and the metadata ``lamella.parts`` has the
  rest as JSON: the shape and dtype of each opaque tensor, and the states of its layers with the names of their tensors.
  A part that two tensors share is written once. The extra state of modules, such as the scale of a layer's results, is
  in the metadata, too.
"""

from __future__ import annotations

import json
import os
from itertools import pairwise
from typing import Any

from lamella import _C
from lamella._devices import host

# The library's names of dtypes, which are Lamella's too, by their codes in files, which ``deserialize`` returns.
CODES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "I16": "int16",
    "U16": "uint16",
    "I32": "int32",
    "U32": "uint32",
    "I64": "int64",
    "U64": "uint64",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
    "C64": "complex64",
}
NAMES = {name: code for code, name in CODES.items()}
METADATA = "lamella.parts"  # a key of the file's metadata: see Note [Opaque tensors]
PART = "$tensor"  # the key of the name of a tensor, in the state of a layer


def _library(who: str) -> Any:
    try:
        import safetensors
    except ImportError:
        raise ModuleNotFoundError(
            f"{who}: the library 'safetensors' is not installed; pip install lamella[safetensors]", name="safetensors"
        ) from None
    return safetensors


def _opened(who: str, tensors: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Returns a dict of plain tensors, and the metadata for the rest: see Note [Opaque tensors]."""
    from lamella.nn.modules._state_dict import EXTRA
    from lamella.serialization.errors import Refused
    from lamella.serialization.index import of_slots

    plain: dict[str, Any] = {}
    opaque: dict[str, Any] = {}
    states: dict[str, Any] = {}
    parts: dict[tuple[Any, ...], str] = {}  # the names of the parts that are written, by where they lie

    def add(name: str, tensor: Any) -> None:
        if name in plain:
            raise ValueError(f"{who}: argument 'tensors': '{name}' is the name of a part of an opaque tensor, too")
        plain[name] = tensor

    def part(name: str, value: Any) -> Any:
        if isinstance(value, _C.Tensor):
            lies = (value._storage_id(), value.storage_offset(), value.shape, value.stride(), value.dtype)
            if lies not in parts:
                parts[lies] = name
                add(name, value)
            return {PART: parts[lies]}
        if isinstance(value, dict):
            return {key: part(f"{name}.{key}", inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [part(f"{name}.{i}", inner) for i, inner in enumerate(value)]
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise Refused(f"has a state with a {type(value).__name__}, which JSON cannot hold; use lamella.save")

    for name, tensor in tensors.items():
        is_state = type(name) is str and name.endswith(EXTRA) and not isinstance(tensor, _C.Tensor)
        try:
            if is_state:
                states[name] = part(name, tensor)
            elif isinstance(tensor, _C.Tensor) and tensor.is_opaque and type(name) is str:
                slots = dict(of_slots(_C._save_slots, tensor))
                if not slots:
                    raise Refused("is opaque, and no layer saves its values; save them as a plain tensor")
                opaque[name] = {
                    "dtype": str(tensor.dtype).rpartition(".")[2],
                    "shape": list(tensor.shape),
                    "stride": list(tensor.stride()),
                    "slots": {layer: part(f"{name}.{layer}", state) for layer, state in slots.items()},
                }
            else:
                add(name, tensor)
        except Refused as error:
            raise ValueError(f"{who}: argument 'tensors': '{name}' {error}") from error
    more = {"opaque": opaque, "states": states}
    return plain, {METADATA: json.dumps(more, separators=(",", ":"))} if opaque or states else {}


def _checked(who: str, tensors: dict[str, Any]) -> dict[str, Any]:
    """Returns the tensors in the form to be written: contiguous, on the host. Raises TypeError, ValueError or
    RuntimeError."""
    checked: dict[str, Any] = {}
    owners: dict[tuple[str, int], list[tuple[int, int, str]]] = {}
    for name, tensor in tensors.items():
        if type(name) is not str or not isinstance(tensor, _C.Tensor):
            kinds = f"{type(name).__name__}: {type(tensor).__name__}"
            raise TypeError(f"{who}: argument 'tensors' must have tensors by text, got {kinds} at {name!r}")
        code = NAMES.get(str(tensor.dtype).rpartition(".")[2])
        where = f"{who}: argument 'tensors': '{name}'"
        if tensor.device.type == "meta":
            raise ValueError(f"{where} is on device 'meta', so it has no values to write")
        if code is None:
            raise ValueError(f"{where} is of {tensor.dtype}, which safetensors does not hold; convert it with .to(...)")
        if tensor.numel():
            steps = zip(tensor.shape, tensor.stride(), strict=True)
            start = tensor.storage_offset() * tensor.itemsize
            end = start + (1 + sum((size - 1) * step for size, step in steps)) * tensor.itemsize
            owners.setdefault((str(tensor.device), tensor._storage_id()), []).append((start, end, name))
        checked[name] = tensor.detach().cpu().contiguous()
    for spans in owners.values():
        spans.sort()
        for (_, end, first), (start, _, name) in pairwise(spans):  # if any two overlap, two neighbours do
            if start < end:
                raise RuntimeError(
                    f"{who}: '{first}' and '{name}' share memory, which safetensors cannot express; pass clone() of "
                    "one, leave one out, or use lamella.save"
                )
    return checked


def _described(library: Any, tensor: Any) -> Any:
    """Returns a tensor in the form that ``serialize`` takes. From version 0.8 of the library on that is an address, so
    the tensor must exist until ``serialize`` returns."""
    name, shape = str(tensor.dtype).rpartition(".")[2], list(tensor.shape)
    if hasattr(library, "TensorSpec"):
        nbytes = tensor.numel() * tensor.itemsize
        return library.TensorSpec(dtype=name, shape=shape, data_ptr=tensor.data_ptr(), data_len=nbytes)
    data: Any = tensor.reshape(-1).view(dtype=_C.uint8) if tensor.numel() else b""
    return {"dtype": name, "shape": shape, "data": bytes(memoryview(data))}


def save_safetensors(tensors: dict[str, Any], filename: Any, metadata: dict[str, str] | None = None) -> None:
    """Writes a dict of tensors into a file of safetensors, which is replaced in one step.

    An opaque tensor, such as a quantized one, is written as the tensors that its layers save: ``weight`` as
    ``weight.quantization.codes`` and ``weight.quantization.scale``, which other readers see. `load_safetensors` makes
    it again. The extra state of modules in a state_dict is written as metadata, if it is numbers, texts and lists.

    Raises:
        TypeError: the argument is no dict of tensors by name
        RuntimeError: two tensors share memory, which the format cannot express
        ValueError: the format lacks a tensor's dtype, a tensor is on meta, no layer saves an opaque one, or the
            metadata has the key "lamella.parts"
        ModuleNotFoundError: the library is not installed

    >>> lamella.serialization.save_safetensors(lamella.ones(1), "model.safetensors")
    Traceback (most recent call last):
    TypeError: save_safetensors: argument 'tensors' must be a dict of tensors by name, got Tensor
    """
    who = "save_safetensors"
    if not isinstance(tensors, dict):
        raise TypeError(f"{who}: argument 'tensors' must be a dict of tensors by name, got {type(tensors).__name__}")
    if metadata is not None and not isinstance(metadata, dict):
        raise TypeError(f"{who}: argument 'metadata' must be a dict of texts or None, got {type(metadata).__name__}")
    if METADATA in (metadata or {}):
        raise ValueError(f"{who}: argument 'metadata': the key '{METADATA}' is for opaque tensors; choose another")
    plain, parts = _opened(who, tensors)
    checked = _checked(who, plain)
    metadata = {**(metadata or {}), **parts} if parts else metadata
    library = _library(who)
    # While there is a memoryview of a tensor, its memory is not moved.
    held = [memoryview(x.reshape(-1).view(dtype=_C.uint8)) for x in checked.values() if x.numel()]
    data = library.serialize({name: _described(library, x) for name, x in checked.items()}, metadata=metadata)
    del held
    from lamella.serialization.atomic import replacing

    with replacing(filename, True) as file:
        file.write(data)


def load_safetensors(filename: Any, device: Any = None) -> dict[str, Any]:
    """Reads a file of safetensors: a dict of tensors by name, each with memory of its own, on ``device`` or the host.

    Raises:
        CheckpointError: the file is of another format, is damaged, has a dtype that Lamella lacks, or has an opaque
            tensor of a plugin that is not loaded
        ModuleNotFoundError: the library is not installed

    >>> lamella.serialization.load_safetensors("none.safetensors")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    Exception: the file is not there, or the library
    """
    library = _library("load_safetensors")
    device = host() if device is None else device
    if isinstance(filename, (str, bytes, os.PathLike)):
        with open(filename, "rb") as file:
            data = file.read()
    else:
        data = filename.read()
    from lamella.serialization.archive import shown
    from lamella.serialization.errors import CheckpointError

    try:
        entries = library.deserialize(data)
    except library.SafetensorError as error:
        name = shown(filename)
        raise CheckpointError(f"load_safetensors: {name} is damaged or no file of safetensors: {error}") from None
    found = {}
    for name, entry in entries:
        if entry["dtype"] not in CODES:
            raise CheckpointError(f"load_safetensors: '{name}' has the dtype {entry['dtype']}, which Lamella lacks")
        found[name] = _tensor(entry["data"], getattr(_C, CODES[entry["dtype"]]), entry["shape"])
    length = int.from_bytes(data[:8], "little")
    described = json.loads(data[8 : 8 + length]).get("__metadata__", {}).get(METADATA)
    if described is not None:
        try:
            found = _closed(found, json.loads(described))
        except CheckpointError:
            raise
        except Exception as error:  # the layers check what they load, each with errors of its own
            raise CheckpointError(f"load_safetensors: the metadata '{METADATA}' is damaged: {error!r}") from error
    return {name: x.to(device) if isinstance(x, _C.Tensor) else x for name, x in found.items()}


def _closed(found: dict[str, Any], described: dict[str, Any]) -> dict[str, Any]:
    """Returns the tensors of a file with opaque ones in the place of their parts, and the states of modules."""
    from lamella import _storage
    from lamella.serialization.errors import CheckpointError

    opaque, states = described["opaque"], described["states"]
    own = tuple([f"{name}.{layer}" for name, more in opaque.items() for layer in more["slots"]] + list(states))
    used: set[str] = set()

    def whole(state: Any) -> Any:
        if isinstance(state, list):
            return [whole(inner) for inner in state]
        if not isinstance(state, dict):
            return state
        if PART not in state:
            return {key: whole(inner) for key, inner in state.items()}
        name = state[PART]
        if not name.startswith(own):
            raise ValueError(f"'{name}' is no part of an opaque tensor")
        used.add(name)
        return found[name]

    made = {name: whole(state) for name, state in states.items()}
    for name, more in opaque.items():
        tensor = _C._opaque(_C._find_dtype(more["dtype"]), tuple(more["shape"]), tuple(more["stride"]), host())
        if not _storage.load_slots(tensor, [(layer, whole(state)) for layer, state in more["slots"].items()]):
            raise CheckpointError(
                f"load_safetensors: '{name}' is opaque, and no loaded plugin has its slots: {list(more['slots'])}; "
                "see lamella.plugins.status()"
            )
        made[name] = tensor
    return {name: tensor for name, tensor in found.items() if name not in used} | made


def _tensor(data: Any, dtype: Any, shape: list[int]) -> Any:
    from lamella.serialization.limits import check_truth

    flat = _C._packet("aten::empty")((len(data),), dtype=_C.uint8, device=host())
    if len(data):
        memoryview(flat)[:] = memoryview(data).cast("B")
    stride = _C._packet("aten::empty")(tuple(shape), dtype=dtype, device="meta").stride()
    made = _C._storage_view(flat, dtype, tuple(shape), stride, 0)
    return check_truth(made) if dtype is _C.bool else made
