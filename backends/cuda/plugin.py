"""Device ``cuda``: NVIDIA's GPUs. Imported when a program first names the device; nothing of CUDA is loaded before."""

from __future__ import annotations

from typing import Any

from lamella.plugins import hookimpl

from .libraries import open_blas, open_dnn, open_nvrtc


@hookimpl
def register(ctx: Any) -> None:
    open_nvrtc()
    open_blas()
    open_dnn()
    ctx.load_library("backends/cuda/liblamella_cuda.so")
    from . import arrays, switches
    from .surface import NAMES

    switches.connect()
    ctx.follow_determinism(switches.determine)
    ctx.add_device_names(NAMES)
    ctx.add_methods({"__cuda_array_interface__": property(arrays.describe)})
    ctx.add_reader(arrays.read)
    ctx.add_import_check(arrays.check_memory)
