"""Implements ``lamella.load``: opens a file, and passes it to the reader of its format."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import lamella.serialization.modules as modules
from lamella._C import OutOfMemoryError
from lamella.serialization.archive import Archive, shown
from lamella.serialization.errors import CheckpointError
from lamella.serialization.index import DATA, KIND, NAME, VERSION
from lamella.serialization.locations import META, Locations
from lamella.serialization.options import empty_bytes, skips_data
from lamella.serialization.places import Place, text_of
from lamella.serialization.rebuilding import Names, Rebuilder, modules_of, natural
from lamella.serialization.safe_globals import is_blocked

# The exceptions that a damaged index can cause while its parts are put together.
DAMAGES = (
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RuntimeError,
    SystemError,
    struct.error,
)


# kind of file -> the function that reads it, for messages
READERS = {KIND: "lamella.load", "lamella.program": "lamella.jit.load"}


def read(
    f: Any, map_location: Any, mmap: bool, tensors: Iterable[str] | None, verify: bool | None, imports: bool
) -> Any:
    """Does the work of ``lamella.load``, whose other arguments have no effect."""
    locations = Locations(map_location)
    start = f.tell() if hasattr(f, "tell") else None
    archive = Archive(f)
    names = archive.names
    if NAME in names:
        found = Checkpoint(archive, locations, mmap, verify, imports)
        try:
            made = found.object() if tensors is None else found.chosen(tensors)
        finally:
            found.close()
        if start is not None:
            f.seek(0, 2)
        return made
    if tensors is not None:
        raise ValueError(f"load: argument 'tensors' is for files in Lamella's own format, which {shown(f)} is not")
    if any(name.endswith("/data.pkl") for name in names):
        from lamella._torch.files import archive as torch_files

        return torch_files.Reader(archive, locations, mmap, imports).object()
    raise CheckpointError(f"load: {shown(f)} is an archive of something else: it has neither an index nor data.pkl")


def list_tensors(f: Any) -> dict[str, tuple[Any, Any]]:
    """Returns the names of the tensors in a checkpoint, with their dtypes and shapes; reads the index only.

    If several tensors have one name, the result has the first of them.

    >>> import io
    >>> file = io.BytesIO()
    >>> lamella.save({"model": {"weight": lamella.ones(2, 3)}}, file)
    >>> file.seek(0)
    0
    >>> lamella.serialization.list_tensors(file)
    {'model.weight': (lamella.float32, lamella.Size([2, 3]))}
    """
    from lamella import _C

    archive = Archive(f)
    if NAME not in archive.names and any(name.endswith("/data.pkl") for name in archive.names):
        raise ValueError(
            "list_tensors: is for files in Lamella's own format, and this is one of torch: load() reads it"
        )
    checkpoint = Checkpoint(archive, Locations(META), False, False)
    with checkpoint.damages():
        records = checkpoint.index["tensors"]
        found = {name: records[n] for name, n in checkpoint.names().found.items()}
        return {name: (_C._find_dtype(r[1]), _C.Size(r[2])) for name, r in found.items()}


def no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


class Checkpoint:
    """An open file in Lamella's format: its index, compared with the members, and the objects made from it.

    ``imports`` says whether classes of modules that the program has not allowed are imported. ``text`` is the index, if
    it has been read.
    """

    kind, newest = KIND, VERSION
    """The kind of the files, and the newest version of them that is read."""

    def __init__(
        self,
        archive: Any,
        locations: Locations,
        mmap: bool,
        verify: bool | None,
        imports: bool = False,
        text: bytes | None = None,
    ):
        self.archive, self.locations, self.mmap, self.imports = archive, locations, mmap, imports
        self.verify = mmap and bool(verify)
        self._flat: dict[int, Any] = {}
        text = archive.read(NAME) if text is None else text
        with self.damages():
            self.index: dict[str, Any] = json.loads(text, parse_constant=no_constant)
            if self.index["format"] != self.kind:
                self._other_kind(self.index["format"])
            version = self.index["version"]
        if type(version) is not int or not 1 <= version <= self.newest:
            raise CheckpointError(
                f"load: {shown(archive.file)} has version {version!r} of the format; this Lamella reads up to "
                f"{self.newest}"
            )
        with self.damages():
            self.storages: list[list[Any]] = self.index["storages"]
            self._compare()
            self.rebuilder = Rebuilder(
                self.index["tensors"], self.storage, self.array, locations.target, self.find, self.objects
            )

    objects: Any = None
    """Of files of another kind: the type of their objects, and a function that makes one; see ``Rebuilder``."""

    def _other_kind(self, found: Any) -> None:
        if reader := READERS.get(found if type(found) is str else ""):
            raise CheckpointError(f"load: {shown(self.archive.file)} is of the kind '{found}'; {reader} reads it")
        raise ValueError(f"its format is not '{self.kind}'")

    def other_members(self) -> set[str]:
        """Returns the names of the members besides the index and the storages."""
        return set()

    def _compare(self) -> None:
        """Raises unless the members are those that the index describes."""
        expected = {NAME, *self.other_members()}
        for number in self.check_storages():
            expected.add(f"{DATA}{number}")
            self.check_member(number, self.storages[number][0])
        if others := set(self.archive.names) - expected:
            raise ValueError(f"it does not describe the member {min(others)!r}")

    def check_storages(self) -> list[int]:
        """Raises unless the index gives each storage a size and a device; returns the numbers of those that have a
        member: all except those on meta."""
        for number, (nbytes, device) in enumerate(self.storages):
            if natural(nbytes) >= 2**62 or type(device) is not str:
                raise ValueError(f"storage {number} must have a size and a device")
        return [number for number, (_, device) in enumerate(self.storages) if device != META]

    def check_member(self, number: int, nbytes: int) -> None:
        """Raises unless the member of a storage has the right size and alignment."""
        offset, size = self.archive.place(f"{DATA}{number}")
        if size != nbytes:
            raise ValueError(f"storage {number} has {size} bytes, not {nbytes}")
        if offset % 64:
            raise ValueError(f"storage {number} is not at a multiple of 64 bytes")

    @contextmanager
    def damages(self) -> Iterator[None]:
        """Turns the exceptions that a damaged index causes into a CheckpointError."""
        try:
            yield
        except (CheckpointError, OutOfMemoryError):
            raise
        except RecursionError:
            raise CheckpointError(f"load: {shown(self.archive.file)} is nested too deeply") from None
        except DAMAGES as error:
            if error is self.locations.error:  # the user's map_location function has failed
                raise
            text = str(error) if not isinstance(error, LookupError) else f"{type(error).__name__}: {error}"
            raise CheckpointError(f"load: the index of {shown(self.archive.file)} is damaged: {text}") from error

    def _read(self, number: int) -> Any:
        name = f"{DATA}{number}"
        flat = self.archive.flat(name, self.mmap)
        if self.verify:
            self.archive.verify(name)
        return flat

    def storage(self, number: int) -> Any:
        """Returns the bytes of a storage, on its device."""
        flat = self._flat.get(number)
        if flat is None:
            nbytes, device = self.storages[number]
            read = (lambda: empty_bytes(nbytes)) if skips_data() else lambda: self._read(number)
            flat = self._flat[number] = self.locations.place(device, nbytes, read)
        return flat

    def array(self, number: int) -> Any:
        """Returns the bytes of a numpy array."""
        if self.storages[number][1] != "":
            raise ValueError("a storage of tensors is no array")
        return self._read(number)

    def find(self, module: str, name: str) -> Any:
        """Returns a class of modules. Raises CheckpointError if the program has not allowed it."""
        if type(module) is not str or type(name) is not str:
            raise ValueError("the name of a class must be text")
        found, file = modules.allowed(module, name), shown(self.archive.file)
        if found is not None and modules.is_class(found):
            return found
        places: dict[tuple[str, str], Place | None] = {}  # of the first module of each class
        for each, m, n in modules_of(self.index["object"]):
            places.setdefault((m, n), each)
        place = text_of(places.pop((module, name))) if (module, name) in places else ""  # "" if a tensor holds it
        if is_blocked(module, name):
            raise CheckpointError(f"{modules.named(file, place, module, name)}, which could run any code")
        if found is not None:
            raise CheckpointError(f"{modules.named(file, place, module, name)}, which is no class of modules")
        if not self.imports:
            others = [n for n in places if not is_blocked(*n) and modules.allowed(*n) is None]
            raise CheckpointError(modules.refusal(file, place, [(module, name), *others]))
        try:
            return modules.imported(module, name)
        except modules.NoClass as error:
            why = f"{modules.named(file, place, module, name)}, {error}"
            raise CheckpointError(why) from error.__cause__

    def close(self) -> None:
        """Breaks the reference cycle between this object and its rebuilder, which keeps all tensors alive."""
        vars(self.rebuilder).clear()
        self._flat.clear()

    def object(self) -> Any:
        """Returns the whole object."""
        with self.damages():
            return self.rebuilder.decode(self.index["object"])

    def names(self) -> Names:
        """Returns the tensors' numbers by name."""
        with self.damages():
            return Names(self.index["object"])

    def chosen(self, names: Iterable[str]) -> dict[str, Any]:
        """Returns the tensors of the given names. Raises KeyError if no tensor, or more than one, has a name."""
        known, out = self.names(), {}
        numbers = known.found
        for name in [names] if isinstance(names, str) else names:
            if name not in numbers:
                from difflib import get_close_matches

                close = get_close_matches(str(name), numbers, 1)
                hint = f"; did you mean '{close[0]}'?" if close else f"; it has {len(numbers)} tensors"
                raise KeyError(f"load: {shown(self.archive.file)} has no tensor '{name}'{hint}")
            if name in known.twice:
                raise KeyError(f"load: {shown(self.archive.file)} has two tensors of the name '{name}'; load all of it")
            with self.damages():
                out[name] = self.rebuilder.tensor(numbers[name])
        return out
