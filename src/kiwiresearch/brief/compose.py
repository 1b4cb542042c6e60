"""From claims to a brief, by rule: what is said, how well it is supported, and what is open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from kiwiresearch.brief.brief import Brief, Dispute, Group, Moment, Statement
from kiwiresearch.brief.disputes import conflicts, disputes
from kiwiresearch.brief.gaps import gaps
from kiwiresearch.brief.numbers import numbers
from kiwiresearch.brief.outline import Outline
from kiwiresearch.brief.second_sources import with_second_sources
from kiwiresearch.brief.sources import Origin, begun_weakly, sources_of
from kiwiresearch.brief.support import Said, joined
from kiwiresearch.brief.themes import MOST_MOMENTS, actors, begins_with_date, definitions, in_time, mechanisms, timeline
from kiwiresearch.brief.weighing import Scales
from kiwiresearch.claims.claim import Claim, ClaimId
from kiwiresearch.claims.tables import is_known

NAMED = 0.5


def compose(origin: Origin, claims: Sequence[Claim], missing: Mapping[str, int]) -> Brief:
    """The brief of a crawl."""
    scales = Scales(origin, claims)
    said = joined(scales.weigh(claims))
    outline = Outline(scales, said)
    by_id = {claim.id: claim for claim in claims}
    begun = origin.state.begun

    def left() -> list[Said]:
        return [one for one in said if not any(outline.has(weighed.claim) for weighed in one.claims)]

    def used(groups: Part) -> Part:
        outline.use(by_id[one.claims[0]] for group in groups for one in statements_of(group))
        return groups

    def is_told(dispute: Dispute) -> bool:
        """Whether the summary says all of it; what it says one side of is told whole."""
        return all(outline.has(by_id[view.statement.claims[0]]) for view in dispute.views)

    summary = outline.summary()
    found = conflicts(said, scales)
    disputed = used(tuple(one for one in disputes(said, found, scales) if not is_told(one)))
    # A paragraph that is one sentence with its date in front is read best in the order of time.
    first = used(timeline([one for one in left() if begins_with_date(one) and outline.is_alone(one.best)], scales))
    body = outline.parts()
    moments = in_time((*first, *used(timeline(left(), scales, most=MOST_MOMENTS - len(first)))))
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
        numbers=numbers(said, found, scales, outline.has),
        gaps=gaps(origin, said, claims, outline, scales, missing),
        claims=by_id,
        notes=tuple(_notes(origin)),
    )
    return with_needed_claims(with_second_sources(brief, claims, scales))


Part = TypeVar("Part", bound=tuple[Group | Moment | Dispute, ...])


def statements_of(group: Group | Moment | Dispute) -> tuple[Statement, ...]:
    """The statements of an entry of a part."""
    match group:
        case Group():
            return group.statements
        case Moment():
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


def _notes(origin: Origin) -> Iterator[str]:
    if begun_weakly(origin.state):
        yield "No page names the topic as it stands: these pages only share its words."
    elif origin.state.begun and not any(seed.coverage >= NAMED for seed in origin.state.begun.seeds):
        yield "No page is about the topic as a whole: these pages only speak of it, or of a part of it."
    for language in sorted({book.language for book in origin.books if not is_known(book.language)}):
        yield (
            f"There are no rules yet for claims in the language of the book ({language}): "
            "only first sentences and tables were read."
        )
    for book in origin.books:
        if book.lead_only:
            yield f"“{book.title}” holds the introductions of its articles only."
