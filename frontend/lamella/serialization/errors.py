"""The error of files that are no checkpoints, or damaged ones."""


class CheckpointError(RuntimeError):
    """A file is no checkpoint, is damaged, or holds what this program cannot build."""
