"""The standard's inspection of the namespace: devices, dtypes, capabilities."""

from __future__ import annotations

from typing import Any

import lamella
from lamella import dtype as DType
from lamella._devices import accelerators, counted, host
from lamella.array_api._rules import KINDS


class Info:
    """What the namespace has. Functions that take a device accept any one in :meth:`devices`, or None."""

    def capabilities(self) -> dict[str, Any]:
        """Returns what the standard leaves to libraries, by its names.

        >>> lamella.array_api.__array_namespace_info__().capabilities()["boolean indexing"]
        True
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> lamella.device:
        """Returns the device of a tensor that is made without one.

        >>> lamella.array_api.__array_namespace_info__().default_device() == lamella.ones(1).device
        True
        """
        return lamella.empty(0).device

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """Returns the dtypes of tensors that are made without one, by kind. They are the same on each device.

        >>> lamella.array_api.__array_namespace_info__().default_dtypes()["integral"]
        lamella.int64
        """
        real = lamella.get_default_dtype()
        return {
            "real floating": real,
            "complex floating": lamella.complex128 if real is lamella.float64 else lamella.complex64,
            "integral": lamella.int64,
            "indexing": lamella.int64,
        }

    def devices(self) -> tuple[lamella.device, ...]:
        """Returns the host, and each device of each accelerator; and the default device, if it is another one.

        >>> lamella.ones(1).device in lamella.array_api.__array_namespace_info__().devices()
        True
        """
        found = [host(), *(lamella.device(name, i) for name in accelerators() for i in range(counted(name)))]
        default = self.default_device()
        return tuple(found if default in found else [*found, default])

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        """Returns the dtypes of a kind by name. They are the same on each device.

        Args:
            kind: None for all, a kind as ``isdtype`` takes it, or a tuple of kinds

        Raises:
            ValueError: there is no such kind

        >>> list(lamella.array_api.__array_namespace_info__().dtypes(kind="real floating"))
        ['float32', 'float64']
        """
        kinds = ("bool", "numeric") if kind is None else kind if isinstance(kind, tuple) else (kind,)
        for k in kinds:
            if k not in KINDS:
                raise ValueError(f"dtypes: argument 'kind': there is no kind {k!r}; the kinds are {', '.join(KINDS)}")
        return {str(d).rpartition(".")[2]: d for k in kinds for d in KINDS[k]}


def __array_namespace_info__() -> Info:
    """Returns the object that describes the namespace.

    >>> lamella.array_api.__array_namespace_info__().default_dtypes()["real floating"]
    lamella.float32
    """
    return Info()
