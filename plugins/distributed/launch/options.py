"""The command line of ``lamella launch``: torchrun's flags."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path

DEFAULT_PORT = 29500
STREAMS = {"0": frozenset(), "1": frozenset({"stdout"}), "2": frozenset({"stderr"})}
STREAMS["3"] = STREAMS["1"] | STREAMS["2"]


@dataclass
class Options:
    """What a job is: its processes, where its agents meet, and what becomes of output and failures."""

    command: list[str]
    nproc: int
    nodes: tuple[int, int]  # the least and the greatest number of machines
    node_rank: int | None  # None: in the order in which agents come
    host: str
    port: int  # 0: any that is free
    run_id: str
    max_restarts: int
    monitor_interval: float
    last_call: float  # how long agents wait for more than the least number of machines
    join_timeout: float
    role: str
    logs: Path | None
    redirects: dict[int, frozenset[str]] = field(default_factory=dict)  # by local rank; -1: all others
    tee: dict[int, frozenset[str]] = field(default_factory=dict)
    shown: frozenset[int] = frozenset()  # local ranks whose output is shown; empty: all
    mpiexec: str = ""


def processes(text: str) -> int:
    """Returns the number of processes that ``--nproc-per-node`` names: a number, or how many devices of a kind there
    are, where those of the CPU are its cores."""
    if text.isdigit() and int(text):
        return int(text)
    import lamella

    current = lamella.accelerator.current_accelerator() if lamella.accelerator.is_available() else None
    devices = lamella.accelerator.device_count() if current is not None else 0
    cores = len(os.sched_getaffinity(0))
    if text == "auto":
        return devices or cores
    if text == "gpu" or (current is not None and text == current.type):
        if not devices:
            raise ValueError(f"--nproc-per-node={text}: there is no accelerator")
        return devices
    if text == lamella.empty(0).device.type:
        return cores
    raise ValueError(f"--nproc-per-node: expected a positive number, auto, cpu or gpu, got {text!r}")


def machines(text: str) -> tuple[int, int]:
    """Returns the least and the greatest number of machines of ``--nnodes``, as ``2`` or ``1:4``."""
    least, colon, most = text.partition(":")
    if not least.isdigit() or (colon and not most.isdigit()):
        raise ValueError(f"--nnodes: expected a number, or two as MIN:MAX, got {text!r}")
    numbers = int(least), int(most or least)
    if not 1 <= numbers[0] <= numbers[1]:
        raise ValueError(f"--nnodes: expected 1 <= MIN <= MAX, got {text!r}")
    return numbers


def streams(text: str, flag: str) -> dict[int, frozenset[str]]:
    """Returns the streams of each local rank that ``--redirects`` or ``--tee`` names: ``3``, or ``0:1,1:3``."""
    found = {}
    for part in text.split(","):
        rank, colon, kind = part.rpartition(":")
        if kind not in STREAMS or (colon and not rank.isdigit()):
            raise ValueError(f"--{flag}: expected 0, 1 (stdout), 2 (stderr) or 3, or RANK:KIND,…, got {text!r}")
        found[int(rank) if colon else -1] = STREAMS[kind]
    return found


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="lamella launch",
        description="Starts the processes of a job, watches them, and starts them anew when one fails. The flags are "
        "torchrun's.",
        allow_abbrev=False,
    )

    def flag(*names: str, **more: object) -> None:
        spellings = [s for n in names for s in dict.fromkeys([n, n[:2] + n[2:].replace("-", "_")])]
        made.add_argument(*spellings, **more)  # type: ignore[arg-type]

    flag("--nproc-per-node", "--nproc", default="1", help="processes of this machine: a number, auto, cpu or gpu")
    flag("--nnodes", default="1:1", help="the number of machines, or MIN:MAX")
    flag("--node-rank", type=int, default=None, help="this machine's number; without it in the order of arrival")
    flag("--master-addr", default=None, help="where the first machine's agent listens; 127.0.0.1 for one machine")
    flag("--master-port", type=int, default=None, help=f"{DEFAULT_PORT} for several machines; any that is free for one")
    flag("--local-addr", default=None, help="accepted")
    flag("--rdzv-backend", default="static", help="static or c10d: agents meet at the first machine's")
    flag("--rdzv-endpoint", default="", help="HOST:PORT, for --master-addr and --master-port")
    flag("--rdzv-id", default=None, help="the job's name")
    flag("--rdzv-conf", default="", help="KEY=VALUE,…: join_timeout, last_call_timeout (seconds)")
    flag("--standalone", action="store_true", help="one machine, and any port that is free")
    flag("--max-restarts", type=int, default=0, help="how often the job starts anew after a failure")
    flag("--monitor-interval", type=float, default=0.1, help="seconds between two looks at the processes")
    flag("--start-method", default="spawn", help="accepted: each process is a new program")
    flag("--role", default="default", help="the name of the processes in output and errors")
    flag("--log-dir", default=None, help="where output goes that --redirects or --tee names")
    made.add_argument("-r", "--redirects", default="0", help="write output to files: 0, 1 (stdout), 2 (stderr), 3")
    made.add_argument("-t", "--tee", default="0", help="as --redirects, and show it, too")
    flag("--local-ranks-filter", default="", help="the local ranks whose output is shown, as 0,2")
    made.add_argument("-m", "--module", action="store_true", help="the program is a module, as of python -m")
    flag("--no-python", action="store_true", help="the program is no file of Python")
    flag("--run-path", action="store_true", help="accepted")
    made.add_argument(
        "--mpiexec", nargs="?", const="mpiexec", default="", help="start the processes by this program of MPI"
    )
    made.add_argument("program", help="a file, or a module with -m")
    made.add_argument("arguments", nargs=argparse.REMAINDER)
    return made


def command_of(args: argparse.Namespace, runs_torch: bool) -> list[str]:
    """Returns what one process runs."""
    if args.no_python:
        if args.module or runs_torch:
            raise ValueError("--no-python: leave out -m, and `run`")
        return [args.program, *args.arguments]
    interpreter = [sys.executable, "-u"]
    if runs_torch:
        interpreter += ["-m", "lamella", "run"]
    return [*interpreter, *(["-m"] if args.module else []), args.program, *args.arguments]


def parse(words: list[str], runs_torch: bool) -> Options:
    """Reads a command line.

    Raises:
        ValueError: a flag has a value that it does not take
        SystemExit: a flag is unknown, or the help was printed
    """
    args = parser().parse_args(words)
    if args.rdzv_backend not in ("static", "c10d"):
        raise ValueError(f"--rdzv-backend: expected static or c10d, got {args.rdzv_backend!r}")
    host, port = args.master_addr, args.master_port
    if args.rdzv_endpoint:
        host, _, text = args.rdzv_endpoint.rpartition(":")
        if not host:
            host, text = args.rdzv_endpoint, ""
        if text and not text.isdigit():
            raise ValueError(f"--rdzv-endpoint: expected HOST:PORT, got {args.rdzv_endpoint!r}")
        port = int(text) if text else port
    nodes = (1, 1) if args.standalone else machines(args.nnodes)
    if nodes[1] > 1 and not host:
        raise ValueError(
            "several machines need --rdzv-endpoint=HOST:PORT, or --master-addr, where the first one listens"
        )
    if args.node_rank is not None and not 0 <= args.node_rank < nodes[1]:
        raise ValueError(f"--node-rank: expected a number from 0 to {nodes[1] - 1}, got {args.node_rank}")
    settings = dict(part.partition("=")[::2] for part in args.rdzv_conf.split(",") if part)
    try:
        last_call, join = float(settings.get("last_call_timeout", 5)), float(settings.get("join_timeout", 600))
    except ValueError:
        raise ValueError(f"--rdzv-conf: expected seconds, got {args.rdzv_conf!r}") from None
    if args.max_restarts < 0:
        raise ValueError(f"--max-restarts: must not be negative, got {args.max_restarts}")
    if args.mpiexec and shutil.which(args.mpiexec) is None:
        raise ValueError(f"--mpiexec: there is no program {args.mpiexec!r}; pip install 'lamella[mpi]' brings MPICH's")
    redirects, tee = streams(args.redirects, "redirects"), streams(args.tee, "tee")
    files = any(redirects.values()) or any(tee.values())
    if args.log_dir is None and any(redirects.values()):
        raise ValueError("--redirects: say where by --log-dir")
    return Options(
        command=command_of(args, runs_torch),
        nproc=processes(args.nproc_per_node),
        nodes=nodes,
        node_rank=args.node_rank,
        host=host or "127.0.0.1",
        port=port if port is not None and not args.standalone else DEFAULT_PORT if nodes[1] > 1 else 0,
        run_id=args.rdzv_id or uuid.uuid4().hex[:12],
        max_restarts=args.max_restarts,
        monitor_interval=args.monitor_interval,
        last_call=last_call,
        join_timeout=join,
        role=args.role,
        logs=Path(args.log_dir).resolve() if args.log_dir and files else None,
        redirects=redirects,
        tee=tee,
        shown=frozenset(int(rank) for rank in args.local_ranks_filter.split(",") if rank),
        mpiexec=args.mpiexec,
    )
