"""The names of torch.storage."""

from __future__ import annotations

from typing import Any

import lamella

__all__ = ["TypedStorage", "UntypedStorage"]

UntypedStorage: Any = lamella.UntypedStorage  # type: ignore[attr-defined]
TypedStorage: Any = lamella.TypedStorage  # type: ignore[attr-defined]
