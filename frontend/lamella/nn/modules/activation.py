"""Activation functions, element by element and along a dimension, as modules."""

from __future__ import annotations

from typing import Any

import lamella.nn.functional as F
import lamella.nn.init as _init
from lamella._C import Tensor
from lamella.nn.modules._multihead_attention import MultiheadAttention
from lamella.nn.modules.linear import empty_parameter
from lamella.nn.modules.module import Module

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "RReLU",
    "MultiheadAttention",
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]


class _Inplace(Module):
    """A function whose only option is ``inplace``."""

    inplace: bool

    def __init__(self, inplace: bool = False):
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


def _with_inplace(text: str, inplace: bool) -> str:
    return text + ", inplace=True" if inplace else text


class Threshold(Module):
    """``x`` where it is above ``threshold``, else ``value``. Names of dimensions stay.

    >>> lamella.nn.Threshold(1.0, 20.0)(lamella.tensor([0.5, 2.0]))
    tensor([20.,  2.])
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False):
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace(f"threshold={self.threshold}, value={self.value}", self.inplace)


class ReLU(_Inplace):
    """``max(x, 0)``. Names of dimensions stay.

    >>> lamella.nn.ReLU()(lamella.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


class RReLU(Module):
    """``x`` where positive, else ``x`` times a slope: in training random from ``lower`` to ``upper``, else their mean.

    After Xu et al. (2015). Names of dimensions stay.

    >>> lamella.nn.RReLU(0.25, 0.75).eval()(lamella.tensor([-4.0, 3.0]))
    tensor([-2.,  3.])
    """

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False):
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace(f"lower={self.lower}, upper={self.upper}", self.inplace)


class Hardtanh(Module):
    """``x``, limited to the range from ``min_val`` to ``max_val``. Names of dimensions stay.

    >>> lamella.nn.Hardtanh(-2, 2)(lamella.tensor([-3.0, 0.5]))
    tensor([-2.0000,  0.5000])
    """

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ):
        super().__init__()
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if not self.max_val > self.min_val:
            raise ValueError(
                f"{type(self).__name__}: max_val must be above min_val, got {self.max_val} and {self.min_val}"
            )

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace(f"min_val={self.min_val}, max_val={self.max_val}", self.inplace)


class ReLU6(Hardtanh):
    """``min(max(x, 0), 6)``. Names of dimensions stay.

    >>> lamella.nn.ReLU6()(lamella.tensor([-1.0, 8.0]))
    tensor([0., 6.])
    """

    def __init__(self, inplace: bool = False):
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Sigmoid(Module):
    """``1 / (1 + exp(-x))``. Names of dimensions stay.

    >>> lamella.nn.Sigmoid()(lamella.zeros(1))
    tensor([0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.sigmoid()


class Hardsigmoid(_Inplace):
    """``min(max(x / 6 + 1 / 2, 0), 1)``. Names of dimensions stay.

    >>> lamella.nn.Hardsigmoid()(lamella.tensor([-4.0, 0.0]))
    tensor([0.0000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Tanh(Module):
    """The hyperbolic tangent. Names of dimensions stay.

    >>> lamella.nn.Tanh()(lamella.zeros(1))
    tensor([0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.tanh()


class SiLU(_Inplace):
    """``x * sigmoid(x)``. Names of dimensions stay.

    >>> lamella.nn.SiLU()(lamella.ones(1))
    tensor([0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Mish(_Inplace):
    """``x * tanh(softplus(x))``. Names of dimensions stay.

    >>> lamella.nn.Mish()(lamella.ones(1))
    tensor([0.8651])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class Hardswish(_Inplace):
    """``x * hardsigmoid(x)``. Names of dimensions stay.

    >>> lamella.nn.Hardswish()(lamella.tensor([-4.0, 3.0]))
    tensor([-0., 3.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class ELU(Module):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``. Names of dimensions stay.

    >>> lamella.nn.ELU()(lamella.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False):
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace(f"alpha={self.alpha}", self.inplace)


class CELU(ELU):
    """``x`` where it is positive, else ``alpha * (exp(x / alpha) - 1)``. Names of dimensions stay.

    >>> lamella.nn.CELU(2.0)(lamella.tensor([-1.0, 2.0]))
    tensor([-0.7869,  2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


class SELU(_Inplace):
    """``elu`` with the two constants of self-normalizing networks. Names of dimensions stay.

    >>> lamella.nn.SELU()(lamella.tensor([-1.0, 1.0]))
    tensor([-1.1113,  1.0507])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class GLU(Module):
    """The first half of a dimension times the sigmoid of the second. After Dauphin et al. (2017).

    Names of dimensions stay.

    >>> lamella.nn.GLU()(lamella.tensor([4.0, 0.0]))
    tensor([2.])
    """

    def __init__(self, dim: int = -1):
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class GELU(Module):
    """``x`` times the normal distribution's cumulative probability of ``x``; with ``approximate="tanh"`` an
    approximation. Names of dimensions stay.

    >>> lamella.nn.GELU()(lamella.ones(1))
    tensor([0.8413])
    """

    def __init__(self, approximate: str = "none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Hardshrink(Module):
    """``x`` where its absolute value is above ``lambd``, else 0. Names of dimensions stay.

    >>> lamella.nn.Hardshrink()(lamella.tensor([0.4, -0.6]))
    tensor([ 0.0000, -0.6000])
    """

    def __init__(self, lambd: float = 0.5):
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Softshrink(Hardshrink):
    """``x`` moved towards 0 by ``lambd``, and 0 where ``|x|`` is at most ``lambd``. Names of dimensions stay.

    >>> lamella.nn.Softshrink()(lamella.tensor([0.4, -2.0]))
    tensor([ 0.0000, -1.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)


class Tanhshrink(Module):
    """``x - tanh(x)``. Names of dimensions stay.

    >>> lamella.nn.Tanhshrink()(lamella.ones(1))
    tensor([0.2384])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class LeakyReLU(Module):
    """``x`` where it is positive, else ``negative_slope * x``. Names of dimensions stay.

    >>> lamella.nn.LeakyReLU(0.5)(lamella.tensor([-1.0, 2.0]))
    tensor([-0.5000,  2.0000])
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False):
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return _with_inplace(f"negative_slope={self.negative_slope}", self.inplace)


class LogSigmoid(Module):
    """``log(sigmoid(x))``. Names of dimensions stay.

    >>> lamella.nn.LogSigmoid()(lamella.zeros(1))
    tensor([-0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softplus(Module):
    """``log(1 + exp(beta * x)) / beta``, and ``x`` where ``beta * x`` is above ``threshold``. Names of dimensions stay.

    >>> lamella.nn.Softplus()(lamella.zeros(1))
    tensor([0.6931])
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class PReLU(Module):
    """``x`` where it is positive, else ``weight * x``, with one learned weight, or one for each channel.

    Channels are dimension 1. After He et al. (2015).

    Names of dimensions stay; those of the parameters must agree.

    >>> lamella.nn.PReLU()(lamella.tensor([-4.0, 3.0])).tolist()
    [-1.0, 3.0]
    """

    weight: Any

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = empty_parameter(num_parameters, device=device, dtype=dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets the weight to ``init``."""
        _init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class Softsign(Module):
    """``x / (1 + |x|)``. Names of dimensions stay.

    >>> lamella.nn.Softsign()(lamella.tensor([-3.0]))
    tensor([-0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class _Along(Module):
    """A function along a dimension."""

    dim: Any

    def __init__(self, dim: int | None = None):
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmin(_Along):
    """``softmax(-x)`` along a dimension. Names of dimensions stay.

    >>> lamella.nn.Softmin(dim=0)(lamella.tensor([1.0, 2.0]))
    tensor([0.7311, 0.2689])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim, _stacklevel=4)


class Softmax(_Along):
    """``exp(x) / sum(exp(x))`` along a dimension. Names of dimensions stay.

    >>> lamella.nn.Softmax(dim=0)(lamella.tensor([1.0, 2.0]))
    tensor([0.2689, 0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim, _stacklevel=4)


class LogSoftmax(_Along):
    """``log(softmax(x))`` along a dimension. Names of dimensions stay.

    >>> lamella.nn.LogSoftmax(dim=0)(lamella.tensor([1.0, 2.0]))
    tensor([-1.3133, -0.3133])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim, _stacklevel=4)


class Softmax2d(Module):
    """``softmax`` over the channels of images (N, C, H, W) or (C, H, W). Names of dimensions stay.

    >>> lamella.nn.Softmax2d()(lamella.zeros(2, 1, 1))
    tensor([[[0.5000]],
    <BLANKLINE>
            [[0.5000]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected (N, C, H, W) or (C, H, W), got shape {tuple(input.shape)}")
        return F.softmax(input, -3)
