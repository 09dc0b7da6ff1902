"""Memory that a worker shares with the main process: the worker writes batches into it, and the main process uses them
without a copy.

Note [Windows]  A worker's arena is a few unnamed segments of shared memory; the main process gets the descriptor of
  each once. A tensor of a batch is in a window of a segment. A window is free again when both processes have released
  it: each watches its array over the window by a weak reference. (The array is over a memoryview, since views of an
  array over another array would reference that one instead.) The main process sends the tickets of released windows
  with its next task. The segments have no names, so nothing outlives the two processes.

Note [Spans]  Tensors of a batch that overlap share memory in the main process as well. The pickler notes the bytes of
  each tensor, by storage. If some overlap, the batch is pickled again, and each span of overlapping bytes is copied
  once. A span that is longer than all its tensors together, such as that of some columns of a table, is not worth a
  window: its tensors are copied one by one.
"""

from __future__ import annotations

import bisect
import collections
import io
import os
import pickle
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import lamella

ALIGNMENT = 64
FIRST_SEGMENT = 1 << 20
WIDEST = 16  # the most bytes of one element
SMALLEST_OUT_OF_BAND = 4096  # the bytes from which a numpy array gets a window

_thread = threading.local()  # .tenant: the tenant whose pickle this thread reads

current: Arena | None = None
"""The arena of this process, if it is a worker."""


class _Watch(weakref.ref):  # type: ignore[type-arg]
    """A weak reference to an array over a window, with the window's ticket."""

    __slots__ = ("ticket",)
    ticket: int


class _Watcher:
    """Collects the tickets of arrays that have been freed. Callbacks run in any thread, so each only removes
    its watch and appends its ticket."""

    def __init__(self) -> None:
        self.watches: dict[int, _Watch] = {}
        self.gone: collections.deque[int] = collections.deque()

    def watch(self, array: np.ndarray, ticket: int) -> None:
        watch = _Watch(array, self._left)
        watch.ticket = ticket
        self.watches[ticket] = watch

    def _left(self, watch: Any) -> None:
        self.watches.pop(watch.ticket, None)
        self.gone.append(watch.ticket)

    def take(self) -> list[int]:
        """Returns the tickets of arrays that were freed since the last call."""
        taken = []
        while self.gone:
            taken.append(self.gone.popleft())
        return taken


class Segment:
    """A piece of shared memory and its free spans, which are sorted and do not touch."""

    def __init__(self, size: int):
        flat = lamella._C._shared_empty(size)
        self.fd = lamella._C._shared_fd(flat)  # owned by the storage
        self.memory = memoryview(flat)
        self.size = size
        self.address = flat._storage_ptr()
        self.spans: list[tuple[int, int]] = [(0, size)]  # (begin, end)

    def take(self, nbytes: int) -> int:
        """Returns the offset of a new window; -1 if no span is long enough."""
        for k, (start, end) in enumerate(self.spans):
            if end - start >= nbytes:
                if end - start == nbytes:
                    del self.spans[k]
                else:
                    self.spans[k] = (start + nbytes, end)
                return start
        return -1

    def give(self, start: int, nbytes: int) -> None:
        """Frees a window."""
        end = start + nbytes
        k = bisect.bisect(self.spans, (start, end))
        if k < len(self.spans) and self.spans[k][0] == end:
            end = self.spans.pop(k)[1]
        if k and self.spans[k - 1][1] == start:
            k -= 1
            start = self.spans.pop(k)[0]
        self.spans.insert(k, (start, end))


class Window:
    """A part of a segment, with the number of its holders: this process, and each sent batch that has it."""

    __slots__ = ("holders", "nbytes", "offset", "segment", "ticket")

    def __init__(self, ticket: int, segment: int, offset: int, nbytes: int):
        self.ticket = ticket
        self.segment = segment
        self.offset = offset
        self.nbytes = nbytes
        self.holders = 1


class Arena:
    """The worker's side: allocates windows for tensors, and sends batches that are in them."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.announced = 0  # the number of segments that the main process has
        self.windows: dict[int, Window] = {}
        self.by_address: dict[int, Window] = {}
        self.watcher = _Watcher()
        self.tickets = 0

    def window(self, nbytes: int) -> Window:
        """Returns a new window of at least ``nbytes`` bytes; ``array`` makes an array over it, and watches that."""
        self._release(self.watcher.take())
        nbytes = -(-nbytes // ALIGNMENT) * ALIGNMENT
        number, offset = next(
            ((k, start) for k, segment in enumerate(self.segments) if (start := segment.take(nbytes)) >= 0), (-1, -1)
        )
        if number < 0:
            # A new segment is at least as large as all existing ones together, if there is memory, so that the number
            # of segments, and of descriptors, stays small.
            number, size = len(self.segments), max(FIRST_SEGMENT, 4 * nbytes, sum(s.size for s in self.segments))
            try:
                segment = Segment(size)
            except lamella.OutOfMemoryError:
                segment = Segment(max(FIRST_SEGMENT, nbytes))
            self.segments.append(segment)
            offset = self.segments[number].take(nbytes)
        self.tickets += 1
        window = self.windows[self.tickets] = Window(self.tickets, number, offset, nbytes)
        return window

    def array(self, shape: Sequence[int], dtype: Any, nbytes: int) -> tuple[Window, np.ndarray]:
        """Returns a window with an array over it."""
        window = self.window(nbytes)
        segment = self.segments[window.segment]
        array = np.ndarray(shape, dtype, segment.memory, window.offset)
        self.watcher.watch(array, window.ticket)
        self.by_address[segment.address + window.offset] = window
        return window, array

    def empty(self, shape: Sequence[int], dtype: lamella.dtype, nbytes: int) -> lamella.Tensor | None:
        """Returns a contiguous tensor in a window of its own; None if ``NAMES`` does not have the dtype."""
        kind = NUMPY.get(dtype)
        if kind is not None:
            return lamella.from_numpy(self.array(shape, kind, nbytes)[1])
        if dtype not in NAMES:
            return None
        return lamella.from_numpy(self.array((nbytes,), np.uint8, nbytes)[1]).view(dtype).view(tuple(shape))

    def window_of(self, tensor: lamella.Tensor) -> Window | None:
        """Returns the window that a tensor is a view of, or None."""
        return self.by_address.get(tensor._storage_ptr())  # type: ignore[attr-defined]

    def returned(self, tickets: Sequence[int]) -> None:
        """Notes that the main process has released these windows."""
        self._release(tickets)

    def _release(self, tickets: Sequence[int]) -> None:
        for ticket in tickets:
            window = self.windows[ticket]
            window.holders -= 1
            if window.holders == 0:
                del self.windows[ticket]
                segment = self.segments[window.segment]
                self.by_address.pop(segment.address + window.offset, None)
                segment.give(window.offset, window.nbytes)

    def news(self) -> tuple[list[int], list[int]]:
        """Returns the sizes and the descriptors of segments that the main process does not have yet."""
        new = self.segments[self.announced :]
        self.announced = len(self.segments)
        return [s.size for s in new], [s.fd for s in new]

    def dumps(self, data: Any) -> tuple[bytes, list[tuple[int, int, int, int]]]:
        """Returns a pickle of the data, whose plain tensors and large arrays are in windows; and for each of these
        arrays (ticket, segment, offset, bytes)."""
        buffers: list[tuple[int, int, int, int]] = []
        sent: set[int] = set()

        def send(window: Window) -> None:
            """Counts the main process as a holder of the window, before this process releases it."""
            if window.ticket not in sent:
                sent.add(window.ticket)
                window.holders += 1

        def out_of_band(buffer: pickle.PickleBuffer) -> bool:
            raw = buffer.raw()
            if raw.nbytes < SMALLEST_OUT_OF_BAND:
                return True
            window, array = self.array((raw.nbytes,), np.uint8, raw.nbytes)
            array[:] = raw
            send(window)
            buffers.append((window.ticket, window.segment, window.offset, raw.nbytes))
            return False

        def dump(spans: dict[int, list[_Span]]) -> tuple[bytes, _Pickler]:
            file = io.BytesIO()
            pickler = _Pickler(file, protocol=5, buffer_callback=out_of_band)
            pickler.arena, pickler.send, pickler.spans, pickler.seen = self, send, spans, {}
            pickler.dump(data)
            return file.getvalue(), pickler

        try:
            body, pickler = dump({})
            spans = {storage: _overlapping(seen) for storage, seen in pickler.seen.items() if len(seen) > 1}
            if any(spans.values()):
                self._release(list(sent))
                sent.clear()
                buffers.clear()
                body, _ = dump(spans)
        except BaseException:
            self._release(list(sent))
            raise
        return body, buffers


@dataclass
class _Span:
    """Bytes of a storage that several tensors use; see Note [Spans]."""

    start: int
    stop: int
    used: int  # the sum of the tensors' bytes
    tensors: int = 1
    window: Window | None = None


def _overlapping(seen: Sequence[tuple[int, int, lamella.Tensor]]) -> list[_Span]:
    """Returns the spans of a storage that are worth a window of their own."""
    spans: list[_Span] = []
    for start, stop, tensor in sorted(seen, key=lambda extent: extent[:2]):
        used = tensor.numel() * tensor.element_size()
        if spans and start < spans[-1].stop:
            last = spans[-1]
            last.stop, last.used, last.tensors = max(last.stop, stop), last.used + used, last.tensors + 1
        else:
            spans.append(_Span(start // WIDEST * WIDEST, stop, used))
    return [s for s in spans if s.tensors > 1 and s.stop - s.start <= s.used + WIDEST]


class _Pickler(pickle.Pickler):
    arena: Arena
    send: Callable[[Window], None]
    spans: dict[int, list[_Span]]  # by storage
    # By storage: (begin, end, tensor) of each tensor that is copied.
    seen: dict[int, list[tuple[int, int, lamella.Tensor]]]

    def reducer_override(self, thing: Any) -> Any:
        if type(thing) is not lamella.Tensor:
            _check_leaf(thing)
            return NotImplemented
        name = NAMES.get(thing.dtype)
        if name is None or thing.requires_grad or not thing.is_cpu or thing.is_opaque or not thing.numel():
            _check_leaf(thing)
            return NotImplemented
        if thing.__dict__ or lamella._C._save_slots(thing):
            return NotImplemented
        window = self.arena.window_of(thing)
        shape = tuple(thing.shape)
        if window is None:
            width = thing.element_size()
            start = thing.storage_offset() * width
            storage = thing._storage_id()
            for span in self.spans.get(storage, ()):
                if span.start <= start < span.stop:
                    window = span.window = span.window or self._copied(thing, span)
                    where = (window.ticket, window.segment, window.offset)
                    offset = (start - span.start) // width
                    return _part, (*where, span.stop - span.start, name, shape, thing.stride(), offset)
            last = sum((n - 1) * step for n, step in zip(shape, thing.stride(), strict=True))
            self.seen.setdefault(storage, []).append((start, start + (last + 1) * width, thing))
            nbytes = thing.numel() * thing.element_size()
            copied = self.arena.empty(shape, thing.dtype, nbytes)
            assert copied is not None
            copied.copy_(thing)
            window = self.arena.window_of(copied)
            assert window is not None
            thing = copied
        self.send(window)
        where = (window.ticket, window.segment, window.offset)
        if thing.is_contiguous() and thing.storage_offset() == 0:
            return _whole, (*where, name, shape)
        return _part, (*where, window.nbytes, name, shape, thing.stride(), thing.storage_offset())

    def _copied(self, tensor: lamella.Tensor, span: _Span) -> Window:
        """Returns a window with a copy of a span of the tensor's storage."""
        nbytes = span.stop - span.start
        window, array = self.arena.array((nbytes,), np.uint8, nbytes)
        array[:] = lamella._C._storage_view(tensor, lamella.uint8, (nbytes,), (1,), span.start).numpy()
        self.send(window)
        return window


def _check_leaf(thing: Any) -> None:
    if isinstance(thing, lamella.Tensor) and thing.requires_grad and not thing.is_leaf:
        raise RuntimeError(
            f"a tensor of shape {tuple(thing.shape)} requires grad and is no leaf: its history cannot be sent to "
            "another process; detach() it in the dataset"
        )


def place(like: lamella.Tensor, shape: Sequence[int]) -> lamella.Tensor | None:
    """Returns, in a worker, a tensor of this shape in shared memory, for ``out``; None elsewhere, for a shape without
    elements, and for tensors that a layer follows, such as opaque ones and those that require grad.

    A collate function may use it, so that its result need not be copied.
    """
    if current is None or type(like) is not lamella.Tensor or like._keys or not like.is_cpu:
        return None
    count = like.element_size()
    for size in shape:
        count *= size
    return current.empty(tuple(shape), like.dtype, count) if count else None


class Tenant:
    """The main process's side of one worker's arena."""

    def __init__(self) -> None:
        self.segments: list[memoryview] = []
        self.watcher = _Watcher()
        self.tensors: dict[int, lamella.Tensor] = {}  # over the windows of the pickle being read

    def add(self, sizes: Sequence[int], fds: Sequence[int]) -> None:
        """Maps new segments."""
        for size, fd in zip(sizes, fds, strict=True):
            try:
                self.segments.append(memoryview(lamella._C._shared_from_fd(fd, size)))
            finally:
                os.close(fd)  # the mapping has a descriptor of its own

    def array(self, ticket: int, segment: int, offset: int, shape: Any, dtype: Any) -> np.ndarray:
        array = np.ndarray(shape, dtype, self.segments[segment], offset)
        self.watcher.watch(array, ticket)
        return array

    def loads(self, body: bytes, buffers: Sequence[tuple[int, int, int, int]]) -> Any:
        """Returns the data of a worker's pickle."""
        outer, _thread.tenant = getattr(_thread, "tenant", None), self
        try:
            if not buffers:
                return pickle.loads(body)
            arrays = [self.array(t, s, o, (n,), np.uint8) for t, s, o, n in buffers]
            return pickle.loads(body, buffers=arrays)
        finally:
            self.tensors.clear()
            _thread.tenant = outer


def _whole(ticket: int, segment: int, offset: int, name: str, shape: tuple[int, ...]) -> lamella.Tensor:
    """Returns a contiguous tensor that begins at the start of its window."""
    tenant: Tenant = _thread.tenant
    dtype = DTYPES[name]
    if ticket in tenant.tensors:
        return _part(ticket, segment, offset, 0, name, shape, _row_major(shape), 0)
    kind = NUMPY.get(dtype)
    if kind is None:
        count = dtype.itemsize
        for size in shape:
            count *= size
        return _part(ticket, segment, offset, count, name, shape, _row_major(shape), 0)
    made = tenant.tensors[ticket] = lamella.from_numpy(tenant.array(ticket, segment, offset, shape, kind))
    return made


def _part(
    ticket: int,
    segment: int,
    offset: int,
    nbytes: int,
    name: str,
    shape: tuple[int, ...],
    stride: tuple[int, ...],
    start: int,
) -> lamella.Tensor:
    """Returns a view of a window."""
    tenant: Tenant = _thread.tenant
    flat = tenant.tensors.get(ticket)
    if flat is None:
        array = tenant.array(ticket, segment, offset, (nbytes,), np.uint8)
        flat = tenant.tensors[ticket] = lamella.from_numpy(array)
    return lamella._C._storage_view(flat, DTYPES[name], shape, stride, start)


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    return lamella.empty(shape, device="meta").stride()


def _tables() -> tuple[dict[lamella.dtype, str], dict[str, lamella.dtype], dict[lamella.dtype, np.dtype]]:
    """Returns the names by dtype, the dtypes by name, and numpy's dtypes by dtype, without bfloat16."""
    names = (
        "bool uint8 int8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64 complex64 complex128"
    )
    dtypes = {name: getattr(lamella, name) for name in names.split()}
    alike = {dtype: np.dtype(name) for name, dtype in dtypes.items() if name != "bfloat16"}
    return {dtype: name for name, dtype in dtypes.items()}, dtypes, alike


NAMES, DTYPES, NUMPY = _tables()
