"""The way in: from what a person typed to the pages of their books, best first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kiwiresearch.ids import BookId
from kiwiresearch.llm.model import Model
from kiwiresearch.search.books import Order, in_asking_order, is_named, merged, worth_merging
from kiwiresearch.search.hit import Hit
from kiwiresearch.search.in_book import BookSearch
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import Query, parse
from kiwiresearch.search.routing import RoutingCache
from kiwiresearch.search.senses import MOST_SENSES, Sense, sense_paths, senses
from kiwiresearch.search.spelling import corrected
from kiwiresearch.zim.guarded import hidden_offers
from kiwiresearch.zim.peer import Missing
from kiwiresearch.zim.policy import NONE_HIDDEN, Hidden

if TYPE_CHECKING:
    from kiwiresearch.embed.embedder import Embedder

LIMIT = 10
MAX_BOOKS = 2


@dataclass(frozen=True, slots=True)
class Wish:
    """How a search is to be done."""

    limit: int = LIMIT
    fast: bool = False
    """Titles, suggestions and the books' own lists; no page is read."""
    focus: str = ""
    """A hint that decides between senses."""
    max_books: int = MAX_BOOKS
    """How many books are searched in full; all are asked quickly."""
    read: int = 0
    """How many pages of a book are read at most; 0 leaves it to the book."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Who may be asked for help: a model, with what it said before, and an embedder; none is needed."""

    model: Model | None = None
    cache: RoutingCache | None = None
    embedder: Callable[[], Embedder] | None = None
    """Makes the embedder when the first search that reads pages wants it."""
    say: Callable[[str], None] | None = None
    """Hears that a model could not help."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What a search gave, and what a user should know about it."""

    query: str
    hits: tuple[Hit, ...] = ()
    senses: tuple[Sense, ...] = ()
    books: tuple[BookId, ...] = ()
    """The books the hits were taken from, the likeliest first."""
    corrected: str = ""
    """The query as it was understood, where words were mistyped."""
    order: Order = "score"
    hidden: Hidden = NONE_HIDDEN
    """Pages that would be among them, but for the policy of this desk."""
    missing: tuple[Missing, ...] = ()
    """Books that could not be asked, since the hosts that have them are away."""


def find(books: Sequence[OpenBook], text: str, wish: Wish | None = None, advice: Advice | None = None) -> Findings:
    """Find the pages that answer a query in some books, best first; equal scores by book and path."""
    return Search(books, text, wish, advice).best()


class Search:
    """A query in some books, which can be asked for more: what was gathered and read for it is kept."""

    def __init__(
        self, books: Sequence[OpenBook], text: str, wish: Wish | None = None, advice: Advice | None = None
    ) -> None:
        self.text = text
        self._wish = wish = wish or Wish()
        self._advice = advice = advice or Advice()
        asked = _asked(books, text, wish)
        self._embedder = advice.embedder() if advice.embedder and not wish.fast else None
        self._known: list[tuple[OpenBook, dict[str, str]]] = []
        self._searches: list[BookSearch] = []
        self.corrected = ""
        for place, book in enumerate(asked):
            query = _meant(book, books, text, wish)
            if query.mended:
                self.corrected = self.corrected or query.text
            told = {} if wish.fast else sense_paths(book, query)
            self._known.append((book, told))
            is_first = len(asked) > 1 and place == 0
            pooled = _pooled(book, query, advice)
            self._searches.append(BookSearch(book, query, primary=is_first, pooled=pooled, besides=told))

    def best(self, limit: int = 0, read: int = 0) -> Findings:
        """The best pages; `limit` and `read` are the wish's unless given."""
        wish = self._wish
        limit, read = limit or wish.limit, read or wish.read
        most = max(limit, MOST_SENSES)
        ranked = [
            one.by_titles(most) if wish.fast else one.by_text(most, read, self._embedder, self._advice.say)
            for one in self._searches
        ]
        chosen = worth_merging(ranked)
        hits, order = merged(chosen)
        found = () if wish.focus else tuple(sense for book, told in self._known for sense in senses(book, told, hits))
        sources = tuple(one.book.book.id for one in chosen if one.hits)
        return Findings(self.text, hits[:limit], found, sources, self.corrected, order, self._hidden(limit))

    def _hidden(self, limit: int) -> Hidden:
        return sum((hidden_for(one.book, one.query, limit) for one in self._searches), NONE_HIDDEN)


def hidden_for(book: OpenBook, query: Query, limit: int) -> Hidden:
    """What is hidden of a book among the pages that a query asks for."""
    phrases = (query.core, " ".join(query.content))
    return hidden_offers([book.archive], phrases, (query.core, *query.phrases()), limit)


def _meant(book: OpenBook, books: Sequence[OpenBook], text: str, wish: Wish) -> Query:
    """The query for one book, with what no book knows mended."""
    query = parse(text, book.language, wish.focus)
    return corrected(book, query, lambda word: any(other.knows(word) for other in books)) or query


def _asked(books: Sequence[OpenBook], text: str, wish: Wish) -> list[OpenBook]:
    """The books to search in full: of many, those that look best at a quick glance."""
    ordered = in_asking_order(books, text)
    if len(ordered) <= wish.max_books:
        return ordered
    glances = [BookSearch(book, _meant(book, books, text, wish)).by_titles(1) for book in ordered]
    place = {id(one.book): number for number, one in enumerate(glances)}
    kept = worth_merging(glances)
    # A book the query names is asked whatever its points, which are lower where it has no index of its own.
    named = [one for one in glances if one.hits and is_named(one.book.book, text)]
    best = sorted(kept, key=lambda one: (-one.best, place[id(one.book)]))
    chosen = list({id(one.book): one.book for one in (*named, *best)}.values())[: wish.max_books]
    return sorted(chosen, key=lambda book: place[id(book)])


def _pooled(book: OpenBook, query: Query, advice: Advice) -> tuple[Query, ...]:
    """What a model offers besides, where one is there and the query is one it can help with."""
    if advice.model is None or advice.cache is None:
        return ()
    from kiwiresearch.search.ambiguity import is_ambiguous, phrases_for

    if not is_ambiguous(query, book.book, advice.model):
        return ()
    return phrases_for(query, advice.model, advice.cache, advice.say)
