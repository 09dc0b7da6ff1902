"""Saving and loading beside torch's: 100 MB, a thousand tiny tensors, a mapped gigabyte.
``python checkpoints.py WORD`` runs the rows with that word in their names."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from autograd import namespaces
from common import Bound, Limit, Row, Sample, same, table

ROUNDS = 9
RATE, TINY, MAPPED = 1 / 1.3, 0.2, 5e6
Call = Callable[[Path], Any]


def large(ns: Any) -> dict[str, Any]:
    """Makes four tensors, 100 MB in total."""
    return {f"layer{i}.weight": ns.ones(6_250_000) for i in range(4)}


def tiny(ns: Any) -> dict[str, Any]:
    return {f"layer{i}.bias": ns.full((4,), float(i)) for i in range(1000)}


def touch(count: int = 300_000_000) -> None:
    """Allocates, writes and frees memory, so that the next call gets pages that exist. A virtual machine returns free
    pages to its host, and the next use of each costs microseconds, which would slow one of the peers by chance."""
    np.ones(count, np.uint8)


def fsync(path: Path) -> None:
    with open(path, "r+b") as f:
        os.fsync(f.fileno())


def saver(ns: Any, make: Callable[[Any], Any], **options: Any) -> Call:
    given = make(ns)
    return lambda path: ns.save(given, path, **options)


def saver_to_disk(ns: Any, make: Callable[[Any], Any]) -> Call:
    """Makes a function that saves, and returns when the file is on the disk, for which torch has no option."""
    given = make(ns)

    def save(path: Path) -> None:
        ns.save(given, path)
        fsync(path)

    return save


def timed(calls: dict[str, Call], paths: dict[str, Path], before: Callable[[Path], None], more: int = 1) -> Any:
    """Times the calls in turns, each ``more`` times a round. ``before`` is called before each and is not timed."""
    times: dict[str, list[float]] = {peer: [] for peer in calls}
    order = list(calls)
    for n in range(ROUNDS + 1):
        for peer in order:
            took = 0.0
            for _ in range(more):
                before(paths[peer])
                start = time.perf_counter_ns()
                kept = calls[peer](paths[peer])
                took += time.perf_counter_ns() - start
                del kept
            if n:  # the first round is not counted: it warms up
                times[peer].append(took / more)
        order.append(order.pop(0))
    return {peer: Sample(t) for peer, t in times.items()}


def absent(path: Path) -> None:
    path.unlink(missing_ok=True)
    touch()


def present(path: Path) -> None:
    """Prepares a save over an old file, which is written to the disk first."""
    if path.exists():
        fsync(path)
    touch()


def agree(paths: dict[str, Path]) -> None:
    loaded = {peer: ns.load(paths[peer]) for peer, ns in namespaces().items()}
    assert [list(each) for each in loaded.values()][1:] == [list(loaded["lamella"])]
    same({peer: np.concatenate([x.numpy() for x in each.values()]) for peer, each in loaded.items()})


def rows(wanted: Callable[[str], bool], folder: Path) -> Iterator[Row | Limit]:
    peers = namespaces()
    paths = {peer: folder / f"{peer}.checkpoint" for peer in peers}
    quick = {"lamella": {"durable": False}, "torch": {}}

    def savers(make: Callable[[Any], Any]) -> dict[str, Call]:
        return {peer: saver(ns, make, **quick[peer]) for peer, ns in peers.items()}

    def loaders() -> dict[str, Call]:
        return {peer: ns.load for peer, ns in peers.items()}

    nothing: Callable[[Path], None] = lambda path: None  # noqa: E731
    if wanted(name := "save 100 MB into a new file, durable=False"):
        yield Row(name, timed(savers(large), paths, absent), [Bound("torch", RATE)])
    if wanted(name := "save 100 MB over an old file, durable=False"):
        yield Row(name, timed(savers(large), paths, present), [Bound("torch", RATE)])
    if wanted(name := "save 100 MB, on the disk: durable=True; torch and fsync"):
        calls = {"lamella": saver(peers["lamella"], large), "torch": saver_to_disk(peers["torch"], large)}
        yield Row(name, timed(calls, paths, present), [Bound("torch", 1.1)])
    if wanted(name := "load 100 MB"):
        for peer, save in savers(large).items():
            save(paths[peer])
        agree(paths)
        yield Row(name, timed(loaders(), paths, lambda path: touch()), [Bound("torch", RATE)])
    if wanted(name := "save 1000 tiny tensors, durable=False"):
        yield Row(name, timed(savers(tiny), paths, nothing, 3), [Bound("torch", TINY)])
    if wanted(name := "save 1000 tiny tensors, on the disk: durable=True; torch and fsync"):
        calls = {"lamella": saver(peers["lamella"], tiny), "torch": saver_to_disk(peers["torch"], tiny)}
        yield Row(name, timed(calls, paths, nothing, 3))
    if wanted(name := "load 1000 tiny tensors"):
        for peer, save in savers(tiny).items():
            save(paths[peer])
        agree(paths)
        yield Row(name, timed(loaders(), paths, nothing, 3), [Bound("torch", TINY)])
    if wanted(name := "load 1 GB with mmap=True"):
        for peer, ns in peers.items():
            ns.save({f"layer{i}.weight": ns.zeros(25_000_000) for i in range(10)}, paths[peer], **quick[peer])
        calls = {peer: lambda path, ns=ns: ns.load(path, mmap=True) for peer, ns in peers.items()}
        found = timed(calls, paths, nothing)
        yield Row(name, found)
        yield Limit(f"{name}, alone", found["lamella"], MAPPED)


def main(word: str = "") -> list[Row | Limit]:
    with tempfile.TemporaryDirectory() as folder:
        made = list(rows(lambda name: word in name, Path(folder)))
    print(table("Checkpoints, one thread", made))
    return made


if __name__ == "__main__":
    sys.exit(not all(r.holds for r in main(*sys.argv[1:])))
