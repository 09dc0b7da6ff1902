"""Calls functions with modules of other packages once these are imported, so that Lamella need not import them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any


def after_import(name: str, do: Callable[[Any], None]) -> None:
    """Calls ``do(module)`` now if the module of that name is imported already, else after a program has imported it."""
    if name in sys.modules:
        do(sys.modules[name])
        return
    WATCH.waiting.setdefault(name, []).append(do)
    if WATCH not in sys.meta_path:
        sys.meta_path.insert(0, WATCH)  # type: ignore[arg-type]


class Watch:
    """A finder that is first on ``sys.meta_path`` until the last module that it waits for is imported."""

    def __init__(self) -> None:
        self.waiting: dict[str, list[Callable[[Any], None]]] = {}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Returns the spec that the other finders find, with a loader that calls the functions after the module ran."""
        if name not in self.waiting:
            return None
        calls = self.waiting.pop(name)
        if not self.waiting:
            with suppress(ValueError):
                sys.meta_path.remove(self)  # type: ignore[arg-type]
        specs = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is not None:
            loader: Any = spec.loader
            run = loader.exec_module

            def exec_module(module: Any) -> None:
                run(module)
                for do in calls:
                    do(module)

            loader.exec_module = exec_module
        return spec


WATCH = Watch()
