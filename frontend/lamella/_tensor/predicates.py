"""Predicates of tensors, and their device's index; some predicates are False for every tensor here."""

from __future__ import annotations

from typing import Any

from lamella._C import Tensor
from lamella._devices import host


def is_tensor(obj) -> bool:
    """Returns whether ``obj`` is a Tensor.

    >>> lamella.is_tensor(1)
    False
    """
    return isinstance(obj, Tensor)


def get_device(input) -> int:
    """Returns the index of the tensor's device; -1 on the host, and on a device without an index.

    >>> lamella.ones(1).get_device()
    -1
    """
    index = input.device.index
    return -1 if index is None or input.device.type == host().type else index


def is_conj(input) -> bool:
    """Returns False: no tensor has a pending conjugation, since ``conj()`` computes its result.

    >>> lamella.is_conj(lamella.tensor([1j]).conj())
    False
    """
    return False


def is_neg(input) -> bool:
    """Returns False: no tensor has a pending negation.

    >>> lamella.is_neg(lamella.ones(1))
    False
    """
    return False


def resolve_conj(input):
    """Returns the tensor itself, which has no pending conjugation.

    >>> lamella.resolve_conj(lamella.ones(1))
    tensor([1.])
    """
    return input


def resolve_neg(input):
    """Returns the tensor itself, which has no pending negation.

    >>> lamella.resolve_neg(lamella.ones(1))
    tensor([1.])
    """
    return input


def is_inference(input) -> bool:
    """Returns False: inference mode does not mark tensors.

    >>> lamella.is_inference(lamella.ones(1))
    False
    """
    return False


def is_distributed(input) -> bool:
    """Returns False: no tensor is distributed over processes.

    >>> lamella.is_distributed(lamella.ones(1))
    False
    """
    return False


def methods() -> dict[str, Any]:
    """Returns the methods and properties in this file for Tensor, by name."""
    known = (get_device, is_conj, is_neg, resolve_conj, resolve_neg, is_inference, is_distributed)
    return {f.__name__: f for f in known}
