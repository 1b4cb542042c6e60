"""Files that appear whole or not at all, and locks that end with the process that holds them."""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Iterable
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

PAUSE_S = 0.02
"""How often somebody who waits for a lock looks again."""


class Lock:
    """An exclusive lock on a file; the system takes it back when its holder dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def acquire(self) -> bool:
        """Take the lock, or say at once that another process has it."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            if sys.platform == "win32":
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return False
        self._handle = handle
        return True

    def wait(self, patience_s: float) -> bool:
        """Take the lock as soon as it is free, and say whether that was in time."""
        until = time.monotonic() + patience_s
        while not self.acquire():
            if time.monotonic() > until:
                return False
            time.sleep(PAUSE_S)
        return True

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file beside its place and move it there."""
    write_pieces(path, [content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content])


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file piece by piece beside its place and move it there; not if the pieces end in an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with part.open("xb") as stream:
            for piece in pieces:
                stream.write(piece)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
