"""A claim as a model proposes it, and what becomes of it: a claim of the page, or a reason to drop it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, WithJsonSchema, WrapValidator, create_model

from kiwiresearch.claims.chunks import Chunk
from kiwiresearch.claims.claim import CLAIM_TYPES, MOST_QUOTES, Claim, ClaimType
from kiwiresearch.claims.completion import completed
from kiwiresearch.claims.firewall import Fault, content_stems, fault_of
from kiwiresearch.errors import QuoteNotFound
from kiwiresearch.evidence.quote import Quote, ground
from kiwiresearch.llm.lenient import or_none
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.hedges import hedges_in
from kiwiresearch.text.plain import printable

Reason = (
    Fault
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
MOST_TAGS, LONGEST_TAG, LONGEST_SCOPE = 4, 40, 80
ALL_FIELDS: list[JsonValue] = ["claim", "claim_type", "quotes", "topic_tags", "scope", "confidence"]
"""A model is asked for all of them, and forgiven the last three."""


class Proposed(BaseModel):
    """A claim as a model proposes it; what is wrong with it is told by what it is dropped for."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False, "required": ALL_FIELDS})

    claim: str
    claim_type: Annotated[str, Field(json_schema_extra={"enum": list(TYPES)})]
    quotes: Annotated[list[str], Field(json_schema_extra={"minItems": 1, "maxItems": MOST_QUOTES})]
    topic_tags: Annotated[list[str], Field(json_schema_extra={"maxItems": 4})] = []
    scope: str = ""
    confidence: float = 0.5


class Proposals(BaseModel):
    """Claims of one text."""

    claims: list[Annotated[Proposed | None, WrapValidator(or_none)]]


@cache
def shape_of(most: int) -> type[Proposals]:
    """The shape to ask for: so many claims; one of the wrong form does not spoil the others."""
    schema = {"type": "array", "items": Proposed.model_json_schema(), "maxItems": most}
    claims = Annotated[list[Annotated[Proposed | None, WrapValidator(or_none)]], WithJsonSchema(schema)]
    return create_model("Proposals", __base__=Proposals, claims=(claims, ...))


@dataclass(frozen=True, slots=True)
class Dropped:
    """What was not taken, and why: the words of a claim, or of a chunk that got no reply."""

    reason: Reason
    words: str


def judged(page: PageDoc, chunk: Chunk, proposed: Proposed | None, book_name: str) -> Claim | Dropped:
    """The claim, if the chunk of the page says so."""
    if proposed is None:
        return Dropped("wrong form", "")
    text = printable(proposed.claim.strip())
    words = text[:120]
    kind = _type(proposed.claim_type)
    if kind is None:
        return Dropped("unknown type", words)
    quotes = _grounded(page, chunk, proposed.quotes)
    if isinstance(quotes, str):
        return Dropped(quotes, words)
    sources = [quote.text for quote in quotes]
    hedged = any(hedges_in(source, page.language) for source in sources)
    fault = fault_of(text, [*sources, page.title], page.language, hedged=hedged, share=OWN_WORDS)
    if fault is not None:
        return Dropped(fault, words)
    claim = completed(page, text, kind, quotes, section=chunk.section, book_name=book_name)
    return replace(
        claim,
        scope=_scope(proposed.scope, sources, page) or claim.scope,
        tags=_tags(proposed.topic_tags, page.text[chunk.start : chunk.end], page) or claim.tags,
        score=claim.score.plus("the model's own estimate", _points(proposed.confidence)),
    )


def _type(name: str) -> ClaimType | None:
    return next((kind for kind in TYPES if kind == name.strip().lower()), None)


def _grounded(page: PageDoc, chunk: Chunk, offered: Sequence[str]) -> tuple[Quote, ...] | Reason:
    """The quotes as spans of the chunk, or why one of them cannot be had: one that fails spoils the claim."""
    words = [quote for quote in offered if quote.strip()]
    if not words:
        return "no quote"
    if len(words) > MOST_QUOTES:
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
    return tuple(dict.fromkeys(kept))[:MOST_TAGS]


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
