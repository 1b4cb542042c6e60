"""Quotes, which are spans of a page's text, and citations, which say where to look them up."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple, Protocol
from urllib.parse import quote as percent

from kiwiresearch.errors import QuoteNotFound
from kiwiresearch.page import PageDoc, Section
from kiwiresearch.text import numbers_and_compounds
from kiwiresearch.zim import EntryRef


class HasText(Protocol):
    """Anything with the text of a page: the page itself, or its copy in a run."""

    @property
    def text(self) -> str: ...


class Quote(NamedTuple):
    """Words of a page and their place: `page.text[start:end] == text`.

    Only `ground`, `quote_at` and `recorded_quote` make one, and `is_on_page` checks one that is from a record.
    """

    ref: EntryRef
    start: int
    end: int
    text: str

    @property
    def sha(self) -> str:
        """A short hash of the words, tagged with its algorithm."""
        return "sha256:" + sha256(self.text.encode("utf-8", "replace")).hexdigest()[:16]


def quote_at(page: PageDoc, start: int, end: int) -> Quote:
    """The words at a place of the page, without surrounding white space."""
    words = page.text[start:end]
    start += len(words) - len(words.lstrip())
    words = words.strip()
    if not words:
        raise QuoteNotFound(
            f"The page {page.title!r} has no text from character {start} to {end}.", remedy="Choose a part with text."
        )
    return Quote(page.ref, start, start + len(words), words)


def ground(words: str, page: PageDoc, *, within: tuple[int, int] | None = None) -> Quote:
    """Find `words` in the page, or in a part of it, and return them as the page spells them.

    White space may differ, but nothing else: a model that corrects the spelling
    of a quote has changed the evidence.
    """
    start, end = within or (0, len(page.text))
    parts = words.split()
    if parts:
        # Complete words only: a page that says 'killed 1200' does not say 'killed 12'.
        before = r"(?<!\w)" if parts[0][0].isalnum() else ""
        after = r"(?!\w|[.,]\d)" if parts[-1][-1].isalnum() else ""
        pattern = re.compile(before + r"\s+".join(map(re.escape, parts)) + after)
        is_date = DATE.fullmatch(" ".join(parts)) is not None
        while found := pattern.search(page.text, start, end):
            if is_date or not any(_is_inside_number(page, edge) for edge in found.span()):
                return quote_at(page, *found.span())
            start = found.start() + 1
    raise QuoteNotFound(f"The page {page.title!r} does not say {words[:80]!r}.", remedy="Quote the page exactly.")


# A date may be quoted without the rest of its range: '1809' and '19 April 1882' of '(1809 – 19 April 1882)'.
DATE = re.compile(r"(?:\d{1,2}\.? )?(?:[^\W\d_]+\.? )?(?:\d{1,2}, )?\d{4}")
MAX_NUMBER_CHARS = 40
"""How far from the edge of a quote a number or compound is looked for."""


def _is_inside_number(page: PageDoc, edge: int) -> bool:
    """Whether a quote that begins or ends here cuts a number or compound in two: '1,|200', '-|5', 'non-|toxic'."""
    first, last = max(edge - MAX_NUMBER_CHARS, 0), edge + MAX_NUMBER_CHARS
    near = numbers_and_compounds(page.language).finditer(page.text, first, last)
    return any(found.start() < edge < found.end() for found in near)


def recorded_quote(ref: EntryRef, start: int, end: int, text: str) -> Quote:
    """A quote from a record; `kiwiresearch verify` checks whether the page has it there."""
    return Quote(ref, start, end, text)


def is_on_page(quote: Quote, page: HasText) -> bool:
    """Whether the page has the words of the quote at that place."""
    # Anything in a record may be wrong, so place and length are checked as well as the words.
    has_place = 0 <= quote.start < quote.end == quote.start + len(quote.text)
    return has_place and page.text.startswith(quote.text, quote.start)


PageAddress = Callable[[EntryRef], str]
"""The URL of a page: in the web interface, on a kiwix-serve, or by the UUID of its book."""

INFOBOX = "infobox"
INTRODUCTION = "introduction"
MAX_FRAGMENT_CHARS = 60
EDGE_WORDS = 4


class SectionPlace(NamedTuple):
    """A section of a page; its name is empty in the introduction."""

    section: str
    anchor: str


def place_of(page: PageDoc, offset: int) -> SectionPlace:
    """The section of an offset; the text of infoboxes follows that of the article."""
    if page.is_in_infobox(offset):
        return SectionPlace(INFOBOX, "")
    section = section_at(page.sections, offset)
    return SectionPlace(section.heading, section.anchor)


def section_at(sections: tuple[Section, ...], offset: int) -> Section:
    return sections[max(bisect_right(sections, offset, key=lambda section: section.heading_start) - 1, 0)]


class Citation(NamedTuple):
    """A quote with everything needed to find it again, in this book or another edition."""

    quote: Quote
    book_name: str
    title: str
    section: str
    anchor: str

    @property
    def words(self) -> str:
        """The citation as readers see it: Bronze Age collapse — “Theories” section."""
        return citation_words(self.title, self.section)

    def url(self, address: PageAddress, *, highlight: bool = False) -> str:
        """The page at its section; with `highlight` also the words, for browsers that show them."""
        url = address(self.quote.ref)
        fragment = percent(self.anchor, errors="replace") if self.anchor else ""
        # Only browsers read text fragments; in a 'zim://' address it would be taken for an anchor.
        if highlight and url.startswith("http"):
            fragment += ":~:text=" + _fragment(self.quote.text)
        return f"{url}#{fragment}" if fragment else url


def citation_words(title: str, section: str) -> str:
    if not section:
        return f"{title} — {INTRODUCTION}"
    return f"{title} — {section}" if section.startswith(INFOBOX) else f"{title} — “{section}” section"


def _fragment(text: str) -> str:
    """The text fragment of a URL: all of a short quote, the first and last words of a long one."""
    words = " ".join(text.split())
    if len(words) <= MAX_FRAGMENT_CHARS:
        return _escaped(words)
    parts = words.split()
    # With fewer words, the first and the last ones would overlap.
    if len(parts) < 2 * EDGE_WORDS:
        return _escaped(words)
    return f"{_escaped(' '.join(parts[:EDGE_WORDS]))},{_escaped(' '.join(parts[-EDGE_WORDS:]))}"


def _escaped(text: str) -> str:
    # In a text fragment an unescaped hyphen marks a prefix or suffix.
    return percent(text, safe="", errors="replace").replace("-", "%2D")
