"""The errors of files that are no checkpoints, or damaged ones, and of objects that a checkpoint cannot hold."""

from __future__ import annotations

from pickle import UnpicklingError


class CheckpointError(RuntimeError):
    """A file is no checkpoint, is damaged, or holds something that this program cannot build."""


class PickleError(CheckpointError, UnpicklingError):
    """The pickle of a file of torch is damaged, or names a class or function that ``load`` does not call."""


class EmptyFileError(CheckpointError, EOFError):
    """A file is empty."""


class Exceeded(ValueError):
    """An untrusted file would cost more memory or time than a file of its size may."""


class Refused(TypeError):
    """A value cannot be in a checkpoint. Each container around the value appends its part of the path to ``path``, the
    innermost first."""

    def __init__(self, what: str):
        super().__init__(what)
        self.path: list[str] = []
