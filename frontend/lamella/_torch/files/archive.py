"""Reads files of torch, without running code of the file, and writes files that torch can read."""

from __future__ import annotations

import functools
from collections import OrderedDict
from pickle import UnpicklingError
from typing import Any

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
from lamella.serialization.safe_globals import find_allowed, is_allowed, is_blocked

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
    data = reader.archive.read(reader.prefix + "data.pkl")
    names = Names(data)
    try:
        names.run()
    except FAULTS as error:
        raise UnpicklingError(f"get_unsafe_globals_in_checkpoint: {shown(f)} is damaged: {error}") from None
    unknown = [(m, n) for m, n in names.found if f"{m}.{n}" not in known()]
    return sorted({f"{m}.{n}" for m, n in unknown if find_allowed(m, n) is None})


def is_of_torch(module: str, name: str) -> bool:
    """Returns whether a global is a dtype, a kind of storage, a layout or a function for tensors of torch."""
    if module == "torch":
        return name.islower() or name.endswith("Storage")
    if module in ("torch._utils", "torch._tensor"):
        return name.startswith("_rebuild_")
    return (module, name) == ("torch.serialization", "_get_layout")


class Nothing:
    """Stands for any object that a pickle would make, so that its globals can be collected without making objects."""


class Names(Interpreter):
    """Collects the globals that a pickle names; containers stay empty, and nothing is called."""

    def __init__(self, data: bytes):
        nothing = Nothing()
        super().__init__(data, self._name, lambda key: nothing, lambda f, x: nothing, lambda x, state: None, Limits(0))
        self.found: set[tuple[str, str]] = set()

    def _name(self, module: str, name: str) -> Any:
        self.found.add((module, name))
        return Nothing()

    def top(self, kind: Any) -> Any:
        return super().top(object)

    def set_items(self, parts: list[Any]) -> None:
        self.top(dict)

    def append(self) -> None:
        self.pop()
        self.top(list)

    def appends(self) -> None:
        self.since_mark()
        self.top(list)

    def add(self) -> None:
        self.since_mark()
        self.top(set)


class Reader:
    """An open zip file of torch."""

    def __init__(self, archive: Any, locations: Locations, mmap: bool):
        self.archive, self.locations, self.mmap = archive, locations, mmap
        self.members = set(archive.names)
        pickles = [name for name in archive.names if name.endswith("/data.pkl") and name.count("/") == 1]
        if len(pickles) != 1:
            raise CheckpointError(f"load: {shown(archive.file)} is no file of torch: it has {len(pickles)} data.pkl")
        self.prefix = pickles[0][: -len("data.pkl")]
        order = self.prefix + "byteorder"
        if order in archive.names and archive.read(order) != b"little":
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

    def object(self) -> Any:
        """Returns the object that was saved."""
        data = self.archive.read(self.prefix + "data.pkl")
        try:
            self.limits.hold(len(data))
            return Interpreter(data, self.find, self.persistent, self.call, self.build, self.limits).run()
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
            found = find_allowed(module, name)
        if found is None and is_of_torch(module, name):
            raise UnpicklingError(
                f"load: {shown(self.archive.file)} names {full}, a dtype, a layout or a kind of tensor that is not "
                "here; save it from torch in a dtype that is, and dense"
            )
        if found is None and is_blocked(module, name):
            raise UnpicklingError(f"load: {shown(self.archive.file)} names {full}, which could run any code")
        if found is None:
            raise UnpicklingError(
                f"load: {shown(self.archive.file)} names {full}, which is not built, as its code would run; if you "
                f"trust the file, allow it by lamella.serialization.add_safe_globals([{name}])"
            )
        return found

    def call(self, function: Any, arguments: tuple) -> Any:
        """Makes a call that the pickle contains."""
        if isinstance(function, Known):
            self.limits.call(arguments)
            if function.copied:
                self.limits.spend(function.copied(*arguments))
            return function.make(self.limits, *arguments) if function.limited else function.make(*arguments)
        if is_allowed(function):
            return function(*arguments)
        raise UnpicklingError(f"the pickle calls a {type(function).__name__}, which is not a function")

    def build(self, target: Any, state: Any) -> None:
        """Sets the state of an object, as the pickle contains it."""
        self.limits.call(state if type(state) is tuple else (state,))
        if isinstance(target, torch_globals.NumpyType):
            target.order(state)
        elif type(target) is OrderedDict:
            vars(target).update(torch_globals.attributes_of(state))
        elif type(target).__module__ == "numpy" and type(target).__name__ == "ndarray":
            torch_globals.fill_array(target, state)
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
        return self.archive.flat(member, self.mmap)


def write(obj: Any, file: Any) -> None:
    """Writes an object so that ``torch.load`` reads it, also with ``weights_only=True``.

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
        host = flat if flat.device.type in (writer.host, META) else flat.to(writer.host)
        writer.add(f"{PREFIX}data/{number}", host)
    writer.add(PREFIX + "version", b"3\n")
    writer.finish()
