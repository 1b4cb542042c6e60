"""A run as a small book, for EPUB and ZIM: the brief, one page per source with its quotes, notes and sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from itertools import groupby
from urllib.parse import quote as percent

from kiwiresearch.brief import brief_document, confidence_text, picture_style
from kiwiresearch.claims import Claim
from kiwiresearch.document import Block, Heading, blocks_in_html, escaped, plain_text
from kiwiresearch.evidence import INTRODUCTION
from kiwiresearch.export.brief_files import (
    CLAIM_ANCHOR,
    HEADING,
    claim_hash,
    html_links,
    note_blocks,
    note_lines,
    with_inner_links,
)
from kiwiresearch.export.citations import CitedSource, cited_sources
from kiwiresearch.export.findings import RunFindings
from kiwiresearch.messages import FALLBACK, catalogue_in
from kiwiresearch.network import WEB_SCHEMES
from kiwiresearch.runs import Note, RunPage
from kiwiresearch.text import one_line, short_language_code


@cache
def booklet_style(*, with_pictures: bool = False) -> str:
    look = (files("kiwiresearch.export") / "leaf.css").read_text(encoding="utf-8")
    return f"{look}{picture_style()}\n" if with_pictures else look


NO_CLAIMS = "<p>No claims were found on this page.</p>"

NotesOn = Mapping[str, Sequence[Note]]


def section_names(page: RunPage) -> dict[str, str]:
    """The id of each section on its page of the booklet, by the anchor that citations use."""
    anchors = dict.fromkeys(percent(claim.anchor, errors="replace") for claim in page.claims)
    return {anchor: f"section-{number}" for number, anchor in enumerate(anchors, start=1) if anchor}


def source_page_body(page: RunPage, pages: Sequence[RunPage], notes: NotesOn, address: Callable[[int], str]) -> str:
    """A page of the booklet about a source page; it links to the pages that its source links to."""
    edition = f", {escaped(catalogue_in(FALLBACK).locale.date(page.book.date))} edition" if page.book.date else ""
    lines = [
        f'<h1 dir="auto">{escaped(page.title)}</h1>',
        f'<p class="origin">A page from <cite dir="auto">{escaped(page.book_title)}</cite>{edition}.</p>',
        *_remarks(notes.get(str(page.source.ref), ())),
    ]
    lines += _claims(page, notes) if page.claims else [NO_CLAIMS]
    if page.links_to:
        links = ((address(index), pages[index - 1].title) for index in page.links_to)
        lines += ["<h2>Links to</h2>", "<ul>"]
        lines += [f'<li><a href="{escape(place)}" dir="auto">{escaped(title)}</a></li>' for place, title in links]
        lines.append("</ul>")
    # At the end, so that search snippets start with the page's content.
    return "\n".join([*lines, *_origin(page)])


def _origin(page: RunPage) -> Iterator[str]:
    source = page.source
    yield "<h2>Origin</h2>"
    yield f'<p class="origin">ZIM file {escaped(str(page.book.id))}, path {escaped(source.ref.path)}.</p>'
    if source.why:
        yield f'<p class="origin">Why it was read: {escaped(source.why)}</p>'
    if source.url.startswith(WEB_SCHEMES):
        place = percent(source.url, safe=SAFE, errors="replace")
        yield f'<p class="origin"><a href="{escape(place)}">Open the page</a></p>'


SAFE = ":/?#[]@!$&'()*+,;=%~"
"""Characters that have a meaning in a URL, or are escaped already."""


def _claims(page: RunPage, notes: NotesOn) -> Iterator[str]:
    names = section_names(page)
    lang = short_language_code(page.book.language)
    spoken = f' lang="{escape(lang)}" dir="auto"' if lang else ' dir="auto"'
    used: set[str] = set()
    seen: set[str] = set()
    for (section, anchor), claims in groupby(page.claims, key=lambda claim: (claim.section, claim.anchor)):
        name = names.get(percent(anchor, errors="replace"), "")
        named = f' id="{name}"' if name and name not in used else ""
        used.add(name)
        yield f"<h2{named}{spoken if section else ''}>{escaped(section) or INTRODUCTION.capitalize()}</h2>"
        for claim in claims:
            if claim.id not in seen:
                seen.add(claim.id)
                yield _claim(claim, spoken, notes.get(claim.id, ()))


def _claim(claim: Claim, spoken: str, notes: Sequence[Note]) -> str:
    quotes = [quote.text for quote in claim.quotes]
    lines = [f'<div class="claim" id="claim-{claim_hash(claim)}">']
    if claim.text not in quotes:
        lines.append(f"<p{spoken}>{escaped(claim.text)}</p>")
    lines.append(f"<blockquote{spoken}>{''.join(f'<p>{escaped(quote)}</p>' for quote in quotes)}</blockquote>")
    hedges = ", ".join(f"“{escaped(cue)}”" for cue in dict.fromkeys(hedge.cue for hedge in claim.hedges))
    held = f" Hedged by {hedges}." if hedges else ""
    lines.append(f'<p class="proof">{claim.type.capitalize()}.{held} {escaped(confidence_text(claim))}</p>')
    return "\n".join([*lines, *_remarks(notes), "</div>"])


def _remarks(notes: Sequence[Note]) -> Iterator[str]:
    for note in notes:
        yield f'<p class="remark"><strong>Note.</strong> {"<br/>".join(map(escaped, note_lines(note)))}</p>'


BRIEF = "brief"
NOTES = "notes"
SOURCES = "sources"
TOP_LEVEL = 2
# The tag "<p" of "<p>" or "<p class=…>", but not of "<pre>".
UNDIRECTED = re.compile(r'<(?:p|li|td|h3|div class="said")(?=[ >])')
"""Elements whose text a book may have written from right to left; in text itself '<' is always escaped."""


@dataclass(frozen=True, slots=True)
class BookletPage:
    """A page of the booklet: its name is part of its address, and its body is markup that is also XML."""

    name: str
    title: str
    body: str
    parts: tuple[tuple[str, str], ...] = ()
    """Anchors and headings within it, for a table of contents."""
    language: str = "en"


def booklet_pages(findings: RunFindings, suffix: str) -> Iterator[BookletPage]:
    """All pages in reading order; they link to each other by name and suffix."""
    sections = [section_names(page) for page in findings.pages]

    def address(number: int, anchor: str = "") -> str:
        name = anchor.replace(":", "-") if anchor.startswith(CLAIM_ANCHOR) else sections[number - 1].get(anchor, "")
        return f"{page_name(number)}{suffix}" + (f"#{name}" if name else "")

    document = brief_document(with_inner_links(findings.headed_brief), findings.picture_names, is_shared=True)
    body = html_links(blocks_in_html(document.blocks), address)
    language = short_language_code(document.language) or "en"
    yield BookletPage(
        BRIEF,
        title_line(findings.topic),
        f"<h1>{escaped(document.title)}</h1>\n{body}",
        _parts(document.blocks),
        language,
    )
    if findings.notes:
        body = _directed(blocks_in_html(_raised(note_blocks(findings, inside=True))))
        yield BookletPage(NOTES, HEADING, html_links(body, address))
    notes = findings.notes_by_target
    for page in findings.pages:
        yield BookletPage(
            page_name(page.number), title_line(page.title), source_page_body(page, findings.pages, notes, address)
        )
    yield BookletPage(SOURCES, "Sources", _sources(findings, suffix))


def page_name(number: int) -> str:
    return f"page-{number}"


def title_line(text: str) -> str:
    """A title in one line, never empty."""
    return one_line(text) or "Untitled"


def _directed(markup: str) -> str:
    """Markup in which each element has the direction of its own text."""
    return UNDIRECTED.sub(r'\g<0> dir="auto"', markup)


def _parts(blocks: tuple[Block, ...]) -> tuple[tuple[str, str], ...]:
    heads = [
        heading for heading in blocks if isinstance(heading, Heading) and heading.level == TOP_LEVEL and heading.anchor
    ]
    return tuple((head.anchor, title_line(plain_text(head.line))) for head in heads)


def _raised(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """A part of the brief as a separate page: its heading becomes the page's."""
    head, *rest = blocks
    assert isinstance(head, Heading)
    return (Heading(head.line, 1), *rest)


def _sources(findings: RunFindings, suffix: str) -> str:
    """Books and pages as they are cited; a page links to its page of the booklet."""
    found = cited_sources(findings)
    books = [source for source in found if not source.is_page]
    pages = [source for source in found if source.is_page]
    lines = ["<h1>Sources</h1>", "<h2>Books</h2>", "<ul>", *(f"<li>{_book(source)}</li>" for source in books), "</ul>"]
    if pages:
        lines += ["<h2>Pages</h2>", '<ol class="sources">']
        lines += [
            f"<li>{_page(number, cited_source, suffix)}</li>" for number, cited_source in enumerate(pages, start=1)
        ]
        lines += ["</ol>"]
    return "\n".join(lines) if books else lines[0] + "\n<p>No pages were read.</p>"


def _book(source: CitedSource) -> str:
    edition = f", {escaped(source.date)} edition" if source.date else ""
    return f'<cite dir="auto">{escaped(source.title)}</cite>{edition}. {escaped(source.note)}.'


def _page(number: int, source: CitedSource, suffix: str) -> str:
    edition = f" ({escaped(source.date)})" if source.date else ""
    return (
        f'<a href="{escape(page_name(number))}{suffix}" dir="auto">{escaped(source.title)}</a>. '
        f'In: <cite dir="auto">{escaped(source.book_title)}</cite>{edition}. {escaped(source.note)}.'
    )
