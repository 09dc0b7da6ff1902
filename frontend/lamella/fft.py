"""Discrete Fourier transforms, with torch.fft's names. Each function is an operator of the catalogue.

>>> signal = lamella.tensor([1.0, 2.0, 0.0, 0.0])
>>> spectrum = lamella.fft.rfft(signal)
>>> lamella.fft.irfft(spectrum, 4)
tensor([1., 2., 0., 0.])
"""

from __future__ import annotations
