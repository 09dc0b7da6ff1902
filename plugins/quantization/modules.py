"""Modules that compute with quantized weights. They are made from floating ones by ``from_float``."""

from __future__ import annotations

from typing import Any

import lamella
import lamella.nn.functional as F
from lamella import Tensor, nn

from .choosing import quantize
from .tensor import type_name

ops = lamella.ops.quantized
CONVOLUTIONS = {nn.Conv1d: 1, nn.Conv2d: 2, nn.Conv3d: 3}


def frozen(weight: Tensor) -> nn.Parameter:
    """Returns a parameter that is not trained, so that it is saved with the module and moves with it."""
    return nn.Parameter(weight.detach(), requires_grad=False)


class _Chosen(nn.Module):
    """The base of modules with numbers that calibration has chosen, which are in the module's state beside tensors."""

    CHOSEN: tuple[str, ...] = ("scale", "zero_point", "dtype", "quant_min", "quant_max")

    def get_extra_state(self) -> Any:
        """Returns the numbers, by name."""
        return {name: getattr(self, name) for name in self.CHOSEN}

    def set_extra_state(self, state: Any) -> None:
        """Takes the numbers of another such module."""
        for name in self.CHOSEN:
            setattr(self, name, state[name])


class Quantize(_Chosen):
    """Quantizes what it gets, by a scale that calibration has chosen; a plain tensor becomes a quantized one."""

    def __init__(
        self, scale: float, zero_point: int, dtype: Any, quant_min: int | None = None, quant_max: int | None = None
    ):
        super().__init__()
        self.scale, self.zero_point, self.dtype = scale, zero_point, type_name(dtype)
        self.quant_min, self.quant_max = quant_min, quant_max

    def forward(self, x: Tensor) -> Tensor:
        return ops.quantize_per_tensor(
            x, self.scale, self.zero_point, self.dtype, quant_min=self.quant_min, quant_max=self.quant_max
        )

    def extra_repr(self) -> str:
        return f"scale={self.scale:.6g}, zero_point={self.zero_point}, dtype={self.dtype}"


class DeQuantize(nn.Module):
    """Returns the values of a quantized tensor; a plain tensor as it is."""

    def forward(self, x: Tensor) -> Tensor:
        return x.dequantize() if x.is_quantized else x


def described(weight: Tensor) -> str:
    """Returns the shape and the scheme of a weight, for printing."""
    found = lamella.quantization.scheme(weight) if weight.is_quantized else None
    kind = f"{found['type']} {found['kind']}" if found else "not quantized"
    return f"{', '.join(map(str, weight.shape))}, weight={kind}"


def by_rows(weight: Tensor, dtype: Any, group_size: int | None) -> Tensor:
    """Quantizes a weight with a scale for each row, or for groups within the rows."""
    return quantize(weight, dtype, axis=0 if group_size is None else None, group_size=group_size)


def take_weight(module: Any, state_dict: Any, prefix: str) -> None:
    """Gives a module the scales of a quantized weight that it is about to load, of the same shape, in its own dtype."""
    saved = state_dict.get(prefix + "weight")
    if isinstance(saved, Tensor) and saved.is_quantized and saved.shape == module.weight.shape:
        module.weight = frozen(saved.to(module.weight.device, module.weight.dtype, copy=True))


class _Weighted(nn.Module):
    """The base of layers with a quantized weight and a floating bias."""

    def __init__(self, weight: Tensor, bias: Tensor | None):
        super().__init__()
        self.weight = frozen(weight)
        self.bias = None if bias is None else frozen(bias.clone())

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        take_weight(self, state_dict, prefix)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def extra_repr(self) -> str:
        return described(self.weight) + ("" if self.bias is not None else ", bias=False")


class _Linear(_Weighted):
    """The base of linear layers with floating inputs. ``input_divisor``, a number for each in feature or None, divides
    the input first; the columns of the weight are multiplied by it before they are quantized."""

    input_divisor: Tensor | None

    def __init__(self, weight: Tensor, bias: Tensor | None, input_divisor: Tensor | None = None):
        super().__init__(weight, bias)
        self.register_buffer("input_divisor", input_divisor)

    def divided(self, x: Tensor) -> Tensor:
        """Returns an input after the division."""
        divisor = self.input_divisor  # a script knows of a variable, and not of an attribute, that it is not None
        return x if divisor is None else x / divisor

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        saved, features = state_dict.get(prefix + "input_divisor"), self.weight.shape[1]
        weight, added = state_dict.get(prefix + "weight"), False
        if isinstance(weight, Tensor) and weight.shape == self.weight.shape:
            if saved is None:  # of a layer without a divisor
                self.input_divisor = None
            elif isinstance(saved, Tensor) and self.input_divisor is None:
                added = True
                self.input_divisor = lamella.ones(features, dtype=self.weight.dtype, device=self.weight.device)
        super()._load_from_state_dict(state_dict, prefix, *rest)
        if added and saved.shape != (features,):  # the call above has reported it
            self.input_divisor = None

    def extra_repr(self) -> str:
        return super().extra_repr() + ("" if self.input_divisor is None else ", input_divisor=True")


class WeightOnlyLinear(_Linear):
    """A linear layer of floating numbers whose weight is kept quantized.

    >>> layer = lamella.quantization.WeightOnlyLinear.from_float(lamella.nn.Linear(64, 8), "int4", group_size=32)
    >>> layer
    WeightOnlyLinear(8, 64, weight=int4 per_group_symmetric)
    >>> layer(lamella.ones(2, 64)).shape
    lamella.Size([2, 8])
    """

    @classmethod
    def from_float(cls, module: nn.Linear, dtype: Any = lamella.int8, group_size: int | None = None) -> Any:
        """Quantizes the weight of a linear layer, with a scale for each out feature or for groups of in features."""
        return cls(by_rows(module.weight, dtype, group_size), module.bias)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(self.divided(x), self.weight, self.bias)


class DynamicLinear(_Linear):
    """A linear layer that quantizes its input by the input's own range when it runs, and gives floating numbers.

    Args:
        by_row: each row of the input gets a scale of its own; else all of it shares one
        input_divisor: the input is divided by it before it is quantized, a number for each in feature

    >>> lamella.quantization.DynamicLinear.from_float(lamella.nn.Linear(8, 2))(lamella.ones(3, 8)).shape
    lamella.Size([3, 2])
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, by_row: bool = True, input_divisor: Tensor | None = None):
        super().__init__(weight, bias, input_divisor)
        self.by_row = by_row

    @classmethod
    def from_float(
        cls, module: nn.Linear, dtype: Any = lamella.int8, group_size: int | None = None, by_row: bool = True
    ) -> Any:
        """Quantizes the weight of a linear layer, with a scale for each out feature or for groups of in features."""
        return cls(by_rows(module.weight, dtype, group_size), module.bias, by_row)

    def forward(self, x: Tensor) -> Tensor:
        return ops.linear_dynamic(self.divided(x), self.weight, self.bias, self.by_row)


class _Static(_Weighted, _Chosen):
    """The base of layers of quantized tensors, perhaps with relu, whose result's scale calibration has chosen."""

    CHOSEN = (*_Chosen.CHOSEN, "relu")

    def __init__(
        self,
        weight: Tensor,
        bias: Tensor | None,
        scale: float,
        zero_point: int,
        dtype: Any,
        quant_min: int | None = None,
        quant_max: int | None = None,
        relu: bool = False,
    ):
        super().__init__(weight, bias)
        self.scale, self.zero_point, self.dtype, self.relu = scale, zero_point, type_name(dtype), relu
        self.quant_min, self.quant_max = quant_min, quant_max

    def result(self) -> tuple[Any, ...]:
        """Returns the arguments by which operators make the result."""
        return self.scale, self.zero_point, self.dtype, self.quant_min, self.quant_max, self.relu

    def extra_repr(self) -> str:
        out = f"{super().extra_repr()}, scale={self.scale:.6g}, zero_point={self.zero_point}, dtype={self.dtype}"
        return out + (", relu" if self.relu else "")


class QuantizedLinear(_Static):
    """A linear layer of quantized tensors, perhaps followed by relu."""

    def forward(self, x: Tensor) -> Tensor:
        return ops.linear(x, self.weight, self.bias, *self.result())


class QuantizedConv(_Static):
    """A convolution of quantized tensors, of one to three spatial dimensions, perhaps followed by relu."""

    def __init__(self, weight: Tensor, bias: Tensor | None, like: Any, *out: Any, relu: bool = False):
        scale, zero_point, dtype, quant_min, quant_max = out
        super().__init__(weight, bias, scale, zero_point, dtype, quant_min, quant_max, relu)
        if like.padding_mode != "zeros" or isinstance(like.padding, str):
            raise NotImplementedError(
                f"QuantizedConv: padding={like.padding!r}, padding_mode={like.padding_mode!r}; quantized convolutions "
                "take numbers, and pad with zeros"
            )
        self.stride, self.padding, self.dilation = tuple(like.stride), tuple(like.padding), tuple(like.dilation)
        self.groups = like.groups

    def forward(self, x: Tensor) -> Tensor:
        window = self.stride, self.padding, self.dilation, self.groups
        return ops.conv(x, self.weight, self.bias, *window, *self.result())

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, stride={self.stride}, padding={self.padding}"


class QuantizedEmbedding(nn.Module):
    """A table of rows that is kept quantized, by row or by groups within the rows; it gives floating numbers.

    >>> table = lamella.quantization.QuantizedEmbedding.from_float(lamella.nn.Embedding(10, 4))
    >>> table(lamella.tensor([3, 0])).shape
    lamella.Size([2, 4])
    """

    def __init__(self, weight: Tensor):
        super().__init__()
        self.weight = frozen(weight)

    @classmethod
    def from_float(cls, module: Any, dtype: Any = lamella.int8, group_size: int | None = None) -> Any:
        """Quantizes the table of an embedding.

        Raises:
            ValueError: the embedding has `max_norm`, by which it writes to its table
        """
        if module.max_norm is not None:
            raise ValueError(
                f"max_norm={module.max_norm} writes to the table, which is fixed once it is quantized; make the "
                "embedding with max_norm=None"
            )
        return cls(by_rows(module.weight, dtype, group_size))

    def forward(self, x: Tensor) -> Tensor:
        return F.embedding(x, self.weight)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        take_weight(self, state_dict, prefix)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def extra_repr(self) -> str:
        return described(self.weight)


class QuantizedEmbeddingBag(QuantizedEmbedding):
    """A table of rows that is kept quantized; it gives the sums, means or largest elements of bags of rows.

    >>> bags = lamella.quantization.QuantizedEmbeddingBag.from_float(lamella.nn.EmbeddingBag(10, 4, mode="sum"))
    >>> bags(lamella.tensor([3, 0, 5]), lamella.tensor([0, 2])).shape
    lamella.Size([2, 4])
    """

    def __init__(
        self, weight: Tensor, mode: str = "mean", padding_idx: int | None = None, include_last_offset: bool = False
    ):
        super().__init__(weight)
        self.mode, self.padding_idx, self.include_last_offset = mode, padding_idx, include_last_offset

    @classmethod
    def from_float(cls, module: nn.EmbeddingBag, dtype: Any = lamella.int8, group_size: int | None = None) -> Any:
        """Quantizes the table of an embedding bag."""
        table = super().from_float(module, dtype, group_size).weight
        return cls(table, module.mode, module.padding_idx, module.include_last_offset)

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            mode=self.mode,
            per_sample_weights=per_sample_weights,
            include_last_offset=self.include_last_offset,
            padding_idx=self.padding_idx,
        )

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{super().extra_repr()}, mode={self.mode!r}{padding}"


class FloatFunctional(nn.Module):
    """Sums, products and joins of a module, as a module, so that calibration can choose the scale of their results.

    >>> f = lamella.quantization.FloatFunctional()
    >>> f.add(lamella.ones(2), lamella.ones(2))
    tensor([2., 2.])
    """

    def observed(self, x: Tensor) -> Tensor:
        """Returns a result after the observer has seen it."""
        return self.activation_post_process(x) if hasattr(self, "activation_post_process") else x

    def forward(self, x: Tensor) -> Tensor:
        raise RuntimeError("FloatFunctional: call add, add_relu, mul or cat")

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """Returns x + y."""
        return self.observed(x + y)

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """Returns relu(x + y)."""
        return self.observed((x + y).relu())

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """Returns x * y."""
        return self.observed(x * y)

    def cat(self, tensors: Any, dim: int = 0) -> Tensor:
        """Joins tensors along a dimension."""
        return self.observed(lamella.cat(tensors, dim))


class QFunctional(_Chosen):
    """What conversion makes of a `FloatFunctional`: sums and products of quantized tensors with a chosen scale."""

    def __init__(
        self, scale: float, zero_point: int, dtype: Any, quant_min: int | None = None, quant_max: int | None = None
    ):
        super().__init__()
        self.scale, self.zero_point, self.dtype = scale, zero_point, type_name(dtype)
        self.quant_min, self.quant_max = quant_min, quant_max

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """Returns x + y with the chosen scale."""
        return ops.add(x, y, self.scale, self.zero_point)

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        """Returns relu(x + y) with the chosen scale."""
        return ops.add_relu(x, y, self.scale, self.zero_point)

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        """Returns x * y with the chosen scale."""
        return ops.mul(x, y, self.scale, self.zero_point)

    def cat(self, tensors: Any, dim: int = 0) -> Tensor:
        """Joins tensors along a dimension, each rounded by the chosen scale."""
        out = self.scale, self.zero_point, self.dtype, self.quant_min, self.quant_max
        return lamella.cat([ops.requantize(t, *out) for t in tensors], dim)

    def extra_repr(self) -> str:
        return f"scale={self.scale:.6g}, zero_point={self.zero_point}, dtype={self.dtype}"
