"""Settings: default dtype and device, threads, printing, fallback to the host; torch's switches for all operators."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from lamella import _C
from lamella._C import device, dtype
from lamella.plugins import contributions


def set_default_dtype(d: dtype) -> None:
    """The dtype of floats where none is given, from now on: a floating one.

    >>> lamella.set_default_dtype(lamella.float32)
    """
    _C._set_default_dtype(d)


def set_default_device(device) -> None:
    """Where factories put tensors on this thread, from now on; None means the host.

    >>> lamella.set_default_device(None)
    """
    try:
        _C._set_default_device(device)
    except RuntimeError as error:
        raise RuntimeError(f"set_default_device: argument 'device': {error}") from error


def get_default_device() -> device:
    """Where factories put tensors on this thread.

    >>> lamella.get_default_device()
    device(type='cpu')
    """
    return _C._get_default_device()


def capture_state():
    """The state of this thread, for others: layers that are on or off, grad mode, the default device, plugins' state.

    The object is a context manager: the block runs with the state, on any thread, and afterwards the thread has its own
    again. ``run`` does this around a function, and ``wrap`` around a coroutine. It can be used many times, by several
    threads at once, and in a forked process; what a block changes is not seen in another one. It can be pickled, and so
    sent to a process that ``spawn`` or ``forkserver`` starts, as the target ``state.run`` of a ``Process``: then it
    holds the default device, grad and inference mode, and debug information (``lamella.profiler.debug_info``).

    >>> lamella.set_default_device("meta")
    >>> state = lamella.capture_state()
    >>> lamella.set_default_device(None)
    >>> with state:
    ...     lamella.get_default_device()
    device(type='meta')
    >>> lamella.get_default_device()
    device(type='cpu')
    """
    from lamella._state import CapturedState

    return CapturedState()


def set_num_threads(n: int) -> None:
    """How many threads one operator may use.

    Raises:
        RuntimeError: n is not positive

    >>> lamella.set_num_threads(lamella.get_num_threads())
    """
    if not isinstance(n, int) or isinstance(n, bool):
        raise TypeError(f"set_num_threads: argument 'n' must be int, got {type(n).__name__}")
    if not 0 < n <= 1024:
        raise RuntimeError(f"set_num_threads: argument 'n' must be from 1 to 1024, got {n}")
    _C._set_num_threads(n)


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


def set_printoptions(
    precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None
) -> None:
    """Sets how tensors print. An option that is not given stays as it is, except ``sci_mode``.

    Args:
        precision: digits after the point; 4
        threshold: tensors of more elements are summarized; 1000, or ``math.inf``
        edgeitems: how many elements of a summarized dimension are shown at each end; 3
        linewidth: characters of a line; 80
        profile: "default", "short" or "full", before the others apply
        sci_mode: whether floats print in scientific notation; None chooses by their range

    Raises:
        TypeError, ValueError: no such profile, a negative number, another type

    >>> lamella.set_printoptions(precision=2, threshold=5)
    >>> lamella.tensor([1.23456, 2.0]), lamella.arange(10)
    (tensor([1.23, 2.00]), tensor([0, 1, 2,  ..., 7, 8, 9]))
    >>> lamella.set_printoptions(profile="default")
    """
    from lamella._tensor.printing import set_options

    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    set_options(given, profile, sci_mode)


def set_fallback(mode: str) -> None:
    """Sets whether the host may serve operators that a backend has neither a kernel nor a composite for.

    Args:
        mode: "allow" runs it on the host with copies, counted and listed by ``lamella plugins``; "error" raises

    Raises:
        ValueError: another mode

    >>> lamella.set_fallback("allow")
    """
    if mode not in ("allow", "error"):
        raise ValueError(f"set_fallback: argument 'mode': expected 'allow' or 'error', got {mode!r}")
    _C._set_fallback(mode == "allow")


def get_fallback() -> str:
    """The mode that ``set_fallback`` set.

    >>> lamella.get_fallback()
    'allow'
    """
    return "allow" if _C._get_fallback() else "error"


class FallbackCount(NamedTuple):
    """How often the host has served one operator for one device in this process.

    ``bytes`` counts copies both ways, ``seconds`` the calls with their copies. ``reason`` says what the device lacks.
    """

    device: str
    operator: str
    calls: int
    bytes: int
    seconds: float
    reason: str


def fallback_counts() -> list[FallbackCount]:
    """What the host has served in this process for devices without a kernel of their own.

    >>> [c.operator for c in lamella.fallback_counts() if c.device == "cpu"]
    []
    """
    return [FallbackCount(*row) for row in _C._fallbacks()]


def reset_fallback_counts() -> None:
    """Empties ``fallback_counts()``.

    >>> lamella.reset_fallback_counts()
    """
    _C._reset_fallbacks()


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


def set_flush_denormal(mode: bool) -> bool:
    """Whether denormal numbers become 0, as asked: only False can be had.

    >>> lamella.set_flush_denormal(True)
    False
    """
    return not mode
