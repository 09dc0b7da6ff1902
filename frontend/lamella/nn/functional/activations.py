"""Activation functions, element by element and along a dimension."""

from __future__ import annotations

import warnings
from math import isfinite
from typing import Any

from lamella import _C
from lamella._dtypes import finfo as _finfo
from lamella.nn.functional._operators import both, op

__all__ = [
    "celu",
    "celu_",
    "elu",
    "elu_",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "log_softmax",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
]

_relu, _relu_into = both("relu")
_relu6, _relu6_into = both("relu6")
_hardtanh, _hardtanh_into = both("hardtanh")
_hardsigmoid, _hardsigmoid_into = both("hardsigmoid")
_hardswish, _hardswish_into = both("hardswish")
_leaky_relu, _leaky_relu_into = both("leaky_relu")
_elu, _elu_into = both("elu")
_selu, _selu_into = both("selu")
_celu, _celu_into = both("celu")
_silu, _silu_into = both("silu")
_mish, _mish_into = both("mish")
_threshold, _threshold_into = both("threshold")
_rrelu, _rrelu_into = both("rrelu")
_tanhshrink = op("tanhshrink")
_glu, _softmax, _log_softmax = op("glu"), op("softmax"), op("log_softmax")
_empty_like, _zeros_like = op("empty_like"), op("zeros_like")

# Functions of this module that are the operators themselves, whose arguments are those of torch's functions.
prelu = op("prelu")
gelu, hardshrink, softshrink = op("gelu"), op("hardshrink"), op("softshrink")
relu_, elu_, celu_, selu_ = _relu_into, _elu_into, _celu_into, _selu_into
rrelu_ = _rrelu_into
leaky_relu_ = _leaky_relu_into
softplus, logsigmoid, sigmoid, tanh = op("softplus"), op("log_sigmoid"), op("sigmoid"), op("tanh")


def _limits(input: Any, *limits: Any) -> tuple[Any, ...]:
    """Returns limits as numbers of the input's kind: for an input of integers a floating-point limit loses its
    fraction."""
    if input.is_floating_point():
        return limits
    return tuple(int(x) if isinstance(x, float) and isfinite(x) else x for x in limits)


def relu(input, inplace=False):
    """``max(x, 0)``, element by element.

    >>> lamella.nn.functional.relu(lamella.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return _relu_into(input) if inplace else _relu(input)


def relu6(input, inplace=False):
    """``min(max(x, 0), 6)``, element by element.

    >>> lamella.nn.functional.relu6(lamella.tensor([-1.0, 2.0, 8.0]))
    tensor([0., 2., 6.])
    """
    return _relu6_into(input) if inplace else _relu6(input)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """``x``, limited to the range from ``min_val`` to ``max_val``, element by element.

    >>> lamella.nn.functional.hardtanh(lamella.tensor([-3.0, 0.5, 2.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    return (_hardtanh_into if inplace else _hardtanh)(input, *_limits(input, min_val, max_val))


def hardtanh_(input, min_val=-1.0, max_val=1.0):
    """``hardtanh`` in place.

    >>> lamella.nn.functional.hardtanh_(lamella.tensor([-3, 0, 2]))
    tensor([-1,  0,  1])
    """
    return _hardtanh_into(input, *_limits(input, min_val, max_val))


def hardsigmoid(input, inplace=False):
    """``min(max(x / 6 + 1 / 2, 0), 1)``, element by element.

    >>> lamella.nn.functional.hardsigmoid(lamella.tensor([-4.0, 0.0, 3.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    return _hardsigmoid_into(input) if inplace else _hardsigmoid(input)


def hardswish(input, inplace=False):
    """``x * hardsigmoid(x)``, element by element.

    >>> lamella.nn.functional.hardswish(lamella.tensor([-4.0, 0.0, 3.0]))
    tensor([-0., 0., 3.])
    """
    return _hardswish_into(input) if inplace else _hardswish(input)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """``x`` where it is positive, else ``negative_slope * x``.

    >>> lamella.nn.functional.leaky_relu(lamella.tensor([-1.0, 2.0]), 0.5)
    tensor([-0.5000,  2.0000])
    """
    return _leaky_relu_into(input, negative_slope) if inplace else _leaky_relu(input, negative_slope)


def elu(input, alpha=1.0, inplace=False):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``.

    >>> lamella.nn.functional.elu(lamella.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return _elu_into(input, alpha) if inplace else _elu(input, alpha)


def selu(input, inplace=False):
    """``elu`` with the two constants of self-normalizing networks.

    >>> lamella.nn.functional.selu(lamella.tensor([-1.0, 1.0]))
    tensor([-1.1113,  1.0507])
    """
    return _selu_into(input) if inplace else _selu(input)


def celu(input, alpha=1.0, inplace=False):
    """``x`` where it is positive, else ``alpha * (exp(x / alpha) - 1)``.

    >>> lamella.nn.functional.celu(lamella.tensor([-1.0, 2.0]), 2.0)
    tensor([-0.7869,  2.0000])
    """
    return _celu_into(input, alpha) if inplace else _celu(input, alpha)


def silu(input, inplace=False):
    """``x * sigmoid(x)``, element by element.

    >>> lamella.nn.functional.silu(lamella.tensor([-1.0, 1.0]))
    tensor([-0.2689,  0.7311])
    """
    return _silu_into(input) if inplace else _silu(input)


def mish(input, inplace=False):
    """``x * tanh(softplus(x))``, element by element.

    >>> lamella.nn.functional.mish(lamella.tensor([-1.0, 1.0]))
    tensor([-0.3034,  0.8651])
    """
    return _mish_into(input) if inplace else _mish(input)


def threshold(input, threshold, value, inplace=False):
    """``x`` where it is above ``threshold``, else ``value``.

    >>> lamella.nn.functional.threshold(lamella.tensor([1.0, 3.0]), 2.0, 0.5)
    tensor([0.5000, 3.0000])
    """
    return (_threshold_into if inplace else _threshold)(input, *_limits(input, threshold, value))


def threshold_(input, threshold, value):
    """``threshold`` in place.

    >>> lamella.nn.functional.threshold_(lamella.tensor([1, 3]), 2.0, 0.0)
    tensor([0, 3])
    """
    return _threshold_into(input, *_limits(input, threshold, value))


def tanhshrink(input):
    """``x - tanh(x)``, element by element.

    >>> lamella.nn.functional.tanhshrink(lamella.tensor([-1.0, 2.0]))
    tensor([-0.2384,  1.0360])
    """
    return _tanhshrink(input) if input.is_floating_point() else input - input.tanh()


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """``x`` where positive, else ``x`` times a slope: in training random from ``lower`` to ``upper``, else their mean.

    >>> lamella.nn.functional.rrelu(lamella.tensor([-4.0, 3.0]), 0.25, 0.75)
    tensor([-2.,  3.])
    """
    return (_rrelu_into if inplace else _rrelu)(input, lower, upper, training)


def softsign(input):
    """``x / (1 + |x|)``, element by element.

    >>> lamella.nn.functional.softsign(lamella.tensor([-3.0]))
    tensor([-0.7500])
    """
    return input / (input.abs() + 1)


# ---- along a dimension -----------------------------------------------------------------------------------------------


def glu(input, dim=-1):
    """Returns the first half of a dimension times the sigmoid of the second.

    >>> lamella.nn.functional.glu(lamella.tensor([4.0, 0.0]))
    tensor([2.])
    """
    return _glu(input, dim)


def _given(who: str, input: Any, dim: int | None, stacklevel: int) -> int:
    """Returns ``dim``; if it is None, warns and returns torch's choice: 0 for 0, 1 and 3 dimensions, else 1."""
    if dim is not None:
        return dim
    chosen = 0 if input.ndim in (0, 1, 3) else 1
    text = f"{who}: argument 'dim' is missing, and {chosen} is taken, as older programs expect; pass dim={chosen}"
    warnings.warn(text, stacklevel=stacklevel)
    return chosen


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """``exp(x) / sum(exp(x))`` along a dimension, in ``dtype`` if one is given.

    Without ``dim`` it warns, and takes dimension 0 of 0, 1 or 3, else dimension 1.

    >>> lamella.nn.functional.softmax(lamella.tensor([1.0, 2.0]), dim=0)
    tensor([0.2689, 0.7311])
    """
    return _softmax(input, _given("softmax", input, dim, _stacklevel), dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """``softmax(-x)`` along a dimension, in ``dtype`` if one is given.

    Without ``dim`` it warns, and takes dimension 0 of 0, 1 or 3, else dimension 1.

    >>> lamella.nn.functional.softmin(lamella.tensor([1.0, 2.0]), dim=0)
    tensor([0.7311, 0.2689])
    """
    return _softmax(-input, _given("softmin", input, dim, _stacklevel), dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """``log(softmax(x))`` along a dimension, in ``dtype`` if one is given.

    Without ``dim`` it warns, and takes dimension 0 of 0, 1 or 3, else dimension 1.

    >>> lamella.nn.functional.log_softmax(lamella.tensor([1.0, 2.0]), dim=0)
    tensor([-1.3133, -0.3133])
    """
    return _log_softmax(input, _given("log_softmax", input, dim, _stacklevel), dtype=dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """``softmax((logits + g) / tau)`` along a dimension, with random g of Gumbel's distribution.

    With ``hard`` the result is one-hot, and its gradient that of the soft one. After Jang et al. (2016). ``eps`` is
    ignored.

    Raises:
        ValueError: ``tau`` is not positive

    >>> lamella.nn.functional.gumbel_softmax(lamella.zeros(2, 3), hard=True).sum(-1)
    tensor([1., 1.])
    """
    if not isinstance(tau, _C.Tensor) and not tau > 0:
        raise ValueError(f"gumbel_softmax: argument 'tau': the temperature must be positive, got {tau}")
    if isinstance(dim, str):  # the tensors below may not have the names of `logits`
        dim = _C._resolve_dim("gumbel_softmax: argument 'dim'", logits, dim)
    exponential = -(1 - _empty_like(logits.detach()).uniform_()).log()  # uniform_ may draw 0, and never 1
    soft = _softmax((logits - exponential.clamp_(min=_finfo(logits.dtype).tiny).log()) / tau, dim)
    if not hard:
        return soft
    chosen = soft.detach().argmax(dim, keepdim=True)
    one_hot = _zeros_like(soft.detach()).scatter_(dim, chosen, 1.0)
    return one_hot - soft.detach() + soft
