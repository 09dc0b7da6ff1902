"""Compiles recorded programs with NVIDIA's NVRTC to machine code: many programs in one, since each costs a start.

The stand-in records every program that it compiles (``STANDIN_RECORD``); what is compiled here is the same text.
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
        """Without the device's architecture; one of its own instructions, "-arch=sm_90a", stays."""
        return tuple(o for o in self.options if not o.startswith("-arch") or o.endswith("a"))


def find_library() -> str | None:
    """The NVRTC of NVIDIA's wheel, or None."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted(Path(root).glob("*/lib/libnvrtc.so.1[2-9]")):
            return str(path)
    return None


def together(programs: list[Recorded]) -> list[tuple[Recorded, list[Recorded]]]:
    """Programs of one file and the same options become one, with the programs that it holds."""
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
            names = [n.replace("words::Op", f"words::Op{i}") for i, m in enumerate(part) for n in m.names]
            made.append((Recorded(file, tuple(names), options, "\n".join(texts)), part))
    return made


@dataclass(frozen=True)
class Launched:
    """The most that launches of a kernel have asked for: threads of a block, and bytes of its shared memory."""

    threads: int
    shared: int


def launches(folder: Path) -> dict[str, Launched]:
    """By the name of the kernel, what the stand-in has recorded of all processes."""
    most: dict[str, Launched] = {}
    for path in folder.glob("launches.*"):
        for line in path.read_text().splitlines():
            name, threads, shared = line.split("\t")
            known = most.get(name, Launched(0, 0))
            most[name] = Launched(max(known.threads, int(threads)), max(known.shared, int(shared)))
    return most


@dataclass(frozen=True)
class Resources:
    """What a thread of a kernel needs, and a block beside what its launch asks for."""

    registers: int
    shared: int

    def refusals(self, launched: Launched) -> list[str]:
        """Why devices of capability 8.0 to 9.0 refuse the launch. Registers are given to warps, in eights a thread."""
        warps, found = -(-launched.threads // 32), []
        if warps * 32 * -(-self.registers // 8) * 8 > 65536:
            found.append(f"{launched.threads} threads of {self.registers} registers are more than a block's 65536")
        # The backend asks for more than 48 KiB by a launch's own share alone.
        room = 48 << 10 if launched.shared <= 48 << 10 else 227 << 10
        if self.shared + launched.shared > room:
            found.append(f"{self.shared} and {launched.shared} bytes of shared memory are more than {room}")
        return found


@dataclass(frozen=True)
class Compiled:
    """Machine code, empty where a program does not compile, the compiler's log, and resources by the names that the
    program was asked for."""

    code: bytes
    log: str
    resources: dict[str, Resources]


def resources_of(log: str) -> dict[str, Resources]:
    """By the names of machine code, what the assembler says with `-v`."""
    pattern = r"entry function '(\S+)'.*?Used (\d+) registers(.*?)\n"
    found = {}
    for name, registers, more in re.findall(pattern, log, re.DOTALL):
        shared = re.search(r"(\d+) bytes smem", more)
        found[name] = Resources(int(registers), int(shared[1]) if shared else 0)
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
            # A kernel of one architecture's own instructions; on others what stands in their place is compiled.
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
            said, lowered = resources_of(log), ctypes.c_char_p()
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
    found["lamella/updates.h"] = (root / "extensions/include/lamella/updates.h").read_text()
    return found
