"""A run as a small book: the brief, a leaf for each page that was read with its quotes, the notes and the sources."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from kiwiresearch.brief.document import Block, Heading
from kiwiresearch.brief.html import blocks_in_html, escaped
from kiwiresearch.brief.report import report
from kiwiresearch.research.export.citations import Cited, cited
from kiwiresearch.research.export.findings import Findings
from kiwiresearch.research.export.inside import CLAIM, html_links, led_inside
from kiwiresearch.research.export.page_leaf import language_of, page_body, section_names
from kiwiresearch.research.export.remarks import HEADING, remarks
from kiwiresearch.text.plain import printable

BRIEF = "brief"
NOTES = "notes"
SOURCES = "sources"
TOP_LEVEL = 2
UNDIRECTED = re.compile(r'<(?:p|li|td|h3|div class="said")(?=[ >])')
"""Parts of a text that a book may have written from right to left; a sign of its own is always escaped."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A page of the book: its name is part of its address, and its body is markup that is also XML."""

    name: str
    title: str
    body: str
    parts: tuple[tuple[str, str], ...] = ()
    """Anchors and headings within it, for a table of contents."""
    language: str = "en"


def leaves(findings: Findings, suffix: str) -> Iterator[Leaf]:
    """All leaves in reading order; they link to each other by name and suffix."""
    sections = [section_names(page) for page in findings.pages]

    def address(number: int, anchor: str = "") -> str:
        name = anchor.replace(":", "-") if anchor.startswith(CLAIM) else sections[number - 1].get(anchor, "")
        return f"{page_name(number)}{suffix}" + (f"#{name}" if name else "")

    document = report(led_inside(findings.brief), findings.picture_names)
    body = html_links(blocks_in_html(document.blocks), address)
    language = language_of(document.language) or "en"
    yield Leaf(
        BRIEF,
        one_line(findings.topic),
        f"<h1>{escaped(document.title)}</h1>\n{body}",
        _parts(document.blocks),
        language,
    )
    if findings.notes:
        body = _directed(blocks_in_html(_raised(remarks(findings, inside=True))))
        yield Leaf(NOTES, HEADING, html_links(body, address))
    notes = findings.notes_on_claims
    for page in findings.pages:
        yield Leaf(page_name(page.number), one_line(page.title), page_body(page, findings.pages, notes, address))
    yield Leaf(SOURCES, "Sources", _sources(findings, suffix))


def page_name(number: int) -> str:
    return f"page-{number}"


def one_line(text: str) -> str:
    """A title of one line, never empty."""
    return " ".join(printable(text).split()) or "Untitled"


def _directed(markup: str) -> str:
    """Markup in which each part of the text runs in the direction of its own letters."""
    return UNDIRECTED.sub(r'\g<0> dir="auto"', markup)


def _parts(blocks: tuple[Block, ...]) -> tuple[tuple[str, str], ...]:
    heads = [one for one in blocks if isinstance(one, Heading) and one.level == TOP_LEVEL and one.anchor]
    return tuple((head.anchor, one_line(head.text)) for head in heads)


def _raised(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The part as a page of its own: its heading is the first of the page."""
    head, *rest = blocks
    assert isinstance(head, Heading)
    return (Heading(head.text, 1), *rest)


def _sources(findings: Findings, suffix: str) -> str:
    """Books and pages as they are cited; a page by its leaf."""
    found = cited(findings)
    books = [one for one in found if not one.is_page]
    pages = [one for one in found if one.is_page]
    lines = ["<h1>Sources</h1>", "<h2>Books</h2>", "<ul>", *(f"<li>{_book(one)}</li>" for one in books), "</ul>"]
    if pages:
        lines += ["<h2>Pages</h2>", '<ol class="sources">']
        lines += [f"<li>{_page(number, one, suffix)}</li>" for number, one in enumerate(pages, start=1)]
        lines += ["</ol>"]
    return "\n".join(lines) if books else lines[0] + "\n<p>No page was read.</p>"


def _book(one: Cited) -> str:
    edition = f", edition of {escaped(one.date)}" if one.date else ""
    return f'<cite dir="auto">{escaped(one.title)}</cite>{edition}. {escaped(one.note)}.'


def _page(number: int, one: Cited, suffix: str) -> str:
    edition = f" ({escaped(one.date)})" if one.date else ""
    return (
        f'<a href="{escape(page_name(number))}{suffix}" dir="auto">{escaped(one.title)}</a>. '
        f'In: <cite dir="auto">{escaped(one.book_title)}</cite>{edition}. {escaped(one.note)}.'
    )
