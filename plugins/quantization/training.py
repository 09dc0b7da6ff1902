"""Fake quantization: modules that round what goes through them as quantizing would, so that a net can be trained for
it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import lamella
import lamella.nn.functional as F
from lamella import Tensor, nn

from .choosing import RANGES, numbers
from .observers import MovingAverageMinMaxObserver, PerChannelMinMaxObserver, Watcher
from .tensor import QSCHEMES, type_name


class FakeQuantize(Watcher):
    """Observes what it gets and rounds it to the values of codes; gradients pass where a code is within the range. In
    evaluation the scales stay as they are.

    Args:
        observer: makes the observer that chooses the scales
        options: of the observer

    >>> fake = lamella.quantization.FakeQuantize()
    >>> fake(lamella.tensor([-1.0, 0.1003, 1.0]))
    tensor([-0.9961,  0.1020,  0.9961])
    """

    def __init__(self, observer: Callable[..., Any] = MovingAverageMinMaxObserver, **options: Any):
        super().__init__()
        self.activation_post_process = observer(**options)
        self.observes = self.rounds = True
        self.register_buffer("scale", lamella.ones(1))
        self.register_buffer("zero_point", lamella.zeros(1, dtype=lamella.int32))

    @property
    def dtype(self) -> str:
        """The numeric type of the codes."""
        return self.activation_post_process.dtype

    @property
    def axis(self) -> int | None:
        """The dimension that has scales, or None."""
        return self.activation_post_process.axis

    @property
    def quant_min(self) -> int:
        """The least code."""
        return self.activation_post_process.quant_min

    @property
    def quant_max(self) -> int:
        """The greatest code."""
        return self.activation_post_process.quant_max

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Returns the scales and the zero points that the observer has chosen."""
        return self.activation_post_process.calculate_qparams()

    def quantize(self, x: Tensor) -> Tensor:
        """Quantizes a tensor by these scales."""
        return self.activation_post_process.quantize(x)

    def forward(self, x: Tensor) -> Tensor:
        observer = self.activation_post_process
        if not x.numel():
            return x
        if (self.observes and self.training) or not observer.seen:
            observer(x)
            scale, zero = observer.calculate_qparams()
            self.scale, self.zero_point = scale.reshape(-1), zero.reshape(-1)
        if not self.rounds:
            return x
        limits = observer.quant_min, observer.quant_max
        if observer.axis is None:
            return lamella.fake_quantize_per_tensor_affine(x, self.scale, self.zero_point, *limits)
        return lamella.fake_quantize_per_channel_affine(x, self.scale, self.zero_point, observer.axis, *limits)


def disable_observer(module: Any) -> None:
    """Keeps the scales of a `FakeQuantize` as they are; for ``model.apply``. Other modules are left alone."""
    if isinstance(module, FakeQuantize):
        module.observes = False


def enable_observer(module: Any) -> None:
    """Lets a `FakeQuantize` choose its scales by what it gets; for ``model.apply``."""
    if isinstance(module, FakeQuantize):
        module.observes = True


def disable_fake_quant(module: Any) -> None:
    """Makes a `FakeQuantize` return what it gets; for ``model.apply``.

    >>> fake = lamella.quantization.FakeQuantize()
    >>> _ = fake.apply(lamella.quantization.disable_fake_quant)
    >>> fake(lamella.tensor([0.1003]))
    tensor([0.1003])
    """
    if isinstance(module, FakeQuantize):
        module.rounds = False


def enable_fake_quant(module: Any) -> None:
    """Lets a `FakeQuantize` round what it gets; for ``model.apply``."""
    if isinstance(module, FakeQuantize):
        module.rounds = True


class LearnableFakeQuantize(nn.Module):
    """Rounds what it gets to the values of codes, by a scale and a zero point that are trained with the net.

    The gradient of the scale is that of Esser et al., "Learned Step Size Quantization", times
    1 / sqrt(numel * quant_max). The first tensor sets the scale: 2 * mean(|x|) / sqrt(quant_max).

    Args:
        dtype: the numeric type of the codes
        symmetric: the zero point stays 0

    >>> fake = lamella.quantization.LearnableFakeQuantize(dtype=lamella.int8)
    >>> fake(lamella.tensor([-1.0, 0.5])).sum().backward()
    >>> fake.scale.grad is not None
    True
    """

    axis: int | None = None

    def __init__(self, dtype: Any = lamella.int8, symmetric: bool = True):
        super().__init__()
        self.dtype = type_name(dtype)
        self.quant_min, self.quant_max = RANGES[self.dtype]
        self.scale = nn.Parameter(lamella.ones(1))
        self.zero_point = nn.Parameter(lamella.zeros(1), requires_grad=not symmetric)
        self.chosen: Tensor
        self.register_buffer("chosen", lamella.zeros((), dtype=lamella.bool))

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """Returns the scale, float32, and the zero point, int32."""
        if not self.chosen.item():
            raise RuntimeError("LearnableFakeQuantize: has seen no tensor; train the model before it is converted")
        zero = self.zero_point.detach().round().clamp(self.quant_min, self.quant_max)
        return self.scale.detach().abs().clamp(min=1e-10).reshape(()), zero.to(lamella.int32).reshape(())

    def quantize(self, x: Tensor) -> Tensor:
        """Quantizes a tensor by the scale as it is now."""
        return lamella.ops.quantized.quantize_per_tensor(x, *numbers(*self.calculate_qparams()), self.dtype)

    def forward(self, x: Tensor) -> Tensor:
        if not self.chosen.item() and x.numel():
            with lamella.no_grad():
                self.scale.copy_((2 * x.detach().abs().mean() / self.quant_max**0.5).clamp(min=1e-10).reshape(1))
            self.chosen = lamella.ones((), dtype=lamella.bool)
        factor = 1 / max(x.numel() * self.quant_max, 1) ** 0.5
        return lamella.ops.aten._fake_quantize_learnable_per_tensor_affine(
            x, self.scale, self.zero_point, self.quant_min, self.quant_max, factor
        )


def convolve(conv: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Computes a convolution layer with another weight and bias."""
    function = {3: F.conv1d, 4: F.conv2d, 5: F.conv3d}[weight.ndim]
    return function(x, weight, bias, conv.stride, conv.padding, conv.dilation, conv.groups)


class _Trained(nn.Module):
    """The base of layers whose weight is fake-quantized while they are trained."""

    def __init__(self, module: Any, qconfig: Any, relu: bool):
        super().__init__()
        if getattr(module, "padding_mode", "zeros") != "zeros":
            raise NotImplementedError(
                f"prepare_qat: a convolution with padding_mode={module.padding_mode!r}; quantized ones pad with zeros. "
                "A qconfig of None leaves a layer as it is"
            )
        self.layer, self.qconfig, self.relu = module, qconfig, relu
        self.weight_fake_quant = qconfig.weight()
        if not isinstance(self.weight_fake_quant, (FakeQuantize, LearnableFakeQuantize)):
            raise ValueError(
                f"prepare_qat: the qconfig gives a weight {type(self.weight_fake_quant).__name__}, which rounds "
                "nothing; take get_default_qat_qconfig()"
            )

    @property
    def weight(self) -> Any:
        return self.layer.weight

    @property
    def bias(self) -> Any:
        return self.layer.bias

    def folded(self) -> Any:
        """Returns the floating layer with which the converted one computes."""
        return self.layer


class TrainedLinear(_Trained):
    """A linear layer for quantization-aware training."""

    def forward(self, x: Tensor) -> Tensor:
        y = F.linear(x, self.weight_fake_quant(self.layer.weight), self.layer.bias)
        return y.relu() if self.relu else y


class TrainedConv(_Trained):
    """A convolution for quantization-aware training."""

    def forward(self, x: Tensor) -> Tensor:
        y = convolve(self.layer, x, self.weight_fake_quant(self.layer.weight), self.layer.bias)
        return y.relu() if self.relu else y


class TrainedConvBn(_Trained):
    """A convolution and its batch normalization for quantization-aware training. The weight is rounded as it is after
    folding: times gamma / sqrt(running_var + eps)."""

    def __init__(self, module: Any, bn: Any, qconfig: Any, relu: bool):
        super().__init__(module, qconfig, relu)
        self.bn = bn

    def forward(self, x: Tensor) -> Tensor:
        conv, bn = self.layer, self.bn
        factor = bn.weight / (bn.running_var + bn.eps).sqrt()
        along = (-1, *[1] * (conv.weight.ndim - 1))
        weight = self.weight_fake_quant(conv.weight * factor.reshape(along))
        y = convolve(conv, x, weight, None) / factor.reshape(along[:-1])
        if conv.bias is not None:
            y = y + conv.bias.reshape(along[:-1])
        y = bn(y)
        return y.relu() if self.relu else y

    def folded(self) -> Any:
        return fuse_conv_bn(self.layer, self.bn)


def fuse_conv_bn(conv: Any, bn: Any) -> Any:
    """Returns a convolution that computes what a convolution and its batch normalization compute in evaluation."""
    fused = copy.deepcopy(conv)
    with lamella.no_grad():
        factor = bn.weight / (bn.running_var + bn.eps).sqrt()
        shift = bn.bias - bn.running_mean * factor
        fused.weight.copy_(conv.weight * factor.reshape((-1, *[1] * (conv.weight.ndim - 1))))
        bias = shift if conv.bias is None else shift + conv.bias * factor
        fused.bias = nn.Parameter(bias.detach().clone())
    return fused


default_fake_quant = FakeQuantize.with_args(dtype=lamella.uint8, reduce_range=True)
default_weight_fake_quant = FakeQuantize.with_args(dtype=lamella.int8, qscheme=QSCHEMES["per_tensor_symmetric"])
default_per_channel_weight_fake_quant = FakeQuantize.with_args(
    observer=PerChannelMinMaxObserver, dtype=lamella.int8, qscheme=QSCHEMES["per_channel_symmetric"]
)
