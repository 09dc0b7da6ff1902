"""The operators of networks: products, convolutions, pools, normalization, resampling."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import lamella
import numpy as np

from ..graph import host
from ..table import row, rows


def batched(g: Any, x: Any, spatial: int, f: Callable[[Any], Any]) -> Any:
    """Calls ``f`` with a tensor that has a batch, and takes the batch off again if the tensor had none."""
    if x.ndim > spatial + 1:
        return f(x)
    made = f(g.Unsqueeze(x, [0]))
    return tuple(g.Squeeze(m, [0]) for m in made) if isinstance(made, tuple) else g.Squeeze(made, [0])


# ---- products --------------------------------------------------------------------------------------------------------


@row("linear")
def linear(g: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    if x.ndim == 2 and bias is not None and weight.ndim == 2:
        return g.Gemm(x, weight, bias, transB=1)
    made = g.MatMul(x, g.Transpose(weight, perm=[1, 0]) if weight.ndim == 2 else weight)
    return made if bias is None else g.Add(made, bias)


def added(g: Any, x: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    made = g.MatMul(a, b)
    made = made if alpha == 1 else g.Mul(made, alpha)
    return made if beta == 0 else g.Add(x if beta == 1 else g.Mul(x, beta), made)


rows(dict.fromkeys("mm bmm matmul mv dot".split(), lambda g, a, b: g.MatMul(a, b)))
rows(dict.fromkeys("addmm addmv baddbmm".split(), added))


def einsum(g: Any, equation: str, tensors: list[Any]) -> Any:
    return g.Einsum(*tensors, equation=equation)


def repeats(given: dict[str, Any]) -> bool:
    """Returns whether an operand of einsum has an index twice: a diagonal, which is made by strides."""
    parts = given["equation"].replace(" ", "").replace(".", "").partition("->")[0].split(",")
    return any(len(set(part)) < len(part) for part in parts)


row("einsum", when=repeats)(einsum)


# ---- convolutions ----------------------------------------------------------------------------------------------------


def convolved(g, x, weight, bias=None, stride=None, padding=0, dilation=None, groups=1) -> Any:
    spatial = weight.ndim - 2
    stride, dilation = filled_up(stride, spatial), filled_up(dilation, spatial)
    if padding == "same":
        whole = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:], strict=True)]
        pads = [w // 2 for w in whole] + [w - w // 2 for w in whole]
    else:
        pads = filled_up(0 if padding == "valid" else padding, spatial) * 2
    options = {"strides": stride, "dilations": dilation, "group": groups, "pads": pads}
    return batched(g, x, spatial, lambda x: g.Conv(x, weight, bias, kernel_shape=list(weight.shape[2:]), **options))


def transposed(g, x, weight, bias=None, stride=None, padding=0, output_padding=0, groups=1, dilation=None) -> Any:
    spatial = weight.ndim - 2
    options = {
        "strides": filled_up(stride, spatial),
        "pads": filled_up(padding, spatial) * 2,
        "output_padding": filled_up(output_padding, spatial),
        "dilations": filled_up(dilation, spatial),
        "kernel_shape": list(weight.shape[2:]),
    }
    return batched(g, x, spatial, lambda x: g.ConvTranspose(x, weight, bias, group=groups, **options))


def filled_up(values: Any, spatial: int) -> list[Any]:
    """Returns a number for each spatial dimension; one stands for all, and none for 1."""
    values = [1] if values in (None, []) else [values] if isinstance(values, int) else values
    return values * spatial if len(values) == 1 else values


rows(dict.fromkeys("conv1d conv2d conv3d convolution".split(), convolved))
rows({f"conv_transpose{n}d": transposed for n in (1, 2, 3)})


# ---- pools -----------------------------------------------------------------------------------------------------------


def max_pool(n: int, places: bool) -> Any:
    def translate(g, x, kernel, stride=None, padding=0, dilation=1, ceil_mode=False) -> Any:
        kernel = filled_up(kernel, n)
        options = {
            "kernel_shape": kernel,
            "strides": filled_up(stride or kernel, n),
            "pads": filled_up(padding, n) * 2,
            "dilations": filled_up(dilation, n),
            "ceil_mode": int(ceil_mode),
        }
        if not places:
            return batched(g, x, n, lambda x: g.MaxPool(x, **options))
        size = 1
        for d in x.shape[-n:]:
            size = size * d
        values, found = batched(g, x, n, lambda x: g.MaxPool(x, outputs=2, **options))
        return values, g.Mod(found, g.number(size, lamella.int64))  # places in all of the tensor, not in its plane

    return translate


def avg_pool(n: int) -> Any:
    def translate(g, x, kernel, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor=None) -> Any:
        kernel = filled_up(kernel, n)
        if divisor is not None:
            mean = translate(g, x, kernel, stride, padding)
            return g.Mul(mean, prod(kernel) / divisor)
        options = {
            "kernel_shape": kernel,
            "strides": filled_up(stride or kernel, n),
            "pads": filled_up(padding, n) * 2,
            "ceil_mode": int(ceil_mode),
            "count_include_pad": int(count_include_pad),
        }
        return batched(g, x, n, lambda x: g.AveragePool(x, **options))

    return translate


def whole_windows(given: dict[str, Any]) -> bool:
    """Returns whether an average that has a divisor of its own is that of whole windows."""
    return given.get("divisor_override") is None or not given["ceil_mode"]


def even(n: int) -> Any:
    """Returns a condition: the parts that an adaptive pool makes are of one size."""

    def meets(given: dict[str, Any]) -> bool:
        size = given["output_size"]
        wanted = [size] * n if isinstance(size, int) else list(size) * (n if len(size) == 1 else 1)
        return all(o is None or (o and i % o == 0) for i, o in zip(given["self"].shape[-n:], wanted, strict=True))

    return meets


def adaptive(node: str, whole: str, n: int) -> Any:
    def translate(g, x, output_size) -> Any:
        after = g.results[0].shape[-n:]
        if all(size == 1 for size in after):
            return getattr(g, whole)(x, list(range(-n, 0)), keepdims=1)
        kernel = [i // o for i, o in zip(x.shape[-n:], after, strict=True)]
        return batched(g, x, n, lambda x: getattr(g, node)(x, kernel_shape=kernel, strides=kernel))

    return translate


for n in (1, 2, 3):
    rows({f"max_pool{n}d": max_pool(n, False), f"max_pool{n}d_with_indices": max_pool(n, True)})
    rows({f"avg_pool{n}d": avg_pool(n)}, when=whole_windows)
    rows({f"adaptive_avg_pool{n}d": adaptive("AveragePool", "ReduceMean", n)}, when=even(n))


# ---- normalization ---------------------------------------------------------------------------------------------------


def ones(g: Any, shape: Any, value: int = 1) -> Any:
    return g.initializer("constant", host(np.full(list(shape), value), g.dtype))


@row("batch_norm", when=lambda given: not given["training"])
def batch_norm(g, x, weight, bias, mean, var, training=False, momentum=0.1, eps=1e-5) -> Any:
    weight = ones(g, mean.shape) if weight is None else g.cast(weight, g.dtype)
    bias = ones(g, mean.shape, 0) if bias is None else g.cast(bias, g.dtype)
    return g.BatchNormalization(x, weight, bias, g.cast(mean, g.dtype), g.cast(var, g.dtype), epsilon=eps)


@row("layer_norm")
def layer_norm(g, x, normalized_shape, weight=None, bias=None, eps=1e-5) -> Any:
    weight = ones(g, normalized_shape) if weight is None else weight
    return g.LayerNormalization(x, weight, bias, axis=-len(normalized_shape), epsilon=eps)


@row("instance_norm", when=lambda given: given["use_input_stats"] and given["input"].ndim > 2)
def instance_norm(g, x, weight=None, bias=None, mean=None, var=None, stats=True, momentum=0.1, eps=1e-5) -> Any:
    weight = ones(g, x.shape[1:2]) if weight is None else weight
    bias = ones(g, x.shape[1:2], 0) if bias is None else bias
    return g.InstanceNormalization(x, weight, bias, epsilon=eps)


@row("group_norm")
def group_norm(g, x, groups, weight=None, bias=None, eps=1e-5) -> Any:
    parts = g.Reshape(x, [0, groups, -1])
    made = g.InstanceNormalization(parts, ones(g, [groups]), ones(g, [groups], 0), epsilon=eps)
    made = g.Reshape(made, g.Shape(x))
    for node, factor in (("Mul", weight), ("Add", bias)):
        if factor is not None:
            made = getattr(g, node)(made, g.Reshape(factor, [-1] + [1] * (x.ndim - 2)))
    return made


def soft(node: str) -> Any:
    def translate(g: Any, x: Any, dim: int) -> Any:
        made = getattr(g, node)(g.Reshape(g.cast(x, g.dtype), [1]) if not x.ndim else g.cast(x, g.dtype), axis=dim)
        return made if x.ndim else g.Squeeze(made)

    return translate


rows({"softmax.int": soft("Softmax"), "log_softmax.int": soft("LogSoftmax")})


# ---- resampling ------------------------------------------------------------------------------------------------------


def resized(n: int, **options: Any) -> Any:
    def translate(g, x, output_size, *rest) -> Any:
        corners = isinstance(rest[0], bool) and rest[0] if rest else False
        scales = [s for s in rest if isinstance(s, float)]
        how = {"coordinate_transformation_mode": "align_corners" if corners else "half_pixel"} | options
        if len(scales) == n:
            return g.Resize(x, None, host([1.0, 1.0, *scales], lamella.float32), **how)
        return g.Resize(x, None, None, g.Concat(g.Shape(x, end=2), list(output_size), axis=0), **how)

    return translate


def by_scales(given: dict[str, Any]) -> bool:
    """Returns whether the scales of a resampling, if there are any, say its output's sizes, as ONNX computes them."""
    scales = [v for name, v in given.items() if name.startswith("scales")]
    sizes = zip(given["self"].shape[2:], given["output_size"], scales, strict=True)
    return all(scale is None or int(n * scale) == size for n, size, scale in sizes)


def by_floats(given: dict[str, Any]) -> bool:
    """Returns whether it computes with floats, too: with integers it rounds after each dimension."""
    return given["self"].is_floating_point() and by_scales(given)


NEAREST = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
EXACT = {"mode": "nearest", "nearest_mode": "round_prefer_ceil"}
for n, linear_name in ((1, "linear1d"), (2, "bilinear2d"), (3, "trilinear3d")):
    rows({f"upsample_nearest{n}d": resized(n, **NEAREST)}, when=by_scales)
    rows({f"_upsample_nearest_exact{n}d": resized(n, **EXACT)}, when=by_scales)
    rows({f"upsample_{linear_name}": resized(n, mode="linear")}, when=by_floats)
rows({"upsample_bicubic2d": resized(2, mode="cubic", cubic_coeff_a=-0.75)}, when=by_floats)
