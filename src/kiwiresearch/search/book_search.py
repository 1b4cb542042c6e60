"""The best pages of one book for a query."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kiwiresearch.errors import EmbedderError
from kiwiresearch.search.open_book import OpenBook, PageText
from kiwiresearch.search.query import Hit, Query, Score, sorted_hits
from kiwiresearch.search.rank import QueryScorer, TitleMatch, match, point_table
from kiwiresearch.search.recall import SearchCandidate, recall
from kiwiresearch.text.languages import language_words, stemmer
from kiwiresearch.text.words import fold, plain_lower

if TYPE_CHECKING:
    from kiwiresearch.embed.embedder import Embedder

LENGTH = 240
BEFORE = 80
AFTER_STOP = re.compile(r"[.!?][\"'”’)]* +(?=[\"'“‘(]?[^\W_a-z])")
LOOSE = re.compile(r"\s+([,.;:!?)\]%»”])|([(\[«“])\s+")


def snippet(text: str, places: Sequence[tuple[int, str, float]] = ()) -> str:
    """The stretch of a text with most of the words looked for, from the start of a sentence if one is near."""
    begin = _sentence_start(text, _densest(places))
    return f"{'… ' if begin else ''}{excerpt_from(text, begin)}"


def excerpt_from(text: str, begin: int = 0) -> str:
    """A line or two from some place on."""
    end = begin + LENGTH
    if end < len(text):
        end = text.rfind(" ", begin, end + 1)
        end = begin + LENGTH if end <= begin else end
    return f"{tidy_excerpt(text[begin:end])}{' …' if end < len(text) else ''}"


def _densest(places: Sequence[tuple[int, str, float]]) -> int:
    """The place from which on a snippet's length holds most; the first of equals."""
    best, start = 0.0, 0
    for number, (place, _, _) in enumerate(places):
        held = {stem: weight for other, stem, weight in places[number:] if other < place + LENGTH - BEFORE}
        if sum(held.values()) > best + 1e-9:
            best, start = sum(held.values()), place
    return start


def _sentence_start(text: str, place: int) -> int:
    if place <= BEFORE:
        return 0
    starts = [
        found.end() for found in AFTER_STOP.finditer(text, place - 2 * BEFORE if place > 2 * BEFORE else 0, place)
    ]
    if starts:
        return starts[-1]
    return text.find(" ", place - BEFORE, place) + 1 or place


def tidy_excerpt(text: str) -> str:
    """Text whose pieces were joined by spaces, with the spaces before commas and inside brackets taken out."""
    return LOOSE.sub(lambda found: found[1] or found[2], text).strip()


LEAD_WORDS = 60


def with_meaning_scores(book: OpenBook, query: Query, hits: Sequence[Hit], embedder: Embedder) -> list[Hit]:
    """The hits with one line more in their scores: the likeness of the query to the title and lead."""
    from kiwiresearch.embed.embedder import similarity

    if not hits:
        return []
    rows = embedder.embed([query.text, *(_lead(book, hit) for hit in hits)])
    worth = point_table()["text"]["meaning"]
    likeness = similarity(rows[0], rows[1:])
    return [
        replace(hit, score=hit.score.plus("meaning", worth * max(0.0, float(like))))
        for hit, like in zip(hits, likeness, strict=True)
    ]


def _lead(book: OpenBook, hit: Hit) -> str:
    page = book.text(hit.ref.path)
    return title_and_lead(hit.title, page.text[page.lead :] if page else "")


def title_and_lead(title: str, text: str) -> str:
    """What a page is about, in a few words: its title and how its text begins."""
    return f"{title}. {' '.join(text[: 12 * LEAD_WORDS].split()[:LEAD_WORDS])}"


IS_SUBJECT = 0.8
"""A page whose title is this much of the query is shown from its beginning."""

SENSES_LEAD = 250
SENSES_LENGTH = 12_000
"""A page that lists senses says so at once, and is short."""


@dataclass(frozen=True, slots=True)
class BookHits:
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
        self._judge = judge = QueryScorer.of(book, query)
        others = sorted(besides)
        book.prefetch_titles(others)
        candidates = {path: SearchCandidate(path, book.title(path)) for path in others}
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

    def by_titles(self, limit: int) -> BookHits:
        """The best pages as far as can be told without reading one."""
        best = self._quick[:limit]
        hits = [_hit(self.book, candidate, score, title) for score, candidate, title in best if score.total > 0]
        return BookHits(self.book, tuple(sorted_hits(hits)))

    def by_text(
        self, limit: int, read: int = 0, embedder: Embedder | None = None, say: Callable[[str], None] | None = None
    ) -> BookHits:
        """The best pages; `read` are read, unless the book is on a server, which has its own measure."""
        most = self.book.effort.read if self.book.is_served or not read else read
        unread = self._quick[len(self._pages) : most]
        self.book.prefetch_texts(candidate.path for _, candidate, _ in unread)
        for _, candidate, title in unread:
            self._pages.append(_read(self.book, self._judge, candidate, title, primary=self._primary))
        hits = [hit for hit in self._pages[:most] if hit is not None and hit.score.total > 0]
        if embedder is not None:
            hits = _by_meaning(self.book, self.query, hits, embedder, say)
        return BookHits(self.book, tuple(sorted_hits(hits)[:limit]))


def _by_meaning(
    book: OpenBook, query: Query, hits: list[Hit], embedder: Embedder, say: Callable[[str], None] | None
) -> list[Hit]:
    """The hits with their likeness in meaning; an embedder that fails is told, and done without."""
    try:
        return with_meaning_scores(book, query, hits, embedder)
    except EmbedderError as problem:
        if say:
            say(f"Meanings are not compared: {problem}")
        return hits


def _guided(judge: QueryScorer, score: Score, title: str) -> Score:
    """What a hint says to a page that was not read: its words in the title."""
    focus = judge.query.focus
    if not focus:
        return score
    stem_of = stemmer(judge.query.language)
    stems = {stem_of(word) for word in fold(title).split()}
    return judge.focused(score, sum(term.stem in stems for term in focus) / len(focus), 0.0)


def _read(
    book: OpenBook, judge: QueryScorer, candidate: SearchCandidate, title: TitleMatch, *, primary: bool
) -> Hit | None:
    page = book.text(candidate.path)
    if page is None:
        return None
    if page.title != candidate.title:
        aliases = candidate.aliases | {candidate.title}
        candidate = SearchCandidate(candidate.path, page.title, aliases, candidate.listed, candidate.shared)
        title = judge.title(candidate)
    query = judge.query
    found = match(
        page.lowered, query.terms, judge.rarity, query.language, title.stems, boxes=page.boxes, lead=page.lead
    )
    is_subject = title.query_share > IS_SUBJECT and title.name_share > IS_SUBJECT
    excerpt = excerpt_from(page.text, page.lead) if is_subject else snippet(page.text, found.places)
    score = judge.full(candidate, title, found, excerpt, primary=primary)
    if is_disambiguation_text(page, query.language):
        score = score.plus("disambiguation page", point_table()["page"]["disambiguation"])
    elif query.focus:
        score = _focused(judge, score, page, book)
    return _hit(book, candidate, score, title, excerpt)


def _focused(judge: QueryScorer, score: Score, page: PageText, book: OpenBook) -> Score:
    """The score with how much of the hint is in the title, and how much the page speaks of it."""
    query = judge.query
    rarity = {term.stem: book.rarity(term.word) for term in query.focus}
    titled = frozenset(stemmer(query.language)(word) for word in fold(page.title).split())
    found = match(page.lowered, query.focus, rarity, query.language, lead=page.lead)
    in_title = sum(weight for stem, weight in rarity.items() if stem in titled) / sum(rarity.values())
    return judge.focused(score, in_title, (found.passage / 2 + found.lead + found.page / 2) / 3)


def is_disambiguation_text(page: PageText, language: str) -> bool:
    """Whether a page is there only to tell namesakes apart."""
    known = language_words(language)
    if page.title.casefold().endswith(tuple(known.disambiguation_suffixes)):
        return True
    lead = page.lowered[page.lead : page.lead + SENSES_LEAD]
    start = page.lowered[:SENSES_LEAD]
    return len(page.text) < SENSES_LENGTH and any(
        f"{plain_lower(phrase)}:" in text or f"{plain_lower(phrase)} :" in text
        for phrase in known.may_refer
        for text in (lead, start)
    )


def _hit(book: OpenBook, candidate: SearchCandidate, score: Score, title: TitleMatch, excerpt: str = "") -> Hit:
    alias = title.name if title.name != candidate.title else ""
    return Hit(book.ref(candidate.path), candidate.title, score, excerpt, alias)
