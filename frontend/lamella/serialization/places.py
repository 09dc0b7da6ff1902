"""Places of parts in a file, and names in a file, as messages show them: short and escaped, since the file chose both.

A walk through a file has a `Place` for each container that it meets. Only the one that a message needs becomes text,
since the texts of all can be far longer than the file.
"""

from __future__ import annotations

from typing import Any, NamedTuple

ROOT = "obj"
LONGEST = 200  # the most characters of a name in a message
LONGEST_KEY = 60
DEEPEST = 30  # the most keys in the text of a place


class Place(NamedTuple):
    """The place of a part: that of the container around it, None for the whole object, and the part's key in it."""

    around: Place | None
    key: Any
    attribute: bool  # whether the key is the name of an attribute


def text_of(place: Place | None) -> str:
    """Returns a place as text, such as ``obj['model'].layers.0``; of a deep one the end."""
    steps: list[str] = []
    while place is not None and len(steps) < DEEPEST:
        steps.append(step(place.key, place.attribute))
        place = place.around
    return f"{ROOT}{'' if place is None else '...'}{''.join(reversed(steps))}"


def step(key: Any, attribute: bool) -> str:
    """Returns the last part of a place. Only text and small integers are shown: the text of another key, such as a
    tuple of shared tuples, can be longer than the file."""
    if type(key) is str and len(key) > LONGEST_KEY:
        return f"[{key[:LONGEST_KEY]!r}...]"
    if type(key) is str:
        return f".{key}" if attribute and key.replace("_", "a").isalnum() else f"[{key!r}]"
    return f"[{key}]" if type(key) is int and key.bit_length() <= 64 else "[...]"


def escaped(name: str) -> str:
    """Returns a name of a file without characters that a terminal obeys, and cut if it is long."""
    return repr(name[:LONGEST])[1:-1] + ("..." if len(name) > LONGEST else "")
