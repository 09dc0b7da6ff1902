"""DLPack, the exchange of tensors between libraries without a copy, under torch's names.

>>> from lamella.utils.dlpack import from_dlpack, to_dlpack
>>> x = lamella.zeros(2)
>>> from_dlpack(to_dlpack(x)).add_(1)
tensor([1., 1.])
>>> x
tensor([1., 1.])
"""

from __future__ import annotations

import enum
from typing import Any

from lamella import Tensor, from_dlpack

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


class DLDeviceType(enum.IntEnum):
    """The numbers of devices in DLPack, after its header (dmlc/dlpack, version 1.1).

    >>> lamella.utils.dlpack.DLDeviceType(lamella.ones(1).__dlpack_device__()[0])
    <DLDeviceType.kDLCPU: 1>
    """

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17
    kDLTrn = 18


def to_dlpack(tensor: Tensor) -> Any:
    """Returns a capsule of DLPack over a tensor's memory, which one consumer may take once.

    Raises:
        TypeError: the argument is not a tensor
        BufferError: DLPack has no such element type, or the tensor requires grad

    >>> lamella.utils.dlpack.to_dlpack(lamella.ones(2)) is not None
    True
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"to_dlpack: argument 'tensor' must be a Tensor, got {type(tensor).__name__}")
    return tensor.__dlpack__()
