"""Linear layers: products with a matrix."""

from __future__ import annotations

import math
from typing import Any

import lamella.nn.functional as F
import lamella.nn.init as init
from lamella import _C
from lamella._C import Tensor
from lamella.nn.modules.lazy import LazyModuleMixin
from lamella.nn.modules.module import Module
from lamella.nn.parameter import Parameter, UninitializedParameter

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]


def empty_parameter(*size: int, device: Any = None, dtype: Any = None) -> Parameter:
    """Returns a parameter with uninitialized memory."""
    return Parameter(_C._packet("aten::empty")(size, device=device, dtype=dtype))


class Identity(Module):
    """Returns its first argument. Other arguments are ignored. Names of dimensions stay.

    >>> lamella.nn.Identity(54, unused=True)(lamella.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """``x @ weight.t() + bias``, along the last dimension.

    ``weight`` is (out_features, in_features), ``bias`` is (out_features,). Both start uniformly between ``-1 /
    sqrt(in_features)`` and ``1 / sqrt(in_features)``.

    Names: the last dimension has that of the weight's first one, all others stay.

    >>> lamella.nn.Linear(20, 30)(lamella.ones(128, 20)).shape
    lamella.Size([128, 30])
    """

    in_features: int
    out_features: int
    weight: Tensor
    bias: Any

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None):
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = empty_parameter(out_features, in_features, device=device, dtype=dtype)
        self.register_parameter("bias", empty_parameter(out_features, device=device, dtype=dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new values."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5)) if self.weight.numel() else None
        if self.bias is not None:
            fan_in = self.weight.shape[1]
            init.uniform_(self.bias, *((-1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in)) if fan_in > 0 else (0, 0)))

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """A Linear inside of attention, which tools that replace Linear must not replace."""


class Bilinear(Module):
    """``y[k] = x1 @ weight[k] @ x2 + bias[k]``, along the last dimensions of two tensors.

    ``weight`` has the shape ``(out_features, in1_features, in2_features)``. Both parameters start uniformly between
    ``-1 / sqrt(in1_features)`` and ``1 / sqrt(in1_features)``.

    Names: the last dimension has that of the weight's first one, all others stay.

    >>> lamella.nn.Bilinear(2, 3, 4)(lamella.ones(5, 2), lamella.ones(5, 3)).shape
    lamella.Size([5, 4])
    """

    weight: Any
    bias: Any

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        at = {"device": device, "dtype": dtype}
        self.weight = empty_parameter(out_features, in1_features, in2_features, **at)
        self.register_parameter("bias", empty_parameter(out_features, **at) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new values."""
        if self.in1_features <= 0:
            raise ValueError(f"Bilinear: in1_features must be > 0, but got (in1_features={self.in1_features})")
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear that takes ``in_features`` from its first input, and has class Linear after that.

    >>> m = lamella.nn.LazyLinear(3)
    >>> m(lamella.ones(4, 2)).shape, m
    (lamella.Size([4, 3]), Linear(in_features=2, out_features=3, bias=True))
    """

    cls_to_become = Linear
    weight: Any
    bias: Any

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None):
        super().__init__(0, 0, False, device, dtype)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Gives the parameters the shapes that fit the input."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()
        if self.in_features == 0:
            self.in_features = input.shape[-1]
