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


class Compiler:
    """NVRTC by ctypes, with the texts that programs include."""

    def __init__(self, library: str, headers: dict[str, str]):
        self.nvrtc = ctypes.CDLL(library)
        self.headers = headers

    def compile(self, program: Recorded, arch: str) -> tuple[bytes, str]:
        """The machine code, empty where it does not compile, and the log."""
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
            words = [own if own in program.options else f"-arch={arch}"]
            words += [o for o in program.own_options if not o.startswith("-arch")]
            words = [w.encode() for w in words]
            done = self.nvrtc.nvrtcCompileProgram(handle, len(words), (ctypes.c_char_p * len(words))(*words))
            size = ctypes.c_size_t()
            self.nvrtc.nvrtcGetProgramLogSize(handle, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            self.nvrtc.nvrtcGetProgramLog(handle, log)
            if done:
                return b"", log.value.decode(errors="replace")
            self.nvrtc.nvrtcGetCUBINSize(handle, ctypes.byref(size))
            code = ctypes.create_string_buffer(size.value)
            self.nvrtc.nvrtcGetCUBIN(handle, code)
            return code.raw, log.value.decode(errors="replace")
        finally:
            self.nvrtc.nvrtcDestroyProgram(ctypes.byref(handle))


def texts_of(root: Path) -> dict[str, str]:
    """The files that programs may include, as the library holds them."""
    files = sorted((root / "backends/cuda/kernels").iterdir())
    found = {f.name: f.read_text() for f in files}
    found["lamella/updates.h"] = (root / "extensions/include/lamella/updates.h").read_text()
    return found
