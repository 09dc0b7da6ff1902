"""Functions in the scripted language that stand for operators of torch's saved programs which Lamella does not have."""

from __future__ import annotations

import math
from typing import Any

import lamella
import lamella.nn.functional as F
from lamella import Tensor

# torch's numbers of dtypes.
DTYPES = {
    0: "uint8",
    1: "int8",
    2: "int16",
    3: "int32",
    4: "int64",
    5: "float16",
    6: "float32",
    7: "float64",
    9: "complex64",
    10: "complex128",
    11: "bool",
    15: "bfloat16",
    23: "float8_e5m2",
    24: "float8_e4m3fn",
    27: "uint16",
    28: "uint32",
    29: "uint64",
}
_NUMBERS = list(DTYPES)
_NAMED = [getattr(lamella, name) for name in DTYPES.values()]


def dtype_of_number(number: int) -> lamella.dtype:
    for i, n in enumerate(_NUMBERS):
        if n == number:
            return _NAMED[i]
    raise ValueError(f"torch's dtype number {number} is none that is here")


def dtype_or_none(number: int | None) -> lamella.dtype | None:
    if number is None:
        return None
    return dtype_of_number(number)


def number_of_dtype(dtype: lamella.dtype) -> int:
    for i, d in enumerate(_NAMED):
        if d == dtype:
            return _NUMBERS[i]
    raise ValueError(f"torch has no number of {dtype}")


def number_or_none(dtype: lamella.dtype | None) -> int | None:
    if dtype is None:
        return None
    return number_of_dtype(dtype)


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
) -> Tensor:
    if not transposed:
        return lamella.ops.aten.convolution(input, weight, bias, stride, padding, dilation, groups)
    if weight.dim() == 3:
        return lamella.ops.aten.conv_transpose1d(input, weight, bias, stride, padding, output_padding, groups, dilation)
    if weight.dim() == 4:
        return lamella.ops.aten.conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return lamella.ops.aten.conv_transpose3d(input, weight, bias, stride, padding, output_padding, groups, dilation)


def _convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
    benchmark: bool,
    deterministic: bool,
    cudnn_enabled: bool,
    allow_tf32: bool = False,
) -> Tensor:
    return convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


# ---- losses ----------------------------------------------------------------------------------------------------------


def _reduction(number: int) -> str:
    if number == 0:
        return "none"
    return "mean" if number == 1 else "sum"


def mse_loss(self: Tensor, target: Tensor, reduction: int = 1) -> Tensor:
    return F.mse_loss(self, target, reduction=_reduction(reduction))


def l1_loss(self: Tensor, target: Tensor, reduction: int = 1) -> Tensor:
    return F.l1_loss(self, target, reduction=_reduction(reduction))


def smooth_l1_loss(self: Tensor, target: Tensor, reduction: int = 1, beta: float = 1.0) -> Tensor:
    return F.smooth_l1_loss(self, target, reduction=_reduction(reduction), beta=beta)


def huber_loss(self: Tensor, target: Tensor, reduction: int = 1, delta: float = 1.0) -> Tensor:
    return F.huber_loss(self, target, reduction=_reduction(reduction), delta=delta)


def kl_div(self: Tensor, target: Tensor, reduction: int = 1, log_target: bool = False) -> Tensor:
    return F.kl_div(self, target, reduction=_reduction(reduction), log_target=log_target)


def nll_loss(
    self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = 1, ignore_index: int = -100
) -> Tensor:
    return F.nll_loss(self, target, weight, ignore_index=ignore_index, reduction=_reduction(reduction))


def cross_entropy_loss(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = 1,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Tensor:
    return F.cross_entropy(
        self,
        target,
        weight,
        ignore_index=ignore_index,
        reduction=_reduction(reduction),
        label_smoothing=label_smoothing,
    )


def binary_cross_entropy(self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = 1) -> Tensor:
    return F.binary_cross_entropy(self, target, weight, reduction=_reduction(reduction))


def binary_cross_entropy_with_logits(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = 1,
) -> Tensor:
    return F.binary_cross_entropy_with_logits(
        self, target, weight, reduction=_reduction(reduction), pos_weight=pos_weight
    )


# ---- images ----------------------------------------------------------------------------------------------------------


def reflection_pad(self: Tensor, padding: list[int]) -> Tensor:
    return F.pad(self, padding, "reflect")


def replication_pad(self: Tensor, padding: list[int]) -> Tensor:
    return F.pad(self, padding, "replicate")


def upsampled_size(input: Tensor, output_size: list[int] | None, scales: list[float] | None) -> list[int]:
    if output_size is not None:
        return output_size
    if scales is None:
        raise ValueError("upsample: one of the size and the factors has to be given")
    return [int(math.floor(float(input.size(i + 2)) * scales[i])) for i in range(len(scales))]


def upsampled_scale(scales: list[float] | None, i: int) -> float | None:
    return None if scales is None else scales[i]


# ---- normalization ---------------------------------------------------------------------------------------------------


def _batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    out = lamella.ops.aten.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)
    if not training:
        return out, input.new_empty([0]), input.new_empty([0])
    dims = [i for i in range(input.dim()) if i != 1]
    mean = input.mean(dims)
    return out, mean, (input.var(dims, unbiased=False) + eps).rsqrt()


def batch_norm_without_stats(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, training: bool, momentum: float, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    return _batch_norm(input, weight, bias, None, None, training, momentum, eps)


def _native_batch_norm_legit_functional(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    new_mean, new_var = running_mean.clone(), running_var.clone()
    out, mean, scale = _batch_norm(input, weight, bias, new_mean, new_var, training, momentum, eps)
    return out, mean, scale, new_mean, new_var


def _native_batch_norm_legit_no_training(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    return _batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)


# ---- attention -------------------------------------------------------------------------------------------------------


def _native_multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Tensor, Tensor]:
    rows, steps, of_head = query.size(0), query.size(1), embed_dim // num_head
    weights, biases = qkv_weight.chunk(3), qkv_bias.chunk(3)
    q = F.linear(query, weights[0], biases[0]).view([rows, steps, num_head, of_head]).transpose(1, 2)
    k = F.linear(key, weights[1], biases[1]).view([rows, key.size(1), num_head, of_head]).transpose(1, 2)
    v = F.linear(value, weights[2], biases[2]).view([rows, value.size(1), num_head, of_head]).transpose(1, 2)
    scores = q @ k.transpose(-2, -1) / math.sqrt(of_head)
    if mask is not None:
        hidden = mask.to(lamella.bool)
        if mask_type is not None and mask_type == 1:  # of keys that are padding
            hidden = hidden.view([rows, 1, 1, key.size(1)])
        scores = scores.masked_fill(hidden, -math.inf)
    shares = scores.softmax(-1)
    out = F.linear((shares @ v).transpose(1, 2).reshape([rows, steps, embed_dim]), proj_weight, proj_bias)
    if not need_weights:
        return out, query.new_empty([0])
    return out, shares.mean([1]) if average_attn_weights else shares


def _transformer_encoder_layer_fwd(
    src: Tensor,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Tensor,
    norm_bias_1: Tensor,
    norm_weight_2: Tensor,
    norm_bias_2: Tensor,
    ffn_weight_1: Tensor,
    ffn_bias_1: Tensor,
    ffn_weight_2: Tensor,
    ffn_bias_2: Tensor,
    mask: Tensor | None = None,
    mask_type: int | None = None,
) -> Tensor:
    size = [embed_dim]
    x = F.layer_norm(src, size, norm_weight_1, norm_bias_1, eps) if norm_first else src
    x, _ = _native_multi_head_attention(
        *(x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, False, True, mask_type)
    )
    x = x + src
    if not norm_first:
        x = F.layer_norm(x, size, norm_weight_1, norm_bias_1, eps)
    y = F.layer_norm(x, size, norm_weight_2, norm_bias_2, eps) if norm_first else x
    y = F.linear(y, ffn_weight_1, ffn_bias_1)
    x = x + F.linear(F.gelu(y) if use_gelu else F.relu(y), ffn_weight_2, ffn_bias_2)
    return x if norm_first else F.layer_norm(x, size, norm_weight_2, norm_bias_2, eps)


# ---- inputs of exported programs -------------------------------------------------------------------------------------


def check_sizes(x: Tensor, name: str, least: list[int], most: list[int]) -> None:
    if x.dim() != len(least):
        raise ValueError(f"forward: '{name}' has to have {len(least)} dimensions, got {x.dim()}")
    for i in range(len(least)):
        if x.size(i) < least[i] or x.size(i) > most[i]:
            wanted = f"{least[i]}" if least[i] == most[i] else f"from {least[i]} to {most[i]}"
            raise ValueError(
                f"forward: '{name}' has to have size {wanted} in dimension {i}, got {x.size(i)}; the program was "
                "exported for these sizes alone"
            )


# ---- copies and pieces of other operators ----------------------------------------------------------------------------


def itself(self: Tensor) -> Tensor:
    return self


def is_nested(self: Tensor) -> bool:
    return False  # Lamella has no nested tensors


def is_autocast_enabled() -> bool:
    return False  # either way through torch's code computes the same, and autocast acts on each of its operators


def copied(self: Tensor) -> Tensor:
    return self.clone()


def _to_copy(
    self: Tensor,
    dtype: lamella.dtype | None = None,
    layout: lamella.layout | None = None,
    device: lamella.device | None = None,
    pin_memory: bool | None = None,
    non_blocking: bool = False,
    memory_format: lamella.memory_format | None = None,
) -> Tensor:
    return self.to(self.device if device is None else device, self.dtype if dtype is None else dtype, copy=True)


def softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    return self.softmax(dim, lamella.float32) if half_to_float else self.softmax(dim)


def log_softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    return self.log_softmax(dim, lamella.float32) if half_to_float else self.log_softmax(dim)


def linalg_norm(
    self: Tensor,
    ord: float | None = None,
    dim: list[int] | None = None,
    keepdim: bool = False,
    dtype: lamella.dtype | None = None,
) -> Tensor:
    if ord is None:
        return lamella.ops.aten.linalg_vector_norm(self, 2, dim, keepdim, dtype=dtype)
    if (self.dim() if dim is None else len(dim)) != 1:
        raise NotImplementedError("linalg_norm: norms of matrices are not here")
    return lamella.ops.aten.linalg_vector_norm(self, ord, dim, keepdim, dtype=dtype)


def unsafe_view(self: Tensor, size: list[int]) -> Tensor:
    return self.reshape(size)


_HERE = (
    _convolution,
    convolution,
    mse_loss,
    l1_loss,
    smooth_l1_loss,
    huber_loss,
    kl_div,
    nll_loss,
    cross_entropy_loss,
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    _to_copy,
    linalg_norm,
    is_autocast_enabled,
    _native_multi_head_attention,
    _transformer_encoder_layer_fwd,
    _native_batch_norm_legit_functional,
    _native_batch_norm_legit_no_training,
)
OPERATORS: dict[str, Any] = {f"aten::{f.__name__}": f for f in _HERE} | {
    "aten::_native_batch_norm_legit": _batch_norm,
    "aten::_native_batch_norm_legit.no_stats": batch_norm_without_stats,
    "aten::native_batch_norm": _batch_norm,
    "aten::nll_loss_nd": nll_loss,
    "aten::lift_fresh": itself,
    "aten::lift_fresh_copy": copied,
    "aten::_softmax": softmax,
    "aten::_log_softmax": log_softmax,
    "aten::_unsafe_view": unsafe_view,
    "prim::is_nested": is_nested,
}
"""The functions by the names of torch's operators, for calls that no overload of Lamella's fits."""
for _n in "123":
    OPERATORS[f"aten::reflection_pad{_n}d"] = reflection_pad
    OPERATORS[f"aten::replication_pad{_n}d"] = replication_pad
