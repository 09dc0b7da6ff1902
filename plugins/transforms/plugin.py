"""The hook of the plugin. It is apart from the package, whose names are those of ``lamella.func``."""

import sys
from pathlib import Path

from lamella.library import on_rule
from lamella.plugins import hookimpl


def serve_function(cls, args):
    """Serves ``autograd.Function.apply`` of samples; see functions.py, which is imported when it is first needed."""
    from .functions import apply

    return apply(cls, args)


@hookimpl
def register(ctx):
    ctx.load_library(Path(__file__).with_name("liblamella_transforms.so"))
    from . import control_flow, rules, vectorize  # these import _python, which needs the library

    names = {"vmap": vectorize.vmap, "cond": control_flow.cond, "while_loop": control_flow.while_loop}
    ctx.contribute("lamella", names | {"func": sys.modules[__package__], "_higher_order_ops": control_flow})
    ctx.contribute("function", {"vmap": serve_function})
    ctx.contribute("new", {"vmap": rules.new})
    ctx.contribute("operator", {"vmap": rules.find_rule})
    ctx.contribute("export", {"tangent": rules.check_export})
    ctx.contribute("within", {"vmap": rules.within})
    ctx.contribute("parts", {"vmap": rules.parts})
    on_rule("vmap", rules.serve, lib=ctx.library("vmap", "FRAGMENT"))
