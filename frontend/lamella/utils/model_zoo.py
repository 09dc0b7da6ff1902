"""load_url of torch.utils.model_zoo, which loads a file of weights by its address, from this machine alone."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from lamella._checkpoints import load

__all__ = ["load_url"]

HASH = re.compile(r"-([a-f0-9]+)\.")  # the part of a file's name that holds the beginning of its SHA-256


def _folder() -> Path:
    """Returns the folder where torch keeps files of weights: by ``TORCH_HOME``, else by ``XDG_CACHE_HOME``."""
    home = os.environ.get("TORCH_HOME")
    cache = Path(home) if home else Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")) / "torch"
    return cache.expanduser() / "hub" / "checkpoints"


def load_url(
    url: str,
    model_dir: str | os.PathLike[str] | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """Loads the file of an address that starts with ``file:``, or that lies in ``model_dir`` already.

    Lamella downloads nothing. Other arguments are those of torch: ``progress`` has no effect.

    Args:
        model_dir: the folder of downloaded files; by default the one where torch keeps them
        map_location, weights_only: those of ``lamella.load``
        check_hash: True compares the file's SHA-256 with the digits in its name, as in ``model-0a1b2c3d.pt``
        file_name: the file's name in ``model_dir``; by default the last part of the address

    Raises:
        NotImplementedError: the file is not there; the message names the place for it
        RuntimeError: the file's hash is another one

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lamella.save(lamella.ones(2), f"{folder}/weights.pt")
    ...     lamella.utils.model_zoo.load_url("https://models.example/weights.pt", folder)
    tensor([1., 1.])
    """
    parts = urlparse(url)
    name = file_name or os.path.basename(parts.path)
    folder = _folder() if model_dir is None else Path(model_dir)
    file = folder / name
    if not file.is_file() and parts.scheme == "file":
        file = Path(unquote(parts.path))
    if not file.is_file():
        raise NotImplementedError(
            f"load_url: Lamella downloads nothing, and there is no file {file}; fetch {url} yourself and put it there"
        )
    if check_hash and (found := HASH.search(name)) is not None:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        if not digest.startswith(found[1]):
            raise RuntimeError(
                f"load_url: the SHA-256 of {file} begins with {digest[:8]}, and its name says {found[1]}"
            )
    return load(file, map_location, weights_only=weights_only)
