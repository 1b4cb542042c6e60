"""What the book leaves open, told apart from what this book merely does not hold."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from kiwiresearch.brief.brief import Gap
from kiwiresearch.brief.outline import Outline
from kiwiresearch.brief.sources import Origin
from kiwiresearch.brief.stating import is_hedged
from kiwiresearch.brief.support import Said
from kiwiresearch.brief.themes import ALIKE
from kiwiresearch.brief.weighing import Scales
from kiwiresearch.brief.wording import folded, likeness
from kiwiresearch.claims.claim import Claim
from kiwiresearch.text.languages import words_of
from kiwiresearch.zim.entry import EntryRef

FEW_CLAIMS = 2
MOST_CONCEPTS = 5
MOST_HEDGED = 5
MOST_OPEN = 6
MOST_MISSING = 6
CENTRAL = 4
"""A page that this many of the pages read link to is central."""
WEIGHTY = 0.35
"""A page with less than this share of the best one's weight is beside the topic."""


def gaps(
    origin: Origin,
    said: Sequence[Said],
    claims: Sequence[Claim],
    outline: Outline,
    scales: Scales,
    missing: Mapping[str, int],
) -> tuple[Gap, ...]:
    """All that was seen to be open; `missing` has the pages that were linked to and are not in the book."""
    return (
        *_introductions(origin),
        *_open(said, outline, scales),
        *_concepts(origin, claims, scales),
        *_hedged(said, scales),
        *_missing(missing, origin),
    )


def _introductions(origin: Origin) -> Iterator[Gap]:
    for book in origin.books:
        if book.lead_only:
            yield Gap(
                "introductions only",
                f"“{book.title}” holds the introductions of its articles only: "
                "what the later sections say is missing here, and is no gap in knowledge.",
            )


def _open(said: Sequence[Said], outline: Outline, scales: Scales) -> Iterator[Gap]:
    """Sentences about the topic that say that something is not known, and that the brief has not told yet."""
    told: list[Said] = []
    for one in said:
        claim = one.best
        if len(told) == MOST_OPEN:
            break
        if claim.is_row or claim.depends_on or outline.has(claim) or not scales.is_about(one.claims[0]):
            continue
        is_open = words_of(scales.language(claim.ref)).open_questions.search(claim.text) is not None
        if is_open and not any(likeness(one.stems, other.stems) > ALIKE for other in told):
            told.append(one)
    for one in told:
        yield Gap("open", one.best.text, (one.best.id,))


def _concepts(origin: Origin, claims: Sequence[Claim], scales: Scales) -> Iterator[Gap]:
    """Pages that matter and that many others link to, of which next to nothing is claimed."""
    visited = origin.state.visited
    linked = Counter(
        EntryRef(ref.book, path) for ref, step in visited.items() for path in {offer.path for offer in step.offers}
    )
    of_page = Counter(claim.ref for claim in claims)
    subjects = Counter(folded(claim.subject) for claim in claims)
    rows = [
        (linked[ref], step.title)
        for ref, step in visited.items()
        if linked[ref] >= CENTRAL
        and scales.page(ref) >= WEIGHTY
        and of_page[ref] <= FEW_CLAIMS
        and subjects[folded(step.title)] <= FEW_CLAIMS
    ]
    for count, title in sorted(rows, key=lambda row: (-row[0], row[1]))[:MOST_CONCEPTS]:
        yield Gap("concept", f"{title}: {count} of the pages read link to it, but hardly anything is claimed of it.")


def _hedged(said: Sequence[Said], scales: Scales) -> Iterator[Gap]:
    """Pages that hedge much of what they say, and give few references."""
    hedged: dict[str, list[Claim]] = defaultdict(list)
    if not any(one.best.signals.page_references for one in said):
        return  # the book was made without references: that none are there says nothing
    for one in said:
        for weighed in one.claims:
            claim = weighed.claim
            if (
                is_hedged(claim)
                and scales.is_seed(claim)
                and not claim.signals.references
                and claim.signals.section_references == 0
            ):
                hedged[claim.page_title].append(claim)
    rows = [
        (scales.page(claims[0].ref) * len(claims), title, claims) for title, claims in hedged.items() if len(claims) > 1
    ]
    for _, title, claims in sorted(rows, key=lambda row: (-row[0], row[1]))[:MOST_HEDGED]:
        cues = Counter(hedge.cue for claim in claims for hedge in claim.hedges if hedge.kind != "some")
        words = ", ".join(f"“{cue}”" for cue, _ in sorted(cues.items(), key=lambda row: (-row[1], row[0]))[:4])
        yield Gap(
            "hedged",
            f"{title}: {len(claims)} claims are hedged ({words}) and have no reference beside them.",
            tuple(claim.id for claim in claims[:4]),
        )


def _missing(missing: Mapping[str, int], origin: Origin) -> Iterator[Gap]:
    rows = sorted(missing.items(), key=lambda row: (-row[1], row[0]))[:MOST_MISSING]
    if rows:
        named = ", ".join(f"{title} ({count})" for title, count in rows)
        which = "the book" if len(origin.books) == 1 else "the books"
        yield Gap(
            "missing page",
            f"Pages that the most relevant articles link to and that {which} used here do not hold: {named}. "
            "That is a gap of this selection, not of knowledge.",
        )
