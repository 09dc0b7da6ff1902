"""The pickles of a program of torch: objects of classes of the program, with tensors, containers and numbers.

A plugin that reads such programs has the archive; this is the part that reads the objects in it.
"""

from __future__ import annotations

from collections import OrderedDict
from pickle import UnpicklingError
from typing import Any, Protocol

from lamella import _C
from lamella._C import OutOfMemoryError
from lamella._torch.files.archive import FAULTS, Reader, known
from lamella._torch.files.globals import StorageType
from lamella._torch.files.opcodes import Interpreter
from lamella.serialization.errors import CheckpointError
from lamella.serialization.limits import Limits, check_truth
from lamella.serialization.locations import Locations
from lamella.serialization.modules import States
from lamella.serialization.places import escaped

CODE = "__torch__"
LISTS = "torch.jit._pickle"
UNCHANGED = frozenset({"build_intlist", "build_tensorlist", "build_doublelist", "build_boollist", "restore_type_tag"})


class Members(Protocol):
    """An archive of a program."""

    file: Any
    """The path or the file object, for messages."""

    @property
    def name(self) -> str:
        """The file, as messages show it."""

    @property
    def names(self) -> list[str]:
        """The names of the members."""

    def size(self, name: str) -> int:
        """Returns the number of a member's bytes."""

    def read(self, name: str) -> bytes:
        """Returns a member's bytes."""

    def flat(self, name: str) -> Any:
        """Returns a member as a tensor of uint8 in host memory."""

    def damage(self, why: str) -> CheckpointError:
        """Returns the error for a fault of the file."""


class ClassName:
    """Stands for a class of the program's code."""

    def __init__(self, name: str):
        self.name = name


class Instance:
    """An object of a class of the program's code, or a member of an enum, which has a value."""

    def __init__(self, name: str, value: Any = None):
        self.name, self.value = name, value
        self.attributes: dict[str, Any] = {}


class Same:
    """Stands for a function of torch's that returns its first argument, which says the type of a list or a dict."""


class Machine(Interpreter):
    """Runs a pickle in which members of enums are their classes, called with a value that is no tuple."""

    def reduce(self) -> None:
        if len(self.stack) > 1 and isinstance(self.stack[-2], ClassName) and type(self.stack[-1]) is not tuple:
            value = self.pop()
            self.stack.append(Instance(self.pop().name, value))
        else:
            super().reduce()


class ProgramPickle(Reader):
    """Reads one pickle of a program.

    Args:
        archive: the archive.
        member: the name of the pickle.
        folder: the folder of the storages that it names.
        locations: says where tensors are put.
    """

    def __init__(self, archive: Members, member: str, folder: str, locations: Locations):
        self.archive, self.locations, self.mmap, self.imports = archive, locations, False, False
        self.pickle, self.folder = member, folder
        self.flat: dict[str, tuple[Any, int]] = {}
        self.limits = Limits(0)
        self.states = States()

    def data(self) -> bytes:
        return self.archive.read(self.pickle)

    def object(self) -> Any:
        """Returns the object of the pickle."""
        try:
            data = self.data()
            self.limits.hold(len(data))
            return Machine(data, self.find, self.persistent, self.call, self.build, self.limits).run()
        except (CheckpointError, OutOfMemoryError):
            raise
        except FAULTS as error:
            if error is self.locations.error:  # the user's map_location function has failed
                raise
            raise self.archive.damage(f"the member {self.pickle!r}: {error}") from None
        except UnpicklingError as error:
            raise CheckpointError(f"load: the member {self.pickle!r} of {self.archive.name}: {error}") from None

    def find(self, module: str, name: str) -> Any:
        if module == CODE or module.startswith(f"{CODE}."):
            return ClassName(f"{module}.{name}")
        if module == LISTS and name in UNCHANGED:
            return Same()
        found = known().get(f"{module}.{name}")
        if found is None:
            raise UnpicklingError(
                f"it names {escaped(f'{module}.{name}')}, which is no class of the program and none of torch's "
                "functions for tensors that are read here"
            )
        return found

    def call(self, function: Any, arguments: tuple) -> Any:
        if isinstance(function, ClassName):
            if arguments:
                raise UnpicklingError(f"it makes a {function.name} of values, which that does not take")
            return Instance(function.name)
        if isinstance(function, Same):
            if not arguments:
                raise UnpicklingError("it gives a list no elements")
            return arguments[0]
        return super().call(function, arguments)

    def build(self, target: Any, state: Any) -> None:
        if isinstance(target, Instance):
            if type(state) is not dict or not all(type(key) is str for key in state):
                raise UnpicklingError(
                    f"the class {target.name} restores its objects by its own __setstate__, which loading would have "
                    "to run"
                )
            self.limits.call((state,))
            target.attributes.update(state)
        elif type(target) is not OrderedDict:
            raise UnpicklingError(f"it gives a {type(target).__name__} a state")

    def persistent(self, key: Any) -> Any:
        if type(key) is tuple and len(key) == 5 and isinstance(key[1], StorageType):
            return super().persistent(key)
        raise UnpicklingError("it names a part of the file that is no storage")

    def member(self, name: str, device: str, nbytes: int) -> Any:
        member = f"{self.folder}/{name}"
        if member not in self.archive.names:
            raise UnpicklingError(f"the storage {member!r} is not in the file")
        if self.archive.size(member) != nbytes:
            raise UnpicklingError(f"the storage {member!r} has {self.archive.size(member)} bytes, not {nbytes}")
        self.limits.hold(nbytes)
        return self.archive.flat(member)


def window(flat: Any, dtype: _C.dtype, size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Any:
    """Returns a tensor over the bytes of another one.

    Raises:
        ValueError: the bytes are too few for the sizes and the strides
    """
    try:
        made = _C._storage_view(flat, dtype, size, stride, offset)
    except (RuntimeError, OverflowError) as error:
        raise ValueError(str(error)) from None
    return check_truth(made) if dtype is _C.bool else made
