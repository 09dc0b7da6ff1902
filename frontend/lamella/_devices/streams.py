"""Streams and events of any device: ``lamella.Stream`` and ``lamella.Event``."""

from __future__ import annotations

from _thread import _local
from typing import Any

from lamella import _C
from lamella._devices import resolve


def check_kind(who: str, what: str, value: Any, wanted: type) -> Any:
    """Returns ``value``, or raises TypeError if it is not of the type ``wanted``."""
    if not isinstance(value, wanted):
        raise TypeError(f"{who}: argument '{what}' must be a lamella.{wanted.__name__}, got {type(value).__name__}")
    return value


class Stream:
    """A queue of work of a device, which does the work of one stream in order.

    ``with stream:`` makes the stream the thread's current one of its device, and that device the current one. A device
    whose backend has no streams has one stream, which is always the current one.

    Args:
        device: a device, its name, or an index of the accelerator's; None means the accelerator's current device
        priority: lower numbers are more urgent; 0 is the default

    >>> stream = lamella.Stream("cpu")
    >>> with stream:
    ...     x = lamella.ones(2) + 1
    >>> stream.synchronize()
    >>> stream.query(), stream == lamella.cpu.current_stream()
    (True, True)
    """

    _kind: str | None = None  # in lamella.NAME.Stream it is NAME

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
        """The device that the stream belongs to."""
        return self._stream.device

    @property
    def native_handle(self) -> int:
        """The backend's handle, as a number; 0 if the backend has no streams."""
        return self._stream.handle

    stream_id = native_handle

    def synchronize(self) -> None:
        """Waits for all work of the stream, and raises an error that this work has reported."""
        self._stream.synchronize()

    def query(self) -> bool:
        """Returns whether all work of the stream is done."""
        return self._stream.query()

    def record_event(self, event: Event | None = None) -> Event:
        """Records ``event``, or a new event, after the work that the stream has now, and returns it."""
        made = Event(self.device) if event is None else check_kind("record_event", "event", event, Event)
        made.record(self)
        return made

    def wait_event(self, event: Event) -> None:
        """Makes later work of this stream wait until the event is done."""
        check_kind("wait_event", "event", event, Event).wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Makes later work of this stream wait until the work that another stream has now is done."""
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
            if kind is None:  # else the error that ends the block says more
                raise

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self._stream.same(other._stream)

    def __hash__(self) -> int:
        return hash((self.device, self.native_handle))

    def __repr__(self) -> str:
        return f"<lamella.Stream device={self.device} handle={self.native_handle:#x}>"


class Event:
    """A point in a stream, used to wait for work and to measure time.

    If the backend has no events, recording one waits for the stream and stores the time.

    Args:
        device: as for :class:`Stream`
        enable_timing: must be True for ``elapsed_time``
        blocking: ignored, since waiting never spins
        interprocess: must be False, since processes cannot share events

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
        """The device that the event belongs to."""
        return self._event.device

    @property
    def event_id(self) -> int:
        """The backend's handle, as a number; 0 if the backend has no events."""
        return self._event.handle

    def record(self, stream: Stream | None = None) -> None:
        """Records the event after the work that a stream has now. None means the current stream of the event's device.

        Raises:
            RuntimeError: the stream belongs to another device
        """
        self._event.record(self._of("record", stream))

    def wait(self, stream: Stream | None = None) -> None:
        """Makes later work of a stream wait for the event. None means the current stream of the event's device.

        If the stream is of another backend, or the backend has no events, the calling thread waits instead.
        """
        self._event.wait(self._of("wait", stream))

    def _of(self, who: str, stream: Stream | None) -> Any:
        if stream is None:
            return _C._Stream._current(self.device, False)
        return check_kind(who, "stream", stream, Stream)._stream

    def synchronize(self) -> None:
        """Waits until the event is done. An event that was never recorded counts as done."""
        self._event.synchronize()

    def query(self) -> bool:
        """Returns whether the event is done, or was never recorded."""
        return self._event.query()

    def elapsed_time(self, end: Event) -> float:
        """Returns the milliseconds from this event to another one of the same device.

        Raises:
            RuntimeError: an event has no timing, was not recorded or is not done, or their devices differ
        """
        return self._event.elapsed(check_kind("elapsed_time", "end", end, Event)._event)

    def __repr__(self) -> str:
        return f"<lamella.Event device={self.device} handle={self.event_id:#x}>"
