"""The hook of the plugin. It is apart from the package, whose names are those of ``lamella.amp``."""

import sys
from pathlib import Path

from lamella.library import on_rule
from lamella.plugins import hookimpl


@hookimpl
def register(ctx):
    ctx.load_library(Path(__file__).with_name("liblamella_autocast.so"))
    from . import autocast_mode, functions, grad_scaler, policies  # these import _python, which needs the library

    names = {name: getattr(functions, name) for name in functions.NAMES}
    names |= {"GradScaler": grad_scaler.GradScaler, "autocast": autocast_mode.autocast}
    ctx.contribute("lamella", {"amp": sys.modules[__package__], **names})
    ctx.contribute("operator", {"autocast": policies.find_policy})
    ctx.contribute("settings", {"autocast": functions.Again})
    on_rule("autocast", policies.serve, lib=ctx.library("autocast", "FRAGMENT"))
