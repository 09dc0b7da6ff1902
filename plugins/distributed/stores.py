"""Stores: bytes by keys, which the processes of a group share, and in which they find each other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from .library import face

DEFAULT_TIMEOUT = timedelta(seconds=300)


def nanoseconds(timeout: Any, name: str = "timeout") -> int:
    """Returns a time limit in nanoseconds. Takes a timedelta or seconds.

    Raises:
        TypeError: it is neither
        ValueError: it is negative
    """
    if isinstance(timeout, timedelta):
        timeout = timeout.total_seconds()
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(f"argument '{name}' must be a datetime.timedelta or seconds, got {type(timeout).__name__}")
    if timeout < 0:
        raise ValueError(f"argument '{name}' must not be negative, got {timeout}")
    return min(int(timeout * 1e9), 2**62)


def as_bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"argument 'value' must be a str or bytes, got {type(value).__name__}")


class Store:
    """Bytes by keys, shared between processes: the base of the kinds of stores. A kind is made, not this class.

    >>> issubclass(lamella.distributed.HashStore, lamella.distributed.Store)
    True
    """

    _handle: Any

    def __init__(self) -> None:
        raise TypeError("Store cannot be made; make a TCPStore, a FileStore, a HashStore or a PrefixStore")

    def _open(self, handle: Any, timeout: Any = DEFAULT_TIMEOUT) -> None:
        self._handle = handle
        self._timeout = nanoseconds(timeout)

    @property
    def timeout(self) -> timedelta:
        """The limit of a wait that names none.

        >>> lamella.distributed.HashStore().timeout
        datetime.timedelta(seconds=300)
        """
        return timedelta(microseconds=self._timeout / 1000)

    def set_timeout(self, timeout: timedelta) -> None:
        """Sets the limit of waits that name none.

        >>> from datetime import timedelta
        >>> s = lamella.distributed.HashStore()
        >>> s.set_timeout(timedelta(seconds=1)); s.timeout
        datetime.timedelta(seconds=1)
        """
        self._timeout = nanoseconds(timeout)

    def set(self, key: str, value: str | bytes) -> None:
        """Sets a key to bytes, or to text, which becomes UTF-8.

        >>> s = lamella.distributed.HashStore()
        >>> s.set("a", "1")
        >>> s.get("a")
        b'1'
        """
        self._handle.set(key, as_bytes(value))

    def get(self, key: str) -> bytes:
        """Returns the bytes at a key. Waits for the key if it is not there.

        Raises:
            DistStoreError: the key is not there at the time limit
        """
        return self._handle.get(key, self._timeout)

    def add(self, key: str, amount: int) -> int:
        """Adds to the number at a key, at once for all processes, and returns the sum. A key that is not there is 0.

        >>> s = lamella.distributed.HashStore()
        >>> s.add("n", 2), s.add("n", 3)
        (2, 5)
        """
        return self._handle.add(key, amount)

    def append(self, key: str, value: str | bytes) -> None:
        """Appends bytes to those at a key.

        >>> s = lamella.distributed.HashStore()
        >>> s.append("log", "a"); s.append("log", "b"); s.get("log")
        b'ab'
        """
        self._handle.append(key, as_bytes(value))

    def check(self, keys: Sequence[str]) -> bool:
        """Returns whether all keys are there.

        >>> lamella.distributed.HashStore().check(["a"])
        False
        """
        return self._handle.check(keys)

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Waits until all keys are there.

        Raises:
            DistStoreError: some key is not there at the time limit, which is the store's unless it is given
        """
        self._handle.wait(keys, self._timeout if timeout is None else nanoseconds(timeout))

    def compare_set(self, key: str, expected: str | bytes, desired: str | bytes) -> bytes:
        """Sets a key to ``desired`` if it holds ``expected``, or if it is not there and ``expected`` is empty. Returns
        what the key holds after that; ``expected`` if the key is not there.

        >>> s = lamella.distributed.HashStore()
        >>> s.compare_set("a", "", "1"), s.compare_set("a", "0", "2"), s.compare_set("a", "1", "2")
        (b'1', b'1', b'2')
        """
        return self._handle.compare_set(key, as_bytes(expected), as_bytes(desired))

    def delete_key(self, key: str) -> bool:
        """Removes a key, and returns whether it was there.

        >>> lamella.distributed.HashStore().delete_key("a")
        False
        """
        return self._handle.delete_key(key)

    def num_keys(self) -> int:
        """Returns how many keys there are.

        >>> lamella.distributed.HashStore().num_keys()
        0
        """
        return self._handle.num_keys()

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """Returns the bytes at several keys, and waits for them as ``get`` does.

        >>> s = lamella.distributed.HashStore()
        >>> s.multi_set(["a", "b"], ["1", "2"]); s.multi_get(["a", "b"])
        [b'1', b'2']
        """
        return [self.get(key) for key in keys]

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Sets several keys.

        Raises:
            ValueError: there are not as many values as keys
        """
        if len(keys) != len(values):
            raise ValueError(f"multi_set: {len(keys)} keys and {len(values)} values")
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)


class HashStore(Store):
    """A store of one process, for its threads.

    >>> s = lamella.distributed.HashStore()
    >>> s.set("a", "1"); s.get("a")
    b'1'
    """

    def __init__(self) -> None:
        self._open(face().hash_store())


class PrefixStore(Store):
    """A part of another store: every key gets a prefix.

    >>> s = lamella.distributed.HashStore()
    >>> lamella.distributed.PrefixStore("run", s).set("a", "1"); s.get("run/a")
    b'1'
    """

    def __init__(self, prefix: str, store: Store):
        if not isinstance(store, Store):
            raise TypeError(f"PrefixStore: argument 'store' must be a Store, got {type(store).__name__}")
        self._open(face().prefix_store(prefix, store._handle), store.timeout)
        self.underlying_store = store


class FileStore(Store):
    """A store in a file, for processes of one machine or of a shared file system.

    Args:
        file_name: the file; it must not exist, or be the file of this run's store
        world_size: how many processes use it; the last of them to let its store go removes the file. Without it, or
            negative, the file stays

    Raises:
        DistStoreError: the file cannot be opened or written, or is no store's

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     s = lamella.distributed.FileStore(folder + "/store", 1)
    ...     s.set("a", "1"); s.get("a")
    b'1'
    """

    def __init__(self, file_name: str | os.PathLike[str], world_size: int = -1):
        self._open(face().file_store(os.fspath(file_name), max(world_size, 0)))
        self.path = os.fspath(file_name)


class TCPStore(Store):
    """A store in a server, which the master process runs and every process reaches over TCP.

    Args:
        host_name: the master's host; the server listens at its address alone
        port: the server's port; on the master 0 takes a free one, which ``port`` then says
        world_size: how many processes, the master among them, make such a store; None: not known
        is_master: whether this process runs the server
        timeout: the limit of waits, and of the connection
        wait_for_workers: whether to wait until all processes have come, if ``world_size`` is given
        multi_tenant, master_listen_fd, use_libuv: accepted, as torch has them; the second must be None

    Raises:
        DistNetworkError: the port is taken, or no server is found at the time limit
        DistStoreError: some process has not come at the time limit

    >>> s = lamella.distributed.TCPStore("127.0.0.1", 0, 1, True)
    >>> s.set("a", "1"); s.get("a")
    b'1'
    """

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = DEFAULT_TIMEOUT,
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ):
        if master_listen_fd is not None:
            raise NotImplementedError("TCPStore: argument 'master_listen_fd': a store listens at a port of its own")
        if not 0 <= port < 65536 or (port == 0 and not is_master):
            raise ValueError(f"TCPStore: argument 'port': expected a port, or 0 on the master, got {port}")
        handle, self.port = face().tcp_store(
            host_name, port, world_size or 0, is_master, wait_for_workers, nanoseconds(timeout)
        )
        self.host, self.is_master = host_name, is_master
        self._open(handle, timeout)
