"""The notes file of a run. Complete lines are appended, by one writer at a time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import CannotWrite, RunDamaged
from kiwiresearch.ids import canonical_json
from kiwiresearch.system import FileLock, write_atomically

if TYPE_CHECKING:
    from kiwiresearch.store import NoteLines

NOTES = "notes.jsonl"
LOCK = ".notes.lock"
MAX_BYTES = 2**25
"""A larger file is neither written nor read."""
TIMEOUT_S = 5.0
CHECK_HINT = "Check that the server has permission to write there and that the disk is not full."

Append = Callable[[JsonDict], None]


def note_file_lines(run: Path) -> list[bytes]:
    """The lines of a run's notes."""
    file = run / NOTES
    try:
        if not _is_plain(file):
            return []
        if file.stat().st_size > MAX_BYTES:
            raise RunDamaged(f"The file {NOTES!r} is too large to read.", remedy="Move the file to another folder.")
        return file.read_bytes().splitlines()
    except OSError as problem:
        raise RunDamaged(
            f"The file {NOTES!r} cannot be read: {problem.strerror}.",
            remedy="Check that the server has permission to read it.",
        ) from problem


@contextlib.contextmanager
def appending_notes(run: Path, note_lines: NoteLines | None = None) -> Iterator[Append]:
    """Append to the notes of a run; locks out other writers, in this process and in others.

    If the notes are in a store, writers on other hosts are locked out too, and the file is only a copy.
    """
    file = run / NOTES
    with _locked(run):
        _refuse_foreign(file)
        if note_lines is None:
            yield lambda row: _append(file, row)
            return
        # Copied before, so that the caller sees all notes of other hosts, and after, with the new one.
        with note_lines.appending(run.name) as add:
            _copy(file, note_lines)
            yield lambda row: add(_line(row).rstrip(b"\n"))
        _copy(file, note_lines)


def download_notes(run: Path, note_lines: NoteLines) -> None:
    """Copy the notes on a run from the store."""
    if note_lines.lines(run.name) != note_file_lines(run):
        with _locked(run):
            _refuse_foreign(run / NOTES)
            _copy(run / NOTES, note_lines)


def _copy(file: Path, note_lines: NoteLines) -> None:
    content = b"".join(line + b"\n" for line in note_lines.lines(file.parent.name))
    try:
        current = file.read_bytes() if file.exists() else b""
        if current != content:
            write_atomically(file, content)
    except OSError as problem:
        raise _cannot(str(problem.strerror or problem)) from problem


def _line(row: JsonDict) -> bytes:
    return (canonical_json(row) + "\n").encode("utf-8", "replace")


def _append(file: Path, row: JsonDict) -> None:
    line = _line(row)
    try:
        with file.open("ab+") as stream:
            size = stream.seek(0, os.SEEK_END)
            if size + len(line) > MAX_BYTES:
                raise _cannot("there are too many notes", f"Move {NOTES!r} out of the folder of the run.")
            try:
                stream.write(_end_of_a_torn_line(stream, size) + line)
                stream.flush()
                os.fsync(stream.fileno())
            except OSError:
                stream.truncate(size)  # half a line would be reported as damage forever
                raise
    except OSError as problem:
        raise _cannot(str(problem.strerror or problem)) from problem


def _end_of_a_torn_line(stream: BinaryIO, size: int) -> bytes:
    """A newline if a power cut left half a line, so that the next one starts on its own."""
    if not size:
        return b""
    stream.seek(size - 1)
    return b"" if stream.read(1) == b"\n" else b"\n"


@contextlib.contextmanager
def _locked(run: Path) -> Iterator[None]:
    _refuse_foreign(run / LOCK)
    lock = FileLock(run / LOCK)
    try:
        if not lock.wait(TIMEOUT_S):
            raise _cannot("someone else is saving a note", "Try again in a moment.")
    except OSError as problem:
        raise _cannot(str(problem.strerror or problem)) from problem
    try:
        yield
    finally:
        lock.release()


def _cannot(why: str, remedy: str = CHECK_HINT) -> CannotWrite:
    return CannotWrite(f"The note cannot be saved: {why}.", remedy=remedy)


def _refuse_foreign(file: Path) -> None:
    if (file.is_symlink() or file.exists()) and not _is_plain(file):
        raise _cannot(f"{file.name!r} in its folder is not a regular file", "Move it to another folder.")


def _is_plain(file: Path) -> bool:
    """Whether it is a regular file: a link could lead out of the run."""
    return file.is_file() and not file.is_symlink()
