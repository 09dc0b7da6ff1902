"""Settings: default dtype and device, threads, printing, fallback to the host; torch's switches for all operators."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from lamella import _C
from lamella._C import device, dtype
from lamella.plugins import contributions


def set_default_dtype(d: dtype) -> None:
    """Sets the dtype of tensors from Python floats if no dtype is given. ``d`` must be a floating dtype.

    >>> lamella.set_default_dtype(lamella.float32)
    """
    _C._set_default_dtype(d)


def set_default_device(device) -> None:
    """Sets the device on which factories make tensors on the calling thread; None means the host.

    >>> lamella.set_default_device(None)
    """
    try:
        _C._set_default_device(device)
    except RuntimeError as error:
        raise RuntimeError(f"set_default_device: argument 'device': {error}") from error


def get_default_device() -> device:
    """Returns the device on which factories make tensors on the calling thread.

    >>> lamella.get_default_device()
    device(type='cpu')
    """
    return _C._get_default_device()


def capture_state():
    """Captures the state of the calling thread for other threads: layers that are on or off, grad mode, the default
    device, and the state of plugins.

    The result is a context manager: its block runs with the captured state, on any thread, and at its end the thread
    gets its own state back. ``run`` does this around a function, and ``wrap`` around a coroutine. A state can be used
    many times, by several threads at once, and in a forked process; changes inside a block are not visible in other
    blocks. A pickled state can be sent to a process that ``spawn`` or ``forkserver`` starts, for example as the target
    ``state.run`` of a ``Process``. The pickle holds the default device, grad and inference mode, and debug information
    (``lamella.profiler.debug_info``).

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
    """Sets how many threads one operator may use.

    Raises:
        TypeError: ``n`` is not an int
        RuntimeError: ``n`` is not from 1 to 1024

    >>> lamella.set_num_threads(lamella.get_num_threads())
    """
    if not isinstance(n, int) or isinstance(n, bool):
        raise TypeError(f"set_num_threads: argument 'n' must be int, got {type(n).__name__}")
    if not 0 < n <= 1024:
        raise RuntimeError(f"set_num_threads: argument 'n' must be from 1 to 1024, got {n}")
    _C._set_num_threads(n)


def get_num_interop_threads() -> int:
    """Returns 1, the number of operators that run at once.

    >>> lamella.get_num_interop_threads()
    1
    """
    return 1


def set_num_interop_threads(num: int) -> None:
    """Changes nothing, since operators run one after the other.

    >>> lamella.set_num_interop_threads(4)
    """
    if num < 1:
        raise RuntimeError(f"set_num_interop_threads: argument 'num' must be positive, got {num}")


def set_printoptions(
    precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None
) -> None:
    """Sets how tensors print. An option that is not given stays as it is, except ``sci_mode``.

    Args:
        precision: digits after the point; 4 at first
        threshold: tensors with more elements are summarized; 1000 at first; ``math.inf`` summarizes none
        edgeitems: how many elements of a summarized dimension are shown at each end; 3 at first
        linewidth: characters of a line; 80 at first
        profile: "default", "short" or "full"; sets all options, before the other arguments apply
        sci_mode: whether floats print in scientific notation; None chooses by their range

    Raises:
        TypeError: an option has another type
        ValueError: the profile is unknown, or a number is negative

    >>> lamella.set_printoptions(precision=2, threshold=5)
    >>> lamella.tensor([1.23456, 2.0]), lamella.arange(10)
    (tensor([1.23, 2.00]), tensor([0, 1, 2,  ..., 7, 8, 9]))
    >>> lamella.set_printoptions(profile="default")
    """
    from lamella._tensor.printing import set_options

    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    set_options(given, profile, sci_mode)


def set_fallback(mode: str) -> None:
    """Sets whether the host runs an operator for a device whose backend has neither a kernel nor a composite for it.

    Args:
        mode: "allow" runs the operator on the host with copies, which ``lamella plugins`` counts and lists; "error"
            raises an error

    Raises:
        ValueError: ``mode`` is neither

    >>> lamella.set_fallback("allow")
    """
    if mode not in ("allow", "error"):
        raise ValueError(f"set_fallback: argument 'mode': expected 'allow' or 'error', got {mode!r}")
    _C._set_fallback(mode == "allow")


def get_fallback() -> str:
    """Returns the mode that ``set_fallback`` set.

    >>> lamella.get_fallback()
    'allow'
    """
    return "allow" if _C._get_fallback() else "error"


class FallbackCount(NamedTuple):
    """A count of the calls of one operator that the host has run for one device in this process.

    ``bytes`` counts copies in both directions, and ``seconds`` the time of calls and copies. ``reason`` says what the
    device lacks.
    """

    device: str
    operator: str
    calls: int
    bytes: int
    seconds: float
    reason: str


def fallback_counts() -> list[FallbackCount]:
    """Returns the counts of operators that the host has run in this process for devices without a kernel.

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
_deterministic: tuple[bool, bool] = (False, False)  # the arguments of use_deterministic_algorithms: mode, warn_only
_followers = contributions.place("determinism")
contributions.define("determinism", lambda c: c.object(_deterministic[0]))


def set_float32_matmul_precision(precision: str) -> None:
    """Sets the precision of matrix products of float32, which changes nothing: they always have the highest precision.

    Args:
        precision: "highest", "high" or "medium"; a warning says that another value is ignored

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
    """Returns the value that ``set_float32_matmul_precision`` set; "highest" at first.

    >>> lamella.get_float32_matmul_precision()
    'highest'
    """
    return _precision


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Sets whether a program must compute the same results in every run. On the CPU this changes nothing.

    On device ``cuda`` it restricts convolutions to the deterministic algorithms of cuDNN.

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
    """Returns the ``mode`` that ``use_deterministic_algorithms`` set; False at first.

    >>> lamella.are_deterministic_algorithms_enabled()
    False
    """
    return _deterministic[0]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Returns the ``warn_only`` that ``use_deterministic_algorithms`` set; False at first.

    >>> lamella.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _deterministic[1]


def set_deterministic_debug_mode(debug_mode: Any) -> None:
    """Calls ``use_deterministic_algorithms`` with a mode of 0 or "default" (off), 1 or "warn", 2 or "error".

    Raises:
        RuntimeError: ``debug_mode`` is none of them

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
    """Returns the mode as a number: 0 off, 1 with ``warn_only``, 2 without.

    >>> lamella.get_deterministic_debug_mode()
    0
    """
    return 0 if not _deterministic[0] else 1 if _deterministic[1] else 2


def set_flush_denormal(mode: bool) -> bool:
    """Changes nothing, since denormal numbers are never flushed to 0. Returns True if ``mode`` is False, else False.

    >>> lamella.set_flush_denormal(True)
    False
    """
    return not mode
