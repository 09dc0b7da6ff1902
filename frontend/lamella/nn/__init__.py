"""Neural networks: ``lamella.nn.functional`` for now; other names of torch.nn explain themselves."""

from lamella._missing import PACKAGE, explain
from lamella.nn import functional

__all__ = ["functional"]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'lamella.nn' has no attribute '{name}'")
    if name[:1].isupper() or name in ("init", "utils", "parameter", "parallel", "modules"):
        raise AttributeError(f"lamella.nn.{name} is not here yet; it is planned with {PACKAGE}")
    raise AttributeError(explain(f"lamella.nn.{name}", name, __all__))
