"""The parsed contents of files, cached until the files change, and a cache of recent results."""

from __future__ import annotations

import itertools
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")

MAX_CACHED = 5_000
"""How many files of a folder are cached; the others are read each time."""

K = TypeVar("K", bound=Hashable)


class RecentCache(Generic[K, T]):
    """The most recently used values. A value is made outside the lock, so that others are not delayed."""

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._entries: OrderedDict[K, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K, make: Callable[[], T]) -> T:
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key]
        found = make()
        with self._lock:
            self._entries[key] = found
            while len(self._entries) > self._max_size:
                self._entries.popitem(last=False)
        return found


FileStamp = tuple[int, int, int]
"""Detects a changed file: by time, size and, since files are replaced by renaming, inode number."""


def file_stamp(status: os.stat_result) -> FileStamp:
    return status.st_mtime_ns, status.st_size, status.st_ino


class FileCache(Generic[T]):
    """The parsed contents of the files of one folder, by name."""

    def __init__(self, max_size: int = MAX_CACHED) -> None:
        self._max_size = max_size
        self._entries: dict[str, tuple[FileStamp, T]] = {}

    def read_all(self, stamps: Mapping[str, FileStamp], read: Callable[[str], T]) -> dict[str, T]:
        """The contents of exactly these files; only new and changed ones are read, and all others are dropped."""
        known = self._entries
        current = {
            name: known[name] if name in known and known[name][0] == stamp else (stamp, read(name))
            for name, stamp in stamps.items()
        }
        # Replaced at once, since several threads may read it.
        self._entries = dict(itertools.islice(current.items(), self._max_size))
        return {name: content for name, (_, content) in current.items()}

    def forget(self, name: str) -> None:
        """Drop a file that we write ourselves, perhaps twice within the resolution of its time."""
        self._entries.pop(name, None)


MAX_RECENT = 24


class RecentFiles:
    """The parsed contents of the few most recently used files, in any folder."""

    def __init__(self, max_size: int = MAX_RECENT) -> None:
        self._max_size = max_size
        self._entries: OrderedDict[tuple[Path, str], tuple[FileStamp, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, file: Path, read: Callable[[Path], T]) -> T:
        """The result of `read` for the file; it is called again only when the file has changed.

        `read` must be a function of a module, and its result must not be modified.
        """
        key, stamp = (file, f"{read.__module__}.{read.__qualname__}"), file_stamp(file.stat())
        with self._lock:
            known = self._entries.get(key)
            if known is not None and known[0] == stamp:
                self._entries.move_to_end(key)
                found: T = known[1]
                return found
        made = read(file)
        with self._lock:
            self._entries[key] = stamp, made
            self._entries.move_to_end(key)
            while len(self._entries) > self._max_size:
                self._entries.popitem(last=False)
        return made
