"""Floating-point operations of convolutions, which the sizes of their arguments alone do not tell."""

from __future__ import annotations

from math import prod
from typing import Any

from lamella.library import Library

__all__ = ["Convolutions"]


class Convolutions:
    """The operations of the convolutions of all threads from now on until ``stop``, by name and sizes: the mean of the
    calls, if they differ in their strides."""

    def __init__(self):
        self._sums: dict[tuple[str, tuple, tuple], tuple[int, int]] = {}  # (calls, operations)
        _open.append(self)
        _layer().always(True)

    def stop(self) -> None:
        """Ends the counting."""
        _open.remove(self)
        if not _open:
            _layer().always(False)

    def add(self, name: str, first: Any, second: Any, n: int) -> None:
        """Adds one call with its first two arguments."""
        key = f"aten::{name}", tuple(first.shape), tuple(second.shape)
        calls, flops = self._sums.get(key, (0, 0))
        self._sums[key] = calls + 1, flops + n

    def flops_of(self, name: str, sizes: list) -> int:
        """Returns the operations of one call; 0 if none of that name and these sizes ran."""
        calls, flops = self._sums.get((name, *sizes[:2]), (1, 0)) if name in NAMES else (1, 0)  # type: ignore[arg-type]
        return flops // calls


NAMES = ("aten::convolution", "aten::_convolution_backward_weight")
_open: list[Convolutions] = []
_layers: list[Any] = []  # the one layer of the process, once a profile has needed it


def _convolution(call, input, weight, *args, **kwargs):
    result = call(input, weight, *args, **kwargs)
    for each in tuple(_open):
        each.add("convolution", input, weight, 2 * prod(result.shape) * prod(weight.shape[1:]))
    return result


def _weight(call, grad_output, input, weight_size, *args, **kwargs):
    result = call(grad_output, input, weight_size, *args, **kwargs)
    for each in tuple(_open):
        n = 2 * prod(grad_output.shape) * prod(weight_size[1:])
        each.add("_convolution_backward_weight", grad_output, input, n)
    return result


def _layer() -> Any:
    if not _layers:
        own = Library("profiler_flops", "DEF")
        layer = own.register_layer(
            "profiler_flops", at="profiler", stays_inside=True, fallthrough=True, never_on_tensors=True
        )
        aten = Library("aten", "IMPL")
        aten.impl("convolution", _convolution, "profiler_flops")
        aten.impl("_convolution_backward_weight", _weight, "profiler_flops")
        _layers.extend([layer, own, aten])
    return _layers[0]
