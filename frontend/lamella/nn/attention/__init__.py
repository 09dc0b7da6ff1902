"""torch.nn.attention's choice of how attention is computed. Lamella has one way for each device, and takes any choice.

>>> from lamella.nn.attention import SDPBackend, sdpa_kernel
>>> x = lamella.ones(2, 3, 4)
>>> with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
...     lamella.nn.functional.scaled_dot_product_attention(x, x, x).shape
lamella.Size([2, 3, 4])
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator, Sequence

from lamella._lazy import contribute as _contribute_lazy

_contribute_lazy(__name__, ("bias", "flex_attention"))

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.IntEnum):
    """The implementations of attention that torch distinguishes, with its numbers.

    >>> lamella.nn.attention.SDPBackend.MATH
    <SDPBackend.MATH: 0>
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends: Sequence[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[None]:
    """Takes the implementations of attention that are allowed while the context is open, and changes nothing.

    Lamella has one implementation for each device, and it is used in any case.

    Raises:
        AssertionError: ``backends`` is neither an SDPBackend nor a list or tuple

    >>> with lamella.nn.attention.sdpa_kernel(lamella.nn.attention.SDPBackend.MATH):
    ...     pass
    """
    if not isinstance(backends, list | tuple | SDPBackend):
        raise AssertionError(
            f"sdpa_kernel: argument 'backends': expected an SDPBackend or a list of them, got {type(backends).__name__}"
        )
    yield
