"""Describes the machine and the programs on it, for reports of faults: ``python -m lamella.utils.collect_env``."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from typing import NamedTuple

__all__ = ["SystemEnv", "get_env_info", "get_pretty_env_info", "main"]

PACKAGES = ("lamella", "numpy", "scipy", "optree", "onnx", "torch", "flake8", "mypy")  # beginnings of names
SECONDS = 20.0  # the longest time that a program may take to print its version


class SystemEnv(NamedTuple):
    """The facts of a report; one that could not be found is None.

    >>> lamella.utils.collect_env.get_env_info().lamella_version == lamella.__version__
    True
    """

    lamella_version: str | None
    plugins: list[str] | None
    os: str | None
    gcc_version: str | None
    clang_version: str | None
    cmake_version: str | None
    libc_version: str | None
    python_version: str | None
    python_platform: str | None
    is_cuda_available: str | None
    nvidia_driver_version: str | None
    nvidia_gpu_models: str | None
    cpu_info: str | None
    threads: str | None
    pip_packages: list[str] | None


def run(command: Sequence[str]) -> str | None:
    """Returns what a program prints; None if it is not there or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _match(pattern: str, text: str | None) -> str | None:
    found = re.search(pattern, text or "")
    return found[1] if found else None


def get_os() -> str:
    """Returns the system's name and version, and the kind of processor."""
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        name = f"{platform.system()} {platform.release()}"
    return f"{name} ({platform.machine()})"


def get_cpu_info() -> str | None:
    """Returns what ``lscpu`` prints; without that program, the first processor's name and the number of them."""
    if listed := run(["lscpu"]):
        return listed
    try:
        with open("/proc/cpuinfo") as file:
            name = _match(r"model name\s*: (.*)", file.read())
    except OSError:
        name = platform.processor() or None
    return f"{name}, {os.cpu_count()} processors"


def get_pip_packages() -> list[str]:
    """Returns the installed packages that belong to Lamella or that it works with, as ``name==version``."""
    found = {(d.metadata["Name"] or "").lower(): d.version for d in metadata.distributions()}
    return sorted(f"{name}=={version}" for name, version in found.items() if name.startswith(PACKAGES))


def get_env_info() -> SystemEnv:
    """Returns the facts of the report.

    >>> import platform
    >>> lamella.utils.collect_env.get_env_info().python_version.split()[0] == platform.python_version()
    True
    """
    import lamella

    smi = run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    gpus = [line.rsplit(", ", 1) for line in (smi or "").splitlines() if ", " in line]
    threads = f"{lamella.get_num_threads()} of {os.cpu_count()}"
    return SystemEnv(
        lamella_version=lamella.__version__,
        plugins=[f"{p.name} {p.version}: {p.state}" for p in lamella.plugins.manager.plugins],
        os=get_os(),
        gcc_version=_match(r"gcc (.*)", run(["gcc", "--version"])),
        clang_version=_match(r"clang version (.*)", run(["clang", "--version"])),
        cmake_version=_match(r"cmake version (.*)", run(["cmake", "--version"])),
        libc_version="-".join(platform.libc_ver()) or None,
        python_version=f"{sys.version} ({sys.maxsize.bit_length() + 1}-bit runtime)",
        python_platform=platform.platform(),
        is_cuda_available=str(lamella.cuda.is_available()),
        nvidia_driver_version=gpus[0][1] if gpus else None,
        nvidia_gpu_models="\n".join(f"GPU {n}: {name}" for n, (name, _) in enumerate(gpus)) or None,
        cpu_info=get_cpu_info(),
        threads=threads,
        pip_packages=get_pip_packages(),
    )


LINES = {
    "lamella_version": "Lamella version",
    "plugins": "Plugins",
    "os": "\nOS",
    "gcc_version": "GCC version",
    "clang_version": "Clang version",
    "cmake_version": "CMake version",
    "libc_version": "Libc version",
    "python_version": "\nPython version",
    "python_platform": "Python platform",
    "is_cuda_available": "Is CUDA available",
    "nvidia_driver_version": "NVIDIA driver version",
    "nvidia_gpu_models": "GPU models and configuration",
    "threads": "Threads",
    "cpu_info": "\nCPU",
    "pip_packages": "\nVersions of relevant packages",
}


def pretty_str(envinfo: SystemEnv) -> str:
    """Returns the facts as text, a line for each."""
    lines = []
    for name, title in LINES.items():
        value = getattr(envinfo, name)
        if isinstance(value, list):
            value = "\n" + "\n".join(f"  {line}" for line in value) if value else "none"
        elif value and "\n" in value:
            value = "\n" + value
        lines.append(f"{title}: {'could not be found' if value is None else value}")
    return "\n".join(lines).lstrip()


def get_pretty_env_info() -> str:
    """Returns the report as text.

    >>> lamella.utils.collect_env.get_pretty_env_info().startswith(f"Lamella version: {lamella.__version__}")
    True
    """
    return pretty_str(get_env_info())


def main() -> None:
    """Prints the report.

    >>> lamella.utils.collect_env.main()
    Lamella version: ...
    """
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
