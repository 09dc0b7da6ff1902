"""Interpolation of images as modules."""

from __future__ import annotations

from typing import Any

import lamella.nn.functional as F
from lamella._C import Tensor
from lamella.nn.modules.module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """Resizes an image (N, C, ...) with one to three axes by ``nn.functional.interpolate``.

    Args:
        size: the new sizes, or one for all axes
        scale_factor: instead of a size, the quotient of new and old size
        mode: "nearest", "linear", "bilinear", "bicubic", "trilinear", or another mode of ``interpolate``
        align_corners: the centres of the outer elements of input and result coincide; otherwise their outer edges do
        recompute_scale_factor: coordinates are computed from the old and new sizes, and not from ``scale_factor``

    Names of dimensions stay.

    >>> lamella.nn.Upsample(scale_factor=2)(lamella.tensor([[[1.0, 2.0]]]))
    tensor([[[1., 1., 2., 2.]]])
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ):
        super().__init__()
        self.name, self.size = type(self).__name__, size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode, self.align_corners = mode, align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({"recompute_scale_factor": True, **state})

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        given = "size" if self.scale_factor is None else "scale_factor"
        return f"{given}={getattr(self, given)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Resizes an image (N, C, H, W) by ``interpolate`` with mode "nearest": element i is element floor(i * old / new).

    Names of dimensions stay.

    >>> lamella.nn.UpsamplingNearest2d(size=(1, 4))(lamella.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1., 1., 2., 2.]]]])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None):
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Resizes an image (N, C, H, W) by bilinear interpolation with aligned corners. Names of dimensions stay.

    >>> lamella.nn.UpsamplingBilinear2d(size=(1, 3))(lamella.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None):
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
