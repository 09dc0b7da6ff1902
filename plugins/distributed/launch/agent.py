"""The agent of one machine: it agrees with the agents of other machines on ranks, runs its processes, and starts them
anew with the others when a process fails anywhere.

Agents meet in a TCP store, which the first one serves. The keys of one attempt are ``RUN/N/…``: ``arrived`` counts
agents, ``node/I`` is the number of processes of the I-th, ``nodes`` closes the list, ``failed`` says who has failed,
and ``done`` counts agents whose processes have ended well.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from .. import flight
from ..errors import DistError
from ..stores import Store, TCPStore
from .options import Options
from .workers import Workers

LINGER = 10.0  # seconds


class Interrupted(Exception):
    """The agent got a signal that ends it."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


def say(text: str) -> None:
    print(f"lamella launch: {text}", file=sys.stderr, flush=True)


class Agent:
    """Runs a job's processes on this machine.

    Args:
        options: the job
    """

    def __init__(self, options: Options):
        self.options = options
        self.host = socket.gethostname()
        self.store: Store | None = None
        self.port, self.serves = options.port, options.node_rank == 0 or options.nodes[1] == 1
        self.agents = 1  # of the last attempt
        folder = options.logs or Path(tempfile.gettempdir(), f"lamella_{os.getuid()}")
        self.flight = os.environ.get(flight.VARIABLE) or str(folder / f"flight_{options.run_id}")

    def run(self) -> int:
        """Runs the job; returns the exit status: 0, 1 after a failure, or 128 and the signal that ended the agent.

        Raises:
            RuntimeError: the agents do not meet, or the program cannot be started
        """
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._interrupt)
        try:
            self.store = self._open_store()
            for attempt in range(self.options.max_restarts + 1):
                why = self._attempt(self.store, attempt)
                if why is None:
                    break
                self._explain()
                left = self.options.max_restarts - attempt
                say(f"{why}; the job " + (f"starts anew, with {left} restarts left" if left else "ends"))
            if why is None and flight.VARIABLE not in os.environ and not self.options.logs:
                shutil.rmtree(self.flight, ignore_errors=True)
            elif why is not None:
                say(f"`lamella flight {self.flight}` shows the last calls of each rank")
            self._leave(self.store)
            return int(why is not None)
        except Interrupted as error:
            say(f"ended by {signal.Signals(error.number).name}")
            return 128 + error.number
        except DistError as error:
            raise RuntimeError(str(error)) from None

    def _explain(self) -> None:
        """Prints what the flight records of this machine's processes say of a failed attempt."""
        try:
            lines = flight.explain(flight.read_all(self.flight))
        except ValueError:  # the processes have made no group
            return
        for line in lines:
            say(line)

    def _interrupt(self, number: int, frame: Any) -> None:
        raise Interrupted(number)

    def _open_store(self) -> Store:
        """Returns the store in which agents meet. The agent of node 0 serves it; without numbers of nodes, one on the
        machine where the others look for it."""
        o, limit = self.options, timedelta(seconds=self.options.join_timeout)
        store = None
        if self.serves or o.node_rank is None:
            try:
                store = TCPStore(o.host, o.port, None, True, limit, wait_for_workers=False)
                self.serves = True
            except DistError:
                if self.serves:
                    raise
        if store is None:  # another agent serves it
            store = TCPStore(o.host, o.port, None, False, limit, wait_for_workers=False)
        self.port = store.port
        return store

    def _join(self, store: Store, key: str) -> tuple[int, list[int]]:
        """Returns this machine's number, and the numbers of processes of all machines."""
        o = self.options
        least, most = o.nodes
        arrived = store.add(f"{key}/arrived", 1)
        number = o.node_rank if o.node_rank is not None else arrived - 1
        if arrived > most:
            raise RuntimeError(f"{arrived} machines have come, and --nnodes takes {most}")
        store.set(f"{key}/node/{number}", str(o.nproc))
        until, last_call = time.monotonic() + o.join_timeout, None
        while not store.check([f"{key}/nodes"]):
            came = store.add(f"{key}/arrived", 0)
            if came >= least and last_call is None:
                last_call = time.monotonic() + o.last_call
            if came >= most or (last_call and time.monotonic() > last_call):
                store.compare_set(f"{key}/nodes", "", str(min(came, most)))
            elif time.monotonic() > until:
                raise RuntimeError(f"{came} machines have come after {o.join_timeout:g} s, and {least} are needed")
            time.sleep(0.02)
        count = int(store.get(f"{key}/nodes"))
        if number >= count:
            raise RuntimeError(f"this machine came too late: the job has begun with {count}")
        return number, [int(store.get(f"{key}/node/{i}")) for i in range(count)]

    def _leave(self, store: Store) -> None:
        """Waits for the other agents if this one serves their store, so that they can read the end of the job."""
        key, until = f"{self.options.run_id}/left", time.monotonic() + LINGER
        store.add(key, 1)
        while self.serves and store.add(key, 0) < self.agents and time.monotonic() < until:
            time.sleep(0.02)

    def _environments(self, number: int, nodes: list[int], attempt: int) -> list[dict[str, str]]:
        o, first, size = self.options, sum(nodes[:number]), sum(nodes)
        base = dict(os.environ)
        if o.nproc > 1:
            base.setdefault("OMP_NUM_THREADS", str(max(len(os.sched_getaffinity(0)) // o.nproc, 1)))
        made = []
        for local_rank in range(o.nproc):
            numbers = {
                "RANK": first + local_rank,
                "LOCAL_RANK": local_rank,
                "WORLD_SIZE": size,
                "LOCAL_WORLD_SIZE": o.nproc,
                "GROUP_RANK": number,
                "GROUP_WORLD_SIZE": len(nodes),
                "ROLE_RANK": first + local_rank,
                "ROLE_WORLD_SIZE": size,
                "ROLE_NAME": o.role,
                "MASTER_ADDR": o.host,
                "MASTER_PORT": self.port,
                "TORCHELASTIC_RESTART_COUNT": attempt,
                "TORCHELASTIC_MAX_RESTARTS": o.max_restarts,
                "TORCHELASTIC_RUN_ID": o.run_id,
                "TORCHELASTIC_USE_AGENT_STORE": True,
                flight.VARIABLE: self.flight,
            }
            made.append({**base, **{k: str(v) for k, v in numbers.items()}})
        return made

    def _attempt(self, store: Store, attempt: int) -> str | None:
        """Runs the processes once; returns why the attempt has failed, or None."""
        key = f"{self.options.run_id}/{attempt}"
        number, nodes = self._join(store, key)
        logs = self.options.logs / self.options.run_id / f"attempt_{attempt}" if self.options.logs else None
        self.agents = len(nodes)
        workers = Workers(self.options, self._environments(number, nodes, attempt), logs)
        try:
            workers.start()
            why = self._watch(store, key, workers, len(nodes))
            workers.stop()
            return why
        except Interrupted as error:
            workers.stop(error.number)
            raise
        except BaseException:
            workers.stop()
            raise

    def _watch(self, store: Store, key: str, workers: Workers, nodes: int) -> str | None:
        """Waits for the end of the processes of all machines; returns why the attempt has failed, or None."""
        said = False
        while True:
            if failures := workers.failures():
                why = f"{failures[0]} on {self.host}"
                store.compare_set(f"{key}/failed", "", why)
                return why
            if nodes > 1 and store.check([f"{key}/failed"]):
                return store.get(f"{key}/failed").decode()
            if workers.all_done():
                if not said:
                    store.add(f"{key}/done", 1)
                    said = True
                if store.add(f"{key}/done", 0) == nodes:
                    return None
            time.sleep(self.options.monitor_interval)
