"""Adapters of libraries that know arrays by their types: einops and matplotlib. Neither is imported here; each is
adapted when a program imports it."""

from __future__ import annotations

import sys
from typing import Any

from lamella import _C
from lamella._imports import after_import


def adapt_libraries() -> None:
    """Makes einops and matplotlib take tensors of Lamella as they take torch's, now or when they are imported."""
    after_import("einops._backends", _adapt_einops)
    after_import("matplotlib.cbook", _adapt_matplotlib)


def _adapt_einops(backends: Any) -> None:
    """Defines a backend of einops, which finds the subclasses of its backends by itself. It is that of torch, whose
    methods call functions and methods of the same names here."""

    class LamellaBackend(backends.TorchBackend):
        framework_name = "lamella"

        def __init__(self) -> None:
            self.torch = sys.modules["lamella"]

        def is_appropriate_type(self, tensor: Any) -> bool:
            return isinstance(tensor, _C.Tensor)

    backends.LamellaBackend = LamellaBackend  # a class holds its subclasses weakly


def _adapt_matplotlib(cbook: Any) -> None:
    """Makes matplotlib convert tensors whole. It would take a matrix for a list of rows, and draw in ``hist`` and
    ``boxplot`` a set of values for each row, and not for each column."""
    is_of_torch = getattr(cbook, "_is_torch_array", None)
    if is_of_torch is not None:  # since version 3.8
        cbook._is_torch_array = lambda x: isinstance(x, _C.Tensor) or is_of_torch(x)
