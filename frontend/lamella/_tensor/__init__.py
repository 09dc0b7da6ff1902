"""Tensor's methods written in Python. The files ``printing`` and ``ufuncs`` are imported at their first use."""

from __future__ import annotations

from typing import Any

from lamella import _creation, _dtypes, _lowrank
from lamella._tensor import conversions, elements, memory, predicates, shapes, spectra


def methods() -> dict[str, Any]:
    """Returns the methods and properties of all files for Tensor, by name."""
    files = (_creation, _dtypes, _lowrank, conversions, elements, memory, predicates, shapes, spectra)
    return {name: o for file in files for name, o in file.methods().items()}
