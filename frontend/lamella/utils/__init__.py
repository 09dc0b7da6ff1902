"""Utilities around the operators: ``lamella.utils``."""

import copyreg
from typing import TYPE_CHECKING

from lamella import _C
from lamella._lazy import contribute as _contribute_lazy

_contribute_lazy(
    __name__,
    (
        "benchmark",
        "checkpoint",
        "collect_env",
        "data",
        "dlpack",
        "flop_counter",
        "hooks",
        "model_zoo",
        "module_tracker",
        "weak",
    ),
)
if TYPE_CHECKING:
    from lamella.utils import data as data


def swap_tensors(t1, t2) -> None:
    """Exchanges memory, class, attributes, gradient and history of two tensors: each reference then means the other
    tensor.

    Raises:
        TypeError: one of them is no tensor, or their classes have different ``__slots__``
        RuntimeError: one of them has weak references

    After an error both are unchanged.

    >>> a, b = lamella.zeros(2), lamella.ones(3)
    >>> lamella.utils.swap_tensors(a, b)
    >>> a, b
    (tensor([1., 1., 1.]), tensor([0., 0.]))
    """
    for t in (t1, t2):
        if not isinstance(t, _C.Tensor):
            raise TypeError(f"swap_tensors: expected a Tensor, got {type(t).__name__}")
    _swap_classes(t1, t2)
    try:
        _C._swap_tensors(t1, t2)
    except BaseException:
        _swap_classes(t1, t2)
        raise
    for name in copyreg._slotnames(type(t1)):  # type: ignore[attr-defined]
        _swap_attribute(t1, t2, name)


def _swap_classes(t1, t2):
    first, second = type(t1), type(t2)
    if first is second:
        return
    t1.__class__ = second
    try:
        t2.__class__ = first
    except BaseException:
        t1.__class__ = first
        raise


def _swap_attribute(t1, t2, name):
    """Exchanges an attribute that is stored in a slot of the class, and may be unset."""
    values = [getattr(t, name) for t in (t1, t2) if hasattr(t, name)]
    if len(values) == 2:
        setattr(t1, name, values[1])
        setattr(t2, name, values[0])
    elif values:
        has, lacks = (t1, t2) if hasattr(t1, name) else (t2, t1)
        delattr(has, name)
        setattr(lacks, name, values[0])
