"""Composes a brief from claims by rule, and makes its table of numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from kiwiresearch.brief.brief import Brief, Dispute, Figure, Statement, StatementGroup, TimelineMoment, ValueDifference
from kiwiresearch.brief.disputes import (
    ClaimDisagreement,
    comparable_claims,
    disputes,
    find_claim_disagreements,
    within_limits,
)
from kiwiresearch.brief.importance import ClaimWeights, folded_name
from kiwiresearch.brief.outline import Outline
from kiwiresearch.brief.parts import (
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
from kiwiresearch.brief.passages import UsedClaims
from kiwiresearch.brief.relevance import STRICT_MARGIN
from kiwiresearch.brief.second_sources import with_second_sources
from kiwiresearch.brief.sources import BriefInput, sources_of, started_weakly
from kiwiresearch.brief.support import MAX_CLAIMS, MergedClaim, merge_equivalent, same_value, support_level
from kiwiresearch.claims import Claim, ClaimId, Grammar, Measure, grammar_of, has_claim_tables
from kiwiresearch.messages import Message

MAX_FIGURES = 12
MAX_PER_SUBJECT = 6
"""Keeps one page of statistics from filling the table."""
MAX_ROW_CHARS = 320
"""A longer sentence is not a row of the table."""
SMALL_COUNT, LARGE_COUNT = 10, 100
MIN_SEED_COVERAGE = 0.5
"""If no seed's title covers this share of the topic's name, a note says that no page is about all of it."""

BRACKETED_TEXT = re.compile(r"\([^()]*\)")
NOT_A_SUBJECT = re.compile(r"\d|\b(?:of|in|the|a|and|by|to|from|there)$|^(?:and|but|or|there)\b", re.IGNORECASE)
OF_SOMETHING_ELSE = re.compile(r"(?:\s*\([^()]*\))?\s+(?:of|from|away|behind|ahead)\b")
"""After a number with a unit: 'needs 300 lb of vegetation' is not the mass of the elephant."""

Part = TypeVar("Part", bound=tuple[StatementGroup | TimelineMoment | Dispute, ...])


def numbers(
    merged_claims: Sequence[MergedClaim],
    conflicts: Sequence[ClaimDisagreement],
    weights: ClaimWeights,
    used: UsedClaims,
) -> tuple[Figure, ...]:
    """The numbers that matter most, those of one subject together.

    If it is uncertain that a number measures the subject, its row shows the sentence; it has no row if the brief has
    used that sentence already.
    """
    disagreeing = _difference_of_claim(conflicts)
    numeric = [
        claim
        for claim in merged_claims
        if claim.best.measures
        and not claim.best.depends_on
        and ("numeric" in (claim.best.type, *claim.best.also) or claim.best.id in disagreeing)
        and weights.is_mainly_about(claim.claims[0])
        and weights.names_topic(claim.best)
    ]
    if not numeric:
        return ()
    min_points = MIN_SHARE * numeric[0].points
    rows: list[tuple[MergedClaim, Measure, bool]] = []
    per_subject: Counter[str] = Counter()
    for merged_claim in numeric:
        measure = _main_measure(merged_claim.best)
        key = folded_name(measure.of)
        if merged_claim.points < min_points or not measure.what or per_subject[key] >= MAX_PER_SUBJECT:
            continue
        # The same value in other words is not merged with it, but must not get a second row.
        if any(same_value(merged_claim.best, other.best) for other, *_ in rows):
            continue
        is_about_subject = measures_subject(merged_claim.best, measure, grammar_of(merged_claim.claims[0].language))
        if not is_about_subject and (
            _is_small(measure) or merged_claim.best in used or not _is_clear_row(merged_claim.best, weights)
        ):
            continue
        per_subject[key] += 1
        rows.append((merged_claim, measure, is_about_subject))
        if len(rows) == MAX_FIGURES:
            break
    # Reversed, so that the smallest number of each subject remains: subjects are in the order of their best rows.
    first = {folded_name(measure.of): number for number, (_, measure, _) in reversed(list(enumerate(rows)))}
    ordered = sorted(rows, key=lambda row: first[folded_name(row[1].of)])
    return tuple(
        _figure(item, measure, disagreeing, is_about_subject=is_about_subject)
        for item, measure, is_about_subject in ordered
    )


def _is_clear_row(claim: Claim, weights: ClaimWeights) -> bool:
    """Whether a sentence with a number is clear in a table: it names the topic, or is from the lead of its page."""
    is_clear = not claim.headings or weights.relevance.names(claim)
    return is_clear and len(claim.text) <= MAX_ROW_CHARS and weights.relevance.is_on_aspect(claim, STRICT_MARGIN)


def _is_small(measure: Measure) -> bool:
    """Whether a number says little on its own: a small count, or a duration."""
    quantity = measure.quantity
    return measure.what == "duration" or (not quantity.unit and measure.what != "share" and quantity.high < SMALL_COUNT)


def _main_measure(claim: Claim) -> Measure:
    """The most important number of a claim: one with a unit, or a large one, before small counts."""
    named = [measure for measure in claim.measures if measure.what]
    large = [measure for measure in named if measure.quantity.unit or measure.quantity.high >= LARGE_COUNT]
    return next(iter(large or named), claim.measures[0])


def _figure(
    merged_claim: MergedClaim, measure: Measure, disagreeing: dict[ClaimId, ValueDifference], *, is_about_subject: bool
) -> Figure:
    text, quantity = merged_claim.best.text, measure.quantity
    value = text[quantity.start : quantity.end]
    qualifier = f"{quantity.qualifier} " if quantity.qualifier else ""
    # 'between 5 and 10': the range of the quantity starts at its first figure.
    if quantity.is_range and " and " in value:
        qualifier = "between "
    claims = tuple(weighed.claim.id for weighed in merged_claim.claims[:MAX_CLAIMS])
    return Figure(
        value=f"{qualifier}{value}",
        what=measure.what if is_about_subject else "",
        of=measure.of if is_about_subject else "",
        when=measure.when.words() if measure.when and is_about_subject else "",
        statement=Statement(text, claims, support_level(merged_claim.best, merged_claim.pages), merged_claim.pages),
        difference=disagreeing.get(merged_claim.best.id),
    )


def measures_subject(claim: Claim, measure: Measure, grammar: Grammar) -> bool:
    """Whether a number certainly measures the subject: in a row of a table, or right after subject and verb."""
    if claim.is_row:
        return True
    text, quantity, subject = claim.text, measure.quantity, measure.of
    start = text.casefold().find(subject.casefold())
    end = start + len(subject)
    opening = text[: max(start, 0)].strip().casefold()
    # The subject must open the sentence: after any other words, the number may be about those.
    if start < 0 or end > quantity.start or opening not in ("", "the", "a", "an") or NOT_A_SUBJECT.search(subject):
        return False
    between = BRACKETED_TEXT.sub(" ", text[end : quantity.start]).lower().split()
    if not any(word in grammar.number_verbs for word in between):
        return False
    if any(word not in grammar.number_verbs and word not in grammar.number_fillers for word in between):
        return False
    return not (quantity.unit and OF_SOMETHING_ELSE.match(text[quantity.end :]))


def _difference_of_claim(conflicts: Sequence[ClaimDisagreement]) -> dict[ClaimId, ValueDifference]:
    """Claims with a number that another claim contradicts, and how they differ."""
    differences: dict[ClaimId, ValueDifference] = {}
    for conflict in conflicts:
        if conflict.disagreement.what == "a number":
            for merged_claim in (conflict.one, conflict.other):
                differences.setdefault(
                    merged_claim.best.id, ValueDifference(conflict.disagreement.kind, conflict.disagreement.why)
                )
    return differences


def compose(brief_input: BriefInput, claims: Sequence[Claim], missing: Mapping[str, int]) -> Brief:
    weights = ClaimWeights(brief_input, claims)
    merged_claims = merge_equivalent(weights.weigh(claims))
    used = UsedClaims()
    outline = Outline(weights, merged_claims, used)
    by_id = {claim.id: claim for claim in claims}
    start = brief_input.state.started

    def unused() -> list[MergedClaim]:
        return [claim for claim in merged_claims if not any(weighed.claim in used for weighed in claim.claims)]

    def mark_used(groups: Part) -> Part:
        used.add(by_id[statement.claims[0]] for group in groups for statement in statements_of(group))
        return groups

    # Order matters here: no part repeats what an earlier part says.
    summary = outline.summary()
    comparable = comparable_claims(merged_claims, weights)
    compared = within_limits(comparable)
    conflicts = find_claim_disagreements(compared)
    disputed = mark_used(
        tuple(
            dispute
            for dispute in disputes(merged_claims, conflicts, weights)
            # A dispute is dropped only if every side has been used; if the summary gives one side, both are shown.
            if not all(by_id[view.statement.claims[0]] in used for view in dispute.views)
        )
    )
    # A one-sentence paragraph that opens with its date reads best in the timeline.
    dated = [
        merged_claim
        for merged_claim in unused()
        if begins_with_date(merged_claim) and outline.is_alone_in_paragraph(merged_claim.best)
    ]
    first_moments = mark_used(timeline(dated, weights))
    body = outline.sections()
    moments = mark_used(timeline(unused(), weights, max_moments=MAX_MOMENTS - len(first_moments)))
    explained = mark_used(mechanisms(unused(), weights))
    # Definitions and actors look up what the prose links to, so they come after it; they skip used claims themselves.
    terms = mark_used(definitions(merged_claims, used, weights))
    brief = Brief(
        topic=start.topic if start else "",
        sources=sources_of(brief_input),
        head=weights.relevance.head,
        aspect=weights.relevance.aspect,
        senses=start.senses if start else (),
        summary=summary,
        body=body,
        definitions=terms,
        timeline=in_time_order((*first_moments, *moments)),
        mechanisms=explained,
        actors=mark_used(actors(merged_claims, used, weights)),
        disputes=disputed,
        numbers=numbers(merged_claims, conflicts, weights, used),
        gaps=gaps(brief_input, merged_claims, claims, used, weights, missing),
        claims=by_id,
        notes=(*_notes(brief_input), *_limit_notes(len(comparable), len(compared))),
    )
    return without_unused_claims(with_second_sources(brief, claims, weights))


def _limit_notes(comparable: int, compared: int) -> Iterator[Message]:
    """A note if there were too many numbers and dates to compare them all."""
    if compared < comparable:
        yield Message(
            f"Of {comparable:,} statements with a number or a date, {compared:,} were compared with each other, "
            "so the brief may not show where the others disagree.",
            "note.not_compared",
            found=comparable,
            compared=compared,
        )


def statements_of(group: StatementGroup | TimelineMoment | Dispute) -> tuple[Statement, ...]:
    match group:
        case StatementGroup():
            return group.statements
        case TimelineMoment():
            return (group.statement,)
        case Dispute():
            return tuple(view.statement for view in group.views)


def without_unused_claims(brief: Brief) -> Brief:
    """The brief without claims that support nothing in it."""
    needed: dict[ClaimId, None] = {}
    for statement in brief.statements():
        needed.update(dict.fromkeys(statement.claims))
    for gap in brief.gaps:
        needed.update(dict.fromkeys(gap.claims))
    return replace(brief, claims={claim_id: brief.claims[claim_id] for claim_id in needed})


def _notes(brief_input: BriefInput) -> Iterator[Message]:
    if started_weakly(brief_input.state):
        text = "No page names the topic as you wrote it. These pages only share some of its words."
        yield Message(text, "note.only_words")
    elif brief_input.state.started and not any(
        seed.coverage >= MIN_SEED_COVERAGE for seed in brief_input.state.started.seeds
    ):
        text = (
            "Your books have no page about this topic as a whole. "
            "The brief is based on pages that mention it or cover part of it."
        )
        yield Message(text, "note.only_parts")
    for language in sorted({book.language for book in brief_input.books if not has_claim_tables(book.language)}):
        yield Message(
            f"kiwiresearch cannot fully read books in this language yet ({language}). "
            "Only first sentences and tables were used.",
            "note.no_rules",
            language=language,
        )
    for book in brief_input.books:
        if book.lead_only:
            text = f"“{book.title}” contains only the introductions of its articles."
            yield Message(text, "note.introductions", book=book.title)
