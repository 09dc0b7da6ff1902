"""Shows operators as ranges in other tools: by NVTX in NVIDIA's profilers, by ITT in Intel's."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from glob import glob
from types import TracebackType

from . import _python

__all__ = ["emit_itt", "emit_nvtx"]


def nvtx_libraries() -> list[str]:
    """Returns the places to look for NVTX: names for the loader's search path, and files in NVIDIA's packages."""
    names = "libnvToolsExt.so.1", "libnvToolsExt.so", "libnvtx3interop.so.1", "libnvtx3interop.so"
    packages = [path for folder in sys.path for name in names for path in glob(f"{folder}/nvidia/*/lib/{name}")]
    return [*names, *packages]


def itt_libraries() -> list[str]:
    """Returns the places to look for ITT: the library that the environment names, then names for the loader's search
    path."""
    named = os.environ.get("INTEL_LIBITTNOTIFY64")
    return [*([named] if named else []), "libittnotify.so", "libittnotify_collector.so"]


class _Emit:
    kind = ""
    libraries: Callable[[], list[str]]
    advice = files = ""  # how a user gets a library, and the names of its files

    def __init__(self, enabled: bool = True, record_shapes: bool = False):
        self.enabled, self.record_shapes = enabled, record_shapes
        self.entered = False
        self._observer: int | None = None

    def __enter__(self) -> _Emit | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError(f"emit_{self.kind}: it has been entered already; make another one")
        reasons = []
        for path in self.libraries():
            try:
                self._observer = _python._begin_ranges(self.kind, path, self.record_shapes)
            except RuntimeError as error:
                reasons.append(str(error).partition("\n")[0])
            else:
                self.entered = True
                return self
        raise RuntimeError(
            f"emit_{self.kind}: no library of {self.kind.upper()} was found. {self.advice}, or put the folder of "
            f"{self.files} into LD_LIBRARY_PATH ({'; '.join(reasons)})"
        )

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._observer is not None:
            _python._remove_callback(self._observer)
            self._observer = None


class emit_nvtx(_Emit):
    """Makes each operator, step of backward and named block of any thread a range of NVTX, during its block.

    NVIDIA's tools show them above the kernels: ``nsys profile python program.py``. A step of backward has the number of
    its call in its name, "MulBackward0, seq = 3"; the call has a mark of that number within its range.

    Args:
        enabled: False makes it do nothing
        record_shapes: whether names have the sizes of arguments, "aten::mul, sizes = [[2, 3], []]"

    Raises:
        RuntimeError: on entering: no library of NVTX was found, or the block is entered already

    >>> with lamella.autograd.profiler.emit_nvtx(enabled=False):
    ...     _ = lamella.ones(2)
    """

    kind, libraries = "nvtx", staticmethod(nvtx_libraries)
    advice, files = "Install the package nvidia-nvtx", "libnvToolsExt.so.1 or libnvtx3interop.so.1"


class emit_itt(_Emit):
    """Makes each operator, step of backward and named block of any thread a task of ITT, during its block.

    Intel's VTune shows them. The library is the one that ``INTEL_LIBITTNOTIFY64`` names, which VTune sets, or
    ``libittnotify.so`` on the loader's search path; it must export the functions of tasks under their plain names.

    The arguments and errors are those of :class:`emit_nvtx`.

    >>> with lamella.autograd.profiler.emit_itt(enabled=False):
    ...     _ = lamella.ones(2)
    """

    kind, libraries = "itt", staticmethod(itt_libraries)
    advice = "Run the program under Intel's VTune, which sets INTEL_LIBITTNOTIFY64"
    files = "libittnotify.so"
