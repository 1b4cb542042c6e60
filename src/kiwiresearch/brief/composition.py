"""From claims to a brief, by rule; with the table of numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from kiwiresearch.brief.brief import Brief, Difference, Dispute, Figure, Statement, StatementGroup, TimelineMoment
from kiwiresearch.brief.disputes import ClaimConflict, disputes, find_conflicts
from kiwiresearch.brief.importance import ClaimWeights, folded_name
from kiwiresearch.brief.outline import Outline
from kiwiresearch.brief.second_sources import with_second_sources
from kiwiresearch.brief.sources import BriefOrigin, sources_of, started_weakly
from kiwiresearch.brief.support import MAX_CLAIMS, Assertion, merge_equivalent, same_value, sureness_of
from kiwiresearch.brief.themes import (
    MAX_MOMENTS,
    MIN_SHARE,
    actors,
    begins_with_date,
    definitions,
    gaps,
    in_time_order,
    mechanisms,
    timeline,
)
from kiwiresearch.claims.claim import Claim, ClaimId, Measure
from kiwiresearch.claims.language import Grammar, grammar_of, has_claim_tables
from kiwiresearch.messages.message import Message

MAX_FIGURES = 12
MAX_OF_ONE = 6
"""One page of statistics does not fill the table."""


def numbers(
    said: Sequence[Assertion], found: Sequence[ClaimConflict], scales: ClaimWeights, is_used: Callable[[Claim], bool]
) -> tuple[Figure, ...]:
    """The numbers that matter most, those of one subject together.

    Where it is not certain that a number measures the subject, its row is its sentence, so it needs none if the brief
    has told that.
    """
    disagreeing = _disagreement_of_claim(found)
    numeric = [
        one
        for one in said
        if one.best.measures
        and not one.best.depends_on
        and ("numeric" in (one.best.type, *one.best.also) or one.best.id in disagreeing)
        and scales.is_mainly_about(one.claims[0])
        and scales.names_topic(one.best)
    ]
    if not numeric:
        return ()
    least = MIN_SHARE * numeric[0].points
    rows: list[tuple[Assertion, Measure]] = []
    per_subject: dict[str, int] = {}
    for one in numeric:
        measure = _main(one)
        key = folded_name(measure.of)
        if one.points < least or not measure.what or per_subject.get(key, 0) >= MAX_OF_ONE:
            continue
        if any(same_value(one.best, other.best) for other, _ in rows):
            continue
        is_plain = measures_subject(one.best, measure, grammar_of(one.claims[0].language))
        if not is_plain and (_is_small(measure) or is_used(one.best) or not _is_row_by_itself(one.best, scales)):
            continue
        per_subject[key] = per_subject.get(key, 0) + 1
        rows.append((one, measure))
        if len(rows) == MAX_FIGURES:
            break
    first = {folded_name(measure.of): number for number, (_, measure) in reversed(list(enumerate(rows)))}
    ordered = sorted(rows, key=lambda row: first[folded_name(row[1].of)])
    return tuple(_figure(one, measure, disagreeing) for one, measure in ordered)


LONGEST_ROW = 320
"""The longest sentence that is a row of the table."""


def _is_row_by_itself(claim: Claim, scales: ClaimWeights) -> bool:
    """Whether a sentence with a number is understood in a table: it names the topic, or introduces its page."""
    is_clear = not claim.headings or scales.relevance.names(claim)
    return is_clear and len(claim.text) <= LONGEST_ROW and scales.relevance.is_on_aspect(claim, STRICT)


STRICT = 1.0
"""How much more likely than usual a sentence must be about what is asked for, in log-odds."""


def _is_small(measure: Measure) -> bool:
    """Whether a number says little by itself: a small count, or how long ago something was."""
    quantity = measure.quantity
    return measure.what == "duration" or (not quantity.unit and measure.what != "share" and quantity.high < FEW)


FEW = 10


def _main(one: Assertion) -> Measure:
    """The number a claim turns on: one with a unit, or a large one, before small counts."""
    measures = one.best.measures
    told = [measure for measure in measures if measure.what]
    large = [measure for measure in told if measure.quantity.unit or measure.quantity.high >= LARGE]
    return next(iter(large or told), measures[0])


LARGE = 100


def _figure(one: Assertion, measure: Measure, disagreeing: dict[ClaimId, Difference]) -> Figure:
    text, quantity = one.best.text, measure.quantity
    value = text[quantity.start : quantity.end]
    qualifier = f"{quantity.qualifier} " if quantity.qualifier else ""
    if quantity.is_range and " and " in value:
        qualifier = "between "
    claims = tuple(weighed.claim.id for weighed in one.claims[:MAX_CLAIMS])
    is_plain = measures_subject(one.best, measure, grammar_of(one.claims[0].language))
    return Figure(
        value=f"{qualifier}{value}",
        what=measure.what if is_plain else "",
        of=measure.of if is_plain else "",
        when=measure.when.words() if measure.when and is_plain else "",
        statement=Statement(text, claims, sureness_of(one.best, one.pages), one.pages),
        difference=disagreeing.get(one.best.id),
    )


def measures_subject(claim: Claim, measure: Measure, grammar: Grammar) -> bool:
    """Whether a number surely measures the subject: it is a row of a table, or follows subject and verb directly."""
    if claim.is_row:
        return True
    text, quantity, subject = claim.text, measure.quantity, measure.of
    start = text.casefold().find(subject.casefold())
    end = start + len(subject)
    if start < 0 or end > quantity.start or not _is_opening(text[:start]) or NOT_A_SUBJECT.search(subject):
        return False
    between = BRACKET.sub(" ", text[end : quantity.start]).lower().split()
    if not any(word in grammar.number_verbs for word in between):
        return False
    if any(word not in grammar.number_verbs and word not in grammar.number_fillers for word in between):
        return False
    # 'needs 300 lb of vegetation' is no mass of the elephant
    return not (quantity.unit and OF_SOMETHING_ELSE.match(text[quantity.end :]))


def _is_opening(text: str) -> bool:
    return not text.strip() or text.strip().casefold() in ("the", "a", "an")


BRACKET = re.compile(r"\([^()]*\)")
NOT_A_SUBJECT = re.compile(r"\d|\b(?:of|in|the|a|and|by|to|from|there)$|^(?:and|but|or|there)\b", re.IGNORECASE)
OF_SOMETHING_ELSE = re.compile(r"(?:\s*\([^()]*\))?\s+(?:of|from|away|behind|ahead)\b")


def _disagreement_of_claim(found: Sequence[ClaimConflict]) -> dict[ClaimId, Difference]:
    """Claims whose numbers another claim does not share, and how they differ."""
    told: dict[ClaimId, Difference] = {}
    for conflict in found:
        if conflict.disagreement.what == "a number":
            for one in (conflict.one, conflict.other):
                told.setdefault(one.best.id, Difference(conflict.disagreement.kind, conflict.disagreement.why))
    return told


MIN_SEED_COVERAGE = 0.5


def compose(origin: BriefOrigin, claims: Sequence[Claim], missing: Mapping[str, int]) -> Brief:
    """The brief of a crawl."""
    scales = ClaimWeights(origin, claims)
    said = merge_equivalent(scales.weigh(claims))
    outline = Outline(scales, said)
    by_id = {claim.id: claim for claim in claims}
    begun = origin.state.started

    def left() -> list[Assertion]:
        return [one for one in said if not any(outline.is_used(weighed.claim) for weighed in one.claims)]

    def used(groups: Part) -> Part:
        outline.mark_used(by_id[one.claims[0]] for group in groups for one in statements_of(group))
        return groups

    def is_told(dispute: Dispute) -> bool:
        """Whether the summary says all of it; what it says one side of is told whole."""
        return all(outline.is_used(by_id[view.statement.claims[0]]) for view in dispute.views)

    summary = outline.summary()
    found = find_conflicts(said, scales)
    disputed = used(tuple(one for one in disputes(said, found, scales) if not is_told(one)))
    # A paragraph that is one sentence with its date in front is read best in the order of time.
    first = used(
        timeline([one for one in left() if begins_with_date(one) and outline.is_only_sentence(one.best)], scales)
    )
    body = outline.parts()
    moments = in_time_order((*first, *used(timeline(left(), scales, most=MAX_MOMENTS - len(first)))))
    explained = used(mechanisms(left(), scales))
    terms = used(definitions(said, outline, scales))
    brief = Brief(
        topic=begun.topic if begun else "",
        sources=sources_of(origin),
        head=scales.relevance.head,
        aspect=scales.relevance.aspect,
        senses=begun.senses if begun else (),
        summary=summary,
        body=body,
        definitions=terms,
        timeline=moments,
        mechanisms=explained,
        actors=used(actors(said, outline, scales)),
        disputes=disputed,
        numbers=numbers(said, found, scales, outline.is_used),
        gaps=gaps(origin, said, claims, outline, scales, missing),
        claims=by_id,
        notes=tuple(_notes(origin)),
    )
    return with_needed_claims(with_second_sources(brief, claims, scales))


Part = TypeVar("Part", bound=tuple[StatementGroup | TimelineMoment | Dispute, ...])


def statements_of(group: StatementGroup | TimelineMoment | Dispute) -> tuple[Statement, ...]:
    """The statements of an entry of a part."""
    match group:
        case StatementGroup():
            return group.statements
        case TimelineMoment():
            return (group.statement,)
        case Dispute():
            return tuple(view.statement for view in group.views)


def with_needed_claims(brief: Brief) -> Brief:
    """The brief with the claims that something in it rests on, and no others."""
    needed: dict[ClaimId, None] = {}
    for statement in brief.statements():
        needed.update(dict.fromkeys(statement.claims))
    for gap in brief.gaps:
        needed.update(dict.fromkeys(gap.claims))
    return replace(brief, claims={one: brief.claims[one] for one in needed})


def _notes(origin: BriefOrigin) -> Iterator[Message]:
    if started_weakly(origin.state):
        text = "No page names the topic as it stands: these pages only share its words."
        yield Message(text, "note.only_words")
    elif origin.state.started and not any(seed.coverage >= MIN_SEED_COVERAGE for seed in origin.state.started.seeds):
        text = "No page is about the topic as a whole: these pages only speak of it, or of a part of it."
        yield Message(text, "note.only_parts")
    for language in sorted({book.language for book in origin.books if not has_claim_tables(book.language)}):
        yield Message(
            f"There are no rules yet for claims in the language of the book ({language}): "
            "only first sentences and tables were read.",
            "note.no_rules",
            language=language,
        )
    for book in origin.books:
        if book.lead_only:
            text = f"“{book.title}” holds the introductions of its articles only."
            yield Message(text, "note.introductions", book=book.title)
