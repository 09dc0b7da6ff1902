"""Reads the code blocks and files that a page of the documentation shows. Imports the standard library alone."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def blocks(page: str, language: str) -> list[str]:
    """Returns the page's code blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


def files(page: str) -> dict[str, str]:
    """Returns the files of a package: each is the block after a paragraph that begins with its name, as `setup.py`."""
    found = re.findall(
        r"^`([\w./]+\.\w+)`(?:.|\n(?!\n))*\n\n```\w+\n((?:.|\n)*?)^```", (ROOT / page).read_text(), re.MULTILINE
    )
    return dict(found)


def write_files(page: str, folder: Path) -> Path:
    for name, text in files(page).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder
