"""torch's switches that act on the device: those of cuBLAS, of cuDNN, of cuFFT and of determinism."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import lamella

from .surface import _index


class Products(SimpleNamespace):
    """Switches of products of matrices."""

    @property
    def allow_tf32(self) -> bool:
        """Whether cuBLAS may round operands of products of float32 and complex64 to TF32; False at the start."""
        return bool(lamella.ops.cuda._allow_tf32())

    @allow_tf32.setter
    def allow_tf32(self, on: bool) -> None:
        lamella.ops.cuda._allow_tf32(bool(on))


class Plans(SimpleNamespace):
    """``lamella.backends.cuda.cufft_plan_cache``: the plans that cuFFT has made on the current device, or on device
    ``i`` as ``cufft_plan_cache[i]``. A plan beyond ``max_size`` takes the place of the one that was not used for the
    longest time.
    """

    def _read(self, what: str, number: int | None = None) -> int:
        return int(lamella.ops.cuda._cufft_plan_cache(_index(vars(self).get("_device")), what, number))

    @property
    def size(self) -> int:
        """The number of plans."""
        return self._read("size")

    @property
    def max_size(self) -> int:
        """The most plans that are kept; 4096 at the start. With 0, each call makes a plan of its own."""
        return self._read("max_size")

    @max_size.setter
    def max_size(self, most: int) -> None:
        self._read("max_size", most)

    def clear(self) -> None:
        """Drops all plans, but for those that graphs replay."""
        self._read("clear")

    def __getitem__(self, device: Any) -> Plans:
        plans = Plans(_device=_index(device))
        plans._read("size")  # an unknown device is an error
        return plans


def _switch(name: str, doc: str) -> Any:
    """A property that reads and sets a switch of convolutions on the device."""

    def read(module: ModuleType) -> bool:
        return bool(lamella.ops.cuda._cudnn_switch(name))

    def write(module: ModuleType, on: bool) -> None:
        lamella.ops.cuda._cudnn_switch(name, bool(on))

    return property(read, write, doc=doc)


class Convolutions(ModuleType):
    """``lamella.backends.cudnn``: switches of convolutions. ``benchmark`` has no effect: cuDNN's heuristics choose."""

    enabled = _switch("enabled", "Whether cuDNN computes convolutions if it is installed; True at the start.")
    allow_tf32 = _switch("allow_tf32", "Whether cuDNN may round operands of float32 to TF32; True at the start.")
    deterministic = _switch("deterministic", "Whether cuDNN may use only deterministic algorithms; False at the start.")


SWITCHES = {"enabled": True, "allow_tf32": True, "deterministic": False}


def is_available() -> bool:
    """Returns whether cuDNN was found."""
    return version() is not None


def version() -> int | None:
    """Returns 92800 for cuDNN 9.28.0, or None without cuDNN."""
    return int(lamella.ops.cuda._cudnn_version()) or None


def connect() -> None:
    """Connects the switches to the device, and sets them to the values that they got before the backend was loaded."""
    products = lamella.backends.cuda.matmul  # type: ignore[attr-defined]
    before = products.__dict__.pop("allow_tf32", False)
    products.__class__ = Products
    products.allow_tf32 = before
    plans = lamella.backends.cuda.cufft_plan_cache  # type: ignore[attr-defined]
    most = plans.__dict__.pop("max_size", 4096)
    plans.__dict__.clear()
    plans.__class__ = Plans
    if most != 4096:
        plans.max_size = most
    convolutions = lamella.backends.cudnn  # type: ignore[attr-defined]
    dir(convolutions)  # the lazy module loads its names
    chosen = {name: convolutions.__dict__.pop(name, usual) for name, usual in SWITCHES.items()}
    convolutions.__class__ = Convolutions
    for name, on in chosen.items():
        setattr(convolutions, name, on)
    convolutions.is_available, convolutions.version = is_available, version


def determine(on: bool) -> None:
    """Sets the switch of ``use_deterministic_algorithms``, on which only convolutions of this backend depend."""
    lamella.ops.cuda._cudnn_switch("deterministic_algorithms", on)
