"""Oracles of the operators by numpy and scipy: one entry for each operator, over arrays instead of tensors.

Floating arrays arrive in float64, complex ones in complex128, integers and bools in their own dtype; numbers, lists
and strings as they stand in the sample; dtypes as numpy's. An entry returns the operator's result, in any dtype that
holds it.
"""

from oracles import (
    attention,
    backward,
    images,
    indexing,
    margins,
    pointwise,
    pools,
    products,
    recurrent,
    reductions,
    resampling,
    shapes,
    tables,
    transposed,
    updates,
)
from oracles.base import ORACLES
from oracles.shapes import same_memory

# Entries that need the arrays in their own dtype, and entries that need the whole sample.
NARROW = {"view", "nextafter", "nan_to_num", "rms_norm", "_fused_rms_norm"}
OF_SAMPLE = {"as_strided": same_memory}

__all__ = [
    "NARROW",
    "OF_SAMPLE",
    "ORACLES",
    "attention",
    "backward",
    "images",
    "indexing",
    "margins",
    "pointwise",
    "pools",
    "products",
    "recurrent",
    "reductions",
    "resampling",
    "shapes",
    "tables",
    "transposed",
    "updates",
]
