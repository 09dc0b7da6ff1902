"""The hook of the plugin. It is apart from the package, whose names are those of ``lamella.quantization``."""

import sys
from pathlib import Path

from lamella.plugins import hookimpl

from . import ao, engines, tensor


@hookimpl
def register(ctx):
    ctx.load_library(Path(__file__).with_name("liblamella_quantization.so"))
    ctx.contribute("lamella", {"quantization": sys.modules[__package__], "ao": ao, **tensor.functions})
    sys.modules.setdefault("lamella.nn.quantized", vars(ao.nn)["quantized"])  # lamella.nn finds it without being run
    ctx.contribute("lamella.backends", {"quantized": engines.Engines("lamella.backends.quantized")})
    ctx.contribute("Tensor", tensor.methods)
    ctx.contribute("repr", {"quantization": tensor.note})
