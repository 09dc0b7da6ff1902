"""Functions of the package in the scripted language, which scripts call in place of those of Python.

Those of Python choose by the types of their arguments when they run, or read defaults of this process.
"""

from __future__ import annotations

import math
from typing import Any

import lamella
import lamella.nn.functional as F
import lamella.plugins.graph.script.library_attention as library_attention
from lamella import Tensor, nn
from lamella.nn.modules.rnn import _LAYERS, _PLAIN_CELLS

# ---- tensors ---------------------------------------------------------------------------------------------------------


def transposed(x: Tensor) -> Tensor:
    if x.dim() <= 2:
        return x.t()
    return x.permute([x.dim() - 1 - i for i in range(x.dim())])


def sum_of_tensors(xs: list[Tensor]) -> Tensor:
    total = xs[0] + 0
    for i in range(1, len(xs)):
        total = total + xs[i]
    return total


def product(sizes: list[int]) -> int:
    n = 1
    for size in sizes:
        n = n * size
    return n


def dims_of_index(index: Tensor) -> int:
    return index.dim() if index.dtype == lamella.bool else 1


def type_as(self: Tensor, other: Tensor) -> Tensor:
    return self.to(other.dtype)


def cpu(self: Tensor) -> Tensor:
    return self.to("cpu")


def cuda(self: Tensor) -> Tensor:
    return self.to("cuda")


def view_as(self: Tensor, other: Tensor) -> Tensor:
    return self.view(other.size())


def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    return self.reshape(other.size())


def expand_as(self: Tensor, other: Tensor) -> Tensor:
    return self.expand(other.size())


def new_zeros(
    self: Tensor, size: list[int], dtype: lamella.dtype | None = None, device: lamella.device | None = None
) -> Tensor:
    return lamella.zeros(
        size, dtype=self.dtype if dtype is None else dtype, device=self.device if device is None else device
    )


def new_ones(
    self: Tensor, size: list[int], dtype: lamella.dtype | None = None, device: lamella.device | None = None
) -> Tensor:
    return lamella.ones(
        size, dtype=self.dtype if dtype is None else dtype, device=self.device if device is None else device
    )


def new_empty(
    self: Tensor, size: list[int], dtype: lamella.dtype | None = None, device: lamella.device | None = None
) -> Tensor:
    return lamella.empty(
        size, dtype=self.dtype if dtype is None else dtype, device=self.device if device is None else device
    )


def new_full(
    self: Tensor,
    size: list[int],
    fill_value: lamella.types.Number,
    dtype: lamella.dtype | None = None,
    device: lamella.device | None = None,
) -> Tensor:
    return lamella.full(
        size, fill_value, dtype=self.dtype if dtype is None else dtype, device=self.device if device is None else device
    )


def adjoint(self: Tensor) -> Tensor:
    return self.transpose(-2, -1)


def resolve_conj(self: Tensor) -> Tensor:
    return self


def resolve_neg(self: Tensor) -> Tensor:
    return self


def allclose(self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    return bool(lamella.isclose(self, other, rtol, atol, equal_nan).all())


def nonzero(input: Tensor) -> Tensor:
    return lamella.ops.aten.nonzero(input)


def isreal(input: Tensor) -> Tensor:
    return input.imag == 0 if input.is_complex() else lamella.ones_like(input, dtype=lamella.bool)


# ---- activations -----------------------------------------------------------------------------------------------------


def _limit(input: Tensor, x: float) -> lamella.types.Number:
    found: lamella.types.Number = x
    if not input.is_floating_point() and math.isfinite(x):
        found = int(x)
    return found


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    least, most = _limit(input, min_val), _limit(input, max_val)
    if inplace:
        return lamella.ops.aten.hardtanh_(input, least, most)
    return lamella.ops.aten.hardtanh(input, least, most)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    return lamella.ops.aten.hardtanh_(input, _limit(input, min_val), _limit(input, max_val))


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    limit, other = _limit(input, threshold), _limit(input, value)
    if inplace:
        return lamella.ops.aten.threshold_(input, limit, other)
    return lamella.ops.aten.threshold(input, limit, other)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    return lamella.ops.aten.threshold_(input, _limit(input, threshold), _limit(input, value))


# ---- recurrent layers ------------------------------------------------------------------------------------------------


def lstm_forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    if input.dim() != 2 and input.dim() != 3:
        raise ValueError(f"LSTM: Expected input to be 2D or 3D, got {input.dim()}D instead")
    batched = input.dim() == 3
    batch_dim = 0 if self.batch_first else 1
    x = input if batched else input.unsqueeze(batch_dim)
    layers = 2 * self.num_layers if self.bidirectional else self.num_layers
    hidden_size = self.proj_size if self.proj_size > 0 else self.hidden_size
    if hx is None:
        batch = x.size(batch_dim)
        h = lamella.zeros([layers, batch, hidden_size], dtype=x.dtype, device=x.device)
        c = lamella.zeros([layers, batch, self.hidden_size], dtype=x.dtype, device=x.device)
    else:
        h, c = hx
        if h.dim() != input.dim() or c.dim() != input.dim():
            raise RuntimeError(f"LSTM: the state has to have {input.dim()} dimensions, as the input has")
        if not batched:
            h, c = h.unsqueeze(1), c.unsqueeze(1)
    self.check_forward_args(x, (h, c), None)
    out, h, c = lamella.lstm(
        x,
        [h, c],
        self._flat_weights,
        self.bias,
        self.num_layers,
        self.dropout,
        self.training,
        self.bidirectional,
        self.batch_first,
    )
    if batched:
        return out, (h, c)
    return out.squeeze(batch_dim), (h.squeeze(1), c.squeeze(1))


def rnn_forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
    if input.dim() != 2 and input.dim() != 3:
        raise ValueError(f"{self.mode}: Expected input to be 2D or 3D, got {input.dim()}D instead")
    batched = input.dim() == 3
    batch_dim = 0 if self.batch_first else 1
    x = input if batched else input.unsqueeze(batch_dim)
    if hx is None:
        layers = 2 * self.num_layers if self.bidirectional else self.num_layers
        h = lamella.zeros([layers, x.size(batch_dim), self.hidden_size], dtype=x.dtype, device=x.device)
    else:
        if hx.dim() != input.dim():
            raise RuntimeError(f"{self.mode}: the state has to have {input.dim()} dimensions, as the input has")
        h = hx if batched else hx.unsqueeze(1)
    self.check_forward_args(x, h, None)
    out, h = _LAYERS[self.mode](
        x,
        h,
        self._flat_weights,
        self.bias,
        self.num_layers,
        self.dropout,
        self.training,
        self.bidirectional,
        self.batch_first,
    )
    if batched:
        return out, h
    return out.squeeze(batch_dim), h.squeeze(1)


def lstm_cell_forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
    batched = input.dim() == 2
    x = input if batched else input.unsqueeze(0)
    if hx is None:
        h = lamella.zeros([x.size(0), self.hidden_size], dtype=x.dtype, device=x.device)
        c = h
    else:
        h, c = hx
        if not batched:
            h, c = h.unsqueeze(0), c.unsqueeze(0)
    h, c = lamella.lstm_cell(x, [h, c], *self._weights)
    if batched:
        return h, c
    return h.squeeze(0), c.squeeze(0)


def cell_forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
    batched = input.dim() == 2
    x = input if batched else input.unsqueeze(0)
    if hx is None:
        h = lamella.zeros([x.size(0), self.hidden_size], dtype=x.dtype, device=x.device)
    else:
        h = hx if batched else hx.unsqueeze(0)
    if hasattr(self, "nonlinearity"):
        h = _PLAIN_CELLS[self.nonlinearity](x, h, *self._weights)
    else:
        h = lamella.gru_cell(x, h, *self._weights)
    return h if batched else h.squeeze(0)


# ---- images ----------------------------------------------------------------------------------------------------------


def _resized(
    input: Tensor,
    size: list[int] | None,
    scales: list[float] | None,
    recompute: bool,
) -> tuple[list[int], list[float | None]]:
    dims = input.dim() - 2
    none: list[float | None] = [None for _ in range(dims)]
    if (size is None) == (scales is None):
        raise ValueError("interpolate: one of size and scale_factor has to be given")
    if size is not None:
        if len(size) == 1 and dims > 1:
            return [size[0] for _ in range(dims)], none
        if len(size) != dims:
            raise ValueError(f"interpolate: argument 'size': expected {dims} sizes, got {len(size)}")
        return size, none
    assert scales is not None
    if len(scales) == 1:
        scales = [scales[0] for _ in range(dims)]
    if len(scales) != dims:
        raise ValueError(f"interpolate: argument 'scale_factor': expected {dims} factors, got {len(scales)}")
    sizes = [int(math.floor(float(input.size(i + 2)) * scales[i])) for i in range(dims)]
    if recompute:
        return sizes, none
    kept: list[float | None] = []
    for scale in scales:
        kept.append(scale)
    return sizes, kept


def _interpolate(
    input: Tensor,
    size: list[int] | None,
    scale_factor: list[float] | None,
    mode: str,
    align_corners: bool | None,
    recompute_scale_factor: bool,
) -> Tensor:
    dims = input.dim()
    picking = mode == "nearest" or mode == "nearest-exact" or mode == "area"
    if picking and align_corners is not None:
        raise ValueError(f"interpolate: argument 'align_corners': mode '{mode}' has none; leave it None")
    corners = False if align_corners is None else align_corners
    sizes, s = _resized(input, size, scale_factor, recompute_scale_factor or (mode == "area" and size is None))
    if mode == "nearest" and dims == 3:
        return lamella.ops.aten.upsample_nearest1d(input, sizes, s[0])
    if mode == "nearest" and dims == 4:
        return lamella.ops.aten.upsample_nearest2d(input, sizes, s[0], s[1])
    if mode == "nearest" and dims == 5:
        return lamella.ops.aten.upsample_nearest3d(input, sizes, s[0], s[1], s[2])
    if mode == "nearest-exact" and dims == 3:
        return lamella.ops.aten._upsample_nearest_exact1d(input, sizes, s[0])
    if mode == "nearest-exact" and dims == 4:
        return lamella.ops.aten._upsample_nearest_exact2d(input, sizes, s[0], s[1])
    if mode == "nearest-exact" and dims == 5:
        return lamella.ops.aten._upsample_nearest_exact3d(input, sizes, s[0], s[1], s[2])
    if mode == "linear" and dims == 3:
        return lamella.ops.aten.upsample_linear1d(input, sizes, corners, s[0])
    if mode == "bilinear" and dims == 4:
        return lamella.ops.aten.upsample_bilinear2d(input, sizes, corners, s[0], s[1])
    if mode == "bicubic" and dims == 4:
        return lamella.ops.aten.upsample_bicubic2d(input, sizes, corners, s[0], s[1])
    if mode == "trilinear" and dims == 5:
        return lamella.ops.aten.upsample_trilinear3d(input, sizes, corners, s[0], s[1], s[2])
    if mode == "area" and dims == 3:
        return F.adaptive_avg_pool1d(input, sizes)
    if mode == "area" and dims == 4:
        return F.adaptive_avg_pool2d(input, sizes)
    raise NotImplementedError(f"interpolate: mode '{mode}' does not take {dims} dimensions in a script")


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    number = ["none", "mean", "sum"].index(reduction)
    return lamella.ops.aten.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, number, zero_infinity)


# ---- replacements ----------------------------------------------------------------------------------------------------

_REPLACEMENTS: dict[Any, Any] = {
    F.multi_head_attention_forward: library_attention.multi_head_attention_forward,
    F.ctc_loss: ctc_loss,
    F.hardtanh: hardtanh,
    F.hardtanh_: hardtanh_,
    F.threshold: threshold,
    F.threshold_: threshold_,
    lamella.allclose: allclose,
    lamella.adjoint: adjoint,
    lamella.resolve_conj: resolve_conj,
    lamella.resolve_neg: resolve_neg,
}


def replacement(target: Any) -> Any:
    """Returns the function of this file that scripts call for a function of the package; None for another object."""
    return _REPLACEMENTS.get(target)


_METHODS: list[tuple[type, Any, Any]] = [
    (nn.MultiheadAttention, nn.MultiheadAttention.forward, library_attention.multihead_attention),
    (nn.LSTM, nn.RNNBase.forward, lstm_forward),
    (nn.RNNBase, nn.RNNBase.forward, rnn_forward),
    (nn.LSTMCell, nn.LSTMCell.forward, lstm_cell_forward),
    (nn.GRUCell, nn.GRUCell.forward, cell_forward),
    (nn.RNNCell, nn.RNNCell.forward, cell_forward),
]


def method(python: type, function: Any) -> Any:
    """Returns the function that is a method of a class in scripts: one of this file, or the function itself."""
    for owner, old, new in _METHODS:
        if function is old and issubclass(python, owner):
            return new
    return function


__all__ = ["lamella"]
