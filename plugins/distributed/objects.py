"""Collectives of objects, which travel as pickles: between processes of one job alone, since a pickle can run code."""

from __future__ import annotations

import pickle
from typing import Any

import lamella
from lamella import Tensor

from .arguments import peer
from .collectives import all_gather_into_tensor, broadcast, gather, scatter
from .groups import joined
from .messages import recv, send


def to_bytes(obj: Any) -> Tensor:
    return lamella.frombuffer(bytearray(pickle.dumps(obj)), dtype=lamella.uint8)


def from_bytes(t: Tensor, size: int) -> Any:
    return pickle.loads(t[:size].numpy().tobytes())


def padded(t: Tensor, size: int) -> Tensor:
    whole = lamella.zeros(size, dtype=lamella.uint8)
    whole[: t.numel()] = t
    return whole


def sizes_of_all(size: int, n: int, group: Any) -> list[int]:
    sizes = lamella.zeros(n, dtype=lamella.int64)
    all_gather_into_tensor(sizes, lamella.tensor([size]), group)
    return sizes.tolist()


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Gives every rank the objects of all.

    Args:
        object_list: gets the objects; as long as there are ranks
        obj: this rank's object, which can be pickled
        group: a group; None: all processes

    >>> import lamella.distributed as dist
    >>> dist.init_process_group("mpi", store=dist.HashStore(), rank=0, world_size=1)
    >>> objects = [None]
    >>> dist.all_gather_object(objects, {"a": 1}); objects
    [{'a': 1}]
    >>> dist.destroy_process_group()
    """
    g = joined(group, "all_gather_object")
    if g is None:
        return
    own = to_bytes(obj)
    sizes = sizes_of_all(own.numel(), g.size(), group)
    room = max(sizes)
    parts = lamella.zeros(g.size(), room, dtype=lamella.uint8)
    all_gather_into_tensor(parts, padded(own, room), group)
    for i, size in enumerate(sizes):
        object_list[i] = from_bytes(parts[i], size)


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    """Gives rank ``dst`` the objects of all.

    Args:
        obj: this rank's object
        object_gather_list: gets the objects on rank ``dst``; None on the others
        dst, group_dst, group: as for ``gather``
    """
    g = joined(group, "gather_object")
    if g is None:
        return
    root = peer(g, 0 if dst is None and group_dst is None else dst, group_dst, "gather_object", "dst")
    own = to_bytes(obj)
    sizes = sizes_of_all(own.numel(), g.size(), group)
    room = max(sizes)
    parts = [lamella.zeros(room, dtype=lamella.uint8) for _ in sizes] if g.rank() == root else None
    gather(padded(own, room), parts, group=group, group_dst=root)
    if parts is not None:
        if object_gather_list is None:
            raise ValueError("gather_object: argument 'object_gather_list' is given on the rank that gets the objects")
        for i, size in enumerate(sizes):
            object_gather_list[i] = from_bytes(parts[i], size)


def broadcast_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None, group_src: int | None = None
) -> None:
    """Gives every rank the objects of rank ``src``, in its list.

    Args:
        object_list: of equal length on all ranks
        src, group_src, group: as for ``broadcast``; rank 0 by default
        device: accepted, as torch has it
    """
    g = joined(group, "broadcast_object_list")
    if g is None:
        return
    root = peer(g, 0 if src is None and group_src is None else src, group_src, "broadcast_object_list", "src")
    parts = [to_bytes(o) for o in object_list] if g.rank() == root else []
    sizes = lamella.tensor([p.numel() for p in parts] or [0] * len(object_list), dtype=lamella.int64)
    broadcast(sizes, group=group, group_src=root)
    lengths = sizes.tolist()
    whole = lamella.cat(parts) if parts else lamella.zeros(sum(lengths), dtype=lamella.uint8)
    broadcast(whole, group=group, group_src=root)
    if g.rank() != root:
        for i, part in enumerate(whole.split(lengths)):
            object_list[i] = from_bytes(part, lengths[i])


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """Gives each rank one of the objects of a list on rank ``src``, as the first element of its list.

    Args:
        scatter_object_output_list: its first element becomes this rank's object
        scatter_object_input_list: an object for each rank, on rank ``src``
        src, group_src, group: as for ``scatter``
    """
    g = joined(group, "scatter_object_list")
    if g is None:
        return
    root = peer(g, 0 if src is None and group_src is None else src, group_src, "scatter_object_list", "src")
    own = g.rank() == root
    if own and len(scatter_object_input_list or ()) != g.size():
        raise ValueError(f"scatter_object_list: argument 'scatter_object_input_list': expected {g.size()} objects")
    parts = [to_bytes(o) for o in scatter_object_input_list or ()] if own else []
    sizes = lamella.tensor([p.numel() for p in parts] or [0] * g.size(), dtype=lamella.int64)
    broadcast(sizes, group=group, group_src=root)
    lengths = sizes.tolist()
    room = max(lengths)
    mine = lamella.zeros(room, dtype=lamella.uint8)
    scatter(mine, [padded(p, room) for p in parts] if own else None, group=group, group_src=root)
    scatter_object_output_list[0] = from_bytes(mine, lengths[g.rank()])


def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: Any = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Sends objects to rank ``dst``.

    Args:
        object_list: what to send
        dst, group_dst, group: as for ``send``
        device, use_batch: accepted, as torch has them
    """
    parts = [to_bytes(o) for o in object_list]
    send(lamella.tensor([p.numel() for p in parts], dtype=lamella.int64), dst, group, 0, group_dst)
    send(lamella.cat(parts), dst, group, 0, group_dst)


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Receives objects from rank ``src``, or from any, and returns the sender's global rank.

    Args:
        object_list: gets the objects; as long as the sender's
        src, group_src, group: as for ``recv``
        device, use_batch: accepted, as torch has them
    """
    if joined(group, "recv_object_list") is None:
        return -1
    sizes = lamella.zeros(len(object_list), dtype=lamella.int64)
    sender = recv(sizes, src, group, 0, group_src)
    lengths = sizes.tolist()
    whole = lamella.zeros(sum(lengths), dtype=lamella.uint8)
    recv(whole, sender, group)
    for i, part in enumerate(whole.split(lengths)):
        object_list[i] = from_bytes(part, lengths[i])
    return sender
