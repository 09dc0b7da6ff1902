"""Rows of a table, looked up one by one or reduced in bags."""

from __future__ import annotations

import warnings
from typing import Any

import lamella
from lamella.nn.functional._operators import op

__all__ = ["embedding", "embedding_bag", "one_hot"]

one_hot = op("one_hot")
_embedding, _embedding_bag, _renorm, _arange = (
    op("embedding"),
    op("embedding_bag"),
    op("embedding_renorm_"),
    op("arange"),
)
_MODES = ("sum", "mean", "max")


def _shorten(weight: Any, input: Any, max_norm: float, norm_type: float) -> None:
    """Scales the rows that are read and exceed ``max_norm`` down to it, in the table itself, without a record for
    autograd."""
    _renorm(weight.detach(), input.contiguous(), float(max_norm), float(norm_type))


def _rows_with_sparse_gradient(who: str, *args: Any) -> Any:
    """Returns rows of a table by the plugin that has sparse tensors."""
    sparse = vars(lamella).get("sparse")
    if sparse is None:
        raise NotImplementedError(f"{who}: argument 'sparse': the plugin 'sparse' is not loaded; leave it False")
    return sparse.rows_of_table(*args)


def _bags_with_sparse_gradient(weight, input, offsets, scale, mode, by_sample, last, padding_idx):
    """Returns bags of rows, each of which is picked with a sparse gradient and added to its bag."""
    count, n = offsets.shape[0] - bool(last), input.shape[0]
    places = _arange(n, device=input.device)
    begins = offsets[:count].to(lamella.int64)
    bag = lamella.searchsorted(begins, places, right=True) - 1
    if count and (int(begins[0]) != 0 or (last and int(offsets[-1]) != n)):
        raise ValueError(
            "embedding_bag: argument 'offsets' must begin with 0, and with include_last_offset end with the number of "
            f"indices, {n}"
        )
    if padding_idx is not None:
        rows = weight.shape[0]
        if not -rows <= padding_idx < rows:
            raise RuntimeError(f"embedding_bag: argument 'padding_idx': {padding_idx} is out of range for {rows} rows")
        kept = (input != padding_idx % rows).nonzero().reshape(-1)
        input, bag = input[kept], bag[kept]
        by_sample = None if by_sample is None else by_sample[kept]
    rows = _rows_with_sparse_gradient("embedding_bag", weight, input, -1, scale)
    if by_sample is not None:
        rows = rows * by_sample.unsqueeze(1)
    sums = rows.new_zeros(count, weight.shape[1]).index_add(0, bag, rows)
    if mode == "sum":
        return sums
    counts = lamella.bincount(bag, minlength=count).clamp(min=1)
    return sums / counts.to(sums.dtype).unsqueeze(1)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """The rows of ``weight`` at the indices in ``input``.

    Args:
        padding_idx: a row that gets no gradient
        max_norm: rows that are read and exceed this norm are first scaled down to it, in ``weight`` itself
        norm_type: the order p of the norm
        scale_grad_by_freq: the gradient of a row is divided by the number of its uses
        sparse: the gradient of ``weight`` has layout ``sparse_coo``, with an entry for each index

    Raises:
        IndexError: an index is negative or too large
        AssertionError: ``padding_idx`` is out of range

    >>> lamella.nn.functional.embedding(lamella.tensor([1, 0]), lamella.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[3., 4.],
            [1., 2.]])
    """
    rows = weight.shape[0]
    if padding_idx is None:
        padding_idx = -1
    elif not -rows <= padding_idx < rows:
        raise AssertionError(f"embedding: argument 'padding_idx': {padding_idx} is out of range for {rows} rows")
    elif padding_idx < 0:
        padding_idx += rows
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    if sparse:
        return _rows_with_sparse_gradient("embedding", weight, input, padding_idx, scale_grad_by_freq)
    return _embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """The "sum", "mean" or "max" of the rows of ``weight`` at the indices of each bag; zeros for an empty bag.

    Args:
        input: one bag in each row; with ``offsets`` one dimension, which holds all bags in sequence
        offsets: the index in ``input`` at which each bag begins; with ``include_last_offset`` also the end of the last
        one
        per_sample_weights: factors of the rows (with "sum")
        padding_idx: a row that is left out, and gets no gradient
        max_norm, norm_type, scale_grad_by_freq, sparse: as in ``embedding``

    Raises:
        ValueError: the shapes or arguments do not fit each other
        IndexError: an index is negative or too large
        NotImplementedError: ``per_sample_weights`` are given with another mode than "sum"

    >>> table = lamella.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> lamella.nn.functional.embedding_bag(lamella.tensor([0, 1, 1]), table, lamella.tensor([0, 2]))
    tensor([[2., 3.],
            [3., 4.]])
    """
    if not weight.is_floating_point() and input.is_floating_point():
        warnings.warn(
            "embedding_bag(weight, input, ...) is deprecated; write embedding_bag(input, weight, ...)", stacklevel=2
        )
        weight, input = input, weight
    if per_sample_weights is not None and input.shape != per_sample_weights.shape:
        raise ValueError(
            f"embedding_bag: argument 'per_sample_weights': shape {tuple(per_sample_weights.shape)} is not "
            f"the input's, {tuple(input.shape)}"
        )
    if weight.dim() != 2:
        raise ValueError(f"embedding_bag: weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "embedding_bag: if input is 2D, then offsets has to be None, as each row is a bag; got "
                f"{type(offsets).__name__}"
            )
        count, length = input.shape
        offsets = _arange(count, dtype=input.dtype, device=input.device) * length
        include_last_offset = False
        input = input.reshape(-1)
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    elif input.dim() != 1:
        raise ValueError(f"embedding_bag: input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    elif offsets is None or offsets.dim() != 1:
        raise ValueError(
            "embedding_bag: offsets has to be a 1D Tensor where the input is, got "
            f"{'None' if offsets is None else f'shape {tuple(offsets.shape)}'}"
        )
    if mode not in _MODES:
        raise ValueError(f"embedding_bag: mode has to be one of sum, mean or max, got {mode!r}")
    if mode == "max" and (scale_grad_by_freq or sparse):
        raise ValueError("embedding_bag: max mode does not support scale_grad_by_freq or sparse")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            f"embedding_bag: per_sample_weights is only supported for mode='sum' (got mode={mode!r})"
        )
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    if sparse:
        return _bags_with_sparse_gradient(
            weight, input, offsets, scale_grad_by_freq, mode, per_sample_weights, include_last_offset, padding_idx
        )
    return _embedding_bag(
        weight,
        input,
        offsets,
        scale_grad_by_freq,
        _MODES.index(mode),
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )[0]
