"""Sources that do not agree: the sentences of an answer against the next best ones, as the brief finds them."""

from __future__ import annotations

from collections.abc import Sequence

from kiwiresearch.ask.answer import Conflict
from kiwiresearch.ask.passages import key_of
from kiwiresearch.ask.weighing import Weighed
from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.conflicts.compare import Disagreement, Saying, compare
from kiwiresearch.page.plain import page_of_text
from kiwiresearch.search.rank import QUALIFIER
from kiwiresearch.text.fold import fold
from kiwiresearch.text.languages import words_of

LOOKED_AT = 12
"""So many of the best sentences are compared with the ones that are shown."""

MOST = 3
SURE = 0.6
"""Less sure ones are of two things more often than not, where sentences and no claims are compared."""


def disagreements(shown: Sequence[Weighed], others: Sequence[Weighed], language: str) -> tuple[Conflict, ...]:
    """Contradictions of what is shown with the next best sentences about the same thing; the clearest first."""
    units = list({one.place: one for one in (*shown, *others[:LOOKED_AT]) if _is_prose(one)}.values())
    said = [(unit, Saying.of(unit.text, unit.read.page.title, language)) for unit in units]
    places = {one.place for one in shown}
    found: list[tuple[Disagreement, Weighed, Weighed]] = []
    for number, (one, saying) in enumerate(said):
        if one.place not in places:
            continue
        for other, denied in said[number + 1 :]:
            disagreement = compare(saying, denied)
            is_clear = disagreement and disagreement.kind == "contradiction" and disagreement.strength >= SURE
            if disagreement and is_clear and _same(one, other, language):
                found.append((disagreement, one, other))
    found.sort(key=lambda row: (-row[0].strength, row[1].place, row[2].place))
    return tuple(_conflict(*row) for row in found[:MOST])


def _same(one: Weighed, other: Weighed, language: str) -> bool:
    """Whether both are about one thing: 'Einstein' and 'Albert Einstein', but not 'Einstein and his wife'."""
    if _are_namesakes(one.read.page.title, other.read.page.title):
        return False
    subjects = _subject(one, language), _subject(other, language)
    if not all(subjects) or subjects[0] == subjects[1]:
        return all(subjects)
    titles = [frozenset(fold(side.read.page.title).split()) for side in (one, other)]
    return titles[0] == titles[1] and subjects[0] <= titles[0] and subjects[1] <= titles[0]


def _are_namesakes(one: str, other: str) -> bool:
    """Two titles that differ only in what tells them apart: 'Bach' and 'Bach (painter)'."""
    return one != other and QUALIFIER.sub("", one) == QUALIFIER.sub("", other)


def _is_prose(one: Weighed) -> bool:
    return one.read.units[one.unit].kind == "sentence"


def _subject(unit: Weighed, language: str) -> frozenset[str]:
    """What a sentence is about by its own words; nothing where it makes no claim."""
    claims = claims_of(page_of_text(unit.text, unit.read.page.title, language))
    silent = words_of(language).stop_words
    if not claims:
        return frozenset()
    told = frozenset(word for word in fold(claims[0].subject).split() if word not in silent)
    return told or frozenset(fold(unit.read.page.title).split())  # a pronoun stands for what the page is about


def _conflict(found: Disagreement, one: Weighed, other: Weighed) -> Conflict:
    a, b = one.text[slice(*found.a)], other.text[slice(*found.b)]
    where = one.read.page.title, other.read.page.title
    words = (
        f"One place of {where[0]!r} says {a!r}, another {b!r}."
        if where[0] == where[1]
        else f"{where[0]!r} says {a!r}, {where[1]!r} says {b!r}."
    )
    return Conflict(found.kind, _key(one), _key(other), one.text, other.text, words)


def _key(one: Weighed) -> str:
    unit = one.read.units[one.unit]
    return key_of(one.read.page.ref, unit.start, unit.end)
