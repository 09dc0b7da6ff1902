"""Compiles recorded programs with NVIDIA's NVRTC to machine code: many programs in one, since each costs a start.

The stand-in records the text of every program that it compiles (``STANDIN_RECORD``); this module compiles these texts.
"""

from __future__ import annotations

import ctypes
import importlib.util
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Recorded:
    """A program: the file that it is named after, the functions that it must have, its options and its text."""

    file: str
    names: tuple[str, ...]
    options: tuple[str, ...]
    text: str

    @staticmethod
    def read(path: Path) -> Recorded:
        file, names, options, text = path.read_text().split("\n", 3)
        return Recorded(file, tuple(filter(None, names.split("\t"))), tuple(filter(None, options.split("\t"))), text)

    @property
    def own_options(self) -> tuple[str, ...]:
        """The options without the device's architecture. One for its own instructions, "-arch=sm_90a", stays."""
        return tuple(o for o in self.options if not o.startswith("-arch") or o.endswith("a"))


def find_library() -> str | None:
    """The NVRTC of NVIDIA's wheel, or None."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted(Path(root).glob("*/lib/libnvrtc.so.1[2-9]")):
            return str(path)
    return None


def together(programs: list[Recorded]) -> list[tuple[Recorded, list[Recorded]]]:
    """Joins programs of one file with the same options. Returns each joined program with the programs in it."""
    groups: dict[tuple[str, tuple[str, ...], str], list[Recorded]] = defaultdict(list)
    for p in programs:
        fixed = "struct Op {" not in p.text
        groups[p.file, p.own_options, p.text if fixed else ""].append(p)
    made = []
    for (file, options, text), members in groups.items():
        if text:
            made.append((Recorded(file, tuple(n for m in members for n in m.names), options, text), members))
            continue
        for start in range(0, len(members), 64):
            part = members[start : start + 64]
            texts = [re.sub(r"\bOp\b(?=[ ({;])", f"Op{i}", m.text) for i, m in enumerate(part)]
            names = [re.sub(r"\bOp\b", f"Op{i}", n) for i, m in enumerate(part) for n in m.names]
            made.append((Recorded(file, tuple(names), options, "\n".join(texts)), part))
    return made


@dataclass(frozen=True)
class Launch:
    """The needs of a kernel's launch: threads of a block, and bytes of its shared memory. `room` is the bytes of shared
    memory that the device has for a block."""

    threads: int
    shared: int
    room: int


def launches(folder: Path) -> dict[str, set[Launch]]:
    """Returns the launches that the stand-in has recorded in all processes, by the names of kernels."""
    found: dict[str, set[Launch]] = defaultdict(set)
    for path in folder.glob("launches.*"):
        for line in path.read_text().splitlines():
            name, *numbers = line.split("\t")
            found[name].add(Launch(*map(int, numbers)))
    return found


@dataclass(frozen=True)
class Resources:
    """The needs of a kernel: registers of a thread, bytes of shared memory of a block beside those of its launch, and
    the most threads of a block for which the kernel was compiled."""

    registers: int
    shared: int
    threads: int

    def refusals(self, launch: Launch) -> list[str]:
        """Returns why devices refuse the launch. Registers are given to four warps at a time, in eights a thread."""
        warps, found = -(-launch.threads // 128) * 4, []
        if warps * 32 * -(-self.registers // 8) * 8 > 65536:
            found.append(f"{launch.threads} threads of {self.registers} registers are more than a block's 65536")
        if launch.threads > self.threads:
            found.append(f"{launch.threads} threads are more than its __launch_bounds__, {self.threads}")
        # Only a launch's own share makes the backend allow a block more than 48 KiB.
        room = 48 << 10 if launch.shared <= 48 << 10 else launch.room
        if self.shared + launch.shared > room:
            found.append(f"{self.shared} and {launch.shared} bytes of shared memory are more than {room}")
        return found


@dataclass(frozen=True)
class Compiled:
    """Machine code, empty if a program does not compile, the compiler's log, and the resources of the functions that
    the program names."""

    code: bytes
    log: str
    resources: dict[str, Resources]


def resources_of(log: str, ptx: str) -> dict[str, Resources]:
    """Returns resources by the names in machine code, from the assembler's output with `-v` and the bounds in PTX."""
    bounds = dict(re.findall(r"\.entry (\w+)\([^)]*\)\s*\.maxntid (\d+)", ptx))
    pattern = r"entry function '(\S+)'.*?Used (\d+) registers(.*?)\n"
    found = {}
    for name, registers, more in re.findall(pattern, log, re.DOTALL):
        shared = re.search(r"(\d+) bytes smem", more)
        found[name] = Resources(int(registers), int(shared[1]) if shared else 0, int(bounds.get(name, 1024)))
    return found


class Compiler:
    """NVRTC by ctypes, with the texts that programs include."""

    def __init__(self, library: str, headers: dict[str, str]):
        self.nvrtc = ctypes.CDLL(library)
        self.headers = headers

    def compile(self, program: Recorded, arch: str) -> Compiled:
        n, handle = len(self.headers), ctypes.c_void_p()
        strings = ctypes.c_char_p * n
        contents = strings(*(t.encode() for t in self.headers.values()))
        names = strings(*(name.encode() for name in self.headers))
        text, file = program.text.encode(), program.file.encode()
        assert self.nvrtc.nvrtcCreateProgram(ctypes.byref(handle), text, file, n, contents, names) == 0
        try:
            for name in program.names:
                assert self.nvrtc.nvrtcAddNameExpression(handle, name.encode()) == 0
            # A kernel that has one architecture's own instructions uses them there, and a substitute elsewhere.
            own = f"-arch={arch}a"
            words = [own if own in program.options else f"-arch={arch}", "--ptxas-options=-v"]
            words += [o for o in program.own_options if not o.startswith("-arch")]
            words = [w.encode() for w in words]
            done = self.nvrtc.nvrtcCompileProgram(handle, len(words), (ctypes.c_char_p * len(words))(*words))
            size = ctypes.c_size_t()
            self.nvrtc.nvrtcGetProgramLogSize(handle, ctypes.byref(size))
            text_of_log = ctypes.create_string_buffer(size.value)
            self.nvrtc.nvrtcGetProgramLog(handle, text_of_log)
            log = text_of_log.value.decode(errors="replace")
            if done:
                return Compiled(b"", log, {})
            self.nvrtc.nvrtcGetCUBINSize(handle, ctypes.byref(size))
            code = ctypes.create_string_buffer(size.value)
            self.nvrtc.nvrtcGetCUBIN(handle, code)
            self.nvrtc.nvrtcGetPTXSize(handle, ctypes.byref(size))
            ptx = ctypes.create_string_buffer(size.value)
            self.nvrtc.nvrtcGetPTX(handle, ptx)
            said, lowered = resources_of(log, ptx.value.decode()), ctypes.c_char_p()
            resources = {}
            for name in program.names:
                assert self.nvrtc.nvrtcGetLoweredName(handle, name.encode(), ctypes.byref(lowered)) == 0
                resources[name] = said[(lowered.value or b"").decode()]
            return Compiled(code.raw, log, resources)
        finally:
            self.nvrtc.nvrtcDestroyProgram(ctypes.byref(handle))


def texts_of(root: Path) -> dict[str, str]:
    """The files that programs may include, as the library holds them."""
    files = sorted((root / "backends/cuda/kernels").iterdir())
    found = {f.name: f.read_text() for f in files}
    include = root / "extensions/include"
    shared = ["quotient.h", "updates.h", "updates/base.h", "window.h", "pointwise/prelude.h"]
    for file in [*(include / "lamella" / name for name in shared), *include.glob("lamella/pointwise/special/*.h")]:
        found[str(file.relative_to(include))] = file.read_text()
    return found
