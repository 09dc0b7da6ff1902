"""Containers as parts of the index, and back: each kind's contents, the way to make it again, and its tag."""

from __future__ import annotations

import re
from argparse import Namespace
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

# Factories of a defaultdict. They are named in the index, and no other name is ever called.
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
}  # a list is JSON's own
KINDS: dict[str, Callable[..., Any]] = {tag: kind for kind, tag in {**MAPPINGS, **SEQUENCES}.items()}
ATTRIBUTES = "attributes"  # beside "$ordered_dict": a module's state_dict() has its versions there
SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
FACTORY, LIMIT = "factory", "limit"

__all__ = ["ATTRIBUTES", "FACTORIES", "FACTORY", "FACTORY_NAMES", "HASHED", "KINDS", "LIMIT", "MAPPINGS", "SEQUENCES",
           "Namespace", "is_plain_object", "is_text"]  # fmt: skip


def is_text(x: str) -> bool:
    """Whether text is the same when JSON has read it."""
    return x.isascii() or SURROGATES.search(x) is None


def is_plain_object(d: dict) -> bool:
    """Whether a dict is an object of JSON as it is: its keys are text, and none reads as a tag."""
    for key in d:
        if type(key) is not str or key[:1] == "$" or not is_text(key):
            return False
    return True
