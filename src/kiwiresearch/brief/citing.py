"""What a statement rests on, for its readers: places named as they name them, and the claims in full."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from kiwiresearch.brief.brief import Brief
from kiwiresearch.brief.context import around
from kiwiresearch.brief.document import SCHEMES, Cite, Evidence, Proof
from kiwiresearch.claims.claim import Claim, ClaimId
from kiwiresearch.search.hit import ScoreLine, terms
from kiwiresearch.zim.entry import EntryRef

MOST_CITES = 3


class Citing:
    """The claims of a brief, ready to be cited."""

    def __init__(self, brief: Brief) -> None:
        self._claims = brief.claims
        self._context = brief.context
        self._urls = {source.ref: source.url for source in brief.sources.pages}
        self._titles = {source.ref: source.title for source in brief.sources.pages}

    def proof(self, ids: Sequence[ClaimId], sureness: str = "", shown: str = "") -> Proof:
        """What stands behind words that are `shown`: each page once before any is named twice."""
        claims = [self._claims[one] for one in ids if one in self._claims]  # a gap may name claims that were left out
        places = list({self.cite(claim).words: claim for claim in reversed(claims)}.values())[::-1]
        first = {claim.ref: claim for claim in reversed(places)}
        places.sort(key=lambda claim: first[claim.ref] is not claim)
        named = places[:MOST_CITES]
        more = len({claim.ref for claim in places} - {claim.ref for claim in named})
        evidence = tuple(self._evidence(claim, shown) for claim in claims)
        return Proof(tuple(map(self.cite, named)), more, sureness, evidence)

    def cite(self, claim: Claim) -> Cite:
        citation = claim.citation
        if not citation.title.strip():
            citation = citation._replace(title=claim.ref.path)
        return Cite(citation.words, citation.url(self._address), citation.url(self._address, highlight=True))

    def page(self, ref: EntryRef) -> Cite:
        """A whole page, by its title."""
        url = self._address(ref)
        return Cite(" ".join(self._titles.get(ref, "").split()) or ref.path, url, url)

    def quote(self, ids: Sequence[ClaimId]) -> str:
        """The words of the page that the first claim rests on."""
        return self._claims[ids[0]].quotes[0].text

    def _address(self, ref: EntryRef) -> str:
        url = self._urls.get(ref, "")
        return url if url.startswith(SCHEMES) else f"zim://{ref.book}/{quote(ref.path, errors='replace')}"

    def _evidence(self, claim: Claim, shown: str) -> Evidence:
        first, *others = (quote.text for quote in claim.quotes)
        says = "" if claim.text in (shown, first, *others) else claim.text
        cues = tuple(dict.fromkeys(hedge.cue for hedge in claim.hedges))
        placed = around(claim, self._context)
        return Evidence(says, placed, tuple(others), self.cite(claim), cues, confidence_in_words(claim))


def confidence_in_words(claim: Claim) -> str:
    """How likely a claim is right, and what speaks for it and against it."""
    told = [f"Confidence {claim.confidence:.2f}."]
    for label, lines in (("For it", _signed(claim, 1)), ("Against it", _signed(claim, -1))):
        if lines:
            told.append(f"{label}: {terms(lines)}.")
    return " ".join(told)


def _signed(claim: Claim, sign: int) -> list[ScoreLine]:
    return [line for line in claim.score.lines if line.points * sign > 0]
