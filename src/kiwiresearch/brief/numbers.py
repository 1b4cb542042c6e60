"""The table of numbers: value, what it measures, of what, when, and who says so."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from kiwiresearch.brief.brief import Figure, Statement
from kiwiresearch.brief.disputes import Conflict
from kiwiresearch.brief.stating import MOST_CLAIMS, sureness_of
from kiwiresearch.brief.support import Said, same_value
from kiwiresearch.brief.themes import LEAST
from kiwiresearch.brief.weighing import Scales
from kiwiresearch.brief.wording import folded
from kiwiresearch.claims.claim import Claim, ClaimId, Measure
from kiwiresearch.claims.tables import Grammar, grammar_of

MOST_FIGURES = 12
MOST_OF_ONE = 6
"""One page of statistics does not fill the table."""


def numbers(
    said: Sequence[Said], found: Sequence[Conflict], scales: Scales, is_told: Callable[[Claim], bool]
) -> tuple[Figure, ...]:
    """The numbers that matter most, those of one subject together.

    Where it is not certain that a number measures the subject, its row is its sentence, so it needs none if the brief
    has told that.
    """
    disagreeing = _disagreeing(found)
    numeric = [
        one
        for one in said
        if one.best.measures
        and not one.best.depends_on
        and ("numeric" in (one.best.type, *one.best.also) or one.best.id in disagreeing)
        and scales.speaks_of(one.claims[0])
        and scales.is_own(one.best)
    ]
    if not numeric:
        return ()
    least = LEAST * numeric[0].points
    rows: list[tuple[Said, Measure]] = []
    per_subject: dict[str, int] = {}
    for one in numeric:
        measure = _main(one)
        key = folded(measure.of)
        if one.points < least or not measure.what or per_subject.get(key, 0) >= MOST_OF_ONE:
            continue
        if any(same_value(one.best, other.best) for other, _ in rows):
            continue
        is_plain = is_of_subject(one.best, measure, grammar_of(one.claims[0].language))
        if not is_plain and (_is_small(measure) or is_told(one.best) or not _is_row_by_itself(one.best, scales)):
            continue
        per_subject[key] = per_subject.get(key, 0) + 1
        rows.append((one, measure))
        if len(rows) == MOST_FIGURES:
            break
    first = {folded(measure.of): number for number, (_, measure) in reversed(list(enumerate(rows)))}
    ordered = sorted(rows, key=lambda row: first[folded(row[1].of)])
    return tuple(_figure(one, measure, disagreeing) for one, measure in ordered)


LONGEST = 320
"""The longest sentence that is a row of the table."""


def _is_row_by_itself(claim: Claim, scales: Scales) -> bool:
    """Whether a sentence with a number is understood in a table: it names the topic, or introduces its page."""
    is_clear = not claim.headings or scales.relevance.names(claim)
    return is_clear and len(claim.text) <= LONGEST and scales.relevance.is_asked(claim, CERTAIN)


CERTAIN = 1.0
"""How much more likely than usual a sentence must be about what is asked for, in log-odds."""


def _is_small(measure: Measure) -> bool:
    """Whether a number says little by itself: a small count, or how long ago something was."""
    quantity = measure.quantity
    return measure.what == "duration" or (not quantity.unit and measure.what != "share" and quantity.high < FEW)


FEW = 10


def _main(one: Said) -> Measure:
    """The number a claim turns on: one with a unit, or a large one, before small counts."""
    measures = one.best.measures
    told = [measure for measure in measures if measure.what]
    large = [measure for measure in told if measure.quantity.unit or measure.quantity.high >= LARGE]
    return next(iter(large or told), measures[0])


LARGE = 100


def _figure(one: Said, measure: Measure, disagreeing: dict[ClaimId, str]) -> Figure:
    text, quantity = one.best.text, measure.quantity
    value = text[quantity.start : quantity.end]
    qualifier = f"{quantity.qualifier} " if quantity.qualifier else ""
    if quantity.is_range and " and " in value:
        qualifier = "between "
    claims = tuple(weighed.claim.id for weighed in one.claims[:MOST_CLAIMS])
    is_plain = is_of_subject(one.best, measure, grammar_of(one.claims[0].language))
    return Figure(
        value=f"{qualifier}{value}",
        what=measure.what if is_plain else "",
        of=measure.of if is_plain else "",
        when=measure.when.words() if measure.when and is_plain else "",
        statement=Statement(text, claims, sureness_of(one.best, one.pages), one.pages),
        disagrees=disagreeing.get(one.best.id, ""),
    )


def is_of_subject(claim: Claim, measure: Measure, grammar: Grammar) -> bool:
    """Whether a number surely measures the subject: it is a row of a table, or follows subject and verb directly."""
    if claim.is_row:
        return True
    text, quantity, subject = claim.text, measure.quantity, measure.of
    start = text.casefold().find(subject.casefold())
    end = start + len(subject)
    if start < 0 or end > quantity.start or not _is_opening(text[:start]) or NOT_A_THING.search(subject):
        return False
    between = BRACKET.sub(" ", text[end : quantity.start]).lower().split()
    if not any(word in grammar.number_verbs for word in between):
        return False
    if any(word not in grammar.number_verbs and word not in grammar.number_fillers for word in between):
        return False
    # 'needs 300 lb of vegetation' is no mass of the elephant
    return not (quantity.unit and OF_ANOTHER.match(text[quantity.end :]))


def _is_opening(text: str) -> bool:
    return not text.strip() or text.strip().casefold() in ("the", "a", "an")


BRACKET = re.compile(r"\([^()]*\)")
NOT_A_THING = re.compile(r"\d|\b(?:of|in|the|a|and|by|to|from|there)$|^(?:and|but|or|there)\b", re.IGNORECASE)
OF_ANOTHER = re.compile(r"(?:\s*\([^()]*\))?\s+(?:of|from|away|behind|ahead)\b")


def _disagreeing(found: Sequence[Conflict]) -> dict[ClaimId, str]:
    """Claims whose numbers another claim does not share, and how they differ."""
    told: dict[ClaimId, str] = {}
    for conflict in found:
        if conflict.disagreement.what == "a number":
            for one in (conflict.one, conflict.other):
                told.setdefault(one.best.id, f"{conflict.disagreement.kind}: {conflict.disagreement.why}")
    return told
