"""TorchVersion, a str that compares as a version."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["TorchVersion"]

ORDER = {"dev": -4, "a": -3, "alpha": -3, "b": -2, "beta": -2, "c": -1, "rc": -1, "": 0, "post": 1}
PATTERN = re.compile(
    r"v?(\d+(?:\.\d+)*)(?:[-_.]?(dev|a|alpha|b|beta|c|rc|post)[-_.]?(\d*))?(?:\+([a-z0-9._-]+))?", re.I
)


def _key(version: str) -> tuple[Any, ...] | None:
    """Returns a tuple that orders versions; None if the text is not a version."""
    found = PATTERN.fullmatch(version.strip())
    if found is None:
        return None
    release = [int(part) for part in found[1].split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    local = tuple(
        (1, int(p), "") if p.isdigit() else (0, 0, p) for p in re.split(r"[._-]", (found[4] or "").lower()) if p
    )
    return release, ORDER[(found[2] or "").lower()], int(found[3] or 0), local


class TorchVersion(str):
    """A version that compares with a version given as a text, a tuple of numbers, or an object of "packaging".

    >>> from lamella.torch_version import TorchVersion
    >>> TorchVersion("2.13.0+lamella") >= "2.4", TorchVersion("2.13.0") < (3,), TorchVersion("1.10") > "1.9.2"
    (True, True, True)
    """

    __slots__ = ()

    def _compared(self, other: Any, method: str) -> Any:
        if not isinstance(other, str) and hasattr(other, "__iter__"):
            other = ".".join(str(part) for part in other)
        text = str(other)
        mine, others = _key(str(self)), _key(text)
        if mine is None or others is None:  # compared as texts if one is not a version
            return getattr(str, method)(self, text) if isinstance(other, str) else NotImplemented
        return getattr(mine, method)(others)

    def __eq__(self, other: object) -> Any:
        return self._compared(other, "__eq__")

    def __ne__(self, other: object) -> Any:
        return self._compared(other, "__ne__")

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, "__lt__")

    def __le__(self, other: Any) -> Any:
        return self._compared(other, "__le__")

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, "__gt__")

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, "__ge__")

    __hash__ = str.__hash__
