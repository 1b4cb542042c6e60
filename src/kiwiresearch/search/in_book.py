"""The best pages of one book for a query: gathered, weighed by their titles, and the best of them read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kiwiresearch.errors import EmbedderError
from kiwiresearch.search.hit import Hit, Score, in_order
from kiwiresearch.search.meaning import by_meaning
from kiwiresearch.search.open_book import OpenBook, PageText
from kiwiresearch.search.passages import match
from kiwiresearch.search.points import table
from kiwiresearch.search.query import Query
from kiwiresearch.search.rank import Judge, TitleMatch
from kiwiresearch.search.recall import Candidate, recall
from kiwiresearch.search.snippet import beginning, snippet
from kiwiresearch.text.fold import fold
from kiwiresearch.text.languages import words_of
from kiwiresearch.text.stem import stemmer
from kiwiresearch.text.words import level

if TYPE_CHECKING:
    from kiwiresearch.embed.embedder import Embedder

IS_SUBJECT = 0.8
"""A page whose title is this much of the query is shown from its beginning."""

SENSES_LEAD = 250
SENSES_LENGTH = 12_000
"""A page that lists senses says so at once, and is short."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """What one book has for a query."""

    book: OpenBook
    hits: tuple[Hit, ...]

    @property
    def best(self) -> float:
        return self.hits[0].score.total if self.hits else 0.0


class BookSearch:
    """A query in one book: its candidates in order, of which as many are read as are asked for, each once."""

    def __init__(
        self,
        book: OpenBook,
        query: Query,
        *,
        primary: bool = False,
        pooled: Sequence[Query] = (),
        besides: Iterable[str] = (),
    ) -> None:
        """`besides` are pages known from elsewhere, such as the senses of a name.

        All are ranked by one scoring, whichever of the queries found them.
        """
        self.book = book
        self.query = query
        self._primary = primary
        self._judge = judge = Judge.of(book, query)
        others = sorted(besides)
        book.titles_ahead(others)
        candidates = {path: Candidate(path, book.title(path)) for path in others}
        candidates |= {candidate.path: candidate for other in pooled for candidate in recall(book, other)}
        candidates |= {candidate.path: candidate for candidate in recall(book, query)}
        quick = []
        for candidate in candidates.values():
            title = judge.title(candidate)
            score = judge.quick(candidate, title, primary=primary)
            quick.append((_guided(judge, score, candidate.title), candidate, title))
        self._quick = sorted(quick, key=lambda row: (-row[0].total, row[1].path))
        self._pages: list[Hit | None] = []
        """What reading the first candidates gave."""

    def by_titles(self, limit: int) -> Ranked:
        """The best pages as far as can be told without reading one."""
        best = self._quick[:limit]
        hits = [_hit(self.book, candidate, score, title) for score, candidate, title in best if score.total > 0]
        return Ranked(self.book, tuple(in_order(hits)))

    def by_text(
        self, limit: int, read: int = 0, embedder: Embedder | None = None, say: Callable[[str], None] | None = None
    ) -> Ranked:
        """The best pages; `read` are read, unless the book is on a server, which has its own measure."""
        most = self.book.effort.read if self.book.is_served or not read else read
        unread = self._quick[len(self._pages) : most]
        self.book.texts_ahead(candidate.path for _, candidate, _ in unread)
        for _, candidate, title in unread:
            self._pages.append(_read(self.book, self._judge, candidate, title, primary=self._primary))
        hits = [hit for hit in self._pages[:most] if hit is not None and hit.score.total > 0]
        if embedder is not None:
            hits = _by_meaning(self.book, self.query, hits, embedder, say)
        return Ranked(self.book, tuple(in_order(hits)[:limit]))


def _by_meaning(
    book: OpenBook, query: Query, hits: list[Hit], embedder: Embedder, say: Callable[[str], None] | None
) -> list[Hit]:
    """The hits with their likeness in meaning; an embedder that fails is told, and done without."""
    try:
        return by_meaning(book, query, hits, embedder)
    except EmbedderError as problem:
        if say:
            say(f"Meanings are not compared: {problem}")
        return hits


def _guided(judge: Judge, score: Score, title: str) -> Score:
    """What a hint says to a page that was not read: its words in the title."""
    focus = judge.query.focus
    if not focus:
        return score
    stem_of = stemmer(judge.query.language)
    stems = {stem_of(word) for word in fold(title).split()}
    return judge.focused(score, sum(term.stem in stems for term in focus) / len(focus), 0.0)


def _read(book: OpenBook, judge: Judge, candidate: Candidate, title: TitleMatch, *, primary: bool) -> Hit | None:
    page = book.text(candidate.path)
    if page is None:
        return None
    if page.title != candidate.title:
        aliases = candidate.aliases | {candidate.title}
        candidate = Candidate(candidate.path, page.title, aliases, candidate.listed, candidate.shared)
        title = judge.title(candidate)
    query = judge.query
    found = match(
        page.levelled, query.terms, judge.rarity, query.language, title.stems, boxes=page.boxes, lead=page.lead
    )
    is_subject = title.asked > IS_SUBJECT and title.named > IS_SUBJECT
    excerpt = beginning(page.text, page.lead) if is_subject else snippet(page.text, found.places)
    score = judge.full(candidate, title, found, excerpt, primary=primary)
    if lists_senses(page, query.language):
        score = score.plus("disambiguation page", table()["page"]["disambiguation"])
    elif query.focus:
        score = _focused(judge, score, page, book)
    return _hit(book, candidate, score, title, excerpt)


def _focused(judge: Judge, score: Score, page: PageText, book: OpenBook) -> Score:
    """The score with how much of the hint is in the title, and how much the page speaks of it."""
    query = judge.query
    rarity = {term.stem: book.rarity(term.word) for term in query.focus}
    titled = frozenset(stemmer(query.language)(word) for word in fold(page.title).split())
    found = match(page.levelled, query.focus, rarity, query.language, lead=page.lead)
    in_title = sum(weight for stem, weight in rarity.items() if stem in titled) / sum(rarity.values())
    return judge.focused(score, in_title, (found.passage / 2 + found.lead + found.page / 2) / 3)


def lists_senses(page: PageText, language: str) -> bool:
    """Whether a page is there only to tell namesakes apart."""
    known = words_of(language)
    if page.title.casefold().endswith(tuple(known.disambiguation_suffixes)):
        return True
    lead = page.levelled[page.lead : page.lead + SENSES_LEAD]
    start = page.levelled[:SENSES_LEAD]
    return len(page.text) < SENSES_LENGTH and any(
        f"{level(phrase)}:" in text or f"{level(phrase)} :" in text
        for phrase in known.may_refer
        for text in (lead, start)
    )


def _hit(book: OpenBook, candidate: Candidate, score: Score, title: TitleMatch, excerpt: str = "") -> Hit:
    alias = title.name if title.name != candidate.title else ""
    return Hit(book.ref(candidate.path), candidate.title, score, excerpt, alias)
