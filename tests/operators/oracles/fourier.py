"""Oracles of Fourier transforms by numpy.fft, and of short-time transforms by the definition, a matrix of roots."""

from __future__ import annotations

import numpy as np
import scipy.signal

from oracles.base import entries, wide

NORMS = ("backward", "ortho", "forward")


def numpy_norm(norm):
    return norm if norm is not None else "backward"


def signal(x):
    """Returns the signal in double precision."""
    x = np.asarray(x)
    return x if x.dtype.kind == "c" else wide(x).astype(np.float64)


def one(f):
    return lambda x, n=None, dim=-1, norm=None: f(signal(x), n, dim, numpy_norm(norm))


def sizes_of(x, s, dim):
    """Returns numpy's s and axes; -1 in s leaves a size."""
    if dim is None:
        dim = range(x.ndim - len(s), x.ndim) if s is not None else range(x.ndim)
    dim = tuple(dim)
    return None if s is None else [x.shape[d] if n == -1 else n for n, d in zip(s, dim, strict=True)], dim


def several(f):
    """Makes an oracle (x, s, dim, norm) of numpy's f(x, s, axes, norm)."""

    def transform(x, s=None, dim=None, norm=None):
        x = signal(x)
        s, dim = sizes_of(x, s, dim)
        return f(x, s, dim, numpy_norm(norm)) if dim else x + 0j

    return transform


def of_two(f):
    return lambda x, s=None, dim=(-2, -1), norm=None: several(f)(x, s, dim, norm)


OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def hfftn(x, s, axes, norm):
    """The inverse of the conjugate, scaled as a forward transform."""
    return np.fft.irfftn(np.conj(x), s, axes, OPPOSITE[norm])


def ihfftn(x, s, axes, norm):
    return np.conj(np.fft.rfftn(x, s, axes, OPPOSITE[norm]))


def c2c(x, dim, normalization, forward):
    if not dim:
        return x
    norm = NORMS[normalization] if forward else OPPOSITE[NORMS[normalization]]
    return (np.fft.fftn if forward else np.fft.ifftn)(x, axes=dim, norm=norm)


def r2c(x, dim, normalization, onesided):
    return (np.fft.rfftn if onesided else np.fft.fftn)(x, axes=dim, norm=NORMS[normalization])


def c2r(x, dim, normalization, last):
    s = [x.shape[d] for d in dim[:-1]] + [last]
    return np.fft.irfftn(x, s, axes=dim, norm=OPPOSITE[NORMS[normalization]])


def frequencies(f, of_nothing):
    """Returns an oracle; numpy's function raises ZeroDivisionError for n = 0, where the frequencies are 0 / 0."""
    return lambda n, d=1.0, dtype=None: f(n, d) if n else np.array(of_nothing)


def roots(n):
    k = np.arange(n)
    return np.exp(-2j * np.pi * np.outer(k, k) / n)


def whole_window(window, win_length, n_fft):
    window = np.ones(win_length) if window is None else window
    left = (n_fft - win_length) // 2
    return np.pad(window, (left, n_fft - win_length - left))


def stft(
    x,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    hop, length = hop_length or n_fft // 4, win_length or n_fft
    w = whole_window(window, length, n_fft)
    left = n_fft // 2 if center else (n_fft - length) // 2 if align_to_window else 0
    right = n_fft // 2 if center else n_fft - length - left if align_to_window else 0
    x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(left, right)], mode=pad_mode)
    starts = range(0, x.shape[-1] - n_fft + 1, hop)
    columns = np.stack([(x[..., k : k + n_fft] * w) @ roots(n_fft) for k in starts], axis=-1)
    columns /= np.sqrt(n_fft) if normalized else 1
    real = not (np.iscomplexobj(x) or np.iscomplexobj(w))
    if onesided or (onesided is None and real):
        columns = columns[..., : n_fft // 2 + 1, :]
    return columns if return_complex is not False else np.stack([columns.real, columns.imag], axis=-1)


def istft(
    z,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    normalized=False,
    onesided=None,
    length=None,
    return_complex=False,
):
    hop, span = hop_length or n_fft // 4, win_length or n_fft
    w = whole_window(window, span, n_fft)
    count = z.shape[-1]
    if return_complex:
        frames = np.fft.ifft(z, axis=-2)
    else:
        frames = np.fft.irfft(z[..., : n_fft // 2 + 1, :], n_fft, axis=-2)
    frames = frames * (np.sqrt(n_fft) if normalized else 1)
    whole = n_fft + hop * (count - 1)
    y, weight = np.zeros(z.shape[:-2] + (whole,), frames.dtype if not np.iscomplexobj(w) else complex), 0
    weight = np.zeros(whole, w.dtype)
    for k in range(count):
        y[..., k * hop : k * hop + n_fft] += frames[..., k] * w
        weight[k * hop : k * hop + n_fft] += w * w
    start = n_fft // 2 if center else 0
    wanted = start + length if length else whole - start
    end = min(wanted, whole)
    y = y[..., start:end] / weight[start:end]
    return np.pad(y, [(0, 0)] * (y.ndim - 1) + [(0, wanted - end)])


def kaiser_window(n, periodic=True, beta=12.0, dtype=None):
    return scipy.signal.get_window(("kaiser", beta), n, fftbins=periodic) if n else np.zeros(0)


entries(
    _fft_c2c=c2c,
    _fft_r2c=r2c,
    _fft_c2r=c2r,
    fft_fft=one(np.fft.fft),
    fft_ifft=one(np.fft.ifft),
    fft_rfft=one(np.fft.rfft),
    fft_irfft=one(np.fft.irfft),
    fft_hfft=one(np.fft.hfft),
    fft_ihfft=one(np.fft.ihfft),
    fft_fftn=several(np.fft.fftn),
    fft_ifftn=several(np.fft.ifftn),
    fft_rfftn=several(np.fft.rfftn),
    fft_irfftn=several(np.fft.irfftn),
    fft_hfftn=several(hfftn),
    fft_ihfftn=several(ihfftn),
    fft_fft2=of_two(np.fft.fftn),
    fft_ifft2=of_two(np.fft.ifftn),
    fft_rfft2=of_two(np.fft.rfftn),
    fft_irfft2=of_two(np.fft.irfftn),
    fft_hfft2=of_two(hfftn),
    fft_ihfft2=of_two(ihfftn),
    fft_fftfreq=frequencies(np.fft.fftfreq, []),
    fft_rfftfreq=frequencies(np.fft.rfftfreq, [np.nan]),
    fft_fftshift=lambda x, dim=None: np.fft.fftshift(x, dim),
    fft_ifftshift=lambda x, dim=None: np.fft.ifftshift(x, dim),
    stft=stft,
    istft=istft,
    kaiser_window=kaiser_window,
)
