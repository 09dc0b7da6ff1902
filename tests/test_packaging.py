"""The package as a user gets it: stubs that match, a light import, and clear errors if the build lacks a tool."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOLS = f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r})"


def run(code: str, **env: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **env})


@pytest.mark.needs("autograd")
@pytest.mark.parametrize(
    ("file", "made"),
    [
        ("_C.pyi", "native_stub()"),
        ("__init__.pyi", "package_stub()"),
        ("distributions/__init__.pyi", "lazy_stub('distributions')"),
        ("optim/__init__.pyi", "lazy_stub('optim')"),
        ("fft.pyi", "module_stub('fft')"),
        ("linalg.pyi", "module_stub('linalg')"),
        ("special.pyi", "module_stub('special')"),
    ],
)
def test_stubs_are_those_of_the_registry(file, made):
    code = f"{TOOLS}; import stubs; print(stubs.{made}, end='')"
    fresh = run(code)  # a new process, since other tests have registered operators
    assert (ROOT / "frontend/lamella" / file).read_text() == fresh.stdout, "run `make stubs`"


def test_the_operators_for_cpp_are_those_of_the_registry():
    code = f"{TOOLS}; import json, cpp_stubs; print(json.dumps(cpp_stubs.files()))"
    for name, text in json.loads(run(code).stdout).items():
        assert (ROOT / "extensions/include/lamella" / name).read_text() == text, "run `make stubs`"


def test_import_brings_nothing_heavy():
    code = (
        "import sys, lamella; print([m for m in ('numpy', 'rich', 'argparse', 'torch', 'scipy') if m in sys.modules])"
    )
    assert run(code).stdout.strip() == "[]"
    mapped = run("import lamella; print('libdnnl' in open('/proc/self/maps').read())").stdout.strip()
    assert mapped == "False"


def test_dir_imports_nothing():
    code = (
        "import sys, lamella; before = set(sys.modules); dir(lamella); dir(lamella.Tensor);"
        " print(sorted(set(sys.modules) - before))"
    )
    assert run(code).stdout.strip() == "[]"


def test_product_loads_onednn():
    product = "import lamella; lamella.mm(lamella.ones(256, 256), lamella.ones(256, 256))"
    code = product + "; print('libdnnl' in open('/proc/self/maps').read())"
    assert run(code).stdout.strip() == "True"


def test_version_is_that_of_the_distribution():
    from importlib.metadata import version

    import lamella

    assert lamella.__version__ == version("lamella")


@pytest.fixture
def tools(tmp_path):
    """Returns a folder for PATH with cmake and ninja but no compiler."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("cmake", "ninja", "sh", "uname"):
        found = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        assert found, name
        script = folder / name  # a script, not a link, since cmake looks for its data beside itself
        script.write_text(f'#!{shutil.which("sh")}\nexec "{found}" "$@"\n')
        script.chmod(0o755)
    return folder


def configure(tools: Path, build: Path, *options: str) -> tuple[str, float]:
    start = time.monotonic()
    command = [shutil.which("cmake", path=str(tools)), "-S", str(ROOT), "-B", str(build), "-G", "Ninja", *options]
    env = {k: v for k, v in os.environ.items() if k not in ("CXX", "CC")} | {"PATH": str(tools)}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode != 0
    return " ".join(done.stderr.split()), time.monotonic() - start


def test_without_a_compiler_the_build_names_the_package(tools, tmp_path):
    text, seconds = configure(tools, tmp_path / "build", f"-DPython_EXECUTABLE={sys.executable}")
    assert "apt-get install g++" in text
    assert seconds < 10


def test_without_headers_the_build_names_the_package(tools, tmp_path):
    for name in ("g++", "c++", "as", "ld", "ar", "ranlib", "nm", "strip", "objdump", "objcopy"):
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    build = tmp_path / "build"
    empty = tmp_path / "include"
    empty.mkdir()
    text, seconds = configure(tools, build, f"-DPython_EXECUTABLE={sys.executable}", f"-DPython_INCLUDE_DIR={empty}")
    assert "apt-get install python3-dev" in text
    assert seconds < 10


def command_line(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "lamella.cli", *words], capture_output=True, text=True)


def test_info_has_what_a_bug_report_needs():
    text = command_line("info").stdout
    for word in ("lamella", "compiler", "instruction set", "threads", "oneDNN", "cpu", "loaded"):
        assert word in text, word


def test_ops_show_prints_the_table_with_owners():
    text = command_line("ops", "show", "add.Tensor").stdout
    assert "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor" in text
    assert "device     cpu              cpu" in text
    unknown = command_line("ops", "show", "nonesuch")
    assert unknown.returncode == 1 and "no operator nonesuch" in unknown.stderr
    assert "aten::mm(Tensor self, Tensor mat2) -> Tensor" in command_line("ops", "list").stdout
