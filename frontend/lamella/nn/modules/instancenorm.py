"""Instance normalization: each channel of each sample minus its mean, divided by its standard deviation."""

from __future__ import annotations

import warnings
from typing import Any

import lamella.nn.functional as F
from lamella._C import Tensor
from lamella.nn.modules.batchnorm import _LazyNormBase, _NormBase

__all__ = [
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


class _InstanceNorm(_NormBase):
    """An instance normalization. The input may lack its first dimension, the batch."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        single = input.ndim == self._dims[0]
        channels = 0 if single else 1
        if input.shape[channels] != self.num_features:
            if self.affine:
                raise ValueError(
                    f"{type(self).__name__}: expected input's size at dim={channels} to match num_features "
                    f"({self.num_features}), but got: {input.shape[channels]}."
                )
            warnings.warn(
                f"input's size at dim={channels} does not match num_features. You can silence this warning by not "
                "passing in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        made = F.instance_norm(
            input.unsqueeze(0) if single else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return made.squeeze(0) if single else made

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        # Before version 1 running statistics were stored also where they were not used.
        keys = [prefix + name for name in ("running_mean", "running_var") if prefix + name in state_dict]
        if local_metadata.get("version") is None and not self.track_running_stats and keys:
            error_msgs.append(
                f"Unexpected running stats buffer(s) {' and '.join(map(repr, keys))} for {type(self).__name__} with "
                "track_running_stats=False; remove them from the state_dict, or make the module with "
                "track_running_stats=True"
            )
            for key in keys:
                state_dict.pop(key)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class InstanceNorm1d(_InstanceNorm):
    """Instance norm of (N, C, L) or (C, L).

    ``y = (x - mean) / sqrt(var + eps) * weight + bias``, with the mean and the biased variance of each channel of each
    sample. With ``track_running_stats`` training updates running ones by ``momentum``, which are used after ``eval()``.
    After Ulyanov et al. (2016).

    Names of dimensions stay; those of the parameters must agree.

    >>> lamella.nn.InstanceNorm1d(1, eps=0.0)(lamella.tensor([[[1.0, 3.0]]]))
    tensor([[[-1.,  1.]]])
    """

    _dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Instance norm of (N, C, H, W) or (C, H, W); see InstanceNorm1d.

    Names of dimensions stay; those of the parameters must agree.

    >>> lamella.nn.InstanceNorm2d(3)(lamella.ones(2, 3, 4, 4)).shape
    lamella.Size([2, 3, 4, 4])
    """

    _dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Instance norm of (N, C, D, H, W) or (C, D, H, W); see InstanceNorm1d.

    Names of dimensions stay; those of the parameters must agree.

    >>> lamella.nn.InstanceNorm3d(3)(lamella.ones(2, 3, 2, 2, 2)).shape
    lamella.Size([2, 3, 2, 2, 2])
    """

    _dims = (4, 5)


class LazyInstanceNorm1d(_LazyNormBase, InstanceNorm1d):  # type: ignore[misc]
    """An InstanceNorm1d that takes ``num_features`` from its first input.

    >>> m = lamella.nn.LazyInstanceNorm1d()
    >>> m(lamella.ones(2, 3, 4)).shape, type(m).__name__
    (lamella.Size([2, 3, 4]), 'InstanceNorm1d')
    """

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNormBase, InstanceNorm2d):  # type: ignore[misc]
    """An InstanceNorm2d that takes ``num_features`` from its first input.

    >>> lamella.nn.LazyInstanceNorm2d()(lamella.ones(2, 3, 4, 4)).shape
    lamella.Size([2, 3, 4, 4])
    """

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNormBase, InstanceNorm3d):  # type: ignore[misc]
    """An InstanceNorm3d that takes ``num_features`` from its first input.

    >>> lamella.nn.LazyInstanceNorm3d()(lamella.ones(2, 3, 1, 2, 2)).shape
    lamella.Size([2, 3, 1, 2, 2])
    """

    cls_to_become = InstanceNorm3d
