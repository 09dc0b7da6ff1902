"""The errors of files that are no checkpoints, or damaged ones, and of objects that no checkpoint holds."""

from __future__ import annotations

from pickle import UnpicklingError


class CheckpointError(RuntimeError):
    """A file is no checkpoint, is damaged, or holds something that this program cannot build."""


class PickleError(CheckpointError, UnpicklingError):
    """The pickle of a file of torch is damaged, or names what is not built."""


class EmptyFileError(CheckpointError, EOFError):
    """A file has no bytes at all."""


class Exceeded(ValueError):
    """A stranger's file would cost more than a file of its size may."""


class Refused(TypeError):
    """A value that no checkpoint holds. Each container on the way out adds its part of the path to the value."""

    def __init__(self, what: str):
        super().__init__(what)
        self.path: list[str] = []
