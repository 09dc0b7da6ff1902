"""The types of the results of operators that return several results with names, as ``lamella.return_types.max``.

>>> lamella.ones(2, 2).max(1).indices
tensor([0, 0])
"""

from lamella import _C


def __getattr__(name: str):
    found = None if name.startswith("__") else _C._return_type(name)
    if found is None:
        raise AttributeError(f"module 'lamella.return_types' has no attribute {name!r}: no operator returns it")
    return found
