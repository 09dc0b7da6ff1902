"""Messages between the main process and one worker: frames over a socket that never blocks, with descriptors."""

from __future__ import annotations

import collections
import os
import select
import socket
import struct
import weakref
from collections.abc import Sequence
from multiprocessing import reduction
from typing import Any

HEADER = struct.Struct("<Q")
CHUNK = 1 << 16
DESCRIPTORS = 16  # the most in one frame

_here: weakref.WeakSet[Channel] = weakref.WeakSet()


def close_inherited(mine: Channel) -> None:
    """Closes all inherited ends but one, in a forked worker, so that each end is closed when its own process ends."""
    for channel in list(_here):
        if channel is not mine:
            channel.close()


class Channel:
    """One end of a channel. Both sides also read while they wait for room to write, so that they never wait for each
    other.

    A frame is a length of eight bytes, followed by its bytes; its descriptors arrive with its first byte at the latest.
    """

    def __init__(self, end: socket.socket):
        end.setblocking(False)
        self.socket = end
        self.arrived = bytearray()
        self.descriptors: collections.deque[int] = collections.deque()
        self.leaving: collections.deque[tuple[memoryview, Sequence[int]]] = collections.deque()
        self.ended = False
        _here.add(self)

    @staticmethod
    def pair() -> tuple[Channel, Channel]:
        ours, theirs = socket.socketpair()
        return Channel(ours), Channel(theirs)

    def fileno(self) -> int:
        return self.socket.fileno()

    def close(self) -> None:
        self.ended = True
        self.socket.close()
        while self.descriptors:
            os.close(self.descriptors.popleft())

    def send(self, frame: bytes, descriptors: Sequence[int] = ()) -> None:
        """Writes as much as there is room for; ``flush`` writes the rest."""
        self.leaving.append((memoryview(HEADER.pack(len(frame)) + frame), descriptors))
        self.flush()

    def flush(self) -> bool:
        """Writes as much as there is room for; returns True if all is written, or the other end is closed."""
        while self.leaving:
            data, descriptors = self.leaving.popleft()
            try:
                if descriptors:
                    count = socket.send_fds(self.socket, [data], list(descriptors))
                else:
                    count = self.socket.send(data)
            except (BlockingIOError, InterruptedError):
                self.leaving.appendleft((data, descriptors))
                return False
            except OSError:  # the other end is closed, which the next receive() notices as well
                self.leaving.clear()
                return True
            if count < len(data):
                self.leaving.appendleft((data[count:], ()))
        return True

    def receive(self) -> list[bytes]:
        """Returns the frames that have arrived, without waiting; ``ended`` is set when there will be no more."""
        while not self.ended:
            try:
                data, fds, _, _ = socket.recv_fds(self.socket, CHUNK, DESCRIPTORS)
            except (BlockingIOError, InterruptedError):
                break
            except OSError:
                self.ended = True
                break
            self.descriptors.extend(fds)
            self.arrived += data
            if not data:
                self.ended = True
            elif len(data) < CHUNK:
                break
        return self._frames()

    def _frames(self) -> list[bytes]:
        frames, start, arrived = [], 0, self.arrived
        while len(arrived) - start >= HEADER.size:
            (size,) = HEADER.unpack_from(arrived, start)
            end = start + HEADER.size + size
            if end > len(arrived):
                break
            frames.append(bytes(arrived[start + HEADER.size : end]))
            start = end
        if start:
            del arrived[:start]
        return frames

    def wait(self, others: Sequence[int] = (), milliseconds: float | None = None) -> bool:
        """Waits until there is something to read, room for bytes that are not yet written, which it writes, or one of
        the other descriptors is ready; returns False if the time passed before that."""
        poll = select.poll()
        poll.register(self.socket, select.POLLIN | (select.POLLOUT if self.leaving else 0))
        for fd in others:
            poll.register(fd, select.POLLIN)
        ready = poll.poll(milliseconds)
        if self.leaving:
            self.flush()
        return bool(ready)

    def __reduce__(self) -> Any:
        return _received, (reduction.DupFd(self.fileno()),)


def _received(handed: Any) -> Channel:
    return Channel(socket.socket(fileno=handed.detach()))
