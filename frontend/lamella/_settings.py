"""Switches of torch's for all operators: precision of products, determinism, threads between operators."""

from __future__ import annotations

import warnings
from typing import Any

from lamella.plugins import contributions

_precision = "highest"
_deterministic: tuple[bool, bool] = (False, False)  # whether, and whether it only warns
_followers = contributions.place("determinism")
contributions.define("determinism", lambda c: c.object(_deterministic[0]))


def set_float32_matmul_precision(precision: str) -> None:
    """How precise products of float32 must be: "highest", "high" or "medium". They are always the first.

    >>> lamella.set_float32_matmul_precision("high")
    >>> lamella.get_float32_matmul_precision()
    'high'
    >>> lamella.set_float32_matmul_precision("highest")
    """
    global _precision
    if precision not in ("highest", "high", "medium"):
        warnings.warn(
            f"set_float32_matmul_precision: {precision!r} is none of 'highest', 'high' and 'medium', and is ignored",
            stacklevel=2,
        )
    else:
        _precision = precision


def get_float32_matmul_precision() -> str:
    """What ``set_float32_matmul_precision`` was given, "highest" at the start.

    >>> lamella.get_float32_matmul_precision()
    'highest'
    """
    return _precision


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Whether the same program must always compute the same. The operators of the CPU do, and nothing changes.

    Those of device ``cuda`` do, too, once this has chosen among cuDNN's algorithms for convolutions.

    >>> lamella.use_deterministic_algorithms(True)
    >>> lamella.are_deterministic_algorithms_enabled()
    True
    >>> lamella.use_deterministic_algorithms(False)
    """
    global _deterministic
    _deterministic = bool(mode), bool(warn_only) and bool(mode)
    for follow in _followers.objects:
        follow(bool(mode))


def are_deterministic_algorithms_enabled() -> bool:
    """What ``use_deterministic_algorithms`` was given.

    >>> lamella.are_deterministic_algorithms_enabled()
    False
    """
    return _deterministic[0]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """What ``use_deterministic_algorithms`` was given as ``warn_only``.

    >>> lamella.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _deterministic[1]


def set_deterministic_debug_mode(debug_mode: Any) -> None:
    """The same by a number or a name: 0 "default", 1 "warn", 2 "error".

    Raises:
        RuntimeError: it is none of them

    >>> lamella.set_deterministic_debug_mode("warn")
    >>> lamella.get_deterministic_debug_mode()
    1
    >>> lamella.set_deterministic_debug_mode(0)
    """
    modes = {0: 0, 1: 1, 2: 2, "default": 0, "warn": 1, "error": 2}
    if debug_mode not in modes:
        raise RuntimeError(
            f"set_deterministic_debug_mode: argument 'debug_mode' must be one of {list(modes)}, got {debug_mode!r}"
        )
    mode = modes[debug_mode]
    use_deterministic_algorithms(mode > 0, warn_only=mode == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2, as ``set_deterministic_debug_mode`` has it.

    >>> lamella.get_deterministic_debug_mode()
    0
    """
    return 0 if not _deterministic[0] else 1 if _deterministic[1] else 2


def get_num_interop_threads() -> int:
    """How many operators run at once: 1.

    >>> lamella.get_num_interop_threads()
    1
    """
    return 1


def set_num_interop_threads(num: int) -> None:
    """Accepted, and nothing changes: one operator runs after the other.

    >>> lamella.set_num_interop_threads(4)
    """
    if num < 1:
        raise RuntimeError(f"set_num_interop_threads: argument 'num' must be positive, got {num}")


def set_flush_denormal(mode: bool) -> bool:
    """Whether denormal numbers become 0, as asked: only False can be had.

    >>> lamella.set_flush_denormal(True)
    False
    """
    return not mode
