"""Converts parameters to one vector and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import lamella
from lamella._C import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def _on_one_device(who: str, parameters: Iterable[Tensor]) -> list[Any]:
    listed = list(parameters)
    devices = list(dict.fromkeys(p.device for p in listed))
    if len(devices) > 1:
        raise TypeError(f"{who}: the parameters are on {devices[0]} and {devices[1]}, and must be on one device")
    return listed


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Returns the elements of all parameters in one new vector.

    Raises:
        TypeError: the parameters are on several devices
        RuntimeError: there is no parameter, or one is not contiguous

    >>> layer = lamella.nn.Linear(2, 3)
    >>> lamella.nn.utils.parameters_to_vector(layer.parameters()).shape
    lamella.Size([9])
    """
    return lamella.cat([p.view(-1) for p in _on_one_device("parameters_to_vector", parameters)])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Makes each parameter a view of its part of the vector, in their order.

    Raises:
        TypeError: ``vec`` is not a tensor, or the parameters are on several devices
        RuntimeError: the vector is too short

    >>> layer = lamella.nn.Linear(2, 1)
    >>> lamella.nn.utils.vector_to_parameters(lamella.tensor([1.0, 2.0, 3.0]), layer.parameters())
    >>> layer.weight.tolist(), layer.bias.tolist()
    ([[1.0, 2.0]], [3.0])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"vector_to_parameters: argument 'vec' must be a Tensor, got {type(vec).__name__}")
    start = 0
    for param in _on_one_device("vector_to_parameters", parameters):
        end = start + param.numel()
        param.data = vec[start:end].view_as(param).data
        start = end
