"""Files that grow by whole lines, and what is said where a disk takes no more of them."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kiwiresearch.errors import CannotWrite, RunDamaged

ELSEWHERE = "Make it a folder you may write to and start it again, or choose another folder."
CHUNK = 2**20


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Whatever the system refuses inside becomes an error that names the folder and says what to do."""
    try:
        yield
    except OSError as problem:
        raise cannot_write(folder, problem) from problem


def cannot_write(folder: Path, problem: OSError) -> CannotWrite:
    return CannotWrite.to(folder, problem, remedy=ELSEWHERE)


def mark(added: bytes) -> str:
    """What a step says of the bytes it added, so that they can be told from others of the same length."""
    return hashlib.sha256(added).hexdigest()[:16]


class Part:
    """A file that grows by whole lines; one that does not fit any more leaves the file as it was."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with writing(path.parent):
            path.touch()
            self._file = path.open("r+b", buffering=0)
            self.size = os.fstat(self._file.fileno()).st_size

    def append(self, line: bytes) -> None:
        """Add a line, or several, with the newline at the end; they are the system's when this returns."""
        if not line.endswith(b"\n"):
            raise ValueError(f"no whole line: {line[-60:]!r}")
        with writing(self.path.parent):
            try:
                self._write(line)
            except BaseException:
                with contextlib.suppress(OSError):
                    self._file.truncate(self.size)
                raise
        self.size += len(line)

    def cut(self, size: int) -> None:
        """Keep the first bytes only."""
        if not 0 <= size <= self.size:
            raise ValueError(f"{size} is not between 0 and {self.size}")
        with writing(self.path.parent):
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
        with writing(self.path.parent):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        with writing(self.path.parent):
            self._file.close()

    def _write(self, line: bytes) -> None:
        # Not at the end of the file: there may be bytes of a line that did not fit and could not be cut off.
        self._file.seek(self.size)
        rest = memoryview(line)
        while rest:
            rest = rest[self._file.write(rest) :]
