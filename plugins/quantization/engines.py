"""``lamella.backends.quantized``, where programs for torch choose an engine."""

from __future__ import annotations

from types import ModuleType

ENGINES = ("x86", "fbgemm", "onednn", "qnnpack")


class Engines(ModuleType):
    """The module ``lamella.backends.quantized``. An engine's name changes nothing, as each backend has its own kernels.

    >>> lamella.backends.quantized.engine = "fbgemm"
    >>> lamella.backends.quantized.engine
    'fbgemm'
    >>> lamella.backends.quantized.engine = "none"
    Traceback (most recent call last):
    RuntimeError: backends.quantized.engine: expected one of x86, fbgemm, onednn, qnnpack, got 'none'
    >>> lamella.backends.quantized.engine = "x86"
    """

    supported_engines = list(ENGINES)
    chosen = ENGINES[0]

    @property
    def engine(self) -> str:
        """The engine that a program has chosen; the first one is "x86"."""
        return self.chosen

    @engine.setter
    def engine(self, name: str) -> None:
        if name not in ENGINES:
            raise RuntimeError(f"backends.quantized.engine: expected one of {', '.join(ENGINES)}, got {name!r}")
        self.chosen = name
