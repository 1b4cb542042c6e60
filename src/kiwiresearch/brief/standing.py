"""Whether a sentence can be read where it stands: by itself, or behind the one that it follows on its page."""

from __future__ import annotations

from collections.abc import Sequence

from kiwiresearch.brief.brief import Brief
from kiwiresearch.claims.claim import Claim
from kiwiresearch.zim.entry import EntryRef

SPACE = 1
"""Sentences of one paragraph stand so many characters apart, paragraphs further."""


def head_pages(brief: Brief) -> frozenset[EntryRef]:
    """The pages about the thing itself."""
    return frozenset(source.ref for source in brief.sources.pages if source.is_head)


def can_stand(claim: Claim, before: Sequence[Claim], heads: frozenset[EntryRef]) -> bool:
    """Whether a claim can be read behind others; on pages about the thing itself it is known whom 'she' means."""
    if not claim.depends_on or (claim.depends_on == "subject" and claim.ref in heads):
        return True
    return any(is_right_before(one, claim) for one in before)


def is_right_before(one: Claim, other: Claim) -> bool:
    """Whether two claims are neighbours: sentences of one paragraph below the same headings."""
    first, second = one.quotes[0], other.quotes[0]
    same = (one.ref, one.headings) == (other.ref, other.headings)
    return same and first.start < second.start <= first.end + SPACE
