"""A page as JSON: for runs, the API and the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kiwiresearch.codec import Record
from kiwiresearch.page.doc import InfoboxRow, Link, LinkPlace, MarkKind, PageDoc, PageSignals, Section


@dataclass(frozen=True, slots=True)
class SectionRecord(Record):
    """A section of a page; the first is the introduction."""

    heading: str
    level: int
    anchor: str
    text: str
    start_offset: int
    end_offset: int
    references: int


@dataclass(frozen=True, slots=True)
class LinkRecord(Record):
    """A link to another page of the book."""

    target_title: str
    target_path: str
    target_anchor: str
    anchor_text: str
    context_snippet: str
    """The sentence that contains the link; empty for links outside the text."""
    section: str
    place: LinkPlace
    start_offset: int | None
    end_offset: int | None


@dataclass(frozen=True, slots=True)
class InfoboxRowRecord(Record):
    """A row of an infobox."""

    key: str
    value: str
    group: str
    """The heading above the row, if there is one."""
    start_offset: int
    end_offset: int
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InfoboxRecord(Record):
    """An infobox."""

    title: str
    rows: tuple[InfoboxRowRecord, ...]


@dataclass(frozen=True, slots=True)
class TableRecord(Record):
    """A table, as the texts of its cells."""

    caption: str
    section: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class MarkRecord(Record):
    """A reference number or an editor's note that was removed from the text."""

    kind: MarkKind
    offset: int


@dataclass(frozen=True, slots=True)
class SignalsRecord(Record):
    """Signals about the page's quality and kind."""

    is_stub: bool
    has_citation_needed: bool
    is_disputed: bool
    is_disambiguation: bool
    is_list: bool
    ref_count_estimate: int
    length_chars: int
    basis: Mapping[str, str]
    """For each signal, whether it was seen or inferred, and from what."""


@dataclass(frozen=True, slots=True)
class PageRecord(Record):
    """A page with its text and structure; offsets count characters of `plain_text`."""

    id: str
    book: str
    """The book's UUID."""
    path: str
    title: str
    url: str
    """Opens the page."""
    language: str
    plain_text: str
    lead: str
    sections: tuple[SectionRecord, ...]
    links: tuple[LinkRecord, ...]
    infoboxes: tuple[InfoboxRecord, ...]
    tables: tuple[TableRecord, ...]
    marks: tuple[MarkRecord, ...]
    categories: tuple[str, ...]
    hatnotes: tuple[str, ...]
    signals: SignalsRecord
    revision: int | None
    edited: str
    source: str


def page_record(page: PageDoc, *, only: Sequence[Section] = ()) -> PageRecord:
    """A page as JSON; with `only`, just these sections."""
    return PageRecord(
        id=page.id,
        book=page.ref.book,
        path=page.ref.path,
        title=page.title,
        url=page.url,
        language=page.language,
        plain_text=page.text,
        lead=page.lead,
        sections=tuple(_section(page, section) for section in only or page.sections),
        links=tuple(_link(page, link) for link in page.links),
        infoboxes=tuple(InfoboxRecord(box.title, tuple(map(_infobox_row, box.rows))) for box in page.infoboxes),
        tables=tuple(
            TableRecord(
                table.caption,
                page.sections[table.section].heading,
                tuple(tuple(page.text[cell.start : cell.end] for cell in row) for row in table.rows),
            )
            for table in page.tables
        ),
        marks=tuple(MarkRecord(mark.kind, mark.offset) for mark in page.marks),
        categories=page.categories,
        hatnotes=page.hatnotes,
        signals=_signals(page.signals),
        revision=page.provenance.revision,
        edited=page.provenance.edited,
        source=page.provenance.source,
    )


def _section(page: PageDoc, section: Section) -> SectionRecord:
    return SectionRecord(
        heading=section.heading,
        level=section.level,
        anchor=section.anchor,
        text=page.section_text(section),
        start_offset=section.start,
        end_offset=section.end,
        references=section.references,
    )


def _link(page: PageDoc, link: Link) -> LinkRecord:
    return LinkRecord(
        target_title=link.target_title,
        target_path=link.target,
        target_anchor=link.anchor,
        anchor_text=link.text,
        context_snippet=page.sentence(link),
        section=page.sections[link.section].heading,
        place=link.place,
        start_offset=link.start if link.in_text else None,
        end_offset=link.end if link.in_text else None,
    )


def _infobox_row(row: InfoboxRow) -> InfoboxRowRecord:
    return InfoboxRowRecord(
        key=row.key,
        value=row.value,
        group=row.group,
        start_offset=row.start,
        end_offset=row.end,
        links=tuple(link.target for link in row.links),
    )


def _signals(signals: PageSignals) -> SignalsRecord:
    named = {
        "is_stub": signals.stub,
        "has_citation_needed": signals.citation_needed,
        "is_disputed": signals.disputed,
        "is_disambiguation": signals.disambiguation,
        "is_list": signals.list_page,
    }
    return SignalsRecord(
        **{name: signal.holds for name, signal in named.items()},
        ref_count_estimate=signals.references,
        length_chars=signals.length,
        basis={name: f"{item.basis}: {item.why}" if item.holds else "absent" for name, item in named.items()},
    )
