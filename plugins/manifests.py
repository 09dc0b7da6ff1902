"""Manifests: descriptions of plugins in files ``lamella.json``, which are read without importing the plugins.

The file stands beside the plugin's module or in a package around it:

    {"requires_lamella": ">=0.1,<1", "priority": 0,
     "contributions": {"lamella": ["no_grad"], "lamella.optim": ["Lion"], "Tensor": ["backward"]},
     "attributes": {"grad": "Tensor | None"}, "keywords": {"requires_grad": "bool"}, "host": false,
     "reads": ["__array_of_this_device__"]}

Every key is optional. With a version of Lamella outside "requires_lamella" the plugin is refused. Plugins of higher
"priority" are loaded first; of several accelerators, the one of highest priority is the accelerator. A backend with
``"host": true`` serves memory that Python can read, and is loaded with the namespace. "reads" lists attributes: the
plugin is loaded when a program passes an object of another library that has such an attribute. "contributions" has the
names that the plugin contributes to modules and to Tensor (``contributions.py``). "attributes" of Tensor and "keywords"
of the functions that make tensors are those that its native library registers, as a list or with their types, which
the stubs then show. If the plugin is not loaded, an error for such a name names the plugin.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def read_manifest(module: str) -> dict[str, Any]:
    """Returns the manifest nearest to a module, beside it or in a package around it; {} if there is none. Imports
    nothing."""
    from importlib.util import find_spec

    parts = module.split(".")
    known = 1  # how many leading names find_spec resolves without an import; the rest is found by folder
    while known < len(parts) and ".".join(parts[:known]) in sys.modules:
        known += 1
    try:
        spec = find_spec(".".join(parts[:known]))
    except (ImportError, ValueError):
        return {}
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for depth in range(len(parts), known - 1, -1):
            file = Path(folder, *parts[known:depth], "lamella.json")
            if file.exists():
                found = json.loads(file.read_text())
                check_manifest(found)
                return found
    return {}


MANIFEST = {
    "host": (bool,),
    "requires_lamella": (str,),
    "priority": (int,),
    "contributions": (dict,),
    "attributes": (list, dict),
    "keywords": (list, dict),
    "reads": (list,),
}


def check_manifest(found: Any) -> None:
    """Raises ValueError if a manifest does not have the form that the head of this file describes."""
    if not isinstance(found, dict):
        raise ValueError(f"lamella.json must hold an object, not {type(found).__name__}")
    for key, kinds in MANIFEST.items():
        value = found.get(key, kinds[0]())
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise ValueError(f"lamella.json: '{key}' must be {' or '.join(k.__name__ for k in kinds)}, got {value!r}")
        held: Any = value
        if key == "contributions":
            for where, names in held.items():
                if not are_names(names):
                    raise ValueError(
                        f"lamella.json: 'contributions' must map places to lists of names, got {names!r} for {where!r}"
                    )
        elif list in kinds and not are_names(held):
            raise ValueError(f"lamella.json: '{key}' must hold strings, got {value!r}")


def unknown_key(found: dict[str, Any]) -> str:
    """Returns what is wrong if a manifest has an unknown key, else "". One for a later Lamella may have others."""
    unknown = next((key for key in found if key not in MANIFEST), None)
    keys = ", ".join(map(repr, MANIFEST))
    return f"lamella.json: there is no key {unknown!r}; the keys are {keys}" if unknown is not None else ""


def are_names(value: Any) -> bool:
    """Returns whether a value is a list of strings, or a dictionary whose keys and values are strings."""
    texts = [*value, *value.values()] if isinstance(value, dict) else value
    return isinstance(texts, list) and all(isinstance(text, str) for text in texts)


def promised(manifest: dict[str, Any], where: str) -> list[str]:
    """Returns the names that a manifest declares for a place, with the attributes or keywords of the native library."""
    native = {"Tensor": "attributes", "keyword": "keywords"}.get(where, "")
    return [*manifest.get("contributions", {}).get(where, ()), *manifest.get(native, ())]


def release(version: str) -> tuple[int, ...]:
    """Returns the leading parts of a version that are numbers: (0, 1, 0) for '0.1.0.dev1', (1,) for '1.0rc1'."""
    numbers = []
    for part in version.split("."):
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)


def in_range(version: str, wanted: str) -> bool:
    """Returns whether a version satisfies comma-separated clauses, each with one of >=, >, <=, <, ==, !=.

    >>> in_range("0.1.0", ">=0.1,<1")
    True
    """
    tests = {
        ">=": lambda a, b: a >= b,
        "<=": lambda a, b: a <= b,
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
        ">": lambda a, b: a > b,
        "<": lambda a, b: a < b,
    }
    have = release(version)
    for clause in filter(None, (c.strip() for c in wanted.split(","))):
        sign = next((s for s in tests if clause.startswith(s)), None)
        if sign is None or not release(clause[len(sign) :].strip()):
            raise ValueError(f"version range {wanted!r}: {clause!r} is not a comparison such as '>=0.1'")
        bound = release(clause[len(sign) :].strip())
        width = max(len(have), len(bound))
        a = have + (0,) * (width - len(have))
        b = bound + (0,) * (width - len(bound))
        if not tests[sign](a, b):
            return False
    return True
