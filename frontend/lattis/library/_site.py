"""Where in a user's program a registration was written, and when the same place has run again.

Note [Run again]  A registration made again from where it was made before, by code that was compiled since, replaces
  the earlier one: a cell of a notebook that is run twice, a module that is reloaded. The same place is the same file
  and the same function; all cells of a notebook are one file. Whatever else comes twice is a conflict, or stacks, as it
  does between strangers: a loop that registers twice runs the same code, and two files are two places.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Hashable
from typing import Any

INSIDE = ("lattis.library", "lattis.utils.cpp_extension")


class Site:
    """A line of a program outside this package, and outside the builder of extensions."""

    def __init__(self) -> None:
        frame = sys._getframe(1)
        while frame.f_back and frame.f_globals.get("__name__", "").startswith(INSIDE):
            frame = frame.f_back
        code, names = frame.f_code, frame.f_globals
        self.file, self.line = code.co_filename, frame.f_lineno
        self.place = (names.get("__file__") or f"<{names.get('__name__')}>", getattr(code, "co_qualname", code.co_name))
        self.code = weakref.ref(code)

    def is_run_again(self, earlier: Site) -> bool:
        """Whether this is the same place as an earlier one, compiled since."""
        return self.place == earlier.place and self.code() is not earlier.code()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Registration:
    """What a site registered as ``key``, and how it is taken back."""

    def __init__(self, key: Hashable, site: Site, withdraw: Callable[[], Any], what: Any = None) -> None:
        self.key, self.site, self.withdraw, self.what = key, site, withdraw, what
        _latest[key] = self

    def forget(self) -> None:
        """It is taken back."""
        if _latest.get(self.key) is self:
            del _latest[self.key]


_latest: dict[Hashable, Registration] = {}


def latest(key: Hashable) -> Any:
    """What was registered last as ``key``, or None."""
    return _latest[key].what if key in _latest else None


def supersede(key: Hashable, site: Site) -> None:
    """Withdraws what was registered as ``key`` if this site is that of then, run again."""
    earlier = _latest.get(key)
    if earlier and site.is_run_again(earlier.site):
        earlier.forget()
        earlier.withdraw()
