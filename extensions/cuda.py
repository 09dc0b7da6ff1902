"""Finds CUDA's compiler nvcc, of the machine or of PyPI, and its flags; an error names a missing part of it.

A build needs no GPU. The runtime is linked statically, so that an extension needs no library of CUDA except the driver.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .errors import MissingTool
from .toolchain import Compiler

ADVICE = (
    "install CUDA's toolkit and set CUDA_HOME, or `pip install nvidia-cuda-nvcc`, which brings nvcc and the headers"
    " that it needs"
)


@dataclass(frozen=True)
class Cuda:
    """An nvcc with the folders of its toolkit."""

    nvcc: str
    home: Path
    version: str  # the output of nvcc --version

    @staticmethod
    def find() -> Cuda:
        """Returns the nvcc of ``CUDA_HOME`` or ``CUDA_PATH``; if neither is set, the one on PATH, else the one of
        PyPI's nvidia-cuda-nvcc.

        Raises:
            MissingTool: there is no nvcc, the variable's folder has none, or a part of its toolkit is missing
        """
        home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
        return inspect(find_nvcc(home, os.environ.get("PATH", os.defpath)))

    @property
    def include_paths(self) -> list[str]:
        return [str(self.home / "include")]

    @property
    def library_paths(self) -> list[str]:
        return [str(p) for p in (self.home / "lib64", self.home / "lib") if p.is_dir()][:1]

    def link_flags(self) -> list[str]:
        if not any((Path(p) / "libcudart_static.a").exists() for p in self.library_paths):
            raise MissingTool(f"there is no libcudart_static.a in {self.home}/lib64 or lib: {ADVICE}")
        return [*(f"-L{p}" for p in self.library_paths), "-lcudart_static", "-lrt", "-lpthread", "-ldl"]

    def compile_flags(self, host: Compiler, flags: Sequence[str], std: str, extra: Sequence[str]) -> list[str]:
        """Returns nvcc's flags. Of ``flags``, includes, defines and -O are passed to nvcc itself, flags that begin with
        -f or -g to the host's compiler, and others to neither. ``extra`` is passed to nvcc."""
        own = [f for f in flags if f.startswith(("-I", "-D", "-U", "-O"))]
        for option in ("-isystem", "-include"):
            own += [f"{option}={f.removeprefix(option)}" for f in flags if f.startswith(option)]
        passed = [f for f in flags if f.startswith(("-f", "-g"))]
        through = [word for f in passed for word in ("-Xcompiler", f)]
        launched = Path(host.command[0]).name == "ccache" and len(host.command) > 1
        return ["-ccbin", host.command[launched], f"-std={std}", *own, *through, *extra]

    def identity(self, host: Compiler) -> str:
        return f"{self.nvcc}\n{self.version}\n{host.identity}"


def find_nvcc(home: str | None, path: str) -> str:
    if home:
        if found := shutil.which("nvcc", path=os.path.join(home, "bin")):
            return found
        variable = "CUDA_HOME" if os.environ.get("CUDA_HOME") else "CUDA_PATH"
        raise MissingTool(f"{variable} is {home}, and there is no nvcc in its bin: {ADVICE}")
    if found := shutil.which("nvcc", path=path):
        return found
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for place in sorted(Path(folder).glob("*/bin"), reverse=True):
            if found := shutil.which("nvcc", path=str(place)):
                return found
    raise MissingTool(f"CUDA sources need nvcc, which is not in CUDA_HOME, on PATH or among the packages: {ADVICE}")


@cache
def inspect(nvcc: str) -> Cuda:
    """Reads the toolkit's folder from nvcc's output, since the program may be a script that calls another nvcc."""
    said = subprocess.run([nvcc, "--version"], capture_output=True, text=True)
    nothing = ["-x", "cu", "-c", os.devnull, "-o", os.devnull]
    plan = subprocess.run([nvcc, "--dryrun", *nothing], capture_output=True, text=True)
    top = re.search(r"^#\$ TOP=(.+)$", plan.stdout + plan.stderr, re.MULTILINE)
    if said.returncode or not top:
        raise MissingTool(f"{nvcc} does not run: {(said.stderr or plan.stderr).strip()[-500:]}")
    home = Path(os.path.realpath(top[1].strip()))
    needed = {
        "include/cuda_runtime.h": "nvidia-cuda-runtime",
        "include/crt/host_config.h": "nvidia-cuda-crt",
        "nvvm/bin/cicc": "nvidia-nvvm",
    }
    for file, package in needed.items():
        if not (home / file).exists():
            raise MissingTool(f"the CUDA of {nvcc} has no {file}: `pip install {package}`, or {ADVICE}")
    return Cuda(nvcc, home, said.stdout)
