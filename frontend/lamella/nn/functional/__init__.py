"""torch.nn.functional's names. Most are operators as they are; the rest give them torch's signature."""

from __future__ import annotations

from lamella._absent import explain
from lamella.nn.functional import (
    activations,
    attention,
    convolution,
    ctc,
    distances,
    dropouts,
    folding,
    grouped,
    layers,
    losses,
    margins,
    norms,
    pixels,
    pooling,
    tables,
    upsampling,
)
from lamella.nn.functional.activations import *  # noqa: F403
from lamella.nn.functional.attention import *  # noqa: F403
from lamella.nn.functional.convolution import *  # noqa: F403
from lamella.nn.functional.ctc import *  # noqa: F403
from lamella.nn.functional.distances import *  # noqa: F403
from lamella.nn.functional.dropouts import *  # noqa: F403
from lamella.nn.functional.folding import *  # noqa: F403
from lamella.nn.functional.grouped import *  # noqa: F403
from lamella.nn.functional.layers import *  # noqa: F403
from lamella.nn.functional.losses import *  # noqa: F403
from lamella.nn.functional.margins import *  # noqa: F403
from lamella.nn.functional.norms import *  # noqa: F403
from lamella.nn.functional.pixels import *  # noqa: F403
from lamella.nn.functional.pooling import *  # noqa: F403
from lamella.nn.functional.tables import *  # noqa: F403
from lamella.nn.functional.upsampling import *  # noqa: F403

_PARTS = (
    activations,
    attention,
    convolution,
    ctc,
    distances,
    dropouts,
    folding,
    grouped,
    layers,
    losses,
    margins,
    norms,
    pixels,
    pooling,
    tables,
    upsampling,
)
__all__ = sorted(name for part in _PARTS for name in part.__all__)


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(f"module 'lamella.nn.functional' has no attribute '{name}'")
    raise AttributeError(explain("lamella.nn.functional", name, __all__))


def __dir__() -> list[str]:
    return __all__
