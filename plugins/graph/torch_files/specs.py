"""The nesting of the inputs and outputs of a ``.pt2``: trees of tuples, lists and dictionaries, in JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

KINDS = {"builtins.tuple": "tuple", "builtins.list": "list", "builtins.dict": "dict"}
KINDS |= {"collections.OrderedDict": "dict"}
DEEPEST = 100


@dataclass
class Spec:
    """A tree: a leaf, or a tuple, a list or a dictionary of trees."""

    kind: str
    """"leaf", "tuple", "list" or "dict"."""
    children: list[Spec]
    keys: list[Any]
    """Of a dictionary: a key for each child."""

    def leaves(self) -> int:
        """Returns the number of leaves."""
        return 1 if self.kind == "leaf" else sum(child.leaves() for child in self.children)


def read_spec(text: Any) -> Spec:
    """Returns the tree of a text. Raises ValueError if it is none.

    >>> read_spec('[1, {"type": "builtins.tuple", "context": "null", "children_spec": []}]').kind
    'tuple'
    """
    found = json.loads(text) if isinstance(text, str) else None
    if not isinstance(found, list) or len(found) != 2 or found[0] != 1:
        raise ValueError("the tree of its inputs or outputs has a form that is not read here")
    return _read(found[1], 0)


def _read(node: Any, depth: int) -> Spec:
    if depth > DEEPEST or not isinstance(node, dict) or not isinstance(node.get("children_spec"), list):
        raise ValueError("the tree of its inputs or outputs is damaged, or too deep")
    children = [_read(child, depth + 1) for child in node["children_spec"]]
    if node["type"] is None:
        return Spec("leaf", [], [])
    kind = KINDS.get(str(node["type"]))
    if kind is None:
        raise ValueError(
            f"its inputs or outputs have a {str(node['type'])[:80]!r}; tuples, lists and dictionaries are read here"
        )
    keys = json.loads(node["context"]) if kind == "dict" else []
    if kind == "dict" and (not isinstance(keys, list) or len(keys) != len(children)):
        raise ValueError("the tree of its inputs or outputs has a dictionary without its keys")
    if not all(type(key) in (str, int, float, bool) for key in keys):
        raise ValueError("a dictionary among its inputs or outputs has keys that are no texts and no numbers")
    return Spec(kind, children, keys)
