"""Device ``cuda``: NVIDIA's GPUs. This module is imported when a program first names the device or gives as_tensor() an
array with ``__cuda_array_interface__``; nothing of CUDA is loaded before.
"""

from __future__ import annotations

from typing import Any

import lamella
from lamella.plugins import hookimpl

from .libraries import folders_of_solver, open_blas, open_dnn, open_fft, open_nvrtc


@hookimpl
def register(ctx: Any) -> None:
    open_nvrtc()
    open_blas()
    open_dnn()
    open_fft()
    ctx.load_library("backends/cuda/liblamella_cuda.so")
    lamella.ops.cuda._cusolver_folders(folders_of_solver())
    from . import arrays, switches
    from .surface import NAMES

    switches.connect()
    ctx.contribute("determinism", {"convolutions": switches.determine})
    ctx.contribute("lamella.cuda", NAMES)
    ctx.contribute("Tensor", {"__cuda_array_interface__": property(arrays.describe)})
    ctx.contribute("reader", {"arrays": arrays.read})
    ctx.contribute("import", {"memory": arrays.check_memory})
