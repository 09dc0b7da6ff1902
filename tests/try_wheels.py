"""Installs each wheel of a folder into a fresh environment and uses it, with no compiler on PATH: try_wheels.py FOLDER.

No file of a wheel may carry a path of the machine that built it.
Requirements of a wheel are installed as wheels: Lamella's packages from the folder, others from the index. Before that,
the wheels of two pages are built as a reader of the documentation would, isolated and so without Lamella.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pages import ROOT, blocks, write_files

SETUPTOOLS, CMAKE = "docs/build_an_extension.md", "docs/add_an_operator.md"
PAGES = {"mine": SETUPTOOLS, "lamella_softsign": CMAKE}
HEADERS = """
import lamella_headers, pathlib, subprocess, sys
print(*sorted(file.name for file in pathlib.Path(lamella_headers.cmake_path()).iterdir()))
flags = subprocess.run([sys.executable, "-m", "lamella_headers", "--includes"], capture_output=True, text=True).stdout
print((pathlib.Path(flags.strip().removeprefix("-I")) / "lamella/extension.h").exists())
"""
USES = {
    "lamella": ((), "import lamella; print((lamella.ones(2, 3) @ lamella.ones(3, 2)).sum().item())", "12.0"),
    "lamella_headers": ((), HEADERS, "LamellaConfig.cmake LamellaConfigVersion.cmake\nTrue"),
    "lamella_flops": (
        ("lamella",),
        "import lamella; from lamella_flops import native\n"
        "with native.on(): lamella.ones(2, 3) @ lamella.ones(3, 4)\n"
        "print(native.counts())",
        "{'aten::mm': 48}",
    ),
    "lamella_bank": (
        ("lamella",),
        "import lamella; print((lamella.ones(2, device='bank:1') + 1).to('cpu').tolist())",
        "[2.0, 2.0]",
    ),
    "lamella_numpy": (
        ("lamella",),
        "import lamella; print((lamella.ones(2, device='numpy') + 1).to('cpu').tolist())",
        "[2.0, 2.0]",
    ),
    "lamella_packed": (
        ("lamella",),
        "import lamella; print(lamella.ones(1, 64).pack_int4().tolist()[0][:2])",
        "[1.0, 1.0]",
    ),
    "lamella_nf4": (
        ("lamella",),
        "import lamella; print(lamella.quantize_per_tensor(lamella.ones(2), 3.0, 0, 'nf4').int_repr().tolist())",
        "[11, 11]",
    ),
    "lamella_fp8_blocks": (
        ("lamella",),
        "import lamella; print(lamella.quantize_per_tensor(lamella.ones(2), 0.5, 0, 'fp8_e4m3').tolist())",
        "[1.0, 1.0]",
    ),
    "mine": (("lamella",), blocks(SETUPTOOLS, "python")[-1], "tensor([3, 6])"),
    "lamella_softsign": (("lamella",), blocks(CMAKE, "python")[-1], blocks(CMAKE, "text")[0].strip()),
}


def name_of(wheel: Path) -> str:
    return wheel.name.partition("-")[0]


def built(page: str, wheels: Path, folder: Path) -> Path:
    """Builds the wheel of the package on a page; the build gets its requirements from the wheels and the index."""
    folder.mkdir()
    write_files(page, folder)
    command = [sys.executable, "-m", "build", "--wheel"]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"PIP_FIND_LINKS": str(wheels)}
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"{page}: its package is not built\n{run.stdout}{run.stderr}")
    [wheel] = (folder / "dist").glob("*.whl")
    return wheel


def attempt(wheel: Path, wheels: dict[str, Path], folder: Path) -> str:
    """Returns "" if the wheel works, else a description of the failure."""
    with_, program, expected = USES[name_of(wheel)]
    environment = {"PATH": str(folder / "bin"), "HOME": str(folder), "LANG": "C.UTF-8"}
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    files = [wheel, *(wheels[other] for other in with_)]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "-q"]
    subprocess.run([*pip, "--only-binary", ":all:", *files], check=True, cwd=folder)
    for compiler in ("c++", "g++", "gcc", "cc", "clang++", "clang"):
        assert shutil.which(compiler, path=environment["PATH"]) is None
    run = subprocess.run([python, "-c", program], capture_output=True, text=True, cwd=folder, env=environment)
    if run.returncode or run.stdout.strip() != expected:
        return f"it ends with {run.returncode}; expected {expected}\n{run.stdout}{run.stderr}"
    return ""


def paths_in(wheel: Path, *folders: Path) -> list[str]:
    """Returns the files of a wheel that carry a path of the machine that built it: one of the folders, the environment
    of this Python, or that of an isolated build."""
    named = [re.escape(f"{folder}/".encode()) for folder in (*folders, sys.prefix)]
    pattern = re.compile(b"|".join([*named, rb"/(pip-)?build-env-\w"]))
    with zipfile.ZipFile(wheel) as file:
        return [name for name in file.namelist() if pattern.search(file.read(name))]


def main() -> int:
    folder = Path(sys.argv[1]).absolute()
    wheels = {name_of(w): w for w in sorted(folder.glob("*.whl"))}
    ours = [name for name in USES if name not in PAGES]
    if set(wheels) != set(ours):
        print(f"expected wheels of {', '.join(ours)}; found {', '.join(wheels) or 'none'}")
        return 1
    bad = 0
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(os.cpu_count()) as pool:
        pages = {name: pool.submit(built, page, folder, Path(work, name)) for name, page in PAGES.items()}
        wheels |= {name: page.result() for name, page in pages.items()}
        troubles = pool.map(lambda name: attempt(wheels[name], wheels, Path(work, f"{name}_venv")), wheels)
        for wheel, trouble in zip(wheels.values(), troubles, strict=True):
            if carried := paths_in(wheel, ROOT, Path(work)):
                trouble += f"it carries paths of this machine: {', '.join(carried)}"
            print(f"{wheel.name}: {trouble or 'works'}")
            bad += bool(trouble)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
