"""The hook of the plugin. It contributes names alone; the library is loaded when the first sparse tensor is made."""

import sys
from pathlib import Path

from lamella.plugins import hookimpl

from . import library, making, printing, tensor


@hookimpl
def register(ctx):
    library.loader = lambda: ctx.load_library(Path(__file__).with_name("liblamella_sparse.so"))
    ctx.contribute("lamella", {"sparse": sys.modules[__package__], **making.functions, **tensor.functions})
    ctx.contribute("Tensor", tensor.methods)
    ctx.contribute("parts", {"sparse": printing.parts})
    ctx.contribute("slot", {"sparse": library.operators})
