"""Attention: the function of queries, keys and values."""

from __future__ import annotations

from lamella.nn.functional._operators import op

__all__ = ["scaled_dot_product_attention"]

# The operator has the function's signature.
scaled_dot_product_attention = op("scaled_dot_product_attention")
