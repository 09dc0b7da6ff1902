"""Collectives: the functions of torch.distributed over the operators of ``lamella.ops.c10d``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import lamella
from lamella import Tensor

from . import library
from .arguments import apart, check_alike, check_tensor, check_tensors, fits, hand_to, peer, rows
from .futures import Future
from .groups import joined
from .stores import nanoseconds


class _Reduction:
    """One of the reductions, as ``ReduceOp.SUM``."""

    def __init__(self, name: str, text: str, value: int):
        self.name, self.text, self.value = name, text, value

    def __repr__(self) -> str:
        return f"<RedOpType.{self.name}: {self.value}>"

    def __reduce__(self) -> Any:
        return getattr, (ReduceOp, self.name)


class ReduceOp:
    """The reductions of collectives. SUM, PRODUCT, MIN and MAX take every dtype, MIN and MAX no complex ones; AVG takes
    floating-point and complex tensors; BAND, BOR and BXOR take whole numbers, bit by bit. Tensors of bools are added by
    "or", and multiplied by "and".

    >>> lamella.distributed.ReduceOp.SUM
    <RedOpType.SUM: 0>
    """

    SUM = _Reduction("SUM", "sum", 0)
    AVG = _Reduction("AVG", "avg", 1)
    PRODUCT = _Reduction("PRODUCT", "product", 2)
    MIN = _Reduction("MIN", "min", 3)
    MAX = _Reduction("MAX", "max", 4)
    BAND = _Reduction("BAND", "band", 5)
    BOR = _Reduction("BOR", "bor", 6)
    BXOR = _Reduction("BXOR", "bxor", 7)
    RedOpType = _Reduction


def reduction(op: Any, function: str) -> str:
    if not isinstance(op, _Reduction):
        raise TypeError(f"{function}: argument 'op' must be one of ReduceOp, got {op!r}")
    return op.text


class Work:
    """A collective that was started with ``async_op=True``. Operators that use its tensors wait for it themselves."""

    def __init__(
        self, tensors: Sequence[Tensor], result: Any, last: Callable[[], None] | None = None, sender: int = -1
    ):
        face, self._sender = library.face(), sender
        self._native = [work for work in map(face.work_of, tensors) if work is not None]
        self._result, self._last, self._ending = result, last, threading.Lock()

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Waits until the collective is done, and returns True.

        Args:
            timeout: a limit of this wait; without it the group's limit of the collective holds

        Raises:
            DistBackendError: the collective failed, or is not done at the limit
        """
        for work in self._native:
            work.wait(-1 if timeout is None else nanoseconds(timeout))
        with self._ending:  # a second waiter waits for the first one's last step
            last, self._last = self._last, None
            if last:
                last()
        return True

    def is_completed(self) -> bool:
        """Returns whether the collective is done."""
        return all(work.done() for work in self._native)

    def is_success(self) -> bool:
        """Returns whether the collective is done, and has not failed."""
        try:
            return self.is_completed() and self.wait()
        except RuntimeError:
            return False

    def result(self) -> Any:
        """Waits, and returns the tensors of the collective."""
        self.wait()
        return self._result

    def get_future(self) -> Future[Any]:
        """Returns a future of the list of the collective's tensors."""
        future: Future[Any] = Future()

        def follow() -> None:
            try:
                self.wait()
            except Exception as error:
                future.set_exception(error)
            else:
                future.set_result([self._result] if isinstance(self._result, Tensor) else self._result)

        threading.Thread(target=follow, name="lamella-work", daemon=True).start()
        return future

    def source_rank(self) -> int:
        """Returns the rank within the group that has sent what ``irecv`` received."""
        self.wait()
        return self._sender if self._sender >= 0 else self._native[0].sender()


def operators() -> Any:
    return library.operators()


def work(async_op: bool, tensors: Sequence[Tensor], result: Any, last: Callable[[], None] | None = None) -> Work | None:
    """Returns the work of a call that was started; else does at once what is left to do."""
    if async_op:
        return Work(tensors, result, last)
    return last() if last else None


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """Reduces the tensors of all ranks; every rank gets the result in its tensor. Gradients go through SUM and AVG.

    Args:
        tensor: of equal shape and dtype on all ranks; a leaf that requires grad is an error, as for any write
        op: one of ReduceOp
        group: a group; None: all processes
        async_op: whether to return at once, with a ``Work``

    Raises:
        DistBackendError: the ranks' calls differ, a rank has ended, or has not come at the group's time limit
        ValueError: the dtype has no such reduction, or there is no group

    >>> import lamella.distributed as dist
    >>> dist.init_process_group("mpi", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = lamella.ones(2)
    >>> dist.all_reduce(x); x
    tensor([1., 1.])
    >>> dist.destroy_process_group()
    """
    g = joined(group, "all_reduce")
    if g is None:
        return None
    check_tensor(tensor, "all_reduce", "tensor")
    operators().all_reduce_(tensor, reduction(op, "all_reduce"), g.group_name, async_op)
    return work(async_op, [tensor], [tensor])


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Reduces the tensors of all ranks; rank ``dst`` gets the result in its tensor, and the others' stay.

    Args:
        tensor: of equal shape and dtype on all ranks
        dst: a global rank; ``group_dst``, in its place, is a rank within the group
        op, group, async_op: as for ``all_reduce``

    Raises:
        DistBackendError, ValueError: as for ``all_reduce``
    """
    g = joined(group, "reduce")
    if g is None:
        return None
    check_tensor(tensor, "reduce", "tensor")
    operators().reduce_(
        tensor, peer(g, dst, group_dst, "reduce", "dst"), reduction(op, "reduce"), g.group_name, async_op
    )
    return work(async_op, [tensor], [tensor])


def broadcast(
    tensor: Tensor, src: int | None = None, group: Any = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """Gives every rank the tensor of rank ``src``, in its own.

    Args:
        tensor: of equal shape and dtype on all ranks
        src: a global rank; ``group_src``, in its place, is a rank within the group
        group, async_op: as for ``all_reduce``

    Raises:
        DistBackendError, ValueError: as for ``all_reduce``
    """
    g = joined(group, "broadcast")
    if g is None:
        return None
    check_tensor(tensor, "broadcast", "tensor")
    operators().broadcast_(tensor, peer(g, src, group_src, "broadcast", "src"), g.group_name, async_op)
    return work(async_op, [tensor], [tensor])


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False) -> Work | None:
    """Gives every rank the tensors of all, in the order of ranks.

    Args:
        tensor_list: gets the tensors, one for each rank, of the shape and dtype of ``tensor``
        tensor: of equal shape and dtype on all ranks
        group, async_op: as for ``all_reduce``

    Raises:
        DistBackendError, ValueError: as for ``all_reduce``, or an element of the list does not fit
    """
    g = joined(group, "all_gather")
    if g is None:
        return None
    outs = check_tensors(tensor_list, "all_gather", "tensor_list", g.size())
    check_alike(outs, check_tensor(tensor, "all_gather", "tensor"), "all_gather", "tensor_list")
    flat = operators().all_gather(tensor.detach(), g.group_name, async_op)

    def hand_out() -> None:
        hand_to(outs, flat.view(g.size(), *tensor.shape).unbind())

    return work(async_op, [flat], tensor_list, hand_out)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Gives every rank the tensors of all in one tensor, joined along the first dimension or stacked along a new one.

    Args:
        output_tensor: contiguous, of as many elements as all ranks' tensors have
        input_tensor: of equal shape and dtype on all ranks
        group, async_op: as for ``all_reduce``

    Raises:
        DistBackendError, ValueError: as for ``all_reduce``, or the output does not fit
    """
    g = joined(group, "all_gather_into_tensor")
    if g is None:
        return None
    x = check_tensor(input_tensor, "all_gather_into_tensor", "input_tensor")
    out = check_tensor(output_tensor, "all_gather_into_tensor", "output_tensor")
    view = fits(out, rows(x, g.size()), x.dtype, "all_gather_into_tensor", "output_tensor")
    operators().all_gather(apart(x, out, async_op), g.group_name, async_op, out=view)
    return work(async_op, [out], [out])


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduces a list of tensors of all ranks; rank i gets the result for element i.

    Args:
        output: gets this rank's part
        input_list: a tensor for each rank, of the shape and dtype of ``output``
        op, group, async_op: as for ``all_reduce``

    Raises:
        DistBackendError, ValueError: as for ``all_reduce``, or an element of the list does not fit
    """
    g = joined(group, "reduce_scatter")
    if g is None:
        return None
    parts = check_tensors(input_list, "reduce_scatter", "input_list", g.size())
    check_alike(parts, check_tensor(output, "reduce_scatter", "output"), "reduce_scatter", "input_list")
    flat = lamella.cat([p.detach().reshape(-1) for p in parts])
    part = operators().reduce_scatter(flat, reduction(op, "reduce_scatter"), g.group_name, async_op)

    def hand_out() -> None:
        output.copy_(part.view(output.shape))

    return work(async_op, [part], [output], hand_out)


def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduces the tensors of all ranks; each rank gets its part of the result along the first dimension.

    Args:
        output: gets this rank's part; contiguous
        input: as many elements as all ranks' outputs have, joined or stacked along the first dimension
        op, group, async_op: as for ``all_reduce``

    Raises:
        DistBackendError, ValueError: as for ``all_reduce``, or the sizes do not fit
    """
    g = joined(group, "reduce_scatter_tensor")
    if g is None:
        return None
    out, x = (
        check_tensor(output, "reduce_scatter_tensor", "output"),
        check_tensor(input, "reduce_scatter_tensor", "input"),
    )
    view = fits(out, [out.numel()], x.dtype, "reduce_scatter_tensor", "output")
    if x.numel() != out.numel() * g.size():
        raise ValueError(
            f"reduce_scatter_tensor: argument 'input': expected {out.numel() * g.size()} elements, {g.size()} times "
            f"those of 'output', got {x.numel()}"
        )
    text = reduction(op, "reduce_scatter_tensor")
    operators().reduce_scatter(apart(x, out, async_op).reshape(-1), text, g.group_name, async_op, out=view)
    return work(async_op, [out], [out])


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Sends each rank a part of the input along the first dimension, and joins the parts that come.

    Args:
        output: contiguous; gets the parts in the order of ranks
        input: of equal dtype on all ranks
        output_split_sizes, input_split_sizes: sizes along the first dimension, one for each rank; None: all are equal
        group, async_op: as for ``all_reduce``

    Raises:
        DistBackendError, ValueError: as for ``all_reduce``, or the sizes do not fit
    """
    g = joined(group, "all_to_all_single")
    if g is None:
        return None
    out, x = check_tensor(output, "all_to_all_single", "output"), check_tensor(input, "all_to_all_single", "input")
    gets, gives = list(output_split_sizes or ()), list(input_split_sizes or ())
    total = sum(gets) if gets else x.shape[0]
    view = fits(out, [total, *x.shape[1:]], x.dtype, "all_to_all_single", "output")
    operators().all_to_all(apart(x, out, async_op), gets, gives, g.group_name, async_op, out=view)
    return work(async_op, [out], [out])


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Any = None, async_op: bool = False
) -> Work | None:
    """Sends tensor i of a list to rank i, and gets one from each rank.

    Args:
        output_tensor_list: gets the tensors; their shapes are those that the ranks send
        input_tensor_list: a tensor for each rank, all of one dtype
        group, async_op: as for ``all_reduce``

    Raises:
        DistBackendError, ValueError: as for ``all_reduce``, or the dtypes differ
    """
    g = joined(group, "all_to_all")
    if g is None:
        return None
    outs = check_tensors(output_tensor_list, "all_to_all", "output_tensor_list", g.size())
    ins = check_tensors(input_tensor_list, "all_to_all", "input_tensor_list", g.size())
    if len({t.dtype for t in (*outs, *ins)}) > 1:
        raise ValueError("all_to_all: the tensors of both lists must have one dtype")
    gets, gives = [t.numel() for t in outs], [t.numel() for t in ins]
    given = lamella.cat([t.detach().reshape(-1) for t in ins])
    flat = operators().all_to_all(given, gets, gives, g.group_name, async_op)

    def hand_out() -> None:
        hand_to(outs, flat.split(gets))

    return work(async_op, [flat], output_tensor_list, hand_out)


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Gives rank ``dst`` the tensors of all ranks.

    Args:
        tensor: of equal shape and dtype on all ranks
        gather_list: on rank ``dst`` gets the tensors, one for each rank; None on the others
        dst: a global rank, 0 by default; ``group_dst``, in its place, is a rank within the group
        group, async_op: as for ``all_reduce``

    Raises:
        DistBackendError, ValueError: as for ``all_reduce``, or the list is given on another rank, or does not fit
    """
    g = joined(group, "gather")
    if g is None:
        return None
    check_tensor(tensor, "gather", "tensor")
    root = peer(g, 0 if dst is None and group_dst is None else dst, group_dst, "gather", "dst")
    if (g.rank() == root) != bool(gather_list):
        raise ValueError("gather: argument 'gather_list' is given on the rank that gets the tensors, and on no other")
    outs = check_tensors(gather_list or [], "gather", "gather_list", g.size() if g.rank() == root else None)
    check_alike(outs, tensor, "gather", "gather_list")
    flat = operators().gather(tensor.detach(), root, g.group_name, async_op)

    def hand_out() -> None:
        if outs:
            hand_to(outs, flat.view(g.size(), *tensor.shape).unbind())

    return work(async_op, [flat] if outs else [tensor], gather_list, hand_out)


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Gives each rank one of the tensors of a list on rank ``src``.

    Args:
        tensor: gets this rank's tensor
        scatter_list: on rank ``src`` a tensor for each rank, of the shape and dtype of ``tensor``; None on the others
        src: a global rank, 0 by default; ``group_src``, in its place, is a rank within the group
        group, async_op: as for ``all_reduce``

    Raises:
        DistBackendError, ValueError: as for ``all_reduce``, or the list is given on another rank, or does not fit
    """
    g = joined(group, "scatter")
    if g is None:
        return None
    check_tensor(tensor, "scatter", "tensor")
    root = peer(g, 0 if src is None and group_src is None else src, group_src, "scatter", "src")
    if (g.rank() == root) != bool(scatter_list):
        raise ValueError(
            "scatter: argument 'scatter_list' is given on the rank that sends the tensors, and on no other"
        )
    ins = check_tensors(scatter_list or [], "scatter", "scatter_list", g.size() if g.rank() == root else None)
    check_alike(ins, tensor, "scatter", "scatter_list")
    parts = lamella.stack([t.detach() for t in ins]) if ins else None
    operators().scatter_(tensor, parts, root, g.group_name, async_op)
    return work(async_op, [tensor], [tensor])


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """Waits until all processes of a group have come.

    Args:
        group, async_op: as for ``all_reduce``
        device_ids: accepted, as torch has it

    Raises:
        DistBackendError: a rank has ended, or has not come at the group's time limit
    """
    g = joined(group, "barrier")
    if g is not None and async_op:
        return all_reduce(lamella.zeros(1), group=group, async_op=True)
    return None if g is None else operators().barrier(g.group_name)
