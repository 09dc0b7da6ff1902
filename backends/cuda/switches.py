"""torch's switches that mean something on the device: ``lamella.backends.cuda.matmul.allow_tf32``."""

from __future__ import annotations

from types import SimpleNamespace

import lamella


class Products(SimpleNamespace):
    """Switches of products of matrices."""

    @property
    def allow_tf32(self) -> bool:
        """Whether cuBLAS may round the operands of products of float32 to TF32; False at the start."""
        return bool(lamella.ops.cuda._allow_tf32())

    @allow_tf32.setter
    def allow_tf32(self, on: bool) -> None:
        lamella.ops.cuda._allow_tf32(bool(on))


def connect() -> None:
    """Has the switches that programs know act on the device, from what they were set to before it was named."""
    products = lamella.backends.cuda.matmul  # type: ignore[attr-defined]
    before = products.__dict__.pop("allow_tf32", False)
    products.__class__ = Products
    products.allow_tf32 = before
