"""Floating-point operations of a call, by its name and the sizes of its arguments."""

from __future__ import annotations

from math import prod

__all__ = ["flops_of"]


def _product(left, right, *_):
    return 2 * prod(left) * right[-1]


def _matrix_vector(left, right, *_):
    return 2 * prod(left)


def _linear(input, weight, *_):
    return 2 * prod(input) * weight[0]


def _added_product(_, left, right, *rest):
    return _product(left, right)


def _input_gradient(grad_output, weight, *_):
    return 2 * prod(grad_output) * prod(weight[1:])


def _attention(query, key, value, *_):
    """Counts the products with the keys and with the values; a causal one counts as if nothing were hidden."""
    return 2 * prod(query[:-1]) * key[-2] * (query[-1] + value[-1])


def _attention_backward(grad_out, _, query, key, value, *rest):
    """Counts five products: the weights again, their gradient, and the gradients by query, key and value."""
    return 2 * prod(query[:-1]) * key[-2] * (3 * query[-1] + 2 * value[-1])


def _attention_mask_backward(grad_out, _, query, key, value, *rest):
    return _attention(query, key, value)


FORMULAS = {
    "aten::mm": _product,
    "aten::mv": _matrix_vector,
    "aten::bmm": _product,
    "aten::linear": _linear,
    "aten::addmm": _added_product,
    "aten::baddbmm": _added_product,
    "aten::_convolution_backward_input": _input_gradient,
    "aten::_attention": _attention,
    "aten::_attention_dropout": _attention,
    "aten::_attention_backward": _attention_backward,
    "aten::_attention_mask_backward": _attention_mask_backward,
}
POINTWISE = {"aten::add", "aten::mul", "aten::sub", "aten::div"}


def flops_of(name: str, sizes: list) -> int:
    """Returns the number of floating-point operations of one call; 0 for an operator without a rule.

    Products count two operations for each multiplication and its addition; additions and the like count one for each
    element of the larger argument. Convolutions whose sizes do not tell are counted in ``convolutions.py``.
    """
    tensors = [s for s in sizes if isinstance(s, tuple)]
    try:
        if name in POINTWISE:
            return max(prod(s) for s in tensors[:2])
        return FORMULAS[name](*tensors) if name in FORMULAS else 0
    except (IndexError, TypeError, ValueError):
        return 0
