"""Installs each wheel of a folder into a fresh environment and uses it, with no compiler on PATH: try_wheels.py FOLDER.

What a wheel of ours needs of ours is taken from the folder, the rest from the index, as wheels.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

USES = {
    "lattis": ((), "import lattis; print((lattis.ones(2, 3) @ lattis.ones(3, 2)).sum().item())", "12.0"),
    "lattis_headers": ((), "from lattis_headers.config import root; print((root() / 'cmake').exists())", "True"),
    "lattis_flops": (
        ("lattis",),
        "import lattis; from lattis_flops import native\n"
        "with native.on(): lattis.ones(2, 3) @ lattis.ones(3, 4)\n"
        "print(native.counts())",
        "{'aten::mm': 48}",
    ),
    "lattis_bank": (
        ("lattis",),
        "import lattis; print((lattis.ones(2, device='bank:1') + 1).to('cpu').tolist())",
        "[2.0, 2.0]",
    ),
    "lattis_numpy": (
        ("lattis",),
        "import lattis; print((lattis.ones(2, device='numpy') + 1).to('cpu').tolist())",
        "[2.0, 2.0]",
    ),
}


def attempt(wheel: Path, wheels: dict[str, Path], folder: Path) -> str:
    """Empty if the wheel works, else what happened."""
    name = wheel.name.partition("-")[0]
    with_, program, expected = USES[name]
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


def main() -> int:
    wheels = {w.name.partition("-")[0]: w for w in sorted(Path(sys.argv[1]).absolute().glob("*.whl"))}
    if set(wheels) != set(USES):
        print(f"expected wheels of {', '.join(USES)}; found {', '.join(wheels) or 'none'}")
        return 1
    bad = 0
    for wheel in wheels.values():
        with tempfile.TemporaryDirectory() as folder:
            trouble = attempt(wheel, wheels, Path(folder))
        print(f"{wheel.name}: {trouble or 'works'}")
        bad += bool(trouble)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
