"""Prints the folder of nlohmann's JSON headers as their PyPI package installed them, or nothing."""

from importlib.metadata import PackageNotFoundError, distribution

try:
    files = distribution("nlohmann_json").files or []
    headers = [f for f in files if f.parts[-2:] == ("nlohmann", "json.hpp")]
    print(*(f.locate().resolve().parent.parent for f in headers[:1]), end="")
except PackageNotFoundError:
    pass
