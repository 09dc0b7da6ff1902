"""Images of another size."""

from __future__ import annotations

from typing import Any

from lamella._C import Tensor
from lamella.nn import functional as F
from lamella.nn.modules.module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """An image (N, C, ...) of one to three axes at another size: ``nn.functional.interpolate``.

    Args:
        size: the new sizes, or one for all axes
        scale_factor: in place of a size, how many places an element gets
        mode: "nearest", "linear", "bilinear", "bicubic" or "trilinear", and what else ``interpolate`` knows
        align_corners: the middles of the outer elements stay where they are, in place of their edges
        recompute_scale_factor: places are computed from the sizes, after ``scale_factor`` was rounded to them

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
    """An image (N, C, H, W) at another size, each place its nearest element.

    >>> lamella.nn.UpsamplingNearest2d(size=(1, 4))(lamella.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1., 1., 2., 2.]]]])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None):
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """An image (N, C, H, W) at another size, on straight lines between the elements, with aligned corners.

    >>> lamella.nn.UpsamplingBilinear2d(size=(1, 3))(lamella.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None):
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
