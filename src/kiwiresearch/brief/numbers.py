"""The table of numbers: value, what it measures, of what, when, and who says so."""

from __future__ import annotations

from collections.abc import Sequence

from kiwiresearch.brief.brief import Figure, Statement
from kiwiresearch.brief.disputes import Conflict
from kiwiresearch.brief.stating import MOST_CLAIMS, sureness_of
from kiwiresearch.brief.support import Said, same_value
from kiwiresearch.brief.themes import LEAST
from kiwiresearch.brief.weighing import Scales
from kiwiresearch.brief.wording import folded
from kiwiresearch.claims.claim import ClaimId, Measure

MOST_FIGURES = 28
MOST_OF_ONE = 8
"""One page of statistics does not fill the table."""


def numbers(said: Sequence[Said], found: Sequence[Conflict], scales: Scales) -> tuple[Figure, ...]:
    """The numbers that matter most, those of one subject together."""
    disagreeing = _disagreeing(found)
    numeric = [
        one
        for one in said
        if one.best.measures
        and not one.best.leans
        and ("numeric" in (one.best.type, *one.best.also) or one.best.id in disagreeing)
        and scales.speaks_of(one.claims[0])
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
        per_subject[key] = per_subject.get(key, 0) + 1
        rows.append((one, measure))
        if len(rows) == MOST_FIGURES:
            break
    first = {folded(measure.of): number for number, (_, measure) in reversed(list(enumerate(rows)))}
    ordered = sorted(rows, key=lambda row: first[folded(row[1].of)])
    return tuple(_figure(one, measure, disagreeing) for one, measure in ordered)


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
    return Figure(
        value=f"{qualifier}{value}",
        what=measure.what,
        of=measure.of,
        when=measure.when.words() if measure.when else "",
        statement=Statement(text, claims, sureness_of(one), one.pages),
        disagrees=disagreeing.get(one.best.id, ""),
    )


def _disagreeing(found: Sequence[Conflict]) -> dict[ClaimId, str]:
    """Claims whose numbers another claim does not share, and how they differ."""
    told: dict[ClaimId, str] = {}
    for conflict in found:
        if conflict.disagreement.what == "a number":
            for one in (conflict.one, conflict.other):
                told.setdefault(one.best.id, f"{conflict.disagreement.kind}: {conflict.disagreement.why}")
    return told
