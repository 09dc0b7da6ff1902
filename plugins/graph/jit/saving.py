"""``jit.save`` and the hooks of saving: programs to files. ``docs/checkpoint_format.md`` describes the files."""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Callable
from typing import Any

import lamella
import lamella.plugins.graph.jit.operators as operators
import lamella.plugins.graph.jit.signing as signing
import lamella.plugins.graph.jit.upgrades as upgrades
from lamella.plugins.graph import _python
from lamella.plugins.graph.jit.description import Description, ModuleClass
from lamella.plugins.graph.jit.type_texts import text_of
from lamella.plugins.graph.script.functions import Function
from lamella.plugins.graph.script.types import Enum, Object, walk
from lamella.serialization.errors import Refused
from lamella.serialization.kinds import Kind, write_kind

FORMAT, VERSION = "lamella.program", 1
EXTRA = "extra/"


def save(
    m: Any,
    f: Any,
    _extra_files: dict[str, str | bytes] | None = None,
    *,
    hashes: bool = False,
    sign: Any = None,
    durable: bool = True,
) -> None:
    """Saves a program, with the parameters, buffers and other attributes of its module, to a file.

    The file is a zip that needs no Python to be read: ``index.json``, the graphs as text, and the bytes of tensors. A
    path is replaced in one step. ``load`` reads the file.

    Args:
        m: a :class:`ScriptModule` or a :class:`ScriptFunction`.
        f: a path or a binary file object.
        _extra_files: further files by name, as text or bytes.
        hashes: whether the file has the SHA-256 of the tensors' bytes, too, so that ``load(f, verify=True)`` compares
            them; it always has those of the graphs and of the further files.
        sign: a private key of Ed25519, as 32 bytes, as PEM, or the path of a file with either; implies ``hashes``. The
            package ``cryptography`` does it.
        durable: whether to wait until the file is on the disk.

    Raises:
        TypeError: ``m`` is no program, or has an attribute that no file holds.
        ValueError: UTF-8 does not have the name or the text of a further file.
        RuntimeError: a graph calls a function of Python, which a file cannot have; the message has the place.

    >>> import io
    >>> file = io.BytesIO()
    >>> lamella.jit.save(lamella.jit.script(lamella.nn.Linear(3, 2)), file, _extra_files={"note": "for you"})
    >>> file.seek(0)
    0
    >>> found = {"note": ""}
    >>> net = lamella.jit.load(file, _extra_files=found)
    >>> net(lamella.ones(1, 3)).shape, found
    (lamella.Size([1, 2]), {'note': b'for you'})
    """
    parts_of = getattr(type(m), "_parts_to_save", None)
    if parts_of is None:
        raise TypeError(
            f"save: argument 'm' must be a ScriptModule or a ScriptFunction, got {type(m).__name__}; jit.script and "
            "jit.trace make them, and lamella.save saves tensors"
        )
    own, program, root, main = parts_of(m)
    program, extra = program.copy(), dict(_extra_files or {})
    extra.update(_python.run_export_hooks(program))
    program.verify()
    graphs = {name: _text_of(program, own, name) for name in program.names}
    members = {_member(name): text.encode() for name, text in graphs.items()}
    for name, content in extra.items():
        members[f"{EXTRA}{name}"] = _content(name, content)

    def parts(o: Any) -> tuple[str, dict[str, Any]]:
        return o._class, {name: getattr(o, name) for name in program.attributes(o._class)}

    def entries(indexer: Any) -> dict[str, Any]:
        return {
            "written_by": f"lamella {lamella.__version__}",
            "needs": operators.needs(operators.operators_of(graphs.values())),
            "main": main,
            "classes": {name: _class_entry(program, own.classes.get(name), name, indexer) for name in program.classes},
            "interfaces": sorted({t for c in own.classes.values() for t in _interfaces(c)} - set(program.classes)),
            "enums": {name: _enum_entry(e, indexer) for name, e in own.enums.items()},
            "graphs": {name: _member(name) for name in graphs},
            "methods": {n: _method_entry(f, indexer) for n, f in own.functions.items() if n in graphs},
            "constants": [indexer.alone(t)["$tensor"] for t in program.constants],
        }

    kind = Kind(FORMAT, VERSION, _python.Object, parts)
    signed = None if sign is None else signing.signer(sign)
    write_kind(f, kind, root, entries, members, hashes=hashes, sign=signed, durable=durable)


def register_export_hook(function: Callable[[Any, dict[str, Any]], None]) -> Callable[[], None]:
    """Lets a function take part in every save of this process, also in those of C++.

    Args:
        function: is called with a copy of the program, which it may change, and with a dict, to which it may add
            further files, as text or bytes. Hooks run in the order in which they were registered, and those of C++
            among them; an exception ends the save before a file is written.

    Returns:
        a function that takes the hook away.

    >>> import io
    >>> remove = lamella.jit.register_export_hook(lambda program, extra: extra.update(owner="the vision group"))
    >>> file = io.BytesIO()
    >>> lamella.jit.save(lamella.jit.script(lamella.nn.ReLU()), file)
    >>> remove()
    >>> file.seek(0)
    0
    >>> found = {"owner": ""}
    >>> _ = lamella.jit.load(file, _extra_files=found)
    >>> found
    {'owner': b'the vision group'}
    """
    if not callable(function):
        raise TypeError(f"register_export_hook: expected a function, got {type(function).__name__}")

    def hook(program: Any) -> dict[str, bytes]:
        extra: dict[str, Any] = {}
        function(program, extra)
        return {name: _content(name, content) for name, content in extra.items()}

    handles = [_python.add_export_hook(hook)]

    def remove() -> None:
        if handles:
            _python.remove_export_hook(handles.pop())

    return remove


def _member(graph: str) -> str:
    return f"code/{graph}.graph"


def _content(name: Any, content: Any) -> bytes:
    if type(name) is not str or not name:
        raise TypeError(f"save: argument '_extra_files': a name must be text, got {name!r}")
    if "\0" in name or not _is_utf8(name):
        raise ValueError(
            f"save: argument '_extra_files': the name {name!r} has the character 0, or one that UTF-8 does not "
            "have; give the file another name"
        )
    if not isinstance(content, (str, bytes, bytearray)):
        kind = type(content).__name__
        raise TypeError(f"save: argument '_extra_files': {name!r} must be text or bytes, got {kind}")
    if isinstance(content, str) and not _is_utf8(content):
        raise ValueError(
            f"save: argument '_extra_files': the text of {name!r} has a character that UTF-8 does not have; give bytes"
        )
    return content.encode() if isinstance(content, str) else bytes(content)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text_of(program: Any, description: Description, name: str) -> str:
    """Returns the text of a graph, in which a call of a function under ``jit.unused`` is an error."""
    graph = program.graph(name)
    text = str(graph)
    if "prim::PythonCall" in text:
        text = _without_unused(text, description)
        if "prim::PythonCall" in operators.without_texts(text):
            found = re.search(r'prim::PythonCall\[name="([^"]*)"\].*?(?:# (\S+))?$', text, re.MULTILINE)
            called, place = found.groups() if found else ("a function", None)
            raise RuntimeError(
                f"save: {name or 'the graph'} calls {called} of Python{f' at {place}' if place else ''}, which a file "
                "cannot have; script it, or put it under jit.unused if the program never calls it"
            )
    return f"# op_version {upgrades.VERSION}\n{text.rstrip()}\n"


def _without_unused(text: str, description: Description) -> str:
    """Replaces calls of functions under ``jit.unused`` by errors, as the calls are when they run."""
    count = 0

    def replaced(match: re.Match) -> str:
        nonlocal count
        blanks, output, name, rest = match.groups()
        function = description.callables.get(name)
        if not hasattr(function, "_lamella_unused"):
            return match.group()
        count += 1
        message = f'{blanks}%unused_{count} : str = prim::Constant[value="{name} is under jit.unused"]()\n'
        error = f'{blanks}prim::RaiseException[kind="RuntimeError"](%unused_{count}){rest}\n'
        return f"{message}{error}{blanks}{output}prim::Uninitialized()"

    line = r'(?m)^( *)((?:%[^=\n]* = )?)prim::PythonCall\[name="([^"]*)"\]\([^)]*\)(.*)$'
    return re.sub(line, replaced, text)


def _class_entry(program: Any, own: ModuleClass | None, name: str, indexer: Any) -> dict[str, Any]:
    attributes = program.attributes(name)
    if own is None:
        return {"attributes": list(attributes.items())}
    texts = {n: text_of(t) for n, t in own.attributes.items()}
    listed = [[n, t] if texts.get(n, t) == t else [n, t, texts[n]] for n, t in attributes.items()]
    parts = {k: list(getattr(own, k)) for k in ("parameters", "buffers", "modules", "transient")}
    constants = []
    for n, value in own.constants.items():
        try:
            constants.append([n, indexer.alone(value)])
        except Refused:  # one that Python alone reads, such as a member of an enum
            continue
    return {"original": own.original, "attributes": listed, **parts, "constants": constants}


def _enum_entry(t: Enum, indexer: Any) -> dict[str, Any]:
    return {"original": t.python.__name__, "members": [[m.name, indexer.alone(m.value)] for m in t.members]}


def _interfaces(own: ModuleClass) -> list[str]:
    return [p.name for t in own.attributes.values() for p in walk(t) if isinstance(p, Object)]


def _method_entry(function: Function, indexer: Any) -> dict[str, Any]:
    parameters = []
    for p in function.parameters:
        entry: dict[str, Any] = {"name": p.name, "type": text_of(p.type)}
        if p.default is not inspect.Parameter.empty:
            entry["default"] = indexer.alone(_plain(p.default))
        if p.keyword_only:
            entry["keyword_only"] = True
        parameters.append(entry)
    result = function.declared or function.returned
    found: dict[str, Any] = {"parameters": parameters, "result": text_of(result) if result is not None else "Any"}
    return {**found, "static": True} if function.static else found


def _plain(value: Any) -> Any:
    """Returns a default as files have it: the name of an enum's member, a plain tuple."""
    if isinstance(value, enum.Enum):
        return value.name
    return tuple(value) if isinstance(value, tuple) else value
