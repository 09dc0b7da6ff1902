"""Functions that list backends, resolve arguments to devices, and choose the accelerator."""

from __future__ import annotations

import operator
from typing import Any

from lamella import _C
from lamella.plugins.manager import manager

HOST = 3  # the index of the flag "is the host" in a row of _C._backends()


def host() -> _C.device:
    """Returns the host device, whose memory the processor and numpy read."""
    return _C._default_generator().device


def backends() -> dict[str, Any]:
    """Returns the rows of the loaded backends, by name."""
    return {row[0]: row for row in _C._backends()}


def can_load(name: str) -> bool:
    """Loads a backend if it is not loaded yet. Returns False if it is not installed, or was set aside."""
    if name in backends():
        return True
    try:
        manager.load_backend(name)
    except RuntimeError:
        return False
    return name in backends()


def counted(name: str) -> int:
    """Returns how many devices a backend has; 0 if it cannot be loaded."""
    row = backends().get(name) if can_load(name) else None
    return row[2] if row else 0


def index_of(device: _C.device) -> int:
    return device.index or 0


def accelerators() -> list[str]:
    """Returns the backends that may be the accelerator, the preferred first: all except the host's and meta."""
    manager.scan()
    installed = [p for p in manager.plugins if p.kind == "backend" and p.state in ("found", "loaded")]
    ranks = {p.name: p.manifest.get("priority", 0) for p in installed if not p.manifest.get("host")}
    for name in filter(is_accelerator, backends()):
        ranks.setdefault(name, 0)
    return sorted(ranks, key=lambda name: (-ranks[name], name))


def is_accelerator(name: str) -> bool:
    """Returns whether a backend is loaded and may be the accelerator."""
    row = backends().get(name)
    return row is not None and name != "meta" and not row[HOST]


def current_accelerator(check_available: bool = False) -> _C.device | None:
    """Returns the accelerator, or None if none is installed.

    Args:
        check_available: True ignores backends that find no device on this machine

    >>> lamella.accelerator.current_accelerator() is None or lamella.accelerator.device_count() >= 0
    True
    """
    chosen = _C._get_default_device()
    if is_accelerator(chosen.type):
        return chosen
    for name in accelerators():
        if can_load(name) and (counted(name) > 0 or not check_available):
            return _C.device(name)
    return None


def resolve(device: Any = None, kind: str | None = None) -> _C.device:
    """Returns the device for an argument: a device, its name, an index, or None for the current device.

    An index and None refer to devices of the backend ``kind``, or of the accelerator if ``kind`` is None.
    """
    if device is None or (hasattr(device, "__index__") and not isinstance(device, (bool, _C.Tensor))):
        if kind is None:
            if (found := current_accelerator()) is None:
                raise RuntimeError(
                    "there is no accelerator: no installed plugin brings a device other than the host; "
                    "name one, as in device='cpu', or see `lamella plugins --load`"
                )
            kind = found.type
        return _C.device(kind) if device is None else _C.device(kind, operator.index(device))
    found = _C.device(device)
    if kind is not None and found.type != kind:
        raise ValueError(f"lamella.{kind}: argument 'device' must be a device of {kind!r}, got '{found}'")
    return found
