"""The hook of the plugin. It is apart from the package, whose names are those of ``lamella.quantization``."""

import sys
from pathlib import Path

from lamella.plugins import hookimpl

from . import tensor


@hookimpl
def register(ctx):
    ctx.load_library(Path(__file__).with_name("liblamella_quantization.so"))
    ctx.contribute("lamella", {"quantization": sys.modules[__package__], **tensor.functions})
    ctx.contribute("Tensor", tensor.methods)
    ctx.contribute("repr", {"quantization": tensor.note})
