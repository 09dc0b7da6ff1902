"""Arrays as pictures: layouts, grids of several images, PNG and GIF; encoded by the package ``pillow``."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw
from tensorboard.compat.proto.summary_pb2 import Summary


def channels_last(images: np.ndarray, dataformats: str, who: str) -> np.ndarray:
    """Returns one image (H, W, C) of an array whose dimensions ``dataformats`` names by the letters N, C, H and W.

    Several images become a grid, eight in a row.

    Raises:
        ValueError: dataformats does not name each dimension once, or H and W are not among them
    """
    names = dataformats.upper()
    if len(names) != images.ndim or sorted(names) not in (list("HW"), list("CHW"), list("CHNW")):
        raise ValueError(
            f"{who}: argument 'dataformats' must name each of the {images.ndim} dimensions of an image of shape "
            f"{images.shape} once, as 'HW', 'CHW' or 'NCHW' do in any order, got {dataformats!r}"
        )
    image = images.transpose([names.index(c) for c in "NHWC" if c in names])
    if "C" not in names:
        image = image[..., None]
    return grid(image, 8) if "N" in names else image


def grid(images: np.ndarray, columns: int) -> np.ndarray:
    """Returns images (N, H, W, C) beside and below each other, as one image; the rest of the last row is 0."""
    n, high, wide, channels = images.shape
    columns = max(1, min(columns, n))
    rows = -(-n // columns)
    all_of_them = np.zeros((rows * columns, high, wide, channels), images.dtype)
    all_of_them[:n] = images
    cells = all_of_them.reshape(rows, columns, high, wide, channels).swapaxes(1, 2)
    return cells.reshape(rows * high, columns * wide, channels)


def pixels(image: np.ndarray, who: str) -> np.ndarray:
    """Returns the bytes of an image (..., C): uint8 as it is, another dtype as shares of 255, cut to 0 and 255.

    Raises:
        ValueError: the image is empty, or has not 1, 2, 3 or 4 channels
    """
    if image.size == 0 or not 1 <= image.shape[-1] <= 4:
        raise ValueError(f"{who}: an image needs elements, and 1 to 4 channels, got (..., H, W, C) = {image.shape}")
    if image.dtype == np.uint8:
        return image
    return (np.nan_to_num(image.astype(np.float32)) * 255).clip(0, 255).astype(np.uint8)


def opened(image: np.ndarray) -> Image.Image:
    """Returns an image of bytes (H, W, C) for pillow: grey, grey with alpha, RGB or RGBA."""
    return Image.fromarray(np.ascontiguousarray(image[..., 0] if image.shape[-1] == 1 else image))


def png(image: np.ndarray) -> bytes:
    """Returns an image of bytes (H, W, C) as a file of PNG."""
    file = io.BytesIO()
    opened(image).save(file, "PNG")
    return file.getvalue()


def gif(frames: Sequence[np.ndarray], fps: float) -> bytes:
    """Returns frames of bytes (H, W, C) as a file of GIF, which repeats them for ever."""
    first, *others = (opened(frame) for frame in frames)
    file = io.BytesIO()
    first.save(file, "GIF", save_all=True, append_images=others, duration=1000 / fps, loop=0)
    return file.getvalue()


def summary(tag: str, shape: tuple[int, ...], encoded: bytes) -> Summary:
    """Returns the summary of an encoded image, whose shape is (H, W, C)."""
    high, wide, channels = shape
    image = Summary.Image(height=high, width=wide, colorspace=channels, encoded_image_string=encoded)
    return Summary(value=[Summary.Value(tag=tag, image=image)])


def with_boxes(image: np.ndarray, boxes: np.ndarray, labels: Sequence[str] | None, rescale: float) -> np.ndarray:
    """Returns an image of bytes (H, W, C) in RGB, ``rescale`` times as large, with red boxes (x1, y1, x2, y2)."""
    picture = opened(image).convert("RGB")
    if rescale != 1:
        picture = picture.resize((max(1, round(picture.width * rescale)), max(1, round(picture.height * rescale))))
    draw = ImageDraw.Draw(picture)
    for i, box in enumerate(boxes):
        left, top, right, bottom = (float(side) * rescale for side in box)
        draw.rectangle((min(left, right), min(top, bottom), max(left, right), max(top, bottom)), outline="red", width=2)
        if labels:
            draw.text((left + 3, top + 2), labels[i], fill="red")
    return np.asarray(picture)


def drawn(figure: Any, close: bool) -> np.ndarray:
    """Returns a figure of matplotlib as bytes (H, W, 4); ``close`` closes it in pyplot, if pyplot made it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    image = np.array(canvas.buffer_rgba())
    if close and "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close(figure)
    return image
