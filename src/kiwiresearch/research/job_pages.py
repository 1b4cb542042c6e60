"""What a run that is not finished has done so far, read from its journal beside the process that writes it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kiwiresearch.ids import BookId
from kiwiresearch.research.journal import BEGINNING, Place, rows_after
from kiwiresearch.research.manifest import HIDDEN
from kiwiresearch.research.work import STEPS
from kiwiresearch.search.hit import Score, ScoreLine
from kiwiresearch.zim.entry import EntryRef

MOST_FOLLOWED = 24
"""How many journals are followed at once, those that were looked at last."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A page that a run took, and why."""

    number: int
    ref: EntryRef
    title: str
    depth: int
    points: float
    reason: str


@dataclass(frozen=True, slots=True)
class SoFar:
    """The steps of a run up to now."""

    pages: tuple[Taken, ...] = ()
    left: int = 0
    """How many pages were read and not taken."""
    ended: str = ""
    """Why no more pages are taken; empty while some are."""


def steps_file(run: Path) -> Path:
    """Where an unfinished run writes its steps."""
    return run / HIDDEN / STEPS


class Followed:
    """The journals of runs that somebody watches: each look reads only what was written since the last one."""

    def __init__(self, most: int = MOST_FOLLOWED) -> None:
        self._most = most
        self._known: dict[Path, _Read] = {}
        self._looking = threading.Lock()

    def so_far(self, steps: Path) -> SoFar:
        """What a journal tells; ValueError, KeyError or TypeError if it is of no run."""
        with self._looking:
            # Put back as the newest only when it was read without an error.
            read = self._known.pop(steps, None) or _Read()
            if not read.goes_on(steps):  # it was cut, or is another one
                read = _Read()
                read.goes_on(steps)
            self._known[steps] = read
            for old in list(self._known)[: -self._most]:
                del self._known[old]
            return SoFar(tuple(read.pages), len(read.gone), read.ended)


@dataclass(slots=True)
class _Read:
    """A journal up to a place."""

    place: Place = BEGINNING
    pages: list[Taken] = field(default_factory=list)
    gone: set[tuple[str, str]] = field(default_factory=set)
    ended: str = ""

    def goes_on(self, steps: Path) -> bool:
        """Read what is new; False if the file is not the one that was read before."""
        try:
            size = steps.stat().st_size
        except OSError:
            size = 0
        rows = rows_after(steps, self.place) if size >= self.place.end else []
        if self.place.end and not rows and size != self.place.end:
            return False
        for row, place in rows:
            if self.place.end:  # the first line is the header
                self._take(row)
            self.place = place
        return True

    def _take(self, row: Mapping[str, Any]) -> None:
        match row["step"]:
            case "visited":
                self.pages.append(_taken(len(self.pages) + 1, row))
            case "looked" if row["gone"]:
                self.gone.add((str(row["book"]), str(row["path"])))
            case "ended":
                self.ended = str(row["why"])


def _taken(number: int, row: Mapping[str, Any]) -> Taken:
    points = Score(tuple(ScoreLine(*line) for line in row["lines"])).total
    ref = EntryRef(BookId(str(row["book"])), str(row["path"]))
    return Taken(number, ref, str(row["title"]), int(row["depth"]), points, str(row["reason"]))
