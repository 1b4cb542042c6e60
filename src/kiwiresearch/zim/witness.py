"""What was open when a process died: a file cut short while mapped ends it without a word.

Each process keeps a locked note of the files it has open. A note whose lock is
free belongs to a process that ended; if it did not put its note away and the
file has changed since, the next start can say what happened.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from kiwiresearch.disk import Lock, write_whole
from kiwiresearch.ids import canonical_json


@dataclass(frozen=True, slots=True)
class Accident:
    """A file that changed while a process that has since died had it open."""

    file: str
    bytes_before: int
    bytes_now: int | None

    def __str__(self) -> str:
        now = "is gone" if self.bytes_now is None else f"has {self.bytes_now:,} now"
        return (
            f"An earlier command ended while reading {self.file!r}: the file had {self.bytes_before:,} bytes "
            f"and {now}. Put a book in place by renaming, never by writing over it; what was saved is kept."
        )


class Witness:
    """The notes of this and other processes in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._note = folder / f"{os.getpid()}.json"
        self._lock = Lock(folder / f"{os.getpid()}.lock")
        self._open: dict[str, tuple[int, int]] = {}
        self._owner = 0

    def opened(self, parts: tuple[Path, ...]) -> None:
        """Note that this process reads these files from now on."""
        for part in parts:
            status = part.stat()
            self._open[str(part)] = (status.st_size, status.st_mtime_ns)
        try:
            if not self._owner:
                self._owner = os.getpid()
                self._lock.acquire()
                atexit.register(self.closed)
            write_whole(self._note, canonical_json(self._open))
        except OSError:  # a read-only home: the note is a courtesy
            self._open.clear()

    def closed(self) -> None:
        """This process ends in order."""
        if self._owner != os.getpid():  # a forked child leaves the note to its parent
            return
        with contextlib.suppress(OSError):
            self._note.unlink(missing_ok=True)
            self._lock.release()
            (self._folder / f"{os.getpid()}.lock").unlink(missing_ok=True)
        self._owner = 0

    def accidents(self) -> list[Accident]:
        """What happened to processes that did not end in order; each is told once."""
        found = []
        for note in sorted(self._folder.glob("*.json")) if self._folder.is_dir() else []:
            lock = Lock(note.with_suffix(".lock"))
            with contextlib.suppress(OSError, ValueError, AttributeError, TypeError):
                if note == self._note or not lock.acquire():
                    continue
                rows = json.loads(note.read_text(encoding="utf-8"))
                found += [accident for file, stamp in rows.items() if (accident := _accident(file, stamp))]
            with contextlib.suppress(OSError):
                note.unlink(missing_ok=True)
                lock.release()
                note.with_suffix(".lock").unlink(missing_ok=True)
        return found


def _accident(file: str, stamp: list[int]) -> Accident | None:
    size, changed = stamp
    try:
        status = Path(file).stat()
    except OSError:
        return Accident(file, size, None)
    if (status.st_size, status.st_mtime_ns) == (size, changed):
        return None
    return Accident(file, size, status.st_size)
