"""stft and istft, which warn where torch warns and call the operators of their names."""

from __future__ import annotations

import warnings
from typing import Any

from lamella import _C
from lamella._C import Tensor

_stft = _C._packet("aten::stft")
_istft = _C._packet("aten::istft")


def _warn_without(window, what: str) -> None:
    if window is None:
        warnings.warn(f"{what} has no window, so that each has the same weight at its ends as in its middle; "
                      "pass window=lamella.hann_window(win_length)", UserWarning, stacklevel=3)  # fmt: skip


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    _warn_without(window, "stft")
    if return_complex is False:
        warnings.warn(
            "stft with return_complex=False is deprecated; use lamella.view_as_real(lamella.stft(..., "
            "return_complex=True))",
            UserWarning,
            stacklevel=2,
        )
    return _stft(
        input,
        n_fft,
        hop_length,
        win_length,
        window,
        center,
        pad_mode,
        normalized,
        onesided,
        return_complex,
        align_to_window,
    )


def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    _warn_without(window, "istft")
    signal = _istft(input, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex)
    if length is not None:
        hop = hop_length if hop_length is not None else n_fft // 4
        whole = n_fft + hop * (input.shape[-1] - 1)
        if length + (n_fft // 2 if center else 0) > whole:
            warnings.warn(
                f"istft: the windows give a signal shorter than length={length}; its end is zeros",
                UserWarning,
                stacklevel=2,
            )
    return signal


stft.__doc__, istft.__doc__ = _stft.__doc__, _istft.__doc__


def methods() -> dict[str, Any]:
    """Returns the methods in this file for Tensor, by name."""
    return {"stft": stft, "istft": istft}
