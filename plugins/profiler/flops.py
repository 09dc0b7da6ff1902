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


FORMULAS = {
    "aten::mm": _product,
    "aten::mv": _matrix_vector,
    "aten::bmm": _product,
    "aten::linear": _linear,
    "aten::addmm": _added_product,
    "aten::baddbmm": _added_product,
}
POINTWISE = {"aten::add", "aten::mul", "aten::sub", "aten::div"}


def flops_of(name: str, sizes: list) -> int:
    """Returns the number of floating-point operations of one call; 0 for an operator without a rule.

    A composite counts 0, since the operators inside it are counted. Products count two operations for each
    multiplication and its addition; additions and the like count one for each element of the larger argument.
    """
    tensors = [s for s in sizes if isinstance(s, tuple)]
    try:
        if name in POINTWISE:
            return max(prod(s) for s in tensors[:2])
        return FORMULAS[name](*tensors) if name in FORMULAS else 0
    except (IndexError, TypeError, ValueError):
        return 0
