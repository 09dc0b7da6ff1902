"""Oracles of the operators by numpy and scipy: one entry for each operator, over arrays instead of tensors.

Floating arrays arrive in float64, complex ones in complex128, integers and bools in their own dtype; numbers, lists and
strings as they stand in the sample; dtypes as numpy's. An entry returns the operator's result, in any dtype that holds
it. Each module of this folder enters its own oracles, by ``entries`` of ``base``.
"""

import importlib
import pkgutil

from oracles.base import NARROW, OF_SAMPLE, ORACLES

for module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"oracles.{module.name}")

__all__ = ["NARROW", "OF_SAMPLE", "ORACLES"]
