"""How the functions of this package call operators."""

from __future__ import annotations

from typing import Any

from lamella import _C


def op(name: str) -> Any:
    """The operator of the catalogue of a name."""
    return _C._packet(f"aten::{name}")


def both(name: str) -> tuple[Any, Any]:
    """An operator and its form that writes into its first argument."""
    return op(name), op(name + "_")
