"""Quotes with a number that can hurt, widened until its unit, its substance and whom it is for are in them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from kiwiresearch.ask.danger import DangerTable, danger_table
from kiwiresearch.page.doc import Block
from kiwiresearch.text.words import level

FIGURE = re.compile(r"\d")
MOST_SENTENCES = 2
"""So many sentences at most are added on each side."""

SHORT_LINE = 300
"""Where nothing is known about blocks, a line up to this length may be a list item and is kept whole."""

LONGEST_TABLE = 1_200
"""Up to this length, rows from the head of the table on are kept, since units often stand there only."""


def with_context(
    text: str,
    start: int,
    end: int,
    sentence_starts: Sequence[int],
    blocks: Sequence[Block] = (),
    language: str = "eng",
) -> tuple[int, int]:
    """The span that should be shown for `text[start:end]`; it always holds the span itself.

    It is made of whole sentences, and of whole list items and rows. Neighbours in the same
    paragraph join where only they tell the unit, the substance or the people a number is for.
    """
    start = max(0, min(start, len(text)))
    end = max(start, min(end, len(text)))
    page = _Lines(text, sentence_starts, blocks, danger_table(language))
    first, last = page.whole(start, end)
    if page.is_listed(first, last):
        return page.with_head(first, last)
    return page.with_neighbours(first, last)


@dataclass(frozen=True, slots=True)
class _Lines:
    """A text with its sentences; blocks stand on lines of their own, cells of a row have tabs between."""

    text: str
    starts: Sequence[int]
    blocks: Sequence[Block]
    table: DangerTable

    def whole(self, start: int, end: int) -> tuple[int, int]:
        """The sentences, items and rows that a span touches."""
        first, last = self._sentence(start)[0], self._sentence(max(start, end - 1))[1]
        if self._is_item(self._line(first)):
            first = self._line(first)[0]
        if self._is_item(self._line(max(first, last - 1))):
            last = self._line(max(first, last - 1))[1]
        return min(first, start), max(last, end)

    def is_listed(self, first: int, last: int) -> bool:
        return self._is_item(self._line(first)) or self._is_item(self._line(max(first, last - 1)))

    def with_head(self, first: int, last: int) -> tuple[int, int]:
        """An item or row with the words above the list that its own words rest on."""
        if self._has("units", first, last) and self._has("groups", first, last):
            return first, last
        head = first
        while head > 0 and last - head < LONGEST_TABLE:
            line = self._line(head - 1)
            above = self.text[line[0] : line[1]].strip()
            if not above or not (self._is_item(line) or above.endswith(":")):
                break
            head = line[0]
            if above.endswith(":"):
                return head, last
        return (head, last) if "\t" in self.text[first:last] and last - head <= LONGEST_TABLE else (first, last)

    def with_neighbours(self, first: int, last: int) -> tuple[int, int]:
        """A sentence with those before and behind it in the paragraph that it cannot do without."""
        line = self._line(first)[0], self._line(max(first, last - 1))[1]
        for _ in range(MOST_SENTENCES):
            if first <= line[0] or not self._rests_on_words_before(first, last):
                break
            first = max(line[0], self._sentence(first - 1)[0])
        for _ in range(MOST_SENTENCES):
            following = self._next(last, line[1])
            if following is None or not self._goes_on(*following):
                break
            last = following[1]
        return first, last

    def _rests_on_words_before(self, first: int, last: int) -> bool:
        own = self._sentence(first)
        if self._has("pointing", *own) or not self._has("units", first, last):
            return True
        before = self._sentence(first - 1)
        return self._has("groups", *before) and not self._has("groups", first, last)

    def _goes_on(self, first: int, last: int) -> bool:
        """Whether a sentence behind a number says for whom or how far it holds."""
        if self._has("groups", first, last) or self._has("limits", first, last):
            return True
        return self._has("pointing", first, last) and FIGURE.search(self.text, first, last) is not None

    def _has(self, name: str, start: int, end: int) -> bool:
        return self.table.context[name].search(level(self.text[start:end])) is not None

    def _line(self, at: int) -> tuple[int, int]:
        end = self.text.find("\n", at)
        return self.text.rfind("\n", 0, at) + 1, len(self.text) if end < 0 else end

    def _sentence(self, at: int) -> tuple[int, int]:
        line = self._line(at)
        place = bisect_right(self.starts, at)
        start = max(self.starts[place - 1] if place else 0, line[0])
        end = min(self.starts[place] if place < len(self.starts) else len(self.text), line[1])
        return start, start + len(self.text[start:end].rstrip())

    def _next(self, last: int, limit: int) -> tuple[int, int] | None:
        place = bisect_left(self.starts, last)
        return self._sentence(self.starts[place]) if place < len(self.starts) and self.starts[place] < limit else None

    def _is_item(self, line: tuple[int, int]) -> bool:
        if not self.blocks:
            return line[1] - line[0] <= SHORT_LINE or "\t" in self.text[line[0] : line[1]]
        place = bisect_right(self.blocks, line[0], key=lambda block: block.start)
        around = takewhile(lambda block: block.end > line[0], reversed(self.blocks[:place]))
        return any(block.kind in ("item", "row") for block in around)
