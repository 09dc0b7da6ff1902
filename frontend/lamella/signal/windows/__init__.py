"""Windows that fade a signal out at both ends; ``lamella.signal.windows.windows`` defines them."""

from __future__ import annotations

from lamella.signal.windows.windows import *  # noqa: F403
from lamella.signal.windows.windows import __all__ as __all__
