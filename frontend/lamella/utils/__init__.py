"""Helpers around the operators: ``lamella.utils``."""

from lamella import _C


def swap_tensors(t1, t2) -> None:
    """Two tensors exchange everything: memory, class, attributes, gradient, history. Who holds one now sees the other.

    Raises:
        RuntimeError: one of them has weak references

    >>> a, b = lamella.zeros(2), lamella.ones(3)
    >>> lamella.utils.swap_tensors(a, b)
    >>> a, b
    (tensor([1., 1., 1.]), tensor([0., 0.]))
    """
    _C._swap_tensors(t1, t2)
    if type(t1) is not type(t2):
        t1.__class__, t2.__class__ = t2.__class__, t1.__class__
