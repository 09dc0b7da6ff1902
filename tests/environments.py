"""Wheels built with pip and fresh environments to install them into, without network, from this machine's packages."""

import sys
import sysconfig
from pathlib import Path

from children import run

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")


def build_wheel(package, wheels):
    """A wheel of an example, or of any other folder given by its path."""
    options = ("-q", "--no-build-isolation", "--no-deps", "--no-index", "-w", wheels)
    run(*PIP, "wheel", *options, EXAMPLES / package, cwd=wheels)


def fresh_environment(folder):
    """An environment with packages of its own, which also sees those of the environment that runs the tests."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(run(folder / "bin/python", "-c", where, cwd=folder).strip())
    parents = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    (site / "parents.pth").write_text("".join(f"import site; site.addsitedir({p!r})\n" for p in parents))
    return str(folder / "bin/python")
