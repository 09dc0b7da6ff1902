"""Groups of processes: how they are made, named and closed."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import warnings
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import lamella

from . import flight, library
from .addresses import default_pg_timeout, rendezvous
from .engines import find
from .stores import Store, nanoseconds

# Bits of enum lamella_group_flags in <lamella/distributed.h>.
COMPARES, ORDERED, SHARES_MEMORY = 1, 2, 4

# Torch's names of engines that another engine serves.
SERVED_BY = {"gloo": "mpi"}
told: set[str] = set()


class ProcessGroup:
    """A group of processes, of which this is one. ``init_process_group`` and ``new_group`` make groups.

    Attributes:
        group_name: the name by which the operators of ``lamella.ops.c10d`` find the group
        group_desc: what ``new_group`` was given to describe it
    """

    def __init__(self, name: str, engine: str, ranks: Sequence[int], rank: int, description: str, flags: int):
        self.group_name, self.engine, self.ranks = name, engine, list(ranks)
        self.group_desc, self.flags, self._rank = description, flags, rank
        self.timeout, self.barriers = default_pg_timeout, 0

    def rank(self) -> int:
        """Returns this process's rank within the group."""
        return self._rank

    def size(self) -> int:
        """Returns how many processes the group has."""
        return len(self.ranks)

    def name(self) -> str:
        """Returns the name of the engine."""
        return self.engine

    def rank_of(self, global_rank: int, argument: str) -> int:
        """Returns the rank within the group of a process that a rank of the whole job names."""
        try:
            return self.ranks.index(global_rank)
        except ValueError:
            raise ValueError(
                f"argument '{argument}': global rank {global_rank} is not in group '{self.group_name}', whose ranks "
                f"are {self.ranks}"
            ) from None

    def __repr__(self) -> str:
        return f"<ProcessGroup '{self.group_name}': {self.engine}, rank {self._rank} of {self.size()}>"


class NonMember:
    """The group that ``new_group`` returns to a process that is not in it."""

    def __repr__(self) -> str:
        return "GroupMember.NON_GROUP_MEMBER"


class State:
    """The groups of this process."""

    def __init__(self) -> None:
        self.world: ProcessGroup | None = None
        self.store: Store | None = None
        self.groups: dict[str, ProcessGroup] = {}
        self.count = 0  # of groups that were made, also of those that this process is not in
        self.process = 0  # which has made the group of all processes


state = State()
lock = threading.Lock()


class _WorldOf(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        return state.world


class GroupMember(metaclass=_WorldOf):
    """``WORLD`` is the group of all processes, None before ``init_process_group``; ``NON_GROUP_MEMBER`` stands for a
    group that this process is not in.

    >>> lamella.distributed.GroupMember.WORLD is None
    True
    """

    NON_GROUP_MEMBER = NonMember()


class group(metaclass=_WorldOf):
    """``group.WORLD`` is the group of all processes, None before ``init_process_group``.

    >>> lamella.distributed.group.WORLD is None
    True
    """


def is_available() -> bool:
    """Returns whether groups of processes can be made.

    >>> lamella.distributed.is_available()
    True
    """
    return True


def is_initialized() -> bool:
    """Returns whether ``init_process_group`` has made the group of all processes.

    >>> lamella.distributed.is_initialized()
    False
    """
    return state.world is not None


def is_mpi_available() -> bool:
    """Returns whether the engine ``mpi`` is installed.

    >>> lamella.distributed.is_mpi_available()
    True
    """
    return "mpi" in find.names()


def is_gloo_available() -> bool:
    """Returns whether ``backend="gloo"`` is served, which the engine ``mpi`` does.

    >>> lamella.distributed.is_gloo_available()
    True
    """
    return is_mpi_available()


def is_nccl_available() -> bool:
    """Returns whether an engine ``nccl`` is installed.

    >>> lamella.distributed.is_nccl_available()
    False
    """
    return "nccl" in find.names()


def is_ucc_available() -> bool:
    """Returns whether an engine ``ucc`` is installed.

    >>> lamella.distributed.is_ucc_available()
    False
    """
    return "ucc" in find.names()


def is_torchelastic_launched() -> bool:
    """Returns whether a launcher such as torchrun has started this process.

    >>> lamella.distributed.is_torchelastic_launched()
    False
    """
    return "TORCHELASTIC_RUN_ID" in os.environ


def engine_for(backend: str | None) -> str:
    """Returns the engine for a backend's name as torch writes it: ``gloo``, several as ``device:name``, or None. Of
    several the first that is installed serves."""
    if backend is None:
        return "mpi"
    if not isinstance(backend, str):
        raise TypeError(f"init_process_group: argument 'backend' must be a str, got {type(backend).__name__}")
    parts = [part.rpartition(":")[2] for part in backend.lower().split(",")]
    name = next((part for part in parts if SERVED_BY.get(part, part) in find.names()), parts[0])
    served = SERVED_BY.get(name, name)
    if served != name and name not in told:
        told.add(name)
        warnings.warn(f"the backend '{name}' is served by the engine '{served}'", stacklevel=3)
    return served


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Store | None = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
    *,
    check_calls: bool = True,
    deterministic: bool = False,
    shared_memory: bool = True,
) -> None:
    """Makes the group of all processes, and waits until all have come.

    Args:
        backend: the engine: ``mpi``, or one that a package brings; ``gloo`` is served by ``mpi``. None: ``mpi``
        init_method: where the processes find each other, as in ``rendezvous``; ``env://`` unless there is a store
        timeout: the limit of each call, and of this one; half an hour by default
        world_size: the number of processes; with a store it is required
        rank: this process's rank; with a store it is required
        store: a store that all processes share, in the place of ``init_method``
        group_name, pg_options, device_id: accepted, as torch has them
        check_calls: whether each collective is compared between ranks before data moves, so that one that differs is an
            error that names both calls; it costs some microseconds
        deterministic: whether reductions add in the order of ranks, so that their bits depend on values and the number
            of ranks alone
        shared_memory: whether the collectives of processes on one machine move data by memory that all map, where the
            engine allows it

    Raises:
        RuntimeError: the engine cannot start
        ValueError: there is a group already, rank or number of processes are not known, or there is no such engine
        DistStoreError, DistNetworkError: some process has not come at the time limit

    >>> import lamella.distributed as dist
    >>> dist.init_process_group("mpi", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.get_rank(), dist.get_world_size(), dist.get_backend()
    (0, 1, 'mpi')
    >>> dist.destroy_process_group()
    """
    if state.world is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise ValueError("init_process_group: give one of 'store' and 'init_method'")
    engine = engine_for(backend)
    find.load(engine)
    limit = default_pg_timeout if timeout is None else timeout
    nanoseconds(limit)
    if store is None:
        store, rank, world_size = next(iter(rendezvous(init_method or "env://", rank, world_size, limit)))
    elif rank < 0 or world_size < 1:
        raise ValueError("init_process_group: with a store, 'rank' and 'world_size' are required")
    flags = COMPARES * check_calls | ORDERED * deterministic | SHARES_MEMORY * shared_memory
    with lock:
        name, state.count = str(state.count), state.count + 1
    flight.start(rank, world_size)
    library.face().open_group(name, engine, store._handle, rank, world_size, nanoseconds(limit), flags, 0, None, ())
    made = ProcessGroup(name, engine, range(world_size), rank, "default_pg", flags)
    made.timeout = limit
    if util := sys.modules.get("multiprocessing.util"):  # whose processes run no functions of atexit
        util.Finalize(None, close_all, exitpriority=10)
    state.world, state.store, state.groups[name], state.process = made, store, made, os.getpid()


def default_group() -> ProcessGroup:
    """Returns the group of all processes.

    Raises:
        ValueError: there is none
    """
    if state.world is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return state.world


def member(of: Any, function: str) -> ProcessGroup | None:
    """Returns the group that a function was given, or that of all processes for None.

    If this process is not in the group, returns None.
    """
    if of is None:
        return default_group()
    if isinstance(of, NonMember):
        return None
    if not isinstance(of, ProcessGroup):
        raise TypeError(f"{function}: argument 'group' must be a ProcessGroup, got {type(of).__name__}")
    if state.groups.get(of.group_name) is not of:
        raise ValueError(f"{function}: group '{of.group_name}' was destroyed")
    return of


def joined(of: Any, function: str) -> ProcessGroup | None:
    """Like ``member``, with torch's warning for a call that does nothing since this process is not in the group."""
    found = member(of, function)
    if found is None:
        warnings.warn(
            f"Running {function} on global rank {default_group().rank()} which does not belong to the given group.",
            stacklevel=3,
        )
    return found


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
    *,
    check_calls: bool | None = None,
    deterministic: bool | None = None,
    shared_memory: bool | None = None,
) -> Any:
    """Makes a group of some processes. All processes of the job call it, in the same order, also those outside of the
    group, which get ``GroupMember.NON_GROUP_MEMBER``.

    Args:
        ranks: global ranks. None: all
        timeout: the limit of each call; that of the group of all processes by default
        backend: None, or the engine of the group of all processes
        pg_options, use_local_synchronization, device_id: accepted, as torch has them
        group_desc: a description
        sort_ranks: whether the group's ranks follow the order of global ranks, and not that of ``ranks``
        check_calls, deterministic, shared_memory: as in ``init_process_group``; None: as in the group of all processes

    Raises:
        ValueError: a rank is not in the job, or stands twice; another engine is named

    >>> import lamella.distributed as dist
    >>> dist.init_process_group("mpi", store=dist.HashStore(), rank=0, world_size=1)
    >>> part = dist.new_group([0])
    >>> dist.get_rank(part), dist.get_world_size(part)
    (0, 1)
    >>> dist.destroy_process_group()
    """
    world = default_group()
    chosen = list(range(world.size()) if ranks is None else ranks)
    if sort_ranks:
        chosen.sort()
    if len(set(chosen)) != len(chosen):
        raise ValueError(f"new_group: argument 'ranks': a rank stands twice in {list(ranks or ())}")
    if not chosen or min(chosen) < 0 or max(chosen) >= world.size():
        raise ValueError(f"new_group: argument 'ranks': expected ranks from 0 to {world.size() - 1}, got {chosen}")
    if backend is not None and engine_for(backend) != world.engine:
        raise ValueError(f"new_group: argument 'backend': a part of a group has its engine, '{world.engine}'")
    with lock:
        name, number, state.count = str(state.count), state.count, state.count + 1
    if world.rank() not in chosen:
        return GroupMember.NON_GROUP_MEMBER
    limit = world.timeout if timeout is None else timeout
    rank = chosen.index(world.rank())
    flags = world.flags
    for flag, on in ((COMPARES, check_calls), (ORDERED, deterministic), (SHARES_MEMORY, shared_memory)):
        flags = flags if on is None else flags | flag if on else flags & ~flag
    library.face().open_group(
        name,
        world.engine,
        None,
        rank,
        len(chosen),
        nanoseconds(limit),
        flags,
        number,
        world.group_name,
        [world.ranks.index(r) for r in chosen],
    )
    made = ProcessGroup(name, world.engine, chosen, rank, group_desc or "undefined", flags)
    made.timeout = limit
    state.groups[name] = made
    return made


def destroy_process_group(group: Any = None) -> None:
    """Closes a group; None and the group of all processes: all groups. Calls under way fail.

    >>> lamella.distributed.destroy_process_group()
    Traceback (most recent call last):
    ValueError: Default process group has not been initialized, please make sure to call init_process_group.
    """
    found = member(group, "destroy_process_group")
    if found is None:
        return
    gone = [found] if found is not state.world else list(reversed(state.groups.values()))
    for one in gone:
        library.face().close_group(one.group_name)
        del state.groups[one.group_name]
    if found is state.world:
        state.world = state.store = None


@atexit.register
def close_all() -> None:
    """Closes the groups before the interpreter and the engines' libraries end. A fork has none."""
    if state.world is not None and os.getpid() == state.process:
        destroy_process_group()


def get_rank(group: Any = None) -> int:
    """Returns this process's rank in a group; -1 if it is not in it.

    Raises:
        ValueError: there is no group
    """
    found = member(group, "get_rank")
    return -1 if found is None else found.rank()


def get_world_size(group: Any = None) -> int:
    """Returns the number of processes of a group; -1 if this process is not in it.

    Raises:
        ValueError: there is no group
    """
    found = member(group, "get_world_size")
    return -1 if found is None else found.size()


def get_backend(group: Any = None) -> str:
    """Returns the name of a group's engine.

    Raises:
        ValueError: there is no group, or this process is not in it
    """
    found = member(group, "get_backend")
    if found is None:
        raise ValueError("Invalid process group specified: this process is not in the group")
    return found.engine


def get_process_group_ranks(group: Any = None) -> list[int]:
    """Returns the global ranks of a group's processes, in the order of ranks within the group."""
    found = member(group, "get_process_group_ranks")
    return [] if found is None else list(found.ranks)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """Returns the global rank of a rank within a group.

    Raises:
        ValueError: the group has no such rank
    """
    found = member(group, "get_global_rank")
    if found is None or not 0 <= group_rank < found.size():
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return found.ranks[group_rank]


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """Returns the rank within a group of a global rank.

    Raises:
        ValueError: the group has no such rank
    """
    found = member(group, "get_group_rank")
    if found is None:
        raise ValueError(f"Group {group} is not registered, please create group with torch.distributed.new_group API")
    return found.rank_of(global_rank, "global_rank")


def monitored_barrier(group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
    """Waits until all processes of a group have come, and names on rank 0 those that have not.

    Args:
        group: a group; None: all processes
        timeout: the limit; the group's by default
        wait_all_ranks: whether rank 0 names all that are absent, and not the first alone

    Raises:
        RuntimeError: on rank 0, some rank has not come; on the others, rank 0 has not let them go on
    """
    found = joined(group, "monitored_barrier")
    if found is None or state.store is None:
        return
    end = time.monotonic() + nanoseconds(found.timeout if timeout is None else timeout) / 1e9
    found.barriers += 1
    prefix = f"barrier/{found.group_name}/{found.barriers}"
    error_class = lamella.library.error_class("DistStoreError")

    def came(key: str) -> bool:
        try:
            state.store.wait([key], timedelta(seconds=max(end - time.monotonic(), 0)))  # type: ignore[union-attr]
        except error_class:
            return False
        return True

    if found.rank():
        state.store.set(f"{prefix}/{found.rank()}", "")
        if not came(f"{prefix}/go"):
            raise RuntimeError(f"monitored_barrier: rank {found.rank()}: rank 0 has not let the others go on in time")
        return
    absent = []
    for rank in range(1, found.size()):
        if not came(f"{prefix}/{rank}"):
            absent.append(rank)
            if not wait_all_ranks:
                break
    if absent:
        names = ", ".join(map(str, absent))
        raise RuntimeError(f"monitored_barrier: [Rank 0]: ranks that failed to come in time: {names}")
    state.store.set(f"{prefix}/go", "")
