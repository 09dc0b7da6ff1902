"""The hook of the plugin. It is apart from the package, whose names are those of ``lamella.named``."""

import sys
from pathlib import Path

from lamella import ops
from lamella.plugins import hookimpl

from . import tensor


@hookimpl
def register(ctx):
    ctx.load_library(Path(__file__).with_name("liblamella_named_tensor.so"))
    ctx.contribute("lamella", {"named": sys.modules[__package__]})
    ctx.contribute("Tensor", tensor.methods)
    ctx.contribute("repr", {"names": tensor.note})
    ctx.contribute("operator", {"names": ops.named_tensor.find_rule})
