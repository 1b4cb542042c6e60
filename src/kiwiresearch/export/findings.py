"""The findings of a run, for the formats that people read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from kiwiresearch.brief import Brief, Images, picture_file_name
from kiwiresearch.messages import FALLBACK, catalogue_in
from kiwiresearch.runs import MANIFEST, JsonObject, Note, Run, RunPage
from kiwiresearch.text import capitalized

# "2024-05-01"; not "2024-05", which is not a day, nor "2024-13-01".
DATE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
NO_DATE = "1970-01-01"


def dated(title: str, date: str) -> str:
    """A book with the date of its edition as people write it."""
    return f"{title} ({catalogue_in(FALLBACK).locale.date(date)})" if date else title


@dataclass(frozen=True, slots=True)
class RunFindings:
    """The content of a run that readable formats show."""

    brief: Brief
    pages: tuple[RunPage, ...]
    notes: tuple[Note, ...]
    version: str
    images: Images
    """The pictures in the brief."""

    @property
    def picture_names(self) -> Mapping[str, str]:
        """The file names of the pictures, for formats that contain files."""
        return {
            picture.sha256: picture_file_name(picture.sha256, picture.media_type) for picture in self.brief.pictures
        }

    @property
    def topic(self) -> str:
        """The topic as a heading."""
        return capitalized(self.brief.topic)

    @property
    def headed_brief(self) -> Brief:
        """The brief with its topic as a heading; the files of the run have it as it was typed."""
        return replace(self.brief, topic=self.topic)

    @property
    def date(self) -> str:
        """The date of the newest book, for formats that need a date: a run does not record when it was made."""
        days = [found[0] for book in self.brief.sources.books if (found := DATE.match(book.date))]
        return max(days, default=NO_DATE)

    @property
    def notes_by_target(self) -> Mapping[str, list[Note]]:
        """The notes on claims and pages, by the id of the claim or the ref of the page."""
        found: dict[str, list[Note]] = {}
        for note in self.notes:
            if note.target.kind in ("claim", "page"):
                found.setdefault(note.target.id, []).append(note)
        return found


def read_findings(run: Run) -> RunFindings:
    """The findings of a finished run; a brief that does not fit its claims is refused."""
    version = JsonObject(run.path / MANIFEST, "", run.manifest.record).text("version")
    return RunFindings(run.brief, run.pages, run.notes.notes, version, run.images)
