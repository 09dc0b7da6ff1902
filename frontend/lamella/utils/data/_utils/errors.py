"""Sends an exception of a worker to the main process, which raises it again with the worker's traceback."""

from __future__ import annotations

import traceback
from typing import NoReturn


class _Text(str):
    """A text whose repr is itself, since KeyError shows the repr of its argument."""

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """The type and the traceback of an exception, and the place where it was raised."""

    def __init__(self, error: BaseException, where: str):
        self.exc_type: type[BaseException] = type(error)
        self.exc_msg = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raises an exception of the same type; RuntimeError if that type takes no text, or ends iterations."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            text = _Text(text)
        if issubclass(self.exc_type, (StopIteration, StopAsyncIteration, GeneratorExit)):
            raise RuntimeError(text)
        try:
            exception = self.exc_type(text)
        except Exception:
            raise RuntimeError(text) from None
        try:
            raise exception
        finally:
            del exception  # the traceback references this frame
