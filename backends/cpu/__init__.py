"""The CPU backend: a native library that enters by the door that strangers use."""

from lattis.plugins import hookimpl


@hookimpl
def register(ctx):
    ctx.load_library("backends/cpu/liblattis_cpu.so")
