"""Anomaly mode: errors in backward that show where the call was recorded."""

from __future__ import annotations

import traceback

from . import _python


def _stack() -> str:
    """Where the user called an operator: the stack without this file."""
    return "".join(traceback.format_list([f for f in traceback.extract_stack() if f.filename != __file__]))


def set_detect_anomaly(mode: bool, check_nan: bool = True) -> None:
    """Switches anomaly mode on or off for the process; see :class:`detect_anomaly`.

    >>> lamella.autograd.set_detect_anomaly(True)
    >>> lamella.autograd.set_detect_anomaly(False)
    """
    _now[0] = (bool(mode), bool(check_nan))
    _python._set_anomaly(_stack if mode else None, bool(check_nan))


_now: list[tuple[bool, bool]] = [(False, False)]  # the mode, check_nan


class detect_anomaly:
    """While it is open, an error in backward shows where the call was recorded, and a NaN that arises there is one.

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
        set_detect_anomaly(True, self.check_nan)

    def __exit__(self, *error: object) -> None:
        set_detect_anomaly(*self.before)
