"""torch.nn.functional's names. Most are operators of the catalogue as they are; the rest give them torch's signature.

What the catalogue lacks is not here either, and asking for it says so.
"""

from __future__ import annotations

import math

from lamella import _C
from lamella._missing import explain

# Operators whose signature is the function's; each as soon as the catalogue has it.
OPERATORS = """
adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d bilinear
binary_cross_entropy_with_logits conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
cosine_embedding_loss cosine_similarity cross_entropy ctc_loss gelu glu group_norm gumbel_softmax hardshrink huber_loss
instance_norm interpolate kl_div l1_loss layer_norm linear local_response_norm logsigmoid margin_ranking_loss mse_loss
multi_head_attention nll_loss normalize one_hot pad pairwise_distance pixel_shuffle pixel_unshuffle poisson_nll_loss
prelu rms_norm scaled_dot_product_attention sigmoid smooth_l1_loss soft_margin_loss softplus softshrink softsign tanh
tanhshrink triplet_margin_loss unfold upsample
""".split()
# Others' names for an operator.
RENAMED = {"logsigmoid": "log_sigmoid"}
ADAPTED: dict[str, str] = {}  # functions of this file, each with the operator that it needs


def operator(name):
    """The packet of an operator, or None."""
    try:
        return _C._packet(f"aten::{name}")
    except AttributeError:
        return None


def adapts(name):
    """Registers a function that gives an operator torch's signature."""

    def keep(function):
        ADAPTED[function.__name__] = name
        return function

    return keep


def written(name, inplace, input, *args):
    """An operator, or with ``inplace`` its form that writes into ``input``; where it has none, its result is copied."""
    into = operator(name + "_") if inplace else None
    if into is not None:
        return into(input, *args)
    result = operator(name)(input, *args)
    return input.copy_(result) if inplace else result


# ---- activations -----------------------------------------------------------------------------------------------------


@adapts("relu")
def relu(input, inplace=False):
    """``max(x, 0)``, element by element.

    >>> lamella.nn.functional.relu(lamella.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return written("relu", inplace, input)


@adapts("relu6")
def relu6(input, inplace=False):
    """``min(max(x, 0), 6)``, element by element.

    >>> lamella.nn.functional.relu6(lamella.tensor([-1.0, 2.0, 8.0]))
    tensor([0., 2., 6.])
    """
    return written("relu6", inplace, input)


@adapts("hardtanh")
def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """``x`` between two limits, element by element.

    >>> lamella.nn.functional.hardtanh(lamella.tensor([-3.0, 0.5, 2.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    return written("hardtanh", inplace, input, min_val, max_val)


@adapts("hardsigmoid")
def hardsigmoid(input, inplace=False):
    """``min(max(x / 6 + 1 / 2, 0), 1)``, element by element.

    >>> lamella.nn.functional.hardsigmoid(lamella.tensor([-4.0, 0.0, 3.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    return written("hardsigmoid", inplace, input)


@adapts("hardswish")
def hardswish(input, inplace=False):
    """``x * hardsigmoid(x)``, element by element.

    >>> lamella.nn.functional.hardswish(lamella.tensor([-4.0, 0.0, 3.0]))
    tensor([-0., 0., 3.])
    """
    return written("hardswish", inplace, input)


@adapts("leaky_relu")
def leaky_relu(input, negative_slope=0.01, inplace=False):
    """``x`` where it is positive, else ``negative_slope * x``.

    >>> lamella.nn.functional.leaky_relu(lamella.tensor([-1.0, 2.0]), 0.5)
    tensor([-0.5000,  2.0000])
    """
    return written("leaky_relu", inplace, input, negative_slope)


@adapts("elu")
def elu(input, alpha=1.0, inplace=False):
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``.

    >>> lamella.nn.functional.elu(lamella.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return written("elu", inplace, input, alpha)


@adapts("selu")
def selu(input, inplace=False):
    """``elu`` with the two constants of self-normalizing networks.

    >>> lamella.nn.functional.selu(lamella.tensor([-1.0, 1.0]))
    tensor([-1.1113,  1.0507])
    """
    return written("selu", inplace, input)


@adapts("celu")
def celu(input, alpha=1.0, inplace=False):
    """``x`` where it is positive, else ``alpha * (exp(x / alpha) - 1)``.

    >>> lamella.nn.functional.celu(lamella.tensor([-1.0, 2.0]), 2.0)
    tensor([-0.7869,  2.0000])
    """
    return written("celu", inplace, input, alpha)


@adapts("silu")
def silu(input, inplace=False):
    """``x * sigmoid(x)``, element by element.

    >>> lamella.nn.functional.silu(lamella.tensor([-1.0, 1.0]))
    tensor([-0.2689,  0.7311])
    """
    return written("silu", inplace, input)


@adapts("mish")
def mish(input, inplace=False):
    """``x * tanh(softplus(x))``, element by element.

    >>> lamella.nn.functional.mish(lamella.tensor([-1.0, 1.0]))
    tensor([-0.3034,  0.8651])
    """
    return written("mish", inplace, input)


@adapts("threshold")
def threshold(input, threshold, value, inplace=False):
    """``x`` where it is above a threshold, else a value.

    >>> lamella.nn.functional.threshold(lamella.tensor([1.0, 3.0]), 2.0, 0.5)
    tensor([0.5000, 3.0000])
    """
    return written("threshold", inplace, input, threshold, value)


@adapts("dropout")
def dropout(input, p=0.5, training=True, inplace=False):
    """In training, zeros each element with probability ``p`` and scales the others by ``1 / (1 - p)``.

    >>> lamella.nn.functional.dropout(lamella.ones(3), training=False)
    tensor([1., 1., 1.])
    """
    return written("dropout", inplace, input, p, training)


# ---- along a dimension -----------------------------------------------------------------------------------------------


def implicit_dim(who, input, dim):
    """torch still chooses a dimension, and warns; here it is said."""
    if dim is None:
        raise TypeError(f"{who}: argument 'dim' is missing; say along which of {input.ndim} dimensions, such as dim=-1")
    return dim


@adapts("softmax")
def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """``exp(x) / sum(exp(x))`` along a dimension, in ``dtype`` if one is given.

    >>> lamella.nn.functional.softmax(lamella.tensor([1.0, 2.0]), dim=0)
    tensor([0.2689, 0.7311])
    """
    return operator("softmax")(input, implicit_dim("softmax", input, dim), dtype=dtype)


@adapts("softmax")
def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """``softmax(-x)`` along a dimension, in ``dtype`` if one is given.

    >>> lamella.nn.functional.softmin(lamella.tensor([1.0, 2.0]), dim=0)
    tensor([0.7311, 0.2689])
    """
    return operator("softmax")(-input, implicit_dim("softmin", input, dim), dtype=dtype)


@adapts("log_softmax")
def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """``log(softmax(x))`` along a dimension, in ``dtype`` if one is given.

    >>> lamella.nn.functional.log_softmax(lamella.tensor([1.0, 2.0]), dim=0)
    tensor([-1.3133, -0.3133])
    """
    return operator("log_softmax")(input, implicit_dim("log_softmax", input, dim), dtype=dtype)


# ---- normalization, embedding ----------------------------------------------------------------------------------------


@adapts("batch_norm")
def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    """Each channel less its mean, over its standard deviation: of the batch in training, else the running ones.

    >>> F, x = lamella.nn.functional, lamella.tensor([[1.0], [3.0]])
    >>> F.batch_norm(x, lamella.tensor([2.0]), lamella.tensor([1.0]), eps=0.0)
    tensor([[-1.],
            [ 1.]])
    """
    if training and input.ndim > 1 and input.shape[0] * math.prod(input.shape[2:]) == 1:
        raise ValueError(
            "batch_norm: argument 'input': Expected more than 1 value per channel when training, got input size "
            f"{tuple(input.shape)}"
        )
    return operator("batch_norm")(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


@adapts("embedding")
def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """The rows of ``weight`` that the integers of ``input`` name.

    >>> lamella.nn.functional.embedding(lamella.tensor([1, 0]), lamella.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[3., 4.],
            [1., 2.]])
    """
    if max_norm is not None or sparse:
        raise NotImplementedError("embedding: arguments 'max_norm' and 'sparse' are not here yet")
    rows = weight.shape[0]
    if padding_idx is None:
        padding_idx = -1
    elif not -rows <= padding_idx < rows:
        raise RuntimeError(f"embedding: argument 'padding_idx': {padding_idx} is out of range for {rows} rows")
    elif padding_idx < 0:
        padding_idx += rows
    return operator("embedding")(weight, input, padding_idx, scale_grad_by_freq, sparse)


@adapts("binary_cross_entropy")
def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-(target log(input) + (1 - target) log(1 - input)), of probabilities, with logarithms that end at -100.

    >>> input, target = lamella.tensor([0.5, 1.0]), lamella.tensor([1.0, 1.0])
    >>> lamella.nn.functional.binary_cross_entropy(input, target, reduction="sum")
    tensor(0.6931)
    """
    if input.numel() > 0 and input.device.type != "meta" and input.is_floating_point():
        low, high = input.aminmax()
        if not (low.item() >= 0 and high.item() <= 1):
            raise RuntimeError(
                "binary_cross_entropy: argument 'input': all elements of input should be between 0 and 1; "
                "for logits call binary_cross_entropy_with_logits"
            )
    return operator("binary_cross_entropy")(input, target, weight, size_average, reduce, reduction)


# ---- pooling ---------------------------------------------------------------------------------------------------------


def steps(stride):
    """A missing stride is the size of the kernel, which operators write as an empty list."""
    return () if stride is None else stride


@adapts("max_pool2d")
def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The maximum of each window of the last two dimensions.

    >>> lamella.nn.functional.max_pool2d(lamella.arange(16.0).view(1, 1, 4, 4), 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """
    name = "max_pool2d_with_indices" if return_indices else "max_pool2d"
    pool = operator(name)
    if pool is None:
        raise NotImplementedError("max_pool2d: argument 'return_indices' is not here yet")
    return pool(input, kernel_size, steps(stride), padding, dilation, ceil_mode)


@adapts("avg_pool2d")
def avg_pool2d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    """The mean of each window of the last two dimensions.

    >>> lamella.nn.functional.avg_pool2d(lamella.arange(16.0).view(1, 1, 4, 4), 2)
    tensor([[[[ 2.5000,  4.5000],
              [10.5000, 12.5000]]]])
    """
    pool = operator("avg_pool2d")
    return pool(input, kernel_size, steps(stride), padding, ceil_mode, count_include_pad, divisor_override)


# ---- the names of this module, if their operators exist --------------------------------------------------------------

for _name, _needed in ADAPTED.items():
    if operator(_needed) is None:
        del globals()[_name]


def __getattr__(name):
    packet = operator(RENAMED.get(name, name)) if name in OPERATORS else None
    if packet is not None:
        globals()[name] = packet
        return packet
    if name.startswith("__"):
        raise AttributeError(f"module 'lamella.nn.functional' has no attribute '{name}'")
    if name in OPERATORS or name in ADAPTED:
        raise AttributeError(f"lamella.nn.functional.{name} is not here yet; it is planned with the catalogue")
    raise AttributeError(explain(f"lamella.nn.functional.{name}", name, __dir__()))


def __dir__():
    there = [n for n in OPERATORS if operator(RENAMED.get(n, n)) is not None]
    return sorted([*there, *(n for n in ADAPTED if n in globals())])
