"""Device ``cuda``: NVIDIA's GPUs. Imported when a program first names the device; nothing of CUDA is loaded before."""

from __future__ import annotations

from typing import Any

from lamella.plugins import hookimpl

from .libraries import open_libraries


@hookimpl
def register(ctx: Any) -> None:
    open_libraries()
    ctx.load_library("backends/cuda/liblamella_cuda.so")
    from .surface import NAMES

    ctx.add_device_names(NAMES)
