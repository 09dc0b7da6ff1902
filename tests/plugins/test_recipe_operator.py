"""docs/add_an_operator.md, followed literally: its files, its command, its program, on cpu, meta and bank."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs/add_an_operator.md").read_text()
FILES = {"toml": "pyproject.toml", "cmake": "CMakeLists.txt", "cpp": "softsign.cpp"}


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def package(tmp_path_factory, guest):
    """The folder that the page describes, installed by the command that it shows."""
    folder = tmp_path_factory.mktemp("recipe")
    for language, name in FILES.items():
        (text,) = blocks(language)
        assert f"`{name}`" in PAGE
        (folder / name).write_text(text)
    (folder / "lamella_softsign").mkdir()
    (folder / "lamella_softsign/__init__.py").write_text(blocks("python")[0])
    shims = folder / "bin"
    shims.mkdir()
    (shims / "pip").write_text(f'#!/bin/sh\nexec {sys.executable} -m pip --python {guest.python} "$@"\n')
    (shims / "pip").chmod(0o755)
    # The environment keeps pip off the network and from copying installed packages; the command stays as it is.
    settings = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_INPUT": "1"}
    path = os.pathsep.join([str(shims), os.path.dirname(guest.python), os.environ["PATH"]])
    for command in blocks("sh"):
        done = subprocess.run(
            command, shell=True, cwd=folder, env=os.environ | settings | {"PATH": path}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return guest


def test_the_program_prints_what_the_page_says(package):
    assert package.run(blocks("python")[1]) == blocks("text")[0]


def test_it_works_on_a_stranger_s_device(package):
    program = """
        import lamella
        x = lamella.tensor([-1.0, 0.0, 3.0], device="bank")
        y = lamella.ops.mine.softsign(x)
        print(y.device.type, y.to("cpu").tolist(), lamella.fallback_counts())
        z = lamella.ops.mine.softsign(x, out=lamella.empty(3, device="bank"))
        print(z.to("cpu").tolist())
    """
    first, second = package.run(program).splitlines()
    assert first == "bank [-0.5, 0.0, 0.75] []" and second == "[-0.5, 0.0, 0.75]"


def test_its_owner_is_the_package(package):
    shown = package.run('import lamella; print(lamella._C._show("mine::softsign"))')
    assert "category pointwise, defined by lamella-softsign" in shown and "softsign.cpp" in shown
