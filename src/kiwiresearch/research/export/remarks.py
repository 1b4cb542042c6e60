"""The reader's notes as a part of a text: what each is about, what it says, and when it was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kiwiresearch.brief.document import BREAK, Block, Heading, Line, Points, Sentence, Span, Text, words
from kiwiresearch.research.export.findings import Findings
from kiwiresearch.research.export.inside import page_inside
from kiwiresearch.research.note import Note, TargetKind

HEADING = "Notes of the reader"
VERDICTS = {"agree": "Agreed", "doubt": "Doubted", "correct": "Corrected"}
TARGETS = {"claim": "the claim", "page": "the page", "run": "the whole run"}
DAY = 10
ENDS = (".", "!", "?", "…", "”", ")")


def remarks(findings: Findings, *, inside: bool = False) -> tuple[Block, ...]:
    """All notes under a heading of their own; nothing where there are none.

    What a note is about leads to its page: in the book, or `inside` the export.
    """
    if not findings.notes:
        return ()
    places = _places(findings, inside=inside)
    notes = tuple(remark(note, places.get((note.target.kind, note.target.id), "")) for note in findings.notes)
    return Heading(HEADING, 2, "notes"), Points(notes, role="remarks")


def remark(note: Note, place: str = "") -> Text:
    """A note in a few sentences."""
    return tuple(Sentence(line) for line in _lines(note, place))


def _places(findings: Findings, *, inside: bool) -> Mapping[tuple[TargetKind, str], str]:
    """Where the pages are that notes are about, and the claims."""
    found: dict[tuple[TargetKind, str], str] = {}
    noted = findings.notes_on_claims
    for page in findings.pages:
        found["page", str(page.source.ref)] = page_inside(page.number) if inside else page.source.url
        for claim in page.claims:
            if claim.id in noted:
                found["claim", claim.id] = page_inside(page.number, claim) if inside else page.source.url
    return found


def _lines(note: Note, place: str) -> Iterator[Line]:
    verdict = Span(VERDICTS[note.verdict], strong=True)
    told = f"{_by(note)}, {TARGETS[note.target.kind]}"
    yield words(verdict, f"{told}: “", Span(note.about, place), "”") if note.about else words(verdict, f"{told}.")
    if note.reason:
        yield words(Span("Reason:", emphasis=True), " ", *_broken(_ended(note.reason)))
    if note.correction:
        yield words(Span("It should read:", emphasis=True), " ", *_broken(note.correction))


def _by(note: Note) -> str:
    """Who wrote it, where that is known, and when."""
    by = f" by {note.author}" if note.author else ""
    changed = f", changed by {note.editor}" if note.editor else ""
    return f"{by} ({(note.changed or note.made)[:DAY]}{changed})"


def _broken(text: str) -> Iterator[Span]:
    """The lines of a text, with breaks between them."""
    for number, line in enumerate(filter(str.strip, text.splitlines())):
        yield from (BREAK, Span(line.strip())) if number else (Span(line.strip()),)


def note_lines(note: Note) -> list[str]:
    """A note as plain text in the lines of its writer, for those who know what it is about."""
    return [line.strip() for line in note_in_words(note).splitlines() if line.strip()]


def note_in_words(note: Note) -> str:
    """A note as plain text, for those who know what it is about."""
    reason = f": {_ended(note.reason)}" if note.reason else "."
    correction = f" It should read: {note.correction}" if note.correction else ""
    return f"{VERDICTS[note.verdict]}{_by(note)}{reason}{correction}"


def _ended(text: str) -> str:
    return text if text.endswith(ENDS) else f"{text}."
