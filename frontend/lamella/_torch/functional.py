"""The names of torch.functional, each the function of the same name in ``lamella``."""

from __future__ import annotations

from typing import Any

import lamella
from lamella._absent import explain

NAMES = (
    "atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod cdist chain_matmul "
    "einsum istft lu meshgrid norm pca_lowrank split stft svd_lowrank tensordot unique unique_consecutive unravel_index"
).split()
__all__ = [name for name in NAMES if hasattr(lamella, name)]
globals().update({name: getattr(lamella, name) for name in __all__})


def __getattr__(name: str) -> Any:
    if name not in NAMES:
        raise AttributeError(f"module 'lamella.functional' has no attribute '{name}'")
    if not hasattr(lamella, name):
        raise AttributeError(explain("lamella", name))
    return getattr(lamella, name)  # a plugin has brought it since
