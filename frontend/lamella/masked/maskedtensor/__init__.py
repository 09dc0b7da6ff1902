"""MaskedTensor: a tensor some of whose elements do not count."""

from lamella.masked.maskedtensor.core import MaskedTensor, is_masked_tensor

__all__ = ["MaskedTensor", "is_masked_tensor"]
