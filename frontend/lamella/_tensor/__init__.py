"""Tensor's methods that are Python, a file for each noun; ``printing`` and ``ufuncs`` run at their first use."""

from __future__ import annotations

from typing import Any

from lamella import _creation, _dtypes
from lamella._tensor import conversions, elements, memory, predicates, shapes


def methods() -> dict[str, Any]:
    """The methods and properties by the names that Tensor gets."""
    files = (_creation, _dtypes, conversions, elements, memory, predicates, shapes)
    return {name: o for file in files for name, o in file.methods().items()}
