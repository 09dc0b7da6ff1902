"""Grad mode: contexts that switch recording on and off, and that also decorate functions."""

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
    """Wraps a function or a generator function so that it runs within ``mode``, such as no_grad(). Rejects classes."""
    import inspect  # here, since `import lamella` must not import inspect

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
