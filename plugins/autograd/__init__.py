"""Autograd: reverse-mode differentiation, as a layer that registers by the public plugin interface.

The native library records calls and runs backward; this package, which is ``lamella.autograd``, is its Python
interface. ``docs/autograd.md`` leads through the files.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from lamella.plugins import hookimpl

if TYPE_CHECKING:
    from . import checkpoint as checkpoint
    from . import forward_ad as forward_ad
    from . import functional as functional
    from .api import *  # noqa: F403
    from .grad_mode import *  # noqa: F403
    from .gradcheck import gradcheck as gradcheck
    from .gradcheck import gradgradcheck as gradgradcheck

LAZY = ("checkpoint", "forward_ad", "functional")  # submodules that are imported at their first use


def __getattr__(name):
    if name in LAZY:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'lamella.autograd' has no attribute '{name}'")


@hookimpl
def register(ctx):
    ctx.load_library(Path(__file__).with_name("liblamella_autograd.so"))
    from . import api, grad_mode, rules, tensor  # these import _python, which needs the library

    modes = {name: getattr(grad_mode, name) for name in grad_mode.__all__}
    globals().update({name: getattr(api, name) for name in api.__all__} | modes)
    ctx.contribute("lamella", {"autograd": sys.modules[__name__], "detach_": tensor.detach_, **modes})
    ctx.contribute("Tensor", tensor.methods)
    ctx.contribute("repr", {"history": tensor.history_note})
    ctx.contribute("copied", {"requires_grad": True})
    ctx.contribute("export", {"requires_grad": tensor.check_export})
    rules.follow(ctx)
    # The name gradcheck must mean the function, not the submodule. The import of the submodule binds the name to the
    # module, so the function is set after it.
    import_module("lamella.autograd.gradcheck")
    from .gradcheck import gradcheck, gradgradcheck

    globals().update(gradcheck=gradcheck, gradgradcheck=gradgradcheck)
