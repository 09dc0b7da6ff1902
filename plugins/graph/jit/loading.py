"""``jit.load``: programs from files. Nothing of a file is run, and every part of it is checked before it is used."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from typing import Any

import lamella.plugins.graph.jit.operators as operators
import lamella.plugins.graph.jit.signing as signing
import lamella.plugins.graph.jit.upgrades as upgrades
import lamella.plugins.graph.torch_files as torch_files
from lamella.plugins.graph import _python
from lamella.plugins.graph.jit.description import Description, ModuleClass
from lamella.plugins.graph.jit.functions import ScriptFunction
from lamella.plugins.graph.jit.modules import ScriptModule
from lamella.plugins.graph.jit.saving import EXTRA, FORMAT, VERSION
from lamella.plugins.graph.jit.type_texts import TypeTexts
from lamella.plugins.graph.script.functions import Function, Parameter
from lamella.plugins.graph.script.types import Enum, Object, without_none
from lamella.serialization.archive import shown
from lamella.serialization.kinds import CheckpointError, Kind, KindFile

_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_ATTRIBUTE = re.compile(r"\w+", re.ASCII)


def load(
    f: Any,
    map_location: Any = None,
    _extra_files: dict[str, Any] | None = None,
    _restore_shapes: bool = False,
    *,
    mmap: bool = False,
    verify: bool = False,
    keys: Sequence[Any] | None = None,
    allow_host: bool = False,
) -> Any:
    """Reads a program from a file of ``save``, of ``torch.jit.save`` or of ``torch.export.save``.

    Loading runs nothing: it reads text and bytes, and looks up the operators that the program names.

    Args:
        f: a path or a binary file object that can seek, which is read from its position.
        map_location: where tensors are put: a device, a dict of devices, or a function, as for ``lamella.load``.
        _extra_files: the names of further files to read; their contents, bytes, become the values of the dict. A file
            that is not there gives no bytes.
        _restore_shapes: has no effect, since graphs keep the shapes that were seen.
        mmap: whether tensors in host memory are mapped from the file, which is faster for large ones; those of torch's
            files are read.
        verify: whether the SHA-256 of the tensors' bytes are compared; the file must have been saved with
            ``hashes=True``. Those of the graphs and of the further files always are.
        keys: public keys of Ed25519, each as 32 bytes, as PEM, or the path of a file with either. One of them must have
            signed the file, and all hashes are compared.
        allow_host: whether the program may call operators of plugins that hand values to the host.

    Returns:
        a :class:`ScriptModule` or a :class:`ScriptFunction`.

    Raises:
        CheckpointError: the file is no program, is damaged, is too new, has no right signature, or names operators that
            are not here; the message names the member and the line.
        OSError: the file cannot be read.

    >>> import io
    >>> file = io.BytesIO()
    >>> lamella.jit.script(lamella.nn.Linear(3, 2)).save(file)
    >>> file.seek(0)
    0
    >>> lamella.jit.load(file).state_dict().keys()
    odict_keys(['weight', 'bias'])
    """
    start = f.tell() if hasattr(f, "tell") else 0
    archive = None
    try:
        reader = Reader(f, map_location, mmap, verify, keys)
    except CheckpointError:
        archive = torch_files.opened(f, start)
        if archive is None:
            raise
    if archive is not None:
        return _load_torch(archive, map_location, _extra_files, verify or keys is not None, allow_host)
    try:
        made = reader.made(allow_host)
        for name in _extra_files or ():
            _extra_files[name] = reader.extra(name)  # type: ignore[index]
        if hasattr(f, "seek"):
            f.seek(0, 2)
        return made
    finally:
        reader.file.close()


def _load_torch(archive: Any, map_location: Any, extra: dict[str, Any] | None, hashed: bool, allow_host: bool) -> Any:
    """Returns the module of a file that torch wrote."""
    try:
        if hashed:
            raise CheckpointError(f"load: {archive.name} is a program of torch, which has no hashes and no signature")
        made = torch_files.load(archive, map_location)
        _check_host(archive.name, operators.operators_of([str(made._program)]), allow_host)
        for name in extra or ():
            member = f"{EXTRA}{name}"
            extra[name] = archive.read(member) if member in archive.names else b""  # type: ignore[index]
        if hasattr(archive.file, "seek"):
            archive.file.seek(0, 2)
        return made
    finally:
        archive.close()


def _check_host(file: str, used: set[tuple[str, str]], allowed: bool) -> None:
    """Raises if a program calls operators that hand values to the host, and that is not allowed."""
    if not allowed and (found := operators.of_the_host(used)):
        raise CheckpointError(
            f"load: {file} calls operators that hand values to the host: {', '.join(found[:20])}; pass "
            "allow_host=True if you trust the file"
        )


class Reader:
    """Reads one file; see :func:`load`."""

    def __init__(self, f: Any, map_location: Any = None, mmap: bool = False, verify: bool = False, keys: Any = None):
        check = None if keys is None else _check_of(f, signing.checker(keys))
        kind = Kind(FORMAT, VERSION, _python.Object, lambda o: (o._class, {}))
        self.program: Any = None
        self.file = KindFile(f, kind, self._object, map_location, mmap, verify or keys is not None, check)

    def extra(self, name: str) -> bytes:
        """Returns the bytes of a further file; none if it is not there."""
        member = f"{EXTRA}{name}"
        return self.file.member(member) if member in self.file.index["members"] else b""

    def made(self, allow_host: bool) -> Any:
        """Returns the module or the function."""
        with self.file.damages():
            texts = self.texts()
            head = self.classes_text()
            description = self.description()
            constants = [self.file.value({"$tensor": n}) for n in self.file.index["constants"]]
            self.program = self._parsed(head, texts, constants)
            self._check_operators(texts, allow_host)
            self._verify(texts, len(constants))
            root = self.file.object()
            if root is None:
                if description.main not in description.functions:
                    raise ValueError(f"the program has no function {description.main!r}")
                return ScriptFunction(description, self.program)
            if not isinstance(root, _python.Object):
                raise ValueError("its object is no object of a class of the program")
            self._check_modules(root, description)
            return ScriptModule(description, self.program, root)

    # ---- graphs ----

    def texts(self) -> dict[str, tuple[str, str]]:
        """Returns, for each graph, the member and its text."""
        found = {}
        for name, member in self.file.index["graphs"].items():
            if name and not _NAME.fullmatch(name):
                raise ValueError(f"{name[:80]!r} is no name of a graph")
            if type(member) is not str or not member.startswith("code/"):
                raise ValueError(f"the graph {name!r} has to be a member in code/, got {member!r}")
            try:
                found[name] = member, self.file.member(member).decode()
            except UnicodeDecodeError as error:
                raise CheckpointError(f"load: the member {member!r} of {self.file.name} is no text: {error}") from None
        return found

    def classes_text(self) -> str:
        """Returns the classes as the text of a program has them."""
        lines = []
        for name, entry in self.file.index["classes"].items():
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name[:80]!r} is no name of a class")
            lines.append(f"class {name} {{\n")
            for attribute, text, *_ in entry["attributes"]:
                if type(attribute) is not str or not _ATTRIBUTE.fullmatch(attribute):
                    raise ValueError(f"class {name}: {attribute!r} is no name of an attribute")
                if type(text) is not str or not re.fullmatch(r"[\w\[\]?(), :.*=+!]+", text):
                    raise ValueError(f"class {name}: the type of {attribute!r} is no type: {text!r}")
                lines.append(f"  {attribute} : {text}\n")
            lines.append("}\n")
        return "".join(lines)

    def _parsed(self, head: str, texts: dict[str, tuple[str, str]], constants: list[Any]) -> Any:
        texts.update(self._upgraded(texts))
        order = sorted(texts, key=bool)  # the graph without a name comes first
        whole = head + "".join((f"with {name} = " if name else "") + texts[name][1] for name in order)
        try:
            program = _python.Program(whole, constants)
        except ValueError as error:
            for member, text in texts.values():
                try:
                    _python.Program(text)
                except ValueError as own:
                    raise CheckpointError(
                        f"load: the member {member!r} of {self.file.name} is damaged: {own}"
                    ) from None
            raise ValueError(f"its classes are damaged: {error}") from None
        if sorted(program.names) != sorted(texts) or sorted(program.classes) != sorted(self.file.index["classes"]):
            raise ValueError("a member has more than one graph")
        return program

    def _upgraded(self, texts: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
        """Returns the graphs of an older file that upgrades change, and those that they add."""
        found: dict[str, tuple[str, str]] = {}
        functions: dict[str, str] = {}
        for name, (member, text) in texts.items():
            version = re.match(r"# op_version (\d{1,9})\n", text)
            if version is None:
                raise CheckpointError(
                    f"load: the member {member!r} of {self.file.name} does not begin with '# op_version N'"
                )
            if int(version[1]) > upgrades.VERSION:
                raise CheckpointError(
                    f"load: the graph {name!r} of {self.file.name} has version {version[1]} of the operators; this "
                    f"Lamella has version {upgrades.VERSION}"
                )
            if int(version[1]) < upgrades.VERSION:
                found[name] = member, upgrades.upgraded(text, int(version[1]), functions)
        return found | {name: ("upgrades.txt", text) for name, text in functions.items() if name not in texts}

    def _check_operators(self, texts: dict[str, tuple[str, str]], allow_host: bool) -> None:
        for member, text in texts.values():
            if "prim::PythonCall" in text and "prim::PythonCall" in operators.without_texts(text):
                raise CheckpointError(
                    f"load: the member {member!r} of {self.file.name} calls a function of Python, which no file has"
                )
        used = operators.operators_of(text for _, text in texts.values())
        if missing := operators.missing(used):
            spaces = sorted({name.partition("::")[0] for name in missing})
            needed = self.file.index["needs"]
            versions = ", ".join(f"'{s}' {needed[s]}" if s in needed else f"'{s}'" for s in spaces)
            raise CheckpointError(
                f"load: {self.file.name} uses operators that are not here: {', '.join(missing[:20])}"
                f"{' and others' if len(missing) > 20 else ''}; it was written with the operators of {versions}: "
                "install the plugin that has them, or a newer version; lamella.plugins.status() lists those here"
            )
        _check_host(self.file.name, used, allow_host)

    def _verify(self, texts: dict[str, tuple[str, str]], count: int) -> None:
        for member, text in texts.values():
            if "<data/" not in text:
                continue
            for number in re.findall(r"<data/(\d+)>", operators.without_texts(text)):
                if len(number) > 18 or int(number) >= count:
                    raise CheckpointError(
                        f"load: the member {member!r} of {self.file.name} names <data/{number[:18]}>, and the program "
                        f"has {count} constant tensors"
                    )
        try:
            self.program.compile()
        except ValueError as error:
            raise CheckpointError(
                f"load: {_place(str(error), texts)} of {self.file.name} is damaged: {error}"
            ) from None

    # ---- the description ----

    def description(self) -> Description:
        """Returns what the index says of functions and classes."""
        index = self.file.index
        enums = {
            name: (entry["original"], [(n, self.file.value(v)) for n, v in entry["members"]])
            for name, entry in index["enums"].items()
        }
        types = TypeTexts([*index["classes"], *index["interfaces"]], enums)
        functions = {name: self._function(name, entry, types) for name, entry in index["methods"].items()}
        if unknown := sorted(set(functions) - set(index["graphs"])):
            raise ValueError(f"the method {unknown[0]!r} has no graph")
        classes = {
            name: self._class(name, entry, types) for name, entry in index["classes"].items() if "original" in entry
        }
        if type(index["main"]) is not str:
            raise ValueError("'main' has to be text")
        return Description(index["main"], functions, classes, types.enums)

    def _function(self, name: str, entry: dict[str, Any], types: TypeTexts) -> Function:
        parameters = []
        for p in entry["parameters"]:
            t, default = types.read(p["type"]), inspect.Parameter.empty
            if type(p["name"]) is not str:
                raise ValueError(f"{name}: {p['name']!r} is no name of a parameter")
            if "default" in p:
                default = self.file.value(p["default"])
                inside = without_none(t)
                if isinstance(inside, Enum) and isinstance(default, str):
                    default = inside.python[default]
            parameters.append(Parameter(p["name"], t, default, bool(p.get("keyword_only"))))
        made = Function(name, None, None, parameters, returned=types.read(entry["result"]))  # type: ignore[arg-type]
        made.static = bool(entry.get("static"))
        return made

    def _class(self, name: str, entry: dict[str, Any], types: TypeTexts) -> ModuleClass:
        attributes = {a: types.read(texts[-1]) for a, *texts in entry["attributes"]}
        parts: dict[str, tuple[str, ...]] = {}
        for kind in ("parameters", "buffers", "modules", "transient"):
            names = entry[kind]
            if type(names) is not list or not all(type(n) is str and _ATTRIBUTE.fullmatch(n) for n in names):
                raise ValueError(f"class {name}: {kind!r} has to be a list of names")
            parts[kind] = tuple(names)
        if type(entry["original"]) is not str:
            raise ValueError(f"class {name}: 'original' has to be text")
        constants = {n: self.file.value(v) for n, v in entry["constants"] if type(n) is str and n not in attributes}
        return ModuleClass(name, entry["original"], attributes, constants=constants, **parts)  # type: ignore[arg-type]

    # ---- objects ----

    def _object(self, name: str, attributes: dict[str, Any]) -> Any:
        if type(name) is not str:
            raise ValueError("the class of an object must be text")
        unknown = set(attributes) - set(self.program.attributes(name))
        if unknown:
            raise ValueError(f"class {name} has no attribute {min(unknown)!r}")
        return self.program.new_object(name, attributes)

    def _check_modules(self, root: Any, description: Description) -> None:
        """Raises unless parameters and buffers are tensors, and submodules are objects of classes of modules."""
        from lamella import Tensor

        if root._class not in description.classes:
            raise ValueError(f"its object is of class {root._class}, which is no class of modules")
        waiting, seen = [root], {root}
        while waiting:
            o = waiting.pop()
            own = description.classes[o._class]
            for name in (*own.parameters, *own.buffers):
                value = getattr(o, name) if name in own.attributes else None
                if value is not None and not isinstance(value, Tensor):
                    raise ValueError(f"{own.name}.{name} has to be a tensor")
            for name in own.modules:
                value = getattr(o, name) if name in own.attributes else None
                if value is None:
                    continue
                if not isinstance(value, _python.Object) or value._class not in description.classes:
                    raise ValueError(f"{own.name}.{name} has to be an object of a class of modules")
                if value not in seen:
                    seen.add(value)
                    waiting.append(value)


def _check_of(f: Any, check: Any) -> Any:
    def checked(index: bytes, signature: bytes | None) -> None:
        try:
            check(index, signature)
        except ValueError as error:
            raise CheckpointError(f"load: {shown(f)}: {error}") from None

    return checked


def _place(message: str, texts: dict[str, tuple[str, str]]) -> str:
    """Returns the member and the line that a message of the verifier is about, as well as it can be said."""
    found = re.match(r"(?:\S+:\d+: )?(?:(%\S+?)(?:, %\S+)* = )?(\w+(?:::\w+)+)", message)
    if found is not None:
        start = f"{found[1]} : " if found[1] else ""
        lines = []
        for member, text in texts.values():
            for number, line in enumerate(text.splitlines(), 1):
                plain = line.strip()
                if plain.startswith(start) and re.search(rf"(^|= ){re.escape(found[2])}[.\[(]", plain):
                    lines.append(f"the member {member!r}, line {number},")
        if len(lines) == 1:
            return lines[0]
    return "a graph"


__all__ = ["Object", "Reader", "load"]
