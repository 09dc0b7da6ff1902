"""Finds operators for the functions of this package."""

from __future__ import annotations

from typing import Any

from lamella import _C


def op(name: str) -> Any:
    """Returns the operator named ``name``."""
    return _C._packet(f"aten::{name}")


def both(name: str) -> tuple[Any, Any]:
    """Returns an operator and its in-place form."""
    return op(name), op(name + "_")
