"""The exporter "jsonl": lines of JSON at the end of a file. It needs no other package.

The first line that an exporter adds is of kind "start" and has the bounds of the buckets. Each export then writes a
line of kind "series" for each histogram that has changed, with the numbers since the start, one of kind "span" for each
span, and one of kind "counts". If nothing has changed, an export writes no line. A failed write is undone, so that the
file ends with a whole line, also on a full disk.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from typing import Any

from .batch import Batch, Counts, Exporter, Series, Source


class JsonLines(Exporter):
    """Appends to the file ``path``, which it makes if it does not exist."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
        self.file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self.file)
            raise BlockingIOError(error.errno, "another export writes to it", self.path) from None
        self.counts: Counts | None = None  # the counts in the last line of kind "counts"
        self.written: dict[tuple, int] = {}  # the count of each series in its last line

    def start(self, source: Source) -> None:
        pass

    def export(self, batch: Batch) -> None:
        changed = [s for s in batch.series if self.written.get(s[:5]) != s.count]
        counts = batch.counts._replace(unsent=0)  # `unsent` changes with every export
        if counts == self.counts and not changed and not batch.spans:
            return
        rows = [] if self.counts else [self.head(batch)]
        rows += [series_row(batch, s) for s in changed]
        for span in batch.spans:
            row = {"kind": "span", **span._asdict(), "attributes": batch.attributes(span.values)}
            del row["values"]
            rows.append(row)
        rows.append({"kind": "counts", "time": batch.time, **batch.counts._asdict()})
        self.append("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())
        self.counts = counts
        self.written.update((s[:5], s.count) for s in changed)

    def head(self, batch: Batch) -> dict[str, Any]:
        probabilities = {"sampling": batch.sampling, "block_sampling": batch.block_sampling}
        return {"kind": "start", "since": batch.since, "pid": os.getpid(), **probabilities, "bounds": batch.bounds}

    def append(self, data: bytes) -> None:
        before = os.fstat(self.file).st_size
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self.file, left) :]
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self.file, before)
            raise

    def close(self) -> None:
        os.close(self.file)

    forked = close  # closes the descriptor; the lock belongs to the open file, which the parent still has


def series_row(batch: Batch, s: Series) -> dict[str, Any]:
    row = {"kind": "series", "time": batch.time, **s._asdict(), "attributes": batch.attributes(s.values)}
    del row["values"]
    return row
