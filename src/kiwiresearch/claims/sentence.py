"""The sentences of a page that may be claims, with what belongs to each of them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from kiwiresearch.page.doc import BlockKind, Link, Mark, PageDoc
from kiwiresearch.text.languages import words_of

PROSE: frozenset[BlockKind] = frozenset({"paragraph", "item", "quote"})
BEHIND = 1
"""A reference mark stands at the end of its sentence, or right behind it."""


class Sentence(NamedTuple):
    """A sentence of a page: `page.text[start:end] == text`."""

    text: str
    start: int
    end: int
    kind: BlockKind
    section: int
    block: int
    is_clause: bool = False
    """Whether it is a part of a sentence, behind a semicolon."""


def sentences_of(page: PageDoc) -> Iterator[Sentence]:
    """The sentences of paragraphs, items and quotations, without those of reference lists and pointers elsewhere."""
    skipped = _aside(page)
    starts, text = page.sentences, page.text
    section, last = 0, len(page.sections) - 1
    end_of_article = page.sections[-1].end
    for number, block in enumerate(page.blocks):
        if block.kind not in PROSE or block.start >= end_of_article:
            continue
        while section < last and page.sections[section + 1].heading_start <= block.start:
            section += 1
        if section in skipped:
            continue
        first = bisect_right(starts, block.start)
        inside = starts[first : bisect_left(starts, block.end, first)]
        begin = block.start
        for end in (*inside, block.end):
            for start, stop in _clauses(text, begin, end):
                words = text[start:stop]
                stripped = words.strip()
                if stripped:
                    at = start + len(words) - len(words.lstrip())
                    yield Sentence(stripped, at, at + len(stripped), block.kind, section, number, start > begin)
            begin = end


def _clauses(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A long sentence in the parts that semicolons make of it, if each of them is long enough to say something."""
    if end - start > LONG and text.find("; ", start, end) >= 0:
        cuts = [found.start() + 1 for found in SEMICOLON.finditer(text, start, end)]
        ends = [*cuts, end]
        starts = [start, *cuts]
        pieces = list(zip(starts, ends, strict=True))
        if all(stop - begin >= SHORT for begin, stop in pieces) and not any(
            text.count("(", begin, stop) != text.count(")", begin, stop) or text.count('"', begin, stop) % 2
            for begin, stop in pieces
        ):
            yield from pieces
            return
    yield start, end


SEMICOLON = re.compile(
    r"; (?=(?:the|an?|it|he|she|they|in|on|at|by|his|her|its|their|some|many|most|one|this|however)\b|[A-Z])"
)
LONG, SHORT = 170, 45


def _aside(page: PageDoc) -> frozenset[int]:
    """Sections that point elsewhere instead of saying something."""
    words = words_of(page.language)
    aside = words.see_also | words.references
    return frozenset(n for n, section in enumerate(page.sections) if section.heading.casefold() in aside)


class Margin:
    """What stands in and beside a page's sentences: links and marks."""

    def __init__(self, page: PageDoc) -> None:
        self._links = sorted((link for link in page.links if link.in_text), key=lambda link: link.start)
        self._link_starts = [link.start for link in self._links]
        self._marks = page.marks
        self._mark_offsets = [mark.offset for mark in page.marks]

    def links(self, start: int, end: int) -> list[Link]:
        return self._links[bisect_left(self._link_starts, start) : bisect_left(self._link_starts, end)]

    def marks(self, start: int, end: int) -> tuple[Mark, ...]:
        """The marks in a sentence and right behind it."""
        first = bisect_right(self._mark_offsets, start)
        return self._marks[first : bisect_right(self._mark_offsets, end + BEHIND)]
