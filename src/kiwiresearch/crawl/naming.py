"""What a topic names, and how often a text says that name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kiwiresearch.search.query import Query, Term
from kiwiresearch.text.languages import words_of
from kiwiresearch.text.stem import stemmer
from kiwiresearch.text.words import words_in

SAID_ONCE = 0.7
OFTEN = 3
"""A text that says a name once may do so in passing: it has this much of what one has that says it often."""

ROOM = 24
"""So many characters may part two words of a name, and only words that say nothing: 'Treaty of the Bogue'."""

SHORT = 3
"""A full stop behind so few letters ends no sentence: 'John F. Kennedy', 'St. Louis'."""

Places = Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class Said:
    """How a text says a name."""

    share: float
    """Of the name, the part that was said in one piece; less than all counts by its square."""
    times: int

    @property
    def worth(self) -> float:
        again = min(1.0, max(0, self.times - 1) / (OFTEN - 1))
        return self.share**2 * (SAID_ONCE + (1 - SAID_ONCE) * again)


def names_in(query: Query, aspect: str = "") -> tuple[tuple[Term, ...], ...]:
    """The names in a topic, each as its words in order, without what says which side of them is asked for.

    'drought and the Hittites' names two things.
    """
    stem_of = stemmer(query.language)
    aside = {stem_of(word) for word in words_in(aspect)}
    known = words_of(query.language)
    ordered = sorted((term for term in query.terms if term.stem not in aside), key=lambda term: term.place)
    parts: list[list[Term]] = []
    for term in ordered or query.terms:
        before = query.words[parts[-1][-1].place + 1 : term.place] if parts else ()
        if parts and known.joining.isdisjoint(before):
            parts[-1].append(term)
        else:
            parts.append([term])
    return tuple(map(tuple, parts))


def said(text: str, name: Sequence[Term], places: Places, rarity: Mapping[str, float], silent: frozenset[str]) -> Said:
    """How much of a name stands in a levelled text in one piece, and how often; a single word of several is none."""
    if len(name) == 1:
        found = places[name[0].stem]
        return Said(float(bool(found)), len(found))
    whole = sum(rarity[term.stem] for term in name) or 1.0
    best = Said(0.0, 0)
    reach: dict[int, int] = {}  # where a run goes on, and the last word it comes to
    for number in range(len(name) - 1, -1, -1):
        here = {place: _last(text, place, reach, number, silent) for place in places[name[number].stem]}
        for last in set(here.values()):
            if last > number:
                share = sum(rarity[term.stem] for term in name[number : last + 1]) / whole
                times = sum(end == last for end in here.values())
                best = max(best, Said(share, times), key=lambda one: (round(one.share, 6), one.times))
        reach = here
    return best


def _last(text: str, place: int, following: Mapping[int, int], number: int, silent: frozenset[str]) -> int:
    """The number of the last word of the name that a run from here comes to."""
    end = place
    while end < len(text) and (text[end].isalnum() or text[end] in "'’"):
        end += 1
    for start in range(end, min(len(text), end + ROOM) + 1):
        if start in following:
            return following[start] if _is_one_piece(text[place:end], text[end:start], silent) else number
    return number


def _is_one_piece(word: str, gap: str, silent: frozenset[str]) -> bool:
    if any(char in gap for char in "!?;:\n\t|•"):
        return False
    if "." in gap and len(word) > SHORT:
        return False
    return all(part in silent for part in gap.replace("-", " ").replace("–", " ").strip(" .,'\"()").split())
