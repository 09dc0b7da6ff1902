"""The hook of the plugin. It is apart from the package, whose names are those of ``lamella.graph``."""

import sys
from pathlib import Path

from lamella.plugins import hookimpl

from . import jit


@hookimpl
def register(ctx):
    ctx.load_library(Path(__file__).with_name("liblamella_graph.so"))
    ctx.contribute("lamella", {"graph": sys.modules[__package__], "jit": jit})
