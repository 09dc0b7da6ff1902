"""Layers: products, norms, rows of tables."""
"""Layers: products, convolutions, pools, norms."""

from __future__ import annotations

import math
"""Layers: products, convolutions, pools, rows of tables."""

from __future__ import annotations

from typing import Any

from lamella.nn.functional._operators import op

__all__ = [
    "batch_norm",
    "embedding",
    "conv1d",
    "conv2d",
    "conv3d",
    "group_norm",
    "layer_norm",
    "linear",
    "normalize",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "conv1d",
    "conv2d",
    "conv3d",
    "embedding",
    "linear",
    "max_pool1d",
    "max_pool2d",
    "one_hot",
    "pad",
]

_batch_norm, _embedding = op("batch_norm"), op("embedding")
_batch_norm = op("batch_norm")
_max_pool1d, _max_pool2d, _max_pool2d_with_indices = (
    op(name) for name in ("max_pool1d", "max_pool2d", "max_pool2d_with_indices")
)
_div = op("div")
_embedding = op("embedding")
_max_pool1d, _max_pool2d, _max_pool2d_with_indices = (
    op(name) for name in ("max_pool1d", "max_pool2d", "max_pool2d_with_indices")
)
_avg_pool1d, _avg_pool2d = op("avg_pool1d"), op("avg_pool2d")

# Operators whose signature is the function's.
linear, pad, one_hot = op("linear"), op("pad"), op("one_hot")
linear, pad = op("linear"), op("pad")
conv1d, conv2d, conv3d = op("conv1d"), op("conv2d"), op("conv3d")
layer_norm, group_norm, rms_norm = op("layer_norm"), op("group_norm"), op("rms_norm")
adaptive_avg_pool1d = op("adaptive_avg_pool1d")
_adaptive_avg_pool2d = op("adaptive_avg_pool2d")


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """The rows of ``weight`` that the integers of ``input`` name.

    >>> lamella.nn.functional.embedding(lamella.tensor([1, 0]), lamella.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[3., 4.],
            [1., 2.]])
    """
    if max_norm is not None or sparse:
        raise NotImplementedError("embedding: arguments 'max_norm' and 'sparse' are not here yet")
    rows = weight.shape[0]
    if padding_idx is None:
        padding_idx = -1
    elif not -rows <= padding_idx < rows:
        raise RuntimeError(f"embedding: argument 'padding_idx': {padding_idx} is out of range for {rows} rows")
    elif padding_idx < 0:
        padding_idx += rows
    return _embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)
# ---- pools -----------------------------------------------------------------------------------------------------------


def _steps(stride: Any) -> Any:
    """A missing stride is the size of the kernel, which operators write as an empty list."""
    return () if stride is None else stride


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The maximum of each window of the last dimension; with ``return_indices`` also where each stands.

    >>> lamella.nn.functional.max_pool1d(lamella.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
    tensor([[3., 4.]])
    """
    if not return_indices:
        return _max_pool1d(input, kernel_size, _steps(stride), padding, dilation, ceil_mode)
    rows = [(1, *_one(n)) for n in (kernel_size, kernel_size if stride is None else stride)]
    values, indices = _max_pool2d_with_indices(
        input.unsqueeze(-2), *rows, (0, *_one(padding)), (1, *_one(dilation)), ceil_mode
    )
    return values.squeeze(-2), indices.squeeze(-2)


def _one(value: Any) -> tuple[int]:
    return (value,) if isinstance(value, int) else tuple(value)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The maximum of each window of the last two dimensions; with ``return_indices`` also where in its plane it stands.

    >>> lamella.nn.functional.max_pool2d(lamella.arange(16.0).view(1, 1, 4, 4), 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """
    pool = _max_pool2d_with_indices if return_indices else _max_pool2d
    return pool(input, kernel_size, _steps(stride), padding, dilation, ceil_mode)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """The mean of each window of the last dimension.

    >>> lamella.nn.functional.avg_pool1d(lamella.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
    tensor([[2., 3.]])
    """
    return _avg_pool1d(input, kernel_size, _steps(stride), padding, ceil_mode, count_include_pad)


def avg_pool2d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    """The mean of each window of the last two dimensions.

    >>> lamella.nn.functional.avg_pool2d(lamella.arange(16.0).view(1, 1, 4, 4), 2)
    tensor([[[[ 2.5000,  4.5000],
              [10.5000, 12.5000]]]])
    """
    return _avg_pool2d(input, kernel_size, _steps(stride), padding, ceil_mode, count_include_pad, divisor_override)


def _sizes(who: str, input: Any, output_size: Any, spatial: int) -> Any:
    """The sizes that are asked for, with the input's where one is None."""
    if isinstance(output_size, int):
        return output_size
    given = (output_size,) * spatial if output_size is None else tuple(output_size)
    if len(given) != spatial:
        raise ValueError(f"{who}: argument 'output_size': expected {spatial} sizes, got {output_size!r}")
    return [input.shape[i - spatial] if n is None else n for i, n in enumerate(given)]


def adaptive_avg_pool2d(input, output_size):
    """Means of as many windows as asked for, which divide the last two dimensions evenly; None keeps a size.

    >>> lamella.nn.functional.adaptive_avg_pool2d(lamella.arange(16.0).view(1, 4, 4), (None, 1))
    tensor([[[ 1.5000],
             [ 5.5000],
             [ 9.5000],
             [13.5000]]])
    """
    return _adaptive_avg_pool2d(input, _sizes("adaptive_avg_pool2d", input, output_size, 2))
