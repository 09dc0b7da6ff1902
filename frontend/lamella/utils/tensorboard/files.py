"""``FileWriter``: one file of events, written by the package ``tensorboard`` on a thread of its own."""

from __future__ import annotations

import atexit
import contextlib
import os
import time
import weakref
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

writers: weakref.WeakSet[FileWriter] = weakref.WeakSet()


@atexit.register
def close_writers() -> None:
    """Closes the writers of this process when it ends, since events that wait would be lost."""
    for writer in list(writers):
        if writer._process == os.getpid():  # a forked child has copies of its parent's
            with contextlib.suppress(OSError):
                writer.close()


class FileWriter:
    """Writes events into a new file in a folder, in the order in which they are added.

    Args:
        log_dir: the folder; it is made if it is missing
        max_queue: the number of events that may wait to be written; a further one waits for room
        flush_secs: the seconds after which written events are on the disk
        filename_suffix: the end of the file's name

    >>> import os, tempfile
    >>> from lamella.utils.tensorboard import FileWriter
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     writer = FileWriter(folder, filename_suffix=".train")
    ...     writer.close()
    ...     print([name.endswith(".train") for name in os.listdir(folder)])
    [True]
    """

    def __init__(
        self, log_dir: str | os.PathLike[str], max_queue: int = 10, flush_secs: float = 120, filename_suffix: str = ""
    ):
        self._options = os.fspath(log_dir), max_queue, flush_secs, filename_suffix
        self.event_writer = EventFileWriter(*self._options)
        self._process = os.getpid()
        writers.add(self)

    def get_logdir(self) -> str:
        """Returns the folder."""
        return self.event_writer.get_logdir()

    def add_event(self, event: Event, step: Any = None, walltime: float | None = None) -> None:
        """Adds an event, with a step if there is one, and a time in seconds since 1970, which is now by default."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Summary, global_step: Any = None, walltime: float | None = None) -> None:
        """Adds a summary as an event."""
        self.add_event(Event(summary=summary), global_step, walltime)

    def flush(self) -> None:
        """Returns when all events are in the file."""
        self.event_writer.flush()

    def close(self) -> None:
        """Writes the events that wait, and closes the file; a second call does nothing."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Closes the file, and begins another one in the same folder."""
        self.close()
        self.event_writer = EventFileWriter(*self._options)
