"""A line or two of a page that show why it was found."""

from __future__ import annotations

import re
from collections.abc import Sequence

LENGTH = 240
BEFORE = 80
AFTER_STOP = re.compile(r"[.!?][\"'”’)]* +(?=[\"'“‘(]?[^\W_a-z])")
LOOSE = re.compile(r"\s+([,.;:!?)\]%»”])|([(\[«“])\s+")


def snippet(text: str, places: Sequence[tuple[int, str, float]] = ()) -> str:
    """The stretch of a text with most of the words looked for, from the start of a sentence if one is near."""
    begin = _sentence_start(text, _densest(places))
    return f"{'… ' if begin else ''}{beginning(text, begin)}"


def beginning(text: str, begin: int = 0) -> str:
    """A line or two from some place on."""
    end = begin + LENGTH
    if end < len(text):
        end = text.rfind(" ", begin, end + 1)
        end = begin + LENGTH if end <= begin else end
    return f"{tidy(text[begin:end])}{' …' if end < len(text) else ''}"


def _densest(places: Sequence[tuple[int, str, float]]) -> int:
    """The place from which on a snippet's length holds most; the first of equals."""
    best, start = 0.0, 0
    for number, (place, _, _) in enumerate(places):
        held = {stem: weight for other, stem, weight in places[number:] if other < place + LENGTH - BEFORE}
        if sum(held.values()) > best + 1e-9:
            best, start = sum(held.values()), place
    return start


def _sentence_start(text: str, place: int) -> int:
    if place <= BEFORE:
        return 0
    starts = [
        found.end() for found in AFTER_STOP.finditer(text, place - 2 * BEFORE if place > 2 * BEFORE else 0, place)
    ]
    if starts:
        return starts[-1]
    return text.find(" ", place - BEFORE, place) + 1 or place


def tidy(text: str) -> str:
    """Text whose pieces were joined by spaces, with the spaces before commas and inside brackets taken out."""
    return LOOSE.sub(lambda found: found[1] or found[2], text).strip()
