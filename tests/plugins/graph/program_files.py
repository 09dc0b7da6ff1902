"""Takes files of programs apart and puts them together again, whole or damaged."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import Any

import lamella
from lamella.serialization.archive import ArchiveWriter

INDEX = "index.json"


class Layer(lamella.nn.Module):
    """Has a parameter, a buffer, a constant tensor, a branch, a loop, an enum's worth of types, and two entries."""

    def __init__(self):
        super().__init__()
        self.weight = lamella.nn.Parameter(lamella.tensor([[1.0, 2.0], [3.0, 4.0]]))
        self.register_buffer("seen", lamella.zeros(2))
        self.names = ["a", "b"]

    def forward(self, x, n: int = 2):
        for i in range(n):
            x = x @ self.weight
            if i > 1:
                x = x + self.seen
        return x

    @lamella.jit.export
    def name(self, i: int) -> str:
        return self.names[i] + "!"


def saved(program: Any = None, **options: Any) -> bytes:
    """Returns the bytes of a saved program, of a `Layer` by default."""
    file = io.BytesIO()
    lamella.jit.save(lamella.jit.script(Layer()) if program is None else program, file, **options)
    return file.getvalue()


def members_of(data: bytes) -> dict[str, bytes]:
    """Returns the members of a file by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def file_of(members: dict[str, bytes], hashed: bool = True) -> io.BytesIO:
    """Returns a file of members; ``hashed`` puts the right SHA-256 of those in code/ into the index."""
    if hashed:
        index = json.loads(members[INDEX])
        for name, data in members.items():
            if name in index["members"]:
                index["members"][name] = {"sha256": hashlib.sha256(data).hexdigest()}
        members = {**members, INDEX: json.dumps(index).encode()}
    file = io.BytesIO()
    writer = ArchiveWriter(file)
    for name, data in members.items():
        writer.add(name, data)
    writer.finish()
    file.seek(0)
    return file


def with_index(change: Any, data: bytes | None = None) -> io.BytesIO:
    """Returns a file whose index a function has changed."""
    members = members_of(data or saved())
    index = json.loads(members[INDEX])
    change(index)
    return file_of({**members, INDEX: json.dumps(index).encode()}, hashed=False)


def with_code(old: str, new: str, name: str = "code/Layer.forward.graph") -> io.BytesIO:
    """Returns a file in one of whose graphs a text is replaced."""
    members = members_of(saved())
    text = members[name].decode()
    assert old in text, text
    return file_of({**members, name: text.replace(old, new, 1).encode()})


def decoded(value: Any) -> Any:
    """Returns the value of a form of `script_programs.encode`, for numbers, texts, lists, tuples, dicts and tensors."""
    if isinstance(value, list):
        return [decoded(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        dtype = getattr(lamella, value["tensor"])
        return lamella.tensor(decoded(value["values"]), dtype=dtype).reshape(value["shape"])
    if "tuple" in value:
        return tuple(decoded(v) for v in value["tuple"])
    if "dict" in value:
        return {decoded(k): decoded(v) for k, v in value["dict"]}
    if "named" in value:
        return tuple(decoded(v) for v in value["fields"].values())
    if "float" in value:
        return float(value["float"])
    raise ValueError(f"there is no value of the form {value!r}")
