"""Forward mode for programs: a level, duals that are made at it, and their parts.

The functions of ``lamella.func`` open levels of their own: ``jvp``, ``jacfwd`` and ``hessian``.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from lamella import Tensor

from . import _python, duals

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class _Current(threading.local):
    """This thread's level; -1 if none is open."""

    level = -1


_current = _Current()


class UnpackedDualTensor(NamedTuple):
    """The parts of a dual: the primal, and the tangent or None."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Opens the level of forward mode on this thread, and returns its number.

    Raises:
        RuntimeError: the level is open already
    """
    if _current.level >= 0:
        raise RuntimeError(
            "enter_dual_level: a level of forward mode is open already, and they do not nest; lamella.func.jvp nests"
        )
    _current.level = duals.open_level()
    return _current.level


def exit_dual_level(*, level: int | None = None) -> None:
    """Closes the level of forward mode. Duals that are left count as their primals from now on.

    Args:
        level: the number of the level; None: the one that is open

    Raises:
        RuntimeError: no level is open, or another one
    """
    if _current.level < 0:
        raise RuntimeError("exit_dual_level: no level of forward mode is open")
    if level is not None and level != _current.level:
        raise RuntimeError(f"exit_dual_level: argument 'level' must be the open one, {_current.level}, got {level}")
    _python.close_level(_current.level)
    _current.level = -1


class dual_level:
    """A block in which the level of forward mode is open.

    >>> from lamella.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     x = forward_ad.make_dual(lamella.tensor([0., 2.]), lamella.ones(2))
    ...     forward_ad.unpack_dual(x * x)
    UnpackedDualTensor(primal=tensor([0., 4.]), tangent=tensor([0., 4.]))
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *error: Any) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """Returns a dual, which shares its memory with ``tensor``. What is computed from it has tangents.

    Args:
        tensor: the primal, of floats or complex
        tangent: of the same shape, dtype and device
        level: the level; None: the one that is open

    Raises:
        RuntimeError: no level is open, the tangent does not fit, or ``tensor`` has a tangent
        ValueError: ``tensor`` is of integers or bools

    >>> from lamella.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     forward_ad.unpack_dual(forward_ad.make_dual(lamella.zeros(1), lamella.ones(1)).exp()).tangent
    tensor([1.])
    """
    at = _current.level if level is None else level
    if at < 0:
        raise RuntimeError("make_dual: no level of forward mode is open; enter dual_level() first")
    if _python.depth(at) == 0:
        raise RuntimeError(f"make_dual: argument 'level': {at} is not open on this thread")
    return duals.made("make_dual", tensor, tangent, at)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Returns the primal and the tangent of a dual; another tensor itself, and None.

    Args:
        level: the level; None: the one that is open. Without one there are no tangents

    >>> from lamella.autograd import forward_ad
    >>> forward_ad.unpack_dual(lamella.zeros(1))
    UnpackedDualTensor(primal=tensor([0.]), tangent=None)
    """
    at = _current.level if level is None else level
    return UnpackedDualTensor(*duals.parts(tensor, at))
