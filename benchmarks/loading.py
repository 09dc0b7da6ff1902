"""The time to build and load an extension, beside torch.utils.cpp_extension, each time in a fresh process.

A cold build has an empty cache of extensions, no ccache, no precompiled header, and a source that was not compiled
before. The time is that of ``load_inline``, with the import of the helper but not of the framework. An edited source is
loaded at once, while the helper precompiles its header in the background, and later, after that.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import Bound, Limit, Row, Sample, table

ROUNDS = 7  # a build by torch takes about twenty seconds
number = itertools.count(os.getpid() * 1000)  # makes sources unique

OPERATOR = {
    "lamella": """
static lamella::Tensor twice(const lamella::Tensor& self) { return self + self; }
LAMELLA_LIBRARY(timed, m) {
  m.def("twice(Tensor self) -> Tensor", twice);
}
""",
    "torch": """
static at::Tensor twice(const at::Tensor& self) { return self + self; }
TORCH_LIBRARY(timed, m) {
  m.def("twice(Tensor self) -> Tensor", twice);
}
""",
}
FUNCTION = "int add(int a, int b) { return a + b; }"
CHILD = """
import sys, time, {peer} as framework
start = time.perf_counter()
from {peer}.utils.cpp_extension import load_inline
got = load_inline("timed", sys.argv[1], {options})
took = time.perf_counter() - start
{check}
print(took)
"""
CHECKS = {
    "operator": "assert framework.ops.timed.twice(framework.tensor([1, 2])).tolist() == [2, 4]",
    "module": "assert got.add(1, 2) == 3",
}


def load(peer: str, kind: str, source: str, cache: Path, options: str = "") -> float:
    """Loads an extension in a fresh process; returns the seconds."""
    if not options:
        options = "functions=['add']" if kind == "module" else "is_python_module=False" if peer == "torch" else ""
    program = CHILD.format(peer=peer, options=options, check=CHECKS[kind])
    env = {**os.environ, "CCACHE_DISABLE": "1", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    env |= {"LAMELLA_EXTENSIONS_DIR": str(cache), "TORCH_EXTENSIONS_DIR": str(cache)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # byte code is kept, as for an installed package
    done = subprocess.run([sys.executable, "-c", program, source], capture_output=True, text=True, env=env)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return float(done.stdout.split()[-1])


def settle(cache: Path) -> None:
    """Waits until the header is precompiled, since that would take processor time from the next measurement."""
    end = time.monotonic() + 120
    while not list(cache.glob("precompiled/*/entry.json")):
        if time.monotonic() > end:
            raise RuntimeError("no header was precompiled in two minutes")
        time.sleep(0.05)


def rows() -> list[Row | Limit]:
    took: dict[str, dict[str, list[float]]] = {}

    def note(what: str, peer: str, seconds: float) -> None:
        took.setdefault(what, {}).setdefault(peer, []).append(seconds)

    for _ in range(ROUNDS):
        for peer, operator in OPERATOR.items():
            with tempfile.TemporaryDirectory() as folder:
                cache, source = Path(folder, "cache"), f"// {next(number)}{operator}"
                cache.mkdir(mode=0o700)
                note("an operator, cold", peer, load(peer, "operator", source, cache))
                note("the same, from the cache in a new process", peer, load(peer, "operator", source, cache))
                for edit in ("one line edited", "one line edited, later"):
                    line = f"static int edited() {{ return {next(number)}; }} static int use = edited();\n"
                    note(edit, peer, load(peer, "operator", source + line, cache))
                    if peer == "lamella":
                        settle(cache)
            if peer == "lamella":
                with tempfile.TemporaryDirectory() as folder:
                    cache, source = Path(folder, "cache"), f"// {next(number)}{OPERATOR['torch']}"
                    cache.mkdir(mode=0o700)
                    compat = "compat='torch'"
                    note("an operator in torch's words, cold", "compat", load(peer, "operator", source, cache, compat))
                    settle(cache)
            with tempfile.TemporaryDirectory() as folder:
                cache = Path(folder, "cache")
                cache.mkdir(mode=0o700)
                source = f"// {next(number)}\n{FUNCTION}"
                note("a function by pybind11, cold", peer, load(peer, "module", source, cache))
                if peer == "lamella":
                    settle(cache)
    most = {
        "an operator, cold": 0.1,
        "one line edited": 0.1,
        "one line edited, later": 0.1,
        "a function by pybind11, cold": 0.4,
    }
    made: list[Row | Limit] = []
    plain = took["an operator, cold"]["lamella"]
    words = {"compat": Sample(took.pop("an operator in torch's words, cold")["compat"]), "lamella": Sample(plain)}
    made.append(Row("an operator in torch's words, cold", words, [Bound("lamella", 1.5)], unit="s", ours="compat"))
    for what, by_peer in took.items():
        samples = {peer: Sample(seconds) for peer, seconds in by_peer.items()}
        bounds = [Bound("torch", most[what])] if what in most else []
        made.append(Row(what, samples, bounds, unit="s"))
        if "from the cache" in what:
            made.append(Limit("from the cache, over the import", samples["lamella"], 0.03, unit="s"))
    return made


def main() -> list[Row | Limit]:
    made = rows()
    print(table("Building and loading extensions, with load_inline", made), flush=True)
    return made


if __name__ == "__main__":
    sys.exit(not all(row.holds for row in main()))
