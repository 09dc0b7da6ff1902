"""Transformers: layers of attention and two linear layers, stacks of them, and the encoder-decoder."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

import lamella
import lamella.nn.functional as F
import lamella.nn.init as init
from lamella import _C
from lamella._C import Tensor
from lamella.nn.functional.attention import _canonical_mask
from lamella.nn.modules._multihead_attention import MultiheadAttention
from lamella.nn.modules.activation import GELU, ReLU
from lamella.nn.modules.container import ModuleList
from lamella.nn.modules.dropout import Dropout
from lamella.nn.modules.linear import Linear
from lamella.nn.modules.module import Module
from lamella.nn.modules.normalization import LayerNorm

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

Activation = str | Callable[[Tensor], Tensor]
_full = _C._packet("aten::full")


def _hides_what_follows(size: int, device: Any = None, dtype: Any = None) -> Tensor:
    return _full((size, size), -math.inf, device=device, dtype=dtype).triu(1)


def _is_causal(mask: Tensor | None, is_causal: bool | None, size: int) -> bool:
    """Returns the hint; without one, whether the mask hides from each position exactly the positions after it.

    A recording by jit.trace takes the mask as it is, since its program may get another one.
    """
    if is_causal is not None or mask is None:
        return is_causal is True
    if tuple(mask.shape) != (size, size) or lamella.jit.is_tracing():
        return False
    return bool((mask == _hides_what_follows(size, mask.device, mask.dtype)).all())


def _length(x: Tensor, batch_first: bool) -> int:
    return x.shape[1 if batch_first and x.ndim == 3 else 0]


def _get_activation_fn(activation: Activation) -> Any:
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)


def _get_clones(module: Module, n: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(n)])


def _why_padding_stays(layer: Any) -> str:
    """Returns the property of a layer for which torch does not leave padding out; an empty text if there is none."""
    if not isinstance(layer, TransformerEncoderLayer):
        return " was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = {
        ".norm_first was True": layer.norm_first,
        ".self_attn.batch_first was not True(use batch_first for better inference performance)": (
            not attention.batch_first
        ),
        ".self_attn._qkv_same_embed_dim was not True": not attention._qkv_same_embed_dim,
        ".self_attn was passed bias=False": attention.in_proj_bias is None,
        ".activation_relu_or_gelu was not True": not layer.activation_relu_or_gelu,
        ".norm1.eps was not equal to encoder_layer.norm2.eps": layer.norm1.eps != layer.norm2.eps,
        ".self_attn.num_heads is odd": attention.num_heads % 2 == 1,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


class Transformer(Module):
    """An encoder of the source, and a decoder of the target that attends to the encoder's result.

    Sources and targets are (length, batch, d_model), (batch, length, d_model) with ``batch_first``, or
    (length, d_model). The other arguments are those of :class:`TransformerEncoderLayer`, and the numbers of layers.
    ``custom_encoder`` and ``custom_decoder`` replace the stacks (Vaswani and others, 2017).

    Raises:
        RuntimeError: batches differ, or the features are not ``d_model``

    Names of the target's dimensions stay.

    >>> model = lamella.nn.Transformer(8, 2, 1, 1, 16)
    >>> model(lamella.ones(5, 3, 8), lamella.ones(4, 3, 8)).shape
    lamella.Size([4, 3, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        sizes = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)

        def norm() -> LayerNorm:
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)

        if custom_encoder is None:
            layer: Any = TransformerEncoderLayer(*sizes, device=device, dtype=dtype)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm())
        self.encoder = custom_encoder
        if custom_decoder is None:
            layer = TransformerDecoderLayer(*sizes, device=device, dtype=dtype)
            custom_decoder = TransformerDecoder(layer, num_decoder_layers, norm())
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError(
                f"the batch number of src and tgt must be equal, got {src.shape[batch]} and {tgt.shape[batch]}"
            )
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError(
                f"the feature number of src and tgt must be equal to d_model, {self.d_model}, got {src.shape[-1]} and "
                f"{tgt.shape[-1]}"
            )
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """Returns the mask that hides from each position the positions after it: -inf there, 0 elsewhere.

        >>> lamella.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        return _hides_what_follows(sz, device, dtype)

    def _reset_parameters(self) -> None:
        for p in self.parameters():
            if p.ndim > 1:
                init.xavier_uniform_(p)


class TransformerEncoder(Module):
    """A stack of copies of an encoder layer, with an optional norm at the end.

    ``enable_nested_tensor`` has torch leave padding out in ``eval()``, if no gradients are recorded, ``mask`` is not
    given and the layer has ``batch_first``, biases, an even number of heads, relu or gelu, and norms with one ``eps``
    after its parts. Lamella sets the results to zero then, before the last norm, where ``src_key_padding_mask`` hides
    the ends of sequences. ``mask_check`` is ignored: that the mask hides only ends is always checked.

    Warns:
        UserWarning: ``enable_nested_tensor`` is set, and the layer is not such a layer

    Names of dimensions stay.

    >>> layer = lamella.nn.TransformerEncoderLayer(8, 2, 16)
    >>> lamella.nn.TransformerEncoder(layer, 2)(lamella.ones(5, 3, 8)).shape
    lamella.Size([5, 3, 8])
    """

    __constants__ = ["norm"]

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Any = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ):
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        why_not = _why_padding_stays(encoder_layer)
        self.use_nested_tensor = enable_nested_tensor and not why_not
        self.mask_check = mask_check
        if enable_nested_tensor and why_not:
            warnings.warn(
                f"enable_nested_tensor is True, but self.use_nested_tensor is False because encoder_layer{why_not}",
                stacklevel=2,
            )

    def _cleared(self, src: Tensor, mask: Tensor | None, padding: Tensor | None) -> Tensor | None:
        """Returns which positions become 0, as (batch, length, 1), or None if none does."""
        if not self.use_nested_tensor or padding is None or mask is not None or src.ndim != 3:
            return None
        first: Any = self.layers[0]
        if first.training:
            return None
        attention, parts = first.self_attn, (first.norm1, first.norm2, first.linear1, first.linear2)
        tensors = [src, attention.in_proj_weight, attention.in_proj_bias]
        for part in (attention.out_proj, *parts):
            tensors += [part.weight, part.bias]
        if lamella.is_grad_enabled() and any([t.requires_grad for t in tensors]):  # noqa: C419  a script has lists
            return None
        hidden = padding != 0
        ends = ~(hidden[:, :-1] & ~hidden[:, 1:]).any()  # all positions after a hidden one are hidden
        return (hidden & ends).unsqueeze(-1)

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        other = None if mask is None else mask.dtype
        padding = _canonical_mask(src_key_padding_mask, "src_key_padding_mask", other, "mask", src.dtype)
        mask = _canonical_mask(mask, "mask", None, "", src.dtype, False)
        cleared = self._cleared(src, mask, padding)
        first: Any = self.layers[0]
        causal = _is_causal(mask, is_causal, _length(src, first.self_attn.batch_first))
        for layer in self.layers:
            src = layer(src, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        if cleared is not None:
            src = src.masked_fill(cleared, 0)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """A stack of copies of a decoder layer, with an optional norm at the end.

    Names of the target's dimensions stay.

    >>> layer = lamella.nn.TransformerDecoderLayer(8, 2, 16)
    >>> lamella.nn.TransformerDecoder(layer, 2)(lamella.ones(4, 3, 8), lamella.ones(5, 3, 8)).shape
    lamella.Size([4, 3, 8])
    """

    __constants__ = ["norm"]

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Any = None):
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        first: Any = self.layers[0]
        causal = _is_causal(tgt_mask, tgt_is_causal, _length(tgt, first.self_attn.batch_first))
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return tgt if self.norm is None else self.norm(tgt)


class _Layer(Module):
    """The common base of encoder and decoder layers. Their parts are one or two attentions and, as the last part, two
    linear layers. Each part ends in a dropout and has a norm, which are numbered in the order of the parts."""

    _attentions: tuple[str, ...]
    __constants__ = ["norm_first"]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        made: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        for name in self._attentions:
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, **made))
        self.linear1 = Linear(d_model, dim_feedforward, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **made)
        self.norm_first = norm_first
        parts = range(1, len(self._attentions) + 2)
        for part in parts:
            setattr(self, f"norm{part}", LayerNorm(d_model, eps=layer_norm_eps, **made))
        for part in parts:
            setattr(self, f"dropout{part}", Dropout(dropout))
        self._set_activation(_get_activation_fn(activation))

    def _set_activation(self, activation: Any) -> None:
        self.activation = activation

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        out, _ = self.self_attn(x, x, x, key_padding_mask, False, attn_mask, is_causal=is_causal)
        return self.dropout1(out)

    def _ff_block(self, x: Tensor) -> Tensor:
        last = getattr(self, f"dropout{len(self._attentions) + 1}")
        return last(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoderLayer(_Layer):
    """Self-attention and two linear layers; the result of each part is added to its input and normalized.

    Args:
        dim_feedforward: the width between the two linear layers; ``activation``, a name or a function, acts on it
        norm_first: the norm acts before each part instead of after it
        bias: whether linear layers and norms have a bias

    Raises:
        RuntimeError: ``activation`` is neither "relu" nor "gelu" nor a function

    Names of dimensions stay.

    >>> layer = lamella.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    >>> layer(lamella.ones(3, 5, 8)).shape
    lamella.Size([3, 5, 8])
    """

    _attentions = ("self_attn",)

    def _set_activation(self, activation: Any) -> None:
        super()._set_activation(activation)
        if activation is F.relu or isinstance(activation, ReLU):
            self.activation_relu_or_gelu = 1
        elif activation is F.gelu or isinstance(activation, GELU):
            self.activation_relu_or_gelu = 2
        else:
            self.activation_relu_or_gelu = 0

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        other = None if src_mask is None else src_mask.dtype
        padding = _canonical_mask(src_key_padding_mask, "src_key_padding_mask", other, "src_mask", src.dtype)
        mask = _canonical_mask(src_mask, "src_mask", None, "", src.dtype, False)
        if self.norm_first:
            src = src + self._sa_block(self.norm1(src), mask, padding, is_causal)
            return src + self._ff_block(self.norm2(src))
        src = self.norm1(src + self._sa_block(src, mask, padding, is_causal))
        return self.norm2(src + self._ff_block(src))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to ``memory`` and two linear layers; the result of each is added to its input and
    normalized.

    The arguments are those of :class:`TransformerEncoderLayer`.

    Names of the target's dimensions stay.

    >>> layer = lamella.nn.TransformerDecoderLayer(8, 2, 16)
    >>> layer(lamella.ones(4, 3, 8), lamella.ones(5, 3, 8)).shape
    lamella.Size([4, 3, 8])
    """

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        others = (memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        if self.norm_first:
            tgt = tgt + self._sa_block(self.norm1(tgt), *own)
            tgt = tgt + self._mha_block(self.norm2(tgt), *others)
            return tgt + self._ff_block(self.norm3(tgt))
        tgt = self.norm1(tgt + self._sa_block(tgt, *own))
        tgt = self.norm2(tgt + self._mha_block(tgt, *others))
        return self.norm3(tgt + self._ff_block(tgt))

    def _mha_block(
        self, x: Tensor, mem: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        out, _ = self.multihead_attn(x, mem, mem, key_padding_mask, False, attn_mask, is_causal=is_causal)
        return self.dropout2(out)
