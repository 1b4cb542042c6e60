"""What a run found out, read from its files: the brief, every claim by its page, and the reader's notes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kiwiresearch.brief.brief import (
    Brief,
    BriefSource,
    Images,
    SourceBook,
    brief_from_record,
    picture_file_name,
    pictures_from_record,
)
from kiwiresearch.claims.claim import CLAIM_TYPES, Claim, claim_from_record
from kiwiresearch.errors import KiwiError
from kiwiresearch.export.run_files import (
    BRIEF,
    CLAIMS,
    MANIFEST,
    PICTURES,
    JsonObject,
    check_folder,
    damaged,
    load,
    load_lines,
)
from kiwiresearch.runs.notes import Note, TargetKind, read_notes
from kiwiresearch.text.dates.ranges import ENDLESS
from kiwiresearch.zim.archive import EntryRef

TEXTS = ("text", "subject", "scope", "page_title", "section", "anchor", "book_name")


def is_claim(claim: Claim) -> bool:
    """Whether each part that is shown to people is a text or a number, as its field promises."""
    texts = [getattr(claim, name) for name in TEXTS]
    texts += [*claim.tags, *claim.names, *(hedge.cue for hedge in claim.hedges)]
    texts += [quote.text for quote in claim.quotes] + [line.signal for line in claim.score.lines]
    texts += [claim.ref.book, claim.ref.path]
    places = [place for quote in claim.quotes for place in (quote.start, quote.end)]
    points = [line.points for line in claim.score.lines]
    return (
        claim.type in CLAIM_TYPES
        and claim.origin in ("rule", "model")
        and all(isinstance(text, str) for text in texts)
        and all(type(place) is int for place in places)
        and all(type(one) in (int, float) and math.isfinite(one) for one in points)
    )


NO_RECORD = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError, KiwiError)
DATE = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
NO_DATE = "1970-01-01"


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page that was read, with all that it claims."""

    number: int
    """Its place in the run, from 1."""
    source: BriefSource
    book: SourceBook
    claims: tuple[Claim, ...]
    leads_to: tuple[int, ...]
    """The numbers of the pages that it links to."""
    notes: tuple[Note, ...]

    @property
    def title(self) -> str:
        return " ".join(self.source.title.split()) or self.source.ref.path

    @property
    def book_title(self) -> str:
        return title_of_book(self.book)


@dataclass(frozen=True, slots=True)
class RunFindings:
    """A run as people read it."""

    brief: Brief
    pages: tuple[SourcePage, ...]
    notes: tuple[Note, ...]
    version: str
    images: Images
    """The pictures that the brief shows."""

    @property
    def picture_names(self) -> Mapping[str, str]:
        """The names of the files of the pictures, for formats that hold files."""
        return {one.sha256: picture_file_name(one.sha256, one.media_type) for one in self.brief.pictures}

    @property
    def topic(self) -> str:
        return self.brief.topic

    @property
    def date(self) -> str:
        """The day of the newest book, for formats that must have one: a run keeps no clock."""
        days = [found[0] for book in self.brief.sources.books if (found := DATE.match(book.date))]
        return max(days, default=NO_DATE)

    @property
    def notes_on_claims(self) -> Mapping[str, list[Note]]:
        """The notes on claims, by the ids of these."""
        return _by_target(self.notes, "claim")


def title_of_book(book: SourceBook) -> str:
    return book.title or book.name or str(book.id)


def read_findings(run: Path) -> RunFindings:
    """What a finished run found out; a brief that does not fit its claims is refused."""
    check_folder(run, BRIEF, CLAIMS)
    version = load(run / MANIFEST).text("version")
    brief = _brief(load(run / BRIEF))
    claims = [_claim(row) for row in load_lines(run / CLAIMS)]
    notes = read_notes(run).notes
    images = _images(load(run / PICTURES), brief) if brief.pictures else {}
    return RunFindings(brief, _pages(run / CLAIMS, brief, claims, notes), notes, version, images)


def _images(row: JsonObject, brief: Brief) -> Images:
    try:
        images = pictures_from_record(row.values)
    except ValueError as problem:
        raise row.damaged("holds no pictures as a run writes them") from problem
    if any(picture.sha256 not in images for picture in brief.pictures):
        raise row.damaged(f"lacks a picture that {BRIEF!r} names")
    return images


def _brief(row: JsonObject) -> Brief:
    try:
        brief = brief_from_record(row.values)
    except NO_RECORD as problem:
        raise row.damaged("is no brief") from problem
    listed = {source.ref for source in brief.sources.pages}
    books = {book.id for book in brief.sources.books}
    ends = range(len(brief.sources.pages))
    if not all(is_claim(claim) and claim.ref in listed for claim in brief.claims.values()):
        raise row.damaged("rests on a claim that is none, or that no page of it makes")
    if len(listed) != len(ends) or not all(ref.book in books for ref in listed):
        raise row.damaged("names a page twice, or a page of no book")
    if not all(end in ends for link in brief.sources.links for end in link):
        raise row.damaged("has a link to no page")
    if not all(abs(day) < ENDLESS for moment in brief.timeline for day in (moment.earliest, moment.latest)):
        raise row.damaged("tells of a day that never was")
    return brief


def _claim(row: JsonObject) -> Claim:
    try:
        claim = claim_from_record(row.values)
    except NO_RECORD as problem:
        raise row.damaged("is no claim") from problem
    if not is_claim(claim):
        raise row.damaged("is no claim")
    return claim


def _pages(file: Path, brief: Brief, claims: Sequence[Claim], notes: Sequence[Note]) -> tuple[SourcePage, ...]:
    books = {book.id: book for book in brief.sources.books}
    by_page: Mapping[EntryRef, list[Claim]] = {source.ref: [] for source in brief.sources.pages}
    for number, claim in enumerate(claims, start=1):
        if claim.ref not in by_page:
            raise damaged(file, f"claim {number} is of a page that {BRIEF!r} does not list")
        by_page[claim.ref].append(claim)
    on_pages = _by_target(notes, "page")
    links: dict[int, set[int]] = {}
    for start, end in brief.sources.links:
        links.setdefault(start, set()).add(end)
    return tuple(
        SourcePage(
            number=number,
            source=source,
            book=books[source.ref.book],
            claims=tuple(by_page[source.ref]),
            leads_to=tuple(end + 1 for end in sorted(links.get(number - 1, ()))),
            notes=tuple(on_pages.get(str(source.ref), ())),
        )
        for number, source in enumerate(brief.sources.pages, start=1)
    )


def _by_target(notes: Sequence[Note], kind: TargetKind) -> dict[str, list[Note]]:
    found: dict[str, list[Note]] = {}
    for note in notes:
        if note.target.kind == kind:
            found.setdefault(note.target.id, []).append(note)
    return found
