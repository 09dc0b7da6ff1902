"""Chooses the device for each storage, by the four forms of ``map_location``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lamella.serialization.options as options
from lamella import _C
from lamella._devices import host
from lamella._storage import UntypedStorage
from lamella.serialization.errors import CheckpointError

META = "meta"
Read = Callable[[], Any]  # returns the bytes of a storage as a tensor of uint8 in host memory


def device_text(device: Any) -> str:
    """Returns a device's name as in a checkpoint."""
    return device if isinstance(device, str) else str(device)


class Locations:
    """Places storages on devices by ``map_location``."""

    def __init__(self, map_location: Any):
        known = map_location is None or isinstance(map_location, (str, _C.device, dict)) or callable(map_location)
        if not known:
            raise TypeError(
                "load: argument 'map_location' must be None, a device, a dict of devices or a function, got "
                f"{type(map_location).__name__}"
            )
        self.map_location = map_location
        self.host = str(host())  # the device whose memory files are read into
        self.error: BaseException | None = None  # raised by the user's function

    def target(self, device: str) -> str:
        """Returns the device for a storage that was saved from ``device``; only a device or a dict gives another."""
        given = self.map_location
        if isinstance(given, dict):
            return device_text(given.get(device, device))
        return device if given is None or callable(given) else device_text(given)

    def place(self, device: str, nbytes: int, read: Read) -> Any:
        """Returns a storage as a tensor of uint8, on the device that ``map_location`` gives for ``device``."""
        given = self.map_location
        if callable(given) and device != META:
            flat = read()
            try:
                result = given(UntypedStorage(flat), device)
                if result is not None and (not isinstance(result, UntypedStorage) or result.nbytes() != nbytes):
                    got = f"{result.nbytes()} bytes" if isinstance(result, UntypedStorage) else type(result).__name__
                    raise TypeError(
                        f"load: argument 'map_location' must return None or a storage of {nbytes} bytes, got {got}"
                    )
            except Exception as error:
                self.error = error
                raise
            if result is not None:
                return result._bytes
            return self._moved(flat, device, device)
        if given is None and device != META and options.packages:
            return self._restored(read(), device)
        target = META if device == META else self.target(device)
        if target == META:
            return _C._packet("aten::empty")((nbytes,), dtype=_C.uint8, device=META)
        return self._moved(read(), device, target)

    def _restored(self, flat: Any, device: str) -> Any:
        """Returns the storage that a function of ``register_package`` makes, else one on the saved device."""
        try:
            found = options.restored(UntypedStorage(flat), device)
        except Exception as error:
            self.error = error
            raise
        return self._moved(flat, device, device) if found is None else found._bytes

    def _moved(self, flat: Any, device: str, target: str) -> Any:
        if target == self.host:
            return flat
        try:
            return flat.to(target)
        except (RuntimeError, ValueError) as error:
            note = f"load: a storage was saved on '{device}', and '{target}' is not here: {error}"
            raise CheckpointError(f"{note}; pass map_location='{self.host}'") from error
