"""Neural networks: ``lattis.nn.functional`` for now; what torch.nn has beside it explains itself."""

from lattis._missing import PACKAGE, explain
from lattis.nn import functional

__all__ = ["functional"]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'lattis.nn' has no attribute '{name}'")
    if name[:1].isupper() or name in ("init", "utils", "parameter", "parallel", "modules"):
        raise AttributeError(f"lattis.nn.{name} is not here yet; it is planned with {PACKAGE}")
    raise AttributeError(explain(f"lattis.nn.{name}", name, __all__))
