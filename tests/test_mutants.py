"""The tool that plants mistakes: a mutant changes the computation only if its number is chosen."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
import mutants  # noqa: E402

SOURCE = """#include <cstdio>
int f(int a, int b) {
  if (a > 100) return 7;
  const bool less = a < b;
  return less ? a + 2 : b;
}
int main() { std::printf("%d %d %d", f(200, 1), f(1, 1), f(1, 5)); }
"""
EXPECTED = {"if (a > 100)": "1 1 3", " > ": "7 1 3", " < ": "7 3 3", "2": "7 1 4", "7": "8 1 3"}


def ran(program, number):
    env = os.environ | {"LAMELLA_MUTANT": str(number), "LD_PRELOAD": ""}
    return subprocess.run([program], env=env, capture_output=True, text=True, check=True).stdout


def test_each_mutant_changes_one_thing_when_it_is_chosen(tmp_path):
    found = mutants.mutants_of("kernels", "f.cpp", SOURCE)
    assert {m.before for m in found} == set(EXPECTED)
    (tmp_path / "mutants.h").write_text(mutants.SWITCH)
    for k, m in enumerate(found, 1):
        lines = SOURCE.splitlines()
        lines[m.line - 1] = m.applied(lines[m.line - 1], k)
        file, program = tmp_path / f"f{k}.cpp", tmp_path / f"f{k}"
        file.write_text('#include "mutants.h"\n' + "\n".join(lines))
        subprocess.run(["g++", "-std=c++20", file, "-o", program], check=True, env=os.environ | {"LD_PRELOAD": ""})
        assert ran(program, 0) == "7 1 3", str(m)
        assert ran(program, k) == EXPECTED[m.before], str(m)


def test_what_is_computed_at_compile_time_is_left_alone():
    static = "  static_assert(a < b);\n  constexpr int n = 3;\n  template <int N = 1>\n  // a < b\n"
    assert mutants.mutants_of("kernels", "f.cpp", static) == []


def test_a_seed_finds_the_same_places_again():
    """Each part of the tree's sources has more places than mutants."""
    for part, (count, patterns, _) in mutants.PARTS.items():
        texts = {str(f): f.read_text() for p in patterns for f in sorted(mutants.ROOT.glob(p))}
        assert len(texts) >= count and sum(len(mutants.mutants_of(part, n, t)) for n, t in texts.items()) > 10 * count
