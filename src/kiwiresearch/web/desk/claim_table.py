"""The claims of a run as a table: which of them are wanted, and in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from kiwiresearch.claims.claim import Claim, ClaimType
from kiwiresearch.text.fold import fold
from kiwiresearch.zim.entry import EntryRef

Hedging = Literal["", "none", "any", "may", "some", "debated", "uncertain"]
Order = Literal["", "type", "-type", "page", "-page", "hedging", "-hedging", "confidence", "-confidence"]
COLUMNS = ("type", "page", "hedging", "confidence")
"""By what the table can be sorted."""

LEAST = (0, 50, 60, 70, 80, 90)
"""Confidences, in hundredths, that the form offers."""


class ClaimQuery(BaseModel):
    """What an address of the table asks for; what is empty does not matter."""

    model_config = ConfigDict(frozen=True)

    type: ClaimType | Literal[""] = ""
    page: Annotated[str, Field(max_length=500)] = ""
    """The path or the title of a page."""
    hedging: Hedging = ""
    least: Annotated[int, Field(ge=0, le=100)] = 0
    words: Annotated[str, Field(max_length=200)] = ""
    sort: Order = ""
    n: Annotated[int, Field(ge=1, le=1_000_000)] = 1

    @property
    def is_filter(self) -> bool:
        return bool(self.type or self.page or self.hedging or self.least or self.words.strip())

    def wish(self) -> dict[str, Any]:
        """All of it but the number of the part."""
        return self.model_dump(exclude={"n"})

    def sorted_by(self, column: str) -> dict[str, Any]:
        """The same claims sorted by a column; by one that they are sorted by already, the other way round."""
        first = "-confidence" if column == "confidence" else column
        turned = first.removeprefix("-") if first.startswith("-") else f"-{first}"
        return self.wish() | {"sort": turned if self.sort == first else first}


@dataclass(frozen=True, slots=True)
class PageChoice:
    """A page that the form offers, and how many claims it has."""

    path: str
    title: str
    claims: int


def wanted(claims: Sequence[Claim], query: ClaimQuery) -> list[Claim]:
    """The claims that fit, in the order asked for; those that are equal in it stay in the order of their pages."""
    words = fold(query.words).split() if query.words.strip() else []
    found = [claim for claim in claims if _fits(claim, query) and _says(claim, words)]
    if query.sort:
        column, is_turned = query.sort.removeprefix("-"), query.sort.startswith("-")
        found.sort(key=KEYS[column], reverse=is_turned)
    return found


def _fits(claim: Claim, query: ClaimQuery) -> bool:
    return (
        (not query.type or claim.type == query.type)
        and claim.confidence * 100 >= query.least - 0.5
        and (not query.page or _is_of(claim, query.page))
        and _is_hedged(claim, query.hedging)
    )


def _is_of(claim: Claim, page: str) -> bool:
    return page == claim.ref.path or page.casefold() == claim.page_title.casefold()


def _is_hedged(claim: Claim, hedging: Hedging) -> bool:
    if hedging in ("", "any", "none"):
        return not hedging or bool(claim.hedges) == (hedging == "any")
    return any(hedge.kind == hedging for hedge in claim.hedges)


def _says(claim: Claim, words: Sequence[str]) -> bool:
    if not words:
        return True
    said = fold(" ".join([claim.text, claim.subject, *(quote.text for quote in claim.quotes)]))
    return all(word in said for word in words)


KEYS: Mapping[str, Callable[[Claim], Any]] = {
    "type": lambda claim: claim.type,
    "page": lambda claim: (claim.page_title.casefold(), claim.ref.path),
    "hedging": lambda claim: [hedge.kind for hedge in claim.hedges],
    "confidence": lambda claim: claim.confidence,
}


def page_choices(claims: Sequence[Claim]) -> list[PageChoice]:
    """The pages that have claims, in the order of the run."""
    counts: Counter[EntryRef] = Counter(claim.ref for claim in claims)
    titles = {claim.ref: claim.page_title for claim in claims}
    return [PageChoice(ref.path, titles[ref] or ref.path, count) for ref, count in counts.items()]
