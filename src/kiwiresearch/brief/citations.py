"""Cites statements: paragraphs of sentences that share a citation, quotes in context, and proofs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple
from urllib.parse import quote

from kiwiresearch.brief.brief import Brief, QuoteContext, Statement
from kiwiresearch.claims import Claim, ClaimId
from kiwiresearch.document import ALLOWED_LINK_STARTS, Cite, Proof, Quotation, Span
from kiwiresearch.evidence import Quote
from kiwiresearch.messages import FALLBACK, catalogue_in
from kiwiresearch.search import ScoreTerm, score_terms_text
from kiwiresearch.text import sentence_starts
from kiwiresearch.zim import EntryRef

MAX_GAP_CHARS = 1
"""The largest gap between two sentences of the same paragraph."""
MIN_PARAGRAPH_SENTENCES = 4
"""A new section starts a new paragraph only after this many sentences."""


def topic_pages_of(brief: Brief) -> frozenset[EntryRef]:
    """The pages about the topic's subject itself."""
    return frozenset(source.ref for source in brief.sources.pages if source.is_head)


def can_follow(claim: Claim, before: Sequence[Claim], topic_pages: frozenset[EntryRef]) -> bool:
    """Whether a claim makes sense after the ones before it; on a page about the subject, 'she' is clear anyway."""
    if not claim.depends_on or (claim.depends_on == "subject" and claim.ref in topic_pages):
        return True
    return any(directly_precedes(item, claim) for item in before)


def directly_precedes(one: Claim, other: Claim) -> bool:
    """Whether one claim comes right before another, in one paragraph."""
    first, second = one.quotes[0], other.quotes[0]
    same = (one.ref, one.headings) == (other.ref, other.headings)
    return same and first.start < second.start <= first.end + MAX_GAP_CHARS


class CitedGroup(NamedTuple):
    """Consecutive sentences supported by the same sections, which share one citation."""

    statements: tuple[Statement, ...]

    @property
    def claims(self) -> tuple[ClaimId, ...]:
        """The claims that support these sentences, without duplicates."""
        return tuple(dict.fromkeys(claim for statement in self.statements for claim in statement.claims))


def paragraphs(statements: Iterable[Statement], claims: Mapping[ClaimId, Claim]) -> list[list[CitedGroup]]:
    """A paragraph for each page that the sentences are from, and for its sections unless it would be very short.

    Each is made of groups of sentences that are cited once, at their end.
    """
    found: list[list[Statement]] = []
    for statement in statements:
        last, new = claims[found[-1][-1].claims[0]] if found else None, claims[statement.claims[0]]
        if (
            last is None
            or last.ref != new.ref
            or (last.headings != new.headings and len(found[-1]) >= MIN_PARAGRAPH_SENTENCES)
        ):
            found.append([])
        found[-1].append(statement)
    return [
        [CitedGroup(tuple(same)) for _, same in groupby(several, key=lambda item: _sections(item, claims))]
        for several in found
    ]


def _sections(statement: Statement, claims: Mapping[ClaimId, Claim]) -> tuple[tuple[EntryRef, str, str], ...]:
    cited = [claims[claim_id] for claim_id in statement.claims]
    return tuple(dict.fromkeys((claim.ref, claim.section, claim.anchor) for claim in cited))


MAX_CONTEXT_CHARS = 220
"""The limit on each side, if the context has more than one sentence."""
MAX_CONTEXT_SENTENCE_CHARS = 420
"""A single sentence may be this long; a longer one is left out, since sentences are never cut."""

NO_CONTEXT = QuoteContext("", "")


class QuoteInContext(NamedTuple):
    """A quote, and the words right before and after it on its page."""

    quote: Quote
    before: str = ""
    after: str = ""


def without_overlaps(several: Iterable[QuoteInContext]) -> list[QuoteInContext]:
    """Quotes shown together: the context of each leaves out what another one shows."""
    rows = list(several)
    # All quotes are known before the first context is cut, so no context repeats a quote that comes later.
    shown = {row.quote[:3] for row in rows}
    found = []
    for row in rows:
        ref, start, end, _ = row.quote
        first, last = start - len(row.before), end + len(row.after)
        for page, other_start, other_end in shown:
            if page == ref and other_start < start:
                first = max(first, min(other_end, start))
            if page == ref and other_end > end:
                last = min(last, max(other_start, end))
        shown.add((ref, first, last))
        before = row.before[len(row.before) - start + first :]
        found.append(QuoteInContext(row.quote, before.lstrip(), row.after[: last - end].rstrip()))
    return found


def quote_in_context(claim: Claim, context: Mapping[ClaimId, QuoteContext]) -> QuoteInContext:
    """The first quote of a claim with its context."""
    found = context.get(claim.id, NO_CONTEXT)
    return QuoteInContext(claim.quotes[0], found.before, found.after)


def context_of(claim: Claim, text: str, language: str) -> QuoteContext | None:
    """The text around a claim's first quote; None for rows of tables, and if there is none."""
    if claim.is_row:
        return None
    quote = claim.quotes[0]
    # A paragraph is a line.
    begin = text.rfind("\n", 0, quote.start) + 1
    end = text.find("\n", quote.end)
    end = len(text) if end < 0 else end
    starts = [begin + start for start in sentence_starts(text[begin:end], language=language)]
    firsts = [start for start in starts if start < quote.start]
    # The end of each sentence after the quote is where the next one starts, or the end of the paragraph.
    lasts = [start for start in (*starts, end) if text[quote.end : start].strip()]
    # As many sentences as fit, or else the nearest one alone, which may be longer.
    near = [start for start in firsts if quote.start - start <= MAX_CONTEXT_CHARS] or firsts[-1:]
    far = [start for start in lasts if start - quote.end <= MAX_CONTEXT_CHARS] or lasts[:1]
    before = text[near[0] : quote.start] if near and quote.start - near[0] <= MAX_CONTEXT_SENTENCE_CHARS else ""
    after = text[quote.end : far[-1]].rstrip() if far and far[-1] - quote.end <= MAX_CONTEXT_SENTENCE_CHARS else ""
    return QuoteContext(before, after) if before.strip() or after else None


MAX_CITED = 3


class BriefCitations:
    """The claims of a brief, ready to be cited."""

    def __init__(self, brief: Brief) -> None:
        self._claims = brief.claims
        self._context = brief.context
        self._urls = {source.ref: source.url for source in brief.sources.pages}
        self._titles = {source.ref: source.title for source in brief.sources.pages}

    def proof(self, ids: Sequence[ClaimId], sureness: str = "", shown: str = "") -> Proof:
        """The proof of words that are `shown`: each page is cited once before any is cited twice."""
        claims = self._known(ids)
        # Reversed twice, so that the first claim of each place wins and the order of the claims stays.
        places = list({self.cite(claim).words: claim for claim in reversed(claims)}.values())[::-1]
        first = {claim.ref: claim for claim in reversed(places)}
        # A stable sort: the first place of each page moves to the front, and the order within both groups stays.
        places.sort(key=lambda claim: first[claim.ref] is not claim)
        cited = places[:MAX_CITED]
        more = len({claim.ref for claim in places} - {claim.ref for claim in cited})
        quotations = self._quotations([(claim, shown) for claim in claims])
        return Proof(tuple(map(self.cite, cited)), more, sureness, quotations)

    def proof_of_run(self, statements: Sequence[Statement]) -> Proof:
        """One proof for sentences supported by the same sections, with the quotes of all of them."""
        proofs = [self.proof(statement.claims) for statement in statements]
        shown = [(claim, statement.text) for statement in statements for claim in self._known(statement.claims)]
        return Proof(proofs[0].cites, max(proof.more for proof in proofs), "", self._quotations(shown))

    def _known(self, ids: Sequence[ClaimId]) -> list[Claim]:
        """The claims with these ids that are in the brief; a gap may name others."""
        return [self._claims[claim_id] for claim_id in ids if claim_id in self._claims]

    def cite(self, claim: Claim) -> Cite:
        citation = claim.citation
        if not citation.title.strip():
            citation = citation._replace(title=claim.ref.path)
        return Cite(citation.words, citation.url(self._address), citation.url(self._address, highlight=True))

    def page(self, ref: EntryRef) -> Cite:
        """A citation of the page itself, by its title."""
        url = self._address(ref)
        return Cite(" ".join(self._titles.get(ref, "").split()) or ref.path, url, url)

    def quote(self, ids: Sequence[ClaimId]) -> str:
        """The quote of the first claim."""
        return self._claims[ids[0]].quotes[0].text

    def _address(self, ref: EntryRef) -> str:
        url = self._urls.get(ref, "")
        # The address may come from a record that somebody else made: no 'javascript:' link may get into a report.
        return url if url.startswith(ALLOWED_LINK_STARTS) else f"zim://{ref.book}/{quote(ref.path, errors='replace')}"

    def _quotations(self, shown: Sequence[tuple[Claim, str]]) -> tuple[Quotation, ...]:
        """The quotations of claims, each with the words shown for it."""
        placed = without_overlaps(quote_in_context(claim, self._context) for claim, _ in shown)
        return tuple(
            self._quotation(claim, words, context) for (claim, words), context in zip(shown, placed, strict=True)
        )

    def _quotation(self, claim: Claim, shown: str, placed: QuoteInContext) -> Quotation:
        first, *others = (quote.text for quote in claim.quotes)
        cite = self.cite(claim)
        cues = dict.fromkeys(hedge.cue for hedge in claim.hedges)
        notes = [] if claim.text in (shown, first, *others) else [f"Understood as: {claim.text}"]
        notes += [f"Hedged by: {', '.join(f'“{cue}”' for cue in cues)}."] if cues else []
        return Quotation(
            first,
            (Span(f"[{cite.words}]", cite.marked_url),),
            (*notes, confidence_text(claim)),
            placed.before,
            placed.after,
            tuple(others),
        )


def confidence_text(claim: Claim) -> str:
    """How sure it is that the page says this, and the terms for and against it."""
    parts = [f"Confidence {claim.confidence:.0%}."]
    for label, lines in (("For", _signed(claim, 1)), ("Against", _signed(claim, -1))):
        if lines:
            parts.append(f"{label}: {score_terms_text(lines)}.")
    return " ".join(parts)


def _signed(claim: Claim, sign: int) -> list[ScoreTerm]:
    """The terms for or against a claim, in words for readers."""
    catalogue = catalogue_in(FALLBACK)
    found = [term for term in claim.score.terms if term.points * sign > 0]
    return [ScoreTerm(catalogue.named("claims.signals", term.signal), term.points) for term in found]
