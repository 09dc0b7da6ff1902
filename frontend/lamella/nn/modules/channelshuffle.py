"""A module that permutes channels."""

from __future__ import annotations

import lamella.nn.functional as F
from lamella._C import Tensor
from lamella.nn.modules.module import Module

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """Permutes the channels of (N, C, ...): the first channel of each group, then the second of each, and so on.

    Names of dimensions stay.

    >>> lamella.nn.ChannelShuffle(2)(lamella.arange(4.0).view(1, 4, 1, 1)).flatten()
    tensor([0., 2., 1., 3.])
    """

    def __init__(self, groups: int):
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
