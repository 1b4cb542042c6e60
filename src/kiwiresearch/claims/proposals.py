"""Claims as a model proposes them for a part of a page, checked and completed from the page."""

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
from kiwiresearch.claims.sentence import PageSentence, SentenceMargin, claim_score, claim_signals, sentences_of
from kiwiresearch.claims.types import measures_in
from kiwiresearch.errors import QuoteNotFound
from kiwiresearch.evidence import Quote, ground
from kiwiresearch.llm.model import estimate_tokens
from kiwiresearch.llm.structured import item_or_none
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.display import printable
from kiwiresearch.text.hedges import hedges_in
from kiwiresearch.text.quantities import quantities_in
from kiwiresearch.text.when import dates_in

SHORTEST = 30
"""Less than these characters say nothing that is worth asking a model about."""


class Chunk(NamedTuple):
    """A part of a section: `page.text[start:end]`."""

    section: int
    start: int
    end: int
    sentences: int


def chunks_of(page: PageDoc, room: int) -> list[Chunk]:
    """The prose of a page in chunks of at most `room` tokens; a paragraph that is longer is cut between sentences.

    A sentence that does not fit by itself is left out: it is no sentence.
    """
    found: list[Chunk] = []
    size = 0
    for piece in _pieces(page, room):
        tokens = estimate_tokens(page.text[piece.start : piece.end])
        last = found[-1] if found else None
        if tokens > room:
            continue
        if last and last.section == piece.section and size + tokens <= room and _touch(page, last, piece):
            found[-1] = last._replace(end=piece.end, sentences=last.sentences + piece.sentences)
            size += tokens
        else:
            found.append(piece)
            size = tokens
    return [chunk for chunk in found if chunk.end - chunk.start >= SHORTEST]


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
    """Whether nothing but white space is between: a table would come along otherwise."""
    return not page.text[one.end : other.start].strip()


IN_OTHER_WORDS = -0.6
"""A sentence that the page does not have so is believed less than one that it has."""


def complete_claim(
    page: PageDoc, text: str, kind: ClaimType, quotes: tuple[Quote, ...], *, section: int, book_name: str = ""
) -> Claim:
    """The claim that a model made of the quotes; its subject is the page's until somebody knows better."""
    language = page.language
    around = _sentence_around(page, quotes[0], section)
    margin = SentenceMargin(page)
    dates = dates_in(text, language)
    quantities = quantities_in(text, language, not_in=[(one.start, one.end) for one in dates])
    hedges = hedges_in(text, language)
    signals = claim_signals(page, around, margin)
    links = margin.links(around.start, around.end)
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
        score=score if text in page.text else score.plus("in a model's words", IN_OTHER_WORDS),
        origin="model",
    )


def _sentence_around(page: PageDoc, quote: Quote, section: int) -> PageSentence:
    """The sentences that a quote is part of: reference marks stand at their end."""
    starts = page.sentences
    number = max(bisect_right(page.blocks, quote.start, key=lambda block: block.start) - 1, 0)
    block = page.blocks[number]
    first = max(bisect_right(starts, quote.start) - 1, 0)
    behind = bisect_left(starts, quote.end)
    start = max(starts[first], block.start) if starts else block.start
    end = min(starts[behind] if behind < len(starts) else block.end, max(block.end, quote.end))
    return PageSentence(page.text[start:end], start, end, block.kind, section, number)


DropReason = (
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
"""What a model may file a claim under: a sentence of no type needs no model."""
SHORTEST_QUOTE, LONGEST_QUOTE = 3, 400
"""Words, and characters."""
OWN_WORDS = 0.75
"""So much of a claim must be in the words of its quotes."""
MAX_TAGS, LONGEST_TAG, LONGEST_SCOPE = 4, 40, 80
ALL_FIELDS: list[JsonValue] = ["claim", "claim_type", "quotes", "topic_tags", "scope", "confidence"]
"""A model is asked for all of them, and forgiven the last three."""


class Proposed(BaseModel):
    """A claim as a model proposes it; what is wrong with it is told by what it is dropped for."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False, "required": ALL_FIELDS})

    claim: str
    claim_type: Annotated[str, Field(json_schema_extra={"enum": list(TYPES)})]
    quotes: Annotated[list[str], Field(json_schema_extra={"minItems": 1, "maxItems": MAX_QUOTES})]
    topic_tags: Annotated[list[str], Field(json_schema_extra={"maxItems": 4})] = []
    scope: str = ""
    confidence: float = 0.5


class Proposals(BaseModel):
    """Claims of one text."""

    claims: list[Annotated[Proposed | None, WrapValidator(item_or_none)]]


@cache
def shape_of(most: int) -> type[Proposals]:
    """The shape to ask for: so many claims; one of the wrong form does not spoil the others."""
    schema = {"type": "array", "items": Proposed.model_json_schema(), "maxItems": most}
    claims = Annotated[list[Annotated[Proposed | None, WrapValidator(item_or_none)]], WithJsonSchema(schema)]
    return create_model("Proposals", __base__=Proposals, claims=(claims, ...))


@dataclass(frozen=True, slots=True)
class DroppedClaim:
    """What was not taken, and why: the words of a claim, or of a chunk that got no reply."""

    reason: DropReason
    words: str


def check_proposal(page: PageDoc, chunk: Chunk, proposed: Proposed | None, book_name: str) -> Claim | DroppedClaim:
    """The claim, if the chunk of the page says so."""
    if proposed is None:
        return DroppedClaim("wrong form", "")
    text = printable(proposed.claim.strip())
    words = text[:120]
    kind = _type(proposed.claim_type)
    if kind is None:
        return DroppedClaim("unknown type", words)
    quotes = _grounded(page, chunk, proposed.quotes)
    if isinstance(quotes, str):
        return DroppedClaim(quotes, words)
    sources = [quote.text for quote in quotes]
    hedged = any(hedges_in(source, page.language) for source in sources)
    fault = fault_of(text, [*sources, page.title], page.language, hedged=hedged, share=OWN_WORDS)
    if fault is not None:
        return DroppedClaim(fault, words)
    claim = complete_claim(page, text, kind, quotes, section=chunk.section, book_name=book_name)
    return replace(
        claim,
        scope=_scope(proposed.scope, sources, page) or claim.scope,
        tags=_tags(proposed.topic_tags, page.text[chunk.start : chunk.end], page) or claim.tags,
        score=claim.score.plus("the model's own estimate", _points(proposed.confidence)),
    )


def _type(name: str) -> ClaimType | None:
    return next((kind for kind in TYPES if kind == name.strip().lower()), None)


def _grounded(page: PageDoc, chunk: Chunk, offered: Sequence[str]) -> tuple[Quote, ...] | DropReason:
    """The quotes as spans of the chunk, or why one of them cannot be had: one that fails spoils the claim."""
    words = [quote for quote in offered if quote.strip()]
    if not words:
        return "no quote"
    if len(words) > MAX_QUOTES:
        return "too many quotes"
    found: list[Quote] = []
    for quote in words:
        if len(quote) > LONGEST_QUOTE:
            return "quote too long"
        if len(quote.split()) < SHORTEST_QUOTE:
            return "quote too short"
        try:
            found.append(ground(quote, page, within=(chunk.start, chunk.end)))
        except QuoteNotFound:
            return "quote not in the text"
    return tuple(dict.fromkeys(found))


def _tags(offered: Sequence[str], text: str, page: PageDoc) -> tuple[str, ...]:
    """Tags are words of the text or of its title: nothing else gets in by them."""
    known = content_stems(text, page.language) | content_stems(page.title, page.language)
    tags = [" ".join(printable(tag).lower().split()) for tag in offered]
    kept = [tag for tag in tags if len(tag) <= LONGEST_TAG and _is_of(tag, known, page.language)]
    return tuple(dict.fromkeys(kept))[:MAX_TAGS]


def _scope(offered: str, sources: Sequence[str], page: PageDoc) -> str:
    """The scope, if it is made of words of the quotes and the title."""
    known = content_stems(" ".join([*sources, page.title]), page.language)
    scope = " ".join(printable(offered).split())
    return scope if len(scope) <= LONGEST_SCOPE and _is_of(scope, known, page.language) else ""


def _is_of(words: str, known: frozenset[str], language: str) -> bool:
    stems = content_stems(words, language)
    return bool(stems) and stems <= known and not any(char.isdigit() for char in words)


def _points(confidence: float) -> float:
    """The model's confidence as log-odds between -0.5 and 0.5: it is heard, and never decides."""
    return min(max(confidence, 0.0), 1.0) - 0.5 if math.isfinite(confidence) else 0.0
