"""docs/build_an_extension.md, followed literally: its program, its package, its CMake project, its command line."""

import re
import sys
from pathlib import Path

import pytest
from building import operator
from children import run
from environments import PIP, build_wheel, fresh_environment

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/build_an_extension.md").read_text()
USE = "import lattis; print(lattis.ops.built.scaled(lattis.tensor([1, 2])).tolist())"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page") / "mine"
    (folder / "mine").mkdir(parents=True)
    _, setup, hook = blocks("python")
    (folder / "setup.py").write_text(setup)
    (folder / "mine/__init__.py").write_text(hook)
    [(folder / "pyproject.toml").write_text(text) for text in blocks("toml")]
    [(folder / "CMakeLists.txt").write_text(text) for text in blocks("cmake")]
    (folder / "mine.cpp").write_text(operator(1))
    return folder


def test_the_program(bench):
    text = blocks("python")[0]
    (bench.folder / "page.py").write_text(text)
    expected = re.search(r"# (tensor.*)", text)[1]
    assert bench.run("exec(open('page.py').read())").strip() == expected


def test_the_package(project, tmp_path):
    """Its build requirement beside it, without an index; isolation itself would want setuptools from one."""
    build_wheel(ROOT / "extensions", tmp_path)
    python = fresh_environment(tmp_path / "venv")
    install = (*PIP, "--python", python, "install", "-q", "--no-index", "--no-deps", "--find-links", tmp_path)
    run(*install, "lattis-headers", cwd=tmp_path)
    run(python, "setup.py", "-q", "build_ext", "--inplace", cwd=project)
    program = f"import lattis\nlattis._C._load_plugin({str(project / 'mine/operators.so')!r})\n{USE}"
    assert run(python, "-c", program, cwd=project).strip() == "[2, 4]"



def test_the_cmake_project_and_the_command(project):
    run("sh", "-c", f"cmake -S . -B build -DLattis_DIR=$({sys.executable} -m lattis.cli config --cmake)", cwd=project)
    run("cmake", "--build", "build", cwd=project)
    [command] = blocks("sh")
    run("sh", "-c", command.replace("lattis config", f"{sys.executable} -m lattis.cli config"), cwd=project)
    for library in ("build/libmine.so", "mine.so"):
        program = f"import lattis\nlattis._C._load_plugin({str(project / library)!r})\n{USE}"
        assert run(sys.executable, "-c", program, cwd=project).strip() == "[2, 4]"
