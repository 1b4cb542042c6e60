"""Claims that a model proposes for a part of a page, checked and completed from the page."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue, WithJsonSchema, WrapValidator, create_model

from kiwiresearch.claims.claim import CLAIM_TYPES, MAX_QUOTES, Claim, ClaimType
from kiwiresearch.claims.firewall import SentenceFault, content_stems, fault_of
from kiwiresearch.claims.language import grammar_of, has_claim_tables
from kiwiresearch.claims.sentence import PageSentence, SentenceAnnotations, claim_score, claim_signals, sentences_of
from kiwiresearch.claims.types import measures_in
from kiwiresearch.errors import QuoteNotFound
from kiwiresearch.evidence import Quote, ground
from kiwiresearch.llm import estimate_tokens, item_or_none
from kiwiresearch.page import PageDoc
from kiwiresearch.text import hedges_in, printable, quantities_in
from kiwiresearch.text.dates import dates_in

MIN_CHUNK_CHARS = 30
"""A shorter text is not worth asking a model about."""


class Chunk(NamedTuple):
    """A part of a section: `page.text[start:end]`."""

    section: int
    start: int
    end: int
    sentences: int


def chunks_of(page: PageDoc, room: int) -> list[Chunk]:
    """The prose of a page in chunks of at most `room` tokens; a paragraph that is longer is cut between sentences.

    A sentence that does not fit alone is left out: it cannot be a real sentence.
    """
    found: list[Chunk] = []
    size = 0
    for piece in _pieces(page, room):
        tokens = estimate_tokens(page.text[piece.start : piece.end])
        last = found[-1] if found else None
        if tokens > room:
            continue
        # Estimated tokens are added up instead of estimating the joined text again, which would be quadratic.
        if last and last.section == piece.section and size + tokens <= room and _touch(page, last, piece):
            found[-1] = last._replace(end=piece.end, sentences=last.sentences + piece.sentences)
            size += tokens
        else:
            found.append(piece)
            size = tokens
    return [chunk for chunk in found if chunk.end - chunk.start >= MIN_CHUNK_CHARS]


def _pieces(page: PageDoc, room: int) -> Iterator[Chunk]:
    """Paragraphs, and the sentences of those that are too long."""
    for _, group in groupby(sentences_of(page), key=lambda sentence: sentence.block):
        sentences = list(group)
        whole = Chunk(sentences[0].section, sentences[0].start, sentences[-1].end, len(sentences))
        if estimate_tokens(page.text[whole.start : whole.end]) <= room:
            yield whole
        else:
            yield from (Chunk(sentence.section, sentence.start, sentence.end, 1) for sentence in sentences)


def _touch(page: PageDoc, one: Chunk, other: Chunk) -> bool:
    """Whether only white space is between them: otherwise a table would be included."""
    return not page.text[one.end : other.start].strip()


OWN_WORDING_PENALTY = -0.6
"""A sentence that is not in the page word for word is less credible."""


def complete_claim(
    page: PageDoc, text: str, kind: ClaimType, quotes: tuple[Quote, ...], *, section: int, book_name: str = ""
) -> Claim:
    """The claim that a model made from the quotes; its subject is that of the page."""
    language = page.language
    around = _sentence_around(page, quotes[0], section)
    annotations = SentenceAnnotations(page)
    dates = dates_in(text, language)
    quantities = quantities_in(text, language, not_in=[(mention.start, mention.end) for mention in dates])
    hedges = hedges_in(text, language)
    signals = claim_signals(page, around, annotations)
    links = annotations.links(around.start, around.end)
    place = page.sections[section]
    score = claim_score(signals, hedges, points=0.0, length=len(text))
    return Claim(
        text=text,
        type=kind,
        subject=page.title,
        scope=page.title,
        quotes=quotes,
        page_title=page.title,
        section=place.heading,
        anchor=place.anchor,
        headings=page.headings(section),
        book_name=book_name,
        tags=tuple(dict.fromkeys(words.lower() for words in (page.title, place.heading) if words)),
        hedges=hedges,
        signals=signals,
        measures=measures_in(text, quantities, dates, page.title, grammar_of(language))
        if has_claim_tables(language)
        else (),
        dates=tuple(dates),
        names=tuple(dict.fromkeys(link.text for link in links if link.text and link.text in text)),
        score=score if text in page.text else score.plus("in a model's words", OWN_WORDING_PENALTY),
        origin="model",
    )


def _sentence_around(page: PageDoc, quote: Quote, section: int) -> PageSentence:
    """The sentences that a quote is part of, since reference marks are at their end."""
    starts = page.sentences
    number = max(bisect_right(page.blocks, quote.start, key=lambda block: block.start) - 1, 0)
    block = page.blocks[number]
    first = max(bisect_right(starts, quote.start) - 1, 0)
    following = bisect_left(starts, quote.end)
    start = max(starts[first], block.start) if starts else block.start
    # Not beyond the block, unless the quote itself goes on into the next one.
    end = min(starts[following] if following < len(starts) else block.end, max(block.end, quote.end))
    return PageSentence(page.text[start:end], start, end, block.kind, section, number)


ClaimRejection = (
    SentenceFault
    | Literal[
        "wrong form",
        "unknown type",
        "no quote",
        "too many quotes",
        "quote too short",
        "quote too long",
        "quote not in the text",
        "said twice",
        "too many claims",
        "no reply",
    ]
)
TYPES: tuple[ClaimType, ...] = tuple(kind for kind in CLAIM_TYPES if kind != "statement")
"""The types a model may give a claim; a plain statement needs no model."""
MIN_QUOTE_WORDS, MAX_QUOTE_CHARS = 3, 400
MIN_QUOTED_SHARE = 0.75
"""The share of a claim's words that must be from its quotes."""
MAX_PROPOSED_TAGS, MAX_TAG_CHARS, MAX_SCOPE_CHARS = 4, 40, 80
ALL_FIELDS: list[JsonValue] = ["claim", "claim_type", "quotes", "topic_tags", "scope", "confidence"]
"""A model is asked for all of them, but the last three may be missing."""


class ProposedClaim(BaseModel):
    """A claim as a model proposes it; it is checked later, so that a bad one gets a reason."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False, "required": ALL_FIELDS})

    claim: str
    claim_type: Annotated[str, Field(json_schema_extra={"enum": list(TYPES)})]
    quotes: Annotated[list[str], Field(json_schema_extra={"minItems": 1, "maxItems": MAX_QUOTES})]
    topic_tags: Annotated[list[str], Field(json_schema_extra={"maxItems": MAX_PROPOSED_TAGS})] = []
    scope: str = ""
    confidence: float = 0.5


class Proposals(BaseModel):
    """Claims of one text."""

    claims: list[Annotated[ProposedClaim | None, WrapValidator(item_or_none)]]


@cache
def reply_shape(max_claims: int) -> type[Proposals]:
    """The reply to ask for; a claim of the wrong form does not invalidate the others."""
    schema = {"type": "array", "items": ProposedClaim.model_json_schema(), "maxItems": max_claims}
    claims = Annotated[list[Annotated[ProposedClaim | None, WrapValidator(item_or_none)]], WithJsonSchema(schema)]
    return create_model("Proposals", __base__=Proposals, claims=(claims, ...))


@dataclass(frozen=True, slots=True)
class RejectedClaim:
    """A rejected claim, or a chunk without a reply, and the reason."""

    reason: ClaimRejection
    text: str


def check_proposal(
    page: PageDoc, chunk: Chunk, proposed: ProposedClaim | None, book_name: str
) -> Claim | RejectedClaim:
    """The claim, if the chunk of the page supports it, or why it is rejected."""
    if proposed is None:
        return RejectedClaim("wrong form", "")
    text = printable(proposed.claim.strip())
    excerpt = text[:120]
    kind = next((item for item in TYPES if item == proposed.claim_type.strip().lower()), None)
    if kind is None:
        return RejectedClaim("unknown type", excerpt)
    quotes = _grounded(page, chunk, proposed.quotes)
    if isinstance(quotes, str):
        return RejectedClaim(quotes, excerpt)
    sources = [quote.text for quote in quotes]
    hedged = any(hedges_in(source, page.language) for source in sources)
    # The title counts as a source, because a claim names its subject where the quote has a pronoun.
    fault = fault_of(text, [*sources, page.title], page.language, hedged=hedged, min_share=MIN_QUOTED_SHARE)
    if fault is not None:
        return RejectedClaim(fault, excerpt)
    claim = complete_claim(page, text, kind, quotes, section=chunk.section, book_name=book_name)
    return replace(
        claim,
        scope=_scope(proposed.scope, sources, page) or claim.scope,
        tags=_tags(proposed.topic_tags, page.text[chunk.start : chunk.end], page) or claim.tags,
        score=claim.score.plus("the model's own estimate", _points(proposed.confidence)),
    )


def _grounded(page: PageDoc, chunk: Chunk, offered: Sequence[str]) -> tuple[Quote, ...] | ClaimRejection:
    """The quotes as spans of the chunk, or why one of them is unusable: one is enough to drop the claim."""
    non_empty = [quote for quote in offered if quote.strip()]
    if not non_empty:
        return "no quote"
    if len(non_empty) > MAX_QUOTES:
        return "too many quotes"
    found: list[Quote] = []
    for quote in non_empty:
        if len(quote) > MAX_QUOTE_CHARS:
            return "quote too long"
        if len(quote.split()) < MIN_QUOTE_WORDS:
            return "quote too short"
        try:
            found.append(ground(quote, page, within=(chunk.start, chunk.end)))
        except QuoteNotFound:
            return "quote not in the text"
    return tuple(dict.fromkeys(found))


def _tags(offered: Sequence[str], text: str, page: PageDoc) -> tuple[str, ...]:
    """The offered tags whose words are from the text or its title."""
    known = content_stems(text, page.language) | content_stems(page.title, page.language)
    tags = [" ".join(printable(tag).lower().split()) for tag in offered]
    kept = [tag for tag in tags if len(tag) <= MAX_TAG_CHARS and _has_only(tag, known, page.language)]
    return tuple(dict.fromkeys(kept))[:MAX_PROPOSED_TAGS]


def _scope(offered: str, sources: Sequence[str], page: PageDoc) -> str:
    """The offered scope, if its words are from the quotes and the title."""
    known = content_stems(" ".join([*sources, page.title]), page.language)
    scope = " ".join(printable(offered).split())
    return scope if len(scope) <= MAX_SCOPE_CHARS and _has_only(scope, known, page.language) else ""


def _has_only(words: str, known: frozenset[str], language: str) -> bool:
    stems = content_stems(words, language)
    # Digits are excluded, since stems have none and a wrong year would pass.
    return bool(stems) and stems <= known and not any(char.isdigit() for char in words)


def _points(confidence: float) -> float:
    """The model's confidence as log-odds between -0.5 and 0.5, too small to be decisive."""
    return min(max(confidence, 0.0), 1.0) - 0.5 if math.isfinite(confidence) else 0.0
