"""The standard's functions that make tensors."""

from __future__ import annotations

import math
from typing import Any

import lamella
from lamella import Tensor
from lamella import dtype as DType
from lamella._devices import host
from lamella.array_api._array import Array, made
from lamella.array_api._rules import ANY, as_tuple, checked, number


def _like(x: Tensor, dtype: DType | None, device: Any) -> dict[str, Any]:
    return {"dtype": x.dtype if dtype is None else dtype, "device": x.device if device is None else device}


def _within(x: Tensor, k: int) -> int:
    """Returns the number of a diagonal of matrices, or the nearest number beside them, since 64 bits hold it."""
    return max(min(k, x.shape[-1]), -x.shape[-2])


def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: DType | None = None, device: Any = None
) -> Array:
    """Returns evenly spaced numbers from ``start``, 0 if only one number is given, up to ``stop``, which is excluded.

    Without ``dtype`` it is int64 for integers, else the default floating dtype. If ``step`` leads away from ``stop``,
    the result is empty.

    Raises:
        ValueError: ``step`` is 0

    >>> lamella.array_api.arange(1, 7, 2), lamella.array_api.arange(3, 0)
    (Array([1, 3, 5]), Array([], dtype=lamella.int64))
    """
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ValueError("arange: argument 'step' must not be 0")
    if dtype is None:
        whole = all(isinstance(n, int) for n in (start, stop, step))
        dtype = lamella.int64 if whole else lamella.get_default_dtype()
    if (stop - start) * math.copysign(1, step) <= 0:
        return made(lamella.empty(0, dtype=dtype, device=device))
    return made(lamella.arange(start, stop, step, dtype=dtype, device=device))


def asarray(obj: Any, /, *, dtype: DType | None = None, device: Any = None, copy: bool | None = None) -> Array:
    """Makes a tensor of a tensor, a Python scalar, nested sequences of scalars, or an object with a buffer or DLPack.

    Args:
        copy: True always copies, False never does, None copies only if necessary

    Raises:
        ValueError: a copy is necessary, and ``copy`` is False
        TypeError: ``obj`` is complex, and ``dtype`` is not

    >>> lamella.array_api.asarray([1, 2], dtype=lamella.float32)
    Array([1., 2.])
    """
    if not isinstance(obj, Tensor):
        return made(lamella.asarray(obj, dtype=dtype, device=device, copy=copy))
    like = _like(obj, dtype, device)
    if obj.dtype.is_complex and not like["dtype"].is_complex:
        raise TypeError(f"asarray: complex numbers do not become {dtype}; take real(x) or imag(x)")
    there = obj.to(like["device"], like["dtype"], False, copy is True)
    if copy is False and there is not obj:
        what = f"{like['dtype']} on device '{there.device}'"
        raise ValueError(f"asarray: argument 'copy' is False, but {obj.dtype} becomes {what} by a copy only")
    return made(there)


def empty(shape: Any, *, dtype: DType | None = None, device: Any = None) -> Array:
    """Returns an uninitialized tensor of a shape, which may be one integer.

    >>> lamella.array_api.empty(2).shape
    lamella.Size([2])
    """
    return made(lamella.empty(as_tuple(shape), dtype=dtype, device=device))


def empty_like(x: Tensor, /, *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """Returns an uninitialized tensor with the shape of ``x``, and by default with its dtype and device.

    >>> lamella.array_api.empty_like(lamella.ones(2)).shape
    lamella.Size([2])
    """
    return lamella.empty_like(x, **_like(x, dtype, device))


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: DType | None = None, device: Any = None
) -> Array:
    """Returns a matrix with ones on diagonal ``k``, which is above the main one if positive, and zeros elsewhere.

    >>> lamella.array_api.eye(2, k=1)
    Array([[0., 1.],
           [0., 0.]])
    """
    n_cols = n_rows if n_cols is None else n_cols
    matrix = lamella.zeros((n_rows, n_cols), dtype=dtype, device=device)
    if -n_rows < k < n_cols:
        matrix.diagonal(k).fill_(1)
    return made(matrix)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Makes a tensor over the memory of an object with ``__dlpack__``.

    Args:
        device: where the tensor is to be; None leaves it where ``x`` is
        copy: True always copies, False never does, None copies only if necessary

    Raises:
        BufferError: a copy is necessary, and ``copy`` is False; or the memory cannot be shared

    >>> lamella.array_api.from_dlpack(lamella.ones(2))
    Array([1., 1.])
    """
    return made(lamella.from_dlpack(x, device=device, copy=copy))


def full(shape: Any, fill_value: Any, *, dtype: DType | None = None, device: Any = None) -> Array:
    """Returns a tensor of a shape, filled with a Python scalar.

    Without ``dtype`` it is bool, int64, or the default floating or complex dtype, after the scalar.

    >>> lamella.array_api.full(2, 7)
    Array([7, 7])
    """
    fill = lamella.tensor(fill_value, device=host()) if dtype is None else number(fill_value, dtype, host())
    return made(lamella.full(as_tuple(shape), fill.item(), dtype=fill.dtype, device=device))


def full_like(x: Tensor, /, fill_value: Any, *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """Returns a tensor with the shape of ``x``, and by default with its dtype and device, filled with a Python scalar.

    >>> lamella.array_api.full_like(lamella.ones(2), 7)
    tensor([7., 7.])
    """
    like = _like(x, dtype, device)
    return lamella.full_like(x, number(fill_value, like["dtype"], host()).item(), **like)


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: DType | None = None,
    device: Any = None,
    endpoint: bool = True,
) -> Array:
    """Returns ``num`` evenly spaced numbers from ``start`` to ``stop``, which is the last one if ``endpoint`` is true.

    >>> lamella.array_api.linspace(0, 1, 4, endpoint=False)
    Array([0.0000, 0.2500, 0.5000, 0.7500])
    """
    if isinstance(start, complex) or isinstance(stop, complex):
        if dtype is None:
            dtype = lamella.promote_types(lamella.get_default_dtype(), lamella.complex64)
        part = lamella.finfo(dtype).dtype
        ends = ((complex(start).real, complex(stop).real), (complex(start).imag, complex(stop).imag))
        real, imag = (
            linspace(a, b, num, dtype=getattr(lamella, part), device=device, endpoint=endpoint) for a, b in ends
        )
        return made(lamella.complex(real, imag))
    if endpoint:
        return made(lamella.linspace(start, stop, num, dtype=dtype, device=device))
    return made(lamella.linspace(start, stop, num + 1, dtype=dtype, device=device)[:num])


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Returns the coordinates of a grid, a tensor for each of the vectors.

    Args:
        indexing: "xy" makes the first two dimensions those of the second and the first vector, "ij" keeps their order

    Raises:
        ValueError: the vectors have different dtypes, or ``indexing`` is something else

    >>> [x.shape for x in lamella.array_api.meshgrid(lamella.ones(2), lamella.ones(3))]
    [lamella.Size([3, 2]), lamella.Size([3, 2])]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: argument 'indexing' must be 'xy' or 'ij', got {indexing!r}")
    if len({checked("meshgrid", ANY, x, "arrays").dtype for x in arrays}) > 1:
        raise ValueError(f"meshgrid: the tensors must have one dtype, got {[x.dtype for x in arrays]}")
    return tuple(lamella.meshgrid(arrays, indexing=indexing)) if arrays else ()


def ones(shape: Any, *, dtype: DType | None = None, device: Any = None) -> Array:
    """Returns a tensor of ones of a shape, which may be one integer.

    >>> lamella.array_api.ones(2)
    Array([1., 1.])
    """
    return made(lamella.ones(as_tuple(shape), dtype=dtype, device=device))


def ones_like(x: Tensor, /, *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """Returns a tensor of ones with the shape of ``x``, and by default with its dtype and device.

    >>> lamella.array_api.ones_like(lamella.zeros(2))
    tensor([1., 1.])
    """
    return lamella.ones_like(x, **_like(x, dtype, device))


def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Returns the elements on and below diagonal ``k`` of each matrix, and zeros elsewhere.

    >>> lamella.array_api.tril(lamella.ones(2, 2))
    tensor([[1., 0.],
            [1., 1.]])
    """
    return lamella.tril(x, _within(x, k))


def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Returns the elements on and above diagonal ``k`` of each matrix, and zeros elsewhere.

    >>> lamella.array_api.triu(lamella.ones(2, 2))
    tensor([[1., 1.],
            [0., 1.]])
    """
    return lamella.triu(x, _within(x, k))


def zeros(shape: Any, *, dtype: DType | None = None, device: Any = None) -> Array:
    """Returns a tensor of zeros of a shape, which may be one integer.

    >>> lamella.array_api.zeros(2)
    Array([0., 0.])
    """
    return made(lamella.zeros(as_tuple(shape), dtype=dtype, device=device))


def zeros_like(x: Tensor, /, *, dtype: DType | None = None, device: Any = None) -> Tensor:
    """Returns a tensor of zeros with the shape of ``x``, and by default with its dtype and device.

    >>> lamella.array_api.zeros_like(lamella.ones(2))
    tensor([0., 0.])
    """
    return lamella.zeros_like(x, **_like(x, dtype, device))
