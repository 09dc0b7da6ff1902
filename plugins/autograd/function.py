"""Function: a base class for differentiable steps whose forward and backward are written in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from lamella import Tensor
from lamella.plugins import contributed

from . import _python


class Function(_python._FunctionBase):
    """The base class of custom differentiable steps: define static ``forward`` and ``backward``, and call ``apply``.

    ``forward(ctx, *args)`` computes the results, without being recorded. It may also be ``forward(*args)``, with a
    ``setup_context(ctx, inputs, output)`` beside it. ``backward(ctx, *grads)`` gets one gradient for each result and
    returns one for each argument, None for those without. Its own computation is recorded under create_graph.

    >>> class Cube(lamella.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return grad * 3 * x * x
    >>> x = lamella.tensor(2.0, requires_grad=True)
    >>> Cube.apply(x).backward()
    >>> x.grad
    tensor(12.)

    Within ``vmap``, a class with ``setup_context`` runs by its static method ``vmap``, or with
    ``generate_vmap_rule = True`` by its forward and backward on samples. In forward mode its static method ``jvp``
    computes the tangents of the results.
    """

    generate_vmap_rule = False
    runs_on_samples = False  # whether vmap calls forward with samples, as of Functions of the plugins

    @staticmethod
    def forward(*args: Any) -> Any:
        """Computes the results."""
        raise NotImplementedError("Function: a subclass must implement the static method forward")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Saves the tensors that backward needs, where forward takes no ctx."""
        raise NotImplementedError("Function: setup_context is called for classes that define it only")

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Computes the gradients of the arguments."""
        raise NotImplementedError("Function: a subclass must implement the static method backward")

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """Computes the tangents of the results from those of the arguments, which are None for those without."""
        raise NotImplementedError("Function: jvp is called for classes that define it only")

    def save_for_forward(self, *tensors: Any) -> None:
        """Saves tensors for jvp, which reads them as saved_tensors."""
        self._for_forward = tensors

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> Any:
        """Computes the results of a batch, which ``args`` have along ``in_dims``; returns them and their own dims."""
        raise NotImplementedError("Function: vmap is called for classes that define it only")


def _serve_opaque(cls: Any, args: tuple[Any, ...]) -> Any:
    """Returns the results of a contribution to the point "function"; NotImplemented if none serves the call."""
    for serve in contributed("function"):
        if (found := serve(cls, args)) is not NotImplemented:
            return found
    return NotImplemented


_python._set_base_setup(Function.setup_context)
_python._set_opaque(_serve_opaque)


class _DifferentiatedOnce(Function):
    """Passes gradients through unchanged. Its own backward raises, since the gradients cannot be differentiated."""

    runs_on_samples = True

    @staticmethod
    def forward(ctx, count, *grads_and_sources):
        return grads_and_sources[:count]

    @staticmethod
    def backward(ctx, *grads):
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a ``backward`` that cannot be differentiated: an attempt is then an error, not a wrong gradient.

    >>> class Square(lamella.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     @lamella.autograd.function.once_differentiable
    ...     def backward(ctx, grad):
    ...         return 2 * ctx.saved_tensors[0] * grad
    >>> x = lamella.tensor(3.0, requires_grad=True)
    >>> lamella.autograd.grad(Square.apply(x), x)
    (tensor(6.),)
    """

    @functools.wraps(function)
    def wrapper(ctx, *grads):
        with _python.no_grad():
            found = function(ctx, *grads)
        sources = [t for t in (*grads, *ctx.saved_tensors) if isinstance(t, Tensor) and t.requires_grad]
        if not (_python.is_grad_enabled() and sources):
            return found
        several = isinstance(found, tuple)
        made = found if several else (found,)
        refused = _DifferentiatedOnce.apply(len(made), *made, *sources)
        return refused if several else refused[0]

    return wrapper
