"""Signal processing: the windows of ``lamella.signal.windows``.

>>> lamella.signal.windows.hann(3)
tensor([0., 1., 0.])
"""

from __future__ import annotations

from lamella.signal import windows

__all__ = ["windows"]
