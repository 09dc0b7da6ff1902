"""Attention with a function that changes the scores, and masks of blocks. The scores of all queries and keys are held
in memory.

Functions of scores and of masks are called once, with tensors of the indices along their own dimensions, and compute by
elements: ``score + bias[h, q_idx - kv_idx + n]``. A tensor with several indices takes them in one pair of brackets.

>>> from lamella.nn.attention.flex_attention import create_block_mask, flex_attention
>>> q = lamella.ones(1, 2, 4, 8)
>>> causal = create_block_mask(lambda b, h, q_idx, kv_idx: q_idx >= kv_idx, None, None, 4, 4)
>>> def nearer(score, b, h, q_idx, kv_idx):
...     return score - (q_idx - kv_idx).abs()
>>> flex_attention(q, q, q, nearer, causal).shape
lamella.Size([1, 2, 4, 8])
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, TypedDict

import lamella
from lamella import Tensor
from lamella.nn.attention._block_mask import BlockMask, create_block_mask
from lamella.nn.attention._masks import and_masks, computed, create_mask, noop_mask, or_masks

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "FlexKernelOptions",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]

ScoreMod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


class AuxRequest(NamedTuple):
    """The further results that `flex_attention` returns.

    >>> lamella.nn.attention.flex_attention.AuxRequest(lse=True)
    AuxRequest(lse=True, max_scores=False)
    """

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """The further results of `flex_attention`, each None unless requested.

    Attributes:
        lse: the logarithm of the sum of exponentials of each query's scores, shape (B, H, L)
        max_scores: the largest score of each query, shape (B, H, L)

    >>> lamella.nn.attention.flex_attention.AuxOutput().lse is None
    True
    """

    lse: Tensor | None = None
    max_scores: Tensor | None = None


class FlexKernelOptions(TypedDict, total=False):
    """The options of torch's kernels, which Lamella ignores.

    >>> lamella.nn.attention.flex_attention.FlexKernelOptions(BLOCK_M=64)
    {'BLOCK_M': 64}
    """

    num_warps: int
    num_stages: int
    BLOCK_M: int
    BLOCK_N: int
    BLOCK_M1: int
    BLOCK_N1: int
    BLOCK_M2: int
    BLOCK_N2: int
    PRESCALE_QK: bool
    ROWS_GUARANTEED_SAFE: bool
    BLOCKS_ARE_CONTIGUOUS: bool
    WRITE_DQ: bool
    FORCE_USE_FLEX_ATTENTION: bool
    USE_TMA: bool
    BACKEND: str


def _check(query: Tensor, key: Tensor, value: Tensor, block_mask: BlockMask | None, enable_gqa: bool) -> None:
    shapes = f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}"
    if not query.ndim == key.ndim == value.ndim == 4:
        raise NotImplementedError(f"flex_attention: the arguments must have four dimensions, got {shapes}")
    if not query.dtype == key.dtype == value.dtype:
        raise ValueError(f"flex_attention: the dtypes must be equal, got {query.dtype}, {key.dtype} and {value.dtype}")
    if not query.is_floating_point():
        raise ValueError(f"flex_attention: the dtype must be a floating one, got {query.dtype}")
    if not query.device == key.device == value.device:
        raise ValueError(
            f"flex_attention: the devices must be equal, got {query.device}, {key.device} and {value.device}"
        )
    if query.shape[-1] != key.shape[-1] or key.shape[:3] != value.shape[:3]:
        raise ValueError(
            f"flex_attention: query and key must have one width, and key and value equal other sizes, got {shapes}"
        )
    if key.shape[0] not in (1, query.shape[0]):
        raise ValueError(f"flex_attention: key and value must have the query's batches, or one, got {shapes}")
    heads, of_keys = query.shape[1], key.shape[1]
    if heads != of_keys and not enable_gqa:
        raise ValueError(
            f"flex_attention: query has {heads} heads and key {of_keys}; pass enable_gqa=True to share those of key"
        )
    if of_keys == 0 or heads % of_keys:
        raise ValueError(f"flex_attention: the heads of query, {heads}, must be a multiple of those of key, {of_keys}")
    if block_mask is None:
        return
    sizes = block_mask.shape
    if len(sizes) != 4 or sizes[0] not in (1, query.shape[0]) or sizes[1] not in (1, heads):
        raise ValueError(
            f"flex_attention: block_mask has shape {sizes}; its batches and heads must be 1, or the query's "
            f"{query.shape[0]} and {heads}"
        )
    if query.shape[-2] > sizes[-2] or key.shape[-2] > sizes[-1]:
        raise ValueError(
            f"flex_attention: block_mask is for {sizes[-2]} queries and {sizes[-1]} keys, and there are "
            f"{query.shape[-2]} and {key.shape[-2]}; make one for these lengths by create_block_mask"
        )
    if block_mask.kv_indices.device != query.device:
        raise RuntimeError(
            f"flex_attention: block_mask is on device '{block_mask.kv_indices.device}' and query on '{query.device}'; "
            "move it by block_mask.to(device)"
        )


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: FlexKernelOptions | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Returns the attention of queries to keys, with scores that a function changes and a mask of blocks hides.

    The weights are the softmax of ``score_mod(scale * query @ key.T, b, h, q_idx, kv_idx)`` over the keys that the mask
    leaves. A query without keys gives zeros. Gradients flow to the arguments, and to tensors that ``score_mod`` reads.
    Half-precision arguments are computed in float32.

    Args:
        query: shape (B, Hq, L, E)
        key: shape (B, Hkv, S, E); B may be 1
        value: shape (B, Hkv, S, Ev)
        score_mod: takes the scores, and the indices of batch, head, query and key, as tensors that broadcast to
            (B, Hq, L, S)
        block_mask: a mask of ``create_block_mask``
        scale: the factor of the scores; by default 1 / sqrt(E)
        enable_gqa: shares each head of keys among Hq / Hkv heads of queries
        return_lse: also returns the logarithm of the sum of exponentials of the scores; an older form of return_aux
        kernel_options: is ignored
        return_aux: also returns an `AuxOutput` with the requested results

    Returns:
        A tensor (B, Hq, L, Ev); with return_lse a pair of it and a tensor (B, Hq, L); with return_aux a pair of it and
        an AuxOutput.

    Raises:
        NotImplementedError: an argument does not have four dimensions
        ValueError: shapes, dtypes or devices do not fit, or a function's result does not broadcast to (B, Hq, L, S)
        RuntimeError: the mask is on another device

    >>> x = lamella.ones(1, 1, 3, 2)
    >>> out = lamella.nn.attention.flex_attention.flex_attention(x, x, x, lambda s, b, h, q, k: s.where(k == 0, -9.0))
    >>> out.shape
    lamella.Size([1, 1, 3, 2])
    """
    _check(query, key, value, block_mask, enable_gqa)
    if return_lse:
        if return_aux is not None:
            raise ValueError("flex_attention: return_lse and return_aux exclude each other; give return_aux alone")
        warnings.warn("return_lse is deprecated; pass return_aux=AuxRequest(lse=True)", FutureWarning, stacklevel=2)
    (batches, heads, queries), keys = query.shape[:3], key.shape[-2]
    sizes = (batches, heads, queries, keys)
    scale = 1 / math.sqrt(query.shape[-1] or 1) if scale is None else scale
    mask = None if block_mask is None else block_mask.elements(*sizes)
    wanted = AuxRequest(lse=return_lse) if return_aux is None else return_aux
    if score_mod is None and not any(wanted) and return_aux is None:
        return lamella.nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=mask, scale=scale, enable_gqa=enable_gqa
        )
    dtype = query.dtype if query.dtype is lamella.float64 else lamella.float32
    shared = heads // key.shape[1]
    key, value = (t.repeat_interleave(shared, dim=1) if shared > 1 else t for t in (key, value))
    scores = lamella.matmul(query.to(dtype), key.to(dtype).transpose(-2, -1)) * scale
    if score_mod is not None:
        scores = computed("flex_attention", score_mod, sizes, (scores,), query.device).expand(sizes).to(dtype)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    highest = scores.detach().amax(-1, keepdim=True) if keys else scores.new_full((*sizes[:3], 1), -math.inf)
    shift = highest.masked_fill(highest == -math.inf, 0.0)
    weights = (scores - shift).exp()
    total = weights.sum(-1, keepdim=True)
    empty = total == 0  # queries without keys
    total = total.masked_fill(empty, 1.0)
    out = (lamella.matmul(weights, value.to(dtype)) / total).to(query.dtype)
    lse = (shift + total.log()).masked_fill(empty, -math.inf).squeeze(-1) if wanted.lse else None
    if return_lse:
        return out, lse
    if return_aux is None:
        return out
    return out, AuxOutput(lse, scores.amax(-1) if wanted.max_scores else None)
