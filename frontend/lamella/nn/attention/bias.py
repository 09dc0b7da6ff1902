"""Causal masks for attention between sequences of different lengths, as arguments ``attn_mask``.

>>> from lamella.nn.attention.bias import causal_lower_right
>>> q, k = lamella.ones(1, 1, 2, 4), lamella.ones(1, 1, 3, 4)
>>> lamella.nn.functional.scaled_dot_product_attention(q, k, k, attn_mask=causal_lower_right(2, 3)).shape
lamella.Size([1, 1, 2, 4])
"""

from __future__ import annotations

import enum
from typing import Any

import lamella
from lamella import Tensor

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(enum.IntEnum):
    """The corner in which the diagonal of a causal mask begins or ends.

    With UPPER_LEFT, query i attends to the keys 0 to i; with LOWER_RIGHT the last query attends to all keys.

    >>> lamella.nn.attention.bias.CausalVariant.LOWER_RIGHT
    <CausalVariant.LOWER_RIGHT: 2>
    """

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A causal mask of a number of queries and keys, which holds no elements.

    ``scaled_dot_product_attention`` takes it as ``attn_mask``; no other operator takes it.

    Args:
        variant: the corner of the diagonal
        seq_len_q: the number of queries
        seq_len_kv: the number of keys

    Raises:
        AssertionError: the variant is no CausalVariant

    >>> bias = lamella.nn.attention.bias
    >>> bias.CausalBias(bias.CausalVariant.LOWER_RIGHT, 2, 3)._materialize()
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> Any:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(
                f"CausalBias: argument 'variant' must be a CausalVariant, got {type(variant).__name__}"
            )
        made: Any = lamella.empty(0).as_subclass(cls)
        made.variant, made.seq_len_q, made.seq_len_kv = variant, int(seq_len_q), int(seq_len_kv)
        return made

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int):
        pass

    def _materialize(self, device: Any = None) -> Tensor:
        """Returns the mask as a bool tensor of shape (queries, keys): True where a query attends to a key."""
        lower_right = self.variant is CausalVariant.LOWER_RIGHT
        shift = self.seq_len_kv - self.seq_len_q if lower_right else 0
        return lamella.ones(self.seq_len_q, self.seq_len_kv, dtype=lamella.bool, device=device).tril(shift)

    def __repr__(self) -> str:  # type: ignore[override]
        return f"CausalBias({self.variant.name}, seq_len_q={self.seq_len_q}, seq_len_kv={self.seq_len_kv})"

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func is not lamella.nn.functional.scaled_dot_product_attention:
            name = lamella.overrides.resolve_name(func)
            raise NotImplementedError(
                f"{name}: a CausalBias is a mask of scaled_dot_product_attention; its elements are _materialize()"
            )
        names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        mask = given["attn_mask"]
        if given.get("is_causal"):
            raise ValueError("scaled_dot_product_attention: is_causal must be False with a CausalBias as attn_mask")
        if not isinstance(mask, CausalBias):
            raise TypeError("scaled_dot_product_attention: only argument 'attn_mask' may be a CausalBias")
        sizes = mask.seq_len_q, mask.seq_len_kv
        lengths = given["query"].shape[-2], given["key"].shape[-2]
        if sizes != lengths:
            raise ValueError(
                f"scaled_dot_product_attention: attn_mask is a CausalBias of {sizes[0]} queries and {sizes[1]} keys, "
                f"and query and key have {lengths[0]} and {lengths[1]}"
            )
        square = sizes[0] == sizes[1] or mask.variant is CausalVariant.UPPER_LEFT
        given |= {"attn_mask": None if square else mask._materialize(given["query"].device), "is_causal": square}
        return func(**given)


def causal_upper_left(*size: int) -> CausalBias:
    """Returns a causal mask whose diagonal begins in the upper left corner.

    Args:
        size: the numbers of queries and keys

    Raises:
        AssertionError: ``size`` is not two numbers

    >>> lamella.nn.attention.bias.causal_upper_left(2, 3)
    CausalBias(UPPER_LEFT, seq_len_q=2, seq_len_kv=3)
    """
    return _made("causal_upper_left", CausalVariant.UPPER_LEFT, size)


def causal_lower_right(*size: int) -> CausalBias:
    """Returns a causal mask whose diagonal ends in the lower right corner.

    With more queries than keys, the first queries attend to no key; their results are zeros.

    Args:
        size: the numbers of queries and keys

    Raises:
        AssertionError: ``size`` is not two numbers

    >>> lamella.nn.attention.bias.causal_lower_right(2, 3)
    CausalBias(LOWER_RIGHT, seq_len_q=2, seq_len_kv=3)
    """
    return _made("causal_lower_right", CausalVariant.LOWER_RIGHT, size)


def _made(who: str, variant: CausalVariant, size: tuple[int, ...]) -> CausalBias:
    if len(size) != 2:
        raise AssertionError(f"{who}: expected two sizes, those of queries and keys, got {len(size)}")
    return CausalBias(variant, *size)
