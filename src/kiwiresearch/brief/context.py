"""What stands around a quote on its page: the sentences before and after it in the same paragraph."""

from __future__ import annotations

from collections.abc import Mapping

from kiwiresearch.brief.brief import Context
from kiwiresearch.brief.document import Around
from kiwiresearch.claims.claim import Claim, ClaimId
from kiwiresearch.text.sentences import sentence_starts

MOST = 220
"""Characters on each side, if these are several sentences."""
LONGEST = 420
"""A single sentence may be as long as this; a longer one is left out, since it is never cut."""

NOTHING = Context("", "")


def around(claim: Claim, context: Mapping[ClaimId, Context]) -> Around:
    """The first quote of a claim with what stands around it."""
    found = context.get(claim.id, NOTHING)
    return Around(claim.quotes[0], found.before, found.after)


def context_of(claim: Claim, text: str, language: str) -> Context | None:
    """What stands around the claim's first quote in the text of its page; None for rows and where there is nothing."""
    if claim.is_row:
        return None
    quote = claim.quotes[0]
    begin = text.rfind("\n", 0, quote.start) + 1
    end = text.find("\n", quote.end)
    end = len(text) if end < 0 else end
    starts = [begin + start for start in sentence_starts(text[begin:end], language=language)]
    firsts = [start for start in starts if start < quote.start]
    lasts = [start for start in (*starts, end) if text[quote.end : start].strip()]
    near = [start for start in firsts if quote.start - start <= MOST] or firsts[-1:]
    far = [start for start in lasts if start - quote.end <= MOST] or lasts[:1]
    before = text[near[0] : quote.start] if near and quote.start - near[0] <= LONGEST else ""
    after = text[quote.end : far[-1]].rstrip() if far and far[-1] - quote.end <= LONGEST else ""
    return Context(before, after) if before.strip() or after else None
