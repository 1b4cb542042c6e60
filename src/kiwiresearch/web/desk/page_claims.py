"""What a page claims, as the reading view lists it: some at a time, each with its place in the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kiwiresearch.claims.claim import CLAIM_TYPES, Claim, ClaimType
from kiwiresearch.page.shown_marks import CLAIM_ID

AT_ONCE = 60
"""How many claims are listed at a time."""


@dataclass(frozen=True, slots=True)
class ClaimsAsked:
    """Which claims are to be listed: those of a type, from a place among them."""

    type: ClaimType | None = None
    start: int = 0


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """A claim, and where it stands in the frame."""

    claim: Claim
    address: str


@dataclass(frozen=True, slots=True)
class ClaimList:
    """Some claims of a page, and how many there are."""

    lines: tuple[ClaimLine, ...]
    counts: tuple[tuple[ClaimType, int], ...]
    """How many there are of each type that there are any of."""
    total: int
    """How many there are of the type asked for."""
    all: int
    asked: ClaimsAsked

    @property
    def first(self) -> int:
        return self.asked.start + 1

    @property
    def last(self) -> int:
        return self.asked.start + len(self.lines)

    @property
    def earlier(self) -> int | None:
        """Where the claims before these begin."""
        return max(self.asked.start - AT_ONCE, 0) if self.asked.start else None

    @property
    def later(self) -> int | None:
        return self.last if self.last < self.total else None


def listed(claims: Sequence[Claim], asked: ClaimsAsked, frame: str, *, are_marked: bool) -> ClaimList:
    """The claims asked for; `frame` is the address of the page in the frame, with the parameters it has now."""
    numbered = [(number, claim) for number, claim in enumerate(claims, 1) if asked.type in (None, claim.type)]
    last_part = max(len(numbered) - 1, 0) // AT_ONCE * AT_ONCE
    asked = replace(asked, start=min(asked.start, last_part))
    chosen = numbered[asked.start : asked.start + AT_ONCE]
    counts = Counter(claim.type for claim in claims)
    lines = [
        ClaimLine(claim, f"{frame}#{CLAIM_ID}-{number}" if are_marked else marked_address(frame, claim))
        for number, claim in chosen
    ]
    kinds = tuple((kind, counts[kind]) for kind in CLAIM_TYPES if counts[kind])
    return ClaimList(tuple(lines), kinds, len(numbered), len(claims), asked)


def marked_address(frame: str, claim: Claim) -> str:
    """Where the words of a claim are marked in the frame."""
    quote = claim.quotes[0]
    return with_query(frame, [f"mark={quote.start}-{quote.end}"]) + "#mark"


def with_query(address: str, parameters: Sequence[str]) -> str:
    """An address with further parameters."""
    return address + "".join(("&" if "?" in address or at else "?") + one for at, one in enumerate(parameters))
