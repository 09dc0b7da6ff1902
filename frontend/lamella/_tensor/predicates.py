"""What a tensor says of itself: its device, its layout, and whether it is of a kind that only torch has."""

from __future__ import annotations

from typing import Any

from lamella import _C
from lamella._C import Tensor
from lamella._devices.names import NoDevice

# Kinds of devices that torch's tensors are asked for, in programs for any device.
DEVICES = ("cuda", "hpu", "ipu", "maia", "mps", "mtia", "vulkan", "xla", "xpu")
# Kinds of tensors that are not here: no tensor is one.
KINDS = ("sparse", "sparse_csr", "quantized", "mkldnn", "nested")
_OF_SPARSE = (
    "indices",
    "values",
    "coalesce",
    "is_coalesced",
    "crow_indices",
    "col_indices",
    "ccol_indices",
    "row_indices",
)
_TO_SPARSE = "to_sparse to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc".split()


def is_tensor(obj) -> bool:
    """Whether ``obj`` is a Tensor.

    >>> lamella.is_tensor(1)
    False
    """
    return isinstance(obj, Tensor)


def get_device(input) -> int:
    """The index of the tensor's device; -1 on the host, which has none.

    >>> lamella.ones(1).get_device()
    -1
    """
    index = input.device.index
    return -1 if index is None or input.device.type == _C._default_generator().device.type else index


def is_conj(input) -> bool:
    """Whether a conjugation is yet to be computed: never, as conj() computes.

    >>> lamella.is_conj(lamella.tensor([1j]).conj())
    False
    """
    return False


def is_neg(input) -> bool:
    """Whether a negation is yet to be computed: never.

    >>> lamella.is_neg(lamella.ones(1))
    False
    """
    return False


def resolve_conj(input):
    """The tensor itself: no conjugation is yet to be computed.

    >>> lamella.resolve_conj(lamella.ones(1))
    tensor([1.])
    """
    return input


def resolve_neg(input):
    """The tensor itself: no negation is yet to be computed.

    >>> lamella.resolve_neg(lamella.ones(1))
    tensor([1.])
    """
    return input


def is_inference(input) -> bool:
    """Whether a tensor was made in inference mode, which marks none.

    >>> lamella.is_inference(lamella.ones(1))
    False
    """
    return False


def is_distributed(input) -> bool:
    """Whether a tensor is spread over processes: never.

    >>> lamella.is_distributed(lamella.ones(1))
    False
    """
    return False


def _layout(self):
    """How elements lie in memory: always with strides.

    >>> lamella.ones(1).layout
    lamella.strided
    """
    return _C.strided


def _refusing(name, error, words):
    def refuse(self, *args, **keywords):
        raise error(f"{name}: {words}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Not for dense tensors, which all are.\n\nRaises:\n    {error.__name__}: always\n"
    return refuse


def methods() -> dict[str, Any]:
    """The methods and properties of this file, by the names that Tensor gets."""
    known = (get_device, is_conj, is_neg, resolve_conj, resolve_neg, is_inference, is_distributed)
    return {f.__name__: f for f in known} | {"layout": property(_layout)}


def placeholders() -> dict[str, Any]:
    """What Tensor has until a plugin brings such tensors or such a device."""
    found: dict[str, Any] = {f"is_{name}": NoDevice(name) for name in DEVICES}
    for kind in KINDS:
        found[f"is_{kind}"] = property(lambda self: False, doc=f"False: no tensor is {kind} here.")
    for name in _OF_SPARSE:
        found[name] = _refusing(name, RuntimeError, "the tensor is dense; sparse ones are not here yet")
    for name in _TO_SPARSE:
        found[name] = _refusing(name, NotImplementedError, "sparse tensors are not here yet")
    return found
