"""Registers tensors with the pickler of the standard ``multiprocessing``, before or after that module is imported."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

PICKLER = "multiprocessing.reduction"
_kinds: list[type] = []


def share_when_sent(*kinds: type) -> None:
    """Makes the standard ``multiprocessing`` send tensors of these types in shared memory.

    ``lamella.multiprocessing`` does the same, and is not imported before a tensor is sent. If the pickler is imported
    already, the types are registered now, else as soon as a program imports it.
    """
    _kinds.extend(kinds)
    if PICKLER in sys.modules:
        register(sys.modules[PICKLER])
    elif not any(isinstance(finder, Watch) for finder in sys.meta_path):
        sys.meta_path.insert(0, Watch())


class Watch:
    """A finder that is first on ``sys.meta_path`` until the pickler is imported, and then registers the types."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Returns the spec that the other finders find, with a loader that calls ``register`` after the module ran."""
        if name != PICKLER:
            return None
        with suppress(ValueError):
            sys.meta_path.remove(self)  # type: ignore[arg-type]
        specs = (finder.find_spec(name, path, target) for finder in sys.meta_path)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is not None:
            loader: Any = spec.loader
            run = loader.exec_module

            def exec_module(module: Any) -> None:
                run(module)
                register(module)

            loader.exec_module = exec_module
        return spec


def register(reduction: Any) -> None:
    """Registers the types in ``_kinds``, and UntypedStorage, with the pickler."""
    from lamella._storage import UntypedStorage

    known = reduction.ForkingPickler._extra_reducers
    for kind in _kinds:
        known.setdefault(kind, _reduce_tensor)
    # UntypedStorage is not left to the import in `_reduce_tensor`: a pickler that is at work then has copied the table.
    known.setdefault(UntypedStorage, _reduce_storage)


def _reduce_tensor(tensor: Any) -> Any:
    from lamella.multiprocessing import reductions  # the import replaces the functions here by its own

    return reductions.reduce_shared(tensor)


def _reduce_storage(storage: Any) -> Any:
    from lamella.multiprocessing import reductions

    return reductions.reduce_storage(storage)
