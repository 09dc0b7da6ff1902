"""Functions and kinds of tensors of torch that Lamella does not have: a call raises an error with the reason, and a
predicate such as ``is_sparse`` is False."""

from __future__ import annotations

from typing import Any

from lamella import _C
from lamella._devices.names import NoDevice
from lamella._usage_log import log_once
from lamella.plugins import contributions

# Devices of torch; programs for any device read ``tensor.is_NAME`` of each.
DEVICES = ("cuda", "hpu", "ipu", "maia", "mps", "mtia", "vulkan", "xla", "xpu")
# Kinds of tensors that Lamella lacks, so ``tensor.is_KIND`` is always False.
KINDS = ("sparse", "sparse_csr", "quantized", "mkldnn", "nested")
OF_SPARSE = "indices values coalesce is_coalesced crow_indices col_indices ccol_indices row_indices".split()
TO_SPARSE = "to_sparse to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc".split()


class Refusal:
    """A function of torch that Lamella does not have: a call raises ``error``."""

    def __init__(self, name: str, why: str, error: type[Exception] = NotImplementedError):
        self.__name__ = self.__qualname__ = name.rpartition(".")[2]
        self.why, self.error = f"{name}: {why}", error
        self.__doc__ = f"Raises {error.__name__}: {why}."

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        log_once("refused." + self.why.partition(":")[0])
        raise self.error(self.why)

    def __repr__(self) -> str:
        return f"<{self.why}>"


def refuse(module: str, names: str, why: str, error: type[Exception] = NotImplementedError) -> None:
    """Contributes a `Refusal` to a module for each name that has no owner yet. A plugin can replace it."""
    place = contributions.place(module)
    free = [name for name in names.split() if not contributions.Place.holder(place, name)]
    refusals = {name: Refusal(f"{module}.{name}", why, error) for name in free}
    contributions.contribute(contributions.gather(module, refusals, placeholder=True))


def _method(name: str, error: type[Exception], words: str) -> Any:
    def refuse(self, *args, **keywords):
        raise error(f"{name}: {words}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Raises {error.__name__}: {words}."
    return refuse


def _layout(self):
    """The layout of the elements in memory, which is always strided.

    >>> lamella.ones(1).layout
    lamella.strided
    """
    return _C.strided


def to_dense(self, dtype=None, *, masked_grad=None):
    """Returns the tensor, converted to ``dtype`` if that is given. Every tensor is dense already.

    >>> lamella.ones(1).to_dense()
    tensor([1.])
    """
    return self if dtype is None else self.to(dtype)


def of_tensor() -> dict[str, Any]:
    """Returns the attributes of Tensor for DEVICES and for kinds of tensors, used until a plugin replaces them."""
    found: dict[str, Any] = {f"is_{name}": NoDevice(name) for name in DEVICES}
    for kind in KINDS:
        found[f"is_{kind}"] = property(lambda self: False, doc=f"False: no tensor is {kind} here.")
    found |= {"layout": property(_layout), "to_dense": to_dense}
    for name in OF_SPARSE:
        found[name] = _method(
            name, RuntimeError, "the tensor is dense; the plugin 'sparse', which brings sparse ones, is not loaded"
        )
    for name in TO_SPARSE:
        found[name] = _method(
            name, NotImplementedError, "the plugin 'sparse', which brings sparse tensors, is not loaded"
        )
    return found
