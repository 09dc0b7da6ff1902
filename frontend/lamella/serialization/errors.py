"""The errors of files that are no checkpoints, or damaged ones, and of objects that a checkpoint cannot hold."""

from __future__ import annotations

from pickle import UnpicklingError


class CheckpointError(RuntimeError):
    """A file is no checkpoint, is damaged, or holds something that this program cannot build."""


class PickleError(CheckpointError, UnpicklingError):
    """The pickle of a file of torch is damaged, or names something that is not built."""


class EmptyFileError(CheckpointError, EOFError):
    """A file is empty."""


class Exceeded(ValueError):
    """An untrusted file would cost more memory or time than a file of its size may."""


class Refused(TypeError):
    """A value that a checkpoint cannot hold. Each container around it adds its part of the path to the value."""

    def __init__(self, what: str):
        super().__init__(what)
        self.path: list[str] = []
