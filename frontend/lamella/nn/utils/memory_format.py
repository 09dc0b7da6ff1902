"""The memory format of the weights of convolutions."""

from __future__ import annotations

from typing import Any, TypeVar

from lamella import nn
from lamella._C import memory_format as Format
from lamella.nn.modules.module import Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]

M = TypeVar("M", bound=Module)


def _convert(module: Any, format: Any, names: tuple[str, str]) -> None:
    kinds = tuple(getattr(nn, name) for name in names if hasattr(nn, name))
    for part in module.modules():
        if isinstance(part, kinds):
            part.weight.data = part.weight.detach().clone(memory_format=format)


def convert_conv2d_weight_memory_format(module: M, memory_format: Format) -> M:
    """Converts the weights of all two-dimensional convolutions in a module, also transposed ones, to a memory format.

    >>> conv = lamella.nn.Conv2d(8, 4, 3)
    >>> conv = lamella.nn.utils.convert_conv2d_weight_memory_format(conv, lamella.channels_last)
    >>> conv.weight.stride()
    (72, 1, 24, 8)
    """
    _convert(module, memory_format, ("Conv2d", "ConvTranspose2d"))
    return module


def convert_conv3d_weight_memory_format(module: M, memory_format: Format) -> M:
    """Converts the weights of all three-dimensional convolutions in a module, also transposed ones, to a memory format.

    >>> conv = lamella.nn.Conv3d(8, 4, 3)
    >>> lamella.nn.utils.convert_conv3d_weight_memory_format(conv, lamella.contiguous_format) is conv
    True
    """
    _convert(module, memory_format, ("Conv3d", "ConvTranspose3d"))
    return module
