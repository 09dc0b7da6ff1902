"""Follows docs/build_an_extension.md literally: its program, its package, its CMake project, its command line.

Builds are not isolated here, since setuptools would come from an index; `make wheel` builds the same package isolated.
"""

import json
import re
import sys

import pytest
from children import run
from environments import PIP, build_wheel, fresh_environment
from pages import ROOT, blocks, files, write_files

PAGE = "docs/build_an_extension.md"
LOADED, SETUP, HOOK, USED = blocks(PAGE, "python")
INSTALL, CMAKE, BY_HAND = blocks(PAGE, "sh")
READ = "; print(*(p.manifest['requires_lamella'] for p in lamella.plugins.status() if p.name == 'mine'))"
EXPECTED = re.search(r"# (tensor.*)", USED)[1]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    names = ("pyproject.toml", "setup.py", "mine.cpp", "mine/__init__.py", "mine/lamella.json", "CMakeLists.txt")
    assert tuple(files(PAGE)) == names and files(PAGE)["setup.py"] == SETUP and files(PAGE)["mine/__init__.py"] == HOOK
    return write_files(PAGE, tmp_path_factory.mktemp("page"))


def test_the_program(bench):
    (bench.folder / "page.py").write_text(LOADED)
    assert bench.run("exec(open('page.py').read())").strip() == re.search(r"# (tensor.*)", LOADED)[1]


@pytest.mark.long
def test_the_package(project, tmp_path):
    """The page's commands build and install it; then Lamella calls the hook, and the program has the operator."""
    build_wheel(ROOT / "extensions", tmp_path)
    python = fresh_environment(tmp_path / "venv")
    install = (*PIP, "--python", python, "install", "-q", "--no-index", "--no-deps", "--find-links", tmp_path)
    run(*install, "lamella-headers", cwd=tmp_path)
    shims = tmp_path / "shims"
    shims.mkdir()
    (shims / "pip").write_text(f'#!/bin/sh\nexec {sys.executable} -m pip --python {python} "$@"\n')
    (shims / "pip").chmod(0o755)
    # These variables stop pip from using the network or copying installed packages; the commands stay as they are.
    settings = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_INPUT": "1"}
    run("sh", "-ec", f"PATH={shims}:$PATH\n{INSTALL}", cwd=project, **settings)
    (tmp_path / "elsewhere").mkdir()
    program = (python, "-c", USED + f"\nimport mine; print(mine.__file__){READ}")
    printed, where, wanted = run(*program, cwd=tmp_path / "elsewhere").splitlines()
    assert printed == EXPECTED and where.startswith(str(tmp_path / "venv"))
    assert wanted == json.loads(files(PAGE)["mine/lamella.json"])["requires_lamella"]


@pytest.mark.parametrize(
    "commands, library", [(CMAKE, "build/libmine.so"), (BY_HAND, "mine.so")], ids=["cmake", "by hand"]
)
def test_the_commands(commands, library, project):
    run("sh", "-ec", commands, cwd=project)
    program = USED.replace("print", f"lamella.ops.load_library({str(project / library)!r})\nprint")
    assert run(sys.executable, "-c", program, cwd=project.parent).strip() == EXPECTED


@pytest.mark.long
def test_the_package_without_the_package_of_headers(tmp_path):
    """With the names of the framework in place of lamella_headers, as the page says."""
    for name, text in files(PAGE).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text.replace("lamella_headers", "lamella.utils.cpp_extension"))
    [command] = re.findall(r"`(pip wheel --no-build-isolation [^`]*)`", (ROOT / PAGE).read_text())
    words = command.removeprefix("pip ").split()
    run(*PIP, *words, cwd=tmp_path, PIP_NO_INDEX="1")
    [wheel] = (tmp_path / "dist").glob("mine-1.0-py3-none-*.whl")
    python = fresh_environment(tmp_path / "venv")
    run(*PIP, "--python", python, "install", "-q", "--no-index", "--no-deps", wheel, cwd=tmp_path)
    assert run(python, "-c", USED, cwd=tmp_path / "dist").strip() == EXPECTED
