"""Streams and events of any device: ``lamella.Stream`` and ``lamella.Event``."""

from __future__ import annotations

from _thread import _local
from typing import Any

from lamella import _C
from lamella._devices import resolve


def check_kind(who: str, what: str, value: Any, wanted: type) -> Any:
    """The value, or TypeError if it is another kind of object."""
    if not isinstance(value, wanted):
        raise TypeError(f"{who}: argument '{what}' must be a lamella.{wanted.__name__}, got {type(value).__name__}")
    return value


class Stream:
    """A queue of work of a device; work of one stream is done in its order.

    In ``with stream:`` it is the thread's current stream of its device, and that device the current one. A device
    without streams of its own has one, which is always the current one.

    Args:
        device: a device, its name, or an index of the current accelerator's; where absent that one's current device
        priority: lower numbers are more urgent, 0 is the usual one

    >>> stream = lamella.Stream("cpu")
    >>> with stream:
    ...     x = lamella.ones(2) + 1
    >>> stream.synchronize()
    >>> stream.query(), stream == lamella.cpu.current_stream()
    (True, True)
    """

    _kind: str | None = None  # lamella.NAME.Stream has the name

    def __init__(self, device: Any = None, *, priority: int = 0):
        if not isinstance(priority, int):
            raise TypeError(f"Stream: argument 'priority' must be int, got {type(priority).__name__}")
        if abs(priority) >= 2**31:
            raise ValueError(f"Stream: argument 'priority' must fit 32 bits, got {priority}")
        self._stream = _C._Stream(resolve(device, self._kind), priority)
        self._entered = _local()

    @classmethod
    def _current(cls, device: _C.device, usual: bool = False) -> Stream:
        stream = cls.__new__(cls)
        stream._stream = _C._Stream._current(device, usual)
        stream._entered = _local()
        return stream

    @property
    def device(self) -> _C.device:
        """Whose stream it is."""
        return self._stream.device

    @property
    def native_handle(self) -> int:
        """The backend's handle, as a number; 0 where the device has no streams of its own."""
        return self._stream.handle

    stream_id = native_handle

    def synchronize(self) -> None:
        """Waits for all work of the stream, and raises an error that came late."""
        self._stream.synchronize()

    def query(self) -> bool:
        """Whether all work of the stream is done."""
        return self._stream.query()

    def record_event(self, event: Event | None = None) -> Event:
        """Records an event, a new one where none is given, behind the work that the stream has now."""
        made = Event(self.device) if event is None else check_kind("record_event", "event", event, Event)
        made.record(self)
        return made

    def wait_event(self, event: Event) -> None:
        """Work that comes on this stream from now on begins when the event is done."""
        check_kind("wait_event", "event", event, Event).wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Work that comes on this stream from now on begins when what another one has now is done."""
        self.wait_event(check_kind("wait_stream", "stream", stream, Stream).record_event())

    def __enter__(self) -> Stream:
        index = _C.device(self.device.type)
        before = _C._Stream._current(self.device, False)
        _C._set_current_device(self.device, needed=False)
        try:
            self._stream.set_current()
        except BaseException:
            _C._set_current_device(index, needed=False)
            raise
        self._entered.__dict__.setdefault("before", []).append((index, before))
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        entered = self._entered.__dict__.get("before")
        if not entered:
            raise RuntimeError("Stream: __exit__ on a thread that has not entered the stream")
        index, before = entered.pop()
        try:
            try:
                before.set_current()
            finally:
                _C._set_current_device(index, needed=False)
        except Exception:
            if kind is None:  # else the error on its way says more
                raise

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self._stream.same(other._stream)

    def __hash__(self) -> int:
        return hash((self.device, self.native_handle))

    def __repr__(self) -> str:
        return f"<lamella.Stream device={self.device} handle={self.native_handle:#x}>"


class Event:
    """A point in a stream, to wait for and to measure time with.

    Where a device has no events of its own, recording one waits for the device and notes the time.

    Args:
        device: as for :class:`Stream`
        enable_timing: whether ``elapsed_time`` will be asked
        blocking: accepted as torch has it; waiting never spins
        interprocess: must be False: events of other processes are not here

    >>> start, end = (lamella.Event("cpu", enable_timing=True) for _ in range(2))
    >>> start.record()
    >>> _ = lamella.ones(1000).exp()
    >>> end.record()
    >>> end.synchronize()
    >>> 0 <= start.elapsed_time(end) < 60_000
    True
    """

    _kind: str | None = None

    def __init__(
        self, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ):
        if interprocess:
            raise NotImplementedError("Event: argument 'interprocess': events are not shared between processes")
        self._event = _C._Event(resolve(device, self._kind), enable_timing)

    @property
    def device(self) -> _C.device:
        """Whose event it is."""
        return self._event.device

    @property
    def event_id(self) -> int:
        """The backend's handle, as a number; 0 where the device has no events of its own."""
        return self._event.handle

    def record(self, stream: Stream | None = None) -> None:
        """Puts the event behind the work that a stream has now: the current one of its device where none is given.

        Raises:
            RuntimeError: the stream is another device's
        """
        self._event.record(self._of("record", stream))

    def wait(self, stream: Stream | None = None) -> None:
        """Work that comes on a stream from now on begins when the event is done. For a stream of another backend, and
        where the device has no events, this thread waits."""
        self._event.wait(self._of("wait", stream))

    def _of(self, who: str, stream: Stream | None) -> Any:
        if stream is None:
            return _C._Stream._current(self.device, False)
        return check_kind(who, "stream", stream, Stream)._stream

    def synchronize(self) -> None:
        """Waits until the event is done; one that was not recorded is."""
        self._event.synchronize()

    def query(self) -> bool:
        """Whether the event is done, or was not recorded."""
        return self._event.query()

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to another one of its device.

        Raises:
            RuntimeError: one has no timing, was not recorded, is not done, or is another device's
        """
        return self._event.elapsed(check_kind("elapsed_time", "end", end, Event)._event)

    def __repr__(self) -> str:
        return f"<lamella.Event device={self.device} handle={self.event_id:#x}>"
