"""Messages from one process to another: ``send``, ``recv``, and those that go on beside the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lamella import Tensor

from .arguments import check_tensor, peer
from .collectives import Work, operators
from .groups import joined


def isend(
    tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None
) -> Work | None:
    """Starts to send a tensor, which must not be written until the work is done.

    Args:
        tensor: what to send
        dst: a global rank; ``group_dst``, in its place, is a rank within the group
        group: a group; None: all processes
        tag: a number from 0 to 32767; the receiver gives the same

    Raises:
        ValueError: the rank is this process, or not in the group
    """
    g = joined(group, "isend")
    if g is None:
        return None
    check_tensor(tensor, "isend", "tensor")
    operators().send(tensor.detach(), peer(g, dst, group_dst, "isend", "dst"), tag, g.group_name, True)
    return Work([tensor], [tensor])


def irecv(
    tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None
) -> Work | None:
    """Starts to receive a tensor.

    Args:
        tensor: gets what comes; of the sender's number of elements and dtype
        src: a global rank, or ``group_src``, a rank within the group; None of both: any
        group: a group; None: all processes
        tag: a number from 0 to 32767; the sender gives the same

    Raises:
        ValueError: the rank is this process, or not in the group
    """
    g = joined(group, "irecv")
    if g is None:
        return None
    check_tensor(tensor, "irecv", "tensor")
    root = -1 if src is None and group_src is None else peer(g, src, group_src, "irecv", "src")
    sender = operators().recv_(tensor, root, tag, g.group_name, True)
    return Work([tensor], [tensor], sender=sender)


def send(tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Sends a tensor, and waits until it may be written again. Arguments and errors are those of ``isend``.

    Raises:
        DistBackendError: the receiver has ended, or has not come at the group's time limit
    """
    g = joined(group, "send")
    if g is None:
        return
    check_tensor(tensor, "send", "tensor")
    operators().send(tensor.detach(), peer(g, dst, group_dst, "send", "dst"), tag, g.group_name)


def recv(tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """Receives a tensor, and returns the sender's global rank; -1 if this process is not in the group. Arguments are
    those of ``irecv``.

    Raises:
        DistBackendError: the sender has ended, or has not come at the group's time limit, or has sent another number of
            bytes
    """
    g = joined(group, "recv")
    if g is None:
        return -1
    check_tensor(tensor, "recv", "tensor")
    root = -1 if src is None and group_src is None else peer(g, src, group_src, "recv", "src")
    return g.ranks[operators().recv_(tensor, root, tag, g.group_name)]


class P2POp:
    """One message for ``batch_isend_irecv``.

    Args:
        op: ``isend`` or ``irecv``
        tensor: what to send, or what to receive into
        peer: the other's global rank; ``group_peer``, in its place, is a rank within the group
        group, tag: as for ``isend``

    Raises:
        ValueError: the function is another one
    """

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Tensor,
        peer: int | None = None,
        group: Any = None,
        tag: int = 0,
        group_peer: int | None = None,
    ):
        if op not in (isend, irecv):
            raise ValueError("P2POp: argument 'op' must be torch.distributed.isend or torch.distributed.irecv")
        self.op, self.tensor, self.peer, self.group, self.tag, self.group_peer = (
            op,
            tensor,
            peer,
            group,
            tag,
            group_peer,
        )


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Starts several messages, and returns their works.

    Raises:
        ValueError: the list is empty, or an element is no P2POp
    """
    if not p2p_op_list or not all(isinstance(p, P2POp) for p in p2p_op_list):
        raise ValueError("batch_isend_irecv: argument 'p2p_op_list' must be a list of P2POp that is not empty")
    started = []
    for p in p2p_op_list:
        own = p.op is isend
        started.append(p.op(p.tensor, p.peer, p.group, p.tag, **{"group_dst" if own else "group_src": p.group_peer}))
    return [w for w in started if w is not None]
