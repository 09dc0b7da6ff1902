"""Builds wheels with pip and makes fresh environments for them, without network, from this machine's packages."""

import sys
import sysconfig
from pathlib import Path

from children import run

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")


def build_wheel(package, wheels):
    """Builds the wheel of an example, or of a folder given by its path."""
    options = ("-q", "--no-build-isolation", "--no-deps", "--no-index", "-w", wheels)
    run(*PIP, "wheel", *options, EXAMPLES / package, cwd=wheels)


def fresh_environment(folder):
    """Makes an environment with its own packages that also sees those of the tests' environment; returns its Python."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(run(folder / "bin/python", "-c", where, cwd=folder).strip())
    parents = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    (site / "parents.pth").write_text("".join(f"import site; site.addsitedir({p!r})\n" for p in parents))
    return str(folder / "bin/python")
