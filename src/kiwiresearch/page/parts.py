"""Which part of a page is the article, which is around it, and what its footer says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape

from kiwiresearch.page.cuts import ROOTS
from kiwiresearch.page.doc import Provenance

FOOTER_LINK = re.compile(r'<a\s[^>]*href="([^"]*[?;&]oldid=(\d+)[^"]*)"[^>]*>')
LINK_TITLE = re.compile(r'\stitle="([^"]*)"')
ISO_DATE = re.compile(r"\b(\d{4}-\d{2}-\d{2})\b")
LONG_DATE = re.compile(r"\b([A-Z][a-z]+)\s+(\d{1,2}),\s+(\d{4})\b")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December")  # fmt: skip
LONGEST_FOOTER = 8_000


@dataclass(frozen=True, slots=True)
class Parts:
    """A page's markup: the article's, and that of menus and frames around it."""

    article: str
    around: str
    provenance: Provenance


def take_apart(markup: str) -> Parts:
    """Find the article in a page's markup."""
    provenance = Provenance()
    if markup.find("oldid=", max(len(markup) - LONGEST_FOOTER, 0)) >= 0:
        markup, provenance = _without_footer(markup)
    root = _root_of(markup)
    if root is None:
        return Parts(markup, "", provenance)
    start, end = root
    return Parts(markup[start:end], markup[:start] + markup[end:], provenance)


TAG_NAME = re.compile(r"<(\w+)")


def _root_of(markup: str) -> tuple[int, int] | None:
    """Where the element starts and ends that holds the article: the most telling of those nested there."""
    for sign in ROOT_SIGNS:
        place = markup.find(sign)
        if place >= 0:
            start = markup.rfind("<", 0, place + 1)
            name = TAG_NAME.match(markup, start)
            if name and markup.find(">", start) >= place:
                return start, _end_of(name[1], markup, start)
    return None


ROOT_SIGNS = (*(f' id="{name}"' for name in ROOTS), "<main")


def _end_of(name: str, markup: str, start: int) -> int:
    """Where the element ends that starts here; the parser has closed every one."""
    opening, closing = f"<{name}", f"</{name}>"
    depth, at = 1, markup.find(closing, start)
    inner = markup.find(opening, start + 1)
    while at >= 0:
        while 0 <= inner < at:
            depth += 1
            inner = markup.find(opening, inner + 1)
        depth -= 1
        if not depth:
            return at + len(closing)
        at = markup.find(closing, at + 1)
    return len(markup)


def _without_footer(markup: str) -> tuple[str, Provenance]:
    """Kiwix's scraper ends each page with a division that links to the revision it took."""
    links = list(FOOTER_LINK.finditer(markup, max(len(markup) - LONGEST_FOOTER, 0)))
    found = links[-1] if links else None
    if found is None or "://" not in found[1]:
        return markup, Provenance()
    start = markup.rfind("<div", 0, found.start())
    end = markup.find("</div>", found.end())
    footer = markup[start:end] if 0 <= start < end else ""
    title = LINK_TITLE.search(found[0])
    edited = _date(title[1] if title else "") or _date(footer)
    provenance = Provenance(int(found[2]), edited, unescape(found[1]))
    if footer and len(footer) < LONGEST_FOOTER and "<h" not in footer and "<p" not in footer:
        markup = markup[:start] + markup[end + len("</div>") :]
    return markup, provenance


def _date(text: str) -> str:
    if found := ISO_DATE.search(text):
        return found[1]
    if (written := LONG_DATE.search(text)) and written[1] in MONTHS:
        return f"{written[3]}-{MONTHS.index(written[1]) + 1:02d}-{int(written[2]):02d}"
    return ""
