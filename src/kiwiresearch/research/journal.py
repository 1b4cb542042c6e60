"""The journal of a run: its steps, one line each, of which a kill or a power cut can only take the last ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from kiwiresearch.ids import canonical_json
from kiwiresearch.research.part import Part, writing

DIGITS = 16
START = b"kiwiresearch journal 1"
"""What the checksum of the first line covers in place of the one before it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line ends in the file, and the checksum that the next one goes on from."""

    end: int
    checksum: bytes


BEGINNING = Place(0, START)


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
        self._part = Part(path)
        try:
            found = self._read(path)
            self._places = [place for _, place in found]
            self._part.cut(self._places[-1].end if found else 0)
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
        checksum = _checksum(self._places[-1].checksum if self._places else START, content)
        self._part.append(_line(checksum, content))
        self._places.append(Place(self._part.size, checksum))

    def cut(self, keep: int) -> None:
        """Keep the first steps only."""
        if not 0 <= keep <= len(self):
            raise ValueError(f"{keep} is not between 0 and {len(self)}")
        self._part.cut(self._places[keep].end)
        del self._places[keep + 1 :]
        self.rows = self.rows[:keep]

    def __len__(self) -> int:
        """How many steps there are, with those written since the journal was opened."""
        return len(self._places) - 1

    def sync(self) -> None:
        self._part.sync()

    def close(self) -> None:
        self._part.close()

    def _read(self, path: Path) -> list[tuple[dict[str, Any], Place]]:
        with writing(path.parent), path.open("rb") as stream:
            return list(_good_lines(stream))


def header_of(path: Path) -> dict[str, Any] | None:
    """Whose steps a journal holds; None if there is no journal, or its first line is not right."""
    try:
        with path.open("rb") as stream:
            return next((row for row, _ in _good_lines(stream)), None)
    except (FileNotFoundError, NotADirectoryError):
        return None


def rows_after(path: Path, place: Place) -> list[tuple[dict[str, Any], Place]]:
    """The lines of a journal behind a place, its header too, read beside the run that may be writing it."""
    try:
        with path.open("rb") as stream:
            stream.seek(place.end)
            return list(_good_lines(stream, place))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _good_lines(stream: IO[bytes], place: Place = BEGINNING) -> Iterator[tuple[dict[str, Any], Place]]:
    for line in stream:
        content = line[DIGITS + 1 : -1]
        place = Place(place.end + len(line), _checksum(place.checksum, content))
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
