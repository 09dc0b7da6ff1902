"""The hook of the plugin. It contributes names alone; the library is loaded when a store or a group is first made."""

import sys
from pathlib import Path

from lamella.plugins import hookimpl

from . import futures, library


@hookimpl
def register(ctx):
    library.loader = lambda: ctx.load_library(Path(__file__).with_name("liblamella_distributed.so"))
    ctx.contribute("lamella", {"distributed": sys.modules[__package__], "futures": futures})
    ctx.contribute("export", {"c10d": library.settle})
