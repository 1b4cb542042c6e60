"""The one meaning of "the page says so": a quote is a span of a page's text, found, not asserted."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import NamedTuple

from kiwiresearch.errors import QuoteNotFound
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.zim.entry import EntryRef


class Quote(NamedTuple):
    """Words of a page and where they stand: `page.text[start:end] == text`.

    Only `ground`, `span` and `of_record` make one, and what comes from a record is checked by `holds`.
    """

    ref: EntryRef
    start: int
    end: int
    text: str

    @property
    def sha(self) -> str:
        """A short hash of the words, tagged with its algorithm."""
        return "sha256:" + sha256(self.text.encode("utf-8", "replace")).hexdigest()[:16]


def span(page: PageDoc, start: int, end: int) -> Quote:
    """The words at a place of the page, without white space around them."""
    words = page.text[start:end]
    start += len(words) - len(words.lstrip())
    words = words.strip()
    if not words:
        raise QuoteNotFound(f"There are no words at {start} to {end} of {page.title!r}.", remedy="Quote something.")
    return Quote(page.ref, start, start + len(words), words)


def ground(words: str, page: PageDoc, *, within: tuple[int, int] | None = None) -> Quote:
    """Find `words` in the page, or in a part of it, and return them as the page spells them.

    White space may differ, nothing else may: a model that mends a quote's
    spelling has changed the evidence.
    """
    start, end = within or (0, len(page.text))
    parts = words.split()
    if parts:
        # Whole words only: 'killed 12' is not what a page says that says 'killed 1200'.
        before = r"(?<!\w)" if parts[0][0].isalnum() else ""
        behind = r"(?!\w|[.,]\d)" if parts[-1][-1].isalnum() else ""
        pattern = before + r"\s+".join(map(re.escape, parts)) + behind
        found = re.compile(pattern).search(page.text, start, end)
        if found:
            return span(page, *found.span())
    raise QuoteNotFound(
        f"The page {page.title!r} does not say {words[:80]!r}.", remedy="Quote the page letter by letter."
    )


def of_record(ref: EntryRef, start: int, end: int, text: str) -> Quote:
    """A quote as a run has written it down; whether it is one, `holds` tells."""
    return Quote(ref, start, end, text)


def holds(quote: Quote, page: PageDoc) -> bool:
    """Whether the page says at that place what the quote says."""
    size = len(quote.text)
    return size > 0 <= quote.start and quote.end - quote.start == size and page.text.startswith(quote.text, quote.start)
