"""Disagreements in a number, a rank or a date."""

from __future__ import annotations

from kiwiresearch.claims.conflicts.sentences import (
    MIN_LIKENESS,
    Disagreement,
    DisagreementKind,
    DisputedValue,
    SentenceReading,
    ValueMatch,
    likeness,
    setting_difference,
    subject_likeness,
)
from kiwiresearch.claims.conflicts.values import SentenceValue, first_moment, last_moment
from kiwiresearch.claims.conflicts.words import PERSONAL, comparison_words
from kiwiresearch.messages import Message
from kiwiresearch.text import Quantity, QuantityRelation, count_of, quantity_relation
from kiwiresearch.text.dates import DateRange, date_relation

MIN_LIKENESS_WITHOUT_EVENT = 0.6
"""The likeness that two dates need if no word says that both date the same event."""

MIN_SUBJECT_OVERLAP = 0.5
"""The share of the shorter event subject that must be in the other."""

UNSURE_FACTOR = 0.6
"""The likeness is multiplied by this if it is unclear whether both date the same event."""

STARTS = frozenset({"beginning", "founding", "opening", "office", "launch"})
ENDS = frozenset({"ending", "leaving"})
"""Events on the first or the last day of something that lasts."""

# Decades and centuries are too vague for a contradiction.
EXACT = frozenset({"day", "month", "season", "year"})


def match_dates(a: SentenceReading, one: SentenceValue, b: SentenceReading, other: SentenceValue) -> ValueMatch | None:
    if one.when is None or other.when is None:
        return None
    score = likeness(a, one, b, other)
    # Checked before anything else, because it is the only contradiction between two different events.
    if one.key != other.key and (why := _why_impossible(a, one, b, other)):
        return ValueMatch(one, other, max(score, MIN_LIKENESS), "contradiction", why)
    same_event = bool(one.key) and one.key == other.key
    pairs = _moments(one, other)
    if not pairs:
        return None
    apart = [(x, y) for x, y in pairs if date_relation(x, y) == "apart"]
    if not apart:
        return ValueMatch(one, other, score, None)
    x, y = apart[0]
    same_event_probability = _same_event(a, one, b, other) if same_event else 1.0
    same_event = same_event or one.when.lasts != other.when.lasts
    if one.key and other.key and not same_event:
        return None
    score = round(score * max(same_event_probability, UNSURE_FACTOR), 3)
    min_likeness = MIN_LIKENESS_WITHOUT_EVENT if not same_event or one.when.lasts != other.when.lasts else 0.0
    if not {x.precision, y.precision} <= EXACT or score < min_likeness:
        return None
    return ValueMatch(one, other, score, "contradiction", NO_COMMON_DAY, same_event_probability)


def _moments(one: SentenceValue, other: SentenceValue) -> list[tuple[DateRange, DateRange]]:
    """The moments of two dates that should be equal: both ends of two ranges, or one end of a range and an event."""
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
    """From 0 to 1: whether both date the same event."""
    if one.event_subject is None or other.event_subject is None:
        return 0.0
    mine, theirs = one.event_subject or a.subject, other.event_subject or b.subject
    if not mine or not theirs:
        return 1.0 if not one.clause_stems or not other.clause_stems else 0.7
    shared = len(mine & theirs) / min(len(mine), len(theirs))
    if one.key in PERSONAL or other.key in PERSONAL:
        return 1.0 if shared == 1 else 0.0
    if (mine & a.names) - b.content and (theirs & b.names) - a.content:
        return 0.0
    # From 0.8 to 1.0, since `shared` is at least one half.
    return 0.6 + 0.4 * shared if shared >= MIN_SUBJECT_OVERLAP else 0.0


def _why_impossible(a: SentenceReading, one: SentenceValue, b: SentenceReading, other: SentenceValue) -> Message | None:
    """Why two dates cannot both be right if one event must come before the other."""
    orders = comparison_words(a.language).event_orders
    if subject_likeness(a, b) < 1 or not _same_event(a, one, b, other) or one.when is None or other.when is None:
        return None
    for first, second in ((one, other), (other, one)):
        if (first.key, second.key) in orders and first.when and second.when:
            start = first_moment(first.when)
            if first.when.qualifier != "before" and start.earliest > first_moment(second.when).latest:
                return Message(f"The {first.key} cannot come after the {second.key}.")
    return None


SETTLED_LIKENESS = 0.3
"""From this likeness on, a value that agrees with another is not compared with a third."""

AGREEMENT_BONUS = 0.1
MAX_AGREEMENTS = 2
"""The likeness gains a bonus for each other value on which both agree, up to this many."""

MIN_SUPPORTED_LIKENESS = MIN_LIKENESS - MAX_AGREEMENTS * AGREEMENT_BONUS
"""Below this, two values cannot be about the same thing."""

TOLERANCE = 0.01
"""Numbers that differ by at most this share of the larger are equal apart from rounding or units."""

ESTIMATE_TOLERANCE = 0.1
"""The same for numbers called 'about', or given as ranges."""

NO_COMMON_DAY = Message("Both date the same event, but their dates do not overlap.", "differ.no_common_day")


def compare_values(a: SentenceReading, b: SentenceReading) -> Disagreement | None:
    """The clearest disagreement between two sentences in a number, rank or date."""
    matches = [
        match for sentence_value in a.values for other in b.values if (match := _match(a, sentence_value, b, other))
    ]
    agreeing = [m for m in matches if m.kind is None and (m.likeness >= SETTLED_LIKENESS or m.one.key == m.other.key)]
    # By identity: two equal values of one sentence are still two, and only one of them may be settled.
    settled = {id(value) for match in agreeing for value in (match.one, match.other)}
    unsettled = [m for m in matches if m.kind and id(m.one) not in settled and id(m.other) not in settled]
    support = AGREEMENT_BONUS * min(MAX_AGREEMENTS, sum(m.kind is None and m.likeness >= MIN_LIKENESS for m in matches))
    unsettled = [match for match in unsettled if match.likeness + support >= MIN_LIKENESS]
    if not unsettled:
        return None
    best = max(unsettled, key=lambda m: (m.likeness, -m.one.start - m.other.start))
    what: DisputedValue = "a date" if best.one.what == "a date" else "a number"
    one, other = (best.one.start, best.one.end), (best.other.start, best.other.end)
    return Disagreement(best.kind or "contradiction", what, one, other, best.why, _strength(best, a, b))


def _strength(match: ValueMatch, a: SentenceReading, b: SentenceReading) -> float:
    """The likeness, reduced if the words around the two values differ much."""
    mine, theirs = match.one.clause_stems, match.other.clause_stems
    both = 2 * len(mine & theirs) / (len(mine) + len(theirs)) if mine or theirs else 0.0
    if match.one.key == match.other.key and match.one.key in PERSONAL:
        both = 1.0
    # A number describes the subject of its sentence; a date may be that of something else.
    elsewhere = match.one.what != "a date" and a.subject and b.subject and a.subject.isdisjoint(b.subject)
    return round((0.4 * match.likeness + 0.6 * both) * (0.5 if elsewhere else 1) * match.same_event_probability, 3)


def check_count_against_list(reading: SentenceReading) -> Disagreement | None:
    """A sentence that says how many there are, but lists more or fewer."""
    for listed in reading.values:
        start, end, said = listed.stated_count
        if said and not listed.listed[0] <= said <= listed.listed[1]:
            return Disagreement(
                "contradiction", "a number", (start, end), (listed.start, listed.end), _why_listed(listed, said), 0.6
            )
    return None


def _why_listed(listed: SentenceValue, said: float) -> Message:
    text = f"The list has {count_of(listed.listed[1], 'item')}, but the text says {said:g}."
    number = int(said) if said == int(said) else said
    return Message(text, "differ.list_length", n=listed.listed[1], said=number)


def rounding_explains(gap: float) -> Message:
    text = f"They differ by {gap:.1%}. Rounding or estimates can explain that."
    return Message(text, "differ.rounded", share=round(gap, 4))


def too_far_apart(gap: float, allowed: float) -> Message:
    text = f"They differ by {gap:.0%}. Up to {allowed:.0%} could be rounding or estimates."
    return Message(text, "differ.too_far", share=round(gap, 4), allowed=allowed)


def _match(a: SentenceReading, one: SentenceValue, b: SentenceReading, other: SentenceValue) -> ValueMatch | None:
    if one.what != other.what:
        return None
    if one.what == "a date":
        return match_dates(a, one, b, other)
    if one.what == "a rank":
        return _match_ranks(a, one, b, other)
    return _match_numbers(a, one, b, other)


def _match_numbers(
    a: SentenceReading, one: SentenceValue, b: SentenceReading, other: SentenceValue
) -> ValueMatch | None:
    if one.quantity is None or other.quantity is None:
        return _match_counts(a, one, b, other)
    x, y = one.quantity, other.quantity
    if not x.unit and not y.unit:  # what is counted is compared below, by more synonyms
        x, y = x._replace(counted=""), y._replace(counted="")
        is_same = one.key == other.key or one.key in other.clause_stems or other.key in one.clause_stems
        if not (one.key and other.key and is_same):
            return None
    if x.converted or y.converted or _other_measure(a, one, other):
        return None
    relation = quantity_relation(x, y)
    if relation == "different kinds":
        return None
    score = likeness(a, one, b, other)
    kind, allowed = _difference(x, y, relation)
    gap = gap_of(x, y)
    if kind != "contradiction":
        return ValueMatch(one, other, score, kind, rounding_explains(gap))
    if score < MIN_SUPPORTED_LIKENESS:
        return None
    kind, why = setting_difference(a, one, b, other)
    return ValueMatch(one, other, score, kind, why or too_far_apart(gap, allowed))


def _difference(x: Quantity, y: Quantity, relation: QuantityRelation) -> tuple[DisagreementKind | None, float]:
    """The kind of disagreement by the values alone, and the difference allowed."""
    gap = gap_of(x, y)
    is_estimate = bool(x.qualifier or y.qualifier or x.is_range or y.is_range)
    allowed = ESTIMATE_TOLERANCE if is_estimate else TOLERANCE
    is_open = not {x.qualifier, y.qualifier} <= {"", "about"}
    # The order matters: equal and overlapping values agree, whatever their difference is as a share.
    if relation == "same":
        return None, allowed
    if relation in ("rounding", "overlap") and (gap <= ESTIMATE_TOLERANCE or is_open):
        close: DisagreementKind = "unit or rounding" if relation == "rounding" else "estimate range"
        return (close if gap else None), allowed
    if gap <= allowed:
        return ("estimate range" if is_estimate else "unit or rounding"), allowed
    return "contradiction", allowed


def _other_measure(a: SentenceReading, one: SentenceValue, other: SentenceValue) -> bool:
    """Whether one is a height and the other a length."""
    if one.quantity is None or not one.quantity.unit:
        return False
    measures = comparison_words(a.language).measures
    mine, theirs = (measures & (value.adjacent_stems or value.clause_stems) for value in (one, other))
    return bool(mine and theirs) and mine.isdisjoint(theirs)


def _match_counts(
    a: SentenceReading, one: SentenceValue, b: SentenceReading, other: SentenceValue
) -> ValueMatch | None:
    """Compares a number with the length of a list."""
    if (one.quantity is None) == (other.quantity is None):
        return None
    quantity = one.quantity or other.quantity
    if quantity is None or quantity.unit or quantity.low != quantity.high or quantity.qualifier:
        return None
    if not one.key or one.key != other.key:
        return None
    score = likeness(a, one, b, other)
    items = other if one.quantity else one
    if items.listed[0] <= quantity.low <= items.listed[1]:
        return ValueMatch(one, other, score, None)
    return ValueMatch(one, other, score, "contradiction", _why_listed(items, quantity.low))


def _match_ranks(a: SentenceReading, one: SentenceValue, b: SentenceReading, other: SentenceValue) -> ValueMatch | None:
    if one.key != other.key:
        return None
    score = likeness(a, one, b, other)
    if one.rank == other.rank:
        return ValueMatch(one, other, score, None) if one.clause_stems == other.clause_stems else None
    if score < MIN_SUPPORTED_LIKENESS:
        return None
    kind, why = setting_difference(a, one, b, other)
    ranks = f"One ranks it {one.rank}, the other {other.rank}."
    return ValueMatch(one, other, score, kind, why or Message(ranks, "differ.rank", one=one.rank, other=other.rank))


def gap_of(x: Quantity, y: Quantity) -> float:
    """The difference of two numbers, as a share of the larger."""
    apart = max(x.low - y.high, y.low - x.high, 0.0)
    # A share of kelvins is meaningless, so temperatures are measured against the 100 degrees from ice to steam.
    size = 100.0 if x.unit == "K" else max(abs(x.low), abs(x.high), abs(y.low), abs(y.high))
    return apart / size if size else 0.0
