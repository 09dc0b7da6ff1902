"""Quantized tensors: the public names of ``lamella.quantization``.

A quantized tensor is a tensor of integers with the scale and the zero point that give them meaning. Operators compute
with the integers, or say that they do not. ``docs/quantization.md`` is the guide.

>>> q = lamella.quantize_per_tensor(lamella.tensor([0.5, 1.0]), 0.25, 0, lamella.int8)
>>> q.int_repr(), q.dequantize()
(tensor([2, 4], dtype=lamella.int8), tensor([0.5000, 1.0000]))
>>> with lamella.quantization.out_scale(0.5):
...     (q + q).int_repr()
tensor([2, 4], dtype=lamella.int8)
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import quantizer as quantizer
    from .blocks import Call as Call
    from .blocks import out_scale as out_scale
    from .blocks import strict as strict
    from .blocks import trace as trace
    from .choosing import choose_scales as choose_scales
    from .choosing import quantize as quantize
    from .configs import Int4WeightOnly as Int4WeightOnly
    from .configs import Int8Dynamic as Int8Dynamic
    from .configs import Int8DynamicInt4Weight as Int8DynamicInt4Weight
    from .configs import Int8WeightOnly as Int8WeightOnly
    from .configs import Static as Static
    from .configs import quantize_ as quantize_
    from .eager import DeQuantStub as DeQuantStub
    from .eager import QConfig as QConfig
    from .eager import QuantStub as QuantStub
    from .eager import QuantWrapper as QuantWrapper
    from .eager import convert as convert
    from .eager import default_dynamic_qconfig as default_dynamic_qconfig
    from .eager import default_per_channel_qconfig as default_per_channel_qconfig
    from .eager import default_qat_qconfig as default_qat_qconfig
    from .eager import default_qconfig as default_qconfig
    from .eager import fuse_modules as fuse_modules
    from .eager import fuse_modules_qat as fuse_modules_qat
    from .eager import get_default_qat_qconfig as get_default_qat_qconfig
    from .eager import get_default_qconfig as get_default_qconfig
    from .eager import prepare as prepare
    from .eager import prepare_qat as prepare_qat
    from .eager import quantize_dynamic as quantize_dynamic
    from .modules import DeQuantize as DeQuantize
    from .modules import DynamicLinear as DynamicLinear
    from .modules import FloatFunctional as FloatFunctional
    from .modules import QFunctional as QFunctional
    from .modules import Quantize as Quantize
    from .modules import QuantizedConv as QuantizedConv
    from .modules import QuantizedEmbedding as QuantizedEmbedding
    from .modules import QuantizedEmbeddingBag as QuantizedEmbeddingBag
    from .modules import QuantizedLinear as QuantizedLinear
    from .modules import WeightOnlyLinear as WeightOnlyLinear
    from .observers import HistogramObserver as HistogramObserver
    from .observers import MinMaxObserver as MinMaxObserver
    from .observers import MovingAverageMinMaxObserver as MovingAverageMinMaxObserver
    from .observers import MovingAveragePerChannelMinMaxObserver as MovingAveragePerChannelMinMaxObserver
    from .observers import Observer as Observer
    from .observers import PercentileObserver as PercentileObserver
    from .observers import PerChannelMinMaxObserver as PerChannelMinMaxObserver
    from .observers import PlaceholderObserver as PlaceholderObserver
    from .observers import default_dynamic_quant_observer as default_dynamic_quant_observer
    from .observers import default_histogram_observer as default_histogram_observer
    from .observers import default_observer as default_observer
    from .observers import default_per_channel_weight_observer as default_per_channel_weight_observer
    from .observers import default_weight_observer as default_weight_observer
    from .quantizer import QuantizedModel as QuantizedModel
    from .rounding import AWQ as AWQ
    from .rounding import GPTQ as GPTQ
    from .training import FakeQuantize as FakeQuantize
    from .training import LearnableFakeQuantize as LearnableFakeQuantize
    from .training import default_fake_quant as default_fake_quant
    from .training import default_per_channel_weight_fake_quant as default_per_channel_weight_fake_quant
    from .training import default_weight_fake_quant as default_weight_fake_quant
    from .training import disable_fake_quant as disable_fake_quant
    from .training import disable_observer as disable_observer
    from .training import enable_fake_quant as enable_fake_quant
    from .training import enable_observer as enable_observer
    from .types import NumericType as NumericType
    from .types import memory as memory
    from .types import register_type as register_type
    from .types import scheme as scheme
    from .types import type_names as type_names

# The public names by module; a module is imported when one of its names is first used.
NAMES = {
    "blocks": (
        "Call",
        "out_scale",
        "strict",
        "trace",
    ),
    "choosing": (
        "choose_scales",
        "quantize",
    ),
    "configs": (
        "Int4WeightOnly",
        "Int8Dynamic",
        "Int8DynamicInt4Weight",
        "Int8WeightOnly",
        "Static",
        "quantize_",
    ),
    "eager": (
        "DeQuantStub",
        "QConfig",
        "QuantStub",
        "QuantWrapper",
        "convert",
        "default_dynamic_qconfig",
        "default_per_channel_qconfig",
        "default_qat_qconfig",
        "default_qconfig",
        "fuse_modules",
        "fuse_modules_qat",
        "get_default_qat_qconfig",
        "get_default_qconfig",
        "prepare",
        "prepare_qat",
        "quantize_dynamic",
    ),
    "modules": (
        "DeQuantize",
        "DynamicLinear",
        "FloatFunctional",
        "QFunctional",
        "Quantize",
        "QuantizedConv",
        "QuantizedEmbedding",
        "QuantizedEmbeddingBag",
        "QuantizedLinear",
        "WeightOnlyLinear",
    ),
    "observers": (
        "HistogramObserver",
        "MinMaxObserver",
        "MovingAverageMinMaxObserver",
        "MovingAveragePerChannelMinMaxObserver",
        "Observer",
        "PerChannelMinMaxObserver",
        "PercentileObserver",
        "PlaceholderObserver",
        "default_dynamic_quant_observer",
        "default_histogram_observer",
        "default_observer",
        "default_per_channel_weight_observer",
        "default_weight_observer",
    ),
    "quantizer": ("QuantizedModel",),
    "rounding": (
        "AWQ",
        "GPTQ",
    ),
    "training": (
        "FakeQuantize",
        "LearnableFakeQuantize",
        "default_fake_quant",
        "default_per_channel_weight_fake_quant",
        "default_weight_fake_quant",
        "enable_observer",
        "enable_fake_quant",
        "disable_observer",
        "disable_fake_quant",
    ),
    "types": (
        "NumericType",
        "memory",
        "register_type",
        "scheme",
        "type_names",
    ),
}
if not TYPE_CHECKING:  # type checkers see the imports above
    __all__ = ["quantizer", *(name for names in NAMES.values() for name in names)]


def __getattr__(name):
    if name == "quantizer":
        return import_module(f"{__name__}.quantizer")
    if name in ("fake_quantize", "observer", "qconfig", "stubs"):  # modules of torch.quantization
        return getattr(import_module(f"{__name__}.ao").quantization, name)
    for module, names in NAMES.items():
        if name in names:
            found = import_module(f"{__name__}.{module}")
            globals().update({n: getattr(found, n) for n in names})
            return globals()[name]
    raise AttributeError(f"module 'lamella.quantization' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *__all__})
