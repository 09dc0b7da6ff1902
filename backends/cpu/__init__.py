"""The CPU backend: a native library that registers itself as any installed plugin does."""

from lamella.plugins import hookimpl


@hookimpl
def register(ctx):
    ctx.load_library("backends/cpu/liblamella_cpu.so")
