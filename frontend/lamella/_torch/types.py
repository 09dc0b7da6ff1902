"""The names of torch.types that programs import for annotations."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, TypeAlias

import lamella
from lamella._C import Tensor

__all__ = ["Device", "Number", "Storage"]

_int, _float, _bool, _complex = builtins.int, builtins.float, builtins.bool, builtins.complex
_dtype, _device, _layout, _size = lamella.dtype, lamella.device, lamella.layout, lamella.Size
Number: TypeAlias = builtins.int | builtins.float | builtins.bool  # a Scalar argument that is not complex
Device: TypeAlias = lamella.device | str | builtins.int | None  # a device argument
Storage: Any = lamella.UntypedStorage  # type: ignore[attr-defined]
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_TensorOrTensorsOrGradEdge: TypeAlias = Tensor | Sequence[Tensor]
