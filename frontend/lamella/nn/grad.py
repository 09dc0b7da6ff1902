"""Gradients of convolutions by name, as torch.nn.grad has them."""

from __future__ import annotations

from typing import Any

from lamella import _C
from lamella._C import Tensor
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


def conv1d_input(
    input_size: Any,
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: Any = 1,
) -> Any:
    """The gradient of the input of ``conv1d``, for an input of ``input_size``.

    >>> w, g = lamella.ones(1, 1, 2), lamella.ones(1, 1, 1)
    >>> lamella.nn.grad.conv1d_input((1, 1, 2), w, g).sum()
    tensor(2.)
    """
    return _gradient(1, 0, (grad_output, input_size, weight), (stride, padding, dilation), groups)


def conv1d_weight(
    input: Tensor,
    weight_size: Any,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: Any = 1,
) -> Any:
    """The gradient of the weight of ``conv1d``, for a weight of ``weight_size``.

    >>> x, g = lamella.ones(1, 1, 2), lamella.ones(1, 1, 1)
    >>> lamella.nn.grad.conv1d_weight(x, (1, 1, 2), g).sum()
    tensor(2.)
    """
    return _gradient(1, 1, (grad_output, input, weight_size), (stride, padding, dilation), groups)


def conv2d_input(
    input_size: Any,
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: Any = 1,
) -> Any:
    """The gradient of the input of ``conv2d``, for an input of ``input_size``.

    >>> w, g = lamella.ones(1, 1, 2, 2), lamella.ones(1, 1, 1, 1)
    >>> lamella.nn.grad.conv2d_input((1, 1, 2, 2), w, g).sum()
    tensor(4.)
    """
    return _gradient(2, 0, (grad_output, input_size, weight), (stride, padding, dilation), groups)


def conv2d_weight(
    input: Tensor,
    weight_size: Any,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: Any = 1,
) -> Any:
    """The gradient of the weight of ``conv2d``, for a weight of ``weight_size``.

    >>> x, g = lamella.ones(1, 1, 2, 2), lamella.ones(1, 1, 1, 1)
    >>> lamella.nn.grad.conv2d_weight(x, (1, 1, 2, 2), g).sum()
    tensor(4.)
    """
    return _gradient(2, 1, (grad_output, input, weight_size), (stride, padding, dilation), groups)


def conv3d_input(
    input_size: Any,
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: Any = 1,
) -> Any:
    """The gradient of the input of ``conv3d``, for an input of ``input_size``.

    >>> w, g = lamella.ones(1, 1, 2, 2, 2), lamella.ones(1, 1, 1, 1, 1)
    >>> lamella.nn.grad.conv3d_input((1, 1, 2, 2, 2), w, g).sum()
    tensor(8.)
    """
    return _gradient(3, 0, (grad_output, input_size, weight), (stride, padding, dilation), groups)


def conv3d_weight(
    input: Tensor,
    weight_size: Any,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: Any = 1,
) -> Any:
    """The gradient of the weight of ``conv3d``, for a weight of ``weight_size``.

    >>> x, g = lamella.ones(1, 1, 2, 2, 2), lamella.ones(1, 1, 1, 1, 1)
    >>> lamella.nn.grad.conv3d_weight(x, (1, 1, 2, 2, 2), g).sum()
    tensor(8.)
    """
    return _gradient(3, 1, (grad_output, input, weight_size), (stride, padding, dilation), groups)
