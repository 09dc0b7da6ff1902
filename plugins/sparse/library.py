"""The plugin's library of C++, which is loaded when an operator of it is first called."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import lamella
from lamella import Tensor

loader: Callable[[], None] | None = None  # loads the library; the plugin's hook sets it
lock = threading.Lock()
loaded: Any = None


def operators() -> Any:
    """Returns ``lamella.ops.sparse``, and loads the library first if it is not loaded yet."""
    global loaded
    if loaded is None:
        with lock:
            if loaded is None:
                assert loader is not None
                loader()
                loaded = lamella.ops.sparse  # type: ignore[attr-defined]
    return loaded


def layout_number(tensor: Tensor) -> int:
    """Returns the number of a tensor's layout: 0 is strided. Without the library every tensor is strided."""
    return getattr(tensor, "_sparse_layout", 0) if loaded is not None and tensor.is_opaque else 0


LAYOUTS = (
    lamella.strided,
    lamella.sparse_coo,
    lamella.sparse_csr,
    lamella.sparse_csc,
    lamella.sparse_bsr,
    lamella.sparse_bsc,
)
NUMBERS = {layout: number for number, layout in enumerate(LAYOUTS)}


def number_of(name: str, layout: Any) -> int:
    """Returns the number of a layout that a caller has given."""
    if not isinstance(layout, lamella.layout):
        raise TypeError(f"{name}: argument 'layout' must be a layout, got {type(layout).__name__}")
    return NUMBERS[layout]


def described(tensor: Tensor) -> dict[str, int] | None:
    """Returns the numbers that describe a sparse tensor, by name, such as "nnz"; None for a strided tensor."""
    if not layout_number(tensor):
        return None
    names = ("layout", "nnz", "sparse_dim", "dense_dim", "batch", "coalesced")
    return dict(zip(names, operators()._describe(tensor), strict=True))
