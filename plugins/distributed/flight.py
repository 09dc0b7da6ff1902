"""Flight records: what each rank of a job has called last, read from the files that its processes have left.

``plugins/distributed/group/recorder.h`` writes the files, and has the same layout.
"""

from __future__ import annotations

import json
import os
import struct
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from . import library

VARIABLE = "LAMELLA_FLIGHT_DIR"
HEADER = struct.Struct("<8siiiiqq64s")
RING = 128  # where the ring begins
ENTRY = struct.Struct("<I" + "i" * 9 + "q" * 11 + "32s16s80s")
STATES = ("none", "queued", "running", "done", "failed")
KINDS = (
    "all_reduce",
    "reduce",
    "broadcast",
    "all_gather",
    "gather",
    "scatter",
    "reduce_scatter",
    "all_to_all",
    "send",
    "recv",
    "barrier",
)
REDUCTIONS = ("sum", "product", "min", "max", "band", "bor", "bxor")


def start(rank: int, size: int) -> None:
    """Begins to record if the environment variable LAMELLA_FLIGHT_DIR names a folder. A record that cannot be made is a
    warning: the job goes on without it."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return
    path = Path(folder, f"rank_{rank}.{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}.flight")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        library.face().record(str(path), rank, size)
    except (OSError, RuntimeError) as error:
        warnings.warn(f"no flight record is kept: {error}", stacklevel=3)


@dataclass
class Call:
    """One call of a rank."""

    state: str
    kind: str
    group: str
    rank: int  # within the group, as `peer`
    size: int
    number: int  # of the collective in its group; 0: a message
    reduction: str
    dtype: str
    peer: int
    shape: tuple[int, ...]
    file: str
    line: int
    queued: int  # nanoseconds since 1970
    ended: int

    def __str__(self) -> str:
        parts = [f"{self.dtype}[{', '.join(map(str, self.shape))}]"] if self.kind != "barrier" else []
        if self.kind in ("all_reduce", "reduce", "reduce_scatter"):
            parts.append(self.reduction)
        if self.kind in ("reduce", "broadcast", "gather", "scatter"):
            parts.append(f"root {self.peer}")
        if self.kind in ("send", "recv"):
            parts.append(f"{'to' if self.kind == 'send' else 'from'} {self.peer}")
        place = f" {self.file}:{self.line}" if self.file else ""
        return f"{self.kind}({', '.join(parts)}){place}"

    def same(self, other: Call) -> bool:
        """Returns whether two ranks make the same call."""
        return (self.kind, self.dtype, self.shape) == (other.kind, other.dtype, other.shape)


@dataclass
class Record:
    """The calls of one process, the oldest first."""

    rank: int
    size: int
    pid: int
    host: str
    written: int
    calls: list[Call] = field(default_factory=list)


def text(raw: bytes) -> str:
    return raw.partition(b"\0")[0].decode(errors="replace")


def read(path: Path) -> Record:
    """Reads the record of one process.

    Raises:
        ValueError: the file is no flight record
    """
    raw = path.read_bytes()
    if len(raw) < RING or not raw.startswith(b"LAMFLT1\0"):
        raise ValueError(f"{path} is no flight record")
    _, rank, size, pid, entry_bytes, capacity, written, host = HEADER.unpack_from(raw)
    if entry_bytes != ENTRY.size or len(raw) < RING + capacity * entry_bytes:
        raise ValueError(f"{path} is a flight record of another version, or a part of one")
    record = Record(rank, size, pid, text(host), written)
    for n in range(max(written - capacity, 0), written):
        state, kind, reduction, _, peer, ndim, in_group, members, line, mean, number, *rest = ENTRY.unpack_from(
            raw, RING + n % capacity * entry_bytes
        )
        shape, (queued, ended), (group, dtype, file) = rest[:8], rest[8:10], rest[10:]
        if not 0 < state < len(STATES) or not 0 <= kind < len(KINDS):
            continue  # it was being written when the process ended
        named = "avg" if mean else REDUCTIONS[reduction] if 0 <= reduction < len(REDUCTIONS) else ""
        record.calls.append(
            Call(
                STATES[state], KINDS[kind], text(group), in_group, members, number, named, text(dtype), peer,
                tuple(shape[: min(ndim, 8)]), text(file), line, queued, ended,
            )
        )  # fmt: skip
    return record


def read_all(folder: str | os.PathLike[str]) -> list[Record]:
    """Reads the records of a folder: of each rank that of its last start.

    Raises:
        ValueError: there are none, or a file is no flight record
    """
    last: dict[int, tuple[int, Path]] = {}
    for path in Path(folder).glob("rank_*.flight"):
        rank, attempt = (int(part) for part in path.stem.removeprefix("rank_").split("."))
        last[rank] = max(last.get(rank, (-1, path)), (attempt, path))
    if not last:
        raise ValueError(f"there is no flight record in {folder}; the environment variable {VARIABLE} names the folder")
    attempt = max(a for a, _ in last.values())
    return [read(path) for _, (a, path) in sorted(last.items()) if a == attempt]


def ranks(numbers: Sequence[int]) -> str:
    return ("rank " if len(numbers) == 1 else "ranks ") + ", ".join(map(str, numbers))


def verb(numbers: Sequence[int], one: str, more: str) -> str:
    return one if len(numbers) == 1 else more


def explain(records: Sequence[Record]) -> list[str]:
    """Returns what the records of all ranks say of each group: the first call that some rank has not joined or that
    differs, and the ranks that wait in it."""
    lines = []
    groups = sorted({c.group for r in records for c in r.calls})
    for group in groups:
        by_rank = {r.rank: {c.number: c for c in r.calls if c.group == group and c.number} for r in records}
        members = max((c.size for r in records for c in r.calls if c.group == group), default=0)
        if members == len(records):  # a rank without a call in the group has not joined the first one
            by_rank = {rank: calls for rank, calls in by_rank.items()}
        else:
            by_rank = {rank: calls for rank, calls in by_rank.items() if calls}
        if not any(by_rank.values()):
            continue
        lines += explain_group(group, by_rank)
    for r in records:
        for c in r.calls:
            if not c.number and c.state in ("queued", "running", "failed"):
                lines.append(
                    f"group '{c.group}': rank {r.rank}: {c} {'has failed' if c.state == 'failed' else 'waits'}"
                )
    return lines


def explain_group(group: str, by_rank: dict[int, dict[int, Call]]) -> list[str]:
    """Returns what is to say of a group's collectives."""
    last = {rank: max(calls, default=0) for rank, calls in by_rank.items()}
    open_calls = [n for calls in by_rank.values() for n, c in calls.items() if c.state != "done"]
    behind = min(last.values()) + 1
    number = min([*open_calls, behind])
    joined = {rank: calls[number] for rank, calls in by_rank.items() if number in calls}
    if not joined:
        return [f"group '{group}': all ranks have done {behind - 1} collectives"]
    absent = [rank for rank in by_rank if rank not in joined]
    head = f"group '{group}', collective #{number}: "
    first = min(joined)
    differing = [rank for rank, call in joined.items() if not call.same(joined[first])]
    if differing:
        other = differing[0]
        return [f"{head}the calls differ: rank {first} calls {joined[first]}, rank {other} {joined[other]}"]
    lines = []
    if absent:
        waiting = [rank for rank in joined if joined[rank].state != "done"]
        lines.append(
            f"{head}{ranks(absent)} {verb(absent, 'has', 'have')} not joined {joined[first]}"
            + (f"; {ranks(waiting)} {verb(waiting, 'waits', 'wait')}" if waiting else "")
        )
        for rank in absent:
            before = by_rank[rank].get(last[rank])
            lines.append(f"  rank {rank} " + (f"did #{last[rank]} {before} last" if before else "has called nothing"))
    else:
        stuck = [rank for rank, call in joined.items() if call.state != "done"]
        states = sorted({joined[rank].state for rank in stuck})
        lines.append(f"{head}all ranks have joined {joined[first]}; {ranks(stuck)}: {', '.join(states)}")
    return lines


def as_json(records: Sequence[Record]) -> str:
    """Returns the records as text of JSON, with the names that torch's flight recorder has."""
    states = {"queued": "scheduled", "running": "started", "done": "completed", "failed": "failed"}
    made = []
    for r in records:
        entries = [
            {
                "process_group": [c.group, ""],
                "collective_seq_id": c.number,
                "profiling_name": f"lamella:{c.kind}",
                "time_created_ns": c.queued,
                "time_discovered_completed_ns": c.ended or None,
                "input_sizes": [list(c.shape)],
                "input_dtypes": [c.dtype],
                "state": states[c.state],
                "is_p2p": not c.number,
                "frames": [{"name": "", "filename": c.file, "line": c.line}],
            }
            for c in r.calls
        ]
        made.append({"rank": r.rank, "pid": r.pid, "host": r.host, "entries": entries})
    return json.dumps(made, indent=1)


def report(folder: str | os.PathLike[str], json_too: bool = False) -> str:
    """Returns the text of ``lamella flight FOLDER``.

    Raises:
        ValueError: the folder has no flight records
    """
    records = read_all(folder)
    if json_too:
        return as_json(records)
    absent = sorted(set(range(records[0].size)) - {r.rank for r in records})
    lines = explain(records)
    if absent:
        lines.insert(0, f"{ranks(absent)} {verb(absent, 'has', 'have')} left no record")
    for r in records:
        latest = r.calls[-1] if r.calls else None
        when = datetime.fromtimestamp(latest.queued / 1e9, timezone.utc).strftime("%H:%M:%S.%f") if latest else ""
        lines.append(
            f"rank {r.rank} (process {r.pid} on {r.host}): {r.written} calls"
            + (f"; the last, at {when} UTC: {latest}: {latest.state}" if latest else "")
        )
    return "\n".join(lines)
