"""torch.nn.functional's names. Some are operators; the others call operators, with torch's signature."""

from types import ModuleType as _ModuleType

from lamella._absent import explain as _explain
from lamella.nn.functional.activations import *  # noqa: F403
from lamella.nn.functional.attention import *  # noqa: F403
from lamella.nn.functional.convolution import *  # noqa: F403
from lamella.nn.functional.ctc import *  # noqa: F403
from lamella.nn.functional.distances import *  # noqa: F403
from lamella.nn.functional.dropouts import *  # noqa: F403
from lamella.nn.functional.folding import *  # noqa: F403
from lamella.nn.functional.grouped import *  # noqa: F403
from lamella.nn.functional.layers import *  # noqa: F403
from lamella.nn.functional.losses import *  # noqa: F403
from lamella.nn.functional.margins import *  # noqa: F403
from lamella.nn.functional.norms import *  # noqa: F403
from lamella.nn.functional.pixels import *  # noqa: F403
from lamella.nn.functional.pooling import *  # noqa: F403
from lamella.nn.functional.tables import *  # noqa: F403
from lamella.nn.functional.upsampling import *  # noqa: F403

# The modules that are imported above are attributes of this package by now; they are left out.
__all__ = sorted(name for name, value in vars().items() if name[0] != "_" and not isinstance(value, _ModuleType))


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(f"module 'lamella.nn.functional' has no attribute '{name}'")
    raise AttributeError(_explain("lamella.nn.functional", name, __all__))


def __dir__() -> list[str]:
    return __all__
