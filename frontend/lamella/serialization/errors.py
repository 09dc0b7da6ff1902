"""The errors of files that are no checkpoints, or damaged ones, and of objects that no checkpoint holds."""

from __future__ import annotations


class CheckpointError(RuntimeError):
    """A file is no checkpoint, is damaged, or holds something that this program cannot build."""


class EmptyFileError(CheckpointError, EOFError):
    """A file has no bytes at all."""


class Refused(TypeError):
    """A value that no checkpoint holds. Each container on the way out adds its part of the path to the value."""

    def __init__(self, what: str):
        super().__init__(what)
        self.path: list[str] = []
