"""A model's help with one ambiguous word: it offers phrases, the book's own index and the scoring decide.

All of four must hold, in this order: there is a model; the question asks what
something is; the book is a Wikipedia; what is left of the question without
its stop words is one word. Then two or three phrases are asked for, each is
really searched, and all that is found is pooled and scored as ever.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pydantic import BaseModel, Field

from kiwiresearch.errors import BadReply, ModelUnreachable, PromptTooLong
from kiwiresearch.llm.model import Model, extraction
from kiwiresearch.llm.prompts import prompt
from kiwiresearch.llm.structured import ask
from kiwiresearch.search.query import Query, parse
from kiwiresearch.search.routing import RoutingCache
from kiwiresearch.text.fold import fold
from kiwiresearch.zim.book import Book

MOST_PHRASES = 3
MOST_WORDS = 3


class Phrases(BaseModel):
    """What a model is asked for."""

    phrases: list[str] = Field(min_length=1, max_length=8)


def is_ambiguous(query: Query, book: Book, model: Model | None) -> bool:
    """Whether a model is to be asked; the last condition looks at the whole cleaned query, not at one word of it."""
    return model is not None and query.definitional and book.is_wikipedia and len(query.content) == 1


def phrases_for(
    query: Query, model: Model, cache: RoutingCache, say: Callable[[str], None] | None = None
) -> tuple[Query, ...]:
    """The queries to search: the bare word, and what the model offers that holds it.

    A model that cannot be reached or answers nonsense leaves the bare word,
    and is asked again the next time. Phrases that fail the check are no
    failure: the same question would bring them again, so the outcome is kept.
    """
    term = query.content[0]
    bare = parse(term, query.language)

    def offered() -> tuple[str, ...]:
        said = ask(model, prompt("senses").fill(term=term, question=query.text), Phrases, extraction(max_tokens=200))
        return (term, *sane(term, said.phrases))

    try:
        phrases = cache.get(f"disambig_candidates:{term}", offered)
    except (ModelUnreachable, BadReply, PromptTooLong) as problem:
        if say:
            say(f"The model could not help: {problem.message}")
        return (bare,)
    return tuple(parse(phrase, query.language) for phrase in phrases)


def sane(term: str, phrases: list[str]) -> tuple[str, ...]:
    """Phrases of a few words that hold the term as a word of its own: 'C' is not in 'chemistry'."""
    kept = []
    for phrase in phrases:
        words = fold(re.sub(r"\s+", " ", phrase)).split()
        if term in words and words != [term] and len(words) <= MOST_WORDS:
            kept.append(" ".join(words))
    return tuple(dict.fromkeys(kept))[:MOST_PHRASES]
