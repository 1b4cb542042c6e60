"""The journal of a run and other files that grow line by line: a kill or power cut can only take the last lines."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from kiwiresearch.errors import CannotWrite, RunDamaged
from kiwiresearch.ids import canonical_json
from kiwiresearch.messages.message import Message

CHOOSE_FOLDER = Message(
    "Make it a folder you may write to and start it again, or choose another folder.", "remedy.make_writable"
)
CHUNK = 2**20


@contextmanager
def reporting_write_errors(folder: Path) -> Iterator[None]:
    """Whatever the system refuses inside becomes an error that names the folder and says what to do."""
    try:
        yield
    except OSError as problem:
        raise cannot_write(folder, problem) from problem


def cannot_write(folder: Path, problem: OSError) -> CannotWrite:
    return CannotWrite.to(folder, problem, remedy=CHOOSE_FOLDER)


def short_hash(added: bytes) -> str:
    """What a step says of the bytes it added, so that they can be told from others of the same length."""
    return hashlib.sha256(added).hexdigest()[:16]


class GrowingFile:
    """A file that grows by whole lines; one that does not fit any more leaves the file as it was."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with reporting_write_errors(path.parent):
            path.touch()
            self._file = path.open("r+b", buffering=0)
            self.size = os.fstat(self._file.fileno()).st_size

    def append(self, line: bytes) -> None:
        """Add a line, or several, with the newline at the end; they are the system's when this returns."""
        if not line.endswith(b"\n"):
            raise ValueError(f"no whole line: {line[-60:]!r}")
        with reporting_write_errors(self.path.parent):
            try:
                self._write(line)
            except BaseException:
                with contextlib.suppress(OSError):
                    self._file.truncate(self.size)
                raise
        self.size += len(line)

    def truncate(self, size: int) -> None:
        """Keep the first bytes only."""
        if not 0 <= size <= self.size:
            raise ValueError(f"{size} is not between 0 and {self.size}")
        with reporting_write_errors(self.path.parent):
            self._file.truncate(size)
        self.size = size

    def chunks(self) -> Iterator[bytes]:
        """All that was added, piece by piece."""
        with self.path.open("rb") as stream:
            left = self.size
            while left:
                chunk = stream.read(min(left, CHUNK))
                if not chunk:
                    raise RunDamaged(
                        f"The file {str(self.path)!r} was cut while the run went on.",
                        remedy="Start it again: it goes on with what is left.",
                    )
                left -= len(chunk)
                yield chunk

    def sync(self) -> None:
        """Come back when the disk has it."""
        with reporting_write_errors(self.path.parent):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        with reporting_write_errors(self.path.parent):
            self._file.close()

    def _write(self, line: bytes) -> None:
        # Not at the end of the file: there may be bytes of a line that did not fit and could not be cut off.
        self._file.seek(self.size)
        rest = memoryview(line)
        while rest:
            rest = rest[self._file.write(rest) :]


DIGITS = 16
CHECKSUM_SEED = b"kiwiresearch journal 1"
"""What the checksum of the first line covers in place of the one before it."""


@dataclass(frozen=True, slots=True)
class JournalPosition:
    """Where a line ends in the file, and the checksum that the next one goes on from."""

    end: int
    checksum: bytes


JOURNAL_START = JournalPosition(0, CHECKSUM_SEED)


class Journal:
    """The steps of a run, one line each, so that a run that was killed goes on where it stopped.

    The first line of the file is a header that says whose steps these are. It
    is no step: `rows` is without it, and `cut` does not count it. A checksum
    covers its line and the checksum before it, so that lines which were torn,
    garbled, swapped or dropped, or which come from another file, are noticed.
    Opening cuts off the first of those and all that follows it.
    """

    rows: tuple[dict[str, Any], ...]
    """The steps that were there when the journal was opened."""

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self._part = GrowingFile(path)
        try:
            found = self._read(path)
            self._places = [place for _, place in found]
            self._part.truncate(self._places[-1].end if found else 0)
            self.is_new = not found
            if self.is_new:
                self.append(header)
        except BaseException:
            self.close()
            raise
        self.header = found[0][0] if found else dict(header)
        self.rows = tuple(row for row, _ in found[1:])

    def append(self, row: Mapping[str, Any]) -> None:
        """Write a step; it outlives this process at once, and a power cut after `sync`."""
        content = canonical_json(dict(row)).encode("utf-8", "surrogatepass")
        checksum = _checksum(self._places[-1].checksum if self._places else CHECKSUM_SEED, content)
        self._part.append(_line(checksum, content))
        self._places.append(JournalPosition(self._part.size, checksum))

    def truncate(self, keep: int) -> None:
        """Keep the first steps only."""
        if not 0 <= keep <= len(self):
            raise ValueError(f"{keep} is not between 0 and {len(self)}")
        self._part.truncate(self._places[keep].end)
        del self._places[keep + 1 :]
        self.rows = self.rows[:keep]

    def __len__(self) -> int:
        """How many steps there are, with those written since the journal was opened."""
        return len(self._places) - 1

    def sync(self) -> None:
        self._part.sync()

    def close(self) -> None:
        self._part.close()

    def _read(self, path: Path) -> list[tuple[dict[str, Any], JournalPosition]]:
        with reporting_write_errors(path.parent), path.open("rb") as stream:
            return list(_good_lines(stream))


def header_of(path: Path) -> dict[str, Any] | None:
    """Whose steps a journal holds; None if there is no journal, or its first line is not right."""
    try:
        with path.open("rb") as stream:
            return next((row for row, _ in _good_lines(stream)), None)
    except (FileNotFoundError, NotADirectoryError):
        return None


def rows_after(path: Path, place: JournalPosition) -> list[tuple[dict[str, Any], JournalPosition]]:
    """The lines of a journal behind a place, its header too, read beside the run that may be writing it."""
    try:
        with path.open("rb") as stream:
            stream.seek(place.end)
            return list(_good_lines(stream, place))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _good_lines(
    stream: IO[bytes], place: JournalPosition = JOURNAL_START
) -> Iterator[tuple[dict[str, Any], JournalPosition]]:
    for line in stream:
        content = line[DIGITS + 1 : -1]
        place = JournalPosition(place.end + len(line), _checksum(place.checksum, content))
        if line != _line(place.checksum, content):
            return
        try:
            row = json.loads(content.decode("utf-8", "surrogatepass"))
        except (ValueError, RecursionError):
            return
        if not isinstance(row, dict):
            return
        yield row, place


def _line(checksum: bytes, content: bytes) -> bytes:
    return checksum + b" " + content + b"\n"


def _checksum(before: bytes, content: bytes) -> bytes:
    return hashlib.sha256(before + b" " + content).hexdigest()[:DIGITS].encode()
