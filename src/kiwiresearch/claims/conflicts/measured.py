"""Numbers, ranks and dates of two sentences: which are said of the same thing, and how far they lie apart."""

from __future__ import annotations

from kiwiresearch.claims.conflicts.agreement import Reading
from kiwiresearch.claims.conflicts.compare_words import compare_words
from kiwiresearch.claims.conflicts.dated import match_dates
from kiwiresearch.claims.conflicts.events import PERSONAL
from kiwiresearch.claims.conflicts.likeness import ENOUGH, Match, likeness, setting
from kiwiresearch.claims.conflicts.saying import Disagreement, Kind, What
from kiwiresearch.claims.conflicts.values import Value
from kiwiresearch.text import quantities
from kiwiresearch.text.quantities import Quantity

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


def compare_values(a: Reading, b: Reading) -> Disagreement | None:
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
    what: What = "a date" if best.one.what == "a date" else "a number"
    one, other = (best.one.start, best.one.end), (best.other.start, best.other.end)
    return Disagreement(best.kind or "contradiction", what, one, other, best.why, _strength(best, a, b))


def _strength(match: Match, a: Reading, b: Reading) -> float:
    """The likeness, less where much stands beside one value that does not stand beside the other."""
    mine, theirs = match.one.near, match.other.near
    both = 2 * len(mine & theirs) / (len(mine) + len(theirs)) if mine or theirs else 0.0
    if match.one.key == match.other.key and match.one.key in PERSONAL:
        both = 1.0
    # A number is of what its sentence is about; an event may be told of something else.
    elsewhere = match.one.what != "a date" and a.subject and b.subject and a.subject.isdisjoint(b.subject)
    return round((0.4 * match.likeness + 0.6 * both) * (0.5 if elsewhere else 1) * match.sure, 3)


def compare_own_list(reading: Reading) -> Disagreement | None:
    """A sentence that says how many there are, and lists more or fewer."""
    for listed in reading.values:
        start, end, said = listed.said
        if said and not listed.listed[0] <= said <= listed.listed[1]:
            return Disagreement(
                "contradiction", "a number", (start, end), (listed.start, listed.end), _why_listed(listed, said), 0.6
            )
    return None


def _why_listed(listed: Value, said: float) -> str:
    return f"The list has {listed.listed[1]} items, and the number said is {said:g}."


def _match(a: Reading, one: Value, b: Reading, other: Value) -> Match | None:
    if one.what != other.what:
        return None
    if one.what == "a date":
        return match_dates(a, one, b, other)
    if one.what == "a rank":
        return _ranks(a, one, b, other)
    return _numbers(a, one, b, other)


def _numbers(a: Reading, one: Value, b: Reading, other: Value) -> Match | None:
    if one.quantity is None or other.quantity is None:
        return _counts(a, one, b, other)
    x, y = one.quantity, other.quantity
    if not x.unit and not y.unit:  # what is counted is compared here, where more words are known to be alike
        x, y = x._replace(counted=""), y._replace(counted="")
        if not _same_counted(one, other):
            return None
    if x.converted or y.converted or _other_measure(a, one, other):
        return None
    relation = quantities.relation(x, y)
    if relation == "different kinds":
        return None
    like = likeness(a, one, b, other)
    kind, allowed = _difference(x, y, relation)
    gap = gap_of(x, y)
    if kind != "contradiction":
        why = f"They differ by {gap:.1%}, which rounding or estimating explains."
        return Match(one, other, like, kind, why)
    if like < TOO_UNLIKE:
        return None
    kind, why = setting(a, one, b, other)
    return Match(one, other, like, kind, why or f"They differ by {gap:.0%}, more than the {allowed:.0%} allowed.")


def _difference(x: Quantity, y: Quantity, relation: quantities.Relation) -> tuple[Kind | None, float]:
    """What the values alone tell, and how far they might have been apart."""
    gap = gap_of(x, y)
    is_guess = bool(x.qualifier or y.qualifier or x.is_range or y.is_range)
    allowed = ESTIMATE_TOLERANCE if is_guess else TOLERANCE
    is_open = not {x.qualifier, y.qualifier} <= {"", "about"}
    if relation == "same":
        return None, allowed
    if relation in ("rounding", "overlap") and (gap <= ESTIMATE_TOLERANCE or is_open):
        close: Kind = "unit or rounding" if relation == "rounding" else "estimate range"
        return (close if gap else None), allowed
    if gap <= allowed:
        return ("estimate range" if is_guess else "unit or rounding"), allowed
    return "contradiction", allowed


def _other_measure(a: Reading, one: Value, other: Value) -> bool:
    """Whether one is a height and the other a length."""
    if one.quantity is None or not one.quantity.unit:
        return False
    measures = compare_words(a.language).measures
    mine, theirs = (measures & (value.close or value.near) for value in (one, other))
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _same_counted(one: Value, other: Value) -> bool:
    return bool(one.key and other.key) and (one.key == other.key or one.key in other.near or other.key in one.near)


def _counts(a: Reading, one: Value, b: Reading, other: Value) -> Match | None:
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
        return Match(one, other, like, None)
    return Match(one, other, like, "contradiction", _why_listed(items, quantity.low))


def _ranks(a: Reading, one: Value, b: Reading, other: Value) -> Match | None:
    if one.key != other.key:
        return None
    like = likeness(a, one, b, other)
    if one.rank == other.rank:
        return Match(one, other, like, None) if one.near == other.near else None
    if like < TOO_UNLIKE:
        return None
    kind, why = setting(a, one, b, other)
    return Match(one, other, like, kind, why or f"One ranks it {one.rank}, the other {other.rank}.")


def gap_of(x: Quantity, y: Quantity) -> float:
    """How far two numbers are apart, as a share of the larger."""
    apart = max(x.low - y.high, y.low - x.high, 0.0)
    # A share of kelvins tells nothing: degrees count as shares of the way from ice to steam.
    size = 100.0 if x.unit == "K" else max(abs(x.low), abs(x.high), abs(y.low), abs(y.high))
    return apart / size if size else 0.0
