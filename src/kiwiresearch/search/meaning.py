"""Pages whose title and lead mean what the query means, by their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kiwiresearch.search.hit import Hit
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.points import table
from kiwiresearch.search.query import Query

if TYPE_CHECKING:  # numpy comes with it, which most searches do not need
    from kiwiresearch.embed.embedder import Embedder

LEAD_WORDS = 60


def by_meaning(book: OpenBook, query: Query, hits: Sequence[Hit], embedder: Embedder) -> list[Hit]:
    """The hits with one line more in their scores: the likeness of the query to the title and lead."""
    from kiwiresearch.embed.embedder import similarity

    if not hits:
        return []
    rows = embedder.embed([query.text, *(_lead(book, hit) for hit in hits)])
    worth = table()["text"]["meaning"]
    likeness = similarity(rows[0], rows[1:])
    return [
        replace(hit, score=hit.score.plus("meaning", worth * max(0.0, float(like))))
        for hit, like in zip(hits, likeness, strict=True)
    ]


def _lead(book: OpenBook, hit: Hit) -> str:
    page = book.text(hit.ref.path)
    return what_it_is(hit.title, page.text[page.lead :] if page else "")


def what_it_is(title: str, text: str) -> str:
    """What a page is about, in a few words: its title and how its text begins."""
    return f"{title}. {' '.join(text[: 12 * LEAD_WORDS].split()[:LEAD_WORDS])}"
