"""The methods of ``SummaryWriter`` that add pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary

import lamella.utils.tensorboard.pictures as pictures
from lamella.utils.tensorboard.values import array


class ImageMethods:
    """The base of ``SummaryWriter`` that adds pictures by ``_add``."""

    def _add(self, summary: Summary, global_step: Any, walltime: float | None) -> None:
        raise NotImplementedError

    def _add_image(self, tag: str, image: np.ndarray, global_step: Any, walltime: float | None) -> None:
        self._add(pictures.summary(tag, image.shape, pictures.png(image)), global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Adds an image with 1 to 4 channels. uint8 has values from 0 to 255, another dtype from 0 to 1.

        Args:
            dataformats: the letter of each dimension: "CHW", "HWC", "HW", or with N, as of ``add_images``

        Raises:
            ValueError: dataformats does not fit, or the image is empty or has more channels
        """
        image = _image(img_tensor, dataformats, "add_image")
        self._add_image(tag, image, global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Adds images as one, eight in a row; as ``add_image``."""
        image = _image(img_tensor, dataformats, "add_images")
        self._add_image(tag, image, global_step, walltime)

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: str | Sequence[str] | None = None,
    ) -> None:
        """Adds an image with red boxes, ``rescale`` times as large.

        Args:
            box_tensor: (boxes, 4), each of left, top, right and bottom in the image's own pixels
            labels: a text for each box

        Raises:
            ValueError: box_tensor has another shape, or there are not as many labels; and as of ``add_image``
        """
        image = _image(img_tensor, dataformats, "add_image_with_boxes")
        boxes = array(box_tensor, "add_image_with_boxes", "box_tensor")
        if boxes.ndim != 2 or boxes.shape[1] != 4:
            raise ValueError(
                f"add_image_with_boxes: argument 'box_tensor' must have the shape (N, 4), got {boxes.shape}"
            )
        named = [labels] if isinstance(labels, str) else labels
        if named is not None and len(named) != len(boxes):
            raise ValueError(
                f"add_image_with_boxes: argument 'labels' must have a text for each of {len(boxes)} boxes, "
                f"got {len(named)}"
            )
        image = pictures.with_boxes(image, boxes, named, rescale)
        self._add_image(tag, image, global_step, walltime)

    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """Adds a figure of matplotlib, or a list of equally large ones as ``add_images``.

        Args:
            close: closes the figures, which pyplot otherwise keeps
        """
        if isinstance(figure, (list, tuple)):
            drawn = [pictures.drawn(one, close) for one in figure]
            if len({image.shape for image in drawn}) != 1:
                raise ValueError(f"add_figure: the figures must be equally large, got {[d.shape for d in drawn]}")
            self.add_images(tag, drawn, global_step, walltime, dataformats="NHWC")
        else:
            self.add_image(tag, pictures.drawn(figure, close), global_step, walltime, dataformats="HWC")

    def add_video(
        self, tag: str, vid_tensor: Any, global_step: Any = None, fps: float = 4, walltime: float | None = None
    ) -> None:
        """Adds videos (N, T, C, H, W) side by side, as a GIF that repeats itself; values as of ``add_image``.

        Args:
            fps: frames in a second, up to 100

        Raises:
            ValueError: vid_tensor has another shape, or fps is out of range
        """
        videos = array(vid_tensor, "add_video", "vid_tensor")
        if videos.ndim != 5 or videos.size == 0:
            raise ValueError(
                f"add_video: argument 'vid_tensor' must have the shape (N, T, C, H, W), got {videos.shape}"
            )
        if not 0 < fps <= 100:
            raise ValueError(f"add_video: argument 'fps' must be above 0 and at most 100, got {fps}")
        columns = 1 << ((len(videos) - 1).bit_length() + 1) // 2  # a square, or twice as wide as high
        frames = [pictures.grid(frame.transpose(0, 2, 3, 1), columns) for frame in videos.swapaxes(0, 1)]
        pixels = [pictures.pixels(frame, "add_video") for frame in frames]
        self._add(pictures.summary(tag, pixels[0].shape, pictures.gif(pixels, fps)), global_step, walltime)


def _image(img_tensor: Any, dataformats: str, who: str) -> np.ndarray:
    found = array(img_tensor, who, "img_tensor")
    return pictures.pixels(pictures.channels_last(found, dataformats, who), who)
