"""Modules of a ``.pt``: the objects of its pickle, with the graphs of its code."""

from __future__ import annotations

from typing import Any

import lamella.plugins.graph.jit.values as values
from lamella import Tensor, nn
from lamella.plugins.graph.jit.description import Description, ModuleClass
from lamella.plugins.graph.jit.modules import ScriptModule
from lamella.plugins.graph.script.errors import ScriptError
from lamella.plugins.graph.script.types import Enum, Object, Type
from lamella.plugins.graph.torch_files.operators import is_here
from lamella.plugins.graph.torch_files.program import TorchClass, TorchProgram, plain, program_of
from lamella.plugins.graph.torch_files.syntax import Code
from lamella.plugins.graph.torch_files.zips import TorchZip
from lamella.serialization.errors import CheckpointError
from lamella.serialization.locations import Locations
from lamella.serialization.torch_programs import Instance, ProgramPickle

SPARE, RATIO = 10_000, 10  # the parts that a value may have, and those for each byte of its pickle


def load_scripted(archive: TorchZip, map_location: Any) -> ScriptModule:
    """Returns the module of a file of ``torch.jit.save``."""
    archive.check()
    locations = Locations(map_location)
    try:
        code = Code().read(archive)
        check_operators(archive, code.operators)
        found = ProgramPickle(archive, "constants.pkl", "constants", locations).object()
        member = "version" if "version" in archive.names else ".data/version"
        check_parts(archive, "constants.pkl", found)
        version = archive.check_version(archive.read(member))
        program = TorchProgram(code, found if type(found) is tuple else (), version)
        root = ProgramPickle(archive, "data.pkl", "data", locations).object()
        return Made(archive, program).module(root)
    except ScriptError as error:
        raise CheckpointError(f"load: {archive.name}: {error}") from None
    except RecursionError:
        raise archive.damage("it is nested too deeply") from None


def check_parts(archive: TorchZip, member: str, value: Any) -> None:
    """Raises unless a value has as few parts as its pickle may make.

    A container that is a part of several others is counted, as constants of a graph hold it, in each of them.
    """
    counts: dict[int, int] = {}

    def count(x: Any) -> int:
        if not isinstance(x, (list, tuple, dict)):
            return 1
        if id(x) not in counts:
            counts[id(x)] = 1 + sum(map(count, [*x, *x.values()] if isinstance(x, dict) else x))
        return counts[id(x)]

    if (found := count(value)) > SPARE + RATIO * archive.size(member):
        raise archive.damage(f"the value in {member!r} has {found} parts, too many for its bytes")


def check_operators(archive: TorchZip, operators: dict[str, str]) -> None:
    """Raises unless all operators are here; ``operators`` has the place of each."""
    missing = [f"{name} ({place})" for name, place in sorted(operators.items()) if not is_here(name)]
    if missing:
        raise CheckpointError(
            f"load: {archive.name} uses operators that are not here: {', '.join(missing)}; install the plugin that has "
            "them, or save the program without them; lamella.plugins.status() lists the plugins here"
        )


class Made:
    """Makes the module of a program and its objects."""

    def __init__(self, archive: TorchZip, program: TorchProgram):
        self.archive, self.source = archive, program
        self.objects: dict[Instance, Any] = {}
        self.parameters: dict[int, nn.Parameter] = {}
        self.running: set[Instance] = set()
        self.containers: dict[int, tuple[Any, int]] = {}
        """The containers of the program, with the number of their parts and of the parts of those, by the ids of the
        containers of the pickle. One may be a part of several others."""
        self.most = SPARE + RATIO * archive.size("data.pkl")

    def module(self, root: Any) -> ScriptModule:
        """Returns the module of an object."""
        t = self.source.named(root.name) if isinstance(root, Instance) else None
        if not isinstance(t, Object) or not t.info.is_module:
            raise self.archive.damage("the object in 'data.pkl' is no module of its code")
        self.name_classes(root)
        infos: dict[str, TorchClass] = {}
        while new := [i for i in self.source.modules_of_code() if i.type.name not in infos]:
            for info in new:
                infos[info.type.name] = info
                for method in info.methods.values():
                    self.source.compile(None, method)
        self.program = program_of(self.archive, self.source.text(), self.source.tensors)
        made = self.object(root, t)
        functions = {f.name: plain(f) for f in self.source.order}
        enums = {t.name: t for t in self.source.enums.values()}
        classes = {name: _module_class(info) for name, info in infos.items()}
        return ScriptModule(Description(t.name, functions, classes, enums), self.program, made)

    def name_classes(self, root: Instance) -> None:
        """Reads the classes of all objects, so that the program has them."""
        waiting: list[Any] = [root]
        seen: set[int] = set()
        while waiting:
            o = waiting.pop()
            if id(o) in seen:
                continue
            seen.add(id(o))
            if isinstance(o, Instance):
                t = self.source.named(o.name)
                if t is None:
                    raise self.archive.damage(f"an object in 'data.pkl' is of the class {o.name}, which the code lacks")
                if isinstance(t, Object):
                    self.choose_classes(o, t.info)
                waiting += o.attributes.values()
            elif isinstance(o, (list, tuple)):
                waiting += o
            elif isinstance(o, dict):
                waiting += o.values()

    def choose_classes(self, o: Instance, info: TorchClass) -> None:
        """Gives the attributes that have an interface as their type the class that their objects have."""
        for name, t in info.attributes.items():
            part = o.attributes.get(name)
            if isinstance(t, Object) and isinstance(part, Instance) and t.info.is_interface:
                info.attributes[name] = info.chosen[name] = self.source.named(part.name) or t
            elif name in info.chosen and isinstance(part, Instance) and self.source.named(part.name) is not t:
                raise self.archive.damage(f"objects of {info.type.name} have two classes in {name!r}, an interface")

    def object(self, o: Instance, t: Object) -> Any:
        """Returns the program's object of an instance."""
        if o not in self.objects:
            if o in self.running:
                raise self.archive.damage(f"an object of the class {t.name} is a part of itself")
            self.running.add(o)
            info = t.info
            parameters = set(info.lists["__parameters__"])
            attributes = {}
            for name, wanted in info.attributes.items():
                if name not in o.attributes:
                    raise self.archive.damage(f"an object of the class {t.name} has no attribute {name!r}")
                value = self.value(o.attributes[name], wanted)
                attributes[name] = self.parameter(value) if name in parameters else value
            try:
                self.objects[o] = self.program.new_object(t.name, attributes)
            except (TypeError, ValueError) as error:
                raise self.archive.damage(f"an object of the class {t.name}: {error}") from None
        return self.objects[o]

    def parameter(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        if id(value) not in self.parameters:
            self.parameters[id(value)] = nn.Parameter(value, requires_grad=value.requires_grad)
        return self.parameters[id(value)]

    def value(self, value: Any, t: Type) -> Any:
        """Returns a value of a pickle as one of the program."""
        if isinstance(value, Instance):
            own = self.source.named(value.name)
            if isinstance(own, Enum):
                return values.to_program(own)(_member(value, own))  # type: ignore[misc]
            if not isinstance(own, Object):
                raise self.archive.damage(f"an object in 'data.pkl' is of the class {value.name}, which has no objects")
            return self.object(value, own)
        if not isinstance(value, (list, tuple, dict)):
            return value
        if id(value) not in self.containers:
            parts = [*value, *value.values()] if isinstance(value, dict) else value
            made = [self.value(x, t) for x in parts]
            count = 1 + sum(self.containers[id(x)][1] if id(x) in self.containers else 1 for x in parts)
            if count > self.most:
                raise self.archive.damage(
                    f"a value in 'data.pkl' has {count} parts, too many for the bytes of 'data.pkl'"
                )
            half = len(value)
            found = dict(zip(made[:half], made[half:], strict=True)) if isinstance(value, dict) else made
            self.containers[id(value)] = tuple(made) if isinstance(value, tuple) else found, count
        return self.containers[id(value)][0]


def _member(found: Instance, t: Enum) -> Any:
    try:
        return t.python(found.value)
    except ValueError:
        raise CheckpointError(f"load: {found.value!r} is no value of the enum {t.name}") from None


def _module_class(info: TorchClass) -> ModuleClass:
    def those(names: list[str]) -> tuple[str, ...]:
        return tuple(n for n in names if n in info.attributes or n in info.constants)

    return ModuleClass(
        info.type.name,
        info.original,
        info.attributes,
        parameters=those(info.lists["__parameters__"]),
        buffers=those(info.lists["__buffers__"]),
        modules=tuple(n for n, t in info.attributes.items() if isinstance(t, Object) and t.info.is_module),
        constants=dict(info.constants),
    )
