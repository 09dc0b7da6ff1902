"""Prints the path of oneDNN's library as its PyPI package installed it, or nothing."""

from importlib.metadata import PackageNotFoundError, distribution

try:
    files = distribution("onednn-cpu-gomp").files or []
    found = [f for f in files if f.name == "libdnnl.so.3.2"]
    print(found[0].locate().resolve() if found else "")
except PackageNotFoundError:
    print("")
