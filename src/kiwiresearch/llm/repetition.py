"""Replies that go round in circles, noticed while they stream."""

from __future__ import annotations

from collections import Counter

STRIDE = 64
WINDOW = 4096
COPIES = 5
MAX_UNIT = 800
MIN_RUN = 200
MIN_RUN_OF_SIGNS = 400
"""Rulers and rows of dots are long without being a circle."""

ANCHOR = 24
SAME_HEADING = 4
"""A report that begins the same chapter a fourth time will begin it again."""

MAX_LINE = 200
MAX_SIGNS = 3
"""A copy keeps the full stop at its end."""


class RepetitionGuard:
    """Lets text through until its end is the same words over and over.

    It looks every 64 characters, counted from the beginning, so that the cut does not depend on
    how the text was chopped; each look reads a window of fixed size.
    """

    def __init__(self) -> None:
        self.has_tripped = False
        self._tail = ""
        self._length = 0
        self._line = ""
        self._headings: Counter[str] = Counter()

    def feed(self, text: str) -> str:
        """As much of the text as came before a circle was noticed."""
        start = 0
        while not self.has_tripped and start < len(text):
            end = min(start + STRIDE - self._length % STRIDE, len(text))
            start += self._take(text[start:end])
        return text[:start]

    def _take(self, text: str) -> int:
        """Take in a few characters and say how many were taken."""
        taken = self._read_lines(text)
        self._length += taken
        self._tail = (self._tail + text[:taken])[-WINDOW:]
        if self._length % STRIDE == 0 and circle_at_end(self._tail):
            self.has_tripped = True
        return taken

    def _read_lines(self, text: str) -> int:
        """Notice a heading that comes too often; how many characters were read until then."""
        start = 0
        while (end := text.find("\n", start)) >= 0:
            line = (self._line + text[start:end])[:MAX_LINE].strip()
            self._line = ""
            if line.startswith("#") and len(line) > 3:
                self._headings[line] += 1
                if self._headings[line] >= SAME_HEADING:
                    self.has_tripped = True
                    return end
            start = end + 1
        self._line = (self._line + text[start:])[:MAX_LINE]
        return len(text)


def without_circle(text: str) -> str:
    """The text with one copy of what its end repeats."""
    unit = circle_at_end(text[-WINDOW:])
    if not unit:
        return text
    start = len(text) - unit
    while start > 0 and text[start - 1] == text[start - 1 + unit]:
        start -= 1
    end = start + unit
    while end < start + unit + MAX_SIGNS and end < len(text) and not (text[end].isalnum() or text[end].isspace()):
        end += 1
    return text[:end]


def circle_at_end(text: str) -> int:
    """How long the unit is that the text's end repeats; 0 if it does not."""
    anchor = text[-ANCHOR:]
    lowest = max(0, len(text) - MAX_UNIT - ANCHOR)
    found = len(text)
    while len(anchor) == ANCHOR and (found := text.rfind(anchor, lowest, found + ANCHOR - 1)) >= 0:
        unit = len(text) - ANCHOR - found
        if unit and _goes_round(text, unit):
            return unit
    return 0


def _goes_round(text: str, unit: int) -> bool:
    has_words = any(map(str.isalnum, text[-unit:]))
    need = max(COPIES * unit, MIN_RUN if has_words else MIN_RUN_OF_SIGNS)
    return len(text) >= need and text[-need:-unit] == text[unit - need :]
