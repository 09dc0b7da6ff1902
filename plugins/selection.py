"""``LAMELLA_PLUGINS``: which of the installed plugins a process loads.

``a,b`` loads only these, ``-a`` all but a, ``-a@d`` all but the a of distribution d. ``a@d`` says that plugin a is the
one of distribution d where several bring one of that name; alone it does not keep others from being loaded.
"""

from __future__ import annotations

import re


def same_name(a: str, b: str) -> bool:
    """Whether two names of distributions are one, as pip compares them.

    >>> same_name("Fine_Weavers", "fine-weavers")
    True
    """
    plain = [re.sub(r"[-_.]+", "-", name).lower() for name in (a, b)]
    return plain[0] == plain[1]


class Selection:
    """What a text in the form of ``LAMELLA_PLUGINS`` says.

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
        """The distribution whose plugin of this name is chosen, if one is."""
        return self.chosen.get(name)
