"""The names of operators: ``lamella.add`` and ``Tensor.add``, and ``lamella.ops.<namespace>.<name>`` for all."""

from __future__ import annotations

import copyreg
import os
from collections.abc import Callable, Container
from threading import RLock
from typing import Any

from lamella import _C
from lamella._absent import namespace_note
from lamella._devices.names import announce
from lamella._usage_log import log_once
from lamella.plugins import contributions

NATIVE = type(_C.Tensor.numel)  # the type of the binding's own methods; some, as item(), call the operator
PROPERTIES = ("real", "imag")  # views that torch has as attributes of Tensor
# Prefixes of public names with an underscore, as in torch.
SHOWN = ("_foreach_", "_fused_", "_int_mm", "_standard_gamma", "_sample_dirichlet", "_dirichlet_grad")
FUNCTION, METHOD, PRIVATE = 8, 4, 16  # enum lamella_forms


def _assign(packet):
    """Returns a property's setter, which copies the value into the view that the packet returns: ``t.real = x``."""

    def assign(tensor, value):
        part = packet(tensor)
        part.copy_(value) if isinstance(value, _C.Tensor) else part.fill_(value)

    return assign


def operators(taken: Container[str], tensor_type: type) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the packets of the catalogue's operators by name: first those for ``lamella``, then those for Tensor.

    Args:
        taken: names in ``lamella`` that are omitted, since a Python function there calls the operator of the name
        tensor_type: Tensor; names of its native methods, such as ``item``, are omitted, since they call the operator
    """
    functions, methods = {}, {}
    elsewhere = dict(_C._operator_modules())
    for qualified, forms in _C._operator_names():
        ns, _, name = qualified.partition("::")
        if ns != "aten" or forms & PRIVATE or (name.startswith("_") and not name.startswith(SHOWN)):
            continue
        packet = _C._packet(qualified)
        if forms & FUNCTION and name not in taken and qualified not in elsewhere:
            functions[name] = packet
        if name in PROPERTIES:
            methods[name] = property(packet, _assign(packet), doc=packet.__doc__)
        elif forms & METHOD and not isinstance(vars(tensor_type).get(name), NATIVE):
            methods[name] = packet
    return functions, methods


_shown: dict[str, Callable[[], None]] = {}  # maps an operator to the function that withdraws its name from its module
_showing = RLock()


def _renew_lock() -> None:
    global _showing
    _showing = RLock()


os.register_at_fork(after_in_child=_renew_lock)  # another thread of the parent may have held the lock


def show_modules() -> None:
    """Contributes operators to the modules they declare: with "linalg", ``linalg_norm`` is ``lamella.linalg.norm``.

    A name that the module has already is not replaced. The name of a withdrawn operator is withdrawn, too. The
    catalogue's own operators come before the module's file, which stays unread until it is needed.
    """
    found = dict(_C._operator_modules())
    if not found and not _shown:
        return
    with _showing:
        found = dict(_C._operator_modules())
        for qualified in [q for q in _shown if q not in found]:
            _shown.pop(qualified)()
        own: dict[str, dict[str, Any]] = {}
        for qualified, path in found.items():
            namespace, _, name = qualified.partition("::")
            where, name = f"lamella.{path}", name.removeprefix(path.replace(".", "_") + "_")
            if qualified in _shown:
                continue
            if namespace == "aten":
                own.setdefault(where, {})[name] = _C._packet(qualified)
                _shown[qualified] = _nothing  # it is never withdrawn
            elif not contributions.holder(where, name):
                packet = _C._packet(qualified)
                _shown[qualified] = contributions.contribute(contributions.gather(where, {name: packet}, namespace))
        for where, packets in own.items():
            contributions.contribute(contributions.gather(where, packets, contributions.LAMELLA))


def _nothing() -> None:
    pass


class OperatorNamespace:
    """The operators of one namespace."""

    def __init__(self, name: str):
        self.__name__ = name

    def __getattr__(self, name: str):
        if name.startswith("__"):  # copy and pickle read such names
            raise AttributeError(name)
        try:
            packet = _C._packet(f"{self.__name__}::{name}")
        except AttributeError as error:
            raise AttributeError(f"{error}{namespace_note(self.__name__)}") from None
        self.__dict__[name] = packet
        return packet

    def __dir__(self):
        own = self.__name__ + "::"
        return sorted({n[len(own) :] for n, _ in _C._operator_names() if n.startswith(own)})

    def __repr__(self):
        return f"<operators of {self.__name__}>"


class Operators:
    """Every namespace of operators, as ``lamella.ops.<namespace>.<operator>``.

    >>> lamella.ops.aten.add(lamella.tensor([1]), lamella.tensor([2]))
    tensor([3])
    """

    def __init__(self) -> None:
        self.loaded_libraries: set[str] = set()

    def load_library(self, path: str | os.PathLike[str], namespace: str | None = None) -> Any:
        """Loads a compiled shared library of operators. Loading it again under the same namespace does nothing.

        Args:
            path: a library that was built with ``lamella.extensions``, setuptools or CMake
            namespace: a name that replaces the library's own namespace in this process, so that two versions of one
                library can be loaded. The library's own namespace is the first one that it opens.

        Returns:
            The namespace in which the library defines operators; a tuple if there are several; None if the library
            only registers kernels.

        Raises:
            FileNotFoundError: there is no such file
            RuntimeError: the file was built for another C ABI, is not a library of operators, or is loaded already
                under another namespace; or it defines a name that is defined already, and the message names both owners
        """
        full = os.path.realpath(path)
        if not os.path.exists(full):
            raise FileNotFoundError(f"load_library: there is no file {full}")
        log_once("python.load_library")
        defined = _C._load_plugin(full, namespace=namespace or "")
        self.loaded_libraries.add(full)
        announce()
        show_modules()
        return namespaces(defined)

    def __getattr__(self, name: str) -> OperatorNamespace:
        if name.startswith("__"):
            raise AttributeError(name)
        space = OperatorNamespace(name)
        self.__dict__[name] = space
        return space

    def __dir__(self):
        return sorted({n.partition("::")[0] for n, _ in _C._operator_names()})


ops = Operators()


def operator(name: str) -> Any:
    """Returns the operator of a name. Pickle and copy call it."""
    try:
        packet = _C._packet(name)
    except AttributeError:
        packet = None
    if not packet or not packet.schemas:  # an operator without schemas has been withdrawn
        raise AttributeError(f"lamella has no operator {name}; import the module that defines it before unpickling it")
    return packet


def _reduce(packet: Any) -> Any:
    name = packet.__qualname__
    return operator, (name if "::" in name else f"aten::{name}",)


copyreg.pickle(_C.OperatorPacket, _reduce)


def namespaces(names: list[str]) -> Any:
    """Returns the namespaces of these names as ``load_library`` does: one, a tuple of several, or None."""
    spaces = tuple(getattr(ops, name) for name in names)
    return spaces if len(spaces) > 1 else spaces[0] if spaces else None
