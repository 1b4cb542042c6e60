"""The brief as Markdown or HTML with the reader's notes, and all claims as a table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from kiwiresearch.brief import Brief, brief_document, report_page
from kiwiresearch.claims import Claim
from kiwiresearch.document import (
    BREAK,
    NUMBERED_SOURCES,
    Block,
    CollapsedList,
    Heading,
    Line,
    LineList,
    Sentence,
    SentenceList,
    Sentences,
    Span,
    line_of,
)
from kiwiresearch.document.markdown import markdown
from kiwiresearch.export.findings import RunFindings
from kiwiresearch.export.graphs import Value, table
from kiwiresearch.export.word_package import WordProperties, word_file
from kiwiresearch.runs import Note, RunPage, TargetKind

INNER_ADDRESS = "zim://inside/"
CLAIM_ANCHOR = "claim:"
"""The prefix of a claim's anchor; the anchor of a section is percent-encoded, so it has no colon."""

IN_HTML = re.compile(rf'href="{INNER_ADDRESS}(\d+)(?:#([^"]*))?"')
IN_MARKDOWN = re.compile(rf"\\.|\]\({INNER_ADDRESS}(\d+)(?:#([^)]*))?\)", re.DOTALL)
"""The first branch skips an escaped character, which never starts a link."""

Address = Callable[[int, str], str]
"""The address of a page by its number, or of the section or claim on it with this anchor."""


def with_inner_links(brief: Brief) -> Brief:
    """The brief with addresses that `html_links` and `markdown_links` replace: its pages by their numbers."""
    pages = tuple(replace(source, url=inner_address(n)) for n, source in enumerate(brief.sources.pages, start=1))
    return replace(brief, sources=replace(brief.sources, pages=pages))


def inner_address(number: int, claim: Claim | None = None) -> str:
    """The placeholder address of a page, or of a claim on it."""
    return f"{INNER_ADDRESS}{number}" + (f"#{CLAIM_ANCHOR}{claim_hash(claim)}" if claim else "")


def claim_hash(claim: Claim) -> str:
    """The hash in a claim's id: letters and digits only."""
    return claim.id.rpartition(":")[2]


def html_links(text: str, address: Address) -> str:
    return IN_HTML.sub(lambda found: f'href="{address(int(found[1]), found[2] or "")}"', text)


def markdown_links(text: str, address: Address) -> str:
    return IN_MARKDOWN.sub(lambda found: f"]({address(int(found[1]), found[2] or '')})" if found[1] else found[0], text)


HEADING = "Reader notes"
VERDICTS = {"agree": "Agreed", "doubt": "Doubted", "correct": "Corrected"}
TARGETS = {"claim": "the claim", "page": "the page", "run": "the whole brief"}
# The length of the day in "2026-11-19T10:00:00+00:00".
DAY = 10
ENDS = (".", "!", "?", "…", "”", ")")


def note_blocks(findings: RunFindings, *, inside: bool = False) -> tuple[Block, ...]:
    """All notes under a separate heading; nothing if the run has no notes.

    The target of a note links to its page: in the book, or `inside` the export.
    """
    if not findings.notes:
        return ()
    places = _places(findings, inside=inside)
    notes = tuple(note_paragraph(note, places.get((note.target.kind, note.target.id), "")) for note in findings.notes)
    return Heading(line_of(HEADING), 2, "notes"), SentenceList(notes, css_class="remarks")


def note_paragraph(note: Note, place: str = "") -> Sentences:
    """A note in a few sentences."""
    return tuple(Sentence(line) for line in _lines(note, place))


def _places(findings: RunFindings, *, inside: bool) -> Mapping[tuple[TargetKind, str], str]:
    """The addresses of the pages and claims that notes are about."""
    found: dict[tuple[TargetKind, str], str] = {}
    noted = findings.notes_by_target
    for page in findings.pages:
        found["page", str(page.source.ref)] = inner_address(page.number) if inside else page.source.url
        for claim in page.claims:
            if claim.id in noted:
                found["claim", claim.id] = inner_address(page.number, claim) if inside else page.source.url
    return found


def _lines(note: Note, place: str) -> Iterator[Line]:
    verdict = Span(VERDICTS[note.verdict], strong=True)
    about = f"{_by(note)}, {TARGETS[note.target.kind]}"
    yield line_of(verdict, f"{about}: “", Span(note.about, place), "”") if note.about else line_of(verdict, f"{about}.")
    if note.reason:
        yield line_of(Span("Reason:", emphasis=True), " ", *_broken(_ended(note.reason)))
    if note.correction:
        yield line_of(Span("It should read:", emphasis=True), " ", *_broken(note.correction))


def _by(note: Note) -> str:
    """Who wrote it, if known, and when."""
    by = f" by {note.author}" if note.author else ""
    changed = f", edited by {note.editor}" if note.editor else ""
    return f"{by} ({(note.changed or note.made)[:DAY]}{changed})"


def _broken(text: str) -> Iterator[Span]:
    """The lines of a text, with breaks between them."""
    for index, line in enumerate(filter(str.strip, text.splitlines())):
        yield from (BREAK, Span(line.strip())) if index else (Span(line.strip()),)


def note_lines(note: Note) -> list[str]:
    """A note as lines of plain text, for a place that shows what it is about."""
    return [line.strip() for line in note_as_text(note).splitlines() if line.strip()]


def note_as_text(note: Note) -> str:
    """A note as plain text, for a place that shows what it is about."""
    reason = f": {_ended(note.reason)}" if note.reason else "."
    correction = f" It should read: {note.correction}" if note.correction else ""
    return f"{VERDICTS[note.verdict]}{_by(note)}{reason}{correction}"


def _ended(text: str) -> str:
    return text if text.endswith(ENDS) else f"{text}."


def brief_in_markdown(findings: RunFindings) -> str:
    """The brief as Markdown, each sentence with its sources."""
    document = brief_document(findings.headed_brief, is_shared=True)
    return markdown(replace(document, blocks=(*document.blocks, *note_blocks(findings))))


def brief_in_html(findings: RunFindings) -> str:
    """The brief as a self-contained page; each sentence unfolds to its quotes."""
    return report_page(findings.headed_brief, findings.images, note_blocks(findings), is_shared=True)


COLUMNS = (
    "claim_id",
    "type",
    "claim",
    "quote",
    "more_quotes",
    "page",
    "section",
    "book",
    "book_date",
    "hedging",
    "confidence",
    "subject",
    "scope",
    "tags",
    "origin",
    "path",
    "book_id",
    "start",
    "end",
    "url",
    "notes",
)
BYTE_ORDER_MARK = "\ufeff"
"""Without it Excel reads the file in a legacy encoding."""


def claim_table(findings: RunFindings) -> str:
    """One row for each claim, page by page."""
    notes = {target: [note_as_text(note) for note in some] for target, some in findings.notes_by_target.items()}
    rows = (
        _claim_row(page, claim, "\n".join(notes.get(claim.id, ()))) for page in findings.pages for claim in page.claims
    )
    return BYTE_ORDER_MARK + table(COLUMNS, rows)


def _claim_row(page: RunPage, claim: Claim, notes: str) -> Sequence[Value]:
    first, *others = claim.quotes
    return (
        claim.id,
        claim.type,
        claim.text,
        first.text,
        "\n".join(quote.text for quote in others),
        page.title,
        claim.section,
        page.book_title,
        page.book.date,
        ", ".join(dict.fromkeys(hedge.cue for hedge in claim.hedges)),
        claim.confidence,
        claim.subject,
        claim.scope,
        ", ".join(claim.tags),
        claim.origin,
        claim.ref.path,
        str(claim.ref.book),
        first.start,
        first.end,
        page.source.url,
        notes,
    )


OTHER_SOURCES = "other"


def brief_in_word(findings: RunFindings) -> bytes:
    """The brief with its pictures and the reader's notes."""
    # Pages are named by placeholders first, so that each citation finds its entry in the bibliography.
    document = brief_document(with_inner_links(findings.headed_brief), findings.picture_names, is_shared=True)
    addresses = {inner_address(n): page.url for n, page in enumerate(findings.brief.sources.pages, start=1)}
    targets: dict[str, str] = {}
    blocks = tuple(_linked(document.blocks, addresses, targets))
    names = findings.picture_names
    images = {names[sha]: content for sha, content in findings.images.items() if sha in names}
    properties = WordProperties(document.title, findings.topic, findings.date)
    return word_file(replace(document, blocks=(*blocks, *note_blocks(findings))), properties, images, targets)


def _linked(blocks: Sequence[Block], addresses: Mapping[str, str], targets: dict[str, str]) -> Iterator[Block]:
    """The blocks with anchors at the entries of the bibliography, which alone link to the pages themselves."""
    for block in blocks:
        if isinstance(block, LineList) and block.numbered:
            yield _bibliography(block, NUMBERED_SOURCES, addresses, targets)
        elif isinstance(block, CollapsedList):
            # A caption may cite a page that no sentence does.
            yield replace(block, items=_bibliography(block.items, OTHER_SOURCES, addresses, targets))
        else:
            yield block


def _bibliography(block: LineList, anchor: str, addresses: Mapping[str, str], targets: dict[str, str]) -> LineList:
    lines: list[Line] = []
    for number, (title, *rest) in enumerate(block.lines, start=1):
        targets[title.url] = f"{anchor}_{number}"
        lines.append((title._replace(url=addresses.get(title.url, "")), *rest))
    return replace(block, lines=tuple(lines), anchor=anchor)
