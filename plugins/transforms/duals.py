"""Levels of forward mode and their duals: tensors of a primal and a tangent."""

from __future__ import annotations

from typing import Any

from lamella import Tensor

from . import _python
from .kinds import FORWARD, FUNCTIONAL


def open_level() -> int:
    """Opens a level of forward mode, which `_python.close_level` closes, and returns its number."""
    return _python.open_level(FORWARD, 0, 0, 0)


def made(who: str, primal: Any, tangent: Any, level: int) -> Tensor:
    """Returns a dual. An integer tensor has no tangent.

    Raises:
        ValueError: the primal is not of floats or complex
        TypeError: an argument is no tensor
        RuntimeError: the tangent has another shape, dtype or device, or the primal has a tangent at the level
    """
    for name, given in (("tensor", primal), ("tangent", tangent)):
        if not isinstance(given, Tensor):
            raise TypeError(f"{who}: argument '{name}' must be a Tensor, got {type(given).__name__}")
    if not (primal.is_floating_point() or primal.is_complex()):
        raise ValueError(f"{who}: argument 'tensor' must be of floats or complex, got {primal.dtype}")
    for what in ("shape", "dtype", "device"):
        has, wanted = getattr(tangent, what), getattr(primal, what)
        if has != wanted:
            raise RuntimeError(f"{who}: argument 'tangent' must have the {what} of the tensor, {wanted}, got {has}")
    if parts(primal, level)[1] is not None:
        raise RuntimeError(f"{who}: argument 'tensor' has a tangent already; unpack_dual gives both parts")
    return _python.dual(primal, tangent, level)


def parts(tensor: Tensor, level: int) -> tuple[Tensor, Tensor | None]:
    """Returns the primal and the tangent of a dual of the level; another tensor itself, and None."""
    found = _python.inner_of(tensor)
    if found is None:
        return tensor, None
    inner, at = found
    if at == level:
        return inner, _python.tangent_of(tensor)
    is_closed = _python.kind_of(tensor) == FORWARD and _python.depth(at) == 0
    return inner if is_closed else tensor, None


def without_history(tensor: Tensor) -> Tensor:
    """Returns a tensor over the same elements without history. A dual keeps its tangent, which loses its own."""
    found = _python.inner_of(tensor)
    if found is None:
        return tensor.detach()
    inner, level = found
    tangent = _python.tangent_of(tensor)
    if tangent is not None:
        return _python.dual(without_history(inner), without_history(tangent), level)
    if _python.kind_of(tensor) == FUNCTIONAL:
        return _python.functional(without_history(inner), level)
    return _python.box(without_history(inner), 0, level)
