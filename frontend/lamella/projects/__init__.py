"""Projects to start from: what ``lamella new backend NAME``, ``new op NAME`` and ``new layer NAME`` write.

The folders beside this file hold the projects' files, ``every`` those that all have. Their names end in ``.in``; the
word ``yours`` in a file, and in its name, becomes the project's name.
"""

from __future__ import annotations

import keyword
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
KINDS = ("backend", "op", "layer")
TAKEN = {"aten", "backend", "composite", "cpu", "lamella", "meta"}


def new(kind: str, name: str, folder: str | Path | None = None) -> list[Path]:
    """Writes a small complete project, and returns its files.

    Args:
        kind: "backend", "op" or "layer"
        name: of the device, the namespace or the layer; the package is ``lamella-NAME``
        folder: where to; a new folder ``lamella-NAME`` where it is not given

    Raises:
        ValueError: another kind, or a name that is no identifier of small letters, or has a meaning already
        FileExistsError: one of the files is there; nothing is written then

    >>> import tempfile
    >>> from lamella.projects import new
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sorted(str(file.relative_to(folder)) for file in new("layer", "tally", folder))[-2:]
    ['pyproject.toml', 'tests/test_tally.py']
    """
    if kind not in KINDS:
        raise ValueError(f"new: argument 'kind': expected one of {', '.join(KINDS)}, got {kind!r}")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise ValueError(f"new: argument 'name': expected small letters, digits and '_', as in 'loom', got {name!r}")
    if name in TAKEN:
        raise ValueError(f"new: argument 'name': {name!r} has a meaning already; take another name")
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
