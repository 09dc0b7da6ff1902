"""The eager workflow: a model is prepared with observers, runs on calibration data, and is converted."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import lamella
from lamella import Tensor, nn

from . import observers, training
from .choosing import numbers
from .modules import (
    CONVOLUTIONS,
    DeQuantize,
    DynamicLinear,
    FloatFunctional,
    QFunctional,
    Quantize,
    QuantizedConv,
    QuantizedEmbedding,
    QuantizedEmbeddingBag,
    QuantizedLinear,
)
from .tensor import type_name


class QConfig(NamedTuple):
    """How a layer is quantized: functions that make the observers of its result and of its weight."""

    activation: Callable[[], Any]
    weight: Callable[[], Any]


default_qconfig = QConfig(observers.default_observer, observers.default_weight_observer)
default_per_channel_qconfig = QConfig(observers.default_observer, observers.default_per_channel_weight_observer)
default_dynamic_qconfig = QConfig(observers.default_dynamic_quant_observer, observers.default_weight_observer)
default_qat_qconfig = QConfig(training.default_fake_quant, training.default_weight_fake_quant)


def get_default_qconfig(backend: str = "x86") -> QConfig:
    """Returns how layers are quantized by default: histograms of results, weights by channel.

    Args:
        backend: one of torch's names, "x86", "fbgemm", "onednn" or "qnnpack"; the last uses all codes, and one scale
            for a weight

    Raises:
        ValueError: another name
    """
    if backend in ("x86", "fbgemm", "onednn"):
        return QConfig(observers.default_histogram_observer, observers.default_per_channel_weight_observer)
    if backend == "qnnpack":
        return QConfig(observers.HistogramObserver.with_args(dtype=lamella.uint8), observers.default_weight_observer)
    raise ValueError(f"argument 'backend': expected 'x86', 'fbgemm', 'onednn' or 'qnnpack', got {backend!r}")


def get_default_qat_qconfig(backend: str = "x86") -> QConfig:
    """Returns how layers are trained for quantization by default; the names are those of `get_default_qconfig`."""
    get_default_qconfig(backend)
    weight = training.default_per_channel_weight_fake_quant
    return QConfig(training.default_fake_quant, training.default_weight_fake_quant if backend == "qnnpack" else weight)


# ---- stubs --------------------------------------------------------------------------------------------------------


class _Stub(nn.Module):
    """The base of modules that mark a place in a model, and return their argument until conversion."""

    def __init__(self, qconfig: QConfig | None = None):
        super().__init__()
        if qconfig is not None:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        return x


class QuantStub(_Stub):
    """Marks where a model's input becomes quantized; conversion puts a `Quantize` in its place."""


class DeQuantStub(_Stub):
    """Marks where a model's result becomes plain again; conversion puts a `DeQuantize` in its place."""


class QuantWrapper(nn.Module):
    """A module between a `QuantStub` and a `DeQuantStub`."""

    def __init__(self, module: Any):
        super().__init__()
        self.quant, self.dequant, self.module = QuantStub(), DeQuantStub(), module

    def forward(self, x: Tensor) -> Tensor:
        return self.dequant(self.module(self.quant(x)))


# ---- fusing ---------------------------------------------------------------------------------------------------------


class Fused(nn.Module):
    """Layers that are converted as one: a convolution or a linear layer, its batch normalization, and relu."""

    def __init__(self, *layers: Any):
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)

    @property
    def first(self) -> Any:
        return self.layers[0]

    @property
    def relu(self) -> bool:
        return isinstance(self.layers[-1], nn.ReLU)

    @property
    def bn(self) -> Any:
        return self.layers[1] if len(self.layers) > 1 and isinstance(self.layers[1], NORMS) else None


NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
WEIGHTED = (nn.Linear, *CONVOLUTIONS)


def is_foldable(module: Any) -> bool:
    """Returns whether a batch normalization can be folded into the convolution before it."""
    return isinstance(module, NORMS) and module.affine and module.track_running_stats


def fusable(layers: list[Any]) -> int:
    """Returns how many layers at the beginning of a list are converted as one; 0 if fewer than two are."""
    if not layers or type(layers[0]) not in WEIGHTED:
        return 0
    n = 1
    if type(layers[0]) in CONVOLUTIONS and len(layers) > n and is_foldable(layers[n]):
        n += 1
    if len(layers) > n and type(layers[n]) is nn.ReLU:
        n += 1
    return n if n > 1 else 0


def fuse_modules(model: Any, groups: list[Any], inplace: bool = False) -> Any:
    """Joins layers of a model that follow each other, so that conversion makes one layer of each group.

    Args:
        groups: lists of names, as ``[["conv", "bn", "relu"], ["fc", "act"]]``, or one such list. The first name stands
            for the group afterwards, and the others for `nn.Identity`
        inplace: changes the model itself; else a copy

    Raises:
        ValueError: the layers are not a convolution or linear layer, perhaps its batch normalization, perhaps relu
    """
    model = model if inplace else copy.deepcopy(model)
    for names in [groups] if groups and isinstance(groups[0], str) else groups:
        layers = [model.get_submodule(name) for name in names]
        if fusable(layers) != len(layers):
            kinds = ", ".join(type(m).__name__ for m in layers)
            raise ValueError(
                f"fuse_modules: {names} are {kinds}; expected a convolution or a linear layer, then its batch "
                "normalization (of a convolution), then ReLU"
            )
        fused = Fused(*layers)
        if hasattr(layers[0], "qconfig"):
            fused.qconfig = layers[0].qconfig
        for name, made in zip(names, [fused, *(nn.Identity() for _ in names[1:])], strict=True):
            replace(model, name, made)
    return model


fuse_modules_qat = fuse_modules  # torch has a function of its own for models in training


def fuse_by_structure(model: Any) -> None:
    """Joins the layers that follow each other in every Sequential of a model."""
    within = [m.layers for m in model.modules() if isinstance(m, Fused)]
    for module in list(model.modules()):
        if type(module) is not nn.Sequential or any(module is layers for layers in within):
            continue
        names = list(module._modules)
        at = 0
        while at < len(names):
            n = fusable([module._modules[name] for name in names[at:]])
            if n:
                fuse_modules(module, names[at : at + n], inplace=True)
            at += max(n, 1)


def replace(model: Any, name: str, module: Any) -> None:
    """Puts a module in the place of the submodule of a name."""
    parent, _, last = name.rpartition(".")
    setattr(model.get_submodule(parent) if parent else model, last, module)


def replace_all(model: Any, made: dict[int, Any]) -> None:
    """Puts modules in the place of others, by the others' identity, wherever they stand in a model."""
    for parent in list(model.modules()):
        for name, child in parent._modules.items():
            if id(child) in made:
                parent._modules[name] = made[id(child)].train(child.training)


# ---- prepare, calibrate, convert ------------------------------------------------------------------------------------

# Modules whose results are observed.
OBSERVED = (*WEIGHTED, Fused, QuantStub, FloatFunctional)


def is_observed(module: Any) -> bool:
    return type(module) in OBSERVED


def configured(model: Any, qconfig: Any = None, prefix: str = "") -> Iterable[tuple[str, Any, Any]]:
    """Yields the modules to observe, by name, with their qconfig: their own or that of the module around them. A
    module's ``qconfig`` of None leaves it, and what is in it, in floating numbers."""
    qconfig = getattr(model, "qconfig", qconfig)
    if is_observed(model):
        if qconfig is not None:
            yield prefix, model, qconfig
        return
    if isinstance(model, training._Trained):
        raise ValueError(f"prepare: '{prefix}' is prepared for training already")
    for name, child in model.named_children():
        yield from configured(child, qconfig, f"{prefix}.{name}" if prefix else name)


def prepare(model: Any, inplace: bool = False, fuse: bool = True) -> Any:
    """Gives observers to the layers of a model in evaluation that have a ``qconfig``, their own or of a module around
    them. Run the prepared model on data that is like what it will get, then `convert` it.

    Args:
        inplace: changes the model itself; else a copy
        fuse: joins convolutions and linear layers with what follows them in a Sequential, as `fuse_modules`

    Raises:
        ValueError: the model is in training, or no layer has a qconfig
    """
    if model.training:
        raise ValueError(
            "prepare: the model is in training; call eval(), or prepare_qat() to train it for quantization"
        )
    return observed(model, inplace, fuse, train=False)


def prepare_qat(model: Any, inplace: bool = False, fuse: bool = True) -> Any:
    """Gives fake quantization to the layers of a model that have a ``qconfig``, so that training learns to do with
    codes. `convert` it afterwards, in evaluation.

    Raises:
        ValueError: no layer has a qconfig
    """
    return observed(model, inplace, fuse, train=True)


def observed(model: Any, inplace: bool, fuse: bool, train: bool) -> Any:
    model = model if inplace else copy.deepcopy(model)
    if fuse:
        fuse_by_structure(model)
    found = list(configured(model))
    if not found:
        raise ValueError(
            "prepare: no layer has a qconfig; set model.qconfig = lamella.quantization.get_default_qconfig(), or that "
            "of a submodule"
        )
    if any(hasattr(m, "activation_post_process") for _, m, _ in found):
        raise ValueError("prepare: the model has observers already; prepare a model that has none")
    made = {}
    for _, module, qconfig in found:
        if id(module) in made:  # a layer that stands at several places
            continue
        layer = trained(module, qconfig) if train else evaluated(module)
        layer.qconfig = qconfig
        layer.activation_post_process = qconfig.activation()
        if not isinstance(layer, FloatFunctional):
            layer.register_forward_hook(observe_result)
        made[id(module)] = layer
    replace_all(model, made)
    return made.get(id(model), model)


def evaluated(module: Any) -> Any:
    """Returns a layer whose batch normalization is folded into it."""
    if isinstance(module, Fused) and module.bn is not None:
        return Fused(training.fuse_conv_bn(module.first, module.bn), *([nn.ReLU()] if module.relu else []))
    return module


def observe_result(module: Any, given: Any, result: Tensor) -> Tensor:
    return module.activation_post_process(result)


def trained(module: Any, qconfig: QConfig) -> Any:
    """Returns the layer that is trained in the place of a floating one."""
    first, relu, bn = (module.first, module.relu, module.bn) if isinstance(module, Fused) else (module, False, None)
    if bn is not None:
        return training.TrainedConvBn(first, bn, qconfig, relu)
    if type(first) in CONVOLUTIONS:
        return training.TrainedConv(first, qconfig, relu)
    return training.TrainedLinear(first, qconfig, relu) if type(first) is nn.Linear else module


def convert(model: Any, inplace: bool = False) -> Any:
    """Puts quantized layers in the place of those that `prepare` or `prepare_qat` has given observers.

    Raises:
        RuntimeError: the model was not prepared, or an observer has seen no data; the model is unchanged then
    """
    work = model if inplace else copy.deepcopy(model)
    found = [(name, m) for name, m in work.named_modules() if hasattr(m, "activation_post_process") and is_layer(m)]
    if not found:
        raise RuntimeError("convert: no layer has an observer; call prepare() first, and run the model on data")
    made = {}
    for name, module in found:  # all of them first, so that an error changes nothing
        try:
            made[id(module)] = converted(module)
        except (RuntimeError, ValueError, NotImplementedError) as error:
            raise type(error)(f"convert: layer '{name}': {error}") from error
    made |= {id(m): DeQuantize() for m in work.modules() if type(m) is DeQuantStub}
    replace_all(work, made)
    return made.get(id(work), work)


def is_layer(module: Any) -> bool:
    return is_observed(module) or isinstance(
        module, (training.TrainedLinear, training.TrainedConv, training.TrainedConvBn)
    )


def converted(module: Any) -> Any:
    """Returns the quantized layer for one that was observed."""
    observer = module.activation_post_process
    out = *numbers(*observer.calculate_qparams()), observer.dtype, observer.quant_min, observer.quant_max
    if isinstance(module, QuantStub):
        return Quantize(*out)
    if isinstance(module, FloatFunctional):
        return QFunctional(*out)
    if isinstance(module, training._Trained):
        first, relu, watcher = module.folded(), module.relu, module.weight_fake_quant
        if watcher.axis is None and isinstance(watcher, training.LearnableFakeQuantize):
            weight = watcher.quantize(first.weight.detach())
        else:
            watcher.activation_post_process(first.weight)
            weight = watcher.quantize(first.weight.detach())
    else:
        first, relu = (module.first, module.relu) if isinstance(module, Fused) else (module, False)
        watcher = module.qconfig.weight()
        watcher(first.weight)
        weight = watcher.quantize(first.weight.detach())
    if type(first) is nn.Linear:
        return QuantizedLinear(weight, first.bias, *out, relu)
    return QuantizedConv(weight, first.bias, first, *out, relu=relu)


def quantize(model: Any, run_fn: Callable[..., Any], run_args: Any = (), inplace: bool = False) -> Any:
    """Prepares a model, runs ``run_fn(model, *run_args)`` on it, and converts it: post-training static quantization.

    Raises:
        ValueError: the model is in training, or no layer has a qconfig
        RuntimeError: ``run_fn`` has run no data through a layer
    """
    prepared = prepare(model, inplace)
    with lamella.no_grad():
        run_fn(prepared, *(run_args if isinstance(run_args, (list, tuple)) else (run_args,)))
    return convert(prepared, inplace=True)


def quantize_dynamic(model: Any, qconfig_spec: Any = None, dtype: Any = lamella.int8, inplace: bool = False) -> Any:
    """Quantizes the weights of a model's linear layers, which quantize their inputs when they run.

    Args:
        qconfig_spec: the types of layers, or names of submodules; by default `nn.Linear`. A dictionary may give them
            `default_dynamic_qconfig`, or None to leave a layer as it is
        dtype: of the weights

    Raises:
        NotImplementedError: a layer of another kind is named, or a qconfig is another one
    """
    if isinstance(qconfig_spec, dict):
        for key, qconfig in qconfig_spec.items():
            if qconfig is not None and qconfig != default_dynamic_qconfig:
                raise NotImplementedError(
                    f"quantize_dynamic: argument 'qconfig_spec': {key!r} has {qconfig!r}; it takes "
                    "default_dynamic_qconfig and None, and 'dtype' for all"
                )
        qconfig_spec = [key for key, qconfig in qconfig_spec.items() if qconfig is not None]
    model = model if inplace else copy.deepcopy(model)
    spec = {nn.Linear} if qconfig_spec is None else set(qconfig_spec)
    places: dict[int, Any] = {}
    for name, module in list(model.named_modules()):
        if type(module) not in spec and name not in spec:
            continue
        if type(module) is nn.Linear:
            made: Any = DynamicLinear.from_float(module, type_name(dtype), by_row=False)
        elif type(module) is nn.Embedding:
            made = QuantizedEmbedding.from_float(module, type_name(dtype))
        elif type(module) is nn.EmbeddingBag:
            made = QuantizedEmbeddingBag.from_float(module, type_name(dtype))
        else:
            raise NotImplementedError(
                f"quantize_dynamic: '{name}' is a {type(module).__name__}; it takes nn.Linear, nn.Embedding and "
                "nn.EmbeddingBag"
            )
        places[id(module)] = made
    replace_all(model, places)
    return places.get(id(model), model)
