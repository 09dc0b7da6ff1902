"""DistributedDataParallel, which programs import whether they have several processes or one. It cannot be made here."""

from __future__ import annotations

from typing import Any

from lamella._torch.refusals import Refusal
from lamella.nn.modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """The class of modules whose copies in several processes share gradients. There is none
    yet: ``isinstance`` of any module is False, and the constructor raises. A plugin may bring another class.

    Raises:
        NotImplementedError: always

    >>> from lamella.nn.parallel import DistributedDataParallel
    >>> isinstance(lamella.nn.Linear(2, 1), DistributedDataParallel)
    False
    """

    __init__: Any = Refusal(
        "lamella.nn.parallel.DistributedDataParallel",
        "it is not here yet; call the module itself, and add up gradients by lamella.distributed.all_reduce",
    )
