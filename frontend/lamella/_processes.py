"""Teaches the pickler of ``multiprocessing`` tensors, in whatever order a program imports it and Lamella."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

PICKLER = "multiprocessing.reduction"
_kinds: list[type] = []


def share_when_sent(*kinds: type) -> None:
    """Tensors of these kinds are sent in shared memory, as ``lamella.multiprocessing`` does it.

    That holds for the standard ``multiprocessing``, too, which a process may use without more of Lamella than this. It
    learns it now if it has its pickler, else when it imports that.
    """
    _kinds.extend(kinds)
    if PICKLER in sys.modules:
        register(sys.modules[PICKLER])
    elif not any(isinstance(finder, Watch) for finder in sys.meta_path):
        sys.meta_path.insert(0, Watch())


class Watch:
    """First on ``sys.meta_path`` until the pickler is imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The spec that the other finders have, whose loader registers tensors when the module has run."""
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
    """Registers what is known so far with the pickler."""
    from lamella._storage import UntypedStorage

    known = reduction.ForkingPickler._extra_reducers
    for kind in _kinds:
        known.setdefault(kind, _reduce_tensor)
    # Now, too: a pickler copies the table when it begins.
    known.setdefault(UntypedStorage, _reduce_storage)


def _reduce_tensor(tensor: Any) -> Any:
    from lamella.multiprocessing import reductions  # it registers its own functions in the place of these

    return reductions.reduce_shared(tensor)


def _reduce_storage(storage: Any) -> Any:
    from lamella.multiprocessing import reductions

    return reductions.reduce_storage(storage)
