"""Anomaly mode: an error in backward also shows the stack of the forward call that made the failing node."""

from __future__ import annotations

import traceback

from . import _python


def _stack() -> str:
    """Returns the current Python stack as text, without the frames of this file. Recording calls it for each node."""
    return "".join(traceback.format_list([f for f in traceback.extract_stack() if f.filename != __file__]))


_now: list[tuple[bool, bool]] = [(False, False)]  # the current mode and check_nan


def _set(mode: bool, check_nan: bool) -> None:
    _now[0] = (bool(mode), bool(check_nan))
    _python._set_anomaly(_stack if mode else None, bool(check_nan))


class set_detect_anomaly:
    """Switches anomaly mode on or off for the process, or until the end of a block; see :class:`detect_anomaly`.

    >>> with lamella.autograd.set_detect_anomaly(True):
    ...     pass
    """

    def __init__(self, mode: bool, check_nan: bool = True):
        self.before = _now[0]
        _set(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        _set(*self.before)


class detect_anomaly:
    """Within the block, an error in backward shows the stack of the recorded call, and a NaN in a gradient is an error.

    Args:
        check_nan: whether a gradient that is NaN is an error

    >>> x = lamella.tensor(0.0, requires_grad=True)
    >>> with lamella.autograd.detect_anomaly():
    ...     try:
    ...         (x / x).backward()
    ...     except RuntimeError as error:
    ...         print(str(error).splitlines()[0])
    backward: DivBackward0 returned nan values in its output 1
    """

    def __init__(self, check_nan: bool = True):
        self.check_nan = check_nan

    def __enter__(self) -> None:
        self.before = _now[0]
        _set(True, self.check_nan)

    def __exit__(self, *error: object) -> None:
        _set(*self.before)
