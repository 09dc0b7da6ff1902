"""Multi-head attention in the scripted language; see library.py."""

from __future__ import annotations

import math

import lamella
import lamella.nn.functional as F
from lamella import Tensor


def canonical_mask(mask: Tensor, name: str, dtype: lamella.dtype) -> Tensor:
    if mask.dtype != lamella.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported, got {mask.dtype}")
    if mask.is_floating_point():
        return mask
    return lamella.zeros_like(mask, dtype=dtype).masked_fill_(mask, -math.inf)


def check_shapes(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> bool:
    n = query.dim()
    if n != 2 and n != 3:
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {n}-D query tensor")
    if key.dim() != n or value.dim() != n:
        raise AssertionError(
            f"expected `key` and `value` to be {n}-D but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != n - 1:
        raise AssertionError(
            f"expected `key_padding_mask` to be `None` or {n - 1}-D but found {key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None:
        if attn_mask.dim() != 2 and attn_mask.dim() != 3:
            raise AssertionError(f"expected `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor")
        expected = [num_heads, query.size(0), key.size(0)]
        if n == 2 and attn_mask.dim() == 3 and attn_mask.shape != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return n == 3


def parts(x: Tensor, weight: Tensor, bias: Tensor | None, n: int, heads: int, width: int) -> list[Tensor]:
    made = F.linear(x, weight, bias)
    return made.view([made.size(0), made.size(1), n, heads, width]).unbind(2)


def projected(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor, bias: Tensor | None, heads: int
) -> tuple[Tensor, Tensor, Tensor]:
    width = query.size(-1) // heads
    if key is value and query is key:
        q, k, v = parts(query, weight, bias, 3, heads, width)
        return q, k, v
    rows = query.size(-1)
    weights = weight.chunk(3)
    b: list[Tensor | None] = [None, None, None]
    both: Tensor | None = None
    if bias is not None:
        pieces = bias.chunk(3)
        b = [pieces[0], pieces[1], pieces[2]]
        both = bias[rows:]
    q = parts(query, weights[0], b[0], 1, heads, width)[0]
    if key is value:
        k, v = parts(key, weight[rows:], both, 2, heads, width)
        return q, k, v
    k = parts(key, weights[1], b[1], 1, heads, width)[0]
    v = parts(value, weights[2], b[2], 1, heads, width)[0]
    return q, k, v


def projected_apart(x: Tensor, weight: Tensor | None, bias: Tensor | None, heads: int, width: int) -> Tensor:
    assert weight is not None
    return F.linear(x, weight, bias).view([x.size(0), x.size(1), heads, width])


def with_row(x: Tensor, row: Tensor) -> Tensor:
    return lamella.cat([x, row.expand([1, x.size(1), x.size(2), x.size(3)])], 0)


def fixed_rows(name: str, x: Tensor, batch: int, heads: int, width: int) -> Tensor:
    if x.size(0) != batch * heads:
        raise AssertionError(f"expecting {name}.size(0) of {batch * heads}, but got {x.size(0)}")
    if x.size(2) != width:
        raise AssertionError(f"expecting {name}.size(2) of {width}, but got {x.size(2)}")
    return x.view([batch, heads, -1, width]).permute([2, 0, 1, 3])


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    batched = check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if key_padding_mask is not None:
        key_padding_mask = canonical_mask(key_padding_mask, "key_padding_mask", query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        if attn_mask is not None:
            attn_mask = canonical_mask(attn_mask, "attn_mask", query.dtype)
        is_causal = False
    if not batched:
        same_query, same_value = query is key, key is value
        query = query.unsqueeze(1)
        key = query if same_query else key.unsqueeze(1)
        value = key if same_value else value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    target, batch, features = query.size(0), query.size(1), query.size(2)
    width = features // num_heads
    if features != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {features}")
    if width * num_heads != features:
        raise AssertionError(f"embed_dim {features} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        if key.size(0) != value.size(0) or key.size(1) != value.size(1):
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
            )
        b: list[Tensor | None] = [None, None, None]
        if in_proj_bias is not None:
            pieces = in_proj_bias.chunk(3)
            b = [pieces[0], pieces[1], pieces[2]]
        q = projected_apart(query, q_proj_weight, b[0], num_heads, width)
        k = projected_apart(key, k_proj_weight, b[1], num_heads, width)
        v = projected_apart(value, v_proj_weight, b[2], num_heads, width)
    else:
        if key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        if in_proj_weight is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        q, k, v = projected(query, key, value, in_proj_weight, in_proj_bias, num_heads)
    if attn_mask is not None:
        shape = [target, key.size(0)] if attn_mask.dim() == 2 else [batch * num_heads, target, key.size(0)]
        if attn_mask.shape != shape:
            raise RuntimeError(
                f"The shape of the {attn_mask.dim()}D attn_mask is {attn_mask.shape}, but should be {shape}."
            )
        attn_mask = attn_mask.unsqueeze(0) if attn_mask.dim() == 2 else attn_mask
    if (bias_k is None) != (bias_v is None):
        raise AssertionError("bias_k and bias_v must be given together")
    more = add_zero_attn
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError("bias cannot be added to static key or value.")
        k = with_row(k, bias_k.view([1, 1, num_heads, width]))
        v = with_row(v, bias_v.view([1, 1, num_heads, width]))
        if attn_mask is not None:
            attn_mask = F.pad(attn_mask, [0, 1])
        if key_padding_mask is not None:
            key_padding_mask = F.pad(key_padding_mask, [0, 1])
    if static_k is not None:
        k = fixed_rows("static_k", static_k, batch, num_heads, width)
    if static_v is not None:
        v = fixed_rows("static_v", static_v, batch, num_heads, width)
    if more:
        k = with_row(k, k.new_zeros([1, 1, 1, 1]))
        v = with_row(v, v.new_zeros([1, 1, 1, 1]))
        if attn_mask is not None:
            attn_mask = F.pad(attn_mask, [0, 1])
        if key_padding_mask is not None:
            key_padding_mask = F.pad(key_padding_mask, [0, 1])
    source = k.size(0)
    if key_padding_mask is not None:
        if key_padding_mask.shape != [batch, source]:
            raise AssertionError(f"key_padding_mask: expected shape {[batch, source]}, got {key_padding_mask.shape}")
        padding = key_padding_mask.view([batch, 1, 1, source])
        if attn_mask is None:
            attn_mask = padding
        elif attn_mask.size(0) == 1:
            attn_mask = attn_mask.unsqueeze(0) + padding
        else:
            attn_mask = attn_mask.view([batch, num_heads, target, source]) + padding
    elif attn_mask is not None:
        if attn_mask.size(0) == 1:
            attn_mask = attn_mask.unsqueeze(0)
        else:
            attn_mask = attn_mask.view([batch, num_heads, target, source])
    p = dropout_p if training else 0.0
    q, k, v = q.permute([1, 2, 0, 3]), k.permute([1, 2, 0, 3]), v.permute([1, 2, 0, 3])
    weights: Tensor | None = None
    if need_weights:
        attention = lamella.ops.aten._attention_weights(q, k, attn_mask, math.sqrt(1.0 / width))
        if p > 0:
            attention = lamella.dropout(attention, p, True)
        out = attention.matmul(v)
        weights = attention.mean(1) if average_attn_weights else attention
    else:
        out = F.scaled_dot_product_attention(q, k, v, attn_mask, p, is_causal)
    out = F.linear(out.permute([2, 0, 1, 3]).reshape([target, batch, features]), out_proj_weight, out_proj_bias)
    if not batched:
        out = out.squeeze(1)
        if weights is not None:
            weights = weights.squeeze(0)
    return out, weights


def multihead_attention(
    self,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    turned = self.batch_first and query.dim() == 3
    if turned:
        same_query, same_value = query is key, key is value
        query = query.transpose(0, 1)
        key = query if same_query else key.transpose(0, 1)
        value = key if same_value else value.transpose(0, 1)
    out, weights = multi_head_attention_forward(
        query,
        key,
        value,
        self.embed_dim,
        self.num_heads,
        self.in_proj_weight,
        self.in_proj_bias,
        self.bias_k,
        self.bias_v,
        self.add_zero_attn,
        self.dropout,
        self.out_proj.weight,
        self.out_proj.bias,
        self.training,
        key_padding_mask,
        need_weights,
        attn_mask,
        not self._qkv_same_embed_dim,
        self.q_proj_weight,
        self.k_proj_weight,
        self.v_proj_weight,
        None,
        None,
        average_attn_weights,
        is_causal,
    )
    return (out.transpose(0, 1) if turned else out), weights
