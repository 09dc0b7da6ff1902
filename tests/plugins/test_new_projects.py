"""`lamella new`: each project builds, installs and passes its own tests, in an environment of its own."""

import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import lamella
import pytest
from children import clean_environment
from environments import PIP, fresh_environment
from lamella.projects import new

PAGE = Path(__file__).resolve().parents[2] / "docs/write_a_backend.md"
# These variables make pip use the environment's packages; the commands stay as they are.
QUIET = {"PIP_NO_INDEX": "1", "PIP_NO_INPUT": "1"}
ALONE = QUIET | {"PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}


def call(*command, cwd, **env):
    done = subprocess.run(command, cwd=cwd, env=clean_environment(**env), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.sweep
@pytest.mark.needs("autograd")
@pytest.mark.parametrize("kind", ["backend", "op", "layer"])
def test_a_project_passes_its_tests(kind, tmp_path):
    name = {"backend": "tapestry", "op": "stitches", "layer": "selvage"}[kind]
    start = time.monotonic()
    python = fresh_environment(tmp_path / "venv")
    said = call(python, "-m", "lamella", "new", kind, name, cwd=tmp_path)
    project = tmp_path / f"lamella-{name}"
    steps = [line.strip() for line in said.partition("Next:\n")[2].splitlines()]
    assert steps[0] == f"cd lamella-{name}" and "\n".join(steps[1:]) in (project / "README.md").read_text()
    assert "lamella-headers" not in said + "".join(f.read_text() for f in project.rglob("*") if f.is_file())
    assert (project / ".github/workflows/ci.yml").exists() and (project / ".gitignore").exists()
    for file in project.rglob("*"):
        text = file.read_text() if file.is_file() else ""
        assert "yours" not in text + file.name and "KIND" not in text, file
    commands = Path(python).parent
    for command in ("pip", "pytest"):  # those of the tests' environment would install into that
        (commands / command).write_text(f'#!/bin/sh\nexec {python} -m {command} "$@"\n')
        (commands / command).chmod(0o755)
    path = os.pathsep.join([str(commands), clean_environment()["PATH"]])
    assert "passed" in call("sh", "-ec", "\n".join(steps), cwd=tmp_path, PATH=path, **QUIET)
    taken = time.monotonic() - start
    print(f"lamella new {kind}: {taken:.1f} s to a green run")


@pytest.mark.long
def test_a_wheel_of_operators_for_other_machines(tmp_path):
    """The wheel built for this machine is converted to one for every Linux that is not too old, and works."""
    project = tmp_path / "project"
    new("op", "threads", project)
    start = time.monotonic()
    call(*PIP, "wheel", "-q", "-w", "dist", ".", cwd=project, **ALONE)
    print(f"a wheel of operators: {time.monotonic() - start:.1f} s")
    (wheel,) = (project / "dist").glob("*.whl")
    assert wheel.name == "lamella_threads-0.1.0-py3-none-linux_x86_64.whl"
    with zipfile.ZipFile(wheel) as file:
        texts = [file.read(name) for name in file.namelist()]
    assert any(b"threads.cpp" in text for text in texts)  # messages name it, relative to the project
    places = [str(place).encode() for place in (project, Path(lamella.__file__).parent)]
    assert not [text[:100] for text in texts for place in places if place in text]
    call(sys.executable, "-m", "auditwheel", "repair", "-w", "wheelhouse", wheel, cwd=project)
    (repaired,) = (project / "wheelhouse").glob("*.whl")
    assert re.fullmatch(r"lamella_threads-0.1.0-py3-none-manylinux_2_\d+_x86_64\.whl", repaired.name)
    python = fresh_environment(tmp_path / "venv")
    call(*PIP, "--python", python, "install", "-q", repaired, cwd=tmp_path, **ALONE)
    program = "import lamella; print(lamella.ops.threads.scaled(lamella.ones(2), 3.0).tolist())"
    assert call(python, "-c", program, cwd=tmp_path) == "[3.0, 3.0]\n"


@pytest.mark.parametrize(
    "kind, name, message",
    [
        ("frontend", "loom", "'kind': expected one of backend, op, layer, got 'frontend'"),
        ("op", "Loom", "'name': expected small letters, digits and '_', as in 'loom', got 'Loom'"),
        ("op", "2d", "got '2d'"),
        ("op", "class", "'class' is a keyword of Python"),
        ("op", "a-b", "got 'a-b'"),
        ("op", "x_", "got 'x_'"),
        ("backend", "cpu", "'cpu' has a meaning already: plugin 'cpu' is installed (lamella)"),
        ("backend", "int8", "'int8' has a meaning already: there is a lamella.int8"),
        ("backend", "contiguous", "there is a Tensor.is_contiguous"),
        ("op", "aten", "the namespace 'aten' has operators"),
        ("op", "headers", "Lamella itself uses it"),
        ("layer", "autocast", "'autocast' has a meaning already: plugin 'autocast' is installed (lamella)"),
        ("layer", "trace", "there is a layer or an anchor 'trace'"),
    ],
)
def test_refused(kind, name, message, tmp_path):
    with pytest.raises(ValueError, match=re.escape(message)):
        new(kind, name, tmp_path / "project")
    assert not (tmp_path / "project").exists()


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(FileExistsError, match="README.md exists; nothing was written"):
        new("layer", "selvage", tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["README.md"]


def test_the_command_says_what_is_wrong(tmp_path):
    command = [sys.executable, "-m", "lamella", "new"]
    for words, said in (
        (["op", "Loom"], "expected small letters"),
        (["layer", "x", "--folder", "/proc/none"], "/proc/none"),
    ):
        done = subprocess.run([*command, *words], cwd=tmp_path, capture_output=True, text=True, env={**os.environ})
        assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_the_backend_is_that_of_the_page(tmp_path):
    """docs/write_a_backend.md explains exactly the device with which a project begins."""
    new("backend", "yours", tmp_path)
    page = PAGE.read_text()
    for language, file in (("cpp", "yours.cpp"), ("json", "src/lamella_yours/lamella.json")):
        (text,) = re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        assert (tmp_path / file).read_text() == text, file
