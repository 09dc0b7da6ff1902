"""The place in a user's program that made a registration, and whether the same place has run again.

Note [Run again]  A registration replaces an earlier one if the same place of a program makes it again, in code that was
  compiled since: a cell of a notebook that is run twice, a module that is reloaded. The same place means the same file
  and the same function; all cells of a notebook count as one file. Functions inside a function, and lambdas, are the
  same if they start at the same line and column, or if the code of the earlier one is gone; two of one name are two
  places. Any other second registration is a conflict, or is stacked, as that of an unrelated program: a loop that
  registers twice runs the same code, and two files are two places.

Note [Nothing in between]  A registration that can be stacked is made before the one that it replaces is withdrawn. So
  calls of other threads find one of them, and if the new one is refused the old one stays. An operator, a layer or a
  namespace cannot be stacked, so there the old one is withdrawn first.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable, Hashable
from types import CodeType
from typing import Any

NESTED = 0x10  # a flag of a code object, as in inspect
INSIDE = ("lamella.library", "lamella.utils.cpp_extension")


class Site:
    """The innermost line of the program outside of this package and of the builder of extensions."""

    def __init__(self) -> None:
        frame = sys._getframe(1)
        while frame.f_back and frame.f_globals.get("__name__", "").startswith(INSIDE):
            frame = frame.f_back
        code, names = frame.f_code, frame.f_globals
        self.file, self.line = code.co_filename, frame.f_lineno
        self.place = (names.get("__file__") or f"<{names.get('__name__')}>", getattr(code, "co_qualname", code.co_name))
        self.code = weakref.ref(code)

    def is_run_again(self, earlier: Site) -> bool:
        """Returns whether this is the same place as an earlier one, compiled since."""
        now, then = self.code(), earlier.code()
        if self.place != earlier.place or now is then:
            return False
        return now is None or then is None or not _is_inner(now) or _start(now) == _start(then)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def _is_inner(code: CodeType) -> bool:
    """Returns whether several functions of its module may have its name."""
    return bool(code.co_flags & NESTED) or code.co_name == "<lambda>"


def _start(code: CodeType) -> tuple[int | None, ...]:
    """Returns the line and column at which the code begins; before Python 3.11 the line only."""
    positions = code.co_positions() if hasattr(code, "co_positions") else ()
    return code.co_firstlineno, next((column for _, _, column, end in positions if end), None)


class Registration:
    """An object that a site registered as ``key``, and the function that withdraws it. A key may have several."""

    def __init__(self, key: Hashable, site: Site, withdraw: Callable[[], Any], what: Any = None) -> None:
        self.key, self.site, self.withdraw, self.what = key, site, withdraw, what
        self.followers: weakref.WeakSet[Any] = weakref.WeakSet()  # see Note [A kernel that is about to be replaced]
        with _lock:
            _live.setdefault(key, []).append(self)

    def forget(self) -> None:
        """Removes it from the list of registrations."""
        with _lock:
            rest = [r for r in _live.pop(self.key, []) if r is not self]
            if rest:
                _live[self.key] = rest


_lock = threading.Lock()
# The lock is held during a fork, so that a child finds it free and the list complete.
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
_live: dict[Hashable, list[Registration]] = {}  # the last one of a key was registered last


def latest(key: Hashable) -> Any:
    """Returns the object that was registered last under ``key``, or None."""
    stack = _live.get(key)
    return stack[-1].what if stack else None


def earlier(key: Hashable, site: Site) -> Registration | None:
    """Returns the last registration of ``key`` from this site, if the site has run again since."""
    return next((r for r in reversed(_live.get(key, [])) if site.is_run_again(r.site)), None)


def supersede(key: Hashable, site: Site) -> None:
    """Withdraws the last registration of ``key`` from this site, if the site has run again since."""
    if before := earlier(key, site):
        before.forget()
        before.withdraw()
