"""Claims of the rules and of a model put together: what both say stands once, in the page's words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.firewall import content_stems
from kiwiresearch.claims.numerals import numbers_in
from kiwiresearch.evidence.quote import Quote
from kiwiresearch.zim.entry import EntryRef

SAME_PLACE = 0.8
"""So much of the shorter quote must lie in the longer one."""
SAME_WORDS = 0.7
"""So many of the words of the shorter claim must be in the other, for claims of one type."""
NEARLY_EQUAL = 0.9
"""So many of all their words, for claims that were filed under different types."""
MOST_TAGS = 12


def merged(rule_claims: Sequence[Claim], model_claims: Sequence[Claim], language: str = "eng") -> tuple[Claim, ...]:
    """All claims without duplicates: the rules' with the model's tags added, then what only the model found."""
    kept = list(rule_claims)
    at_page: dict[EntryRef, list[int]] = {}
    for number, claim in enumerate(kept):
        at_page.setdefault(claim.ref, []).append(number)
    for claim in model_claims:
        here = at_page.setdefault(claim.ref, [])
        twin = next((number for number in here if _same(kept[number], claim, language)), None)
        if twin is None:
            here.append(len(kept))
            kept.append(claim)
        else:
            kept[twin] = replace(kept[twin], tags=_joined(kept[twin].tags, claim.tags))
    return tuple(kept)


def _same(one: Claim, other: Claim, language: str) -> bool:
    if not any(_overlap(mine, theirs) for mine in one.quotes for theirs in other.quotes):
        return False
    if not _numbers(other, language) <= _numbers(one, language):
        return False
    mine, theirs = content_stems(one.text, language), content_stems(other.text, language)
    shared = len(mine & theirs)
    if one.type == other.type and shared >= SAME_WORDS * max(min(len(mine), len(theirs)), 1):
        return True
    return shared >= NEARLY_EQUAL * max(len(mine | theirs), 1)


def _numbers(claim: Claim, language: str) -> frozenset[str]:
    return frozenset(number.words for number in numbers_in(claim.text, language))


def _overlap(one: Quote, other: Quote) -> bool:
    common = min(one.end, other.end) - max(one.start, other.start)
    return common >= SAME_PLACE * min(one.end - one.start, other.end - other.start)


def _joined(tags: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*tags, *more)))[:MOST_TAGS]
