"""Pooling: the maximum, the mean or a norm of windows, and unpooling."""

from __future__ import annotations

from typing import Any

import lamella
from lamella.nn.functional._operators import op

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]

_max = [op(f"max_pool{n}d") for n in (1, 2, 3)]
_max_with_indices = [op(f"max_pool{n}d_with_indices") for n in (1, 2, 3)]
_avg = [op(f"avg_pool{n}d") for n in (1, 2, 3)]
_adaptive_avg = [op(f"adaptive_avg_pool{n}d") for n in (1, 2, 3)]
_adaptive_max = [op(f"adaptive_max_pool{n}d") for n in (1, 2, 3)]
_fractional = {n: op(f"fractional_max_pool{n}d") for n in (2, 3)}
_max_unpool2d, _max_unpool3d = op("max_unpool2d"), op("max_unpool3d")


def _steps(stride: Any) -> Any:
    """Returns the stride as operators take it. They write a missing one, which means the kernel's size, as an empty
    list."""
    return () if stride is None else stride


def _each(value: Any, n: int) -> tuple[Any, ...]:
    """Returns the values of a tuple or list as a tuple, without a check of their number, or one value ``n`` times."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n


# ---- the maximum of windows ------------------------------------------------------------------------------------------


def _max_pool(n, input, kernel_size, stride, padding, dilation, ceil_mode, indices):
    made = (_max_with_indices if indices else _max)[n - 1](
        input, kernel_size, _steps(stride), padding, dilation, ceil_mode
    )
    return tuple(made) if indices else made


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The maximum of each window of the last dimension; with ``return_indices`` also its index there.

    >>> lamella.nn.functional.max_pool1d(lamella.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
    tensor([[3., 4.]])
    """
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The maximum of each window of the last two dimensions; with ``return_indices`` also its index in the plane.

    >>> lamella.nn.functional.max_pool2d(lamella.arange(16.0).view(1, 1, 4, 4), 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The maximum of each window of the last three dimensions; with ``return_indices`` also its index in the volume.

    >>> lamella.nn.functional.max_pool3d(lamella.arange(8.0).view(1, 2, 2, 2), 2, return_indices=True)
    (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool1d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    """``max_pool1d`` with the index of each maximum along the last dimension; ``return_indices`` is ignored.

    >>> lamella.nn.functional.max_pool1d_with_indices(lamella.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
    (tensor([[3., 4.]]), tensor([[1, 3]]))
    """
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool2d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    """``max_pool2d`` with the index of each maximum in its plane; ``return_indices`` is ignored.

    >>> lamella.nn.functional.max_pool2d_with_indices(lamella.arange(4.0).view(1, 2, 2), 2)
    (tensor([[[3.]]]), tensor([[[3]]]))
    """
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool3d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    """``max_pool3d`` with the index of each maximum in its volume; ``return_indices`` is ignored.

    >>> lamella.nn.functional.max_pool3d_with_indices(lamella.arange(8.0).view(1, 2, 2, 2), 2)
    (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, True)


# ---- the mean of windows ---------------------------------------------------------------------------------------------


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """Returns the mean of each window of the last dimension.

    >>> lamella.nn.functional.avg_pool1d(lamella.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
    tensor([[2., 3.]])
    """
    return _avg[0](input, kernel_size, _steps(stride), padding, ceil_mode, count_include_pad)


def avg_pool2d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None, **out
):
    """Returns the mean of each window of the last two dimensions; of int64 numbers, rounded toward zero.

    >>> lamella.nn.functional.avg_pool2d(lamella.arange(16.0).view(1, 1, 4, 4), 2)
    tensor([[[[ 2.5000,  4.5000],
              [10.5000, 12.5000]]]])
    """
    return _avg[1](input, kernel_size, _steps(stride), padding, ceil_mode, count_include_pad, divisor_override, **out)


def avg_pool3d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None, **out
):
    """Returns the mean of each window of the last three dimensions.

    >>> lamella.nn.functional.avg_pool3d(lamella.arange(8.0).view(1, 2, 2, 2), 2)
    tensor([[[[3.5000]]]])
    """
    return _avg[2](input, kernel_size, _steps(stride), padding, ceil_mode, count_include_pad, divisor_override, **out)


def _power(n, input, norm_type, kernel_size, stride, ceil_mode):
    mean = _avg[n - 1](input.pow(norm_type), kernel_size, _steps(stride), 0, ceil_mode)
    taps = 1
    for k in _each(kernel_size, n):
        taps *= k
    return (mean.sign() * mean.abs().relu()).mul(taps).pow(1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """Returns the norm of order ``norm_type`` of each window of the last dimension: the root of the sum of powers.

    >>> lamella.nn.functional.lp_pool1d(lamella.tensor([[3.0, 4.0, 0.0, 2.0]]), 2, 2)
    tensor([[5., 2.]])
    """
    return _power(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """Returns the norm of order ``norm_type`` of each window of the last two dimensions; see ``lp_pool1d``.

    >>> lamella.nn.functional.lp_pool2d(lamella.ones(1, 2, 4), 2, 2)
    tensor([[[2., 2.]]])
    """
    return _power(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """Returns the norm of order ``norm_type`` of each window of the last three dimensions; see ``lp_pool1d``.

    >>> lamella.nn.functional.lp_pool3d(lamella.ones(1, 2, 2, 2), 3, 2)
    tensor([[[[2.]]]])
    """
    return _power(3, input, norm_type, kernel_size, stride, ceil_mode)


# ---- a given number of windows ---------------------------------------------------------------------------------------


def _sizes(who: str, input: Any, output_size: Any, spatial: int) -> Any:
    """Returns the sizes of the result, with the input's size for each None."""
    if isinstance(output_size, int):
        return output_size
    if isinstance(output_size, (str, float)):
        raise TypeError(f"{who}: argument 'output_size': expected ints, got {output_size!r}")
    given = (output_size,) * spatial if output_size is None else tuple(output_size)
    if len(given) != spatial:
        raise RuntimeError(f"{who}: argument 'output_size': expected {spatial} sizes, got {output_size!r}")
    if input.ndim < spatial:
        raise ValueError(f"{who}: argument 'input': expected at least {spatial} dimensions, got {input.ndim}")
    return [input.shape[i - spatial] if n is None else n for i, n in enumerate(given)]


def adaptive_avg_pool1d(input, output_size):
    """The means of ``output_size`` windows, spread evenly over the last dimension. None keeps its size.

    >>> lamella.nn.functional.adaptive_avg_pool1d(lamella.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
    tensor([[2., 3.]])
    """
    return _adaptive_avg[0](input, _sizes("adaptive_avg_pool1d", input, output_size, 1))


def adaptive_avg_pool2d(input, output_size):
    """The means of ``output_size`` windows, spread evenly over the last two dimensions. None keeps a size.

    >>> lamella.nn.functional.adaptive_avg_pool2d(lamella.arange(16.0).view(1, 4, 4), (None, 1))
    tensor([[[ 1.5000],
             [ 5.5000],
             [ 9.5000],
             [13.5000]]])
    """
    return _adaptive_avg[1](input, _sizes("adaptive_avg_pool2d", input, output_size, 2))


def adaptive_avg_pool3d(input, output_size):
    """The means of ``output_size`` windows, spread evenly over the last three dimensions. None keeps a size.

    >>> lamella.nn.functional.adaptive_avg_pool3d(lamella.arange(8.0).view(1, 2, 2, 2), (None, 1, 1)).flatten()
    tensor([1.5000, 5.5000])
    """
    return _adaptive_avg[2](input, _sizes("adaptive_avg_pool3d", input, output_size, 3))


def _adaptive(n, who, input, output_size, indices):
    both = _adaptive_max[n - 1](input, _sizes(who, input, output_size, n))
    return both if indices else both[0]


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """The maximum of each of ``output_size`` windows, spread evenly over the last dimension.

    With ``return_indices`` the result is a pair, the second of which holds the index of each maximum.

    >>> lamella.nn.functional.adaptive_max_pool1d(lamella.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
    tensor([[3., 4.]])
    """
    return _adaptive(1, "adaptive_max_pool1d", input, output_size, return_indices)


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """The maximum of each of ``output_size`` windows, spread evenly over the last two dimensions.

    None keeps a size. With ``return_indices`` the result is a pair; the second holds each maximum's index in its plane.

    >>> lamella.nn.functional.adaptive_max_pool2d(lamella.arange(6.0).view(1, 2, 3), (1, 2), return_indices=True)
    (tensor([[[4., 5.]]]), tensor([[[4, 5]]]))
    """
    return _adaptive(2, "adaptive_max_pool2d", input, output_size, return_indices)


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """The maximum of each of ``output_size`` windows, spread evenly over the last three dimensions.

    None keeps a size. With ``return_indices`` the result is a pair; the second holds each maximum's index in its
    volume.

    >>> lamella.nn.functional.adaptive_max_pool3d(lamella.arange(8.0).view(1, 2, 2, 2), (2, 1, 1)).flatten()
    tensor([3., 7.])
    """
    return _adaptive(3, "adaptive_max_pool3d", input, output_size, return_indices)


def adaptive_max_pool1d_with_indices(input, output_size, return_indices=False):
    """``adaptive_max_pool1d`` with the index of each maximum; ``return_indices`` is ignored.

    >>> lamella.nn.functional.adaptive_max_pool1d_with_indices(lamella.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
    (tensor([[3., 4.]]), tensor([[1, 3]]))
    """
    return _adaptive(1, "adaptive_max_pool1d_with_indices", input, output_size, True)


def adaptive_max_pool2d_with_indices(input, output_size, return_indices=False):
    """``adaptive_max_pool2d`` with the index of each maximum in its plane; ``return_indices`` is ignored.

    >>> lamella.nn.functional.adaptive_max_pool2d_with_indices(lamella.arange(4.0).view(1, 2, 2), 1)
    (tensor([[[3.]]]), tensor([[[3]]]))
    """
    return _adaptive(2, "adaptive_max_pool2d_with_indices", input, output_size, True)


def adaptive_max_pool3d_with_indices(input, output_size, return_indices=False):
    """``adaptive_max_pool3d`` with the index of each maximum in its volume; ``return_indices`` is ignored.

    >>> lamella.nn.functional.adaptive_max_pool3d_with_indices(lamella.arange(8.0).view(1, 2, 2, 2), 1)
    (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return _adaptive(3, "adaptive_max_pool3d_with_indices", input, output_size, True)


# ---- windows that begin at random places -----------------------------------------------------------------------------


def _random(n, input, kernel_size, output_size, output_ratio, samples, indices):
    who = f"fractional_max_pool{n}d"
    if input.ndim not in (n + 1, n + 2):
        expected = f"expected {n + 2} dimensions, or {n + 1} without a batch"
        text = f"{who}: argument 'input': {expected}, got shape {tuple(input.shape)}"
        if input.ndim > n:
            raise RuntimeError(text)
        raise IndexError(text)
    if output_size is None:
        if output_ratio is None:
            raise ValueError(f"{who}: requires specifying either an output_size or an output_ratio")
        ratios = _each(output_ratio, n)
        if len(ratios) != n:
            raise ValueError(f"{who}: argument 'output_ratio': expected one number or {n}, got {output_ratio!r}")
        output_size = [int(size * ratio) for size, ratio in zip(input.shape[-n:], ratios, strict=True)]
    if samples is None:
        batch = input.shape[0] if input.ndim == n + 2 else 1
        samples = lamella.rand(batch, input.shape[-n - 1], n, dtype=input.dtype, device=input.device)
    both = _fractional[n](input, kernel_size, output_size, samples)
    return both if indices else both[0]


def fractional_max_pool2d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    """The maximum of each window of the last two dimensions; the windows begin at random places (Graham, 2014).

    ``output_size`` is the number of windows along each dimension; ``output_ratio`` gives it as a share of the input's
    size. With ``return_indices`` also the index of each maximum in its plane. ``_random_samples``, numbers of [0, 1)
    for each image, channel and dimension, replace the random numbers.

    Raises:
        ValueError: neither ``output_size`` nor ``output_ratio`` is given, or a ratio is missing
        RuntimeError: the windows do not fit, or the input has too many dimensions
        IndexError: the input has too few dimensions

    >>> lamella.nn.functional.fractional_max_pool2d(lamella.arange(16.0).view(1, 4, 4), 3, output_size=2).shape
    lamella.Size([1, 2, 2])
    """
    return _random(2, input, kernel_size, output_size, output_ratio, _random_samples, return_indices)


def fractional_max_pool3d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    """The maximum of each window of the last three dimensions; the windows begin at random places.

    See ``fractional_max_pool2d``.

    >>> lamella.nn.functional.fractional_max_pool3d(lamella.ones(1, 4, 6, 8), 2, output_ratio=0.5).shape
    lamella.Size([1, 2, 3, 4])
    """
    return _random(3, input, kernel_size, output_size, output_ratio, _random_samples, return_indices)


def fractional_max_pool2d_with_indices(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    """``fractional_max_pool2d`` with the index of each maximum in its plane; ``return_indices`` is ignored.

    >>> lamella.nn.functional.fractional_max_pool2d_with_indices(lamella.arange(4.0).view(1, 2, 2), 2, 1)
    (tensor([[[3.]]]), tensor([[[3]]]))
    """
    return _random(2, input, kernel_size, output_size, output_ratio, _random_samples, True)


def fractional_max_pool3d_with_indices(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    """``fractional_max_pool3d`` with the index of each maximum in its volume; ``return_indices`` is ignored.

    >>> lamella.nn.functional.fractional_max_pool3d_with_indices(lamella.arange(8.0).view(1, 2, 2, 2), 2, 1)
    (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return _random(3, input, kernel_size, output_size, output_ratio, _random_samples, True)


# ---- unpooling -------------------------------------------------------------------------------------------------------


def _unpooled(n, input, kernel_size, stride, padding, output_size):
    """Returns the stride, the padding, and the size of the result: ``output_size``, or the smallest that pools to the
    input."""
    who = f"max_unpool{n}d"
    kernel, around = _each(kernel_size, n), _each(padding, n)
    step = kernel if stride is None else _each(stride, n)
    least = [(size - 1) * s + k - 2 * p for size, s, k, p in zip(input.shape[-n:], step, kernel, around, strict=True)]
    if output_size is None:
        return step, around, least
    wanted = list(output_size)
    if len(wanted) == n + 2:
        wanted = wanted[2:]
    if len(wanted) != n:
        raise ValueError(
            f"{who}: argument 'output_size': should be a sequence containing {n} or {n + 2} elements, but it has a "
            f"length of '{len(output_size)}'"
        )
    for i, (size, middle, s) in enumerate(zip(wanted, least, step, strict=True)):
        if not middle - s < size < middle + s:
            raise ValueError(
                f"{who}: argument 'output_size': invalid output_size \"{wanted}\" (dim {i} must be between "
                f"{middle - s} and {middle + s})"
            )
    return step, around, wanted


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """The inverse of ``max_pool1d`` with indices: each maximum at its index, zeros elsewhere.

    >>> lamella.nn.functional.max_unpool1d(lamella.tensor([[3.0, 4.0]]), lamella.tensor([[1, 3]]), 2)
    tensor([[0., 3., 0., 4.]])
    """
    *_, size = _unpooled(1, input, kernel_size, stride, padding, output_size)
    return _max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), [*size, 1]).squeeze(-1)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """The inverse of ``max_pool2d`` with indices: each maximum at its index, zeros elsewhere.

    ``output_size`` chooses among the sizes that pool to the input's size.

    Raises:
        ValueError: ``output_size`` is a stride or more away from the smallest such size, or has another length
        RuntimeError: an index lies outside of the result

    >>> x = lamella.tensor([[[1.0, 2.0], [4.0, 3.0]]])
    >>> lamella.nn.functional.max_unpool2d(*lamella.nn.functional.max_pool2d(x, 2, return_indices=True), 2)
    tensor([[[0., 0.],
             [4., 0.]]])
    """
    *_, size = _unpooled(2, input, kernel_size, stride, padding, output_size)
    return _max_unpool2d(input, indices, size)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """The inverse of ``max_pool3d`` with indices; see ``max_unpool2d``.

    >>> x = lamella.arange(8.0).view(1, 2, 2, 2)
    >>> lamella.nn.functional.max_unpool3d(*lamella.nn.functional.max_pool3d(x, 2, return_indices=True), 2).flatten()
    tensor([0., 0., 0., 0., 0., 0., 0., 7.])
    """
    step, around, size = _unpooled(3, input, kernel_size, stride, padding, output_size)
    return _max_unpool3d(input, indices, size, step, around)
