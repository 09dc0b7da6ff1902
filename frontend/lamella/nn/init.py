"""Initial values of parameters. Every function but ``calculate_gain`` writes into its tensor, without a record for
autograd, and returns it."""

from __future__ import annotations

import math
import warnings
from typing import Any, TypeVar

from lamella import _C
from lamella._C import Tensor

T = TypeVar("T", bound=Tensor)

# Factors for the weights of a layer that is followed by the given function. They keep the variance of its values.
_GAINS = {
    **dict.fromkeys(("linear", "sigmoid", "identity"), 1.0),
    **{f"conv{t}{n}d": 1.0 for t in ("", "_transpose") for n in (1, 2, 3)},
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Returns the factor for the weights before a function, such as 1 for sigmoid and the root of 2 for relu.

    Args:
        nonlinearity: "linear", another layer such as "conv1d", "identity", "sigmoid", "tanh", "relu", "leaky_relu" or
            "selu"
        param: the negative slope of "leaky_relu", by default 0.01

    >>> lamella.nn.init.calculate_gain("leaky_relu", 1.0)
    1.0
    """
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"calculate_gain: argument 'param' must be a negative slope, got {param!r}")
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in _GAINS:
        known = ", ".join(sorted({*_GAINS, "leaky_relu"}))
        raise ValueError(f"calculate_gain: argument 'nonlinearity': {nonlinearity!r} is none of {known}")
    return _GAINS[nonlinearity]


def uniform_(tensor: T, a: float = 0.0, b: float = 1.0, generator: Any = None) -> T:
    """Fills with uniform numbers of at least a and below b.

    >>> w = lamella.nn.init.uniform_(lamella.empty(3), 2.0, 3.0)
    >>> bool((w >= 2).all() and (w < 3).all())
    True
    """
    tensor.detach().uniform_(a, b, generator=generator)
    return tensor


def normal_(tensor: T, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> T:
    """Fills with normally distributed numbers.

    >>> lamella.nn.init.normal_(lamella.empty(3), mean=2.0, std=0.0)
    tensor([2., 2., 2.])
    """
    tensor.detach().normal_(mean, std, generator=generator)
    return tensor


def trunc_normal_(
    tensor: T, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> T:
    """Fills with normally distributed numbers, truncated to the range from a to b.

    The inverse of the distribution function is applied to uniform numbers.

    >>> w = lamella.nn.init.trunc_normal_(lamella.empty(1000), std=3.0)
    >>> bool((w.abs() <= 2).all())
    True
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            f"trunc_normal_: the mean {mean} is more than two standard deviations outside of {a} to {b}, so that the "
            "distribution may be wrong",
            stacklevel=2,
        )

    def below(x: float) -> float:
        return (1.0 + math.erf((x - mean) / std / math.sqrt(2.0))) / 2.0

    values = tensor.detach()
    values.uniform_(2 * below(a) - 1, 2 * below(b) - 1, generator=generator)
    values.erfinv_().mul_(std * math.sqrt(2.0)).add_(mean).clamp_(a, b)
    return tensor


def constant_(tensor: T, val: float) -> T:
    """Fills with one number.

    >>> lamella.nn.init.constant_(lamella.empty(2), 0.3)
    tensor([0.3000, 0.3000])
    """
    tensor.detach().fill_(val)
    return tensor


def ones_(tensor: T) -> T:
    """Fills with ones.

    >>> lamella.nn.init.ones_(lamella.empty(2))
    tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: T) -> T:
    """Fills with zeros.

    >>> lamella.nn.init.zeros_(lamella.empty(2))
    tensor([0., 0.])
    """
    tensor.detach().zero_()
    return tensor


def eye_(tensor: T) -> T:
    """Fills a matrix with ones on the diagonal and zeros elsewhere, the identity of a linear layer.

    >>> lamella.nn.init.eye_(lamella.empty(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    if tensor.ndim != 2:
        raise ValueError(f"eye_: argument 'tensor' must have two dimensions, got shape {tuple(tensor.shape)}")
    tensor.detach().zero_().diagonal().fill_(1)
    return tensor


def dirac_(tensor: T, groups: int = 1) -> T:
    """Fills with weights by which a convolution copies each input channel to the output channel of the same index in
    its group.

    >>> lamella.nn.init.dirac_(lamella.empty(2, 2, 3))
    tensor([[[0., 1., 0.],
             [0., 0., 0.]],
    <BLANKLINE>
            [[0., 0., 0.],
             [0., 1., 0.]]])
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError(f"dirac_: argument 'tensor' must have 3 to 5 dimensions, got shape {tuple(tensor.shape)}")
    sizes = tuple(tensor.shape)
    if sizes[0] % groups:
        raise ValueError(f"dirac_: {sizes[0]} output channels cannot be divided into {groups} groups")
    values = tensor.detach().zero_()
    each = sizes[0] // groups
    middle = tuple(n // 2 for n in sizes[2:])
    for group in range(groups):
        for channel in range(min(each, sizes[1])):
            at = (group * each + channel, channel, *middle)
            values[at] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Returns the number of inputs of each output of a weight, and the number of outputs of each input."""
    if tensor.ndim < 2:
        raise ValueError(
            f"fan in and fan out: a tensor of shape {tuple(tensor.shape)} has none; two dimensions or more are needed"
        )
    window = math.prod(tensor.shape[2:])
    return tensor.shape[1] * window, tensor.shape[0] * window


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"kaiming initialization: argument 'mode' must be 'fan_in' or 'fan_out', got {mode!r}")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def xavier_uniform_(tensor: T, gain: float = 1.0, generator: Any = None) -> T:
    """Fills with uniform numbers within ±gain * sqrt(6 / (fan_in + fan_out)), after Glorot and Bengio (2010).

    >>> bool(lamella.nn.init.xavier_uniform_(lamella.empty(2, 4)).abs().max() <= 1)
    True
    """
    bound = gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: T, gain: float = 1.0, generator: Any = None) -> T:
    """Fills with normal numbers of standard deviation gain * sqrt(2 / (fan_in + fan_out)), after Glorot and Bengio
    (2010).

    >>> lamella.nn.init.xavier_normal_(lamella.empty(2, 4), gain=0.0).abs().max()
    tensor(0.)
    """
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor))), generator)


def kaiming_uniform_(
    tensor: T, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> T:
    """Fills with uniform numbers within ±gain * sqrt(3 / fan), after He et al. (2015).

    Args:
        a: the negative slope of "leaky_relu"
        mode: the fan that is used: "fan_in" keeps the variance of values, "fan_out" that of gradients
        nonlinearity: the function after the layer; see ``calculate_gain``

    >>> bool(lamella.nn.init.kaiming_uniform_(lamella.empty(2, 6)).abs().max() <= 1)
    True
    """
    if 0 in tensor.shape:
        warnings.warn("kaiming_uniform_: a tensor without elements stays as it is", stacklevel=2)
        return tensor
    bound = math.sqrt(3.0) * calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: T, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> T:
    """Fills with normal numbers of standard deviation gain / sqrt(fan), after He et al. (2015); see
    ``kaiming_uniform_``.

    >>> lamella.nn.init.kaiming_normal_(lamella.empty(2, 6), mode="fan_out").shape
    lamella.Size([2, 6])
    """
    if 0 in tensor.shape:
        warnings.warn("kaiming_normal_: a tensor without elements stays as it is", stacklevel=2)
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    return normal_(tensor, 0.0, std, generator)


def _orthonormal_columns(matrix: Tensor) -> Tensor:
    """Returns the columns of a tall matrix, orthonormalized by the Gram-Schmidt method, which runs twice for
    precision."""
    columns = matrix.double() if not matrix.is_complex() else matrix
    for i in range(columns.shape[1]):
        column, before = columns[:, i], columns[:, :i]
        for _ in range(2 if i else 0):
            column.sub_(before @ (before.mH @ column))
        column.div_(_C._packet("aten::linalg_vector_norm")(column))
    return columns.to(matrix.dtype)


def orthogonal_(tensor: T, gain: float = 1, generator: Any = None) -> T:
    """Fills a matrix with orthonormal rows or columns, whichever are fewer, times gain, after Saxe et al. (2013).

    Further dimensions count as columns.

    >>> w = lamella.nn.init.orthogonal_(lamella.empty(3, 5))
    >>> bool((w @ w.t() - lamella.eye(3)).abs().max() < 1e-5)
    True
    """
    if tensor.ndim < 2:
        raise ValueError(f"orthogonal_: argument 'tensor' must have two dimensions or more, got {tuple(tensor.shape)}")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    flat = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
    made = _orthonormal_columns(flat.t().contiguous()).t() if rows < columns else _orthonormal_columns(flat)
    tensor.detach().copy_(made.reshape(tensor.shape)).mul_(gain)
    return tensor


def sparse_(tensor: T, sparsity: float, std: float = 0.01, generator: Any = None) -> T:
    """Fills a matrix with normal numbers, and the share ``sparsity`` of each column, rounded up, with zeros. After
    Martens (2010).

    >>> w = lamella.nn.init.sparse_(lamella.empty(10, 4), sparsity=0.3)
    >>> (w == 0).sum(0)
    tensor([3, 3, 3, 3])
    """
    if tensor.ndim != 2:
        raise ValueError(f"sparse_: argument 'tensor' must have two dimensions, got shape {tuple(tensor.shape)}")
    values = tensor.detach()
    values.normal_(0, std, generator=generator)
    rows, columns = values.shape
    for column in range(columns):
        order = _C._packet("aten::randperm")(rows, device=values.device)
        values[:, column][order[: math.ceil(sparsity * rows)]] = 0
    return tensor


def _without_underscore(name: str) -> Any:
    into = globals()[name + "_"]

    def old(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(f"nn.init.{name} is an old name; use nn.init.{name}_", FutureWarning, stacklevel=2)
        return into(*args, **kwargs)

    old.__name__ = old.__qualname__ = name
    old.__doc__ = f"The old name of ``{name}_``."
    return old


for _name in (
    "uniform normal constant eye dirac xavier_uniform xavier_normal kaiming_uniform kaiming_normal orthogonal sparse"
).split():
    globals()[_name] = _without_underscore(_name)
