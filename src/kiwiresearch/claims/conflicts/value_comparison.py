"""Disagreements in a number, a rank or a date."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from kiwiresearch.claims.conflicts.sentences import (
    ENOUGH,
    Disagreement,
    DisagreementKind,
    DisputedValue,
    SentenceReading,
    TextSpan,
    ValueMatch,
    are_unrelated,
    likeness,
    setting_difference,
    subject_likeness,
)
from kiwiresearch.claims.conflicts.values import SentenceValue, first_moment, last_moment
from kiwiresearch.claims.conflicts.words import PERSONAL, comparison_words
from kiwiresearch.messages.message import Message
from kiwiresearch.text.dates.ranges import DateRange
from kiwiresearch.text.dates.ranges import date_relation as date_relation
from kiwiresearch.text.quantity import Quantity, Relation
from kiwiresearch.text.quantity import quantity_relation as quantity_relation
from kiwiresearch.text.when import DateMention

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


def match_dates(a: SentenceReading, one: SentenceValue, b: SentenceReading, other: SentenceValue) -> ValueMatch | None:
    if one.when is None or other.when is None:
        return None
    like = likeness(a, one, b, other)
    if one.key != other.key and (turned := _impossible(a, one, b, other)):
        return ValueMatch(one, other, max(like, ENOUGH), "contradiction", turned)
    same_event = bool(one.key) and one.key == other.key
    pairs = _moments(one, other)
    if not pairs:
        return None
    apart = [(x, y) for x, y in pairs if date_relation(x, y) == "apart"]
    if not apart:
        return ValueMatch(one, other, like, None)
    x, y = apart[0]
    sure = _same_event(a, one, b, other) if same_event else 1.0
    same_event = same_event or one.when.lasts != other.when.lasts
    if one.key and other.key and not same_event:
        return None
    like = round(like * max(sure, UNSURE), 3)
    sure_enough = SURE_WITHOUT_EVENT if not same_event or one.when.lasts != other.when.lasts else 0.0
    if not {x.precision, y.precision} <= EXACT or like < sure_enough:
        return None
    return ValueMatch(one, other, like, "contradiction", NO_COMMON_DAY, sure)


def _moments(one: SentenceValue, other: SentenceValue) -> list[tuple[DateRange, DateRange]]:
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


def _same_event(a: SentenceReading, one: SentenceValue, b: SentenceReading, other: SentenceValue) -> float:
    """From 0 to 1: whether an event befell the same in both."""
    if one.event_subject is None or other.event_subject is None:
        return 0.0
    mine, theirs = one.event_subject or a.subject, other.event_subject or b.subject
    if not mine or not theirs:
        return 1.0 if not one.near or not other.near else 0.7
    shared = len(mine & theirs) / min(len(mine), len(theirs))
    if one.key in PERSONAL or other.key in PERSONAL:
        return 1.0 if shared == 1 else 0.0
    if (mine & a.names) - b.content and (theirs & b.names) - a.content:
        return 0.0
    return 0.6 + 0.4 * shared if shared >= HALF else 0.0


def _impossible(a: SentenceReading, one: SentenceValue, b: SentenceReading, other: SentenceValue) -> Message | None:
    """Why two dates cannot both be right, where one event must come first."""
    orders = comparison_words(a.language).orders
    if subject_likeness(a, b) < 1 or not _same_event(a, one, b, other) or one.when is None or other.when is None:
        return None
    for first, second in ((one, other), (other, one)):
        if (first.key, second.key) in orders and first.when and second.when:
            start = first_moment(first.when)
            if first.when.qualifier != "before" and start.earliest > first_moment(second.when).latest:
                return Message(f"The {first.key} cannot come after the {second.key}.")
    return None


SETTLED = 0.3
"""From this likeness on a value that agrees with another is not held against a third."""

AGREEING = 0.1
"""What another value on which both agree adds to the likeness."""

TOO_UNLIKE = ENOUGH - 2 * AGREEING
"""Below this nothing could make two values be of the same thing."""

TOLERANCE = 0.01
"""Numbers that differ by this share of the larger are the same but for rounding or units."""

ESTIMATE_TOLERANCE = 0.1
"""The same for numbers that are called about, or given as ranges."""


def compare_values(a: SentenceReading, b: SentenceReading) -> Disagreement | None:
    """The clearest disagreement of two sentences in a number, rank or date."""
    matches = [match for one in a.values for other in b.values if (match := _match(a, one, b, other))]
    agreeing = [m for m in matches if m.kind is None and (m.likeness >= SETTLED or m.one.key == m.other.key)]
    settled = {id(value) for match in agreeing for value in (match.one, match.other)}
    open_ = [m for m in matches if m.kind and id(m.one) not in settled and id(m.other) not in settled]
    support = AGREEING * min(2, sum(m.kind is None and m.likeness >= ENOUGH for m in matches))
    open_ = [match for match in open_ if match.likeness + support >= ENOUGH]
    if not open_:
        return None
    best = max(open_, key=lambda m: (m.likeness, -m.one.start - m.other.start))
    what: DisputedValue = "a date" if best.one.what == "a date" else "a number"
    one, other = (best.one.start, best.one.end), (best.other.start, best.other.end)
    return Disagreement(best.kind or "contradiction", what, one, other, best.why, _strength(best, a, b))


def _strength(match: ValueMatch, a: SentenceReading, b: SentenceReading) -> float:
    """The likeness, less where much stands beside one value that does not stand beside the other."""
    mine, theirs = match.one.near, match.other.near
    both = 2 * len(mine & theirs) / (len(mine) + len(theirs)) if mine or theirs else 0.0
    if match.one.key == match.other.key and match.one.key in PERSONAL:
        both = 1.0
    # A number is of what its sentence is about; an event may be told of something else.
    elsewhere = match.one.what != "a date" and a.subject and b.subject and a.subject.isdisjoint(b.subject)
    return round((0.4 * match.likeness + 0.6 * both) * (0.5 if elsewhere else 1) * match.sure, 3)


def compare_own_list(reading: SentenceReading) -> Disagreement | None:
    """A sentence that says how many there are, and lists more or fewer."""
    for listed in reading.values:
        start, end, said = listed.stated_count
        if said and not listed.listed[0] <= said <= listed.listed[1]:
            return Disagreement(
                "contradiction", "a number", (start, end), (listed.start, listed.end), _why_listed(listed, said), 0.6
            )
    return None


def _why_listed(listed: SentenceValue, said: float) -> Message:
    text = f"The list has {listed.listed[1]} items, and the number said is {said:g}."
    number = int(said) if said == int(said) else said
    return Message(text, "differ.list_length", n=listed.listed[1], said=number)


NO_COMMON_DAY = Message("Both date the same, and no day is within both.", "differ.no_common_day")


def rounding_explains(gap: float) -> Message:
    """Why numbers that are so far apart may be the same."""
    text = f"They differ by {gap:.1%}, which rounding or estimating explains."
    return Message(text, "differ.rounded", share=round(gap, 4))


def too_far_apart(gap: float, allowed: float) -> Message:
    """Why numbers that are so far apart cannot be the same."""
    text = f"They differ by {gap:.0%}, more than the {allowed:.0%} allowed."
    return Message(text, "differ.too_far", share=round(gap, 4), allowed=allowed)


def _match(a: SentenceReading, one: SentenceValue, b: SentenceReading, other: SentenceValue) -> ValueMatch | None:
    if one.what != other.what:
        return None
    if one.what == "a date":
        return match_dates(a, one, b, other)
    if one.what == "a rank":
        return _ranks(a, one, b, other)
    return _numbers(a, one, b, other)


def _numbers(a: SentenceReading, one: SentenceValue, b: SentenceReading, other: SentenceValue) -> ValueMatch | None:
    if one.quantity is None or other.quantity is None:
        return _counts(a, one, b, other)
    x, y = one.quantity, other.quantity
    if not x.unit and not y.unit:  # what is counted is compared here, where more words are known to be alike
        x, y = x._replace(counted=""), y._replace(counted="")
        if not _same_counted(one, other):
            return None
    if x.converted or y.converted or _other_measure(a, one, other):
        return None
    relation = quantity_relation(x, y)
    if relation == "different kinds":
        return None
    like = likeness(a, one, b, other)
    kind, allowed = _difference(x, y, relation)
    gap = gap_of(x, y)
    if kind != "contradiction":
        return ValueMatch(one, other, like, kind, rounding_explains(gap))
    if like < TOO_UNLIKE:
        return None
    kind, why = setting_difference(a, one, b, other)
    return ValueMatch(one, other, like, kind, why or too_far_apart(gap, allowed))


def _difference(x: Quantity, y: Quantity, relation: Relation) -> tuple[DisagreementKind | None, float]:
    """What the values alone tell, and how far they might have been apart."""
    gap = gap_of(x, y)
    is_guess = bool(x.qualifier or y.qualifier or x.is_range or y.is_range)
    allowed = ESTIMATE_TOLERANCE if is_guess else TOLERANCE
    is_open = not {x.qualifier, y.qualifier} <= {"", "about"}
    if relation == "same":
        return None, allowed
    if relation in ("rounding", "overlap") and (gap <= ESTIMATE_TOLERANCE or is_open):
        close: DisagreementKind = "unit or rounding" if relation == "rounding" else "estimate range"
        return (close if gap else None), allowed
    if gap <= allowed:
        return ("estimate range" if is_guess else "unit or rounding"), allowed
    return "contradiction", allowed


def _other_measure(a: SentenceReading, one: SentenceValue, other: SentenceValue) -> bool:
    """Whether one is a height and the other a length."""
    if one.quantity is None or not one.quantity.unit:
        return False
    measures = comparison_words(a.language).measures
    mine, theirs = (measures & (value.close or value.near) for value in (one, other))
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _same_counted(one: SentenceValue, other: SentenceValue) -> bool:
    return bool(one.key and other.key) and (one.key == other.key or one.key in other.near or other.key in one.near)


def _counts(a: SentenceReading, one: SentenceValue, b: SentenceReading, other: SentenceValue) -> ValueMatch | None:
    """A number against the length of a list."""
    if (one.quantity is None) == (other.quantity is None):
        return None
    quantity = one.quantity or other.quantity
    if quantity is None or quantity.unit or quantity.low != quantity.high or quantity.qualifier:
        return None
    if not one.key or one.key != other.key:
        return None
    like = likeness(a, one, b, other)
    items = other if one.quantity else one
    if items.listed[0] <= quantity.low <= items.listed[1]:
        return ValueMatch(one, other, like, None)
    return ValueMatch(one, other, like, "contradiction", _why_listed(items, quantity.low))


def _ranks(a: SentenceReading, one: SentenceValue, b: SentenceReading, other: SentenceValue) -> ValueMatch | None:
    if one.key != other.key:
        return None
    like = likeness(a, one, b, other)
    if one.rank == other.rank:
        return ValueMatch(one, other, like, None) if one.near == other.near else None
    if like < TOO_UNLIKE:
        return None
    kind, why = setting_difference(a, one, b, other)
    ranks = f"One ranks it {one.rank}, the other {other.rank}."
    return ValueMatch(one, other, like, kind, why or Message(ranks, "differ.rank", one=one.rank, other=other.rank))


def gap_of(x: Quantity, y: Quantity) -> float:
    """How far two numbers are apart, as a share of the larger."""
    apart = max(x.low - y.high, y.low - x.high, 0.0)
    # A share of kelvins tells nothing: degrees count as shares of the way from ice to steam.
    size = 100.0 if x.unit == "K" else max(abs(x.low), abs(x.high), abs(y.low), abs(y.high))
    return apart / size if size else 0.0


PIECE = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[^\s\w]")
LONGEST_CHANGE = 8
FEWEST_WORDS = 4
SAME_SHARE = 0.6
"""So much of the longer sentence stands in both, in the same order."""


@dataclass(frozen=True, slots=True)
class NearIdentical:
    """Two sentences that differ in one place, and whether they disagree there."""

    disagreement: Disagreement | None


def compare_near_identical(a: SentenceReading, b: SentenceReading) -> NearIdentical | None:
    """None where the sentences differ in more than one value, or in something else."""
    if abs(len(a.text) - len(b.text)) > LONGEST_CHANGE * 5 or not _begin_or_end_alike(a, b) or are_unrelated(a, b):
        return None
    mine, theirs = list(PIECE.finditer(a.text)), list(PIECE.finditer(b.text))
    pairs = [(x[0].lower(), y[0].lower()) for x, y in zip(mine, theirs, strict=False)]
    before = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    room = min(len(mine), len(theirs)) - before
    back = [(x[0].lower(), y[0].lower()) for x, y in zip(mine[::-1], theirs[::-1], strict=False)][:room]
    behind = len(list(takewhile(lambda pair: pair[0] == pair[1], back)))
    same = before + behind
    if same < FEWEST_WORDS or same < SAME_SHARE * max(len(mine), len(theirs)):
        return None
    spans = [_span(pieces, before, behind) for pieces in (mine, theirs)]
    if spans[0] is None or spans[1] is None:
        return None
    return _judge(a, spans[0], b, spans[1])


def _begin_or_end_alike(a: SentenceReading, b: SentenceReading) -> bool:
    if not a.words or not b.words:
        return False
    return a.words[0].low == b.words[0].low or a.words[-1].low == b.words[-1].low


def _span(pieces: Sequence[re.Match[str]], before: int, behind: int) -> TextSpan | None:
    changed = pieces[before : len(pieces) - behind]
    if not changed or len(changed) > LONGEST_CHANGE:
        return None
    return changed[0].start(), changed[-1].end()


def _judge(a: SentenceReading, one: TextSpan, b: SentenceReading, other: TextSpan) -> NearIdentical | None:
    x, y = _value(a, one), _value(b, other)
    if x is None or y is None or _beside(a, one) != _beside(b, other):
        return None
    if isinstance(x, DateMention) and isinstance(y, DateMention):
        return NearIdentical(None if _dates_agree(x.when, y.when) else _contradiction("a date", a, one, b, other))
    if isinstance(x, Quantity) and isinstance(y, Quantity):
        kind = _kind(x, y)
        if kind == "contradiction":
            return NearIdentical(_contradiction("a number", a, one, b, other))
        if kind == "different scope":
            return None
        text = "The difference is within what rounding or estimating explains."
        why = Message(text, "differ.within_rounding")
        return NearIdentical(Disagreement(kind, "a number", one, other, why, 1.0) if kind else None)
    return NearIdentical(_contradiction("a number", a, one, b, other))


def _contradiction(
    what: DisputedValue, a: SentenceReading, one: TextSpan, b: SentenceReading, other: TextSpan
) -> Disagreement:
    mine, theirs = a.text[slice(*one)], b.text[slice(*other)]
    text = f"Word for word the same, but for {mine!r} and {theirs!r}."
    why = Message(text, "differ.but_for", one=mine, other=theirs)
    return Disagreement("contradiction", what, one, other, why, 1.0)


def _kind(x: Quantity, y: Quantity) -> DisagreementKind | None:
    """How two numbers differ in one place of a sentence: any difference counts that is not of rounding or guessing."""
    relation = quantity_relation(x._replace(qualifier=""), y._replace(qualifier=""))
    gap = gap_of(x, y)
    if relation == "different kinds":
        return "contradiction" if x.unit != y.unit else "different scope"
    if relation == "same" or (relation == "rounding" and x.written_unit != y.written_unit):
        return None
    if x.is_range and y.is_range:
        return "contradiction"
    if gap <= ESTIMATE_TOLERANCE and (x.qualifier or y.qualifier or x.is_range != y.is_range):
        return "estimate range"
    return "unit or rounding" if relation == "rounding" and x.digits != y.digits else "contradiction"


def _dates_agree(one: DateRange, other: DateRange) -> bool:
    """Whether one is the other with more or less precision, or of the other calendar."""
    # 'By' and 'until' stand in both, so they explain nothing.
    relation = date_relation(replace(one, qualifier=""), replace(other, qualifier=""))
    return relation in ("same", "calendar") or (relation == "within" and one.precision != other.precision)


def _value(reading: SentenceReading, span: TextSpan) -> DateMention | Quantity | str | None:
    """The one value that the changed words are part of: a date, a quantity, or at least figures."""
    numbers = [value.quantity for value in reading.values if value.quantity]
    found: list[DateMention | Quantity] = [*reading.dates, *numbers]
    found = [value for value in found if value.start < span[1] and span[0] < value.end]
    if found:
        return found[0] if len(found) == 1 else None
    known = comparison_words(reading.language)
    changed = reading.text[slice(*span)].lower()
    if any(c.isdigit() for c in changed) or changed in known.ordinals or changed in known.value_words:
        return changed
    return None


def _beside(reading: SentenceReading, span: TextSpan) -> list[str]:
    """The changed words that are part of no value."""
    taken = [(value.start, value.end) for value in reading.values]
    words = [word for word in reading.words if span[0] <= word.start < span[1] and word.stem]
    return [word.low for word in words if not any(start <= word.start < end for start, end in taken)]
