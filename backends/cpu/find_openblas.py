"""Prints the paths of OpenBLAS's library and licence, which the PyPI package scipy-openblas32 has, or nothing."""

from importlib.metadata import PackageNotFoundError, distribution

NAMES = ("libscipy_openblas.so", "LICENSE.txt")

try:
    files = distribution("scipy-openblas32").files or []
    paths = [next((f for f in files if f.name == name), None) for name in NAMES]
    print(";".join(str(p.locate().resolve()) for p in paths if p), end="")
except PackageNotFoundError:
    pass
