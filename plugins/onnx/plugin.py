"""The hook of the plugin. It is apart from the package, whose name ``register`` is the function of its users."""

import sys

from lamella.plugins import hookimpl


@hookimpl
def register(ctx):
    ctx.contribute("lamella", {"onnx": sys.modules[__package__]})
