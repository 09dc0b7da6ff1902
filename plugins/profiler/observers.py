"""Observers: functions that are called for operators, steps of backward and named blocks."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any

from . import _python
from ._python import RecordFunction, record_function

__all__ = [
    "RecordFunction",
    "RecordFunctionCallback",
    "RecordScope",
    "add_global_callback",
    "add_thread_local_callback",
    "disable_callback",
    "enable_record_function",
    "record_function",
    "reenable_callback",
    "remove_callback",
]

NEEDS_INPUTS, NEEDS_OUTPUTS, NEEDS_IDS = 1, 2, 4  # enum lamella_observer_flags


class RecordScope(IntEnum):
    """The kind of a record.

    ``FUNCTION``: a call of an operator, seen outside of autograd; ``BACKWARD_FUNCTION``: a step of backward;
    ``USER_SCOPE``: a block of ``record_function``; ``KERNEL``: a call below autograd, as it goes to a backend.

    >>> lamella.profiler.RecordScope.KERNEL
    <RecordScope.KERNEL: 3>
    """

    FUNCTION = 0
    BACKWARD_FUNCTION = 1
    USER_SCOPE = 2
    KERNEL = 3


def _scope(given: RecordScope | str) -> RecordScope:
    for scope in RecordScope:
        if given == scope or given == scope.name.lower():
            return scope
    known = ", ".join(s.name.lower() for s in RecordScope)
    raise ValueError(f"RecordFunctionCallback.scopes: there is no scope {given!r}; there are {known}")


class RecordFunctionCallback:
    """An observer: the functions to call before and after a record, the kinds of records, and the probability.

    The methods change the callback and return it. Without ``scopes`` it observes functions, steps of backward and named
    blocks.

    Args:
        on_enter: called with a ``RecordFunction`` before; its result is passed to ``on_exit``
        on_exit: called afterwards, also after an error, with a ``RecordFunction`` and the result of ``on_enter``

    Raises:
        TypeError: an argument is neither callable nor None, or both are None
        ValueError: by the methods: the probability is not above 0 and at most 1, or there is no such scope

    >>> seen = []
    >>> callback = lamella.profiler.RecordFunctionCallback(
    ...     lambda record: record.inputs[0].shape, lambda record, shape: seen.append((record.name, shape))
    ... ).needs_inputs().scopes({"function"})
    >>> handle = lamella.profiler.add_thread_local_callback(callback)
    >>> _ = lamella.ones(2, 3).exp()
    >>> lamella.profiler.remove_callback(handle)
    >>> seen
    [('aten::ones', ...), ('aten::exp', Size([2, 3]))]
    """

    def __init__(
        self,
        on_enter: Callable[[RecordFunction], Any] | None = None,
        on_exit: Callable[[RecordFunction, Any], Any] | None = None,
    ):
        for name, function in ("on_enter", on_enter), ("on_exit", on_exit):
            if function is not None and not callable(function):
                raise TypeError(
                    f"RecordFunctionCallback: argument '{name}' must be callable or None, got {type(function).__name__}"
                )
        if on_enter is None and on_exit is None:
            raise TypeError("RecordFunctionCallback: one of 'on_enter' and 'on_exit' must be given")
        self.on_enter, self.on_exit = on_enter, on_exit
        self._flags = 0
        self._probability = 1.0
        self._scopes = frozenset((RecordScope.FUNCTION, RecordScope.BACKWARD_FUNCTION, RecordScope.USER_SCOPE))

    def _need(self, flag: int, on: bool) -> RecordFunctionCallback:
        self._flags = self._flags | flag if on else self._flags & ~flag
        return self

    def needs_inputs(self, needs: bool = True) -> RecordFunctionCallback:
        """Makes records have ``inputs``."""
        return self._need(NEEDS_INPUTS, needs)

    def needs_outputs(self, needs: bool = True) -> RecordFunctionCallback:
        """Makes records of ``on_exit`` have ``outputs``."""
        return self._need(NEEDS_OUTPUTS, needs)

    def needs_ids(self, needs: bool = True) -> RecordFunctionCallback:
        """Makes records have ``handle``, ``sequence_nr`` and ``forward_thread_id``."""
        return self._need(NEEDS_IDS, needs)

    def sampling_prob(self, probability: float) -> RecordFunctionCallback:
        """Makes the callback observe each record with this probability, independently of other records."""
        if not 0 < probability <= 1:
            raise ValueError(
                f"RecordFunctionCallback.sampling_prob: argument 'probability' must be above 0 and at most 1, got "
                f"{probability}"
            )
        self._probability = float(probability)
        return self

    def scopes(self, scopes: Iterable[RecordScope | str]) -> RecordFunctionCallback:
        """Sets the kinds of records to observe: ``RecordScope`` or their names, "function", "user_scope" …"""
        found = frozenset(map(_scope, scopes))
        if not found:
            raise ValueError("RecordFunctionCallback.scopes: argument 'scopes' must name one scope at least")
        self._scopes = found
        return self

    def _add(self, everywhere: bool) -> int:
        bits = sum(1 << scope for scope in self._scopes)
        return _python._add_callback(self.on_enter, self.on_exit, self._flags, bits, self._probability, everywhere)


def _checked(who: str, callback: RecordFunctionCallback) -> RecordFunctionCallback:
    if not isinstance(callback, RecordFunctionCallback):
        raise TypeError(f"{who}: argument 'callback' must be RecordFunctionCallback, got {type(callback).__name__}")
    return callback


def add_global_callback(callback: RecordFunctionCallback) -> int:
    """Adds an observer for all threads, now and later ones; the handle is for ``remove_callback``.

    The function may be called at any time, also while operators run on other threads. Operators that the observer calls
    are not observed. An observer that raises is removed, and ``sys.unraisablehook`` reports the exception; the operator
    continues.

    >>> names = []
    >>> handle = lamella.profiler.add_global_callback(
    ...     lamella.profiler.RecordFunctionCallback(lambda record: names.append(record.name)).scopes({"user_scope"})
    ... )
    >>> with lamella.profiler.record_function("step"):
    ...     _ = lamella.ones(2)
    >>> lamella.profiler.remove_callback(handle)
    >>> names
    ['step']
    """
    return _checked("add_global_callback", callback)._add(True)


def add_thread_local_callback(callback: RecordFunctionCallback) -> int:
    """Adds an observer for this thread, and for threads to which its state is copied: backward's, ``capture_state``.

    >>> names = []
    >>> handle = lamella.profiler.add_thread_local_callback(
    ...     lamella.profiler.RecordFunctionCallback(lambda record: names.append(record.name))
    ... )
    >>> _ = lamella.zeros(2)
    >>> lamella.profiler.remove_callback(handle)
    >>> names
    ['aten::zeros']
    """
    return _checked("add_thread_local_callback", callback)._add(False)


def remove_callback(handle: int) -> None:
    """Removes an observer; on any thread, also from within an observer. If ``on_enter`` was called for a record,
    ``on_exit`` is still called for it.

    Raises:
        ValueError: no observer has had the handle; one that failed or removed itself is no error

    >>> handle = lamella.profiler.add_global_callback(lamella.profiler.RecordFunctionCallback(print))
    >>> lamella.profiler.remove_callback(handle)
    """
    _python._remove_callback(handle)


def disable_callback(handle: int) -> None:
    """Stops calling an observer until ``reenable_callback``.

    Raises:
        ValueError: there is no such observer

    >>> handle = lamella.profiler.add_global_callback(lamella.profiler.RecordFunctionCallback(print))
    >>> lamella.profiler.disable_callback(handle)
    >>> _ = lamella.ones(2)
    >>> lamella.profiler.remove_callback(handle)
    """
    _python._enable_callback(handle, False)


def reenable_callback(handle: int) -> None:
    """Calls an observer again after ``disable_callback``.

    Raises:
        ValueError: there is no such observer

    >>> handle = lamella.profiler.add_global_callback(lamella.profiler.RecordFunctionCallback(print))
    >>> lamella.profiler.disable_callback(handle)
    >>> lamella.profiler.reenable_callback(handle)
    >>> lamella.profiler.remove_callback(handle)
    """
    _python._enable_callback(handle, True)


class enable_record_function:
    """Switches observing on or off for this thread: as a function at once, as a context manager for a block.

    >>> with lamella.profiler.enable_record_function(False):
    ...     _ = lamella.ones(2)  # no observer sees it
    """

    def __init__(self, enabled: bool = True):
        self._before = _python._enable_records(enabled)

    def __enter__(self) -> enable_record_function:
        return self

    def __exit__(self, *_: object) -> None:
        _python._enable_records(self._before)


def _decorate(block: record_function, function: Callable) -> Callable:
    """Returns the function that ``@record_function(name)`` makes: each call is a block of its own."""
    kind = type(block)
    if inspect.isclass(function) or not callable(function):
        raise TypeError(f"record_function: it decorates functions, got {function!r}")
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def coroutine(*args, **kwargs):
            with kind(block.name, block.args):
                return await function(*args, **kwargs)

        return coroutine

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with kind(block.name, block.args):
            return function(*args, **kwargs)

    return wrapper


_python._set_decorator(_decorate)
