"""What is in a file of a program, as text: the command ``lamella show``."""

from __future__ import annotations

import math
from typing import Any

import lamella.plugins.graph.torch_files as torch_files
from lamella.plugins.graph.jit.loading import Reader
from lamella.plugins.graph.jit.saving import EXTRA
from lamella.serialization.errors import CheckpointError
from lamella.serialization.kinds import SIGNATURE

__all__ = ["show"]


def show(f: Any, code: bool = False) -> str:
    """Returns what is in a file of ``jit.save`` as text; reads no tensor, and looks up no operator.

    Args:
        f: a path or a binary file object that can seek.
        code: whether the graphs follow.

    Raises:
        CheckpointError: the file is no program, or is damaged.

    >>> import io
    >>> file = io.BytesIO()
    >>> lamella.jit.save(lamella.jit.script(lamella.nn.Linear(3, 2)), file)
    >>> file.seek(0)
    0
    >>> print(lamella.graph.show(file).partition("methods:")[2])  # doctest: +NORMALIZE_WHITESPACE
    <BLANKLINE>
      Linear.forward(input : Tensor) -> Tensor
    """
    reader = _reader(f)
    with reader.file.damages():
        lines = _lines(reader)
        if code:
            for _, text in reader.texts().values():
                lines += ["", *map(_shown_line, text.rstrip().split("\n"))]
    reader.file.close()
    return "\n".join(lines)


def _reader(f: Any) -> Reader:
    start = f.tell() if hasattr(f, "tell") else 0
    try:
        return Reader(f)
    except CheckpointError as error:
        archive = torch_files.opened(f, start)
        if archive is None:
            raise
        archive.close()
        advice = "is a program of torch; jit.load reads it, and a file that jit.save writes of it can be shown"
        raise CheckpointError(f"show: {archive.name} {advice}") from error


def _lines(reader: Reader) -> list[str]:
    file, index = reader.file, reader.file.index
    description = reader.description()
    main = index["main"]
    tensors = index["tensors"]
    data = sum(nbytes for nbytes, _ in file.storages)
    texts = sum(file.archive.size(m) for m in index["graphs"].values())
    signed = "yes, by a key that this command does not compare" if SIGNATURE in file.archive.names else "no"
    needs = ", ".join(f"{_shown(s)} {n}" for s, n in index["needs"].items())
    lines = [
        f"kind        {index['format']}, version {index['version']}",
        f"written by  {_shown(index['written_by'])}",
        f"needs       {needs or 'no operators'}",
        f"signed      {signed}",
        f"data        {len(tensors)} tensors in {len(file.storages)} storages, {_size(data)}",
        f"code        {len(index['graphs'])} graphs, {_size(texts)}",
        f"main        {_shown(main)}",
    ]
    counts = _numbers_of_parameters(index)
    if description.classes:
        lines += ["", "classes of modules:"]
        for name, own in description.classes.items():
            found, numbers = counts.get(name, (0, 0))
            about = f"{found} objects, {numbers} numbers in parameters of their own"
            lines.append(f"  {_shown(name)}: {about} ({_shown(own.original)})")
    lines += ["", "methods:"]
    for name, entry in index["methods"].items():
        parts = [f"{_shown(p['name'])} : {p['type']}{_default(p)}" for p in entry["parameters"]]
        lines.append(f"  {_shown(name)}({', '.join(parts)}) -> {entry['result']}")
    extra = [n for n in index["members"] if n.startswith(EXTRA)]
    if extra:
        lines += ["", "further files:"]
        lines += [f"  {_shown(n.removeprefix(EXTRA))}: {_size(file.archive.size(n))}" for n in extra]
    return lines


def _default(parameter: dict[str, Any]) -> str:
    return f" = {parameter['default']!r}" if "default" in parameter else ""


def _numbers_of_parameters(index: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Returns, for each class, the number of its objects and of the numbers in their parameters."""
    found: dict[str, tuple[int, int]] = {}
    waiting = [index["object"]]
    while waiting:
        node = waiting.pop()
        if type(node) is list:
            waiting += node
        elif type(node) is dict:
            if "$object" in node:
                name, own = node["$object"], dict(node["attributes"])
                numbers = 0
                for p in index["classes"][name].get("parameters", ()):
                    if type(own.get(p)) is dict and "$tensor" in own[p]:
                        numbers += math.prod(index["tensors"][own[p]["$tensor"]][2])
                objects, before = found.get(name, (0, 0))
                found[name] = objects + 1, before + numbers
            waiting += node.values()
    return found


def _size(nbytes: int) -> str:
    return (
        f"{nbytes} bytes"
        if nbytes < 10_000
        else f"{nbytes / 1e6:.2f} MB"
        if nbytes < 1e10
        else f"{nbytes / 1e9:.1f} GB"
    )


def _shown_line(line: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in line)


def _shown(text: Any) -> str:
    """Returns a text of the file without characters that a terminal obeys."""
    return repr(str(text)[:200])[1:-1]
