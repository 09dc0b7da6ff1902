"""What a tensor says of itself: its device, its layout, and whether it is of a kind that only torch has."""

from __future__ import annotations

from typing import Any

from lamella import _C
from lamella._C import Tensor
from lamella._devices import host


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
    return -1 if index is None or input.device.type == host().type else index


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


def methods() -> dict[str, Any]:
    """The methods and properties of this file, by the names that Tensor gets."""
    known = (get_device, is_conj, is_neg, resolve_conj, resolve_neg, is_inference, is_distributed)
    return {f.__name__: f for f in known} | {"layout": property(_layout)}
