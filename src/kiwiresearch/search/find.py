"""The way in: from what a person typed to the pages of their books, best first."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from kiwiresearch.ids import BookId
from kiwiresearch.llm.model import Model
from kiwiresearch.search.ambiguity import PhraseCache
from kiwiresearch.search.book_search import BookHits, BookSearch
from kiwiresearch.search.interpretation import MAX_SENSES, Sense, corrected_query, sense_paths, senses_among
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import Hit, Query, parse_query, sorted_hits
from kiwiresearch.text.languages import language_words
from kiwiresearch.text.words import fold
from kiwiresearch.zim.archive import Book
from kiwiresearch.zim.peer import MissingBooks
from kiwiresearch.zim.policy import NONE_HIDDEN, HiddenPages, hidden_offers

if TYPE_CHECKING:
    from kiwiresearch.embed.embedder import Embedder

WORTH_MERGING = 0.5
"""A book whose best page has less than this share of the overall best is left out."""

FUSION_RANK = 60
"""Reciprocal-rank fusion: the usual constant, so that the first few places differ little."""

KIND_ORDER = ("wikipedia", "wiki", "gutenberg", "stackexchange", "devdocs", "website", "ted", "other")
"""Where nothing else tells, an encyclopaedia is asked first."""

COMMON_NAMES = frozenset({"book", "books", "edition", "free", "maxi", "mini", "nopic", "wikipedia"})
SCRIPTS = (
    (re.compile(r"[\u0400-\u04ff]"), ("rus", "bel", "ukr", "bul", "srp", "mkd", "kaz", "tat")),
    (re.compile(r"[\u0370-\u03ff]"), ("ell", "grc")),
    (re.compile(r"[\u0590-\u05ff]"), ("heb", "yid")),
    (re.compile(r"[\u0600-\u06ff]"), ("ara", "fas", "urd", "pus", "kur")),
    (re.compile(r"[\u0900-\u097f]"), ("hin", "mar", "nep", "san")),
    (re.compile(r"[\u3040-\u30ff]"), ("jpn",)),
    (re.compile(r"[\uac00-\ud7af]"), ("kor",)),
    (re.compile(r"[\u4e00-\u9fff]"), ("zho", "jpn", "yue", "wuu")),
    (re.compile(r"[\u0e00-\u0e7f]"), ("tha",)),
)

MergeOrder = Literal["score", "ranks"]


def by_likelihood(books: Sequence[OpenBook], text: str) -> list[OpenBook]:
    """The books for a query, the likeliest first: named in it, of its language, an encyclopaedia, large."""
    folded = fold(text)

    def likeliness(book: OpenBook) -> tuple[int, int, int, int, str]:
        return (
            -_named(book.book, folded),
            -_speaks(book.book, text),
            KIND_ORDER.index(book.book.kind),
            -book.book.articles,
            book.book.id,
        )

    return sorted(books, key=likeliness)


def names_book(book: Book, text: str) -> bool:
    return _named(book, fold(text)) > 0


def _named(book: Book, folded: str) -> int:
    """How many telling words of the book's name stand in the query: 'in the SQLite docs', 'on Stack Exchange'."""
    names = {word for name in (book.title, book.name, book.creator) for word in fold(name).split()}
    joined = folded.replace(" ", "")
    return sum(len(word) > 3 and word in joined for word in names - COMMON_NAMES)


def _speaks(book: Book, text: str) -> int:
    """Whether the book may be in the query's language, by its script and its small words."""
    for script, languages in SCRIPTS:
        if script.search(text):
            return 2 if book.language in languages else 0
    known = language_words(book.language or "eng")
    own = book.language in ("", "eng") or known is not language_words("eng")
    small = sum(word.casefold() in known.stop_words for word in text.split()) if own else 0
    return min(small, 2)


def worth_merging(ranked: Sequence[BookHits]) -> list[BookHits]:
    """The books whose best page stands beside the overall best; all of them where nothing scores."""
    top = max((one.best for one in ranked), default=0.0)
    if top <= 0:
        return list(ranked)
    return [one for one in ranked if one.best >= WORTH_MERGING * top]


def merged_hits(ranked: Sequence[BookHits]) -> tuple[tuple[Hit, ...], MergeOrder]:
    """One list of several books'.

    Points of books of one kind and language compare; those of a German
    Wikipedia and an English question board do not. So books of one sort are
    merged by score, and the sorts by rank.
    """
    sorts: dict[tuple[str, str], list[Hit]] = {}
    for one in ranked:
        sorts.setdefault((one.book.book.kind, one.book.book.language), []).extend(one.hits)
    lists = [_without_copies(sorted_hits(hits)) for hits in sorts.values()]
    if len(lists) <= 1:
        return (tuple(lists[0]) if lists else ()), "score"
    fused = [(1 / (FUSION_RANK + place), hit) for hits in lists for place, hit in enumerate(hits)]
    fused.sort(key=lambda row: (-row[0], -row[1].score.total, row[1].ref))
    return tuple(hit for _, hit in fused), "ranks"


def _without_copies(hits: Sequence[Hit]) -> list[Hit]:
    """The same article in two books once, in its best form; the others are named with it."""
    first: dict[str, Hit] = {}
    for hit in hits:
        key = fold(hit.title)
        known = first.get(key)
        if known is None:
            first[key] = hit
        elif known.ref.book != hit.ref.book:
            first[key] = replace(known, copies=(*known.copies, hit.ref))
        else:  # two pages of one book that differ only in case are two pages
            first[f"{key}\n{hit.ref}"] = hit
    return list(first.values())


LIMIT = 10
MAX_BOOKS = 2


@dataclass(frozen=True, slots=True)
class SearchOptions:
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
class SearchHelpers:
    """Who may be asked for help: a model, with what it said before, and an embedder; none is needed."""

    model: Model | None = None
    cache: PhraseCache | None = None
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
    order: MergeOrder = "score"
    hidden: HiddenPages = NONE_HIDDEN
    """Pages that would be among them, but for the policy of this desk."""
    missing: tuple[MissingBooks, ...] = ()
    """Books that could not be asked, since the hosts that have them are away."""


def find(
    books: Sequence[OpenBook], text: str, wish: SearchOptions | None = None, advice: SearchHelpers | None = None
) -> Findings:
    """Find the pages that answer a query in some books, best first; equal scores by book and path."""
    return Search(books, text, wish, advice).best()


class Search:
    """A query in some books, which can be asked for more: what was gathered and read for it is kept."""

    def __init__(
        self,
        books: Sequence[OpenBook],
        text: str,
        wish: SearchOptions | None = None,
        advice: SearchHelpers | None = None,
    ) -> None:
        self.text = text
        self._wish = wish = wish or SearchOptions()
        self._advice = advice = advice or SearchHelpers()
        asked = _asked(books, text, wish)
        self._embedder = advice.embedder() if advice.embedder and not wish.fast else None
        self._known: list[tuple[OpenBook, dict[str, str]]] = []
        self._searches: list[BookSearch] = []
        self.corrected = ""
        for place, book in enumerate(asked):
            query = _meant(book, books, text, wish)
            if query.is_corrected:
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
        most = max(limit, MAX_SENSES)
        ranked = [
            one.by_titles(most) if wish.fast else one.by_text(most, read, self._embedder, self._advice.say)
            for one in self._searches
        ]
        chosen = worth_merging(ranked)
        hits, order = merged_hits(chosen)
        found = (
            () if wish.focus else tuple(sense for book, told in self._known for sense in senses_among(book, told, hits))
        )
        sources = tuple(one.book.book.id for one in chosen if one.hits)
        return Findings(self.text, hits[:limit], found, sources, self.corrected, order, self._hidden(limit))

    def _hidden(self, limit: int) -> HiddenPages:
        return sum((hidden_for(one.book, one.query, limit) for one in self._searches), NONE_HIDDEN)


def hidden_for(book: OpenBook, query: Query, limit: int) -> HiddenPages:
    """What is hidden of a book among the pages that a query asks for."""
    phrases = (query.core, " ".join(query.content))
    return hidden_offers([book.archive], phrases, (query.core, *query.phrases()), limit)


def _meant(book: OpenBook, books: Sequence[OpenBook], text: str, wish: SearchOptions) -> Query:
    """The query for one book, with what no book knows mended."""
    query = parse_query(text, book.language, wish.focus)
    return corrected_query(book, query, lambda word: any(other.knows(word) for other in books)) or query


def _asked(books: Sequence[OpenBook], text: str, wish: SearchOptions) -> list[OpenBook]:
    """The books to search in full: of many, those that look best at a quick glance."""
    ordered = by_likelihood(books, text)
    if len(ordered) <= wish.max_books:
        return ordered
    glances = [BookSearch(book, _meant(book, books, text, wish)).by_titles(1) for book in ordered]
    place = {id(one.book): number for number, one in enumerate(glances)}
    kept = worth_merging(glances)
    # A book the query names is asked whatever its points, which are lower where it has no index of its own.
    named = [one for one in glances if one.hits and names_book(one.book.book, text)]
    best = sorted(kept, key=lambda one: (-one.best, place[id(one.book)]))
    chosen = list({id(one.book): one.book for one in (*named, *best)}.values())[: wish.max_books]
    return sorted(chosen, key=lambda book: place[id(book)])


def _pooled(book: OpenBook, query: Query, advice: SearchHelpers) -> tuple[Query, ...]:
    """What a model offers besides, where one is there and the query is one it can help with."""
    if advice.model is None or advice.cache is None:
        return ()
    from kiwiresearch.search.ambiguity import is_ambiguous, phrases_for

    if not is_ambiguous(query, book.book, advice.model):
        return ()
    return phrases_for(query, advice.model, advice.cache, advice.say)
