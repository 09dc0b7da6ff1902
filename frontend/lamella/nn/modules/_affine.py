"""The common base of normalizations that have a weight and a bias."""

from __future__ import annotations

from typing import Any

import lamella.nn.init as init
from lamella.nn.modules.linear import empty_parameter
from lamella.nn.modules.module import Module


class _Affine(Module):
    """A normalization whose result is multiplied by ``weight`` and added to ``bias``, unless these are None."""

    weight: Any
    bias: Any

    def _make_weights(self, shape: tuple[int, ...], affine: bool, bias: bool, device: Any, dtype: Any) -> None:
        """Makes the parameters of ``affine``, without values: the weight, and with ``bias`` also the bias."""
        at = {"device": device, "dtype": dtype}
        self.register_parameter("weight", empty_parameter(*shape, **at) if affine else None)
        self.register_parameter("bias", empty_parameter(*shape, **at) if affine and bias else None)

    def reset_parameters(self) -> None:
        """Sets the weight to 1 and the bias to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)
