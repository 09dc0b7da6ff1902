"""Error messages for names that Lamella lacks: which plugin provides the name, or which step is planned to add it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from lamella import _C
from lamella.plugins import contributions
from lamella.plugins.manifests import promised


def read_planned() -> dict[str, dict[str, str]]:
    """Reads the planned names. The result maps a module's path, or "Tensor", to a dict from names to their steps."""
    found: dict[str, dict[str, str]] = {}
    table = json.loads(Path(__file__).with_name("_torch").joinpath("planned.json").read_text())
    for step, places in table.items():
        for where, names in places.items():
            for place in where.split():
                found.setdefault(place, {}).update(dict.fromkeys(names.split(), step))
    return found


PLANNED = read_planned()


def nearest(name: str, among: Iterable[str]) -> str:
    """Returns the end of a message, which suggests the name of ``among`` closest to ``name``; "" if none is close."""
    import difflib

    close = difflib.get_close_matches(name, [n for n in among if not n.startswith("_")], 1, 0.6)
    return f"; did you mean '{close[0]}'?" if close else ""


def planned_with(where: str, name: str) -> str | None:
    """Returns the step that is planned to add a name to a module or to Tensor; None if the name is not planned."""
    return PLANNED.get(where, {}).get(name)


def explain(where: str, name: str, among: Iterable[str] = ()) -> str:
    """Returns the reason why a module or Tensor lacks a name: its plugin is not loaded, it is planned, or neither."""
    what = f"{where}.{name}"
    if plugin := absent_plugin(where, name):
        return brought(what, plugin)
    if step := planned_with(where, name):
        return f"{what} is not here yet; it is planned with {step}"
    return f"{what} does not exist and is not planned{nearest(name, among)}"


def plugins() -> list[Any]:
    """Returns the installed plugins; an empty list before the import of lamella has reached the plugin manager."""
    found = sys.modules.get("lamella.plugins.manager")
    return found.manager.plugins if found else []


def brings(manifest: dict[str, Any], where: str, name: str) -> bool:
    """Returns whether a manifest promises ``where.name``, or any name in a module ``where.name``."""
    module = f"{where}.{name}"
    inside = any(place == module or place.startswith(f"{module}.") for place in manifest.get("contributions", ()))
    return inside or name in promised(manifest, where)


def absent_plugin(where: str, name: str) -> Any:
    """Returns the plugin that promises a name and is neither loaded nor being loaded; None if there is none."""
    for plugin in plugins():
        if plugin.state not in ("loaded", "loading") and brings(plugin.manifest, where, name):
            return plugin
    return None


def brought(what: str, plugin: Any) -> str:
    """Returns the message that a plugin brings ``what``, with the reason why the plugin is not loaded."""
    return f"{what} is brought by {described(plugin)}"


def described(plugin: Any) -> str:
    """Returns the name, distribution and version of a plugin that is not loaded, with the reason."""
    states = {
        "found": "is not loaded yet",
        "loading": "is being loaded, and its hook has not run",
        "denied": "is denied",
        "refused": "is refused",
        "failed": "failed to load",
    }
    state = states.get(plugin.state, f"is {plugin.state}")
    why = f"{state}: {plugin.reason}" if plugin.reason else state
    return f"plugin '{plugin.name}' ({plugin.distribution} {plugin.version}), which {why}"


def namespace_note(namespace: str) -> str:
    """Returns the end of a message about a missing operator: why the plugin named like its namespace is not loaded."""
    for plugin in plugins():
        if plugin.name == namespace and plugin.state != "loaded":
            return f"; {described(plugin).replace(', which ', ' ', 1)}"
    return ""


def keywords_note(names: tuple[str, ...]) -> str:
    """Returns the end of a message about unknown keywords: which plugin brings each."""
    found = ((name, absent_plugin("keyword", name)) for name in names)
    return "".join("; " + brought(f"'{name}'", plugin) for name, plugin in found if plugin)


def unknown_keyword(who: str, name: str) -> Exception:
    """Makes the error for an unknown keyword of a function that is not an operator. ``who`` is the function's name."""
    return TypeError(f"{who}: has no argument '{name}'{keywords_note((name,))}")


class Absent:
    """A placeholder on Tensor: reading or setting the attribute raises an error that says why Tensor lacks it."""

    def __init__(self, name: str):
        self.name = name

    def __get__(self, obj: Any, owner: type | None = None) -> Any:
        raise AttributeError(explain("Tensor", self.name))

    def __set__(self, obj: Any, value: Any) -> None:
        raise AttributeError(explain("Tensor", self.name))


_promises: dict[str, Callable[[], None]] = {}  # maps a plugin to the function that withdraws its placeholders


def hold_places() -> None:
    """Puts placeholders on Tensor for planned names, and for names that plugins promise and have not brought yet."""
    _hold("lamella", PLANNED["Tensor"])
    for plugin in plugins():
        if plugin.state != "loaded" and plugin.name not in _promises:
            _promises[plugin.name] = _hold(plugin.name, promised(plugin.manifest, "Tensor"))


def _hold(owner: str, names: Iterable[str]) -> Callable[[], None]:
    free = {n: Absent(n) for n in names if not contributions.holder("Tensor", n) and not hasattr(_C.Tensor, n)}
    return contributions.contribute(contributions.gather("Tensor", free, owner, placeholder=True))


def release_places(plugin: Any) -> None:
    """Withdraws the placeholders of a plugin, which has been loaded."""
    _promises.pop(plugin.name, lambda: None)()


class LastFinder:
    """The last finder on ``sys.meta_path``. It raises an error that explains why ``import lamella.x`` found no module.

    ``names`` returns the names of the namespace, among which the error suggests a close one.
    """

    def __init__(self, names: Callable[[], Iterable[str]]):
        self.names = names

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        parent, _, name = fullname.rpartition(".")
        if parent == "lamella" and not name.startswith("_"):
            raise ModuleNotFoundError(explain(parent, name, self.names()), name=fullname)


def explain_modules(names: Callable[[], Iterable[str]]) -> None:
    """Makes the import of a missing module of lamella raise an error that says why it is missing."""
    sys.meta_path.append(LastFinder(names))  # type: ignore[arg-type]


def explain_names(namespace: dict[str, Any]) -> None:
    """Defines ``__getattr__`` in the namespace if an installed plugin that contributes names is not loaded.

    Otherwise the namespace has none, since CPython looks up attributes more slowly in a module that has one.
    """
    if not any(p.state != "loaded" and p.manifest.get("contributions") for p in plugins()):
        return

    def __getattr__(name: str) -> Any:
        if absent_plugin("lamella", name):
            raise AttributeError(explain("lamella", name))
        raise AttributeError(f"module 'lamella' has no attribute '{name}'")

    namespace["__getattr__"] = __getattr__
