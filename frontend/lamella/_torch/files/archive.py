"""Reads files of torch, without running code of the file, and writes files that torch can read."""

from __future__ import annotations

import functools
from argparse import Namespace
from collections import OrderedDict
from collections.abc import Iterable
from pickle import UnpicklingError
from typing import Any

import lamella.serialization.modules as modules
import lamella.serialization.options as options
from lamella import _C, _storage
from lamella._C import OutOfMemoryError
from lamella._torch.files import globals as torch_globals
from lamella._torch.files.opcodes import Interpreter, Known
from lamella._torch.files.pickled import PREFIX, Pickled
from lamella._torch.typed_storage import TypedStorage
from lamella.serialization.archive import Archive, ArchiveWriter, shown
from lamella.serialization.errors import CheckpointError, PickleError
from lamella.serialization.limits import Limits
from lamella.serialization.locations import META, Locations
from lamella.serialization.options import empty_bytes, skips_data
from lamella.serialization.places import Place, escaped, text_of
from lamella.serialization.safe_globals import is_allowed, is_blocked

known = functools.cache(torch_globals.table)
FAULTS = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RuntimeError, RecursionError)


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """Returns the classes and functions that a file of torch names and ``load`` would refuse. Makes no objects.

    >>> import io
    >>> file = io.BytesIO()
    >>> lamella.save([lamella.ones(1)], file, format="torch")
    >>> file.seek(0)
    0
    >>> lamella.serialization.get_unsafe_globals_in_checkpoint(file)
    []
    """
    reader = Reader(Archive(f), Locations(None), False)
    try:
        return sorted({f"{m}.{n}" for m, n in Outline(reader.data()).unknown()})
    except FAULTS as error:
        raise UnpicklingError(f"get_unsafe_globals_in_checkpoint: {shown(f)} is damaged: {error}") from None


def is_of_torch(module: str, name: str) -> bool:
    """Returns whether a global is a dtype, a kind of storage, a layout or a function for tensors of torch."""
    if module == "torch":
        return name.islower() or name.endswith("Storage")
    if module in ("torch._utils", "torch._tensor"):
        return name.startswith("_rebuild_")
    return (module, name) == ("torch.serialization", "_get_layout")


class Part:
    """Stands for an object that a pickle would make of a global, and holds the parts that it would give the object."""

    def __init__(self, name: tuple[str, str] | None):
        self.name = name
        self.parts: list[tuple[Any, Any]] = []  # elements, each with its number or key
        self.arguments: Any = ()
        self.states: list[Any] = []


def pairs_of(x: Any) -> Iterable[tuple[Any, Any]]:
    """Returns the parts of an object in an outline, with their keys."""
    if isinstance(x, (list, tuple)):
        return enumerate(x)
    return x.items() if isinstance(x, dict) else x.parts if isinstance(x, Part) else ()


class Outline(Interpreter):
    """Reads what a pickle would make without making it: nothing is called, and a `Part` stands for each object."""

    def __init__(self, data: bytes):
        nothing = Part(None)
        super().__init__(data, self._name, lambda key: nothing, self._made, self._state, Limits(len(data)))
        self.names: dict[tuple[str, str], None] = {}

    def unknown(self) -> list[tuple[str, str]]:
        """Runs the pickle, and returns the names of its globals that `load` would refuse, in their order."""
        self.root = self.run()
        return [n for n in self.names if ".".join(n) not in known() and modules.allowed(*n) is None
                and modules.function(*n) is None]  # fmt: skip

    def place(self, name: tuple[str, str]) -> str:
        """Returns the place of the first object of a global in the object of the pickle; "" if it is in none. Walks
        each container once, however often the pickle uses it."""
        waiting: list[tuple[Place | None, Any, bool]] = [(None, self.root, False)]
        seen: set[int] = set()
        while waiting:
            place, x, own = waiting.pop()  # `own` says whether the keys in x are names of attributes
            if isinstance(x, Part) and x.name == name:
                return text_of(place)
            if id(x) in seen:
                continue
            seen.add(id(x))
            inner: list[tuple[Place | None, Any, bool]] = []
            for key, part in pairs_of(x):
                if isinstance(part, (Part, list, tuple, dict)):
                    members = own and key in modules.MEMBERS  # which are attributes of the module themselves
                    inner.append((place if members else Place(place, key, own), part, members))
            if isinstance(x, Part):
                inner = [(place, x.arguments, False), *inner, *((place, state, True) for state in x.states)]
            waiting += reversed(inner)
        return ""

    def _name(self, module: str, name: str) -> Any:
        self.names[module, name] = None
        return Part((module, name))

    def _made(self, kind: Any, arguments: tuple) -> Any:
        made = Part(kind.name if isinstance(kind, Part) else None)
        made.arguments = arguments
        return made

    def _state(self, target: Any, state: Any) -> None:
        if isinstance(target, Part):
            target.states.append(state)

    def top(self, kind: Any) -> Any:
        return super().top(object)

    def set_items(self, parts: list[Any]) -> None:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        target = self.top(dict)
        if isinstance(target, Part):
            target.parts += pairs
        elif isinstance(target, dict):
            target.update((self.limits.key(key, target), x) for key, x in pairs if isinstance(key, (str, int)))

    def append(self) -> None:
        self._extend([self.pop()])

    def appends(self) -> None:
        self._extend(self.since_mark())

    def add(self) -> None:
        self._extend(self.since_mark())

    def _extend(self, parts: list[Any]) -> None:
        target = self.top(list)
        if isinstance(target, Part):
            target.parts += enumerate(parts)
        elif isinstance(target, list):
            target += parts


class Reader:
    """An open zip file of torch."""

    def __init__(self, archive: Any, locations: Locations, mmap: bool, imports: bool = False):
        self.archive, self.locations, self.mmap, self.imports = archive, locations, mmap, imports
        self.members = set(archive.names)
        pickles = [name for name in archive.names if name.endswith("/data.pkl") and name.count("/") == 1]
        if len(pickles) != 1:
            raise CheckpointError(f"load: {shown(archive.file)} is no file of torch: it has {len(pickles)} data.pkl")
        self.prefix = pickles[0][: -len("data.pkl")]
        order = self.prefix + "byteorder"
        big = options.get_default_load_endianness() is options.LoadEndianness.BIG
        if archive.read(order) != b"little" if order in archive.names else big:
            raise CheckpointError(
                f"load: {shown(archive.file)} was written on a machine with big-endian numbers; save it again on one "
                "with little-endian numbers"
            )
        if self.prefix + "constants.pkl" in archive.names:
            raise CheckpointError(
                f"load: {shown(archive.file)} is a program of TorchScript, not a checkpoint; save its state_dict()"
            )
        self.flat: dict[str, tuple[Any, int]] = {}
        self.limits = Limits(0)
        self.states = modules.States()

    def data(self) -> bytes:
        """Returns the pickle."""
        return self.archive.read(self.prefix + "data.pkl")

    def object(self) -> Any:
        """Returns the object that was saved."""
        data = self.data()
        try:
            self.limits.hold(len(data))
            made = Interpreter(data, self.find, self.persistent, self.call, self.build, self.limits).run()
            self.states.check()
            return made
        except (CheckpointError, OutOfMemoryError):
            raise
        except UnpicklingError as error:
            text = str(error) if str(error).startswith("load: ") else f"load: {shown(self.archive.file)}: {error}"
            raise PickleError(text) from error.__cause__
        except FAULTS as error:
            if error is self.locations.error:  # the user's map_location function has failed
                raise
            raise PickleError(f"load: {shown(self.archive.file)}: {type(error).__name__}: {error}") from error

    def find(self, module: str, name: str) -> Any:
        """Returns the object of a global's name. Raises UnpicklingError if the global is not allowed."""
        full = f"{module}.{name}"
        found = known().get(full)
        if found is None:
            found = modules.allowed(module, name)
        if found is None:
            found = modules.function(module, name)
        if found is not None:
            return found
        file = shown(self.archive.file)
        if is_of_torch(module, name):
            raise UnpicklingError(
                f"load: {file} names {escaped(full)}, a dtype, a layout or a kind of tensor that is not here; save it "
                "from torch in a dtype that is, and dense"
            )
        if is_blocked(module, name):
            raise UnpicklingError(f"load: {file} names {escaped(full)}, which could run any code")
        if self.imports:
            return self.import_(module, name)
        place, others = self.unknown(module, name)
        raise UnpicklingError(modules.refusal(file, place, [(module, name), *others]))

    def import_(self, module: str, name: str) -> Any:
        """Imports a class of modules. Raises UnpicklingError if the name is another one."""
        try:
            return modules.imported(module, name)
        except modules.NoClass as error:
            file, place = shown(self.archive.file), self.unknown(module, name)[0]
            raise UnpicklingError(f"{modules.named(file, place, module, name)}, {error}") from error.__cause__

    def unknown(self, module: str, name: str) -> tuple[str, list[tuple[str, str]]]:
        """Returns the place of a name in the file, and the other names that the program has not allowed; "" and none if
        the file is damaged."""
        outline = Outline(self.data())
        try:
            others = [n for n in outline.unknown() if n != (module, name) and not is_blocked(*n)]
            return outline.place((module, name)), others
        except FAULTS:
            return "", []

    def call(self, function: Any, arguments: tuple) -> Any:
        """Makes a call that the pickle contains."""
        if isinstance(function, Known):
            self.limits.call(arguments)
            if function.copied:
                self.limits.spend(function.copied(*arguments))
            return function.make(self.limits, *arguments) if function.limited else function.make(*arguments)
        if is_allowed(function) and not modules.is_class(function):
            return function(*arguments)
        raise UnpicklingError(f"the pickle calls a {type(function).__name__}, which is not a function")

    def build(self, target: Any, state: Any) -> None:
        """Sets the state of an object, as the pickle contains it."""
        self.limits.call(state if type(state) is tuple else (state,))
        if isinstance(target, torch_globals.NumpyType):
            target.order(state)
        elif type(target) in (OrderedDict, Namespace):
            vars(target).update(torch_globals.attributes_of(state, type(target)))
        elif type(target).__module__ == "numpy" and type(target).__name__ == "ndarray":
            torch_globals.fill_array(target, state)
        elif modules.is_module(target):
            self.states.give(target, torch_globals.attributes_of(state))
        elif is_allowed(type(target)):
            if hasattr(target, "__setstate__"):
                target.__setstate__(state)
            else:
                for name, value in torch_globals.attributes_of(state).items():
                    setattr(target, name, value)
        else:
            raise UnpicklingError(f"the pickle gives a {type(target).__name__} a state, but that takes none")

    def persistent(self, key: Any) -> Any:
        """Returns the storage of a persistent id."""
        if type(key) is not tuple or len(key) != 5 or key[0] != "storage":
            raise UnpicklingError("the pickle names a part of the file that is no storage")
        _, kind, name, device, count = key
        texts = type(name) is type(device) is str and name.isdecimal()
        if not isinstance(kind, torch_globals.StorageType) or not texts or type(count) is not int or count < 0:
            raise UnpicklingError("the pickle describes a storage with wrong types")
        dtype = _C.uint8 if kind.dtype is None else kind.dtype
        nbytes = count * dtype.itemsize
        if name not in self.flat:
            self.flat[name] = self.locations.place(device, nbytes, lambda: self.member(name, device, nbytes)), nbytes
        flat, there = self.flat[name]
        if there != nbytes:
            raise UnpicklingError(f"storage {name} has {there} bytes, not {nbytes}")
        if kind.dtype is None:
            return _storage.storage_of(flat)
        return TypedStorage(_C._storage_view(flat, dtype, (count,), (1,), 0))

    def member(self, name: str, device: str, nbytes: int) -> Any:
        """Returns the bytes of a storage, in host memory."""
        member = f"{self.prefix}data/{name}"
        if member not in self.members:
            raise UnpicklingError(f"storage {name} is not in the file")
        if self.archive.size(member) != nbytes:
            raise UnpicklingError(f"storage {name} has {self.archive.size(member)} bytes, not {nbytes}")
        self.limits.hold(nbytes)
        return empty_bytes(nbytes) if skips_data() else self.archive.flat(member, self.mmap)


def write(obj: Any, file: Any) -> None:
    """Writes an object so that ``torch.load`` reads it: what of it is tensors, plain containers and numbers also with
    ``weights_only=True``, namespaces, modules and arrays of numpy with False.

    Raises:
        TypeError: a part of it is of a type that torch would not read
    """
    pickled = Pickled(obj)
    writer = ArchiveWriter(file)
    writer.add(PREFIX + "data.pkl", pickled.data())
    writer.add(PREFIX + ".format_version", b"1")
    writer.add(PREFIX + ".storage_alignment", b"64")
    writer.add(PREFIX + "byteorder", b"little")
    for number, flat in enumerate(pickled.storages):
        if skips_data() and flat.device.type != META:
            flat = empty_bytes(flat.numel())
        host = flat if flat.device.type in (writer.host, META) else flat.to(writer.host)
        writer.add(f"{PREFIX}data/{number}", host)
    writer.add(PREFIX + "version", b"3\n")
    writer.finish()
