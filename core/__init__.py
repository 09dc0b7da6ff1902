"""The minimal tensor core: Tensor, dtype, device, Size. Its C++ is beside this file."""

from lamella._C import Size, Tensor, device, dtype, layout, memory_format

__all__ = ["Size", "Tensor", "device", "dtype", "layout", "memory_format"]
