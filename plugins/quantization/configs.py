"""`quantize_`, one entry for all ways of quantizing a model, and the configurations that it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import lamella
from lamella import nn

from . import eager
from .choosing import numbers
from .modules import DynamicLinear, QuantizedEmbedding, WeightOnlyLinear


@dataclass(frozen=True)
class Int8WeightOnly:
    """Weights of linear layers and embeddings as int8, with a scale for each row or for groups within the rows.

    A group size that does not divide the in features of a layer is an error.
    """

    group_size: int | None = None
    dtype: str = "int8"

    def layer(self, module: Any) -> Any:
        """Returns the layer in the place of another one, or None for a layer of another kind."""
        if type(module) is nn.Linear:
            return WeightOnlyLinear.from_float(module, self.dtype, self.group_size)
        if type(module) is nn.Embedding:
            return QuantizedEmbedding.from_float(module, self.dtype, self.group_size)
        return None


@dataclass(frozen=True)
class Int4WeightOnly(Int8WeightOnly):
    """Weights of linear layers and embeddings as int4, with scales for groups within the rows."""

    group_size: int | None = 32
    dtype: str = "int4"


@dataclass(frozen=True)
class Int8Dynamic:
    """Weights of linear layers as int8; an input is quantized by its own range, row by row, when a layer runs."""

    group_size: int | None = None
    dtype: str = "int8"

    def layer(self, module: Any) -> Any:
        """Returns the layer in the place of another one, or None for a layer of another kind."""
        return DynamicLinear.from_float(module, self.dtype, self.group_size) if type(module) is nn.Linear else None


@dataclass(frozen=True)
class Int8DynamicInt4Weight(Int8Dynamic):
    """Weights of linear layers as int4 by groups; their inputs are rounded to eight bits by their own range."""

    group_size: int | None = 32
    dtype: str = "int4"


@dataclass(frozen=True)
class Static:
    """Weights as int8 and results as uint8, by scales that ``calibrate(model)`` lets observers choose."""

    calibrate: Callable[[Any], Any]
    qconfig: Any = field(default_factory=eager.get_default_qconfig)


def quantize_(model: Any, config: Any) -> Any:
    """Quantizes the layers of a model in place, and returns the model.

    Args:
        config: a configuration for all layers that it can quantize; or a dictionary of them by the name of a submodule,
            by the type of a layer, or by a function (name, module) -> bool. The first entry that fits a layer counts,
            and None leaves the layer in floating numbers

    Raises:
        ValueError: nothing in the model fits, or a group size does not divide a layer's in features; the model is
            unchanged then

    >>> model = lamella.nn.Sequential(lamella.nn.Linear(64, 64), lamella.nn.ReLU(), lamella.nn.Linear(64, 2))
    >>> lamella.quantization.quantize_(model, {"2": None, lamella.nn.Linear: lamella.quantization.Int4WeightOnly()})
    Sequential(
      (0): WeightOnlyLinear(64, 64, weight=int4 per_group_symmetric)
      (1): ReLU()
      (2): Linear(in_features=64, out_features=2, bias=True)
    )
    """
    chosen = {name: choice(config, name, m) for name, m in model.named_modules() if name}
    statics = {name: c for name, c in chosen.items() if isinstance(c, Static)}
    made = []
    for name, c in chosen.items():
        if c is None or isinstance(c, Static):
            continue
        try:
            layer = c.layer(model.get_submodule(name))
        except ValueError as error:
            raise ValueError(f"quantize_: layer '{name}': {error}") from error
        if layer is not None:
            made.append((name, layer))
    if not made and not statics:
        raise ValueError("quantize_: no layer of the model fits the configuration")
    if statics:
        made += static_layers(model, statics)
    eager.replace_all(model, {id(model.get_submodule(name)): layer for name, layer in made})
    return model


def choice(config: Any, name: str, module: Any) -> Any:
    """Returns the configuration of a layer, or None."""
    if not isinstance(config, dict):
        return config
    for key, value in config.items():
        if key == name or key is type(module) or (not isinstance(key, (str, type)) and key(name, module)):
            return value
    return None


class Between(nn.Module):
    """A layer of quantized tensors among floating ones: it quantizes what it gets and gives floating numbers."""

    def __init__(self, quant: Any, layer: Any):
        super().__init__()
        self.quant, self.layer = quant, layer

    def forward(self, input: Any) -> Any:
        return self.layer(self.quant(input)).dequantize()


def watched(module: Any, before: Any, after: Any) -> list[Any]:
    """Lets observers see what a module gets and gives; returns the hooks that do so."""

    def see_given(module: Any, given: Any, keywords: Any) -> None:
        before(given[0] if given else next(iter(keywords.values())))

    def see_result(module: Any, given: Any, result: Any) -> None:
        after(result)

    return [module.register_forward_pre_hook(see_given, with_kwargs=True), module.register_forward_hook(see_result)]


def static_layers(model: Any, statics: dict[str, Static]) -> list[tuple[str, Any]]:
    """Observes the inputs and the results of layers on calibration data, and returns the quantized layers."""
    layers, hooks = {}, []
    for name, config in statics.items():
        module = model.get_submodule(name)
        if type(module) in eager.WEIGHTED:
            layers[name] = (module, config, config.qconfig.activation(), config.qconfig.activation())
    if not layers:
        raise ValueError("quantize_: no layer of the model fits the configuration")
    try:
        for module, _, before, after in layers.values():
            hooks += watched(module, before, after)
        with lamella.no_grad():
            for calibrate in {id(c.calibrate): c.calibrate for _, c, *_ in layers.values()}.values():
                calibrate(model)
    finally:
        for hook in hooks:
            hook.remove()
    made = []
    for name, (module, config, before, after) in layers.items():
        try:
            chosen = numbers(*before.calculate_qparams())
            module.qconfig, module.activation_post_process = config.qconfig, after
            made.append((name, Between(eager.Quantize(*chosen, before.dtype, before.quant_min, before.quant_max),
                                       eager.converted(module))))  # fmt: skip
        except RuntimeError as error:
            raise RuntimeError(f"quantize_: layer '{name}': {error}") from error
        finally:
            for attribute in ("qconfig", "activation_post_process"):
                if hasattr(module, attribute):
                    delattr(module, attribute)
    return made
