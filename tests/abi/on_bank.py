"""Builds the programs that check a device, the example device ``bank``, and copies of it with one planted defect."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lamella
from compiled import INCLUDE
from shares import share

PACKAGE = Path(lamella._C.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "examples/backend_plugin/src"
AUTOGRAD = [PACKAGE / "plugins/autograd/liblamella_autograd.so"] if hasattr(lamella, "autograd") else []
CPU = PACKAGE / "backends/cpu/liblamella_cpu.so"
CXX = ("g++", "-std=c++17", "-O0", "-fPIC", "-fwrapv", "-pthread", "-I", str(INCLUDE))
LINK = (f"-L{PACKAGE}", "-l:liblamella.so", f"-Wl,-rpath,{PACKAGE}")
OWNER = "-DLAMELLA_EXTENSION_NAME=lamella_bank"


def run(*command, **options):
    """Runs a command and returns its output and exit status."""
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)


def compiled(*command):
    """Runs the compiler; fails if it fails."""
    done = run(*CXX, *command)
    assert done.returncode == 0, done.stderr


PROGRAMS = [Path(__file__).with_name(f"{name}.cpp") for name in ("order", "contracts")]


def build_program(source, folder):
    compiled("-std=c++20", source, "-I", ROOT / "tests/cpp", *LINK, "-o", folder / source.stem)


def build(folder):
    """Compiles the programs, an object for each source of ``bank``, and the library of ``bank``."""

    def part(source):
        compiled(OWNER, "-c", source, "-o", folder / f"{source.stem}.o")

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = [pool.submit(build_program, p, folder) for p in PROGRAMS] + [
            pool.submit(part, p) for p in SOURCES.glob("*.cpp")
        ]
        for each in made:
            each.result()
    compiled("-shared", *folder.glob("*.o"), "-o", folder / "bank.so")


def unnoticed(built, tmp_path, planted, tried):
    """Plants the defects of the run's share, and returns those that no program reported. ``planted`` maps a defect's
    name to its file, the text to replace, the replacement, and the expected report. ``tried`` runs the program on a
    device's library."""

    def broken(what):
        name, there, instead, report = planted[what]
        text = (SOURCES / name).read_text()
        assert text.count(there) == 1, what
        folder = tmp_path / str(list(planted).index(what))
        folder.mkdir()
        (folder / name).write_text(text.replace(there, instead))
        compiled(OWNER, "-I", SOURCES, "-c", folder / name, "-o", folder / "changed.o")
        others = [f for f in built.glob("*.o") if f.stem != Path(name).stem]
        compiled("-shared", *others, folder / "changed.o", "-o", folder / "bank.so")
        for _ in range(3):  # an unlucky timing may hide the defect
            done = tried(folder / "bank.so")
            if done.returncode != 0 and report in done.stderr:
                return what, True, ""
        return what, False, done.stderr

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [(what, said) for what, noticed, said in pool.map(broken, share(list(planted))) if not noticed]
