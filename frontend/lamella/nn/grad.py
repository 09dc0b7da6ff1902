"""Gradients of convolutions by name, as torch.nn.grad has them."""

from __future__ import annotations

from typing import Any

from lamella import _C
from lamella.nn.modules.utils import several

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _gradient(n: int, which: int, given: tuple[Any, ...], steps: tuple[Any, Any, Any], groups: int) -> Any:
    """Returns the gradient of the input (``which`` 0) or of the weight (1) of a convolution over ``n``
    dimensions.

    ``given`` holds grad_output, input and weight, but the size of the tensor whose gradient is returned in its place.
    """
    grad_output, *both = given
    both[which] = grad_output.new_empty(1).expand(both[which])
    stride, padding, dilation = (several(step, n) for step in steps)
    backward = _C._packet("aten::convolution_backward")
    mask = [which == 0, which == 1, False]
    return backward(grad_output, *both, None, stride, padding, dilation, False, [0] * n, groups, mask)[which]


def _gradients_of(n: int) -> tuple[Any, Any]:
    """Returns ``convNd_input`` and ``convNd_weight`` for ``n`` dimensions."""
    windows, ones = "(1, 1" + ", 2" * n + ")", "1, 1" + ", 1" * n

    def of_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
        return _gradient(n, 0, (grad_output, input_size, weight), (stride, padding, dilation), groups)

    def of_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
        return _gradient(n, 1, (grad_output, input, weight_size), (stride, padding, dilation), groups)

    for function, which, article, given, call in (
        (of_input, "input", "an input", "w", f"{windows}, w"),
        (of_weight, "weight", "a weight", "x", f"x, {windows}"),
    ):
        function.__name__ = function.__qualname__ = f"conv{n}d_{which}"
        function.__doc__ = f"""The gradient of the {which} of ``conv{n}d``, for {article} of ``{which}_size``.

    >>> {given}, g = lamella.ones{windows}, lamella.ones({ones})
    >>> lamella.nn.grad.conv{n}d_{which}({call}, g).sum()
    tensor({2**n}.)
    """
    return of_input, of_weight


conv1d_input, conv1d_weight = _gradients_of(1)
conv2d_input, conv2d_weight = _gradients_of(2)
conv3d_input, conv3d_weight = _gradients_of(3)
