"""Folds a batch normalization in evaluation into the layer before it."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from lamella._C import Tensor
from lamella.nn.modules.module import Module
from lamella.nn.parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]

M = TypeVar("M", bound=Module)


def _checked(who: str, layer: Any, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError(f"{who}: both modules must be in evaluation; call eval() first")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError(f"{who}: the batch norm has no running statistics")


def _fused(
    w: Tensor, b: Tensor | None, mean: Tensor, var: Tensor, eps: float, bn_w: Any, bn_b: Any, shape: list[int]
) -> tuple[Parameter, Parameter]:
    """Returns the weights w s and the bias (b - mean) s + bn_b, where s = bn_w / sqrt(var + eps)."""
    scale = (var + eps).rsqrt() if bn_w is None else bn_w * (var + eps).rsqrt()
    moved = -mean if b is None else b - mean
    bias = moved * scale if bn_b is None else moved * scale + bn_b
    needs = [getattr(t, "requires_grad", False) for t in (w, b)]
    return (
        Parameter((w * scale.reshape(shape)).to(w.dtype), needs[0]),
        Parameter(bias.to(w.dtype if b is None else b.dtype), needs[1]),
    )


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Returns weight and bias of the convolution that equals a convolution and a batch normalization after it.

    Args:
        bn_rm, bn_rv: the batch norm's running mean and variance
        transpose: the convolution is a transposed one, whose output channels are the second dimension

    >>> one = lamella.ones(1)
    >>> w, b = lamella.nn.utils.fuse_conv_bn_weights(lamella.ones(1, 1, 1), None, one, 3 * one, 1.0, 4 * one, one)
    >>> w.tolist(), b.tolist()
    ([[[2.0]]], [-1.0])
    """
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_conv_bn_eval(conv: M, bn: Module, transpose: bool = False) -> M:
    """Returns a copy of a convolution that includes the batch normalization after it, in evaluation.

    Raises:
        AssertionError: one of them is in training, or the batch norm has no running statistics

    >>> conv, bn = lamella.nn.Conv1d(2, 3, 1).eval(), lamella.nn.BatchNorm1d(3).eval()
    >>> x = lamella.ones(1, 2, 4)
    >>> lamella.allclose(lamella.nn.utils.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-6)
    True
    """
    _checked("fuse_conv_bn_eval", conv, bn)
    fused: Any = copy.deepcopy(conv)
    norm: Any = bn
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, norm.running_mean, norm.running_var, norm.eps, norm.weight, norm.bias, transpose
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
) -> tuple[Parameter, Parameter]:
    """Returns weight and bias of the linear layer that equals a linear layer and a batch normalization after it.

    >>> one = lamella.ones(1)
    >>> w, b = lamella.nn.utils.fuse_linear_bn_weights(lamella.ones(1, 2), one, one, 3 * one, 1.0, 4 * one, one)
    >>> w.tolist(), b.tolist()
    ([[2.0, 2.0]], [1.0])
    """
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])


def fuse_linear_bn_eval(linear: M, bn: Module) -> M:
    """Returns a copy of a linear layer that includes the batch normalization after it, in evaluation.

    Raises:
        AssertionError: one of them is in training, the batch norm has no running statistics, or its number of
            features is neither 1 nor that of the linear layer

    >>> linear, bn = lamella.nn.Linear(2, 3).eval(), lamella.nn.BatchNorm1d(3).eval()
    >>> x = lamella.ones(4, 2)
    >>> lamella.allclose(lamella.nn.utils.fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)), atol=1e-6)
    True
    """
    _checked("fuse_linear_bn_eval", linear, bn)
    fused: Any = copy.deepcopy(linear)
    norm: Any = bn
    if norm.num_features not in (1, fused.out_features):
        raise AssertionError(
            f"fuse_linear_bn_eval: the linear layer has {fused.out_features} features and the batch norm "
            f"{norm.num_features}; they must be the same, or the batch norm's 1"
        )
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, norm.running_mean, norm.running_var, norm.eps, norm.weight, norm.bias
    )
    return fused
