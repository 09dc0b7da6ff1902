"""``lamella.futures``: results that come later, with torch's names.

>>> future = lamella.futures.Future()
>>> doubled = future.then(lambda f: 2 * f.value())
>>> future.set_result(21)
>>> doubled.wait()
42
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")


class Future(Generic[T]):
    """A result that comes later, or an error in its place.

    Args:
        devices: accepted, as torch has it

    >>> future = lamella.futures.Future()
    >>> future.done()
    False
    >>> future.set_exception(ValueError("no result"))
    >>> future.wait()
    Traceback (most recent call last):
    ValueError: no result
    """

    def __init__(self, *, devices: Any = None):
        self._ended = threading.Condition()
        self._callbacks: list[Callable[[Future[T]], Any]] | None = []  # None once the result is there
        self._result: Any = None
        self._error: BaseException | None = None

    def done(self) -> bool:
        """Returns whether the result, or an error, is there."""
        return self._callbacks is None

    def wait(self) -> T:
        """Waits for the result, and returns it.

        Raises:
            Exception: the error that came in the place of a result
        """
        with self._ended:
            while not self.done():
                self._ended.wait(0.1)  # short, so that Ctrl-C ends it
        return self.value()

    def value(self) -> T:
        """Returns the result, which has to be there.

        Raises:
            RuntimeError: it is not there yet
            Exception: the error that came in its place
        """
        if not self.done():
            raise RuntimeError("Future.value: the result is not there yet; wait() waits for it")
        if self._error is not None:
            raise self._error
        result: T = self._result
        return result

    def then(self, callback: Callable[[Future[T]], Any]) -> Future[Any]:
        """Returns a future of what ``callback`` returns, which is called with this one when its result is there."""
        after: Future[Any] = Future()

        def follow(done: Future[T]) -> None:
            try:
                after.set_result(callback(done))
            except Exception as error:
                after.set_exception(error)

        self.add_done_callback(follow)
        return after

    def add_done_callback(self, callback: Callable[[Future[T]], Any]) -> None:
        """Calls ``callback`` with this future when its result is there: now, or on the thread that sets it."""
        with self._ended:
            if self._callbacks is not None:
                self._callbacks.append(callback)
                return
        callback(self)

    def set_result(self, result: T) -> None:
        """Sets the result.

        Raises:
            RuntimeError: there is one
        """
        self._end(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Sets the error that ``wait`` raises.

        Raises:
            RuntimeError: there is a result
        """
        if not isinstance(result, BaseException):
            raise TypeError(f"Future.set_exception: expected an exception, got {type(result).__name__}")
        self._end(None, result)

    def _end(self, result: Any, error: BaseException | None) -> None:
        with self._ended:
            if self._callbacks is None:
                raise RuntimeError("Future: the result was set before")
            self._result, self._error = result, error
            callbacks, self._callbacks = self._callbacks, None
            self._ended.notify_all()
        for callback in callbacks:
            callback(self)


def collect_all(futures: Sequence[Future[Any]]) -> Future[list[Future[Any]]]:
    """Returns a future of the list of futures, whose result is there when all of theirs are.

    >>> one, two = lamella.futures.Future(), lamella.futures.Future()
    >>> both = lamella.futures.collect_all([one, two])
    >>> one.set_result(1); two.set_result(2)
    >>> [f.value() for f in both.wait()]
    [1, 2]
    """
    every: Future[list[Future[Any]]] = Future()
    given, lock, left = list(futures), threading.Lock(), len(futures)

    def count(_: Future[Any]) -> None:
        nonlocal left
        with lock:
            left -= 1
            last = left == 0
        if last:
            every.set_result(given)

    if not given:
        every.set_result(given)
    for future in given:
        future.add_done_callback(count)
    return every


def wait_all(futures: Sequence[Future[Any]]) -> list[Any]:
    """Waits for all futures, and returns their results.

    >>> one = lamella.futures.Future()
    >>> one.set_result(1)
    >>> lamella.futures.wait_all([one])
    [1]
    """
    return [future.wait() for future in collect_all(futures).wait()]
