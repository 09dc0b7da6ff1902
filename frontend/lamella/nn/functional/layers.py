"""Layers that are operators as they stand: products with a weight, and pads."""

from __future__ import annotations

from lamella.nn.functional._operators import op

__all__ = ["linear", "pad"]

linear, pad = op("linear"), op("pad")
