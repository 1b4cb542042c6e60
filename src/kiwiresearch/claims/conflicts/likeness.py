"""How far the words around two values say that they are of the same thing, of the same time and scope."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kiwiresearch.claims.conflicts.agreement import Reading
from kiwiresearch.claims.conflicts.compare_words import compare_words
from kiwiresearch.claims.conflicts.events import PERSONAL
from kiwiresearch.claims.conflicts.saying import Kind
from kiwiresearch.claims.conflicts.values import Value
from kiwiresearch.text import when

ENOUGH = 0.42
"""From this likeness on two values are said of the same thing."""

COVER, SHARED, KEY, UNIT, CLOSE, ABOUT = 0.3, 0.15, 0.25, 0.1, 0.15, 0.15
"""What the share of the words around both, their number, the same key, unit, neighbours and subject add."""

DOUBT = 0.35
"""What is lost where each sentence is about names that the other does not know."""

MANY = 4
"""More shared words than these add nothing."""

SURE = 0.75
"""The likeness of what happens once in a life, where the name is the same."""

LABEL = 0.6
"""The cover of a value beside which nothing else is told: 'Founded: 1910'."""

SHARED_BY_ALL = frozenset({"", "%", "s"})
"""Units that measure so many things that they tell nothing."""


@dataclass(frozen=True, slots=True)
class Match:
    """Two values that may be said of the same thing."""

    one: Value
    other: Value
    likeness: float
    kind: Kind | None
    """None where the values agree."""
    why: str = ""
    sure: float = 1.0
    """From 0 to 1: whether an event befell the same in both."""


def likeness(a: Reading, one: Value, b: Reading, other: Value) -> float:
    """From 0 to 1: how far the words around two values say that they are of the same thing."""
    mine, theirs = one.near - {one.key}, other.near - {other.key}
    shared = mine & theirs
    fewer = min(len(mine), len(theirs))
    cover = len(shared) / fewer if fewer else LABEL
    keyed = bool(one.key) and one.key == other.key
    same_unit = one.quantity and other.quantity and one.quantity.unit not in SHARED_BY_ALL
    crossed = bool(one.key and other.key) and (one.key in other.near or other.key in one.near)
    close = not one.close.isdisjoint(other.close)
    about = kinship(a, b)
    value = COVER * cover + SHARED * min(len(shared), MANY) / MANY + CLOSE * close
    value += KEY if keyed else UNIT if same_unit or crossed else 0
    value = value + ABOUT * about if about >= 0 else value * (1 + about * DOUBT)
    if keyed and one.key in PERSONAL and about == 1:
        value = max(value, SURE)
    return round(max(0.0, min(1.0, value)), 3)


def kinship(a: Reading, b: Reading) -> float:
    """From -1.5 to 1: whether two sentences are about the same names."""
    if not a.subject and not b.subject:
        pronouns = {a.by_pronoun, b.by_pronoun}
        return -1.0 if {"he", "she"} <= pronouns else 0.25
    if not a.subject or not b.subject:
        return 0.5
    mine, theirs = a.subject - b.content - b.subject, b.subject - a.content - a.subject
    if mine and theirs:
        return -1.5 if a.subject.isdisjoint(b.subject) else -1.0
    return 1.0 if not a.subject.isdisjoint(b.subject) else 0.5


def clash(a: Reading, b: Reading) -> bool:
    """Whether each sentence is about names that the other does not know."""
    return kinship(a, b) <= -1


def setting(a: Reading, one: Value, b: Reading, other: Value) -> tuple[Kind, str]:
    """Whether two values are of different times or scopes, or contradict each other."""
    mine, theirs = list(_times(a, one)), list(_times(b, other))
    if mine and theirs and all(when.relation(x, y) == "apart" for x in mine for y in theirs):
        return "different year", "They are of different times."
    known = compare_words(a.language)
    words = [_clause_words(a, one), _clause_words(b, other)]
    for line in known.sides:
        sides = [{line[word] for word in lows & line.keys()} for lows in words]
        if sides[0] and sides[1] and sides[0].isdisjoint(sides[1]):
            return "different scope", "They are of different groups, places or measures."
    places = [_places(a, one), _places(b, other)]
    if places[0] and places[1] and places[0].isdisjoint(b.content) and places[1].isdisjoint(a.content):
        return "different scope", "They are of different places."
    return "contradiction", ""


def _clause_words(reading: Reading, value: Value) -> frozenset[str]:
    return frozenset(word.low for word in reading.words if word.clause == value.clause)


def _times(reading: Reading, value: Value) -> Iterator[when.DateRange]:
    inside = [v for v in reading.values if v.what == "a date" and v.clause == value.clause]
    for dated in inside or [v for v in reading.values if v.what == "a date"]:
        if dated.when:
            yield dated.when


def _places(reading: Reading, value: Value) -> frozenset[str]:
    """Names behind 'in' and the like in the clause of a value."""
    known = compare_words(reading.language)
    found = set()
    words = reading.words
    for earlier, before, word in zip((words[:1] + words), words, words[1:], strict=False):
        if before.low == "the":
            before = earlier
        is_place = word.is_name or word.low in known.wholes
        if word.clause == value.clause and is_place and before.low in known.before_names:
            found.add(word.stem)
    return frozenset(found)
