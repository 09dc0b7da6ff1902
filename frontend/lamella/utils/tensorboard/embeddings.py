"""The files of an embedding, which TensorBoard's projector reads: points, labels, images, and the list of them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

import numpy as np
from google.protobuf import text_format
from tensorboard.plugins.projector.metadata import PROJECTOR_FILENAME
from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo, ProjectorConfig

import lamella.utils.tensorboard.pictures as pictures
from lamella.serialization import atomic

WHO = "add_embedding"


def lines(rows: Iterable[Sequence[Any]], argument: str) -> bytes:
    """Returns rows as lines of columns with tabs between them.

    Raises:
        ValueError: a text has a tab or the end of a line in it
    """
    made = []
    for row in rows:
        columns = [str(column) for column in row]
        if any({"\t", "\n", "\r"} & set(column) for column in columns):
            raise ValueError(f"{WHO}: argument '{argument}' must have no tabs and ends of lines, got {columns}")
        made.append("\t".join(columns))
    return ("\n".join(made) + "\n").encode()


def sprite(images: np.ndarray) -> bytes:
    """Returns images (N, C, H, W) as one square of images, a PNG."""
    return pictures.png(
        pictures.pixels(pictures.grid(images.transpose(0, 2, 3, 1), math.ceil(math.sqrt(len(images)))), WHO)
    )


def check(mat: np.ndarray, labels: Any, header: Any, images: np.ndarray | None) -> None:
    """Raises ValueError if the arguments of ``add_embedding`` do not fit each other."""
    if mat.ndim != 2 or mat.size == 0:
        raise ValueError(f"{WHO}: argument 'mat' must have the shape (points, features), got {mat.shape}")
    if labels is not None and len(labels) != len(mat):
        raise ValueError(
            f"{WHO}: argument 'metadata' must have a label for each of {len(mat)} points, got {len(labels)}"
        )
    if header and (labels is None or any(isinstance(row, str) or len(row) != len(header) for row in labels)):
        raise ValueError(f"{WHO}: argument 'metadata' must have rows of {len(header)} columns, as 'metadata_header'")
    if images is not None and (images.ndim != 4 or len(images) != len(mat)):
        raise ValueError(f"{WHO}: argument 'label_img' must have the shape ({len(mat)}, C, H, W), got {images.shape}")


def write(
    log_dir: str,
    config: ProjectorConfig,
    mat: np.ndarray,
    labels: Sequence[Any] | None,
    header: Sequence[str] | None,
    images: np.ndarray | None,
    step: int,
    tag: str,
) -> None:
    """Writes the files of one embedding, and adds it to the configuration, whose file is written last."""
    if "://" in log_dir:
        raise NotImplementedError(f"{WHO}: embeddings are written to folders of this machine only, got {log_dir!r}")
    check(mat, labels, header, images)
    inside = f"{step:05d}/{quote(tag, safe='')}"
    files = {"tensors.tsv": lines(mat.tolist(), "mat")}
    info = EmbeddingInfo(tensor_name=f"{tag}:{step:05d}", tensor_path=f"{inside}/tensors.tsv")
    if labels is not None:
        rows = labels if header else [[label] for label in labels]
        files["metadata.tsv"] = (lines([header], "metadata_header") if header else b"") + lines(rows, "metadata")
        info.metadata_path = f"{inside}/metadata.tsv"
    if images is not None:
        files["sprite.png"] = sprite(images)
        info.sprite.image_path = f"{inside}/sprite.png"
        info.sprite.single_image_dim.extend([images.shape[3], images.shape[2]])
    os.makedirs(os.path.join(log_dir, inside), exist_ok=True)
    for name, content in files.items():
        _replace(os.path.join(log_dir, inside, name), content)
    kept = [one for one in config.embeddings if one.tensor_name != info.tensor_name]
    del config.embeddings[:]
    config.embeddings.extend([*kept, info])
    _replace(os.path.join(log_dir, PROJECTOR_FILENAME), text_format.MessageToString(config).encode())


def _replace(path: str, content: bytes) -> None:
    with atomic.replacing(path, durable=False) as file:
        file.write(content)
