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
"""Of how many files it is kept; the others are read each time."""

K = TypeVar("K", bound=Hashable)


class RecentCache(Generic[K, T]):
    """The values that were asked for last; each is made by whoever asks first, while others may ask for another."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: OrderedDict[K, T] = OrderedDict()
        self._changing = threading.Lock()

    def get(self, key: K, make: Callable[[], T]) -> T:
        with self._changing:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        found = make()
        with self._changing:
            self._known[key] = found
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return found


FileStamp = tuple[int, int, int]
"""By what a change of a file is noticed: its time, its size and, as files are put in place by renaming, its number."""


def file_stamp(status: os.stat_result) -> FileStamp:
    return status.st_mtime_ns, status.st_size, status.st_ino


class FileCache(Generic[T]):
    """What the files of one folder said when they were last read, by their names."""

    def __init__(self, most: int = MAX_CACHED) -> None:
        self._most = most
        self._known: dict[str, tuple[FileStamp, T]] = {}

    def read_all(self, there: Mapping[str, FileStamp], read: Callable[[str], T]) -> dict[str, T]:
        """What each of these files says; only those are read that are new or have changed, and the others forgotten."""
        known = self._known
        now = {
            name: known[name] if name in known and known[name][0] == stamp else (stamp, read(name))
            for name, stamp in there.items()
        }
        # Put in place whole, since several threads may ask at once.
        self._known = dict(itertools.islice(now.items(), self._most))
        return {name: said for name, (_, said) in now.items()}

    def forget(self, name: str) -> None:
        """A file is being written by ourselves, perhaps faster than its time tells."""
        self._known.pop(name, None)


MAX_RECENT = 24


class RecentFiles:
    """The parsed contents of the few files that were read last, wherever they are."""

    def __init__(self, most: int = MAX_RECENT) -> None:
        self._most = most
        self._known: OrderedDict[tuple[Path, str], tuple[FileStamp, Any]] = OrderedDict()
        self._changing = threading.Lock()

    def get(self, file: Path, read: Callable[[Path], T]) -> T:
        """What `read` makes of the file, called again only when the file has changed.

        `read` is a function of a module, and nobody changes what it returns.
        """
        key, stamp = (file, f"{read.__module__}.{read.__qualname__}"), file_stamp(file.stat())
        with self._changing:
            known = self._known.get(key)
            if known is not None and known[0] == stamp:
                self._known.move_to_end(key)
                found: T = known[1]
                return found
        made = read(file)
        with self._changing:
            self._known[key] = stamp, made
            self._known.move_to_end(key)
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return made
