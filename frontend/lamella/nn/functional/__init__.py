"""torch.nn.functional's names. Most are operators of the catalogue as they are; the rest give them torch's signature.

What the catalogue lacks is not here either, and asking for it says so.
"""

from __future__ import annotations

from lamella._missing import explain
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

# Functions of torch's that are not here yet.
PLANNED = frozenset(
    """
adaptive_avg_pool3d
adaptive_max_pool1d
adaptive_max_pool1d_with_indices
adaptive_max_pool2d
adaptive_max_pool2d_with_indices
adaptive_max_pool3d
adaptive_max_pool3d_with_indices
affine_grid
avg_pool3d
conv_tbc
conv_transpose1d
conv_transpose2d
conv_transpose3d
ctc_loss
embedding_bag
fold
fractional_max_pool2d
fractional_max_pool2d_with_indices
fractional_max_pool3d
fractional_max_pool3d_with_indices
grid_sample
grouped_mm
instance_norm
interpolate
linear_cross_entropy
local_response_norm
lp_pool1d
lp_pool2d
lp_pool3d
max_pool1d_with_indices
max_pool2d_with_indices
max_pool3d
max_pool3d_with_indices
max_unpool1d
max_unpool2d
max_unpool3d
multi_head_attention_forward
pdist
scaled_dot_product_attention
scaled_grouped_mm
scaled_mm
unfold
upsample
upsample_bilinear
upsample_nearest
""".split()
) - set(__all__)


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(f"module 'lamella.nn.functional' has no attribute '{name}'")
    if name in PLANNED:
        raise AttributeError(f"lamella.nn.functional.{name} is not here yet; it is planned with the catalogue")
    raise AttributeError(explain(f"lamella.nn.functional.{name}", name, __all__))


def __dir__() -> list[str]:
    return __all__
