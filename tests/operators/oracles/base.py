"""The tables of oracles, which the package's modules fill, and functions that convert integers to floating numbers."""

from __future__ import annotations

import numpy as np

ORACLES: dict = {}
NARROW: set = set()  # operators whose oracle takes the arrays in their own dtype
OF_SAMPLE: dict = {}  # oracles that take the whole sample


def wide(x):
    """Converts integers and bools to float64, as numpy would compute functions of int8 in float16."""
    x = np.asarray(x)
    return x.astype(np.float64) if x.dtype.kind in "biu" else x


def floating(function):
    return lambda *a, **k: function(*(wide(x) if isinstance(x, np.ndarray) else x for x in a), **k)


def entries(**functions):
    """Enters oracles by their operators' names; an operator has one oracle."""
    if twice := sorted(ORACLES.keys() & functions):
        raise ValueError(f"these operators have an oracle already: {', '.join(twice)}")
    ORACLES.update(functions)


def narrow_entries(**functions):
    """Enters oracles that take floating and complex arrays in their own dtype."""
    entries(**functions)
    NARROW.update(functions)
