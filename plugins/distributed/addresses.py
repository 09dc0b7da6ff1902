"""Where the processes of a job find each other: a store, by a URL or by the environment."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import timedelta

from .stores import FileStore, PrefixStore, Store, TCPStore

default_pg_timeout = timedelta(minutes=30)

# The servers of this process by their addresses: groups that are made one after the other use one.
servers: dict[tuple[str, int], TCPStore] = {}


def number_from(variables: Sequence[str], what: str) -> int:
    """Returns the number in the first of some environment variables that is set."""
    for name in variables:
        if text := os.environ.get(name):
            try:
                return int(text)
            except ValueError:
                raise ValueError(
                    f"init_process_group: the environment variable {name} must be {what}, got {text!r}"
                ) from None
    raise ValueError(
        f"init_process_group: {what} is not known: set the environment variable {variables[0]}, start the program by a "
        f"launcher that sets it, or give rank and world_size"
    )


def rendezvous(
    url: str, rank: int = -1, world_size: int = -1, timeout: timedelta = default_pg_timeout
) -> Iterator[tuple[Store, int, int]]:
    """Yields once the store that a URL names, this process's rank, and the number of processes.

    Args:
        url: ``env://``, which reads MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE; ``tcp://host:port``; or
            ``file:///path``. ``?rank=0&world_size=2`` at its end stands for the arguments
        rank, world_size: -1: the URL or the environment says it
        timeout: the store's limit

    Raises:
        ValueError: the URL is of no such kind, or rank or number of processes are not known
    """
    from urllib.parse import parse_qs, urlparse

    parts = urlparse(url)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    rank, world_size = int(query.get("rank", rank)), int(query.get("world_size", world_size))
    if parts.scheme not in ("env", "tcp", "file"):
        raise ValueError(f"rendezvous: '{url}': expected env://, tcp://host:port or file:///path")
    if parts.scheme == "env" or rank < 0:
        rank = (
            rank if rank >= 0 else number_from(("RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"), "the rank")
        )
    if parts.scheme == "env" or world_size < 0:
        variables = ("WORLD_SIZE", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS")
        world_size = world_size if world_size >= 0 else number_from(variables, "the number of processes")
    store: Store
    if parts.scheme == "file":
        store = FileStore(parts.netloc + parts.path, world_size)
        store.set_timeout(timeout)
    else:
        if parts.scheme == "tcp":
            host, port = parts.hostname, parts.port
        else:
            host, port = os.environ.get("MASTER_ADDR"), number_from(("MASTER_PORT",), "the port of the master")
        if not host or port is None:
            raise ValueError(
                f"rendezvous: '{url}': the master's address is not known: set MASTER_ADDR and MASTER_PORT, or write "
                f"tcp://host:port"
            )
        # The launcher's agent serves the store of the processes that it has started.
        agent = parts.scheme == "env" and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
        serves = rank == 0 and not agent
        if not serves or (host, port) not in servers:
            store = TCPStore(host, port, world_size, serves, timeout, wait_for_workers=False)
            if serves and port:
                servers[host, port] = store
        else:
            store = servers[host, port]
        if agent:
            store = PrefixStore(f"worker/attempt_{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)
    yield store, rank, world_size
