"""Containers in the index of a checkpoint: for each type its tag, its contents and the way to rebuild it."""

from __future__ import annotations

import re
from argparse import Namespace
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

# The factories that a defaultdict may have, by their names in the index. A factory of another name is never called.
FACTORIES: dict[str, Any] = {
    "none": None,
    "bool": bool,
    "dict": dict,
    "float": float,
    "int": int,
    "list": list,
    "ordered_dict": OrderedDict,
    "set": set,
    "str": str,
    "tuple": tuple,
}
FACTORY_NAMES = {factory: name for name, factory in FACTORIES.items()}
HASHED = (set, frozenset)
MAPPINGS: dict[Any, str] = {
    dict: "$dict",
    OrderedDict: "$ordered_dict",
    defaultdict: "$default_dict",
    Counter: "$counter",
}
SEQUENCES: dict[Any, str] = {
    tuple: "$tuple",
    deque: "$deque",
    set: "$set",
    frozenset: "$frozenset",
}  # a list has no tag: it is written as an array of JSON
KINDS: dict[str, Callable[..., Any]] = {tag: kind for kind, tag in {**MAPPINGS, **SEQUENCES}.items()}
ATTRIBUTES = "attributes"  # an entry beside "$ordered_dict" or "$counter", such as _metadata of a state_dict()
SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
FACTORY, LIMIT = "factory", "limit"

__all__ = ["ATTRIBUTES", "FACTORIES", "FACTORY", "FACTORY_NAMES", "HASHED", "KINDS", "LIMIT", "MAPPINGS", "SEQUENCES",
           "Namespace", "hides", "is_plain_object", "is_text"]  # fmt: skip


def is_text(x: str) -> bool:
    """Returns whether JSON reads the text back unchanged."""
    return x.isascii() or SURROGATES.search(x) is None


def hides(kind: type, name: str) -> bool:
    """Returns whether an attribute of an object would hide a method of its type. A file could so let a module be called
    wherever a program calls the method."""
    return hasattr(kind, name)


def is_plain_object(d: dict) -> bool:
    """Returns whether a dict can be a JSON object unchanged: its keys are text, and none looks like a tag."""
    for key in d:
        if type(key) is not str or key[:1] == "$" or not is_text(key):
            return False
    return True
