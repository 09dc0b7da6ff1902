"""The standard's extension for Fourier transforms. Transforms of real dtypes give complex ones of the same precision.

>>> lamella.array_api.fft.fft(lamella.tensor([1.0, 0.0]))
tensor([1.+0.j, 1.+0.j])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import lamella
from lamella import Tensor
from lamella import dtype as DType
from lamella.array_api._array import Array, made
from lamella.array_api._rules import COMPLEX, FLOATING, NUMERIC, REAL_FLOATING, axes_of, checked

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

_NORMS = "\n\nArgs:\n    norm: which direction is scaled: 'backward', 'forward', or 'ortho', by the square root, both\n"


def _one(name: str, allowed: frozenset, operator: Callable[..., Tensor], what: str) -> Callable[..., Tensor]:
    def function(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
        return operator(checked(name, allowed, x), n, axis, norm)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{what}{_NORMS}    n: the length, to which ``x``, or the result of an inverse, is cut or padded"
    return function


def _many(name: str, allowed: frozenset, operator: Callable[..., Tensor], what: str) -> Callable[..., Tensor]:
    def function(
        x: Tensor, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward"
    ) -> Tensor:
        return operator(checked(name, allowed, x), s, axes, norm)

    function.__name__ = function.__qualname__ = name
    lengths = "    s: the lengths along the axes\n    axes: None stands for all, or for the last ones with ``s``"
    function.__doc__ = f"{what}{_NORMS}{lengths}"
    return function


fft = _one("fft", FLOATING, lamella.fft.fft, "Returns the Fourier transform along an axis.")
ifft = _one("ifft", FLOATING, lamella.fft.ifft, "Returns the inverse of ``fft``.")
fftn = _many("fftn", FLOATING, lamella.fft.fftn, "Returns the Fourier transform along several axes.")
ifftn = _many("ifftn", FLOATING, lamella.fft.ifftn, "Returns the inverse of ``fftn``.")
rfft = _one("rfft", REAL_FLOATING, lamella.fft.rfft, "Returns the first half of the transform of real numbers.")
irfft = _one("irfft", FLOATING, lamella.fft.irfft, "Returns the inverse of ``rfft``, which is real.")
rfftn = _many("rfftn", REAL_FLOATING, lamella.fft.rfftn, "Returns ``rfft`` along the last of the axes, then ``fftn``.")
irfftn = _many("irfftn", FLOATING, lamella.fft.irfftn, "Returns the inverse of ``rfftn``, which is real.")
hfft = _one("hfft", FLOATING, lamella.fft.hfft, "Returns the real transform of a signal with Hermitian symmetry.")
ihfft = _one("ihfft", REAL_FLOATING, lamella.fft.ihfft, "Returns the inverse of ``hfft``.")


def fftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: Any = None) -> Array:
    """Returns the frequencies of ``fft``, in cycles per unit of the sample spacing ``d``.

    Raises:
        TypeError: ``dtype`` is not real floating

    >>> lamella.array_api.fft.fftfreq(4)
    Array([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    _check_real("fftfreq", dtype)
    return made(lamella.fft.fftfreq(n, d, dtype=dtype, device=device))


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: Any = None) -> Array:
    """Returns the frequencies of ``rfft``, in cycles per unit of the sample spacing ``d``.

    Raises:
        TypeError: ``dtype`` is not real floating

    >>> lamella.array_api.fft.rfftfreq(4)
    Array([0.0000, 0.2500, 0.5000])
    """
    _check_real("rfftfreq", dtype)
    return made(lamella.fft.rfftfreq(n, d, dtype=dtype, device=device))


def _check_real(who: str, dtype: DType | None) -> None:
    if dtype is not None and dtype not in REAL_FLOATING:
        kind = "complex" if dtype in COMPLEX else "other"
        raise TypeError(f"{who}: argument 'dtype' must be a real floating dtype, got the {kind} dtype {dtype}")


def fftshift(x: Tensor, /, *, axes: Any = None) -> Tensor:
    """Moves the frequency 0 to the middle of the axes; None stands for all.

    >>> lamella.array_api.fft.fftshift(lamella.tensor([0.0, 1.0, -1.0]))
    tensor([-1.,  0.,  1.])
    """
    checked("fftshift", NUMERIC, x)
    return lamella.fft.fftshift(x, axes_of("fftshift", axes, x.ndim))


def ifftshift(x: Tensor, /, *, axes: Any = None) -> Tensor:
    """Returns the inverse of ``fftshift``.

    >>> lamella.array_api.fft.ifftshift(lamella.tensor([-1.0, 0.0, 1.0]))
    tensor([ 0.,  1., -1.])
    """
    checked("ifftshift", NUMERIC, x)
    return lamella.fft.ifftshift(x, axes_of("ifftshift", axes, x.ndim))
