"""Prints the paths of oneDNN's library and licences as its PyPI package installed them, or nothing."""

from importlib.metadata import PackageNotFoundError, distribution

NAMES = ("libdnnl.so.3.2", "LICENSE", "THIRD-PARTY-PROGRAMS")

try:
    files = distribution("onednn-cpu-gomp").files or []
    paths = [next((f for f in files if f.name == name), None) for name in NAMES]
    print(";".join(str(p.locate().resolve()) for p in paths if p), end="")
except PackageNotFoundError:
    pass
