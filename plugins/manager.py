"""The plugin manager: finds plugins by entry points, loads each once, and keeps the reason for each that does not load.

Entry-point groups: ``lamella.backends`` (the entry's name is the device's name; imported when that device is first
named) and ``lamella.plugins`` (imported once the namespace is complete). Each names a module with one hook,
``register(ctx)``; pluggy checks it. A plugin's package may hold a manifest, ``lamella.json``, beside its module or in a
folder around it, which is read without importing the plugin:

    {"requires_lamella": ">=0.1,<1", "priority": 0, "names": ["no_grad"], "methods": ["backward"],
     "attributes": {"grad": "Tensor | None"}, "keywords": {"requires_grad": "bool"}, "host": false}

All is optional. A backend with ``"host": true`` serves memory that Python can read, and is loaded with the namespace.
What a plugin brings (names of the namespace, methods and attributes of Tensor, keywords of factories) explains itself
while the plugin is absent. Attributes and keywords go into the stubs, with their types or as a list.

``LAMELLA_PLUGINS=a,b`` loads only these; ``LAMELLA_PLUGINS=-a`` all but a.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pluggy
from lamella import _C
from lamella.plugins import contributions

if sys.version_info >= (3, 12):
    from importlib.metadata import EntryPoint, entry_points
else:
    from importlib_metadata import EntryPoint, entry_points

hookspec = pluggy.HookspecMarker("lamella")
hookimpl = pluggy.HookimplMarker("lamella")
GROUPS = {"lamella.backends": "backend", "lamella.plugins": "plugin"}


class Hooks:
    @hookspec
    def register(self, ctx: PluginContext) -> None:
        """Registers everything the plugin brings. Called once; an exception sets the plugin aside."""


@dataclass
class Plugin:
    """One installed plugin.

    ``state`` is one of: found (not loaded yet), loading, loaded, denied (by ``LAMELLA_PLUGINS``), refused (its
    version range excludes this Lamella), failed. ``reason`` says why for the last three.
    """

    name: str
    kind: str
    module: str
    distribution: str = "?"
    version: str = "?"
    state: str = "found"
    reason: str = ""
    traceback: str = ""
    seconds: float = 0.0
    manifest: dict[str, Any] = field(default_factory=dict)
    entry: Any = field(default=None, repr=False)


class PluginContext:
    """The argument of a plugin's ``register``: methods that register under the plugin's name."""

    def __init__(self, plugin: Plugin):
        self.plugin = plugin
        self.name = plugin.name
        self._owner = _C._Library("plugins", self.name, "FRAGMENT")  # of all that it registers, one handle each

    def load_library(self, path: str | os.PathLike[str]) -> None:
        """Loads a native library and runs its ``lamella_plugin_init``. A relative path is a file of Lamella's."""
        full = Path(path)
        if not full.is_absolute():
            full = native_folder() / full
        if not full.exists():
            raise FileNotFoundError(f"plugin {self.name}: there is no {full}; was it built?")
        there = _C._is_loaded(str(full))  # then it is somebody else's
        _C._load_plugin(str(full))
        if not there:
            self._owner.own(lambda: _C._unload_plugin(str(full)))

    def library(self, namespace: str, kind: Literal["DEF", "IMPL", "FRAGMENT"] = "FRAGMENT"):
        """A :class:`lamella.library.Library` owned by this plugin."""
        library = manager.open_library(namespace, kind, owner=self.name)
        self._owner.own(library.close)
        return library

    def add_names(self, objects: Mapping[str, Any]) -> None:
        """Puts functions, classes and modules into the namespace: ``{"no_grad": no_grad}`` is ``lamella.no_grad``.

        A module can be imported too, with its submodules, as ``import lamella.autograd``.

        Raises:
            RuntimeError: a name is taken, unless it was only planned; the message names both owners
        """
        self._owner.own(contributions.add_names(self.name, objects))

    def add_methods(self, objects: Mapping[str, Any]) -> None:
        """Puts functions and properties onto Tensor: ``{"backward": backward}`` is ``Tensor.backward``.

        Raises:
            RuntimeError: a name is taken, unless it was only planned; the message names both owners
        """
        self._owner.own(contributions.add_methods(self.name, objects))

    def add_copied(self, *attributes: str) -> None:
        """Attributes of Tensor that copies and pickles hold, where they are neither None nor False; others begin anew.

        They are set before the copy is known to others, so that their values cannot refer to the tensor.

        Raises:
            RuntimeError: another plugin has an attribute copied already; the message names both owners
        """
        self._owner.own(contributions.add_copied(self.name, attributes))

    def add_export_check(self, check: Callable[[Any], Any]) -> None:
        """Has ``check(tensor)`` asked before the memory of a tensor that a layer follows is given to numpy, DLPack or a
        buffer, whose readers and writers no layer sees. It raises where that must not be.
        """
        self._owner.own(contributions.add_export_check(check))

    def withdraw(self) -> None:
        """Takes back everything that a plugin registered before it failed."""
        self._owner.close()


@cache
def native_folder() -> Path:
    """Where the compiled files are. In an editable install the Python sources are elsewhere."""
    return Path(_C.__file__).parent


def read_manifest(module: str) -> dict[str, Any]:
    """The manifest nearest to a module, beside it or in a package around it. Nothing is imported that was not yet."""
    from importlib.util import find_spec

    parts = module.split(".")
    known = 1  # leading names to ask the import system for; the rest is found by folder
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
    "names": (list,),
    "methods": (list,),
    "attributes": (list, dict),
    "keywords": (list, dict),
}


def check_manifest(found: Any) -> None:
    """Raises ValueError if a manifest does not have the form that the head of this file describes."""
    if not isinstance(found, dict):
        raise ValueError(f"lamella.json must hold an object, not {type(found).__name__}")
    for key, kinds in MANIFEST.items():
        value = found.get(key, kinds[0]())
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise ValueError(f"lamella.json: '{key}' must be {' or '.join(k.__name__ for k in kinds)}, got {value!r}")
        texts = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(f"lamella.json: '{key}' must hold strings, got {value!r}")


def release(version: str) -> tuple[int, ...]:
    """The numeric part of a version: '0.1.0.dev1' is (0, 1, 0)."""
    numbers = []
    for part in version.split("."):
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)


def in_range(version: str, wanted: str) -> bool:
    """Whether a version satisfies comma-separated clauses: >=, >, <=, <, ==, !=.

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


def allowed(name: str, setting: str) -> bool:
    """Whether ``LAMELLA_PLUGINS`` allows a plugin.

    >>> allowed("cpu", "cpu,bank"), allowed("cpu", "-cpu"), allowed("bank", "-cpu")
    (True, False, True)
    """
    words = [w.strip() for w in setting.split(",") if w.strip()]
    chosen = [w for w in words if not w.startswith("-")]
    if "-" + name in words:
        return False
    return not chosen or name in chosen


class Manager:
    """All plugins of the process. One instance, ``manager``."""

    # lamella.library.Library, set by the package lamella: this module is below that one, and does not import it.
    open_library: Callable[..., Any]

    def __init__(self) -> None:
        self.plugins: dict[tuple[str, str], Plugin] = {}
        self.hooks = pluggy.PluginManager("lamella")
        self.hooks.add_hookspecs(Hooks)
        self.lock = threading.RLock()  # held while loading: a second thread waits, the same one may nest
        self.scanned = False

    def scan(self) -> None:
        """Reads the entry points once a process; nothing is imported."""
        with self.lock:
            if self.scanned:
                return
            self.scanned = True
            every = entry_points()
            for group, kind in GROUPS.items():
                for entry in every.select(group=group):
                    self.add(entry, kind)

    def add(self, entry: EntryPoint, kind: str) -> Plugin:
        dist = entry.dist
        plugin = Plugin(
            entry.name,
            kind,
            entry.value.partition(":")[0],
            dist.name if dist else "?",
            dist.version if dist else "?",
            entry=entry,
        )
        twin = self.plugins.get((kind, entry.name))
        if twin is not None:
            if twin.module != plugin.module:
                twin.reason = f"{plugin.distribution} brings a {kind} of this name too; {twin.distribution} was first"
            return twin
        self.plugins[(kind, entry.name)] = plugin
        try:
            plugin.manifest = read_manifest(plugin.module)
        except (OSError, ValueError) as error:
            plugin.state, plugin.reason = "failed", f"its manifest cannot be read: {error}"
        if not allowed(entry.name, os.environ.get("LAMELLA_PLUGINS", "")):
            plugin.state, plugin.reason = "denied", f"LAMELLA_PLUGINS={os.environ['LAMELLA_PLUGINS']}"
        return plugin

    def load(self, plugin: Plugin) -> bool:
        """Loads a plugin once. False if it is set aside; ``reason`` then says why."""
        with self.lock:
            if plugin.state != "found":  # also "loading": a plugin that reaches itself goes on half-made
                return plugin.state in ("loaded", "loading")
            wanted = plugin.manifest.get("requires_lamella", "")
            try:
                fits = in_range(_C.__version__, wanted)
            except (ValueError, AttributeError) as error:
                plugin.state, plugin.reason = "refused", str(error)
                return False
            if not fits:
                plugin.state = "refused"
                plugin.reason = f"it works with lamella {wanted}, this is {_C.__version__}"
                return False
            plugin.state = "loading"
            start = time.perf_counter()
            context = PluginContext(plugin)
            try:
                module = plugin.entry.load()
                if getattr(getattr(module, "__spec__", None), "_initializing", False):
                    reason = "is half made: it was imported before lamella; `import lamella` first"
                    raise ImportError(f"{plugin.module} {reason}")
                self.hooks.register(module, name=f"{plugin.kind}:{plugin.name}")
                others = [p for p in self.hooks.get_plugins() if p is not module]
                hook = self.hooks.subset_hook_caller("register", others)
                if not hook.get_hookimpls():
                    raise TypeError(f"{plugin.module} has no hook register(ctx) marked with lamella.plugins.hookimpl")
                hook(ctx=context)
                plugin.state = "loaded"
            except BaseException as error:
                plugin.state = "failed"
                plugin.reason = f"{type(error).__name__}: {error}"
                plugin.traceback = traceback.format_exc()
                context.withdraw()
                if self.hooks.has_plugin(f"{plugin.kind}:{plugin.name}"):
                    self.hooks.unregister(name=f"{plugin.kind}:{plugin.name}")
                if not isinstance(error, Exception):
                    raise
            finally:
                plugin.seconds = time.perf_counter() - start
            return plugin.state == "loaded"

    def load_hosts(self) -> None:
        """Loads the backends whose manifest says that they serve the host."""
        self.scan()
        for plugin in [p for p in self.plugins.values() if p.kind == "backend" and p.manifest.get("host")]:
            self.load(plugin)

    def load_plugins(self) -> None:
        """Loads the functionality plugins, in order of their priority and name."""
        self.scan()
        chosen = [p for p in self.plugins.values() if p.kind == "plugin" and p.state == "found"]
        for plugin in sorted(chosen, key=lambda p: (-p.manifest.get("priority", 0), p.name)):
            self.load(plugin)

    def load_backend(self, name: str) -> None:
        """Called when a device is named that no backend has yet. Raises RuntimeError with the reason."""
        self.scan()
        plugin = self.plugins.get(("backend", name))
        if plugin is None:
            installed = {p.name for p in self.plugins.values() if p.kind == "backend"}
            known = sorted(installed | {b[0] for b in _C._backends()})
            raise RuntimeError(f"device: there is no backend {name!r}; installed are {', '.join(known)}")
        if not self.load(plugin):
            who = f"device: backend {name!r} ({plugin.distribution} {plugin.version})"
            text = f"{who} is {plugin.state}: {plugin.reason}"
            raise RuntimeError(f"{text}\n{plugin.traceback}" if plugin.traceback else text)

    def status(self) -> list[Plugin]:
        self.scan()
        return sorted(self.plugins.values(), key=lambda p: (p.kind, p.name))


manager = Manager()


def load(name: str) -> Plugin:
    """Loads a plugin by name now.

    Raises:
        LookupError: none of that name is installed
        RuntimeError: it is set aside; the message has the reason
    """
    manager.scan()
    found = [p for p in manager.plugins.values() if p.name == name]
    if not found:
        raise LookupError(f"load: no plugin {name!r} is installed")
    if not manager.load(found[0]):
        raise RuntimeError(f"load: plugin {name!r} is {found[0].state}: {found[0].reason}\n{found[0].traceback}")
    return found[0]


def status() -> list[Plugin]:
    """Every installed plugin with its state and, where it is not loaded, the reason."""
    return manager.status()
