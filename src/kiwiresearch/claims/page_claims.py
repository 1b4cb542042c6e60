"""The claims of one page or one text, by rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.claims.claim import CLAIM_TYPES, Claim, ClaimRecord, ClaimType
from kiwiresearch.claims.plain_claims import all_sentences
from kiwiresearch.claims.sentence import MAX_CLAIM_CHARS
from kiwiresearch.codec import Record
from kiwiresearch.errors import BadUsage
from kiwiresearch.page import PageDoc, page_from_text
from kiwiresearch.text import hedges_in

CUT_NOTICE = "There is too much text to take claims from all of it: these are from its beginning."


@dataclass(frozen=True, slots=True)
class PageClaims:
    """The claims of a page or text, in its order, and all its hedging words."""

    page: PageDoc
    claims: tuple[Claim, ...]
    hedges: tuple[str, ...]
    book_name: str = ""

    def of_type(self, wanted: str) -> PageClaims:
        """Only the claims of this type; if it is empty, all but statements, which are most of a page's sentences."""
        if not wanted:
            return self
        if wanted == "statement":
            found = claims_of(self.page, self.book_name, all_sentences)
            return replace(self, claims=tuple(claim for claim in found if claim.type == wanted))
        return replace(self, claims=tuple(claim for claim in self.claims if wanted in (claim.type, *claim.also)))

    @property
    def is_cut(self) -> bool:
        """Whether claims come only from the beginning, because there is too much text."""
        return self.page.is_cut or len(self.page.text) > MAX_CLAIM_CHARS

    def record(self) -> PageClaimsRecord:
        """The record that `--json` prints."""
        claims = tuple(map(ClaimRecord.of, self.claims))
        ref = self.page.ref
        return PageClaimsRecord(self.page.title, ref.book, ref.path, claims, self.hedges, self.is_cut)


@dataclass(frozen=True, slots=True)
class PageClaimsRecord(Record):
    """The claims of a page or a text, in its order."""

    title: str
    book: str
    path: str
    claims: tuple[ClaimRecord, ...]
    hedges: tuple[str, ...]
    """All hedging words in it."""
    is_cut: bool
    """Whether only the beginning was read, because there is too much of it."""


def claims_of_page(page: PageDoc, book_name: str = "") -> PageClaims:
    return PageClaims(page, claims_of(page, book_name), _cues(page.text, page.language), book_name)


def claims_of_text(text: str, title: str = "", language: str = "eng") -> PageClaims:
    """The claims of a plain text. Offsets refer to the text as a page, with one paragraph per line.

    Without a title, pronouns can only be resolved if the text names their subject first.
    """
    page = page_from_text(text, title, language)
    claims: Sequence[Claim] = claims_of(page)
    if not title.strip():
        # Without a title, the page is called 'The text', which must not replace a pronoun.
        claims = [claim for claim in claims if claim.inserted_name_from != "title"]
    return PageClaims(page, tuple(claims), _cues(text, language))


def checked_claim_type(wanted: str) -> str:
    """The claim type in lower case, empty if none is wanted; BadUsage if it is unknown."""
    name = wanted.strip().lower()
    if wanted and name not in get_args(ClaimType):
        raise BadUsage(f"{wanted!r} is not a type of claim.", remedy=f"Choose one of: {', '.join(CLAIM_TYPES)}.")
    return name


def _cues(text: str, language: str) -> tuple[str, ...]:
    return tuple(hedge.cue for hedge in hedges_in(text[:MAX_CLAIM_CHARS], language))
