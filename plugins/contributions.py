"""Names that plugins put into the namespace and onto Tensor from Python: their owners, conflicts, and their removal.

Read with ``PluginContext.add_names`` and what follows it in ``manager.py``, which are the door to this file.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lamella import _C

if TYPE_CHECKING:  # the import system asks for the methods only, and importing the class takes 6 ms
    from importlib.abc import Loader
else:
    Loader = object

names: dict[str, str] = {}  # in the namespace: the plugin that brought each
methods: dict[str, str] = {}  # on Tensor
copied: dict[str, str] = {}  # attributes of Tensor that go with copies and pickles
export_checks: list[Callable[[Any, str], Any]] = []
_C._set_export_checks(export_checks)
import_checks: list[Callable[[Any], Any]] = []
readers: list[Callable[[Any], Any]] = []
ABSENT = object()


def check(where: str, owner: str, objects: Mapping[str, Any], holder: Callable[[str], str]) -> None:
    """Raises if a name is no identifier or has an owner already, before anything is put there."""
    for name in objects:
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"plugin '{owner}': {where}.{name} is no identifier")
        if held := holder(name):
            raise RuntimeError(f"{where}.{name} is taken by {held}; plugin '{owner}' cannot bring it too")


def name_holder(name: str) -> str:
    """The owner of a name in the namespace, or '' if it is free, as planned names are."""
    package = sys.modules["lamella"]
    if name in names:
        return f"plugin '{names[name]}'"
    full = f"lamella.{name}"
    if getattr(type(vars(package).get(name)), "placeholder", False):  # the module that every device has
        return ""
    there = name in vars(package) or full in sys.modules or PathFinder.find_spec(full, package.__path__)
    return "lamella" if there else ""


def method_holder(name: str) -> str:
    """The owner of a name on Tensor, or '' if it is free, as planned names are."""
    there = vars(_C.Tensor).get(name, ABSENT)
    if name in methods:
        return f"plugin '{methods[name]}'"
    if there is ABSENT or getattr(there, "placeholder", False):
        return ""
    return _C._attribute_owner(name) or "lamella"


def add_names(owner: str, objects: Mapping[str, Any]) -> Callable[[], None]:
    """Puts objects into the namespace; returns a function that removes them."""
    check("lamella", owner, objects, name_holder)
    package = sys.modules["lamella"]
    modules = {name: vars(package)[name] for name in objects if name in vars(package)}  # those of devices
    for name, o in objects.items():
        sys.modules.pop(f"lamella.{name}", None)
        setattr(package, name, o)
        if name not in package.__all__:
            package.__all__.append(name)
        names[name] = owner
        if isinstance(o, ModuleType):
            sys.modules[f"lamella.{name}"] = o
            aliases.add(f"lamella.{name}", o.__name__)

    def undo() -> None:
        for name in objects:
            delattr(package, name)
            package.__all__.remove(name)
            del names[name]
            for module in [m for m in sys.modules if (m + ".").startswith(f"lamella.{name}.")]:
                del sys.modules[module]
            aliases.modules.pop(f"lamella.{name}", None)
        for name, module in modules.items():
            setattr(package, name, module)
            package.__all__.append(name)
            sys.modules[f"lamella.{name}"] = module

    return undo


def add_methods(owner: str, objects: Mapping[str, Any]) -> Callable[[], None]:
    """Puts functions, properties and the like onto Tensor; returns a function that removes them."""
    check("Tensor", owner, objects, method_holder)
    before = {name: vars(_C.Tensor).get(name, ABSENT) for name in objects}
    for name, o in objects.items():
        setattr(_C.Tensor, name, o)
        methods[name] = owner

    def undo() -> None:
        for name, o in before.items():
            delattr(_C.Tensor, name) if o is ABSENT else setattr(_C.Tensor, name, o)
            del methods[name]

    return undo


def add_copied(owner: str, attributes: Iterable[str]) -> Callable[[], None]:
    """Lets attributes go with copies and pickles; returns a function that undoes it."""
    added = dict.fromkeys(attributes, owner)
    holders = {name: f"plugin '{holder}'" for name, holder in copied.items()}
    check("the copied attribute Tensor", owner, added, lambda name: holders.get(name, ""))
    copied.update(added)

    def undo() -> None:
        for name in added:
            del copied[name]

    return undo


def add_export_check(check: Callable[[Any, str], Any]) -> Callable[[], None]:
    """Has a function asked before a tensor's memory or element is given away; returns a function that undoes it."""
    export_checks.append(check)
    return lambda: export_checks.remove(check)


def add_import_check(check: Callable[[Any], Any]) -> Callable[[], None]:
    """Has a function asked before a tensor over another library's memory is used; returns a function that undoes it."""
    import_checks.append(check)
    return lambda: import_checks.remove(check)


def add_reader(read: Callable[[Any], Any]) -> Callable[[], None]:
    """Has a function asked for objects that may be arrays on a device; returns a function that undoes it."""
    readers.append(read)
    return lambda: readers.remove(read)


class Aliases(Loader):
    """On ``sys.meta_path``: ``import lamella.x.y`` finds y in the package that a plugin brought as x.

    Without it, y would be imported twice, once under each name.
    """

    def __init__(self) -> None:
        self.modules: dict[str, str] = {}

    def add(self, alias: str, real: str) -> None:
        self.modules[alias] = real
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def find_spec(self, fullname: str, path=None, target=None) -> ModuleSpec | None:
        parts = fullname.split(".", 2)
        real = self.modules.get(".".join(parts[:2])) if len(parts) > 2 else None
        return ModuleSpec(fullname, self, origin=f"{real}.{parts[2]}") if real else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(spec.origin or "")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__:  # the import system has put the alias's there
            module.__spec__ = module.__spec__.loader_state


aliases = Aliases()
