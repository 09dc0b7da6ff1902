"""Profiles of a running process: a socket on which the process waits for requests, and the client that sends them.

A process that is started with ``LAMELLA_PROFILE_SOCKET=1`` listens on a Unix socket in a folder that only its user may
enter. The client sends a line of JSON with the seconds and the options. The process profiles all of its threads for
that time, and answers with a line of JSON and the trace. Until then it sends a space each second, so that the client
can tell that it still works. The process itself writes no file at a path that the client names.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import struct
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from .files import replacing

__all__ = ["profile_process", "serve", "socket_path"]

WORD = "LAMELLA_PROFILE_SOCKET"
OPTIONS = ("record_shapes", "profile_memory", "with_stack")
LONGEST = 3600.0  # the longest profile, in seconds
PATIENCE = 10.0  # seconds to wait during the exchange of messages
SILENCE = 60.0  # the client gives up after this many seconds without a space
MOST_EVENTS = 1 << 22  # the most events of one thread: 240 MB


def folder() -> Path:
    """Returns the folder of this user's sockets.

    Raises:
        PermissionError: the folder is another user's, or others may enter it
    """
    path = Path(tempfile.gettempdir(), f"lamella-{os.getuid()}")
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{WORD}: '{path}' must be a folder that its user alone may enter; remove it")
    return path


def socket_path(pid: int) -> Path:
    """Returns the path of the socket on which a process of this user listens."""
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


def _remove_stale() -> None:
    """Removes the sockets of processes that were killed, or that ended without running their exit handlers."""
    for path in folder().glob("profile-*"):
        with suppress(ValueError, PermissionError):  # a process of that number is alive
            try:
                os.kill(int(path.name.removeprefix("profile-")), 0)
            except ProcessLookupError:
                path.unlink(missing_ok=True)


class Server:
    """Listens in a thread of its own, and makes one profile at a time; other requests wait for their turn."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.path = socket_path(self.pid)
        self.turn = threading.Lock()
        self.peers: set[socket.socket] = set()
        _remove_stale()
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # Renamed when it listens, so that a client never finds a socket that accepts no connection.
        new = self.path.with_name(f"new-{self.pid}")
        try:
            new.unlink(missing_ok=True)
            self.listening.bind(os.fspath(new))
            new.chmod(0o600)
            self.listening.listen(16)
            new.rename(self.path)
            threading.Thread(target=self._wait, name="lamella-profile-socket", daemon=True).start()
        except BaseException:
            new.unlink(missing_ok=True)
            self.close()
            raise

    def close(self) -> None:
        """Closes the socket and removes its path; in a child of fork closes the inherited descriptors only."""
        self.listening.close()
        if self.pid == os.getpid():
            self.path.unlink(missing_ok=True)
        else:
            for peer in self.peers:
                peer.close()

    def _wait(self) -> None:
        while True:
            try:
                peer, _ = self.listening.accept()
            except OSError:
                if self.listening.fileno() < 0:
                    return  # closed
                time.sleep(0.1)  # the process lacks descriptors or memory: try again
                continue
            try:
                threading.Thread(target=self._answer, args=(peer,), name="lamella-profile", daemon=True).start()
            except RuntimeError:  # no thread could be started
                peer.close()

    def _answer(self, peer: socket.socket) -> None:
        self.peers.add(peer)
        with peer, suppress(OSError):  # the client has disconnected
            credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            if struct.unpack("3i", credentials)[1] in (os.getuid(), 0):  # the folder keeps other users out as well
                peer.settimeout(PATIENCE)
                self._serve(peer)
        self.peers.discard(peer)

    def _serve(self, peer: socket.socket) -> None:
        with tempfile.TemporaryDirectory(prefix="lamella-profile-") as own:
            trace = Path(own, "trace.json")
            try:
                seconds, options = _read_request(_receive_line(peer))
                _keep_waiting(peer, lambda wait: self.turn.acquire(timeout=wait))
                try:
                    dropped = _profile(peer, seconds, options, trace)
                finally:
                    self.turn.release()
                head: dict[str, Any] = {"bytes": trace.stat().st_size, "dropped": dropped}
            except ConnectionError:
                raise
            except Exception as error:
                head = {"error": f"{type(error).__name__}: {error}"}
            peer.sendall(json.dumps(head).encode() + b"\n")
            if "bytes" in head:
                with trace.open("rb") as source:
                    peer.sendfile(source)


def _keep_waiting(peer: socket.socket, ended: Callable[[float], bool]) -> None:
    """Calls ``ended(1.0)``, which waits up to a second, until it is true; sends a space to the client each time.

    Raises:
        ConnectionError: the client has disconnected
    """
    while not ended(1.0):
        peer.sendall(b" ")


def _profile(peer: socket.socket, seconds: float, options: dict[str, Any], trace: Path) -> int:
    """Profiles this process and writes the trace; returns the number of dropped events."""
    from .profiles import profile

    end = time.monotonic() + seconds

    def over(wait: float) -> bool:
        peer.settimeout(max(1e-6, min(wait, end - time.monotonic())))
        try:
            if not peer.recv(1):
                raise ConnectionError("the client has disconnected")
        except TimeoutError:
            pass
        peer.settimeout(PATIENCE)
        return time.monotonic() >= end

    with profile(**options, max_events=MOST_EVENTS) as prof:
        _keep_waiting(peer, over)
    failures: list[BaseException] = []

    def write() -> None:
        try:
            prof.export_chrome_trace(trace)
        except BaseException as error:
            failures.append(error)

    writing = threading.Thread(target=write, daemon=True)

    def written(wait: float) -> bool:
        writing.join(wait)
        return not writing.is_alive()

    writing.start()
    try:
        _keep_waiting(peer, written)
    finally:
        writing.join()
    if failures:
        raise failures[0]
    return prof.dropped()


class _Servers(list[Server]):
    """A list of the server of this process, or of none. It has a type of its own, since multiprocessing needs a weak
    reference to it, and a plain list cannot have one."""


_server = _Servers()


def serve() -> Server:
    """Makes this process, and its children by fork, wait for requests. A second call changes nothing.

    Raises:
        PermissionError: others may enter the folder of the sockets
    """
    if not _server:
        import atexit
        from multiprocessing.util import Finalize, register_after_fork

        _server.append(Server())
        atexit.register(_close)
        os.register_at_fork(after_in_child=_serve_anew)
        # A process of multiprocessing ends without running atexit.
        register_after_fork(_server, lambda _: Finalize(None, _close, exitpriority=0))
    return _server[0]


def serve_if_possible() -> None:
    """Calls ``serve()``; if that fails, it warns and the program continues."""
    try:
        serve()
    except (OSError, RuntimeError) as error:  # RuntimeError: no thread could be started
        warnings.warn(f"this process cannot be profiled from outside: {error}", RuntimeWarning, stacklevel=2)


def _close() -> None:
    while _server:
        _server.pop().close()


def _serve_anew() -> None:
    if _server:
        _server.pop().close()
        with suppress(OSError, RuntimeError):
            _server.append(Server())


def profile_process(pid: int, seconds: float, path: str | os.PathLike, **options: bool) -> int:
    """Profiles another process of this user for some seconds, and writes the trace; returns its size in bytes.

    The process must have been started with ``LAMELLA_PROFILE_SOCKET=1``, and with the ``TMPDIR`` of this process. An
    old file is replaced when the new one is complete. Earlier requests of other clients are served first. Each thread
    of the process keeps its first four million events; a ``RuntimeWarning`` counts the dropped ones.

    Args:
        pid: the number of the process
        seconds: the duration
        path: the file to write
        options: ``record_shapes``, ``profile_memory``, ``with_stack``

    Raises:
        TypeError: there is no such option
        PermissionError: the folder of the sockets is another user's, or others may enter it
        ConnectionError: the process does not listen, ended meanwhile, or does not answer
        RuntimeError: the process could not make the profile; the message is its error

    >>> import os
    >>> lamella.profiler.profile_process(os.getpid(), 0.1, "trace.json")
    Traceback (most recent call last):
        ...
    ConnectionError: profile_process: process ... does not listen; ...
    """
    if unknown := set(options) - set(OPTIONS):
        raise TypeError(
            f"profile_process: there is no option {', '.join(sorted(unknown))}; the options are {', '.join(OPTIONS)}"
        )
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.settimeout(SILENCE)
        try:
            peer.connect(os.fspath(socket_path(pid)))
        except (FileNotFoundError, ConnectionRefusedError) as error:
            raise ConnectionError(
                f"profile_process: process {pid} does not listen; it must be one of this user, started with "
                f"{WORD}=1 and TMPDIR '{tempfile.gettempdir()}'"
            ) from error
        except TimeoutError as error:
            raise _silent(pid) from error
        try:
            peer.sendall(json.dumps({"seconds": seconds, **options}).encode() + b"\n")
            stream = peer.makefile("rb")
            line = stream.readline(65536)
            if not line.endswith(b"\n"):
                raise ConnectionError(f"profile_process: process {pid} ended before its profile was made")
            head = json.loads(line)
            if "error" in head:
                raise RuntimeError(f"profile_process: process {pid}: {head['error']}")
            with replacing(path) as target:
                left = int(head["bytes"])
                while left:
                    part = stream.read(min(left, 1 << 20))
                    if not part:
                        raise ConnectionError(f"profile_process: process {pid} ended while it sent its trace")
                    target.write(part)
                    left -= len(part)
        except TimeoutError as error:
            raise _silent(pid) from error
    if head["dropped"]:
        warnings.warn(
            f"profile_process: {head['dropped']} events of process {pid} were beyond the first {MOST_EVENTS} of their "
            "threads, and are not in the trace; profile for fewer seconds",
            RuntimeWarning,
            stacklevel=2,
        )
    return int(head["bytes"])


def _silent(pid: int) -> ConnectionError:
    return ConnectionError(f"profile_process: process {pid} has not answered for {SILENCE:g} seconds; is it stopped?")
