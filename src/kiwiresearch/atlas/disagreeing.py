"""Where a book does not agree with itself: facts and sentences of one subject, set side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

from kiwiresearch.atlas.fact import Fact
from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.conflicts.compare import compare
from kiwiresearch.claims.conflicts.measured import TOLERANCE, gap_of
from kiwiresearch.claims.conflicts.saying import Disagreement, Saying, Span
from kiwiresearch.evidence.citation import BOX
from kiwiresearch.text.quantities import Quantity
from kiwiresearch.text.when import Dated

MOST_OF_FACT = 24
"""Of one fact so many tellings are compared with each other, those of its own page first: 276 pairs at most."""
MOST_PAIRS = 3
"""Pairs of values of one fact that are told; more would say the same again."""
OTHER_SCOPE = 0.2
"""A row of a table elsewhere that is further off than this is of a part: Russia in a table of Asia is not all of it."""
STRONG = 0.6


@dataclass(frozen=True, slots=True)
class Side:
    """What one side says, and where in its words the value stands that differs."""

    claim: Claim
    span: Span


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two sides that cannot both be right, or that differ in a way which is explained."""

    about: str
    """The path of the page about the subject."""
    attribute: str
    """What both tell of it; empty of two sentences that are word for word the same but for a value."""
    how: Disagreement
    gap: float
    """How far two numbers are apart, as a share of the larger; how many days two dates are."""
    sides: tuple[Side, Side]


def of_subject(about: str, facts: Iterable[Fact], language: str) -> Iterator[Contradiction]:
    """The disagreements of facts whose subject has the page `about`, each pair of values once."""
    by_attribute: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        by_attribute[fact.attribute].append(fact)
    for attribute in sorted(by_attribute):
        several = sorted(by_attribute[attribute], key=lambda fact: not fact.is_own)[:MOST_OF_FACT]
        found: dict[frozenset[object], Contradiction] = {}
        for values, one in _of_facts(about, several, language):
            found.setdefault(values, one)
        yield from islice(found.values(), MOST_PAIRS)


def of_twins(about: str, claims: Sequence[Claim], language: str) -> Iterator[Contradiction]:
    """Sentences of several places that are the same but for their figures."""
    for one, other in combinations(claims[:MOST_OF_FACT], 2):
        if (one.ref, one.section) == (other.ref, other.section):
            continue
        how = compare(_saying(one, language), _saying(other, language))
        if how is None or how.strength < STRONG or how.what not in ("a number", "a date"):
            continue
        if one.text[how.a[1] :].lstrip()[:1] != "±":  # what tells its own error may differ by it
            values = [_value_at(one, how.a), _value_at(other, how.b)]
            yield Contradiction(about, "", how, _gap(*values), (Side(one, how.a), Side(other, how.b)))


def _of_facts(about: str, facts: Sequence[Fact], language: str) -> Iterator[tuple[frozenset[object], Contradiction]]:
    """Those that disagree, by their values: two pairs of the same values tell the same."""
    for one, other in combinations(facts, 2):
        if not one.is_of_the_same(other):
            continue
        how = compare(one.saying(language), other.saying(language))
        if how is None:
            continue
        how, gap = _explained(one, other, how)
        if how.kind == "contradiction" and gap > OTHER_SCOPE and (_is_in_table(one) or _is_in_table(other)):
            continue
        sides = (Side(one.claim, _span(one)), Side(other.claim, _span(other)))
        values = frozenset((_core(one.value), _core(other.value)))
        yield values, Contradiction(about, one.attribute, replace(how, a=sides[0].span, b=sides[1].span), gap, sides)


def _explained(one: Fact, other: Fact, how: Disagreement) -> tuple[Disagreement, float]:
    """The disagreement with what facts tell beyond their words, and how far they are apart."""
    gap = _gap(one.value, other.value)
    if how.kind != "contradiction" or not isinstance(one.value, Quantity):
        return replace(how, why=DATES if how.kind == "contradiction" else how.why), gap
    if gap <= TOLERANCE:
        return replace(how, kind="unit or rounding", why=f"They differ by {gap:.1%}, {EXPLAINED}"), gap
    if {one.basis, other.basis} == {"census", "estimate"}:
        return replace(how, kind="estimate range", why=f"They differ by {gap:.1%}, {EXPLAINED}"), gap
    return replace(how, why=f"They differ by {gap:.0%}, more than the {TOLERANCE:.0%} allowed."), gap


EXPLAINED = "which rounding or estimating explains."
DATES = "Both date the same, and no day is within both."


def _core(value: Quantity | Dated) -> object:
    return value.when.latest if isinstance(value, Dated) else (value.low, value.high)


def _gap(one: Quantity | Dated | None, other: Quantity | Dated | None) -> float:
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        return round(gap_of(one, other), 4)
    if isinstance(one, Dated) and isinstance(other, Dated):
        return float(max(one.when.earliest - other.when.latest, other.when.earliest - one.when.latest, 0))
    return 0.0


def _value_at(claim: Claim, span: Span) -> Quantity | Dated | None:
    values: list[Quantity | Dated] = [*(measure.quantity for measure in claim.measures), *claim.dates]
    return next((value for value in values if value.start < span[1] and span[0] < value.end), None)


def _is_in_table(fact: Fact) -> bool:
    return fact.is_label and not (fact.is_own and fact.claim.section == BOX)


def _span(fact: Fact) -> Span:
    return fact.value.start, fact.value.end


def _saying(claim: Claim, language: str) -> Saying:
    quantities = tuple(measure.quantity for measure in claim.measures)
    return Saying(claim.text, claim.subject, quantities, claim.dates, language)
