"""A fresh environment with both example packages, built as wheels and installed with pip, and tiny packages for faults."""

import os
import subprocess
import sys
import sysconfig
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")


def clean_environment(**changes):
    """The environment variables for a child: nothing of ours but what the test says; tools beside this Python are found."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("LATTIS_") and k != "PYTHONPATH"}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env.get('PATH', os.defpath)}"
    return env | changes


def run(*command, cwd, **env):
    done = subprocess.run(command, cwd=cwd, env=clean_environment(**env), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command[:4]} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@dataclass
class Guest:
    """A Python with its packages, which runs programs in child processes in a folder of its own."""

    python: str
    folder: Path
    env: dict = field(default_factory=dict)

    def run(self, program, *arguments, **env):
        """Runs a program and returns what it printed; it must end well."""
        return run(self.python, "-c", textwrap.dedent(program), *arguments, cwd=self.folder, **(self.env | env))

    def table(self, **env):
        """What `lattis plugins` prints."""
        return run(self.python, "-m", "lattis.cli", "plugins", cwd=self.folder, **(self.env | env))


def build_wheel(package, wheels):
    run(*PIP, "wheel", "-q", "--no-build-isolation", "--no-deps", "--no-index", "-w", wheels, EXAMPLES / package, cwd=wheels)


def fresh_environment(folder):
    """An environment that sees the packages of the one that runs the tests, behind its own."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    site = Path(run(folder / "bin/python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    parents = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    (site / "parents.pth").write_text("".join(f"import site; site.addsitedir({p!r})\n" for p in parents))
    return str(folder / "bin/python")


@pytest.fixture(scope="session")
def guest(tmp_path_factory):
    """The environment with lattis-flops and lattis-bank installed."""
    root = tmp_path_factory.mktemp("guest")
    wheels = root / "wheels"
    wheels.mkdir()
    for package in ("layer_plugin", "backend_plugin"):
        build_wheel(package, wheels)
    python = fresh_environment(root / "venv")
    names = ("lattis-flops", "lattis-bank")
    install = ("install", "-q", "--no-deps", "--no-index", "--force-reinstall", "--find-links", wheels, *names)
    run(*PIP, "--python", python, *install, cwd=root)
    return Guest(python, root)


@pytest.fixture
def host(tmp_path):
    """The Python that runs the tests, in an empty folder."""
    return Guest(sys.executable, tmp_path)


@pytest.fixture
def packages(host, tmp_path):
    """Makes tiny packages: ``packages(name, code)`` puts one beside others where ``host`` finds it, entry point included."""

    def make(name, code, *, group="lattis.plugins", manifest=None):
        module = "tiny_" + name.replace("-", "_")
        package = tmp_path / "packages" / module
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(textwrap.dedent(code))
        if manifest is not None:
            (package / "lattis.json").write_text(manifest)
        info = package.with_name(f"{module}-1.2.dist-info")
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tiny-{name}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {module}\n")
        host.env["PYTHONPATH"] = str(package.parent)
        return package

    return make
