"""Files of torch's programs with other members than torch gave them, for tests."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import lamella
import pytest
from lamella.serialization.errors import CheckpointError

FOLDER = Path(__file__).resolve().parent / "torch_archives"
CODE, MODEL = "code/__torch__.py", "models/model.json"
FORWARD = "class PlaceholderModule(Module):\n  training : bool\n  def forward(self: __torch__.PlaceholderModule,\n"


def members_of(name: str) -> dict[str, bytes]:
    """Returns the members of a recorded file by their names without the folder."""
    return members_of_file(FOLDER / name)


def members_of_file(file) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        return {member.partition("/")[2]: archive.read(member) for member in archive.namelist()}


def file_of(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(f"program/{name}", data)
    file.seek(0)
    return file


def with_body(body: str, parameters: str = "x: Tensor", result: str = "Tensor", more: str = "") -> io.BytesIO:
    """Returns a file whose ``forward`` has a body, and with ``more`` code before it."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"{more}{FORWARD}    {parameters}) -> {result}:\n{lines}"
    return file_of({**members_of("function.pt"), CODE: text.encode()})


def with_model(change, name: str = "layers.pt2") -> io.BytesIO:
    """Returns a file whose model.json a function has changed."""
    members = members_of(name)
    model = json.loads(members[MODEL])
    change(model)
    return file_of({**members, MODEL: json.dumps(model).encode()})


def refusal(file) -> str:
    """Returns the message of the error with which a file is refused."""
    with pytest.raises(CheckpointError) as error:
        lamella.jit.load(file)
    return str(error.value)
