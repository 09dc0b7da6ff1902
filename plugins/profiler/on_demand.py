"""Profiles of a running process: a socket on which it waits for them, and the one that asks.

A process that is started with ``LAMELLA_PROFILE_SOCKET=1`` listens on a Unix socket in a folder that its user alone may
enter. Who connects sends a line of JSON with the seconds and the options; the process profiles itself that long, all of
its threads, and sends the trace back. It writes no file where the asking side says.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import struct
import tempfile
import threading
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from .files import replacing

__all__ = ["profile_process", "serve", "socket_path"]

WORD = "LAMELLA_PROFILE_SOCKET"
OPTIONS = ("record_shapes", "profile_memory", "with_stack")
LONGEST = 3600.0  # seconds of one profile
PATIENCE = 10.0  # seconds for the exchange of messages


def folder() -> Path:
    """The folder of this user's sockets.

    Raises:
        PermissionError: it is another user's, or others may enter it
    """
    path = Path(tempfile.gettempdir(), f"lamella-{os.getuid()}")
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{WORD}: '{path}' must be a folder that its user alone may enter; remove it")
    return path


def socket_path(pid: int) -> Path:
    """Where a process of this user listens."""
    return folder() / f"profile-{pid}"


def _receive_line(peer: socket.socket) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        part = peer.recv(4096)
        if not part or len(line) > 65536:
            raise ConnectionError("the connection ended before a whole line")
        line += part
    return line


def _read_request(line: bytes) -> tuple[float, dict[str, Any]]:
    request = json.loads(line)
    seconds = float(request["seconds"])
    if not 0 < seconds <= LONGEST:
        raise ValueError(f"the duration must be above 0 and at most {LONGEST:g} seconds, got {seconds:g}")
    return seconds, {name: bool(request.get(name, False)) for name in OPTIONS}


class Server:
    """Listens in a thread of its own, and makes one profile at a time."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.path = socket_path(self.pid)
        early = self.path.with_name(f"{self.path.name}.new")
        with suppress(FileNotFoundError):
            early.unlink()  # of an earlier process with this number, which was killed
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listening.bind(os.fspath(early))
        early.chmod(0o600)
        self.listening.listen(4)
        early.rename(self.path)  # who finds it is heard
        threading.Thread(target=self._wait, name="lamella-profile-socket", daemon=True).start()

    def close(self) -> None:
        """Ends it; in a child of fork only the descriptor that came with it."""
        self.listening.close()
        if self.pid == os.getpid():
            with suppress(FileNotFoundError):
                self.path.unlink()

    def _wait(self) -> None:
        while True:
            try:
                peer, _ = self.listening.accept()
            except OSError:
                return  # closed
            with peer, suppress(OSError):  # who asked has gone
                self._answer(peer)

    def _answer(self, peer: socket.socket) -> None:
        credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        if struct.unpack("3i", credentials)[1] not in (os.getuid(), 0):
            return  # the folder has kept others out already
        peer.settimeout(PATIENCE)
        with tempfile.TemporaryDirectory(prefix="lamella-profile-") as own:
            try:
                seconds, options = _read_request(_receive_line(peer))
                trace = Path(own, "trace.json")
                self._profile(peer, seconds, options, trace)
                head: dict[str, Any] = {"bytes": trace.stat().st_size}
            except ConnectionError:
                raise
            except Exception as error:
                head = {"error": f"{type(error).__name__}: {error}"}
            peer.sendall(json.dumps(head).encode() + b"\n")
            if "bytes" in head:
                with trace.open("rb") as source:
                    peer.sendfile(source)

    def _profile(self, peer: socket.socket, seconds: float, options: dict[str, Any], trace: Path) -> None:
        from .profiles import profile

        with profile(**options) as prof:
            peer.settimeout(seconds)
            try:
                if not peer.recv(1):
                    raise ConnectionError("who asked has gone")
            except TimeoutError:
                pass  # the time is over
            peer.settimeout(PATIENCE)
        prof.export_chrome_trace(trace)


_server: list[Server] = []


def serve() -> Server:
    """Has this process wait for profiles, its children by fork, too. A second call changes nothing.

    Raises:
        PermissionError: the folder of the sockets is not this user's alone
    """
    if not _server:
        import atexit

        _server.append(Server())
        atexit.register(_close)
        os.register_at_fork(after_in_child=_serve_anew)
    return _server[0]


def serve_if_possible() -> None:
    """The same; where it cannot be, a warning says why, and the program goes on."""
    try:
        serve()
    except OSError as error:
        warnings.warn(f"this process cannot be profiled from outside: {error}", RuntimeWarning, stacklevel=2)


def _close() -> None:
    while _server:
        _server.pop().close()


def _serve_anew() -> None:
    if _server:
        _server.pop().close()
        with suppress(OSError):
            _server.append(Server())


def profile_process(pid: int, seconds: float, path: str | os.PathLike, **options: bool) -> int:
    """Profiles another process of this user for some seconds, and writes the trace; how many bytes it has.

    The process must have been started with ``LAMELLA_PROFILE_SOCKET=1``. A file that is there is replaced when the new
    one is whole.

    Args:
        pid: the number of the process
        seconds: how long
        path: where to
        options: ``record_shapes``, ``profile_memory``, ``with_stack``

    Raises:
        ConnectionError: nobody listens, or the process ended meanwhile
        RuntimeError: the process could not make the profile; its error

    >>> import os
    >>> lamella.profiler.profile_process(os.getpid(), 0.1, "trace.json")
    Traceback (most recent call last):
        ...
    ConnectionError: profile: process ... does not listen; ...
    """
    if unknown := set(options) - set(OPTIONS):
        raise TypeError(f"profile_process: there is no option {', '.join(sorted(unknown))}")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        try:
            peer.connect(os.fspath(socket_path(pid)))
        except (FileNotFoundError, ConnectionRefusedError) as error:
            raise ConnectionError(
                f"profile: process {pid} does not listen; it must be one of this user, started with {WORD}=1"
            ) from error
        peer.settimeout(seconds + 60)
        peer.sendall(json.dumps({"seconds": seconds, **options}).encode() + b"\n")
        stream = peer.makefile("rb")
        line = stream.readline(65536)
        if not line:
            raise ConnectionError(f"profile: process {pid} ended before its profile was made")
        head = json.loads(line)
        if "error" in head:
            raise RuntimeError(f"profile: process {pid}: {head['error']}")
        with replacing(path) as target:
            left = int(head["bytes"])
            while left:
                part = stream.read(min(left, 1 << 20))
                if not part:
                    raise ConnectionError(f"profile: process {pid} ended while it sent its trace")
                target.write(part)
                left -= len(part)
    return int(head["bytes"])
