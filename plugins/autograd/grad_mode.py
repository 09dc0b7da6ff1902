"""Grad mode: the contexts that switch recording off and on, which also decorate."""

from __future__ import annotations

import functools

from . import _python
from ._python import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)

__all__ = [
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
]


def _decorate(mode, function):
    """Returns the function that ``@no_grad()`` returns for a function or a generator function; an error for a class."""
    import inspect  # `import lamella` must not import it

    if inspect.isclass(function):
        raise TypeError(f"{type(mode).__name__}: decorate the methods of {function.__name__}, not the class")
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def generator(*args, **kwargs):
            steps = function(*args, **kwargs)
            send, value = steps.send, None
            while True:
                try:
                    with mode._fresh():
                        item = send(value)
                except StopIteration as stop:
                    return stop.value
                try:
                    send, value = steps.send, (yield item)
                except GeneratorExit:
                    with mode._fresh():
                        steps.close()
                    raise
                except BaseException as error:
                    send, value = steps.throw, error

        return generator

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with mode._fresh():
            return function(*args, **kwargs)

    return wrapper


_python._set_decorate(_decorate)
