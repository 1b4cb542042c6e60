"""The journal of a run and other append-only files: a kill or power cut can only lose the last lines."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import CannotWrite, RunDamaged
from kiwiresearch.ids import canonical_json
from kiwiresearch.messages import Message

CHOOSE_FOLDER = Message("Make it writable and start again, or choose another folder.", "remedy.make_writable")
CHUNK_BYTES = 2**20


@contextmanager
def reporting_write_errors(folder: Path) -> Iterator[None]:
    """Turn system errors into an error that names the folder and says what to do."""
    try:
        yield
    except OSError as problem:
        raise cannot_write(folder, problem) from problem


@contextmanager
def reporting_file_errors(file: Path, remedy: str) -> Iterator[None]:
    """Turn system errors into an error that names the file."""
    try:
        yield
    except (OSError, ValueError) as problem:  # ValueError: an invalid file name
        reason = (isinstance(problem, OSError) and problem.strerror) or "its name is not allowed"
        raise CannotWrite(f"The file {str(file)!r} cannot be written to: {reason}.", remedy=remedy) from problem


def cannot_write(folder: Path, problem: OSError) -> CannotWrite:
    return CannotWrite.to(folder, problem, remedy=CHOOSE_FOLDER)


def content_digest(added: bytes) -> str:
    """A digest by which a step recognizes the bytes it added."""
    return hashlib.sha256(added).hexdigest()[:16]


class GrowingFile:
    """A file that grows by complete lines; a line that cannot be written in full leaves the file unchanged."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with reporting_write_errors(path.parent):
            path.touch()
            self._file = path.open("r+b", buffering=0)
            self.size = os.fstat(self._file.fileno()).st_size

    def append(self, line: bytes) -> None:
        """Append one or more lines; after this returns, they survive a crash of this process."""
        if not line.endswith(b"\n"):
            raise ValueError(f"incomplete line: {line[-60:]!r}")
        with reporting_write_errors(self.path.parent):
            try:
                self._write(line)
            except BaseException:
                with contextlib.suppress(OSError):
                    self._file.truncate(self.size)
                raise
        self.size += len(line)

    def truncate(self, size: int) -> None:
        """Keep only the first `size` bytes."""
        if not 0 <= size <= self.size:
            raise ValueError(f"{size} is not between 0 and {self.size}")
        with reporting_write_errors(self.path.parent):
            self._file.truncate(size)
        self.size = size

    def chunks(self) -> Iterator[bytes]:
        """The content, in chunks."""
        with self.path.open("rb") as stream:
            left = self.size
            while left:
                chunk = stream.read(min(left, CHUNK_BYTES))
                if not chunk:
                    raise RunDamaged(
                        f"The file {str(self.path)!r} was shortened while the run was in progress.",
                        remedy="Start it again. It resumes with what is left.",
                    )
                left -= len(chunk)
                yield chunk

    def sync(self) -> None:
        """Return when the data is on the disk."""
        with reporting_write_errors(self.path.parent):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        with reporting_write_errors(self.path.parent):
            self._file.close()

    def _write(self, line: bytes) -> None:
        # Not at the end of the file: bytes of a line that did not fit may be there if they could not be cut off.
        self._file.seek(self.size)
        rest = memoryview(line)
        while rest:
            rest = rest[self._file.write(rest) :]


CHECKSUM_DIGITS = 16
CHECKSUM_SEED = b"kiwiresearch journal 1"
"""Used as the previous checksum for the first line."""


@dataclass(frozen=True, slots=True)
class JournalPosition:
    """Where a line ends, and the checksum that the next line continues from."""

    end: int
    checksum: bytes


JOURNAL_START = JournalPosition(0, CHECKSUM_SEED)


class Journal:
    """The steps of a run, one line each, from which a killed run resumes.

    The first line is a header that identifies the run; it is not one of the `rows`, and `truncate` does not
    count it. A checksum covers its line and the checksum before it, so that torn, garbled, swapped, dropped or
    foreign lines are noticed. Opening cuts the file at the first of those.
    """

    rows: tuple[JsonDict, ...]
    """The steps that were there when the journal was opened."""

    def __init__(self, path: Path, header: Mapping[str, object]) -> None:
        self._part = GrowingFile(path)
        try:
            with reporting_write_errors(path.parent), path.open("rb") as stream:
                found = list(_good_lines(stream))
            self._positions = [position for _, position in found]
            self._part.truncate(self._positions[-1].end if found else 0)
            self.is_new = not found
            if self.is_new:
                self.append(header)
        except BaseException:
            self.close()
            raise
        self.header = found[0][0] if found else dict(header)
        self.rows = tuple(row for row, _ in found[1:])

    def append(self, row: Mapping[str, object]) -> None:
        """Append a step; it survives a kill at once, and a power cut after `sync`."""
        content = canonical_json(dict(row)).encode("utf-8", "surrogatepass")
        checksum = _checksum(self._positions[-1].checksum if self._positions else CHECKSUM_SEED, content)
        self._part.append(_line(checksum, content))
        self._positions.append(JournalPosition(self._part.size, checksum))

    def truncate(self, keep: int) -> None:
        """Keep only the first steps."""
        if not 0 <= keep <= len(self):
            raise ValueError(f"{keep} is not between 0 and {len(self)}")
        self._part.truncate(self._positions[keep].end)
        del self._positions[keep + 1 :]
        self.rows = self.rows[:keep]

    def __len__(self) -> int:
        """The number of steps, including those appended since it was opened."""
        return len(self._positions) - 1

    def sync(self) -> None:
        self._part.sync()

    def close(self) -> None:
        self._part.close()


def header_of(path: Path) -> JsonDict | None:
    """The header of a journal; None if the file is missing or its first line is damaged."""
    try:
        with path.open("rb") as stream:
            return next((row for row, _ in _good_lines(stream)), None)
    except (FileNotFoundError, NotADirectoryError):
        return None


def rows_after(path: Path, position: JournalPosition) -> list[tuple[JsonDict, JournalPosition]]:
    """The lines after a position, with the header, read while the run may be writing."""
    try:
        with path.open("rb") as stream:
            stream.seek(position.end)
            return list(_good_lines(stream, position))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _good_lines(
    stream: IO[bytes], position: JournalPosition = JOURNAL_START
) -> Iterator[tuple[JsonDict, JournalPosition]]:
    for line in stream:
        # A torn line has lost its line end or more, so it differs from the line that its content would give.
        content = line[CHECKSUM_DIGITS + 1 : -1]
        position = JournalPosition(position.end + len(line), _checksum(position.checksum, content))
        if line != _line(position.checksum, content):
            return
        try:
            row = json.loads(content.decode("utf-8", "surrogatepass"))
        except (ValueError, RecursionError):
            return
        if not isinstance(row, dict):
            return
        yield row, position


def _line(checksum: bytes, content: bytes) -> bytes:
    return checksum + b" " + content + b"\n"


def _checksum(before: bytes, content: bytes) -> bytes:
    return hashlib.sha256(before + b" " + content).hexdigest()[:CHECKSUM_DIGITS].encode()
