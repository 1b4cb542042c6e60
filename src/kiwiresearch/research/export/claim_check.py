"""Whether a claim that was read from a file is made of what claims are made of."""

from __future__ import annotations

import math

from kiwiresearch.claims.claim import CLAIM_TYPES, Claim

TEXTS = ("text", "subject", "scope", "page_title", "section", "anchor", "book_name")


def is_claim(claim: Claim) -> bool:
    """Whether each part that is shown to people is a text or a number, as its field promises."""
    texts = [getattr(claim, name) for name in TEXTS]
    texts += [*claim.tags, *claim.names, *(hedge.cue for hedge in claim.hedges)]
    texts += [quote.text for quote in claim.quotes] + [line.signal for line in claim.score.lines]
    texts += [claim.ref.book, claim.ref.path]
    places = [place for quote in claim.quotes for place in (quote.start, quote.end)]
    points = [line.points for line in claim.score.lines]
    return (
        claim.type in CLAIM_TYPES
        and claim.origin in ("rule", "model")
        and all(isinstance(text, str) for text in texts)
        and all(type(place) is int for place in places)
        and all(type(one) in (int, float) and math.isfinite(one) for one in points)
    )
