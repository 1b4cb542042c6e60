"""Dates of two sentences: whether both date the same event, and whether both can be right."""

from __future__ import annotations

from kiwiresearch.claims.conflicts.agreement import Reading
from kiwiresearch.claims.conflicts.compare_words import compare_words
from kiwiresearch.claims.conflicts.events import PERSONAL
from kiwiresearch.claims.conflicts.likeness import ENOUGH, Match, kinship, likeness
from kiwiresearch.claims.conflicts.values import Value, first_moment, last_moment
from kiwiresearch.text import when

SURE_WITHOUT_EVENT = 0.6
"""The likeness that two dates need where no word tells that both date the same event."""

HALF = 0.5
"""So much of what an event is said to befall stands in both, counted by the shorter."""

UNSURE = 0.6
"""What is left of the likeness where it is not told that an event befell the same."""

STARTS = frozenset({"beginning", "founding", "opening", "office", "launch"})
ENDS = frozenset({"ending", "leaving"})
"""Events that are the first or the last day of something that lasts."""

EXACT = frozenset({"day", "month", "season", "year"})


def match_dates(a: Reading, one: Value, b: Reading, other: Value) -> Match | None:
    if one.when is None or other.when is None:
        return None
    like = likeness(a, one, b, other)
    if one.key != other.key and (turned := _impossible(a, one, b, other)):
        return Match(one, other, max(like, ENOUGH), "contradiction", turned)
    same_event = bool(one.key) and one.key == other.key
    pairs = _moments(one, other)
    if not pairs:
        return None
    apart = [(x, y) for x, y in pairs if when.relation(x, y) == "apart"]
    if not apart:
        return Match(one, other, like, None)
    x, y = apart[0]
    sure = _same_event(a, one, b, other) if same_event else 1.0
    same_event = same_event or one.when.lasts != other.when.lasts
    if one.key and other.key and not same_event:
        return None
    like = round(like * max(sure, UNSURE), 3)
    sure_enough = SURE_WITHOUT_EVENT if not same_event or one.when.lasts != other.when.lasts else 0.0
    if not {x.precision, y.precision} <= EXACT or like < sure_enough:
        return None
    return Match(one, other, like, "contradiction", "Both date the same, and no day is within both.", sure)


def _moments(one: Value, other: Value) -> list[tuple[when.DateRange, when.DateRange]]:
    """The moments of two dates that should be the same: first and last of two that lasted, one of them of an event."""
    if one.when is None or other.when is None:
        return []
    x, y = one.when, other.when
    if x.lasts and y.lasts:
        return [(first_moment(x), first_moment(y)), (last_moment(x), last_moment(y))]
    if x.lasts == y.lasts:
        return [(x, y)]
    event = other.key if x.lasts else one.key
    if event in STARTS:
        return [(first_moment(x), first_moment(y))]
    return [(last_moment(x), last_moment(y))] if event in ENDS else []


def _same_event(a: Reading, one: Value, b: Reading, other: Value) -> float:
    """From 0 to 1: whether an event befell the same in both."""
    if one.told_of is None or other.told_of is None:
        return 0.0
    mine, theirs = one.told_of or a.subject, other.told_of or b.subject
    if not mine or not theirs:
        return 1.0 if not one.near or not other.near else 0.7
    shared = len(mine & theirs) / min(len(mine), len(theirs))
    if one.key in PERSONAL or other.key in PERSONAL:
        return 1.0 if shared == 1 else 0.0
    if (mine & a.names) - b.content and (theirs & b.names) - a.content:
        return 0.0
    return 0.6 + 0.4 * shared if shared >= HALF else 0.0


def _impossible(a: Reading, one: Value, b: Reading, other: Value) -> str:
    """Why two dates cannot both be right, where one event must come first."""
    orders = compare_words(a.language).orders
    if kinship(a, b) < 1 or not _same_event(a, one, b, other) or one.when is None or other.when is None:
        return ""
    for first, second in ((one, other), (other, one)):
        if (first.key, second.key) in orders and first.when and second.when:
            start = first_moment(first.when)
            if first.when.qualifier != "before" and start.earliest > first_moment(second.when).latest:
                return f"The {first.key} cannot come after the {second.key}."
    return ""
