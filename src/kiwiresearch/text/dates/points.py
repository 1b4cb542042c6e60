"""Single dates in a text, and numbers that may prove to be one, not yet joined to ranges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kiwiresearch.text.dates.age_points import LONGEST_AGE, age, ages_in_words, centuries
from kiwiresearch.text.dates.day_points import day, numeric
from kiwiresearch.text.dates.evidence import words_before
from kiwiresearch.text.dates.language import DateWords, Lead
from kiwiresearch.text.dates.point import Point
from kiwiresearch.text.dates.year_points import after_era, before_era, with_era, year

FIGURES = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
SPACES = " \u00a0"
GOES_ON = frozenset(" \u00a0–—-")
AD = Lead("ad")
BEFORE_FIGURES = frozenset(" \u00a0\n\t([{\"“„«‘'’–—-/;:,~†*")
DOUBT = re.compile(r"\?(?= ?[–—,;)\]/-])")


def points_in(text: str, language: DateWords) -> list[Point]:
    """All dates and all numbers that may prove to be one, in the order of the text."""
    points: list[Point] = []
    groups = _groups(text, language)
    next_group = 0
    done = 0
    for figures in FIGURES.finditer(text):
        start, end = figures.span()
        while next_group < len(groups) and groups[next_group].end <= start:
            points.append(groups[next_group])
            done = max(done, groups[next_group].end)
            next_group += 1
        if start < done or (next_group < len(groups) and groups[next_group].start <= start):
            continue
        if start and text[start - 1] not in BEFORE_FIGURES and not _is_glued(text, start, end, language):
            continue
        point = _at_figures(text, start, end, language, points[-1] if points else None)
        if point and min(point.start, point.opened) >= done:
            point.end += DOUBT.match(text, point.end) is not None
            points.append(point)
            done = point.end
    points.extend(groups[next_group:])
    return points


def _is_glued(text: str, start: int, end: int, language: DateWords) -> bool:
    """'c.1250', 'b.1803' and 'c1250': a short word and no space."""
    if text[start - 1] == "c" and end - start == 4:
        return start < 2 or not text[start - 2].isalnum()
    words = words_before(text, start) if text[start - 1] == "." else []
    return bool(words) and (words[-1] in language.evidence.likely or words[-1] in language.evidence.glued)


def _at_figures(text: str, start: int, end: int, language: DateWords, previous: Point | None) -> Point | None:
    length = end - start
    following = text[end : end + 1]
    if length > LONGEST_AGE:
        return None
    plain = length <= 4 and text[start:end].isdigit()
    point = numeric(text, start) if (length <= 2 and following in ("/", "-")) or "." in text[start:end] else None
    if point:
        return point
    if plain and length <= 2:
        point = day(text, start, end, language)
        if point:
            return point
    if following in GOES_ON or following.isalpha():
        point = age(text, start, end, language) or with_era(text, start, end, language)
        if point:
            return point
    if _follows_era(text, start, language) and not language.decade.match(text, end):
        return after_era(text, start, end, language)
    return year(text, start, end, language, previous) if plain else before_era(text, start, end, language)


def _follows_era(text: str, start: int, language: DateWords) -> bool:
    """Whether 'AD' stands before the figures."""
    if start < 3 or text[start - 1] not in SPACES or not (text[start - 2].isupper() or text[start - 2] == "."):
        return False
    words = text[max(0, start - 6) : start - 1].replace("-", " ").split()
    return bool(words) and language.leads.get(words[-1].lstrip("([").lower()) == AD


def _groups(text: str, language: DateWords) -> Sequence[Point]:
    """Centuries and millennia, and ages in words: what is found by its noun and read backwards."""
    if not _has_any(text, language.group_signs) and not _has_any(text, language.ago_signs):
        return ()
    found = [*centuries(text, language), *ages_in_words(text, language)]
    found.sort(key=lambda point: point.start)
    apart: list[Point] = []
    for point in found:
        if not apart or point.start >= apart[-1].end:
            apart.append(point)
    return apart


def _has_any(text: str, signs: Iterable[str]) -> bool:
    return any(map(text.__contains__, signs))
