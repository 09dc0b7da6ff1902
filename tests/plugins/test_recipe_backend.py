"""docs/write_a_backend.md, followed literally: the package that it shows, installed and used as it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs/write_a_backend.md").read_text()
FILES = {
    "toml": ["pyproject.toml"],
    "cmake": ["CMakeLists.txt"],
    "cpp": ["yours.cpp"],
    "json": ["lamella_yours/lamella.json"],
}


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def package(tmp_path_factory, guest):
    """The folder that the page describes, installed by the command that it shows."""
    folder = tmp_path_factory.mktemp("recipe")
    (folder / "lamella_yours").mkdir()
    for language, (name,) in FILES.items():
        (text,) = blocks(language)
        assert f"`{name}`" in PAGE
        (folder / name).write_text(text)
    (folder / "lamella_yours/__init__.py").write_text(blocks("python")[0])
    shims = folder / "bin"
    shims.mkdir()
    (shims / "pip").write_text(f'#!/bin/sh\nexec {sys.executable} -m pip --python {guest.python} "$@"\n')
    (shims / "pip").chmod(0o755)
    # The environment keeps pip off the network and from copying installed packages; the command stays as it is.
    settings = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_INPUT": "1"}
    env = os.environ | settings
    env["PATH"] = os.pathsep.join([str(shims), os.path.dirname(guest.python), os.environ["PATH"]])
    (install,) = blocks("sh")
    done = subprocess.run(install, shell=True, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return guest


def test_the_program_prints_what_the_page_says(package):
    assert package.run(blocks("python")[1]) == blocks("text")[0]


def test_what_it_has_not_falls_back_and_is_counted(package):
    package.run("""
        import lamella
        x = lamella.tensor([3.0, 1.0], device="yours")
        assert x.sort().values.tolist() == [1, 3]
        assert [f[:2] for f in lamella.fallback_counts()] == [("yours", "aten::sort.stable")], lamella.fallback_counts()
        lamella.set_fallback("error")
        try:
            x.sort()
        except NotImplementedError as error:
            assert "sort" in str(error) and "yours" in str(error)
        else:
            raise SystemExit("no error")
    """)


def test_the_commands_it_ends_with(package):
    command = [package.python, "-m", "lamella.cli"]
    for line in blocks("console")[0].splitlines():
        words = line.partition("#")[0].split()
        assert words[0] == "lamella"
        done = subprocess.run(command + words[1:], cwd=package.folder, capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout, (line, done.stderr)
