"""Objects compiled once per instruction set share no symbol that a linker would merge: Note [Instruction sets]."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SETS = ("baseline", "v3", "v4")
MERGED = "WVu"  # nm's letters for weak and unique symbols that are defined

pytestmark = pytest.mark.skipif(not shutil.which("nm"), reason="nm is not installed: apt-get install binutils")


def merged_symbols(path):
    """Returns the symbols for which the linker would keep one copy for all objects that define them.

    `DW.ref.…` is left out: it holds the address of the routine that unwinds the stack, the same in every object.
    """
    lines = subprocess.run(["nm", "-C", path], check=True, capture_output=True, text=True).stdout.splitlines()
    symbols = [parts for line in lines if len(parts := line.split(None, 2)) == 3]
    return [name for _, letter, name in symbols if letter in MERGED and not name.startswith("DW.ref.")]


def objects(which):
    return sorted(ROOT.glob(f"build/cp*/backends/cpu/CMakeFiles/cpu_{which}.dir/isa/*.o"))


@pytest.mark.parametrize("which", SETS)
def test_no_symbol_is_merged(which):
    assert objects(which), "there are no objects to read: run `make build` in this folder"
    assert {path.name: found for path in objects(which) if (found := merged_symbols(path))} == {}


@pytest.mark.parametrize(
    "planted, found",
    [
        ("inline int f(int x) { return x + 1; }\nint (*g)(int) = f;", True),
        ("template <class T> T f(T x) { return x + 1; }\nint (*g)(int) = f<int>;", True),
        ("namespace { inline int f(int x) { return x + 1; } }\nint (*g)(int) = f;", False),
    ],
)
def test_a_planted_symbol_is_reported(planted, found, tmp_path):
    compiler = shutil.which("g++")
    if not compiler:
        pytest.skip("g++ is not installed: apt-get install g++")
    source, target = tmp_path / "planted.cpp", tmp_path / "planted.o"
    source.write_text(planted)
    subprocess.run([compiler, "-O2", "-c", source, "-o", target], check=True)
    assert bool(merged_symbols(target)) == found
