"""Writes docs/torch_names.md, the table of torch's public names: ``python tools/torch_names.py docs/torch_names.md``.

`make stubs` runs this program, and a test compares. Without an argument it prints the page. The names are those of
``lamella run``, with the plugins of this repository.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from lamella._torch.run.names import TORCH
from lamella._torch.run.outlook import HERE, NOT_COMING, PLANNED, REFUSED, TENSOR, UNKNOWN, Status
from lamella._torch.run.table import every

HEAD = f"""<!-- Made by `make stubs` from the live names; a test compares. -->
# The names of torch

For each public name of torch {TORCH} this page says one of:

* **here**: Lamella has it; arguments that torch's takes and Lamella's does not are listed;
* **refused**: it can be named, and a call raises an error with the reason;
* **planned**: it comes with the step that is named;
* **not coming**: with the reason.

`lamella run --check PROGRAM` reports by this table what a program would miss, with file and line: names that are not
here, and calls with arguments that Lamella's functions lack. A module's public names are its `__all__`; without one,
the functions and classes that it defines. [Differences](differences.md) has what names that are here do otherwise.
"""
KINDS = (HERE, REFUSED, PLANNED, NOT_COMING)


def row(cells: list[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |\n"


def shown(module: str) -> str:
    return "Tensor" if module == TENSOR else module


def anchor(module: str) -> str:
    return shown(module).lower().replace(".", "").replace(" ", "-")


def escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("_", "\\_") if "`" not in text else text.replace("|", "\\|")


def summary(found: dict[str, dict[str, Status]]) -> str:
    """Returns the table of counts: a line for each module, and one for all."""
    total: Counter[str] = Counter()
    lines = [row(["module", "names", *KINDS]), row(["---"] * 6)]
    for module, names in found.items():
        counts = Counter(status.kind for status in names.values())
        total += counts
        cells = [counts[kind] or "" for kind in KINDS]
        lines.append(row([f"[{shown(module)}](#{anchor(module)})", len(names), *cells]))
    lines.insert(2, row(["**all**", total.total(), *(total[kind] for kind in KINDS)]))
    return "".join(lines)


def section(module: str, names: dict[str, Status]) -> str:
    """Returns a module's table, sorted by name; names of one status, other than here, share a line."""
    lines = [f"## {shown(module)}\n\n", row(["status", "names"]), row(["---", "---"])]
    groups: dict[str, list[str]] = {}
    for name, status in names.items():
        groups.setdefault(str(status), []).append(name)
    order = sorted(groups, key=lambda text: ([text.startswith(kind) for kind in KINDS].index(True), text))
    for text in order:
        lines.append(row([escaped(text), " ".join(f"`{name}`" for name in groups[text])]))
    return "".join(lines)


def page() -> str:
    """Returns the page as Markdown.

    Raises:
        SystemExit: a name has no status; `outlook.json` must say why it is not here
    """
    found: dict[str, dict[str, Status]] = {}
    for module, name, status in every():
        found.setdefault(module, {})[name] = status
    silent = [f"{m}.{n}" for m, names in found.items() for n, s in names.items() if s.kind == UNKNOWN]
    if silent:
        raise SystemExit(
            "frontend/lamella/_torch/run/outlook.json does not say why these names are not here:\n" + "\n".join(silent)
        )
    parts = [HEAD, summary(found), *(section(module, names) for module, names in found.items())]
    return "\n".join(parts)


def main() -> None:
    text = page()
    if len(sys.argv) < 2:
        sys.stdout.write(text)
    else:
        Path(sys.argv[1]).write_text(text)


if __name__ == "__main__":
    main()
