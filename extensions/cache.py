"""The cache of built extensions. Its entries are found by the contents of what they were made from, and written by a
rename. Objects, libraries and outputs of compilers are checked by their digests when they are read.

    manifests/KEY         the results of one compile command, each with the headers that it read
    objects/DIGEST.o      objects, named by the digests of their contents
    libraries/KEY/        a library and entry.json, which has its digest
    precompiled/KEY/      precompiled headers
    sources/KEY/          the sources given to load_inline
    compilers/KEY         the output of a compiler's -v
    locks/, builds/       the locks and folders of running builds

Note [Locks]  A lock is the operating system's (flock), which releases it when its process ends in any way. The holder
removes the lock's file before it releases the lock. A process that waited for the lock then finds that the file is
gone, and tries again with a new file. Each build works in a folder of its own, and takes the folder's lock before it
makes the folder; so a folder whose lock is free belongs to a dead build and is removed. A forked child closes the locks
of its parent.

Note [Own names]  The user may choose a folder that holds other files. A file is removed, or left out of the inputs of a
build, only if its name has a form that only this cache uses (OWN, PASSING).
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .errors import CacheError, cache_error

FORMAT = 2  # part of every key, so that entries of another layout are not found
KEPT = ("manifests", "objects", "libraries", "precompiled", "sources", "compilers")
OWN = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}\.o")  # the names of entries: digests
PASSING = re.compile(r"(?:precompiled|sources)/[0-9a-f]{40}/|builds/lamella-")  # inputs of builds that lie in the cache
MOST_RESULTS = 8  # the most results of one command, which differ in the contents of the headers that it read
IN_USE = 60  # prune() keeps an entry used in the last 60 seconds, since a process may be about to open it


def digest(*parts: Any) -> str:
    """Returns a key: the hash of parts, which must be values of JSON."""
    return hashlib.sha256(json.dumps([FORMAT, *parts], sort_keys=True).encode()).hexdigest()[:40]


def digest_of(file: str | os.PathLike[str]) -> str:
    with open(file, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def size_limit() -> int:
    """Returns ``LAMELLA_EXTENSIONS_MAX_MB`` in bytes; 1024 MB if it is not set."""
    text = os.environ.get("LAMELLA_EXTENSIONS_MAX_MB") or "1024"
    if not text.isdigit():
        raise ValueError(f"LAMELLA_EXTENSIONS_MAX_MB: expected a whole number of megabytes, as in 1024, got {text!r}")
    return int(text) << 20


def mark_of(status: os.stat_result) -> list[int]:
    """Returns size, times and inode of a file. A write changes one of them, unless it keeps the size and comes in the
    same tick of the file system's clock as the write before."""
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def describe(files: Sequence[str]) -> dict[str, list]:
    """Returns for each file its mark and the digest of its content."""
    return {file: [mark_of(os.stat(file)), digest_of(file)] for file in files}


def unchanged(files: dict[str, list], absent: Sequence[str]) -> bool:
    """Returns whether all files have the described contents, and the absent files are still absent.

    A file is read only if its mark has changed.
    """
    try:
        same = all(mark_of(os.stat(f)) == then or digest_of(f) == content for f, (then, content) in files.items())
        return same and not any(os.path.exists(f) for f in absent)
    except OSError:
        return False


held: set[int] = set()  # descriptors of the locks that this process holds


def unlock(lock: int) -> None:
    """Releases a lock explicitly, since a forked child may still have the descriptor open."""
    if lock in held:
        held.remove(lock)
        fcntl.flock(lock, fcntl.LOCK_UN)
        os.close(lock)


def forget_locks() -> None:
    """Closes the parent's locks in a child of fork."""
    for lock in held:
        with suppress(OSError):
            os.close(lock)
    held.clear()


os.register_at_fork(after_in_child=forget_locks)


class Cache:
    """The cache in one folder, which all processes of a user share."""

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder).absolute()

    # ---- the folder itself

    def check(self) -> None:
        """Raises CacheError if another user than this one or root can write to the folder, or it is no folder.

        A missing folder is fine."""
        try:
            status = os.stat(self.folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise cache_error(error, self.folder) from None
        if not stat.S_ISDIR(status.st_mode):
            raise CacheError(f"the cache of extensions {self.folder} is not a folder; set LAMELLA_EXTENSIONS_DIR")
        if status.st_uid not in (os.geteuid(), 0):
            raise CacheError(
                f"the cache of extensions {self.folder} belongs to user {status.st_uid}, not to {os.geteuid()}:"
                " code from there will not be loaded. Set LAMELLA_EXTENSIONS_DIR to a folder of your own"
            )
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise CacheError(
                f"other users can write to the cache of extensions {self.folder}: code from there will not be loaded."
                f" Make it private: chmod 700 {self.folder}"
            )

    def prepare(self) -> None:
        """Makes the cache's folder, checks it as ``check`` does, and makes the folders inside it."""
        with self.words_for_failures():
            if not self.folder.exists():
                self.folder.parent.mkdir(parents=True, exist_ok=True)
                with suppress(FileExistsError):
                    self.folder.mkdir(mode=0o700)
        self.check()
        with self.words_for_failures():
            for name in (*KEPT, "locks", "builds"):
                (self.folder / name).mkdir(mode=0o700, exist_ok=True)

    def holds(self, file: str) -> bool:
        """Returns whether a file is an input of builds that lies in the cache; the keys contain its content already."""
        prefix = f"{self.folder}/"
        return file.startswith(prefix) and PASSING.match(file[len(prefix) :]) is not None

    @contextmanager
    def words_for_failures(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise cache_error(error, self.folder) from error

    # ---- locks

    def open_lock(self, file: Path, *, wait: bool = True) -> int | None:
        """Takes a lock, which ``unlock`` releases. With ``wait=False``, returns None if it is held already."""
        while True:
            lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                with suppress(FileNotFoundError):
                    if os.stat(file).st_ino == os.fstat(lock).st_ino:
                        held.add(lock)
                        return lock
            except BlockingIOError:
                os.close(lock)
                return None
            except BaseException:
                os.close(lock)
                raise
            os.close(lock)

    @contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Holds the lock of a key within the block, so that other builds with this key wait. See Note [Locks]."""
        self.prepare()
        file = self.folder / "locks" / key
        with self.words_for_failures():
            lock = self.open_lock(file)
        assert lock is not None
        try:
            yield
        finally:
            with suppress(OSError):
                file.unlink()
            unlock(lock)

    @contextmanager
    def workplace(self, keep: bool = False) -> Iterator[Path]:
        """Makes a new folder for one build, removed at its end unless ``keep``; removes the folders of dead builds."""
        with self.words_for_failures():
            self.remove_dead()
            folder = self.folder / "builds" / f"lamella-{secrets.token_hex(8)}"
            file = folder.with_name(folder.name + ".lock")
            lock = self.open_lock(file)
            folder.mkdir(mode=0o700)
        assert lock is not None
        try:
            yield folder
        finally:
            if not keep:
                shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):
                file.unlink()
            unlock(lock)

    def remove_dead(self) -> bool:
        """Removes the files of builds that died, and files *.part that are a day old. Returns whether builds run."""
        running = False
        for file in (self.folder / "builds").glob("lamella-*.lock"):
            if (lock := self.open_lock(file, wait=False)) is None:
                running = True
                continue
            shutil.rmtree(file.with_suffix(""), ignore_errors=True)
            file.unlink(missing_ok=True)
            unlock(lock)
        for file in (self.folder / "builds").glob("lamella-*.part"):
            with suppress(OSError):
                if time.time() - file.stat().st_mtime > 86400:
                    file.unlink()
        return running

    # ---- objects, by the command that made them

    def find_object(self, key: str) -> str | None:
        """Returns the digest of the object that a command made from headers with the present contents, when the files
        that are absent now were absent; None if there is none."""
        for result in self.manifest(key):
            if unchanged(result["headers"], result["absent"]):
                self.touch(self.folder / "manifests" / key)
                return result["object"]
        return None

    def manifest(self, key: str) -> list[dict[str, Any]]:
        try:
            results = json.loads((self.folder / "manifests" / key).read_text())
            kinds = {"headers": dict, "absent": list, "object": str}
            return [r for r in results if all(isinstance(r[name], kind) for name, kind in kinds.items())]
        except (OSError, ValueError, TypeError, KeyError):
            return []

    def object_file(self, content: str) -> Path | None:
        """Returns the object with this digest; None if it does not exist or is damaged, and then removes it."""
        file = self.folder / "objects" / f"{content}.o"
        with suppress(OSError):
            if digest_of(file) == content:
                self.touch(file)
                return file
            file.unlink()
        return None

    def keep_object(self, key: str, file: Path, headers: Sequence[str], absent: Sequence[str], begun: int) -> str:
        """Moves the object from a workplace into the cache.

        ``find_object`` will not find it if a header changed since the build began, or when one of the absent files
        exists, since the compiler would then read that file in place of another.
        """
        with self.words_for_failures():
            content = digest_of(file)
            os.replace(file, self.folder / "objects" / f"{content}.o")
            try:
                described = describe(headers)
            except OSError:  # a header has been removed
                return content
            if any(mark[2] > begun for mark, _ in described.values()):
                return content
            result: dict[str, Any] = {"headers": described, "absent": list(absent), "object": content}
            results = [result, *(r for r in self.manifest(key) if r["headers"] != described)]
            self.write(self.folder / "manifests" / key, json.dumps(results[:MOST_RESULTS]))
        return content

    def write(self, file: Path, text: str | bytes) -> None:
        """Writes a file under another name and renames it, so that readers see the whole file or none."""
        file.parent.mkdir(mode=0o700, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.folder / "builds", prefix="lamella-", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as f:
                f.write(text if isinstance(text, bytes) else text.encode())
            os.replace(name, file)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise

    # ---- compilers

    def find_answer(self, key: str) -> str | None:
        """Returns the compiler's output that is kept under a key; None if it is absent or damaged."""
        file = self.folder / "compilers" / key
        with suppress(OSError, UnicodeError):
            content, _, text = file.read_text().partition("\n")
            if content == digest(text):
                self.touch(file)
                return text
        return None

    def keep_answer(self, key: str, text: str) -> None:
        """Keeps a compiler's output, if the cache is in use already. Ignores a cache that cannot be written."""
        with suppress(OSError):
            if (self.folder / "builds").is_dir():
                self.write(self.folder / "compilers" / key, f"{digest(text)}\n{text}")

    # ---- libraries

    def find_library(self, key: str) -> Path | None:
        """Returns the library of a key; None if it is absent or damaged."""
        folder = self.folder / "libraries" / key
        try:
            entry = json.loads((folder / "entry.json").read_text())
            file = folder / entry["file"]
            if digest_of(file) != entry["digest"]:
                return None
        except (OSError, ValueError, TypeError, KeyError):
            return None
        self.touch(folder / "entry.json")
        return file

    def keep_library(self, key: str, file: Path) -> Path:
        """Moves the library from a workplace into the cache, together with its folder, which contains nothing else."""
        folder = self.folder / "libraries" / key
        with self.lock(f"library-{key}"), self.words_for_failures():  # another build may make the same library
            if found := self.find_library(key):
                return found
            entry = {"file": file.name, "digest": digest_of(file)}
            (file.parent / "entry.json").write_text(json.dumps(entry))
            shutil.rmtree(folder, ignore_errors=True)  # a damaged entry, which find_library rejected
            os.rename(file.parent, folder)
        return folder / file.name

    # ---- size

    def touch(self, file: Path) -> None:
        """Records that an entry is used now; does nothing in a read-only cache."""
        with suppress(OSError):
            os.utime(file)

    def entries(self) -> list[tuple[float, int, Path]]:
        """Returns the time of the last use, the bytes and the path of every entry."""
        found = []
        for kind in KEPT:
            with suppress(OSError):
                for path in (self.folder / kind).iterdir():
                    if not OWN.fullmatch(path.name):
                        continue
                    with suppress(OSError):
                        files = [f.stat() for f in ([path, *path.rglob("*")] if path.is_dir() else [path])]
                        found.append((max(s.st_mtime for s in files), sum(s.st_size for s in files), path))
        return found

    def prune(self, most: int | None = None) -> None:
        """Removes the least recently used entries, until the others are within the limit or in use."""
        most = size_limit() if most is None else most
        entries, now = sorted(self.entries()), time.time()
        total = sum(size for _, size, _ in entries)
        for used, size, path in entries:
            if total <= most or now - used < IN_USE:
                break
            remove(path)
            total -= size

    def clear(self) -> None:
        """Removes every entry, except the sources and precompiled headers that a running build may read."""
        with self.words_for_failures():
            running = self.remove_dead()
            for _, _, path in self.entries():
                if not (running and path.parent.name in ("sources", "precompiled")):
                    remove(path)
            for folder in (self.folder / "builds").glob("lamella-*[0-9a-f]"):  # folders that ``Build(keep=True)`` kept
                if not folder.with_name(folder.name + ".lock").exists():
                    remove(folder)


def remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
