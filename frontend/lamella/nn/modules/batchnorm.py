"""Batch normalization: each channel minus its mean over the batch, divided by its standard deviation."""

from __future__ import annotations

from typing import Any

import lamella
import lamella.nn.functional as F
from lamella import _C
from lamella._C import Tensor
from lamella.nn.modules._affine import _Affine
from lamella.nn.modules.lazy import LazyModuleMixin
from lamella.nn.modules.module import Module
from lamella.nn.parameter import UninitializedBuffer, UninitializedParameter

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "SyncBatchNorm",
]


def _full(value: float, n: int, device: Any, dtype: Any) -> Tensor:
    return _C._packet("aten::full")((n,), value, device=device, dtype=dtype or _C.get_default_dtype())


class _NormBase(_Affine):
    """The common base of batch and instance normalization: weights of channels, running mean and running variance."""

    _version = 2
    _dims: tuple[int, ...] = ()
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._make_weights((num_features,), affine, bias, device, dtype)
        tracked = track_running_stats
        self.register_buffer("running_mean", _full(0.0, num_features, device, dtype) if tracked else None)
        self.register_buffer("running_var", _full(1.0, num_features, device, dtype) if tracked else None)
        count = _C._packet("aten::zeros")((), dtype=_C.int64, device=device) if tracked else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Sets the running mean to 0, the variance to 1 and the count to 0.

        >>> lamella.nn.BatchNorm1d(2).reset_running_stats()
        """
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Sets the weight to 1, the bias to 0, and the running statistics to their initial values."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check_input_dim(self, input: Tensor) -> None:
        if self._dims and input.ndim not in self._dims:
            wanted = " or ".join(f"{d}D" for d in self._dims)
            raise ValueError(
                f"{type(self).__name__}: expected {wanted} input, got {input.ndim}D input of shape {tuple(input.shape)}"
            )

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
        # Before version 2 there was no count of batches.
        key = prefix + "num_batches_tracked"
        if (local_metadata.get("version") or 1) < 2 and self.track_running_stats and key not in state_dict:
            there = self.num_batches_tracked
            known = there is not None and there.device.type != "meta"
            state_dict[key] = there if known else _C._packet("aten::zeros")((), dtype=_C.int64)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # momentum=None means the average over all batches
                momentum = 1.0 / float(self.num_batches_tracked)
        tracked = not self.training or self.track_running_stats
        mean, var = (self.running_mean, self.running_var) if tracked else (None, None)
        return self._normalize(input, mean, var, by_batch, momentum)

    def _normalize(self, input: Tensor, mean: Any, var: Any, by_batch: bool, momentum: float) -> Tensor:
        return F.batch_norm(input, mean, var, self.weight, self.bias, by_batch, momentum, self.eps)


class BatchNorm1d(_BatchNorm):
    """Batch norm of (N, C) or (N, C, L).

    ``y = (x - mean) / sqrt(var + eps) * weight + bias`` for each channel, in training with the mean and the biased
    variance of the batch, else with the running ones. Training updates these by ``momentum``; None makes them the means
    over all batches. Without ``track_running_stats`` there are none, and those of the batch are always used.
    After Ioffe and Szegedy (2015).

    Names of dimensions stay; those of the parameters must agree.

    >>> lamella.nn.BatchNorm1d(2, affine=False)(lamella.tensor([[1.0, 4.0], [3.0, 0.0]]))
    tensor([[-1.0000,  1.0000],
            [ 1.0000, -1.0000]])
    """

    _dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch norm of (N, C, H, W); see BatchNorm1d.

    Names of dimensions stay; those of the parameters must agree.

    >>> lamella.nn.BatchNorm2d(3)(lamella.ones(2, 3, 4, 4)).shape
    lamella.Size([2, 3, 4, 4])
    """

    _dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch norm of (N, C, D, H, W); see BatchNorm1d.

    Names of dimensions stay; those of the parameters must agree.

    >>> lamella.nn.BatchNorm3d(3)(lamella.ones(2, 3, 2, 2, 2)).shape
    lamella.Size([2, 3, 2, 2, 2])
    """

    _dims = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch norm of the batches of all processes of a group, each of which calls the module with its own part; see
    BatchNorm1d. Gradients go through the statistics of all. Without a group, and in ``eval()``, it is a BatchNorm.

    Names of dimensions stay; those of the parameters must agree.

    >>> lamella.nn.SyncBatchNorm(3)(lamella.ones(2, 3)).shape
    lamella.Size([2, 3])
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise ValueError(f"SyncBatchNorm: expected at least 2D input, got {input.ndim}D input")

    def _normalize(self, input: Tensor, mean: Any, var: Any, by_batch: bool, momentum: float) -> Tensor:
        dist = lamella.distributed
        group = None
        if by_batch and self.training and dist.is_initialized():
            group = dist.group.WORLD if self.process_group is None else self.process_group
        if group is None or group.size() == 1:
            return super()._normalize(input, mean, var, by_batch, momentum)
        own = input.float() if input.itemsize < 4 else input
        dims, shape = [0, *range(2, input.ndim)], [1, -1] + [1] * (input.ndim - 2)
        count = input.numel() // self.num_features
        own_var, own_mean = lamella.var_mean(own, dims, correction=0) if count else (own.sum(dims), own.sum(dims))
        row = lamella.cat([own_mean, own_var, own_mean.new_full((1,), count)]).unsqueeze(0)
        rows = lamella.ops.c10d.all_gather(row, group.group_name)
        means, variances, counts = rows.split([self.num_features, self.num_features, 1], 1)
        total = counts.sum()
        of_all = (counts * means).sum(0) / total
        spread = (counts * (variances + (means - of_all) ** 2)).sum(0) / total
        if mean is not None:
            with lamella.no_grad():
                mean.lerp_(of_all.to(mean.dtype), momentum)
                var.lerp_((spread * (total / (total - 1))).to(var.dtype), momentum)
        scale = lamella.rsqrt(spread + self.eps)
        out = (own - of_all.view(shape)) * scale.view(shape)
        if self.weight is not None:
            out = out * self.weight.view(shape)
        if self.bias is not None:
            out = out + self.bias.view(shape)
        return out.to(input.dtype)

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """Returns the module with each BatchNorm in it replaced by a SyncBatchNorm over the same parameters and
        buffers.

        >>> lamella.nn.SyncBatchNorm.convert_sync_batchnorm(lamella.nn.BatchNorm2d(3)).num_features
        3
        """
        made = module
        if isinstance(module, _BatchNorm):
            made = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
            )
            made.weight, made.bias, made.training = module.weight, module.bias, module.training
            made.running_mean, made.running_var = module.running_mean, module.running_var
            made.num_batches_tracked = module.num_batches_tracked
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


class _LazyNormBase(LazyModuleMixin):
    """A normalization that takes ``num_features`` from its first input."""

    weight: Any
    bias: Any
    running_mean: Any
    running_var: Any

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ):
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=bias)
        at = {"device": device, "dtype": dtype}
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(**at)
            self.bias = UninitializedParameter(**at) if bias else None
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**at)
            self.running_var = UninitializedBuffer(**at)
            self.num_batches_tracked = _C._packet("aten::zeros")((), dtype=_C.int64, device=device)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.num_features != 0:  # type: ignore[has-type]
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor) -> None:
        """Gives parameters and buffers the shapes that fit the input."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for t in (self.weight, self.bias, self.running_mean, self.running_var):
                if t is not None:
                    t.materialize((self.num_features,))
            self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, BatchNorm1d):  # type: ignore[misc]
    """A BatchNorm1d that takes ``num_features`` from its first input.

    >>> m = lamella.nn.LazyBatchNorm1d()
    >>> m(lamella.ones(2, 3)).shape, type(m).__name__
    (lamella.Size([2, 3]), 'BatchNorm1d')
    """

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNormBase, BatchNorm2d):  # type: ignore[misc]
    """A BatchNorm2d that takes ``num_features`` from its first input.

    >>> lamella.nn.LazyBatchNorm2d()(lamella.ones(2, 3, 4, 4)).shape
    lamella.Size([2, 3, 4, 4])
    """

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNormBase, BatchNorm3d):  # type: ignore[misc]
    """A BatchNorm3d that takes ``num_features`` from its first input.

    >>> lamella.nn.LazyBatchNorm3d()(lamella.ones(2, 3, 1, 2, 2)).shape
    lamella.Size([2, 3, 1, 2, 2])
    """

    cls_to_become = BatchNorm3d
