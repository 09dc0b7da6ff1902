"""Windows that fade a signal out at both ends, with torch.signal.windows' names.

Each function takes the number ``M`` of elements and the keywords ``sym``, ``dtype``, ``layout``, ``device`` and
``requires_grad``. A window with ``sym`` is symmetric; one without it is periodic: it leaves out its last element, which
is the next period's first. The elements are computed in float64. M = 0 gives an empty window.

Raises, each of them:
    ValueError: M is negative, the layout is not strided, or the dtype is neither float32 nor float64

The definitions are those of Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform",
Proceedings of the IEEE 66 (1978), and of scipy.signal.windows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from lamella import _C
from lamella._C import Tensor

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]

_arange = _C._packet("aten::arange")
_kaiser_window = _C._packet("aten::kaiser_window")


def _window(name: str, M: int, sym: bool, options: dict[str, Any], of: Callable[[Tensor, int], Tensor]) -> Tensor:
    """Returns a window: ``of`` gets the places 0 to M - 1 in float64, and the place of the last element.

    The last element of a periodic window is the one that it leaves out.
    """
    dtype, layout, device = options["dtype"], options["layout"], options["device"]
    if M < 0:
        raise ValueError(f"{name}: argument 'M' must not be negative, got {M}")
    if layout is not _C.strided:
        raise ValueError(f"{name}: argument 'layout' must be lamella.strided, got {layout}")
    if dtype is None:
        dtype = _C.get_default_dtype()
    if dtype not in (_C.float32, _C.float64):
        raise ValueError(f"{name}: argument 'dtype' must be float32 or float64, got {dtype}")
    places = _arange(M, dtype=_C.float64, device=device)
    window = of(places, max(M - 1, 0) if sym or M <= 1 else M)
    return window.to(dtype).requires_grad_(options["requires_grad"])


def bartlett(
    M: int, *, sym: bool = True, dtype=None, layout=_C.strided, device=None, requires_grad: bool = False
) -> Tensor:
    """A triangle from 0 over 1 to 0.

    >>> lamella.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    options = dict(dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)
    return _window("bartlett", M, sym, options, lambda k, last: 1 - (2 * k / last - 1).abs() if last else k + 1)


def blackman(
    M: int, *, sym: bool = True, dtype=None, layout=_C.strided, device=None, requires_grad: bool = False
) -> Tensor:
    """Blackman's window, ``0.42 - 0.5 cos(2 pi k / (M - 1)) + 0.08 cos(4 pi k / (M - 1))``.

    >>> lamella.signal.windows.blackman(5)[1:4]
    tensor([0.3400, 1.0000, 0.3400])
    """
    options = dict(dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)
    return _cosines("blackman", M, [0.42, 0.5, 0.08], sym, options)


def cosine(
    M: int, *, sym: bool = True, dtype=None, layout=_C.strided, device=None, requires_grad: bool = False
) -> Tensor:
    """Half a period of a sine, ``sin(pi (k + 1/2) / M)``.

    >>> lamella.signal.windows.cosine(3)
    tensor([0.5000, 1.0000, 0.5000])
    """
    options = dict(dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)
    return _window("cosine", M, sym, options, lambda k, last: ((k + 0.5) * (math.pi / (last + 1))).sin())


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype=None,
    layout=_C.strided,
    device=None,
    requires_grad: bool = False,
) -> Tensor:
    """An exponential that falls at both sides of its center, ``exp(-|k - center| / tau)``.

    Args:
        center: the place of the peak, the window's middle by default. A symmetric window has no other.
        tau: after how many elements the window has fallen to 1/e

    Raises:
        ValueError: ``tau`` is not positive, or a symmetric window has a ``center``

    >>> lamella.signal.windows.exponential(3)
    tensor([0.3679, 1.0000, 0.3679])
    """
    if tau <= 0:
        raise ValueError(f"exponential: argument 'tau' must be positive, got {tau}")
    if sym and center is not None:
        raise ValueError(f"exponential: argument 'center' must be None for a symmetric window, got {center}")
    options = dict(dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)

    def of(k, last):
        middle = last / 2 if center is None else center
        return ((k - middle).abs() * (-1 / tau)).exp()

    return _window("exponential", M, sym, options, of)


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype=None,
    layout=_C.strided,
    device=None,
    requires_grad: bool = False,
) -> Tensor:
    """Gauss's bell around the window's middle, of the standard deviation ``std`` in elements.

    Raises:
        ValueError: ``std`` is not positive

    >>> lamella.signal.windows.gaussian(3)
    tensor([0.6065, 1.0000, 0.6065])
    """
    if std <= 0:
        raise ValueError(f"gaussian: argument 'std' must be positive, got {std}")
    options = dict(dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)
    return _window("gaussian", M, sym, options, lambda k, last: (((k - last / 2) / std).square() * -0.5).exp())


def _cosines(name: str, M: int, a: Iterable[float], sym: bool, options: dict[str, Any]) -> Tensor:
    weights = [float(w) for w in a]

    def of(k, last):
        if M == 1:
            return k + 1
        angle = k * (2 * math.pi / max(last, 1))
        window = k * 0
        for i, weight in enumerate(weights):
            window = window + (angle * i).cos() * (-weight if i % 2 else weight)
        return window

    return _window(name, M, sym, options, of)


def general_cosine(
    M, *, a: Iterable, sym: bool = True, dtype=None, layout=_C.strided, device=None, requires_grad: bool = False
) -> Tensor:
    """A sum of cosines with whole periods along the window, ``a[0] - a[1] cos(x) + a[2] cos(2 x) - …``.

    Raises:
        TypeError: ``a`` is no list of numbers
        ValueError: ``a`` is empty

    >>> lamella.signal.windows.general_cosine(3, a=[0.5, 0.5])
    tensor([0., 1., 0.])
    """
    if not isinstance(a, Iterable):
        raise TypeError(f"general_cosine: argument 'a' must be a list of numbers, got {type(a).__name__}")
    weights = list(a)
    if not weights:
        raise ValueError("general_cosine: argument 'a' must not be empty")
    options = dict(dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)
    return _cosines("general_cosine", M, weights, sym, options)


def general_hamming(
    M,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype=None,
    layout=_C.strided,
    device=None,
    requires_grad: bool = False,
) -> Tensor:
    """A wave of a cosine above a constant, ``alpha - (1 - alpha) cos(2 pi k / (M - 1))``.

    >>> lamella.signal.windows.general_hamming(3, alpha=0.75)
    tensor([0.5000, 1.0000, 0.5000])
    """
    options = dict(dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)
    return _cosines("general_hamming", M, [alpha, 1 - alpha], sym, options)


def hamming(
    M: int, *, sym: bool = True, dtype=None, layout=_C.strided, device=None, requires_grad: bool = False
) -> Tensor:
    """Hamming's window, ``0.54 - 0.46 cos(2 pi k / (M - 1))``.

    >>> lamella.signal.windows.hamming(3)
    tensor([0.0800, 1.0000, 0.0800])
    """
    options = dict(dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)
    return _cosines("hamming", M, [0.54, 0.46], sym, options)


def hann(
    M: int, *, sym: bool = True, dtype=None, layout=_C.strided, device=None, requires_grad: bool = False
) -> Tensor:
    """Hann's window, ``(1 - cos(2 pi k / (M - 1))) / 2``.

    >>> lamella.signal.windows.hann(4, sym=False)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    options = dict(dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)
    return _cosines("hann", M, [0.5, 0.5], sym, options)


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype=None,
    layout=_C.strided,
    device=None,
    requires_grad: bool = False,
) -> Tensor:
    """Kaiser's window, ``I0(beta sqrt(1 - (2 k / (M - 1) - 1)^2)) / I0(beta)`` with the modified Bessel function I0.

    Raises:
        ValueError: ``beta`` is negative

    >>> lamella.signal.windows.kaiser(3, beta=0.0)
    tensor([1., 1., 1.])
    """
    if beta < 0:
        raise ValueError(f"kaiser: argument 'beta' must not be negative, got {beta}")
    options = dict(dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)

    def of(k, last):
        return _kaiser_window(M, not sym, beta, dtype=_C.float64, device=k.device)

    return _window("kaiser", M, sym, options, of)


def nuttall(
    M: int, *, sym: bool = True, dtype=None, layout=_C.strided, device=None, requires_grad: bool = False
) -> Tensor:
    """Nuttall's window of four cosines, with the lowest side lobes of such windows (1981).

    >>> lamella.signal.windows.nuttall(3)[1]
    tensor(1.)
    """
    options = dict(dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)
    return _cosines("nuttall", M, [0.3635819, 0.4891775, 0.1365995, 0.0106411], sym, options)
