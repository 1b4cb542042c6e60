"""What a page is and where it leads, as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256

from kiwiresearch.bulk.tables import Row
from kiwiresearch.page.doc import Link, PageDoc

LONGEST_LEAD = 500

Resolving = Callable[[str], str]
"""Where a path of the book leads after redirects; empty if the book lacks it."""


def page_row(page: PageDoc) -> Row:
    """What `pages` tells of a page, behind its entry and path."""
    signals = page.signals
    return (
        page.title,
        kind_of(page),
        len(page.text),
        len(page.text.split()),
        len(page.sections) - 1,
        signals.references,
        len(page.links),
        bool(page.infoboxes),
        signals.stub.holds,
        signals.disputed.holds,
        sum(mark.kind == "citation needed" for mark in page.marks),
        lead_of(page),
        "sha256:" + sha256(page.text.encode("utf-8", "replace")).hexdigest()[:32],
    )


def kind_of(page: PageDoc) -> str:
    if page.redirect:
        return "redirect"
    if page.signals.disambiguation.holds:
        return "disambiguation"
    return "list" if page.signals.list_page.holds else "article"


def lead_of(page: PageDoc) -> str:
    """The first whole sentences of running text that fit; the beginning of the first if not even that one does."""
    paragraphs = [block for block in page.blocks if block.kind == "paragraph"]
    if not paragraphs:
        return ""
    start = paragraphs[0].start
    section = max(number for number, one in enumerate(page.sections) if one.heading_start <= start)
    stop = min(start + LONGEST_LEAD, page.sections[section].end)
    ends = [block.end for block in paragraphs] + list(page.sentences)
    end = max((at for at in ends if start < at <= stop), default=stop)
    return " ".join(page.text[start:end].split())


def link_rows(page: PageDoc, resolve: Resolving) -> Iterator[Row]:
    """One row for each page that this one leads to, in the order in which it first does; never for itself."""
    found: dict[str, list[Link]] = {}
    ends: dict[str, str] = {}
    for link in page.links:
        if link.target not in ends:
            ends[link.target] = resolve(link.target)
        end = ends[link.target]
        if end != page.ref.path:
            found.setdefault(end or f"\0{link.target}", []).append(link)
    for number, (end, links) in enumerate(found.items()):
        first = links[0]
        section = page.sections[first.section].heading
        target = "" if end.startswith("\0") else end
        yield number, target, first.target_title, section, first.place, len(links)
