"""Reads ``LAMELLA_PLUGINS``, a variable that selects the plugins which a process loads.

``a,b`` loads only plugins a and b; ``-a`` loads all but a; ``-a@d`` loads all but the a of distribution d. ``a@d``
chooses the a of distribution d if several distributions have a plugin of that name; it does not exclude others.
"""

from __future__ import annotations

import re


def same_name(a: str, b: str) -> bool:
    """Returns whether two names mean the same distribution, by pip's rule for comparing names.

    >>> same_name("Fine_Weavers", "fine-weavers")
    True
    """
    plain = [re.sub(r"[-_.]+", "-", name).lower() for name in (a, b)]
    return plain[0] == plain[1]


class Selection:
    """The selection that a text in the form of ``LAMELLA_PLUGINS`` describes.

    >>> s = Selection("cpu,loom@weavers")
    >>> s.allows("cpu"), s.allows("felt"), s.distribution("loom")
    (True, False, 'weavers')
    >>> Selection("loom@weavers").allows("felt"), Selection("-bank").allows("felt")
    (True, False)
    """

    def __init__(self, text: str):
        self.text = text
        words = [w.strip() for w in text.split(",") if w.strip()]
        self.without = {w[1:] for w in words if w.startswith("-")}
        self.chosen = dict(w.split("@", 1) for w in words if "@" in w and not w.startswith("-"))
        self.only = {w for w in words if "@" not in w and not w.startswith("-")}

    def allows(self, name: str, distribution: str = "") -> bool:
        dropped = [w.partition("@")[2] for w in self.without if w.partition("@")[0] == name]
        if any(not d or same_name(d, distribution) for d in dropped):
            return False
        return not self.only or name in self.only or name in self.chosen

    def distribution(self, name: str) -> str | None:
        """Returns the distribution that an item ``name@distribution`` chooses for this name; None without one."""
        return self.chosen.get(name)
