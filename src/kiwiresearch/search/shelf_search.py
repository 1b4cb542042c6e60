"""Searches several books: chooses which ones, and merges their hits."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from kiwiresearch.ids import BookId
from kiwiresearch.llm import Model
from kiwiresearch.search.book_search import BookHits, BookSearch
from kiwiresearch.search.interpretation import MAX_SENSES, Sense, corrected_query, sense_paths, senses_among
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import Hit, Query, parse_query, sorted_hits
from kiwiresearch.text import fold, language_words
from kiwiresearch.zim import NONE_HIDDEN, Book, HiddenPages, MissingBooks, count_hidden_matches

if TYPE_CHECKING:
    from kiwiresearch.embed import Embedder
    from kiwiresearch.search.model_phrases import PhraseCache

MIN_MERGE_SHARE = 0.5
"""A book is left out if its best page has less than this share of the points of the overall best."""

FUSION_RANK = 60
"""The usual constant of reciprocal-rank fusion; it makes the first few ranks differ little."""

KIND_ORDER = ("wikipedia", "wiki", "gutenberg", "stackexchange", "devdocs", "website", "ted", "other")
"""If nothing else decides, encyclopaedias come first."""

COMMON_NAMES = frozenset({"book", "books", "edition", "free", "maxi", "mini", "nopic", "wikipedia"})
SCRIPT_LANGUAGES = (
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
    """The books for a query, most likely first: named in it, in its language, an encyclopaedia, large."""

    def likelihood(opened: OpenBook) -> tuple[int, int, int, int, str]:
        book = opened.book
        kind = KIND_ORDER.index(book.kind)
        return -_naming_words(book, text), -_language_match(book, text), kind, -book.articles, book.id

    return sorted(books, key=likelihood)


def _naming_words(book: Book, text: str) -> int:
    """How many words of the book's name are in the query: 'in the SQLite docs', 'on Stack Exchange'."""
    names = {word for name in (book.title, book.name, book.creator) for word in fold(name).split()}
    joined = fold(text).replace(" ", "")
    return sum(len(word) > 3 and word in joined for word in names - COMMON_NAMES)


def _language_match(book: Book, text: str) -> int:
    """How well the book's language fits the query, by its script and its stop words, from 0 to 2."""
    # A script decides at once; kana come before Chinese characters, which Japanese uses too.
    for script, languages in SCRIPT_LANGUAGES:
        if script.search(text):
            return 2 if book.language in languages else 0
    known = language_words(book.language or "eng")
    has_own_words = book.language in ("", "eng") or known is not language_words("eng")
    # A language without a table would be compared by the English words, so it counts none.
    stop_words = sum(word.casefold() in known.stop_words for word in text.split()) if has_own_words else 0
    return min(stop_words, 2)


def worth_merging(ranked: Sequence[BookHits]) -> list[BookHits]:
    """The books whose best page is comparable with the overall best; all of them if nothing scores."""
    top = max((book_hits.best for book_hits in ranked), default=0.0)
    if top <= 0:
        return list(ranked)
    return [book_hits for book_hits in ranked if book_hits.best >= MIN_MERGE_SHARE * top]


def merged_hits(ranked: Sequence[BookHits]) -> tuple[tuple[Hit, ...], MergeOrder]:
    """The hits of several books as one list.

    Points are comparable between books of the same kind and language, but not between a German Wikipedia and an
    English question board. So books of one kind and language are merged by score, and these groups by rank.
    """
    hits_by_kind: dict[tuple[str, str], list[Hit]] = {}
    for book_hits in ranked:
        hits_by_kind.setdefault((book_hits.book.book.kind, book_hits.book.book.language), []).extend(book_hits.hits)
    lists = [_without_copies(sorted_hits(hits)) for hits in hits_by_kind.values()]
    if len(lists) <= 1:
        return (tuple(lists[0]) if lists else ()), "score"
    # No page is in two of the lists, so there is nothing to add up: fusion only interleaves them.
    fused = [(1 / (FUSION_RANK + place), hit) for hits in lists for place, hit in enumerate(hits)]
    fused.sort(key=lambda row: (-row[0], -row[1].score.total, row[1].ref))
    return tuple(hit for _, hit in fused), "ranks"


def _without_copies(hits: Sequence[Hit]) -> list[Hit]:
    """The hits with an article of several books listed once, in its best form, together with its copies."""
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


DEFAULT_LIMIT = 10
MAX_BOOKS = 2


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Options of a search."""

    limit: int = DEFAULT_LIMIT
    fast: bool = False
    """Use only titles, suggestions and the books' own indexes, and read no page."""
    focus: str = ""
    """A hint that decides between senses."""
    max_books: int = MAX_BOOKS
    """How many books are searched in full; the others only quickly."""
    read: int = 0
    """How many pages of a book are read at most; 0 leaves it to the book."""


@dataclass(frozen=True, slots=True)
class SearchHelpers:
    """Optional helpers of a search: a model with a cache of its phrases, and an embedder."""

    model: Model | None = None
    cache: PhraseCache | None = None
    embedder: Callable[[], Embedder] | None = None
    """Makes the embedder when a search that reads pages first needs it."""
    say: Callable[[str], None] | None = None
    """Is called with a message if a model could not help."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search, with notices for the user."""

    query: str
    hits: tuple[Hit, ...] = ()
    senses: tuple[Sense, ...] = ()
    books: tuple[BookId, ...] = ()
    """The books with hits, most likely first."""
    corrected: str = ""
    """The query as it was understood, if it had typos."""
    order: MergeOrder = "score"
    hidden: HiddenPages = NONE_HIDDEN
    """Pages that would be among the hits, but are hidden by a policy."""
    missing: tuple[MissingBooks, ...] = ()
    """Books that could not be searched, since their hosts are unreachable."""


def search_books(
    books: Sequence[OpenBook], text: str, options: SearchOptions | None = None, helpers: SearchHelpers | None = None
) -> SearchResult:
    """The pages of some books for a query, best first; equal scores by book and path."""
    return Search(books, text, options, helpers).best()


class Search:
    """A query in some books, which can return more hits without searching again."""

    def __init__(
        self,
        books: Sequence[OpenBook],
        text: str,
        options: SearchOptions | None = None,
        helpers: SearchHelpers | None = None,
    ) -> None:
        self.text = text
        self._options = options = options or SearchOptions()
        self._helpers = helpers = helpers or SearchHelpers()
        chosen = _books_to_search(books, text, options)
        self._embedder = helpers.embedder() if helpers.embedder and not options.fast else None
        self._senses: list[tuple[OpenBook, dict[str, str]]] = []
        self._searches: list[BookSearch] = []
        self.corrected = ""
        for place, book in enumerate(chosen):
            query = _query_for(book, books, text, options)
            if query.is_corrected:
                self.corrected = self.corrected or query.text
            senses = {} if options.fast else sense_paths(book, query)
            self._senses.append((book, senses))
            is_first = len(chosen) > 1 and place == 0
            extra_queries = _phrases_of_model(book, query, helpers)
            self._searches.append(
                BookSearch(book, query, primary=is_first, extra_queries=extra_queries, extra_paths=senses)
            )

    def best(self, limit: int = 0, read: int = 0) -> SearchResult:
        """The best pages; `limit` and `read` default to those of the options."""
        options = self._options
        limit, read = limit or options.limit, read or options.read
        # Senses are taken from the hits, so a search for one page still needs the others.
        max_hits = max(limit, MAX_SENSES)
        ranked = [
            search.by_titles(max_hits)
            if options.fast
            else search.by_text(max_hits, read, self._embedder, self._helpers.say)
            for search in self._searches
        ]
        chosen = worth_merging(ranked)
        hits, order = merged_hits(chosen)
        books = () if options.focus else self._senses
        senses = tuple(sense for book, paths in books for sense in senses_among(book, paths, hits))
        sources = tuple(book_hits.book.book.id for book_hits in chosen if book_hits.hits)
        hidden = sum((hidden_for(search.book, search.query, limit) for search in self._searches), NONE_HIDDEN)
        return SearchResult(self.text, hits[:limit], senses, sources, self.corrected, order, hidden)


def hidden_for(book: OpenBook, query: Query, limit: int) -> HiddenPages:
    """The hidden pages of a book that a query would find."""
    phrases = (query.core, " ".join(query.content))
    return count_hidden_matches([book.archive], phrases, (query.core, *query.phrases()), limit)


def _query_for(book: OpenBook, books: Sequence[OpenBook], text: str, options: SearchOptions) -> Query:
    """The query for one book, in which words that no book knows are corrected."""
    query = parse_query(text, book.language, options.focus)
    return corrected_query(book, query, lambda word: any(other.knows(word) for other in books)) or query


def _books_to_search(books: Sequence[OpenBook], text: str, options: SearchOptions) -> list[OpenBook]:
    """The books to search in full: if there are many, those with the best results of a quick search."""
    ordered = by_likelihood(books, text)
    if len(ordered) <= options.max_books:
        return ordered
    quick = [BookSearch(book, _query_for(book, books, text, options)).by_titles(1) for book in ordered]
    place = {id(hits.book): index for index, hits in enumerate(quick)}
    # A book that the query names is always searched, since its points are lower if it has no index of its own.
    named = [book_hits for book_hits in quick if book_hits.hits and _naming_words(book_hits.book.book, text) > 0]
    best = sorted(worth_merging(quick), key=lambda book_hits: (-book_hits.best, place[id(book_hits.book)]))
    chosen = list({id(book_hits.book): book_hits.book for book_hits in (*named, *best)}.values())[: options.max_books]
    return sorted(chosen, key=lambda book: place[id(book)])


def _phrases_of_model(book: OpenBook, query: Query, helpers: SearchHelpers) -> tuple[Query, ...]:
    """Further queries from a model, if there is one and the query is ambiguous."""
    if helpers.model is None or helpers.cache is None:
        return ()
    from kiwiresearch.search.model_phrases import is_ambiguous, phrases_for

    if not is_ambiguous(query, book.book, helpers.model):
        return ()
    return phrases_for(query, helpers.model, helpers.cache, helpers.say)
