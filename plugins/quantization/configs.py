"""`quantize_`, one entry for all ways of quantizing a model, and the configurations that it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import lamella
from lamella import nn

from . import eager
from .choosing import numbers
from .modules import DynamicLinear, QuantizedEmbedding, QuantizedEmbeddingBag, WeightOnlyLinear
from .rounding import AWQ, GPTQ, Moments, callable_or_error, checked_rounding


@dataclass(frozen=True)
class Int8WeightOnly:
    """Weights of linear layers and embeddings as int8, with a scale for each row or for groups within the rows.

    A group size that does not divide the in features of a layer is an error. ``rounding`` chooses the codes of linear
    layers by calibration data; embeddings are rounded to the nearest.
    """

    group_size: int | None = None
    dtype: str = "int8"
    rounding: GPTQ | AWQ | None = None

    def __post_init__(self) -> None:
        checked_rounding(self)

    def layer(self, module: Any) -> Any:
        """Returns the layer in the place of another one, or None for a layer of another kind."""
        if type(module) is nn.Linear:
            return WeightOnlyLinear.from_float(module, self.dtype, self.group_size)
        if type(module) is nn.Embedding:
            return QuantizedEmbedding.from_float(module, self.dtype, self.group_size)
        if type(module) is nn.EmbeddingBag:
            return QuantizedEmbeddingBag.from_float(module, self.dtype, self.group_size)
        return None


@dataclass(frozen=True)
class Int4WeightOnly(Int8WeightOnly):
    """Weights of linear layers and embeddings as int4, with scales for groups within the rows."""

    group_size: int | None = 32
    dtype: str = "int4"


@dataclass(frozen=True)
class Int8Dynamic:
    """Weights of linear layers as int8; an input is quantized by its own range, row by row, when a layer runs.

    ``rounding`` chooses the codes of weights by calibration data.
    """

    group_size: int | None = None
    dtype: str = "int8"
    rounding: GPTQ | AWQ | None = None

    def __post_init__(self) -> None:
        checked_rounding(self)

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

    def __post_init__(self) -> None:
        callable_or_error("Static", self.calibrate)
        if not isinstance(self.qconfig, eager.QConfig):
            raise TypeError(f"Static: argument 'qconfig': expected a QConfig, got {self.qconfig!r}")


def quantize_(model: Any, config: Any) -> Any:
    """Quantizes the layers of a model in place, and returns the model.

    Args:
        config: a configuration for all layers that it can quantize; or a dictionary of them by the name of a submodule,
            by the type of a layer, or by a function (name, module) -> bool. The first entry that fits a layer counts,
            and None leaves the layer in floating numbers

    Raises:
        ValueError: nothing in the model fits, a group size does not divide a layer's in features, or the inputs of a
            layer are not finite in calibration; the model is unchanged then
        RuntimeError: calibration has run no data through a layer; the model is unchanged then

    >>> model = lamella.nn.Sequential(lamella.nn.Linear(64, 64), lamella.nn.ReLU(), lamella.nn.Linear(64, 2))
    >>> lamella.quantization.quantize_(model, {"2": None, lamella.nn.Linear: lamella.quantization.Int4WeightOnly()})
    Sequential(
      (0): WeightOnlyLinear(64, 64, weight=int4 per_group_symmetric)
      (1): ReLU()
      (2): Linear(in_features=64, out_features=2, bias=True)
    )
    """
    checked(config)
    chosen = {name: choice(config, name, m) for name, m in model.named_modules() if name}
    made, statics, rounded = {}, {}, {}
    for name, c in chosen.items():
        module = model.get_submodule(name)
        if isinstance(c, Static) and type(module) in eager.WEIGHTED:
            statics[name] = (module, c, c.qconfig.activation(), c.qconfig.activation())
        if c is None or isinstance(c, Static):
            continue
        try:
            layer = c.layer(module)
        except ValueError as error:
            raise ValueError(f"quantize_: layer '{name}': {error}") from error
        if layer is not None:
            made[name] = layer
            if getattr(c, "rounding", None) is not None and type(module) is nn.Linear:
                rounded[name] = (module, c.rounding, Moments(module.in_features))
    if not made and not statics:
        raise ValueError("quantize_: no layer of the model fits the configuration")
    watchers = [(c.calibrate, module, before, after) for module, c, before, after in statics.values()]
    calibrated(model, watchers + [(c.calibrate, module, moments, None) for module, c, moments in rounded.values()])
    for name, (module, c, moments) in rounded.items():
        try:
            with lamella.no_grad():
                c.round_layer(made[name], module.weight, moments.mean())
        except (RuntimeError, ValueError) as error:
            raise type(error)(f"quantize_: layer '{name}': {error}") from error
    made |= static_layers(statics)
    eager.replace_all(model, {id(model.get_submodule(name)): layer for name, layer in made.items()})
    return model


def checked(config: Any) -> None:
    """Raises a TypeError unless `quantize_` takes a configuration or a dictionary of such."""
    for key, value in config.items() if isinstance(config, dict) else [("", config)]:
        if not (
            isinstance(value, (Static, Int8WeightOnly, Int8Dynamic)) or (value is None and isinstance(config, dict))
        ):
            where = f" at {key!r}" if isinstance(config, dict) else ""
            raise TypeError(
                f"quantize_: argument 'config': expected a configuration such as Int8WeightOnly(), or a dictionary of "
                f"them, got {value!r}{where}"
            )
        if not (isinstance(key, (str, type)) or callable(key)):
            raise TypeError(
                f"quantize_: argument 'config': expected the name of a submodule, a type or a function as a key, got "
                f"{key!r}"
            )


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


def watched(module: Any, before: Any, after: Any = None) -> list[Any]:
    """Lets observers see what a module gets and gives; returns the hooks that do so."""

    def see_given(module: Any, given: Any, keywords: Any) -> None:
        before(given[0] if given else next(iter(keywords.values())))

    def see_result(module: Any, given: Any, result: Any) -> None:
        after(result)

    hooks = [module.register_forward_pre_hook(see_given, with_kwargs=True)]
    return hooks if after is None else [*hooks, module.register_forward_hook(see_result)]


def calibrated(model: Any, watchers: list[tuple[Any, ...]]) -> None:
    """Calls each function of ``watchers`` once with the model in evaluation, while observers see what its modules get
    and give.

    Args:
        watchers: tuples of the function, a module, the observer of what it gets, and the one of its results or None
    """
    trained = [module for module in model.modules() if module.training]
    for calibrate in {id(c): c for c, *_ in watchers}.values():
        hooks = []
        try:
            for function, *watcher in watchers:
                if function is calibrate:
                    hooks += watched(*watcher)
            model.eval()
            with lamella.no_grad():
                calibrate(model)
        finally:
            for hook in hooks:
                hook.remove()
            for module in trained:
                module.training = True


def static_layers(observed: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
    """Returns quantized layers for modules by name, each with its configuration and the observers that have seen what
    it gets and gives."""
    made = {}
    for name, (module, config, before, after) in observed.items():
        try:
            chosen = numbers(*before.calculate_qparams())
            module.qconfig, module.activation_post_process = config.qconfig, after
            made[name] = Between(
                eager.Quantize(*chosen, before.dtype, before.quant_min, before.quant_max), eager.converted(module)
            )
        except RuntimeError as error:
            raise RuntimeError(f"quantize_: layer '{name}': {error}") from error
        finally:
            for attribute in ("qconfig", "activation_post_process"):
                if hasattr(module, attribute):
                    delattr(module, attribute)
    return made
