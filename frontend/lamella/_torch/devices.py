"""``lamella.cuda``, ``mps`` and ``xpu``: programs for torch query them, so they exist also without a backend."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from lamella import _C
from lamella._devices.functions import OneKind
from lamella._devices.names import DeviceModule, announce
from lamella.plugins import contributions

NAMES = ("cuda", "mps", "xpu")


def _chance() -> int:
    return int.from_bytes(os.urandom(7), "little")


class AbsentKind(OneKind):
    """The functions of a kind of devices. Without a device, functions for seeds and caches do nothing."""

    def manual_seed(self, seed: int) -> None:
        """Seeds the default generator of the current device, if there is a device.

        >>> lamella.cuda.manual_seed(3)
        """
        seed = int(seed)
        if self.is_available():
            super().manual_seed(seed)

    def seed(self) -> None:
        """Seeds the default generator of the current device with a random number.

        >>> lamella.cuda.seed()
        """
        if self.is_available():
            self.default_generator().manual_seed(_chance())

    def seed_all(self) -> None:
        """Seeds the default generators of all devices with random numbers.

        >>> lamella.cuda.seed_all()
        """
        for index in range(self.device_count()):
            self.default_generator(index).manual_seed(_chance())

    def get_rng_state_all(self) -> list[Any]:
        """Returns the states of the default generators of all devices.

        >>> state = lamella.cuda.get_rng_state_all()
        """
        return [self.get_rng_state(index) for index in range(self.device_count())]

    def set_rng_state_all(self, new_states: Any) -> None:
        """Restores the states that ``get_rng_state_all`` returned.

        >>> lamella.cuda.set_rng_state_all(lamella.cuda.get_rng_state_all())
        """
        for index, state in enumerate(new_states):
            self.set_rng_state(state, index)

    def empty_cache(self) -> None:
        """Frees memory that the allocator keeps for reuse, if there is a device.

        >>> lamella.cuda.empty_cache()
        """
        if self.is_available():
            super().empty_cache()

    def memory_stats(self, device: Any = None) -> dict[str, int]:
        """Returns the allocator's numbers; {} without a device.

        >>> isinstance(lamella.cuda.memory_stats(), dict)
        True
        """
        return super().memory_stats(device) if self.is_available() else {}

    def is_initialized(self) -> bool:
        """Returns whether there is a device. A device needs no initialization by the program.

        >>> lamella.cuda.is_initialized() == lamella.cuda.is_available()
        True
        """
        return self.is_available()

    def init(self) -> None:
        """Does nothing if there is a device; else raises the error that says why there is none.

        >>> lamella.cuda.init() if lamella.cuda.is_available() else None
        """
        self._resolve(None)

    def get_arch_list(self) -> list[str]:
        """Returns the architectures that kernels were compiled for ahead of time: none.

        >>> lamella.cuda.get_arch_list()
        []
        """
        return []

    def is_bf16_supported(self, including_emulation: bool = True) -> bool:
        """Returns whether the current device supports bfloat16.

        >>> lamella.cuda.is_bf16_supported() <= lamella.cuda.is_available()
        True
        """
        if not self.is_available():
            return False
        return _C.bfloat16 in self.get_device_capability()["supported_dtypes"]


class AbsentDevice(DeviceModule):
    """The module ``lamella.NAME`` of a kind of devices whose backend may not be installed."""

    def __init__(self, name: str):
        super().__init__(name)
        self._common = AbsentKind(name)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("_") or self._name != "cuda":
                raise
            # import_module, since the module itself uses lamella.cuda
            if (found := import_module("lamella._torch.cuda_modules").find(name)) is None:
                raise
            return found

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(n for n in vars(AbsentKind) if not n.startswith("_"))})


def install() -> None:
    """Contributes the modules of torch's devices, and their names on Tensor."""
    contributions.contribute(contributions.gather("lamella", {n: AbsentDevice(n) for n in NAMES}, placeholder=True))
    announce(NAMES)
