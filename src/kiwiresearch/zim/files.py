"""The files of a book: finding them, recognizing what is not a ZIM file, and noticing changes while they are open."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import string
import threading
from dataclasses import dataclass
from pathlib import Path

from kiwiresearch.errors import BookChanged, BookNotFound, NotABook
from kiwiresearch.ids import canonical_json
from kiwiresearch.system import FileLock, write_atomically

ZIM_MAGIC = b"ZIM\x04"
HEADER_BYTES = 80
"""The size of the header; its last eight bytes are the place of the checksum, which is the end of the file."""
CHECKSUM_BYTES = 16
MAX_SHOWN_CHARS = 200

LOOKS_LIKE = (
    (b"<!doctype", "a web page: the download probably failed"),
    (b"<html", "a web page: the download probably failed"),
    (b"<?xml", "an XML file (if it is a Kiwix library, rename it to library.xml)"),
    (b"d8:announce", "a torrent file: open it in a torrent program to download the book"),
    (b"d13:announce", "a torrent file: open it in a torrent program to download the book"),
    (b"PK\x03\x04", "a ZIP archive: unpack it first"),
    (b"\x1f\x8b", "a gzip archive: unpack it first"),
    (b"version https://git-lfs", "a Git LFS pointer: the book itself was not downloaded"),
)


def parts_of(path: Path) -> tuple[Path, ...]:
    """The file itself, or all parts of a split book, given by its first part or its plain name."""
    try:
        return _parts_of(path)
    except OSError as problem:  # the name is too long, or the folder may not be read
        text = str(path)
        shown = text if len(text) < MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…"
        raise BookNotFound(
            f"Could not open the file {shown!r}: {problem.strerror}.", remedy="Check the path."
        ) from problem


def _parts_of(path: Path) -> tuple[Path, ...]:
    if path.suffix == ".zimaa":
        return _split_parts(path)
    if path.is_file():
        return (path,)
    first = path.with_suffix(".zimaa")
    if path.suffix == ".zim" and first.is_file():
        return _split_parts(first)
    if path.is_dir():
        raise NotABook(
            f"{str(path)!r} is a folder, not a ZIM file.",
            remedy="To add all books in it, run 'kiwiresearch books add FOLDER'.",
        )
    if path.exists():
        raise NotABook(f"{str(path)!r} is not a regular file.", remedy="Enter the path of a .zim file.")
    raise BookNotFound(
        f"The file {str(path)!r} does not exist.",
        remedy="Check the path. 'kiwiresearch doctor' looks for ZIM files on this machine.",
    )


def _split_parts(first: Path) -> tuple[Path, ...]:
    parts = []
    # 'zimaa', 'zimab' … up to the first one that is missing.
    for item in string.ascii_lowercase:
        for two in string.ascii_lowercase:
            part = first.with_suffix(f".zim{item}{two}")
            if not part.is_file():
                break
            parts.append(part)
        else:
            continue
        break
    if not parts:
        raise BookNotFound(f"The file {str(first)!r} does not exist.", remedy="Check the path.")
    return tuple(parts)


def is_truncated(parts: tuple[Path, ...]) -> bool:
    """Whether a book ends before its checksum, whose place is in the header: its download was interrupted."""
    try:
        with parts[0].open("rb") as stream:
            head = stream.read(HEADER_BYTES)
        size = sum(part.stat().st_size for part in parts)
    except OSError:
        return False
    return len(head) < HEADER_BYTES or size < int.from_bytes(head[-8:], "little") + CHECKSUM_BYTES


def check_magic(parts: tuple[Path, ...]) -> None:
    """Raise NotABook, saying what the file is instead, unless it begins like a ZIM file."""
    first = parts[0]
    try:
        with first.open("rb") as stream:
            head = stream.read(64)
    except OSError as problem:
        raise NotABook(
            f"Could not read the file {str(first)!r}: {problem.strerror}.",
            remedy="Check its permissions and the disk.",
        ) from problem
    if head.startswith(ZIM_MAGIC):
        return
    if not head:
        raise NotABook(f"The file {str(first)!r} is empty.", remedy="Copy or download it again.")
    lowered = head.lower().lstrip()
    for beginning, meaning in LOOKS_LIKE:
        if lowered.startswith(beginning.lower()):
            raise NotABook(f"The file {str(first)!r} is not a ZIM file. It is {meaning}.")
    raise NotABook(f"The file {str(first)!r} is not a ZIM file.", remedy="Enter the path of a .zim file.")


REPLACE = "To replace a book, copy the new file under another name, then rename it."
REMEDY = f"{REPLACE} Then start kiwiresearch again."


class FileGuard:
    """Holds a file's parts open and compares their size and time before each read.

    A mapped file that shrinks kills the process with SIGBUS. The check takes about
    a microsecond and leaves only the instant between it and the read.
    """

    def __init__(self, parts: tuple[Path, ...]) -> None:
        self._parts = parts
        self._handles = [os.open(part, os.O_RDONLY | getattr(os, "O_BINARY", 0)) for part in parts]
        self._then = [_stamp(handle) for handle in self._handles]
        self._seek_lock = threading.Lock()

    def check(self) -> None:
        """Raise BookChanged if a part was changed since it was opened."""
        for part, handle, then in zip(self._parts, self._handles, self._then, strict=True):
            now = _stamp(handle)
            if now != then:
                raise BookChanged(
                    f"The file {str(part)!r} was changed while it was open ({then[0]:,} bytes before, {now[0]:,} now).",
                    remedy=REMEDY,
                )

    def read(self, place: int, count: int) -> bytes:
        """Read `count` bytes from `place` as if the parts were one file; fewer if it ends before."""
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
        with self._seek_lock:
            # Seek and read under a lock, since threads share the position; `os.pread` does not exist on Windows.
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
    """What changes if the open file is written to; a handle stays with its file, so no inode is needed."""
    status = os.fstat(handle)
    return status.st_size, status.st_mtime_ns


@dataclass(frozen=True, slots=True)
class CrashReport:
    """A file that changed while it was open in a process that did not exit cleanly."""

    file: str
    bytes_before: int
    bytes_now: int | None

    def __str__(self) -> str:
        now = "is now missing" if self.bytes_now is None else f"now has {self.bytes_now:,}"
        return (
            f"An earlier command stopped while reading {self.file!r}: the file had {self.bytes_before:,} bytes "
            f"and {now}. {REPLACE} Saved work is not lost."
        )


class OpenFileNotes:
    """Records the files that each process has open, one file per process in a folder, to explain crashes later."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._note = folder / f"{os.getpid()}.json"
        self._lock = FileLock(folder / f"{os.getpid()}.lock")
        self._open: dict[str, tuple[int, int]] = {}
        self._owner = 0

    def note_open(self, parts: tuple[Path, ...]) -> None:
        """Note that this process has these files open."""
        for part in parts:
            status = part.stat()
            self._open[str(part)] = (status.st_size, status.st_mtime_ns)
        try:
            if not self._owner:
                self._owner = os.getpid()
                self._lock.acquire()
                atexit.register(self.remove_note)
            write_atomically(self._note, canonical_json(self._open))
        except OSError:  # a read-only home: the note is optional
            self._open.clear()

    def remove_note(self) -> None:
        """Remove this process's note when it exits cleanly."""
        if self._owner != os.getpid():  # a forked child leaves the note to its parent
            return
        with contextlib.suppress(OSError):
            self._note.unlink(missing_ok=True)
            self._lock.release()
            (self._folder / f"{os.getpid()}.lock").unlink(missing_ok=True)
        self._owner = 0

    def crash_reports(self) -> list[CrashReport]:
        """Changed files of processes that did not exit cleanly; each is reported once."""
        found = []
        for note in sorted(self._folder.glob("*.json")) if self._folder.is_dir() else []:
            lock = FileLock(note.with_suffix(".lock"))
            with contextlib.suppress(OSError, ValueError, AttributeError, TypeError):
                # A lock that can be taken means that its process has ended, whatever its number is used for now.
                if note == self._note or not lock.acquire():
                    continue
                rows = json.loads(note.read_text(encoding="utf-8"))
                found += [report for file, stamp in rows.items() if (report := _crash_report(file, stamp))]
            with contextlib.suppress(OSError):
                note.unlink(missing_ok=True)
                lock.release()
                note.with_suffix(".lock").unlink(missing_ok=True)
        return found


def _crash_report(file: str, stamp: list[int]) -> CrashReport | None:
    size, changed = stamp
    try:
        status = Path(file).stat()
    except OSError:
        return CrashReport(file, size, None)
    if (status.st_size, status.st_mtime_ns) == (size, changed):
        return None
    return CrashReport(file, size, status.st_size)
