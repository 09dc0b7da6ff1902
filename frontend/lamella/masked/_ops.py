"""Functions over the elements that a mask keeps.

Elements that do not count are replaced by the number that leaves the result as it is: 0 for a sum, 1 for a product,
the lowest number for a maximum. So the result is that number if no element counts; mean, variance and median are NaN
then. A mask may have fewer dimensions than the input, or ones; True keeps an element. Every function also
takes a MaskedTensor, of which the elements count that its own mask and ``mask`` keep, and returns a plain tensor.
"""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella import Tensor

_vector_norm = lamella._C._packet("aten::linalg_vector_norm")


def _operands(name: str, input: Any, mask: Tensor | None, dtype=None) -> tuple[Tensor, Tensor | None]:
    """Returns the input as a plain tensor, in ``dtype`` if there is one, and the mask in the shape of the input."""
    if not isinstance(input, Tensor):
        raise TypeError(f"{name}: argument 'input' must be Tensor, got {type(input).__name__}")
    if mask is not None and not isinstance(mask, Tensor):
        raise TypeError(f"{name}: argument 'mask' must be Tensor, got {type(mask).__name__}")
    own = None
    if hasattr(input, "get_mask"):  # a MaskedTensor
        masked: Any = input
        own, input = masked.get_mask(), masked.get_data()
    if mask is not None:
        if mask.dim() > input.dim():
            raise ValueError(
                f"{name}: argument 'mask' has {mask.dim()} dimensions, more than the input, which has {input.dim()}"
            )
        try:
            mask = mask.to(lamella.bool).expand(input.shape)
        except RuntimeError:
            raise RuntimeError(
                f"{name}: argument 'mask': shape {tuple(mask.shape)} does not broadcast to that of the input, "
                f"{tuple(input.shape)}"
            ) from None
    kept = own if mask is None else mask if own is None else own & mask
    return (input if dtype is None else input.to(dtype)), kept


def _filled(x: Tensor, kept: Tensor | None, number: float) -> Tensor:
    return x if kept is None else x.masked_fill(~kept, number)


def _dims(dim) -> list[int] | None:
    return None if dim is None else [dim] if hasattr(dim, "__index__") else list(dim)


def _count(x: Tensor, kept: Tensor | None, dim, keepdim: bool) -> Tensor:
    """Returns how many elements count along the dimensions."""
    ones = lamella.ones_like(x, dtype=lamella.int64) if kept is None else kept
    return lamella.sum(ones, _dims(dim), keepdim, dtype=lamella.int64)


def _limit(name: str, x: Tensor, sign: int) -> float:
    """Returns the lowest number of a dtype (``sign`` -1) or the highest one (1)."""
    if x.dtype.is_floating_point:
        return sign * math.inf
    if x.dtype is lamella.bool or x.dtype.is_complex:
        raise NotImplementedError(f"{name}: argument 'input': {x.dtype} has no lowest and highest number")
    info = lamella.iinfo(x.dtype)
    return info.min if sign < 0 else info.max


def _summed_dtype(x: Tensor, dtype):
    return dtype or (x.dtype if x.dtype.is_floating_point or x.dtype.is_complex else lamella.int64)


def _real_dtype(name: str, x: Tensor, dtype):
    """Returns the dtype of a mean: that of the input, or the one that was given."""
    dtype = dtype or x.dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(
            f"{name}: argument 'input' has dtype {dtype}; the result needs a floating or complex one: pass dtype="
        )
    return dtype


# ---- reductions ------------------------------------------------------------------------------------------------------


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None) -> Tensor:
    """Sums the elements that count, over all dimensions or those of ``dim``; integers and bools give int64.

    >>> import lamella
    >>> lamella.masked.sum(lamella.tensor([1.0, 2.0]), mask=lamella.tensor([True, False]))
    tensor(1.)
    """
    x, kept = _operands("sum", input, mask)
    x = x.to(_summed_dtype(x, dtype))
    return lamella.sum(_filled(x, kept, 0), _dims(dim), keepdim)


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None) -> Tensor:
    """Multiplies the elements that count; integers and bools give int64.

    >>> import lamella
    >>> lamella.masked.prod(lamella.tensor([3.0, 2.0]), mask=lamella.tensor([True, False]))
    tensor(3.)
    """
    x, kept = _operands("prod", input, mask)
    x = _filled(x.to(_summed_dtype(x, dtype)), kept, 1)
    dims, size = (None if not dim and dim != 0 else _dims(dim)) or list(range(x.dim())), max(x.dim(), 1)
    if wrong := [d for d in dims if not -size <= d < size]:
        raise IndexError(f"prod: argument 'dim': dimension {wrong[0]} is out of range for {x.dim()} dimensions")
    if len({d % size for d in dims}) != len(dims):
        raise RuntimeError(f"prod: argument 'dim': a dimension appears twice in {tuple(dims)}")
    for d in sorted((d % size for d in dims), reverse=True):
        x = x.prod(d, keepdim)
    return x


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None) -> Tensor:
    """Returns the largest of the elements that count; of none, the lowest number of the dtype.

    >>> import lamella
    >>> lamella.masked.amax(lamella.tensor([1.0, 2.0]), mask=lamella.tensor([True, False]))
    tensor(1.)
    """
    x, kept = _operands("amax", input, mask, dtype)
    return lamella.amax(_filled(x, kept, _limit("amax", x, -1)), _dims(dim) or [], keepdim)


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None) -> Tensor:
    """Returns the smallest of the elements that count; of none, the highest number of the dtype.

    >>> import lamella
    >>> lamella.masked.amin(lamella.tensor([1.0, 2.0]), mask=lamella.tensor([False, True]))
    tensor(2.)
    """
    x, kept = _operands("amin", input, mask, dtype)
    return lamella.amin(_filled(x, kept, _limit("amin", x, 1)), _dims(dim) or [], keepdim)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None) -> Tensor:
    """Returns the index of the largest element that counts, in ``dtype``, else in the input's, as torch does.

    >>> import lamella
    >>> lamella.masked.argmax(lamella.tensor([1, 3, 2]), mask=lamella.tensor([True, False, True]))
    tensor(2)
    """
    x, kept = _operands("argmax", input, mask, dtype)
    return lamella.argmax(_filled(x, kept, _limit("argmax", x, -1)), dim, keepdim).to(x.dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None) -> Tensor:
    """Returns the index of the smallest element that counts, in ``dtype``, else in the input's, as torch does.

    >>> import lamella
    >>> lamella.masked.argmin(lamella.tensor([1, 3, 2]), mask=lamella.tensor([False, True, True]))
    tensor(2)
    """
    x, kept = _operands("argmin", input, mask, dtype)
    return lamella.argmin(_filled(x, kept, _limit("argmin", x, 1)), dim, keepdim).to(x.dtype)


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None) -> Tensor:
    """Returns the mean of the elements that count; of none, NaN.

    Raises:
        ValueError: neither the input nor ``dtype`` is floating or complex

    >>> import lamella
    >>> lamella.masked.mean(lamella.tensor([1.0, 2.0, 6.0]), mask=lamella.tensor([True, False, True]))
    tensor(3.5000)
    """
    x, kept = _operands("mean", input, mask)
    x = x.to(_real_dtype("mean", x, dtype))
    if kept is None:
        return lamella.mean(x, _dims(dim), keepdim)
    return lamella.sum(_filled(x, kept, 0), _dims(dim), keepdim) / _count(x, kept, dim, keepdim)


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None) -> Tensor:
    """Returns the median of the elements that count along a dimension, the lower of two; of none, NaN.

    Raises:
        ValueError: the dtype is not floating, and no element of a row counts

    >>> import lamella
    >>> lamella.masked.median(lamella.tensor([5.0, 1.0, 3.0]), mask=lamella.tensor([True, False, True]))
    tensor(3.)
    """
    x, kept = _operands("median", input, mask, dtype)
    if x.dtype.is_floating_point:
        return lamella.nanmedian(_filled(x, kept, math.nan), dim, keepdim).values
    if kept is None:
        return lamella.median(x, dim, keepdim).values
    count = _count(x, kept, dim, True)
    if bool((count == 0).any()):
        raise ValueError("median: argument 'mask': no element of a row counts, and integers have no NaN; pass dtype=")
    in_order = _filled(x, kept, _limit("median", x, 1)).sort(dim).values
    found = in_order.gather(dim, (count - 1) // 2)
    return found if keepdim else found.squeeze(dim)


def _spread(name, input, dim, unbiased, correction, keepdim, dtype, mask) -> Tensor:
    if unbiased is not None and correction is not None:
        raise ValueError(f"{name}: argument 'correction': pass either it or 'unbiased'")
    lost = correction if correction is not None else int(unbiased is not False)
    x, kept = _operands(name, input, mask)
    floating = x.dtype.is_floating_point or x.dtype.is_complex
    x = x.to(dtype or (x.dtype if floating else lamella.get_default_dtype()))
    count = _count(x, kept, dim, True)
    centred = x - lamella.sum(_filled(x, kept, 0), _dims(dim), True) / count
    squares = _filled(centred.abs().square(), kept, 0)
    freedom = (_count(x, kept, dim, keepdim) - lost).clamp_min(0)
    return lamella.sum(squares, _dims(dim), keepdim) / freedom


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None) -> Tensor:
    """Returns the variance of the elements that count; the sum of squares is divided by their number less
    ``correction`` (1).

    >>> import lamella
    >>> lamella.masked.var(lamella.tensor([1.0, 9.0, 3.0]), mask=lamella.tensor([True, False, True]))
    tensor(2.)
    """
    return _spread("var", input, dim, unbiased, correction, keepdim, dtype, mask)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None) -> Tensor:
    """Returns the standard deviation of the elements that count: the root of ``var``.

    >>> import lamella
    >>> lamella.masked.std(lamella.tensor([1.0, 9.0, 3.0]), mask=lamella.tensor([True, False, True]), correction=0)
    tensor(1.)
    """
    return _spread("std", input, dim, unbiased, correction, keepdim, dtype, mask).sqrt()


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None) -> Tensor:
    """Returns the norm of order ``ord`` of the elements that count, as ``linalg.vector_norm`` has it.

    >>> import lamella
    >>> lamella.masked.norm(lamella.tensor([3.0, 9.0, 4.0]), 2.0, mask=lamella.tensor([True, False, True]))
    tensor(5.)
    """
    x, kept = _operands("norm", input, mask)
    x = x.to(_real_dtype("norm", x, dtype))
    ord = 2.0 if ord is None else ord
    return _vector_norm(_filled(x, kept, math.inf if ord < 0 else 0), ord, _dims(dim), keepdim)


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None) -> Tensor:
    """Returns the logarithm of the sum of the exponentials of the elements that count; of none, -inf.

    >>> import lamella
    >>> lamella.masked.logsumexp(lamella.tensor([0.0, 9.0, 0.0]), 0, mask=lamella.tensor([True, False, True]))
    tensor(0.6931)
    """
    x, kept = _operands("logsumexp", input, mask, dtype)
    x = x if x.dtype.is_floating_point or x.dtype.is_complex else x.to(lamella.get_default_dtype())
    dims = _dims(dim)
    return lamella.logsumexp(_filled(x, kept, -math.inf), list(range(x.dim())) if dims is None else dims, keepdim)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None) -> Tensor:
    """Returns the logarithm of the sum of the two exponentials; one that does not count is 0.

    >>> import lamella
    >>> x = lamella.zeros(2)
    >>> lamella.masked.logaddexp(x, x, other_mask=lamella.tensor([True, False]))
    tensor([0.6931, 0.0000])
    """
    x, kept = _operands("logaddexp", input, input_mask, dtype)
    y, other_kept = _operands("logaddexp", other, other_mask, dtype)
    return lamella.logaddexp(_filled(x, kept, -math.inf), _filled(y, other_kept, -math.inf))


# ---- along a dimension -----------------------------------------------------------------------------------------------


def cumsum(input, dim, *, dtype=None, mask=None) -> Tensor:
    """Returns the running sums of the elements that count.

    >>> import lamella
    >>> lamella.masked.cumsum(lamella.tensor([1.0, 9.0, 3.0]), 0, mask=lamella.tensor([True, False, True]))
    tensor([1., 1., 4.])
    """
    x, kept = _operands("cumsum", input, mask)
    return lamella.cumsum(_filled(x.to(_summed_dtype(x, dtype)), kept, 0), dim)


def cumprod(input, dim, *, dtype=None, mask=None) -> Tensor:
    """Returns the running products of the elements that count.

    >>> import lamella
    >>> lamella.masked.cumprod(lamella.tensor([2.0, 9.0, 3.0]), 0, mask=lamella.tensor([True, False, True]))
    tensor([2., 2., 6.])
    """
    x, kept = _operands("cumprod", input, mask)
    return lamella.cumprod(_filled(x.to(_summed_dtype(x, dtype)), kept, 1), dim)


def softmax(input, dim, *, dtype=None, mask=None) -> Tensor:
    """Returns the softmax of the elements that count; the others get 0, and NaN where none of a row counts.

    >>> import lamella
    >>> lamella.masked.softmax(lamella.tensor([1.0, 9.0, 1.0]), 0, mask=lamella.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    x, kept = _operands("softmax", input, mask, dtype)
    return lamella.softmax(_filled(x, kept, -math.inf), dim)


def log_softmax(input, dim, *, dtype=None, mask=None) -> Tensor:
    """Returns the logarithm of the softmax of the elements that count; the others get -inf.

    >>> import lamella
    >>> lamella.masked.log_softmax(lamella.tensor([1.0, 9.0, 1.0]), 0, mask=lamella.tensor([True, False, True]))
    tensor([-0.6931,    -inf, -0.6931])
    """
    x, kept = _operands("log_softmax", input, mask, dtype)
    return lamella.log_softmax(_filled(x, kept, -math.inf), dim)


def softmin(input, dim, *, dtype=None, mask=None) -> Tensor:
    """Returns the softmax of the negated elements that count; the others get 0.

    >>> import lamella
    >>> lamella.masked.softmin(lamella.tensor([1.0, 9.0, 1.0]), 0, mask=lamella.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    x, kept = _operands("softmin", input, mask, dtype)
    return lamella.softmax(_filled(-x, kept, -math.inf), dim)


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None) -> Tensor:
    """Divides the elements that count by their norm along a dimension, or by ``eps`` if that is larger.

    >>> import lamella
    >>> lamella.masked.normalize(lamella.tensor([3.0, 9.0, 4.0]), 2.0, 0, mask=lamella.tensor([True, False, True]))
    tensor([0.6000, 0.0000, 0.8000])
    """
    x, kept = _operands("normalize", input, mask)
    x = x.to(_real_dtype("normalize", x, dtype))
    size = norm(x, ord, dim, keepdim=True, mask=kept)
    return _filled(x, kept, 0) / size.clamp_min(eps)
