"""What a page's own words say for a query: its best passage, the page as a whole, its beginning."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kiwiresearch.search.query import Term
from kiwiresearch.text.stem import stemmer
from kiwiresearch.text.words import occurrences

STEP = 500
"""A passage is two steps long, about 160 words; passages begin every step."""

LEAD = 700
USUAL_LENGTH = 19_000
"""Characters of an ordinary article: on longer ones a word counts less."""

SATURATION = 1.2
LENGTH_SHARE = 0.75
WORD_ROOM = 12
"""Two words of a query are together if no more characters than this, for each word between them, part them."""


@dataclass(frozen=True, slots=True)
class TextMatch:
    """Shares of the query's whole rarity; a word said again and again counts up to twice."""

    passage: float = 0.0
    page: float = 0.0
    lead: float = 0.0
    together: float = 0.0
    boxes: float = 0.0
    """What infoboxes and categories say."""
    start: int = 0
    """Where the best passage begins."""
    places: tuple[tuple[int, str, float], ...] = ()
    """Where words of the query are in it, their stems and rarity."""


def match(
    text: str,
    terms: Sequence[Term],
    rarity: Mapping[str, float],
    language: str,
    titled: frozenset[str] = frozenset(),
    *,
    boxes: int | None = None,
    lead: int = 0,
) -> TextMatch:
    """Weigh a levelled text; stems in the title count as if every passage began with it.

    `boxes` is where the words of infoboxes and categories begin, which come last, `lead` where the article does.
    """
    total = sum(rarity[term.stem] for term in terms)
    if not total:
        return TextMatch()
    stem_of = stemmer(language)
    places = {term.stem: occurrences(text, term.word, stem_of) for term in terms}
    best, start = _best_passage(places, rarity, titled)
    return TextMatch(
        passage=best / total,
        page=_whole(places, rarity, len(text)) / total,
        lead=_held_in(places, rarity, lead, lead + LEAD) / total,
        together=_together(places, terms, rarity) / total,
        boxes=_held_in(places, rarity, len(text) if boxes is None else boxes, len(text)) / total,
        start=start,
        places=tuple(
            sorted(
                (place, stem, rarity[stem])
                for stem, found in places.items()
                for place in found
                if start <= place < start + 2 * STEP
            )
        ),
    )


def _saturated(count: float, room: float = SATURATION) -> float:
    return count * (SATURATION + 1) / (count + room)


def _best_passage(
    places: Mapping[str, Sequence[int]], rarity: Mapping[str, float], titled: frozenset[str]
) -> tuple[float, int]:
    counts: dict[int, dict[str, int]] = {}
    for stem, found in places.items():
        for place in found:
            here = counts.setdefault(place // STEP, {})
            here[stem] = here.get(stem, 0) + 1
    ahead = {stem: _saturated(1) * rarity[stem] for stem in titled if stem in rarity}
    best, start = sum(ahead.values()), 0
    for step in sorted(counts):
        worth = sum(ahead.values())
        following = counts.get(step + 1, {})
        for stem in counts[step].keys() | following.keys():
            count = counts[step].get(stem, 0) + following.get(stem, 0) + (stem in titled)
            worth += _saturated(count) * rarity[stem] - ahead.get(stem, 0.0)
        if worth > best + 1e-9:
            best, start = worth, step * STEP
    return best, start


def _whole(places: Mapping[str, Sequence[int]], rarity: Mapping[str, float], length: int) -> float:
    room = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length / USUAL_LENGTH)
    return sum(rarity[stem] * _saturated(len(found), room) for stem, found in places.items() if found)


def _held_in(places: Mapping[str, Sequence[int]], rarity: Mapping[str, float], start: int, end: int) -> float:
    """The rarity of the words that are somewhere between two places."""
    worth = 0.0
    for stem, found in places.items():
        at = bisect_left(found, start)
        if at < len(found) and found[at] < end:
            worth += rarity[stem]
    return worth


def _together(places: Mapping[str, Sequence[int]], terms: Sequence[Term], rarity: Mapping[str, float]) -> float:
    """Neighbours in the query that are neighbours on the page."""
    ordered = sorted(terms, key=lambda term: term.place)
    worth = 0.0
    for first, second in pairwise(ordered):
        room = len(first.stem) + WORD_ROOM * (second.place - first.place)
        later = places[second.stem]
        for place in places[first.stem]:
            at = bisect_left(later, place + 1)
            if at < len(later) and later[at] - place <= room:
                worth += min(rarity[first.stem], rarity[second.stem])
                break
    return worth
