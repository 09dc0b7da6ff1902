"""The CPU backend: a native library that enters by the door that strangers use."""

from lamella.plugins import hookimpl


@hookimpl
def register(ctx):
    ctx.load_library("backends/cpu/liblamella_cpu.so")
