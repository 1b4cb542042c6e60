"""What is disputed in a new snapshot that was not in the old one: contradicted, hedged, or marked by the page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from kiwiresearch.brief.disputes import STRONG, is_clear
from kiwiresearch.brief.weighing import saying_of
from kiwiresearch.brief.wording import likeness, stems_of, without_article
from kiwiresearch.claims.claim import Claim, ClaimId
from kiwiresearch.claims.conflicts.compare import compare
from kiwiresearch.claims.conflicts.saying import Disagreement
from kiwiresearch.research.snapshots_change import Doubt

MOST_OF_SUBJECT = 60
"""So many claims of one subject are compared with each other."""

HOLDING_BACK = ("may", "debated", "uncertain")
"""Kinds of hedges that say that it may not be so; 'some' and 'most' say of how many it is."""

MARKS = (("disputed", "The page marks it as disputed."), ("citation_needed", "The page asks for a source of it."))

Before = Mapping[ClaimId, Claim]
"""The claims of the new snapshot that the old one has too, word for word or otherwise, with that older claim."""


def holding_back(claim: Claim) -> list[str]:
    """The words of a claim that say that it may not be so, in their order, each once."""
    return list(dict.fromkeys(hedge.cue.casefold() for hedge in claim.hedges if hedge.kind in HOLDING_BACK))


def own_doubts(old: Claim, new: Claim) -> Iterator[Doubt]:
    """What holds a claim back now and did not before: words of its own, and marks of the page."""
    cues = holding_back(new)
    if cues and not holding_back(old):
        yield Doubt("hedged", f"It is held back now: {', '.join(map(repr, cues))}.")
    for name, why in MARKS:
        if getattr(new.signals, name) and not getattr(old.signals, name):
            yield Doubt("marked", why)


def contradicted(
    touched: Sequence[Claim], all_new: Sequence[Claim], before: Before, language: str
) -> dict[ClaimId, list[Doubt]]:
    """The claims that came or changed and now contradict another of the new snapshot; each pair is told once."""
    by_subject: dict[str, list[Claim]] = defaultdict(list)
    for claim in all_new:
        if claim.measures or claim.dates:
            by_subject[without_article(claim.subject)].append(claim)
    found: dict[ClaimId, list[Doubt]] = defaultdict(list)
    told: set[frozenset[ClaimId]] = set()
    for claim in touched:
        for other in by_subject.get(without_article(claim.subject), ())[:MOST_OF_SUBJECT]:
            pair = frozenset((claim.id, other.id))
            if len(pair) < 2 or pair in told:
                continue
            how = contradiction(claim, other, language)
            if how and not _was_so(claim, other, before, language):
                told.add(pair)
                found[claim.id].append(Doubt("contradicted", how.why, other))
    return found


def contradiction(one: Claim, other: Claim, language: str) -> Disagreement | None:
    """How two claims contradict each other, if that is as clear as a brief wants it."""
    if not ((one.measures or one.dates) and (other.measures or other.dates)):
        return None
    how = compare(saying_of(one, language), saying_of(other, language))
    if how is None or how.kind != "contradiction" or how.strength < STRONG:
        return None
    alike = likeness(stems_of(one.text, language), stems_of(other.text, language))
    return how if is_clear(one, other, alike) else None


def _was_so(one: Claim, other: Claim, before: Before, language: str) -> bool:
    first, second = before.get(one.id), before.get(other.id)
    return first is not None and second is not None and contradiction(first, second, language) is not None
