"""From claims to a brief, by rule: what is said, how well it is supported, and what is open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kiwiresearch.brief.brief import Brief, Statement
from kiwiresearch.brief.disputes import conflicts, disputes
from kiwiresearch.brief.gaps import gaps
from kiwiresearch.brief.numbers import numbers
from kiwiresearch.brief.sources import Origin, begun_weakly, sources_of
from kiwiresearch.brief.stating import stated
from kiwiresearch.brief.support import Said, joined
from kiwiresearch.brief.themes import actors, definitions, mechanisms, of_the_topic, timeline
from kiwiresearch.brief.weighing import Scales
from kiwiresearch.brief.wording import folded, likeness
from kiwiresearch.claims.claim import Claim, ClaimId
from kiwiresearch.claims.tables import is_known

MOST_STATEMENTS = 9
ENOUGH = 6
ALIKE = 0.38
LEAST = 0.35
MOST_OF_TYPE = {"definition": 4, "numeric": 2, "quote": 0, "timeline": 3, "disputed": 2}
MOST_OF_PAGE = 2
MOST_OF_SEED = 6
MOST_CHARS = 260
NAMED = 0.5


def compose(origin: Origin, claims: Sequence[Claim], missing: Mapping[str, int]) -> Brief:
    """The brief of a crawl."""
    scales = Scales(origin)
    said = joined(scales.weigh(claims))
    found = conflicts(said, scales)
    first = of_the_topic(said, scales)
    begun = origin.state.begun
    brief = Brief(
        topic=begun.topic if begun else "",
        sources=sources_of(origin),
        lead=tuple(map(stated, first)),
        summary=summary([one for one in said if one not in first], scales),
        definitions=definitions(said, scales),
        timeline=timeline(said, scales),
        mechanisms=mechanisms(said, scales, scales.seed_titles | {folded(begun.topic) if begun else ""}),
        actors=actors(said, scales),
        disputes=disputes(said, found, scales),
        numbers=numbers(said, found, scales),
        gaps=gaps(origin, said, scales, missing),
        claims={claim.id: claim for claim in claims},
        notes=tuple(_notes(origin)),
    )
    return with_needed_claims(brief)


def with_needed_claims(brief: Brief) -> Brief:
    """The brief with the claims that something in it rests on, and no others."""
    needed: dict[ClaimId, None] = {}
    for statement in brief.statements():
        needed.update(dict.fromkeys(statement.claims))
    for gap in brief.gaps:
        needed.update(dict.fromkeys(gap.claims))
    return replace(brief, claims={one: brief.claims[one] for one in needed})


def summary(said: Sequence[Said], scales: Scales) -> tuple[Statement, ...]:
    """Six to ten statements about the topic that do not repeat each other, the most supported first."""
    chosen: list[Said] = []
    for strict in (True, False):
        for one in said:
            if len(chosen) == (MOST_STATEMENTS if strict else ENOUGH):
                break
            if one in chosen or not _fits(one, chosen, said[0].points, scales, strict=strict):
                continue
            chosen.append(one)
        if len(chosen) >= ENOUGH:
            break
    ordered = sorted(chosen, key=lambda one: (-one.pages, -one.points, one.best.id))
    return tuple(map(stated, ordered))


def _fits(one: Said, chosen: Sequence[Said], most: float, scales: Scales, *, strict: bool) -> bool:
    claim = one.best
    if len(claim.text) > MOST_CHARS or claim.text.endswith("?") or one.points <= 0:
        return False
    if any(likeness(one.stems, other.stems) > ALIKE for other in chosen):
        return False
    if not strict:
        return True
    of_type = sum(other.best.type == claim.type for other in chosen)
    of_page = sum(other.best.ref == claim.ref for other in chosen)
    limit = MOST_OF_TYPE.get(claim.type, MOST_STATEMENTS)
    most_of_page = MOST_OF_SEED if scales.is_seed(claim) else MOST_OF_PAGE
    if of_type >= limit or of_page >= most_of_page:
        return False
    return one.points >= LEAST * most and scales.is_of_topic(one.claims[0])


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
