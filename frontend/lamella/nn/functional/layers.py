"""Layers whose operator has the function's signature: products with a weight, and padding."""

from __future__ import annotations

from lamella.nn.functional._operators import op

__all__ = ["linear", "pad"]

linear, pad = op("linear"), op("pad")
