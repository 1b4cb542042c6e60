"""The progress of an unfinished run: its steps as events, read from its journal as it grows."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.codec import JsonDict
from kiwiresearch.crawl import EndStep, LearnStep, SkipStep, StartStep, VisitStep
from kiwiresearch.ids import BookId
from kiwiresearch.messages import Message, message_fields, message_in
from kiwiresearch.runs.journal import JOURNAL_START, JournalPosition, rows_after
from kiwiresearch.runs.manifest import WORK_FOLDER
from kiwiresearch.runs.unfinished_run import STEPS
from kiwiresearch.search import Score, ScoreTerm
from kiwiresearch.zim import EntryRef

if TYPE_CHECKING:
    from kiwiresearch.runs.research import RunProgress

MAX_FOLLOWED = 24
"""How many journals are followed at once; the least recently read one is dropped."""


@dataclass(frozen=True, slots=True)
class VisitedPage:
    """A page that a run visited, and why."""

    number: int
    ref: EntryRef
    title: str
    depth: int
    points: float
    reason: Message


@dataclass(frozen=True, slots=True)
class CrawlProgress:
    """The progress of a run so far."""

    pages: tuple[VisitedPage, ...] = ()
    dropped: int = 0
    """How many pages were read but not visited."""
    ended: str = ""
    """Why the crawl ended; empty while it continues."""


def journal_file(run: Path) -> Path:
    """Where an unfinished run writes its steps."""
    return run / WORK_FOLDER / STEPS


class JournalFollower:
    """Journals that are being watched: each read only reads what is new."""

    def __init__(self, max_followed: int = MAX_FOLLOWED) -> None:
        self._max_followed = max_followed
        self._journals: dict[Path, _FollowedJournal] = {}
        self._lock = threading.Lock()

    def read_progress(self, steps: Path) -> CrawlProgress:
        """The progress that a journal shows; ValueError, KeyError or TypeError if it is not a run's."""
        with self._lock:
            # Stored again, as the newest, only if it was read without an error.
            read = self._journals.pop(steps, None) or _FollowedJournal()
            if not read.read_new(steps):  # the file was truncated or replaced
                read = _FollowedJournal()
                read.read_new(steps)
            self._journals[steps] = read
            for old in list(self._journals)[: -self._max_followed]:
                del self._journals[old]
            return CrawlProgress(tuple(read.pages), len(read.dropped), read.ended)


@dataclass(slots=True)
class _FollowedJournal:
    """A journal that was read up to a position."""

    place: JournalPosition = JOURNAL_START
    pages: list[VisitedPage] = field(default_factory=list)
    dropped: set[tuple[str, str]] = field(default_factory=set)
    ended: str = ""

    def read_new(self, steps: Path) -> bool:
        """Read new lines; False if the file is not the one that was read before."""
        try:
            size = steps.stat().st_size
        except OSError:
            size = 0
        rows = rows_after(steps, self.place) if size >= self.place.end else []
        # The journal was cut back or replaced: what follows does not continue our checksum. A line that is only half
        # written looks the same, and merely costs reading the file once more.
        if self.place.end and not rows and size != self.place.end:
            return False
        for row, place in rows:
            if self.place.end:  # the first line is the header
                self._read_row(row)
            self.place = place
        return True

    def _read_row(self, row: Mapping[str, Any]) -> None:
        match row["step"]:
            case "visited":
                self.pages.append(_visited_page(len(self.pages) + 1, row))
            case "looked" if row["gone"]:
                self.dropped.add((str(row["book"]), str(row["path"])))
            case "ended":
                self.ended = str(row["why"])


def _visited_page(number: int, row: Mapping[str, Any]) -> VisitedPage:
    points = Score(tuple(ScoreTerm(*line) for line in row["lines"])).total
    ref = EntryRef(BookId(str(row["book"])), str(row["path"]))
    return VisitedPage(number, ref, str(row["title"]), int(row["depth"]), points, message_in(row, "reason"))


def step_event(progress: RunProgress) -> JsonDict:
    """A step as an event of its job."""
    state = progress.state
    match progress.step:
        case StartStep() as step:
            seeds = [
                {"book": s.book, "path": s.path, "title": s.title, **message_fields("why", s.why)} for s in step.seeds
            ]
            return {"event": "begun", "topic": step.topic, "seeds": seeds, "found": len(step.found)}
        case VisitStep() as step:
            return {
                "event": "page",
                "order": len(state.visited),
                "book": step.book,
                "path": step.path,
                "title": step.title,
                "depth": step.depth,
                "score": Score(step.terms).total,
                **message_fields("reason", step.reason),
                "candidates": len(state.frontier),
            }
        case SkipStep() as step:
            return {"event": "left" if step.is_dropped else "put back", "title": step.title, "why": step.why}
        case LearnStep() as step:
            return {"event": "learned", "words": list(step.words)}
        case EndStep() as step:
            return {"event": "ended", **message_fields("why", step.why), "left": step.remaining}
