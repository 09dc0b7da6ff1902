"""The live catalogue for the tests: operators by title, their forms, and functions that run samples."""

from __future__ import annotations

import ctypes

import lamella
import ml_dtypes
import numpy as np
from lamella.operators import samples
from lamella.operators.samples import Sample

LIVE = [o for o in lamella._C._operators() if o["owner"] == "lamella"]


def title(o: dict) -> str:
    """Returns name.overload, without the namespace."""
    return o["schema"].partition("(")[0].removeprefix("aten::")


BY_TITLE = {title(o): o for o in LIVE}
# Operators with a declaration of their own: functional forms, and in-place operators without a functional form.
FUNCTIONAL = sorted(t for t, o in BY_TITLE.items() if o["form"] == "functional")
# Pinned memory needs a device's plugin: tests/abi/order.cpp and tests/plugins/test_bank.py test these.
PINNED = {"is_pinned", "pin_memory"}
# Composites call private operators, so their samples test these; some private ones have samples of their own.
SAMPLED = [t for t in FUNCTIONAL if t not in PINNED and (not BY_TITLE[t]["private"] or samples.of(t))]
# Operators whose shapes or results depend on the data: meta refuses them.
DYNAMIC = set(
    "masked_select nonzero argwhere _mask_index item equal allclose _unique2 unique_dim unique_consecutive bincount "
    "_unique_consecutive where is_nonzero".split()
)
RANDOM = "random"


def takes_device(operator: str) -> bool:
    return any(a["name"] == "device" for a in BY_TITLE[operator]["args"])


def run(sample: Sample, device: str = "cpu", built=None, **more):
    """Calls the operator with a sample, after seeding the random numbers; returns its result or its writes."""
    args, kwargs = built or sample.build(device)
    if device != "cpu" and not sample.specs() and takes_device(sample.operator):
        kwargs["device"] = device
    lamella.manual_seed(7)
    result = samples.call(sample.operator)(*args, **kwargs, **more)
    return written(sample, args) if result is None else result


def written(sample: Sample, args) -> list:
    """Returns the arguments that an operator without a result writes."""
    return [a for a, declared in zip(args, BY_TITLE[sample.operator]["args"], strict=False) if declared["written"]]


def flat(result) -> list:
    """Returns a result as a list of tensors and numbers, without None, which stands for a gradient not requested."""
    if isinstance(result, (list, tuple)):
        return [r for part in result if part is not None for r in flat(part)]
    return [result]


def array(t) -> tuple[str, np.ndarray]:
    """Returns (dtype's name, elements); bfloat16 is converted to float32, which is exact."""
    if not isinstance(t, lamella.Tensor):
        made = np.asarray(t)
        return made.dtype.name, made
    name = str(t.dtype).rpartition(".")[2]
    t = t.to(lamella.float32) if name == "bfloat16" else t
    return name, t.numpy().copy()


def bits(result) -> list[bytes]:
    """Returns every element's bytes, in row-major order."""
    return [array(r)[1].tobytes() for r in flat(result)]


def described(result) -> list:
    return [r if r is None else (tuple(r.shape), r.stride(), r.dtype) for r in flat(result)]


def tensors(built) -> list:
    args, kwargs = built
    return [t for t in flat([args, list(kwargs.values())]) if isinstance(t, lamella.Tensor)]


def state(t) -> tuple:
    """Returns all properties of a tensor that a call must not change, with the bytes of the whole storage."""
    storage = t.storage()
    held = ctypes.string_at(storage.data_ptr(), storage.nbytes()) if storage.nbytes() else b""
    return tuple(t.shape), t.stride(), t.storage_offset(), t._version, held


assert ml_dtypes.bfloat16  # the import gives numpy the dtype name bfloat16
