"""Measures how strong the tests are: ``python tools/mutants.py`` plants small mistakes, and runs the suite with each.

A mutant changes one place: a comparison is off by one, a number is one larger, or a condition never holds. A fixed seed
chooses the places, so that two runs over the same sources have the same mutants, and two states of the tests can be
compared. All mutants are compiled into one build of a copy of the tree; the variable LAMELLA_MUTANT, read when a
library is loaded, switches one of them on. The suite runs with each until the first failure.

Without a mutant the suite must pass in that build. A mutant that no test notices is listed as alive: either a test is
missing, or the change means nothing (an array one element longer than it must be).
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SEED = 24
# For each part of the tree: the number of mutants, the files, and the folders of tests that are run first.
PARTS = {
    "kernels": (8, ["backends/cpu/*.cpp", "backends/cpu/isa/*.cpp"], "operators backends/cpu"),
    "shape rules": (5, ["operators/*.cpp"], "operators"),
    "dispatcher": (5, ["dispatcher/*.cpp"], "dispatcher operators plugins"),
    "engine": (3, ["plugins/autograd/graph/*.cpp", "plugins/autograd/record/*.cpp"], "plugins"),
    "binding": (3, ["frontend/binding/*.cpp"], "frontend operators"),
}
FOLDERS = "core dispatcher operators backends plugins frontend extensions faults".split()
# A header that each mutated file includes. A library reads the switch once, when it is loaded.
SWITCH = """#pragma once
#include <cstdlib>
namespace lamella_mutants {
static const int chosen = [] { const char* s = std::getenv("LAMELLA_MUTANT"); return s ? std::atoi(s) : 0; }();
}
#define LAMELLA_MUTANT(k) (::lamella_mutants::chosen == (k))
"""
COMPARISON = re.compile(r"(?<=[\w)\]]) (<|<=|>|>=|==|!=) (?=[\w(])")
NUMBER = re.compile(r"(?<= [-+*/] )([1-9]\d?)(?=[;,)\s])|(?<=return )([0-9]\d?)(?=;)|(?<== )([0-9]\d?)(?=;)")
CONDITION = re.compile(r"\bif \((?!constexpr)(?=[^;\n]*\) )")
# Lines without mutants: they are evaluated at compile time, or are comments, texts or declarations.
STATIC = re.compile(
    r"^\s*(//|#|\*|/\*|template|using|namespace|static_assert|case |enum|struct|class|constexpr|static const)"
    r"|constexpr|__builtin_expect|\"|<[A-Z]\w*>|operator|for \("
)


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int  # counted from 1
    column: int
    part: str
    before: str
    after: str  # {k} stands for the mutant's number

    def applied(self, text: str, k: int) -> str:
        return text[: self.column] + self.after.format(k=k) + text[self.column + len(self.before) :]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before.strip()} becomes {self.after.format(k='on').strip()}"


def mutants_of(part: str, name: str, text: str) -> list[Mutant]:
    """Returns a mutant for every place of a file, inside functions, that can be changed."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("  ") or STATIC.search(line):
            continue
        for m in COMPARISON.finditer(line):
            found.append(Mutant(name, number, m.start(), part, m[0], f"{m[0]}LAMELLA_MUTANT({{k}}) + "))
        for m in NUMBER.finditer(line):
            found.append(Mutant(name, number, m.start(), part, m[0], f"({m[0]} + LAMELLA_MUTANT({{k}}))"))
        for m in CONDITION.finditer(line):
            if "=" not in line.replace("==", "").replace("<=", "").replace(">=", "").replace("!=", ""):
                end = closing(line, m.end() - 1)
                if end:
                    inside = line[m.end() : end]
                    changed = f"if (!LAMELLA_MUTANT({{k}}) && ({inside}))".replace("{k}", "\0")
                    changed = changed.replace("{", "{{").replace("}", "}}").replace("\0", "{k}")
                    found.append(Mutant(name, number, m.start(), part, line[m.start() : end + 1], changed))
    return found


def closing(line: str, start: int) -> int:
    """Returns the index of the bracket that closes the one at ``start``; 0 if it is on another line."""
    depth = 0
    for i in range(start, len(line)):
        depth += (line[i] == "(") - (line[i] == ")")
        if depth == 0:
            return i
    return 0


def compiles(tree: Path, mutants: list[Mutant], commands: dict[str, str]) -> bool:
    """Returns whether a file with all of these mutants compiles, by the build's own command."""
    name = mutants[0].file
    plant(tree, mutants, dict.fromkeys(mutants, 1))
    command = commands.get(name)
    done = subprocess.run(f"{command} -fsyntax-only", shell=True, capture_output=True, cwd=tree / "build")
    shutil.copy(ROOT / name, tree / name)
    return command is not None and done.returncode == 0


def plant(tree: Path, mutants: list[Mutant], numbers: dict[Mutant, int]) -> None:
    """Writes a file with its mutants to the copy of the tree."""
    lines = (ROOT / mutants[0].file).read_text().splitlines()
    for m in sorted(mutants, key=lambda m: -m.column):
        lines[m.line - 1] = m.applied(lines[m.line - 1], numbers[m])
    (tree / mutants[0].file).write_text(f'#include "{tree}/mutants.h"\n#line 1\n' + "\n".join(lines) + "\n")


def chosen(tree: Path, commands: dict[str, str]) -> list[Mutant]:
    """Chooses mutants by the fixed seed, at most one for each file; all of them compile."""
    draw = random.Random(SEED)
    picked: list[Mutant] = []
    for part, (count, patterns, _) in PARTS.items():
        files = sorted(f for p in patterns for f in ROOT.glob(p) if str(f.relative_to(ROOT)) in commands)
        places = [m for f in files for m in mutants_of(part, str(f.relative_to(ROOT)), f.read_text())]
        draw.shuffle(places)
        kept: list[Mutant] = []
        for m in places:
            if len(kept) == count:
                break
            if all(m.file != other.file for other in kept) and compiles(tree, [m], commands):
                kept.append(m)
        picked += kept
    return picked


def compile_commands(build: Path) -> dict[str, str]:
    """Returns the compile command of each file, from ninja's database. Of commands for several instruction sets, the
    last."""
    import json

    done = subprocess.run(["ninja", "-C", build, "-t", "compdb"], capture_output=True, text=True, check=True)
    found = {}
    for entry in json.loads(done.stdout):
        file = Path(entry["directory"], entry["file"]).resolve()
        if file.suffix == ".cpp" and " -c " in entry["command"]:
            name = next((str(file.relative_to(p)) for p in file.parents if (p / "pyproject.toml").exists()), "")
            found[name] = re.sub(r" -o \S+| -M[TF] \S+| -MD\b", "", entry["command"])
    return found


def run(tree: Path, folders: list[str], k: int) -> tuple[bool, str, float]:
    """Runs folders of tests with mutant k; returns whether they pass, the first failure, and the seconds."""
    began = time.monotonic()
    command = [
        tree / ".venv/bin/python",
        "-m",
        "pytest",
        "-q",
        "-x",
        "-n",
        "auto",
        "--dist",
        "worksteal",
        "--no-header",
    ]
    environment = os.environ | {"LAMELLA_MUTANT": str(k), "OMP_WAIT_POLICY": "passive"}
    try:
        done = subprocess.run(
            [*command, *folders], cwd=tree / "tests", env=environment, capture_output=True, text=True, timeout=1800
        )
    except subprocess.TimeoutExpired:
        return False, "no end within half an hour", time.monotonic() - began
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    reason = failed[0] if failed else (done.stdout + done.stderr).strip().splitlines()[-1:][0]
    return done.returncode == 0, reason, time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=Path, help="a copy of the repository, built by `make build`, that is changed")
    parser.add_argument("--list", action="store_true", help="print the mutants and stop")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of mutants")
    parser.add_argument("--first", action="store_true", help="run only the folders that meet a mutant first")
    given = parser.parse_args()
    tree = given.tree.resolve()
    if tree == ROOT:
        sys.exit("mutants: pass a copy of the repository, since its sources are changed")
    (tree / "mutants.h").write_text(SWITCH)
    build = next((tree / "build").glob("cp*"))
    found = chosen(tree, compile_commands(build))
    numbers = {m: k for k, m in enumerate(found, 1)}
    for m, k in numbers.items():
        print(f"{k:3} {m.part:12} {m}", flush=True)
    if given.list:
        return
    for file in {m.file for m in found}:
        plant(tree, [m for m in found if m.file == file], numbers)
    subprocess.run(["make", "build"], cwd=tree, check=True)
    alive = []
    for m, k in numbers.items():
        if given.only and k not in given.only:
            continue
        first = PARTS[m.part][2].split()
        rest = [f for f in FOLDERS if f not in first]
        passed, reason, seconds = run(tree, first, k)
        if passed and not given.first:
            passed, reason, more = run(tree, rest, k)
            seconds += more
        print(f"{k:3} {'ALIVE' if passed else 'dead '} {seconds:6.0f} s  {'' if passed else reason}", flush=True)
        alive += [m] * passed
    print(f"{len(alive)} alive")
    for m in alive:
        print(f"    {m}")


if __name__ == "__main__":
    main()
