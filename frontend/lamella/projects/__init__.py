"""Writes small projects for a start: ``lamella new backend NAME``, ``new op NAME`` and ``new layer NAME``.

The folders beside this file have the projects' files; ``every`` has files that all projects share. The files' names end
in ``.in``; the word ``yours`` in a file, and in its name, is replaced by the project's name, and ``dot-`` in a file's
name by a dot.
"""

from __future__ import annotations

import keyword
import re
import shlex
from pathlib import Path

from lamella import _C
from lamella.plugins import contributions
from lamella.plugins.manager import manager

HERE = Path(__file__).resolve().parent
KINDS = ("backend", "op", "layer")
TOOLS = {"layer": '"setuptools>=77"'}  # what builds a project: CMake, unless it is named here
TAKEN = {"backend", "composite", "default", "headers", "lamella"}  # keys of kernels; and lamella-headers is a package


def next_steps(kind: str, folder: str | Path) -> list[str]:
    """Returns the commands that build, install and test a new project where Lamella is installed. The build is not
    isolated, so that it finds the headers and CMake files of the installed Lamella; its tools are installed before.

    >>> from lamella.projects import next_steps
    >>> next_steps("layer", "lamella-tally")[1:]
    ['pip install "setuptools>=77"', 'pip install --no-build-isolation ".[test]"', 'pytest']
    """
    tools = TOOLS.get(kind, '"scikit-build-core>=1.1" cmake ninja')
    built = 'pip install --no-build-isolation ".[test]"'
    return [f"cd {shlex.quote(str(folder))}", f"pip install {tools}", built, "pytest"]


def meaning(kind: str, name: str) -> str:
    """Returns a text with the meaning that a name has already, which prevents a project of that name; "" if none."""
    if name in TAKEN:
        return "Lamella itself uses it"
    manager.scan()
    if plugins := manager.named(name):
        return f"plugin {name!r} is installed ({plugins[0].distribution})"
    if kind == "backend" and contributions.holder("lamella", name):
        return f"there is a lamella.{name}"
    if kind == "backend" and hasattr(_C.Tensor, f"is_{name}"):
        return f"there is a Tensor.is_{name}"
    if kind == "op" and any(operator.startswith(f"{name}::") for operator, _ in _C._operator_names()):
        return f"the namespace {name!r} has operators"
    if kind == "layer" and name in [place for place, *_ in [*_C._anchors(), *(row[1:] for row in _C._layers())]]:
        return f"there is a layer or an anchor {name!r}"
    return ""


def new(kind: str, name: str, folder: str | Path | None = None) -> list[Path]:
    """Writes a small complete project, and returns its files.

    Args:
        kind: "backend", "op" or "layer"
        name: the name of the device, the namespace or the layer; the package is ``lamella-NAME``
        folder: the folder to write to; by default a new folder ``lamella-NAME``

    Raises:
        ValueError: ``kind`` is unknown, or the name is not a lower-case identifier, or has a meaning already
        FileExistsError: one of the files exists; then nothing is written

    >>> import tempfile
    >>> from lamella.projects import new
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sorted(str(file.relative_to(folder)) for file in new("layer", "tally", folder))[-2:]
    ['pyproject.toml', 'tests/test_tally.py']
    """
    if kind not in KINDS:
        raise ValueError(f"new: argument 'kind': expected one of {', '.join(KINDS)}, got {kind!r}")
    if keyword.iskeyword(name):
        raise ValueError(f"new: argument 'name': {name!r} is a keyword of Python; choose another")
    if not re.fullmatch(r"[a-z]([a-z0-9_]*[a-z0-9])?", name):
        raise ValueError(f"new: argument 'name': expected small letters, digits and '_', as in 'loom', got {name!r}")
    if taken := meaning(kind, name):
        raise ValueError(f"new: argument 'name': {name!r} has a meaning already: {taken}; take another name")
    to = Path(folder) if folder is not None else Path(f"lamella-{name}")
    texts: dict[Path, str] = {}
    for source in (HERE / "every", HERE / kind):
        for file in sorted(source.rglob("*.in")):
            place = str(file.relative_to(source)).removesuffix(".in").replace("yours", name).replace("dot-", ".")
            texts[to / place] = file.read_text().replace("yours", name).replace("KIND", kind)
    if there := next((path for path in texts if path.exists()), None):
        raise FileExistsError(f"new: {there} exists; nothing was written")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return list(texts)
