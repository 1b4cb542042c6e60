"""From an entry of a book, or a plain text, to a PageDoc."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from html import escape, unescape

from kiwiresearch.errors import RedirectLoop
from kiwiresearch.ids import BookId, page_id
from kiwiresearch.page.doc import Block, Cell, Infobox, InfoboxRow, Link, LinkPlace, Mark, PageDoc, PageTable, Section
from kiwiresearch.page.elements import CutGroup
from kiwiresearch.page.flow import read_markup
from kiwiresearch.page.html import bounded_entry, regular_markup, split_page, title_in
from kiwiresearch.page.side_content import (
    MAX_BOX_DEPTH,
    FlowResult,
    OuterLink,
    categories_in,
    outer_links,
    page_signals,
)
from kiwiresearch.text import LanguageWords, language_words, sentence_starts
from kiwiresearch.zim import MAX_HOPS, Archive, Entry, EntryRef, Target, resolve_href, title_of_path

MAX_LABEL_CHARS = 60


def read_infobox(box: FlowResult, links: list[Link], text: str, offset: int) -> Infobox:
    """Read an infobox into rows; `offset` is where its text starts in the page's text."""
    rows: list[InfoboxRow] = []
    title = group = ""
    in_text = sorted((link for link in links if link.in_text), key=lambda link: link.start)
    starts = [link.start for link in in_text]
    for table in sorted(box.tables, key=lambda table: table.rows[0][0].start):
        title = title or table.caption
        for cells in table.rows:
            filled = [
                Cell(cell.start + offset, cell.end + offset, cell.is_header) for cell in cells if cell.end > cell.start
            ]
            # A row with one cell is the title of the box if it comes first, and else a heading if it is marked as one.
            if len(filled) == 1:
                line = text[filled[0].start : filled[0].end].partition("\n")[0]
                if not rows and not title:
                    title = line
                elif filled[0].is_header:
                    group = line
            row = _infobox_row(filled, group, in_text, starts, text)
            if row:
                rows.append(row)
    rows.sort(key=lambda row: row.start)
    return Infobox(title, offset, offset + len(box.text), tuple(rows))


def _infobox_row(cells: list[Cell], group: str, links: list[Link], starts: list[int], text: str) -> InfoboxRow | None:
    if len(cells) < 2:
        return None
    label, start, end = cells[0], cells[1].start, cells[-1].end
    key = text[label.start : label.end].rstrip(":").strip()
    if "\n" in key or len(key) > MAX_LABEL_CHARS or not key:
        return None
    inside = links[bisect_left(starts, start) : bisect_left(starts, end)]
    return InfoboxRow(key.strip("•· "), text[start:end], group, start, end, tuple(inside))


MAX_CELL_CHARS = 160
"""A single-cell row longer than this is a paragraph in a layout table."""

# 'Paris' or 'Albert_Einstein', which lead where they say; not 'A/Paris', 'a.html' or '#top'.
PLAIN_HREF = re.compile(r"[^#%?:&/.\s]+")
PLACES: dict[str, LinkPlace] = {"row": "table", "item": "list", "caption": "caption"}


def read_page(entry: Entry, *, language: str = "eng", url: str = "", lead_only: bool = False) -> PageDoc:
    """Read an entry. Never raises, whatever the bytes are.

    `language` (ISO 639-3) selects the vocabulary by which kinds of pages are
    recognized; `lead_only` says that the book contains introductions only, so
    that a short page is not a stub.
    """
    words = language_words(language)
    entry = bounded_entry(entry)
    markup = regular_markup(entry.content if entry.is_html else _as_html(entry))
    parts = split_page(markup.body)
    body = read_markup(parts.article, words)
    base = entry.ref.path
    title = entry.title or title_in(entry.content) or title_of_path(base)
    boxes = _read_infoboxes(body, words)
    text, offsets = _joined(body.text, [box.text for box in boxes])
    sections = _sections(body)
    breaks = [block.start for block in body.blocks]
    for box, offset in zip(boxes, offsets, strict=True):
        breaks += [block.start + offset for block in box.blocks]
    sentences = sentence_starts(text, breaks, language)
    targets = _Targets(base)
    links = _links(body, text, sentences, targets, sections, words)
    infoboxes: list[Infobox] = []
    for box, offset in zip(boxes, offsets, strict=True):
        inside = _links(box, text, sentences, targets, offset=offset)
        links.extend(inside)
        infoboxes.append(read_infobox(box, inside, text, offset))
    links.extend(_outer_links([*body.outer_links, *(o for box in boxes for o in box.outer_links)], targets))
    links.extend(_outer_links(outer_links(parts.around, "navigation"), targets))
    marks = tuple(
        Mark(kind, place + offset)
        for found, offset in ((body, 0), *zip(boxes, offsets, strict=True))
        for kind, place in found.marks
    )
    blocks = tuple(
        Block("paragraph", b.start, b.end)
        if b.kind == "row" and b.end - b.start > MAX_CELL_CHARS and "\t" not in text[b.start : b.end]
        else b
        for b in body.blocks
    )
    redirect = resolve_href(base, markup.refresh) if markup.refresh else None
    return PageDoc(
        ref=entry.ref,
        id=page_id(title),
        title=title,
        url=url or str(entry.ref),
        language=language,
        text=text,
        sections=_with_reference_counts(sections, marks),
        blocks=blocks,
        sentences=tuple(sentences),
        links=tuple(links),
        infoboxes=tuple(infoboxes),
        tables=tuple(PageTable(table.section, table.caption, tuple(map(tuple, table.rows))) for table in body.tables),
        marks=marks,
        categories=tuple(dict.fromkeys(body.categories or categories_in(parts.around))),
        hatnotes=tuple(body.hatnotes),
        signals=page_signals(
            body,
            title=title,
            sections=sections,
            blocks=blocks,
            marks=marks,
            words=words,
            lead_only=lead_only,
        ),
        provenance=parts.provenance,
        redirect=redirect.path if redirect and redirect.path != base else "",
        is_cut=entry.is_cut,
    )


def open_page(archive: Archive, path: str) -> PageDoc:
    """Read the page at a path, following pages that only redirect by a <meta> refresh."""
    book = archive.book
    seen: list[str] = []
    while True:
        entry = archive.read(path)
        url = archive.url(entry.ref.path)
        page = read_page(entry, language=book.language or "eng", url=url, lead_only=book.lead_only)
        if not page.redirect:
            return page
        seen.append(entry.ref.path)
        # Redirects by <meta> are pages to the archive, which cannot see these loops itself.
        if page.redirect in seen or len(seen) > MAX_HOPS:
            raise RedirectLoop(f"The page {path!r} of {book.title!r} redirects in a loop.")
        target = archive.resolve(page.redirect)
        if target is None:
            return page
        path = target


def _as_html(entry: Entry) -> bytes:
    """Plain text becomes one block; other content becomes empty."""
    if not entry.mimetype.startswith("text/"):
        return b""
    text = entry.content.decode("utf-8", "replace")
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    return f"<body><pre>{escaped}</pre></body>".encode()


def _read_infoboxes(body: FlowResult, words: LanguageWords) -> list[FlowResult]:
    """Read the infoboxes of a page; they may be nested, up to a limit."""
    boxes: list[FlowResult] = []
    waiting = [(markup, 1) for markup in body.infoboxes]
    while waiting:
        markup, depth = waiting.pop(0)
        # Without its class a box is read as text, which ends the nesting.
        box = read_markup(markup if depth < MAX_BOX_DEPTH else BOX_CLASS.sub("", markup), words)
        waiting = [*((inner, depth + 1) for inner in box.infoboxes), *waiting]
        if box.text or box.links:
            boxes.append(box)
    return boxes


BOX_CLASS = re.compile(r'class="[^"]*infobox[^"]*"')


def _joined(article: str, boxes: list[str]) -> tuple[str, list[int]]:
    """The article followed by its boxes, with the offset at which each box starts."""
    pieces, offsets, length = [article], [], len(article)
    for box in boxes:
        separator = "\n\n" if length and box else ""
        pieces += [separator, box]
        length += len(separator)
        offsets.append(length)
        length += len(box)
    return "".join(pieces), offsets


def _sections(body: FlowResult) -> list[Section]:
    text = body.text
    end = len(text)
    next_starts = [*(heading.start for heading in body.headings), end]
    sections = [Section("", 1, "", 0, 0, next_starts[0], 0)]
    for heading, next_start in zip(body.headings, next_starts[1:], strict=True):
        # The text ends before the white space that ends it, and a heading in a <pre> may end with some.
        start = _skip_whitespace(text, min(heading.end, next_start), next_start)
        name = text[heading.start : heading.end].strip()
        heading_start = _skip_whitespace(text, heading.start, heading.end)
        sections.append(Section(name, heading.level, unescape(heading.anchor), heading_start, start, next_start, 0))
    return sections


def _skip_whitespace(text: str, start: int, end: int) -> int:
    while start < end and text[start] in " \t\n":
        start += 1
    return start


def _with_reference_counts(sections: list[Section], marks: tuple[Mark, ...]) -> tuple[Section, ...]:
    if not marks:
        return tuple(sections)
    starts = [section.heading_start for section in sections]
    counts = [0] * len(sections)
    last = sections[-1].end
    for mark in marks:
        if mark.kind == "reference" and mark.offset <= last:
            counts[bisect_right(starts, mark.offset) - 1] += 1
    return tuple(section._replace(references=count) for section, count in zip(sections, counts, strict=True))


class _Targets:
    """Where the links of one page lead; cached, since most occur more than once."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._folder = base.rpartition("/")[0]
        self._targets: dict[str, Target | None] = {}

    def find(self, href: str) -> Target | None:
        if href in self._targets:
            return self._targets[href]
        if not self._folder and PLAIN_HREF.fullmatch(href):
            target: Target | None = Target(href) if href != self._base else None
        else:
            target = resolve_href(self._base, unescape(href))
            if target and target.path == self._base:
                target = None
        self._targets[href] = target
        return target


def _links(
    found: FlowResult,
    text: str,
    sentences: list[int],
    targets: _Targets,
    sections: Sequence[Section] = (),
    words: LanguageWords | None = None,
    offset: int = 0,
) -> list[Link]:
    """The links in the text of the article, or without `sections` of an infobox, which starts at `offset`."""
    see_also = {n for n, section in enumerate(sections) if words and section.heading.casefold() in words.see_also}
    links: list[Link] = []
    new = tuple.__new__  # skips the Python-level constructor of a named tuple, since there are many links
    place: LinkPlace = "infobox"
    for href, start, end, section, kind in found.links:
        target = targets.find(href)
        if target is None:
            continue
        if sections:
            section = min(section, len(sections) - 1)
            place = "see also" if section in see_also else PLACES.get(kind, "body" if section else "lead")
        else:
            section = 0
        if start == end:  # a linked picture
            links.append(Link(target.path, target.anchor, "", place, section))
            continue
        start, end = start + offset, end + offset
        sentence = _sentence_around(sentences, text, start, end)
        links.append(new(Link, (target.path, target.anchor, text[start:end], place, section, start, end, *sentence)))
    return links


def _sentence_around(sentences: list[int], text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence that contains a span; a full stop inside the span, as in 'Vol. 2', does not end it."""
    number = bisect_right(sentences, start)
    next_number = number
    while next_number < len(sentences) and sentences[next_number] < end:
        next_number += 1
    stop = sentences[next_number] if next_number < len(sentences) else len(text)
    while text[stop - 1] in " \t\n" and stop > end:
        stop -= 1
    return sentences[number - 1], stop


def _outer_links(outer: Iterable[OuterLink], targets: _Targets) -> Iterator[Link]:
    for link in outer:
        target = targets.find(link.href)
        if target is not None:
            yield Link(target.path, target.anchor, link.text, OUTER_PLACES[link.group], 0)


OUTER_PLACES: dict[CutGroup, LinkPlace] = {
    "hidden": "hidden", "hatnote": "hatnote", "references": "references", "note": "note", "editor mark": "note",
    "reference mark": "references", "title": "navigation", "machinery": "navigation", "navigation": "navigation",
    "infobox": "infobox", "categories": "categories",
}  # fmt: skip


UNTITLED = "The text"
BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


def page_from_text(text: str, title: str = "", language: str = "eng") -> PageDoc:
    """Make a page of a plain text; a blank line ends a paragraph."""
    name = " ".join(title.split()) or UNTITLED
    paragraphs = BLANK_LINE.split(text.replace("\r\n", "\n").replace("\r", "\n"))
    html = "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs if paragraph.strip())
    content = f"<html><body>{html}</body></html>".encode("utf-8", "replace")
    return read_page(Entry(EntryRef(BookId(""), name), name, "text/html", content), language=language)
