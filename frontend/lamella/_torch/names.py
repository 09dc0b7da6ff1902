"""Contributes the shell of torch to the namespace. Names for which a plugin is planned are placeholders."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from lamella import _C, _lazy
from lamella._torch import autocast, devices, refusals, typed
from lamella._torch.refusals import Refusal
from lamella.plugins import contributions
from lamella.plugins.contributions import gather

MODULES = ("compiler", "distributed", "functional", "hub", "jit", "storage", "torch_version", "types")
OF_CUDA = ("graphs", "memory", "random", "streams")
BACKENDS = ("cuda", "cudnn", "cusparselt", "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum")


compile = Refusal("lamella.compile", "Lamella has no compiler; call the function or the module as it is")
FUNCTIONS = {"compile": compile}


def modules() -> dict[str, ModuleType]:
    """Returns lazy modules for the files in MODULES, by their names in ``lamella``."""
    here = Path(__file__).parent
    return {name: _lazy.of_file(f"lamella.{name}", here / f"{name}.py") for name in MODULES}


def contribute() -> None:
    """Contributes all names except those in ``lamella.autograd``. It runs before plugins are loaded."""
    contributions.contribute(gather("Tensor", refusals.of_tensor(), placeholder=True))
    devices.install()
    switches = {name: _lazy.filled(f"lamella.backends.{name}", "lamella._torch.backends") for name in BACKENDS}
    cuda: dict[str, Any] = {f"{word}Tensor": typed.typed(word, "cuda") for word in typed.WORDS}
    cuda["OutOfMemoryError"] = _C.OutOfMemoryError
    cuda["amp"] = _lazy.filled("lamella.cuda.amp", "lamella._torch.cuda_amp")
    cuda["nvtx"] = _lazy.of_file("lamella.cuda.nvtx", Path(__file__).with_name("cuda_nvtx.py"))
    cuda |= {name: _lazy.filled(f"lamella.cuda.{name}", "lamella._torch.cuda_modules") for name in OF_CUDA}
    contributions.contribute(
        [
            *gather("lamella", {**modules(), **FUNCTIONS}, placeholder=True),
            *gather("lamella", typed.names()),
            *gather("lamella", autocast.functions),
            *gather("lamella.cuda", cuda),
            *gather("lamella.backends", switches),
        ]
    )


def contribute_to_autograd() -> None:
    """Contributes ``autograd.profiler`` and ``autograd.profiler_util``, if a plugin provides ``lamella.autograd``."""
    where = "lamella.autograd"
    if where in sys.modules:
        names = ("profiler", "profiler_util")
        free = [name for name in names if not contributions.holder(where, name)]
        lazy = {name: _lazy.filled(f"{where}.{name}", "lamella._torch.autograd_profiler") for name in free}
        contributions.contribute(gather(where, lazy, placeholder=True))
