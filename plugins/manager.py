"""The plugin manager: finds plugins by entry points, loads each once, and keeps the reason for each that fails to load.

Entry-point groups: ``lamella.backends`` (the entry's name is the device's name; imported when that device is first
named, with the namespace if it serves the host, or for an object that its manifest "reads") and ``lamella.plugins``
(imported once the namespace is complete). Each entry names a module with one hook, ``register(ctx)``, which pluggy
checks. A plugin's package may hold a manifest (``manifests.py``). ``LAMELLA_PLUGINS`` chooses among the installed
plugins (``selection.py``). A plugin in state denied, refused or failed is "set aside": nothing that it registered is
left.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import lamella.plugins.contributions as contributions
import lamella.plugins.unfinished as unfinished
import pluggy
from lamella import _C
from lamella.plugins.manifests import in_range, read_manifest, unknown_key
from lamella.plugins.selection import Selection, same_name

if sys.version_info >= (3, 12):
    from importlib.metadata import EntryPoint, entry_points
else:
    from importlib_metadata import EntryPoint, entry_points

hookspec = pluggy.HookspecMarker("lamella")
hookimpl = pluggy.HookimplMarker("lamella")
GROUPS = {"lamella.backends": "backend", "lamella.plugins": "plugin"}


class Hooks:
    """The hooks of a plugin, for pluggy."""

    @hookspec
    def register(self, ctx: PluginContext) -> None:
        """Registers everything that the plugin provides. Called once; an exception sets the plugin aside."""


@dataclass
class Plugin:
    """One installed plugin.

    ``state`` is one of: found (not loaded yet), loading, loaded, denied (by ``LAMELLA_PLUGINS``), refused (its
    version range excludes this Lamella or cannot be read, or another plugin has its name), failed. ``reason`` says why
    for the last three; in state found it is empty, unless the loading was postponed.
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


@dataclass(frozen=True)
class Waiting:
    """A registration that has no effect yet, because it refers to a name that does not exist, such as a kernel for a
    device that no plugin registers.

    ``awaited`` is the missing name, and ``kind`` says what it should name: a "key" of kernels (a device, a layer or a
    dtype), an "operator" or a "layer". For kind "formula", ``awaited`` is the error of a formula that does not compile.
    """

    owner: str
    what: str
    kind: str
    awaited: str

    def __str__(self) -> str:
        if self.kind == "formula":
            return f"{self.what} does not compile: {self.awaited} ({self.owner})"
        return f"{self.what} waits for the {self.kind} {self.awaited!r} ({self.owner})"


class PluginContext:
    """The argument of a plugin's ``register``: methods that register under the plugin's name."""

    def __init__(self, plugin: Plugin):
        self.plugin = plugin
        self.name = plugin.name
        self._owner = _C._Library("plugins", self.name, "FRAGMENT")  # owns a handle for each registration
        self._owners = {plugin.name, plugin.distribution}  # the names under which the plugin registers
        self.library_error: Exception | None = None  # what a library said that could not be loaded
        self._place = "?"  # its folder or file; the owner of a library that the plugin's code opens begins with it

    def load_library(self, path: str | os.PathLike[str]) -> None:
        """Loads a native library and runs its ``lamella_plugin_init``. A relative path starts at `native_folder()`."""
        full = Path(path)
        if not full.is_absolute():
            full = native_folder() / full
        if not full.exists():
            raise FileNotFoundError(f"plugin {self.name}: there is no {full}; was it built?")
        there = _C._is_loaded(str(full))  # if True, the first loader unloads the library, not this plugin
        try:
            _C._load_plugin(str(full))
        except Exception as error:
            self.library_error = error
            raise
        self._owners.update(_C._owners_of(str(full)))
        if not there:
            self._owner.own(lambda: _C._unload_plugin(str(full)))

    def library(self, namespace: str, kind: Literal["DEF", "IMPL", "FRAGMENT"] = "FRAGMENT"):
        """Opens a :class:`lamella.library.Library` that this plugin owns: it is closed if the plugin is withdrawn."""
        library = manager.frontend.open_library(namespace, kind, owner=self.name)
        self._owner.own(library.close)
        return library

    def contribute(self, where: str, objects: Mapping[str, Any]) -> None:
        """Adds objects by name: ``ctx.contribute("lamella", {"no_grad": no_grad})`` is ``lamella.no_grad``.

        Args:
            where: "lamella" or the path of a module in it, such as "lamella.optim", or "lamella.NAME" of a device;
                "Tensor", for methods and properties; or a key of ``lamella.plugins.POINTS``, which describes the
                objects of each point. A module among the objects can be imported too, with its submodules.

        Raises:
            ValueError: there is no such place, the place does not take an object, or a name is not an identifier
            RuntimeError: a name is taken, unless by a placeholder; the message names both owners
        """
        withdraw = contributions.contribute(contributions.gather(where, objects, self.name))
        try:
            self._owner.own(withdraw)
        except BaseException:  # the plugin has been withdrawn
            withdraw()
            raise

    def found_in(self, module: Any) -> None:
        """Records the folder or file of the plugin's code, for `waits`."""
        file = getattr(module, "__file__", None) or "?"
        self._place = f"{os.path.dirname(file)}{os.sep}" if hasattr(module, "__path__") else file

    def waits(self) -> list[Waiting]:
        """Returns this plugin's registrations that have no effect yet; see `Waiting`."""
        return [w for w in waiting() if w.owner in self._owners or w.owner.startswith(self._place)]

    def withdraw(self) -> None:
        """Removes everything that the plugin has registered."""
        self._owner.close()


@cache
def native_folder() -> Path:
    """Returns the folder of the compiled files. In an editable install the Python sources are in another folder."""
    return Path(_C.__file__).parent


def backend_names() -> set[str]:
    return {backend[0] for backend in _C._backends()}


def settle(rivals: list[Plugin], selection: Selection) -> None:
    """Chooses at most one of several plugins of the same kind and name, and sets the others aside with the reason.

    ``LAMELLA_PLUGINS`` may name the distribution. Otherwise, if several plugins can be loaded, Lamella's own is chosen,
    or none if no one is Lamella's.
    """
    able = [p for p in rivals if p.state == "found"]
    if wanted := selection.distribution(rivals[0].name):
        for plugin in able:
            if not same_name(plugin.distribution, wanted):
                plugin.state, plugin.reason = "denied", f"LAMELLA_PLUGINS={selection.text}"
        return
    own = next((p for p in able if same_name(p.distribution, "lamella")), None)
    for plugin in able if len(able) > 1 else []:
        if plugin is not own:
            who = " and ".join(f"{p.distribution} {p.version}" for p in able)
            plugin.state = "refused"
            plugin.reason = (
                f"{who} each bring a {plugin.kind} {plugin.name!r}; uninstall one, or choose one, for example by "
                f"LAMELLA_PLUGINS={plugin.name}@{plugin.distribution}"
            )


def unmet(waits: list[Waiting]) -> str:
    """Returns strict mode's error text for a plugin whose registrations ``waits`` have no effect yet."""
    return f"LAMELLA_STRICT=1, and these registrations have no effect yet: {'; '.join(map(str, waits))}"


class Frontend(NamedTuple):
    """The functions of the frontend that the manager calls; an argument of `Manager.start`."""

    open_library: Callable[..., Any]  # lamella.library.Library
    loaded: Callable[[Plugin], None]  # called after a plugin was loaded


class Manager:
    """All plugins of the process. One instance, ``manager``."""

    frontend: Frontend

    def __init__(self) -> None:
        self.plugins: list[Plugin] = []
        self.lock = threading.RLock()  # held while loading: a second thread waits, the same thread may nest
        self.scanned = False
        self.late: list[Plugin] = []  # postponed plugins whose modules are imported by now; load_late() loads them
        # In strict mode, while load_plugins runs: the plugins that it has loaded and judge() has not checked yet.
        self.unjudged: list[tuple[Plugin, PluginContext]] | None = None

    def start(self, frontend: Frontend) -> None:
        """Loads the backends of the host. The frontend calls `load_plugins` once its namespace is complete."""
        self.frontend = frontend
        self.load_hosts()

    def scan(self) -> None:
        """Reads the entry points once a process; nothing is imported."""
        with self.lock:
            if self.scanned:
                return
            self.scanned = True
            every = entry_points()
            selection = Selection(os.environ.get("LAMELLA_PLUGINS", ""))
            for group, kind in GROUPS.items():
                for entry in every.select(group=group):
                    self.add(entry, kind, selection)
            for name, kind in dict.fromkeys((p.name, p.kind) for p in self.plugins):
                settle(self.named(name, kind), selection)

    def named(self, name: str, kind: str | None = None) -> list[Plugin]:
        """Returns the plugins of a name; first those that are not set aside."""
        found = [p for p in self.plugins if p.name == name and kind in (None, p.kind)]
        return sorted(found, key=lambda p: p.state not in ("found", "loading", "loaded"))

    def add(self, entry: EntryPoint, kind: str, selection: Selection) -> None:
        module = entry.value.partition(":")[0]
        if any(p.module == module for p in self.named(entry.name, kind)):
            return
        dist = entry.dist
        plugin = Plugin(
            entry.name, kind, module, dist.name if dist else "?", dist.version if dist else "?", entry=entry
        )
        self.plugins.append(plugin)
        try:
            plugin.manifest = read_manifest(module)
        except (OSError, ValueError) as error:
            plugin.state, plugin.reason = "failed", f"its manifest cannot be read: {error}"
        wanted = plugin.manifest.get("requires_lamella", "")
        try:
            if not in_range(_C.__version__, wanted):
                plugin.state, plugin.reason = "refused", f"it works with lamella {wanted}, this is {_C.__version__}"
        except ValueError as error:
            plugin.state, plugin.reason = "refused", str(error)
        if plugin.state == "found" and (wrong := unknown_key(plugin.manifest)):
            plugin.state, plugin.reason = "failed", wrong
        if not selection.allows(entry.name, plugin.distribution):
            plugin.state, plugin.reason = "denied", f"LAMELLA_PLUGINS={selection.text}"

    def load(self, plugin: Plugin) -> bool:
        """Loads a found plugin. Returns False if it is set aside or postponed; its ``reason`` then says why."""
        with self.lock:
            loaded = self.load_alone(plugin)
        self.load_late()
        return loaded

    def load_alone(self, plugin: Plugin) -> bool:
        """Does the work of `load`. The caller holds the lock."""
        if plugin.state != "found":  # "loading": the plugin's own code caused this call
            return plugin.state in ("loaded", "loading")
        if unfinished.is_unfinished(plugin.module):
            self.postpone(plugin, plugin.module)
            return plugin.state == "loaded"
        plugin.state = "loading"
        start = time.perf_counter()
        context, module = PluginContext(plugin), None
        try:
            module = plugin.entry.load()
            context.found_in(module)
            self.register(plugin, context, module)
            plugin.state, plugin.reason = "loaded", ""
            self.frontend.loaded(plugin)
        except BaseException as error:
            plugin.state = "failed"
            plugin.reason = f"{type(error).__name__}: {error}"
            # The lines of Python that loaded a library say nothing about why it does not work here.
            plugin.traceback = "" if error is context.library_error else traceback.format_exc()
            context.withdraw()
            if isinstance(error, KeyboardInterrupt):
                raise
            around = unfinished.unfinished_around(plugin.module, error) if module is None else None
            if around is not None:
                self.postpone(plugin, around)
        finally:
            plugin.seconds = time.perf_counter() - start
        return plugin.state == "loaded"

    def register(self, plugin: Plugin, context: PluginContext, module: Any) -> None:
        """Calls a plugin's hook. Pluggy finds it in the module and compares its arguments with `Hooks`."""
        hooks = pluggy.PluginManager("lamella")
        hooks.add_hookspecs(Hooks)
        hooks.register(module, name=f"{plugin.kind}:{plugin.name}")
        if not hooks.hook.register.get_hookimpls():
            raise TypeError(f"{plugin.module} has no hook register(ctx) marked with lamella.plugins.hookimpl")
        before = backend_names()
        hooks.hook.register(ctx=context)
        if plugin.kind == "backend" and plugin.name not in backend_names():
            made = ", ".join(map(repr, sorted(backend_names() - before))) or "none"
            must = f"its hook must register the device of its entry point, {plugin.name!r}"
            raise RuntimeError(f"{must}; it registered {made}")
        if os.environ.get("LAMELLA_STRICT") != "1":
            return
        if self.unjudged is not None:
            self.unjudged.append((plugin, context))  # a plugin that is loaded later may provide the missing names
        elif waits := context.waits():
            raise RuntimeError(unmet(waits))

    def postpone(self, plugin: Plugin, module: str) -> None:
        """Loads a plugin at the end of the import of ``module``, which began before the import of Lamella and is still
        under way."""

        def go_on(complete: bool) -> None:
            if complete:
                self.late.append(plugin)
                self.load_late()
            elif plugin.state == "found":
                plugin.reason = f"the import of {module}, which imported lamella, failed"

        plugin.state, plugin.traceback = "found", ""
        plugin.reason = f"the import of {module} is not done; the plugin is loaded at its end"
        if not unfinished.at_end(module, go_on):
            plugin.state, plugin.reason = "failed", f"{module} was imported before lamella; `import lamella` first"

    def load_late(self) -> None:
        """Loads the plugins in `late`. This function is called at the end of an import, where it must not wait for the
        lock, because the lock's holder may itself wait for that import. So it only tries the lock; a holder calls this
        function again after it has released the lock."""
        while self.late and self.lock.acquire(blocking=False):
            try:
                while self.late:
                    self.load_alone(self.late.pop(0))
            finally:
                self.lock.release()

    def load_hosts(self) -> None:
        """Loads the backends whose manifest has ``"host": true``."""
        self.scan()
        for plugin in [p for p in self.plugins if p.kind == "backend" and p.manifest.get("host")]:
            self.load(plugin)

    def load_plugins(self) -> None:
        """Loads the plugins of group ``lamella.plugins``, in order of priority, highest first, and then of name."""
        self.scan()
        chosen = [p for p in self.plugins if p.kind == "plugin" and p.state == "found"]
        self.unjudged = []
        try:
            for plugin in sorted(chosen, key=lambda p: (-p.manifest.get("priority", 0), p.name)):
                self.load(plugin)
        finally:
            loaded, self.unjudged = self.unjudged, None
        self.judge(loaded)

    def judge(self, loaded: list[tuple[Plugin, PluginContext]]) -> None:
        """In strict mode, sets aside the loaded plugins that have registrations without effect. The check is repeated,
        since withdrawing one plugin removes names on which the registrations of another may depend."""
        with self.lock:
            while wrong := [(p, context, w) for p, context in loaded if p.state == "loaded" and (w := context.waits())]:
                for plugin, context, waits in wrong:
                    plugin.state, plugin.reason = "failed", f"RuntimeError: {unmet(waits)}"
                    context.withdraw()

    def load_backend(self, name: str) -> None:
        """Loads the backend of a device that is not registered yet. Raises RuntimeError if there is none, or with the
        reason why it is not loaded."""
        self.scan()
        rivals = self.named(name, "backend")
        if not rivals:
            installed = {p.name for p in self.plugins if p.kind == "backend"}
            known = sorted(installed | backend_names())
            raise RuntimeError(f"device: there is no backend {name!r}; installed are {', '.join(known)}")
        plugin = rivals[0]
        if not self.load(plugin):
            who = f"device: backend {name!r} ({plugin.distribution} {plugin.version})"
            state = "failed to load" if plugin.state == "failed" else f"is {plugin.state}"
            reason = plugin.reason if plugin.traceback else plugin.reason.partition("\n")[0]
            raise RuntimeError(f"{who} {state}: {reason}\n{plugin.traceback}".rstrip())

    def load_readers(self, obj: Any) -> None:
        """Loads the found plugins whose manifest lists under "reads" an attribute that the object has."""
        self.scan()
        for plugin in self.plugins:
            if plugin.state == "found" and any(hasattr(obj, name) for name in plugin.manifest.get("reads", ())):
                self.load(plugin)

    def status(self) -> list[Plugin]:
        self.scan()
        return sorted(self.plugins, key=lambda p: (p.kind, p.name))


manager = Manager()


def _renew_lock() -> None:
    manager.lock = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)  # another thread of the parent may have held the lock


def waiting() -> list[Waiting]:
    """Returns the registrations for names that are neither loaded nor installed, and formulas that do not compile.

    The name may be misspelled, or its plugin may be loaded later.

    >>> library = lamella.library.Library("aten", "IMPL", owner="mine")
    >>> _ = library.impl("neg", lambda x: x, "nodevice")
    >>> [str(w) for w in lamella.plugins.waiting() if w.owner == "mine"]
    ["a kernel of aten::neg waits for the key 'nodevice' (mine)"]
    >>> library.close()
    """
    manager.scan()
    installed = {p.name for p in manager.plugins if p.state != "loaded"}  # a backend's name is its device's
    rows = [*_C._waiting(), *(row for rows in contributions.place("waiting").objects for row in rows())]
    return [w for row in rows if (w := Waiting(*row)).awaited not in installed]


@contextmanager
def _entered(blocks: list[AbstractContextManager]) -> Iterator[None]:
    with ExitStack() as stack:
        for block in blocks:
            stack.enter_context(block)
        yield


def contributed(point: str) -> list[Any]:
    """Returns the objects that plugins contribute at a point, oldest first; ``lamella.plugins.POINTS`` describes them.

    Raises:
        ValueError: there is no such point

    >>> [block.__module__ for block in lamella.plugins.contributed("settings")]
    ['lamella.plugins.autocast.functions']
    """
    return contributions.place(point).objects


def settings() -> Callable[[], AbstractContextManager[None]]:
    """Keeps this thread's settings that plugins contribute at the point "settings", such as the dtypes of autocast.

    The result is called for a block in which a function that has run now runs again as it did, later or on another
    thread. ``lamella.capture_state`` copies everything, also which observers are on.

    >>> with lamella.autocast("cpu"):
    ...     again = lamella.plugins.settings()
    >>> with again():
    ...     lamella.is_autocast_enabled("cpu")
    True
    """
    blocks = [make() for make in contributed("settings")]
    return lambda: _entered(blocks)


def load(name: str) -> Plugin:
    """Loads a plugin by name now, and returns it.

    Raises:
        LookupError: no plugin of that name is installed
        RuntimeError: the plugin is set aside or postponed; the message has the reason
    """
    manager.scan()
    found = manager.named(name)
    if not found:
        raise LookupError(f"load: no plugin {name!r} is installed")
    if not manager.load(found[0]):
        raise RuntimeError(
            f"load: plugin {name!r} is {found[0].state}: {found[0].reason}\n{found[0].traceback}".rstrip()
        )
    return found[0]


def status() -> list[Plugin]:
    """Returns every installed plugin, by kind and name; see `Plugin` for its ``state`` and ``reason``."""
    return manager.status()
