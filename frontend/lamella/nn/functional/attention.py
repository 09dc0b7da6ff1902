"""Attention: scaled dot-product attention, and multi-head attention with its projections."""

from __future__ import annotations

import math
import warnings
from typing import Any

import lamella
from lamella.nn.functional._operators import op

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]

# The operator has the function's signature.
scaled_dot_product_attention = op("scaled_dot_product_attention")

_linear, _cat, _zeros_like, _pad, _dropout = op("linear"), op("cat"), op("zeros_like"), op("pad"), op("dropout")
_attention_weights = op("_attention_weights")


def _canonical_mask(
    mask: Any, mask_name: str, other_type: Any, other_name: str, target_type: Any, check_other: bool = True
) -> Any:
    """Returns the mask in the form that is added to the scores. A bool mask is true where a key is hidden."""
    if mask is None:
        return None
    if mask.dtype != lamella.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported, got {mask.dtype}")
    if check_other and other_type is not None and mask.dtype != other_type:
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=3,
        )
    if mask.is_floating_point():
        return mask
    return _zeros_like(mask, dtype=target_type).masked_fill_(mask, -math.inf)


def _check_shapes(query: Any, key: Any, value: Any, key_padding_mask: Any, attn_mask: Any, num_heads: int) -> bool:
    """Returns whether the arguments have a batch dimension; raises an AssertionError if their dimensions do not fit."""
    if query.ndim not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.ndim}-D query tensor"
        )
    n = query.ndim
    kind = f"For {'batched (3-D)' if n == 3 else 'unbatched (2-D)'} `query`, expected"
    if key.ndim != n or value.ndim != n:
        raise AssertionError(
            f"{kind} `key` and `value` to be {n}-D but found {key.ndim}-D and {value.ndim}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.ndim != n - 1:
        raise AssertionError(
            f"{kind} `key_padding_mask` to be `None` or {n - 1}-D but found {key_padding_mask.ndim}-D tensor instead"
        )
    if attn_mask is not None:
        if attn_mask.ndim not in (2, 3):
            raise AssertionError(
                f"{kind} `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.ndim}-D tensor instead"
            )
        expected = (num_heads, query.shape[0], key.shape[0])
        if n == 2 and attn_mask.ndim == 3 and tuple(attn_mask.shape) != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {tuple(attn_mask.shape)}")
    return n == 3


def _projected(query: Any, key: Any, value: Any, weight: Any, bias: Any, heads: int) -> tuple[Any, Any, Any]:
    """Returns query, key and value projected by one weight, each of shape (length, batch, heads, width). If all
    three, or key and value, are the same tensor, one product gives them."""
    width = query.shape[-1] // heads

    def parts(x: Any, weight: Any, bias: Any, n: int) -> Any:
        made = _linear(x, weight, bias)
        return made.view(*made.shape[:2], n, heads, width).unbind(2)

    if key is value and query is key:
        return parts(query, weight, bias, 3)
    weights = weight.chunk(3)
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    if key is value:
        rows = query.shape[-1]
        both = None if bias is None else bias[rows:]
        return (*parts(query, weights[0], biases[0], 1), *parts(key, weight[rows:], both, 2))
    made = (parts(x, w, b, 1)[0] for x, w, b in zip((query, key, value), weights, biases, strict=True))
    return tuple(made)  # type: ignore[return-value]


def _with_row(x: Any, row: Any) -> Any:
    """Returns keys or values, (length, batch, heads, width), with one more row appended."""
    return _cat([x, row.expand(1, *x.shape[1:])], 0)


def _static(name: str, x: Any, batch: int, heads: int, width: int) -> Any:
    """Returns given keys or values, (batch * heads, length, width), as (length, batch, heads, width)."""
    if x.shape[0] != batch * heads:
        raise AssertionError(f"expecting {name}.size(0) of {batch * heads}, but got {x.shape[0]}")
    if x.shape[2] != width:
        raise AssertionError(f"expecting {name}.size(2) of {width}, but got {x.shape[2]}")
    return x.view(batch, heads, -1, width).permute(2, 0, 1, 3)


def _check_attn_mask(attn_mask: Any, target: int, source: int, batch: int, heads: int) -> Any:
    """Returns the mask with three dimensions, after a check of its shape."""
    shape = (target, source) if attn_mask.ndim == 2 else (batch * heads, target, source)
    if tuple(attn_mask.shape) != shape:
        raise RuntimeError(f"The shape of the {attn_mask.ndim}D attn_mask is {attn_mask.shape}, but should be {shape}.")
    return attn_mask.unsqueeze(0) if attn_mask.ndim == 2 else attn_mask


def multi_head_attention_forward(
    query: Any,
    key: Any,
    value: Any,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Any,
    in_proj_bias: Any,
    bias_k: Any,
    bias_v: Any,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Any,
    out_proj_bias: Any,
    training: bool = True,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Any = None,
    static_v: Any = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Any, Any]:
    """Multi-head attention: attention in each head between projections of queries, keys and values, then a projection.

    Args:
        query: (length, batch, features), or (length, features); so are key and value
        in_proj_weight: the weights of the three projections, one below the other; with ``use_separate_proj_weight``,
            ``q_proj_weight``, ``k_proj_weight`` and ``v_proj_weight`` are used instead
        bias_k: with ``bias_v``, one more key and its value
        add_zero_attn: one more key and value of zeros
        key_padding_mask: (batch, keys): a bool mask, true where a key is padding, or a floating one that is added
        attn_mask: (queries, keys) or (batch * heads, queries, keys): a bool mask, true where a key is hidden, or a
            floating one that is added
        need_weights: also return the weights, (batch, queries, keys), or (batch, heads, queries, keys) without
            ``average_attn_weights``; otherwise None. They are zeros for a query from which all keys are hidden
        static_k: keys, (batch * heads, keys, width), in place of the projected ones; ``static_v`` likewise for values
        is_causal: a hint that ``attn_mask``, which is required then, hides the keys after each query

    Raises:
        AssertionError: sizes or arguments do not go together
        RuntimeError: ``attn_mask`` has another shape, or is missing though ``is_causal`` is set

    The formula is of Vaswani and others, 2017.

    >>> x, w = lamella.ones(2, 1, 2), lamella.eye(2)
    >>> F = lamella.nn.functional
    >>> out, weights = F.multi_head_attention_forward(
    ...     x, x, x, 2, 1, lamella.cat([w, w, w]), None, None, None, False, 0.0, w, None
    ... )
    >>> weights
    tensor([[[0.5000, 0.5000],
             [0.5000, 0.5000]]])
    """
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    other = None if attn_mask is None else attn_mask.dtype
    key_padding_mask = _canonical_mask(key_padding_mask, "key_padding_mask", other, "attn_mask", query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, False)
        is_causal = False
    if not batched:
        same_query, same_value = query is key, key is value
        query = query.unsqueeze(1)
        key = query if same_query else key.unsqueeze(1)
        value = key if same_value else value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    target, batch, features = query.shape
    width = features // num_heads
    if features != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {features}")
    if width * num_heads != features:
        raise AssertionError(f"embed_dim {features} not divisible by num_heads {num_heads}")

    if use_separate_proj_weight:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
            )
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
        for name, weight in zip("qkv", weights, strict=True):
            if weight is None:
                raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
        biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
        q, k, v = (
            _linear(x, w, b).view(*x.shape[:2], num_heads, width)
            for x, w, b in zip((query, key, value), weights, biases, strict=True)
        )
    else:
        if key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        if in_proj_weight is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias, num_heads)
    if attn_mask is not None:
        attn_mask = _check_attn_mask(attn_mask, target, key.shape[0], batch, num_heads)

    def one_more() -> None:
        nonlocal attn_mask, key_padding_mask
        attn_mask = None if attn_mask is None else _pad(attn_mask, (0, 1))
        key_padding_mask = None if key_padding_mask is None else _pad(key_padding_mask, (0, 1))

    if (bias_k is None) != (bias_v is None):
        raise AssertionError(
            f"bias_k and bias_v must be given together, got only {'bias_v' if bias_k is None else 'bias_k'}"
        )
    if bias_k is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError("bias cannot be added to static key or value.")
        k = _with_row(k, bias_k.view(1, 1, num_heads, width))
        v = _with_row(v, bias_v.view(1, 1, num_heads, width))
        one_more()
    if static_k is not None:
        k = _static("static_k", static_k, batch, num_heads, width)
    if static_v is not None:
        v = _static("static_v", static_v, batch, num_heads, width)
    if add_zero_attn:
        k, v = (_with_row(x, x.new_zeros(1, 1, 1, 1)) for x in (k, v))
        one_more()
    source = k.shape[0]
    if key_padding_mask is not None:
        if tuple(key_padding_mask.shape) != (batch, source):
            raise AssertionError(
                f"key_padding_mask: expected shape {(batch, source)}, got {tuple(key_padding_mask.shape)}"
            )
        padding = key_padding_mask.view(batch, 1, 1, source)
        if attn_mask is None:
            attn_mask = padding
        elif attn_mask.shape[0] == 1:
            attn_mask = attn_mask.unsqueeze(0) + padding
        else:
            attn_mask = attn_mask.view(batch, num_heads, target, source) + padding
    elif attn_mask is not None:
        one = attn_mask.shape[0] == 1
        attn_mask = attn_mask.unsqueeze(0) if one else attn_mask.view(batch, num_heads, target, source)

    dropout_p = dropout_p if training else 0.0
    q, k, v = (x.permute(1, 2, 0, 3) for x in (q, k, v))  # (batch, heads, length, width)
    if need_weights:
        attention = _attention_weights(q, k, attn_mask, math.sqrt(1.0 / width))
        if dropout_p > 0:
            attention = _dropout(attention, dropout_p, True)
        out = attention.matmul(v)
    else:
        attention = None
        out = scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
    out = _linear(out.permute(2, 0, 1, 3).reshape(target, batch, features), out_proj_weight, out_proj_bias)
    if attention is not None and average_attn_weights:
        attention = attention.mean(1)
    if not batched:
        out = out.squeeze(1)
        attention = None if attention is None else attention.squeeze(0)
    return out, attention
