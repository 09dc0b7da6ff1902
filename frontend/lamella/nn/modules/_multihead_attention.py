"""Multi-head attention as a module. ``activation`` exports it, as torch's does."""

from __future__ import annotations

from typing import Any

import lamella.nn.functional as F
import lamella.nn.init as init
from lamella._C import Tensor
from lamella.nn.modules.linear import NonDynamicallyQuantizableLinear, empty_parameter
from lamella.nn.modules.module import Module

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Multi-head attention: attention in each head between projections of queries, keys and values, then a projection.

    Queries, keys and values are (length, batch, features), (batch, length, features) with ``batch_first``, or
    (length, features); keys have ``kdim`` features and values ``vdim`` where these are given. A call returns the
    results and the weights: averaged over the heads, or of each head, or None without ``need_weights``.
    ``lamella.nn.functional.multi_head_attention_forward`` explains the masks. ``dropout`` acts on the weights in
    training. ``add_bias_kv`` adds a learned key and value, ``add_zero_attn`` a key and value of zeros.

    Raises:
        ValueError: ``embed_dim`` or ``num_heads`` is not positive
        AssertionError: ``embed_dim`` is no multiple of ``num_heads``

    Names: queries and batch keep theirs, the last dimension has that of the output's weight; keys have none in the
    returned weights.

    >>> attention = lamella.nn.MultiheadAttention(8, 2, batch_first=True)
    >>> x = lamella.ones(3, 5, 8)
    >>> out, weights = attention(x, x, x)
    >>> out.shape, weights.shape
    (lamella.Size([3, 5, 8]), lamella.Size([3, 5, 5]))
    """

    __constants__ = ["batch_first"]

    bias_k: Any
    bias_v: Any

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ):
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError(
                f"embed_dim must be divisible by num_heads, got embed_dim={embed_dim} and num_heads={num_heads}"
            )

        def parameter(name: str, there: bool, *size: int) -> None:
            self.register_parameter(name, empty_parameter(*size, device=device, dtype=dtype) if there else None)

        own = not self._qkv_same_embed_dim
        parameter("in_proj_weight", not own, 3 * embed_dim, embed_dim)
        parameter("q_proj_weight", own, embed_dim, embed_dim)
        parameter("k_proj_weight", own, embed_dim, self.kdim)
        parameter("v_proj_weight", own, embed_dim, self.vdim)
        parameter("in_proj_bias", bias, 3 * embed_dim)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        if add_bias_kv:
            parameter("bias_k", True, 1, 1, embed_dim)
            parameter("bias_v", True, 1, 1, embed_dim)
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        own: Any = self
        for weight in (own.in_proj_weight, own.q_proj_weight, own.k_proj_weight, own.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if own.in_proj_bias is not None:
            init.constant_(own.in_proj_bias, 0.0)
            init.constant_(own.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Any]:
        own: Any = self
        turned = self.batch_first and query.ndim == 3
        if turned:  # a key or value that is the same object stays one, so that one product projects it
            same_query, same_value = query is key, key is value
            query = query.transpose(0, 1)
            key = query if same_query else key.transpose(0, 1)
            value = key if same_value else value.transpose(0, 1)
        separate: dict[str, Any] = {}
        if not self._qkv_same_embed_dim:
            separate = {name: getattr(self, name) for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight")}
            separate["use_separate_proj_weight"] = True
        out, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            own.in_proj_weight,
            own.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            own.out_proj.weight,
            own.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
            **separate,
        )
        return (out.transpose(0, 1) if turned else out), weights

    def merge_masks(self, attn_mask: Any, key_padding_mask: Any, query: Tensor) -> tuple[Any, int | None]:
        """Returns a mask and a number: with ``attn_mask`` the sum of the given masks, and 2; without it
        ``key_padding_mask`` as it is, and 1, or None twice if that is None.

        ``query`` is (batch, length, features).
        """
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, length = query.shape[:2]
        merged = attn_mask.view(1 if attn_mask.ndim == 2 else batch, -1, length, length)
        merged = merged.expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(batch, 1, 1, length)
        return merged, 2
