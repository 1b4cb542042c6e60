"""Notice that a book's file changes under our feet, before libzim reads past its end and dies."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from kiwiresearch.errors import BookChanged

REMEDY = "Replace a book by copying to a new name and renaming, then start kiwiresearch again."


class FileGuard:
    """Holds the file's parts open and compares size and time before each read.

    A mapped file that shrinks kills the process with SIGBUS; asking first costs
    about a microsecond and leaves only the instant between asking and reading.
    """

    def __init__(self, parts: tuple[Path, ...]) -> None:
        self._parts = parts
        self._handles = [os.open(part, os.O_RDONLY | getattr(os, "O_BINARY", 0)) for part in parts]
        self._then = [_stamp(handle) for handle in self._handles]
        self._seeking = threading.Lock()

    def check(self) -> None:
        """Raise BookChanged if a part is not as it was when opened."""
        for part, handle, then in zip(self._parts, self._handles, self._then, strict=True):
            now = _stamp(handle)
            if now != then:
                raise BookChanged(
                    f"The file {str(part)!r} was changed while it was open ({then[0]:,} bytes before, {now[0]:,} now).",
                    remedy=REMEDY,
                )

    def read(self, place: int, count: int) -> bytes:
        """So many bytes from a place on, as if the parts were one file; fewer where it ends before."""
        found = []
        for handle, (size, _) in zip(self._handles, self._then, strict=True):
            if count > 0 and place < size:
                piece = self._piece(handle, place, min(count, size - place))
                found.append(piece)
                place, count = place + len(piece), count - len(piece)
            place -= size
        return b"".join(found)

    def _piece(self, handle: int, place: int, count: int) -> bytes:
        pieces = []
        with self._seeking:
            os.lseek(handle, place, os.SEEK_SET)
            while count > 0 and (piece := os.read(handle, count)):
                pieces.append(piece)
                count -= len(piece)
        return b"".join(pieces)

    def close(self) -> None:
        for handle in self._handles:
            os.close(handle)
        self._handles, self._parts, self._then = [], (), []


def _stamp(handle: int) -> tuple[int, int]:
    status = os.fstat(handle)
    return status.st_size, status.st_mtime_ns
