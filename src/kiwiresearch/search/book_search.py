"""The best pages of one book for a query."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kiwiresearch.errors import EmbedderError
from kiwiresearch.search.candidates import SearchCandidate, find_candidates
from kiwiresearch.search.open_book import OpenBook, PageText
from kiwiresearch.search.query import Hit, Query, Score, sorted_hits
from kiwiresearch.search.rank import QueryScorer, TitleMatch, match_text, point_table
from kiwiresearch.text import fold, language_words, plain_lower, stemmer

if TYPE_CHECKING:
    from kiwiresearch.embed import Embedder

SNIPPET_CHARS = 240
CHARS_BEFORE = 80
AFTER_STOP = re.compile(r"[.!?][\"'”’)]* +(?=[\"'“‘(]?[^\W_a-z])")
# 'Rome , Italy' becomes 'Rome, Italy', '( a' becomes '(a'.
LOOSE = re.compile(r"\s+([,.;:!?)\]%»”])|([(\[«“])\s+")


def snippet(text: str, places: Sequence[tuple[int, str, float]] = ()) -> str:
    """The part of a text with most of the query's words, from the start of a sentence if one is near."""
    start = _sentence_start(text, _densest(places))
    return f"{'… ' if start else ''}{excerpt_from(text, start)}"


def excerpt_from(text: str, start: int = 0) -> str:
    """A line or two from an offset on."""
    end = start + SNIPPET_CHARS
    if end < len(text):
        end = text.rfind(" ", start, end + 1)
        end = start + SNIPPET_CHARS if end <= start else end
    return f"{tidy_excerpt(text[start:end])}{' …' if end < len(text) else ''}"


def _densest(places: Sequence[tuple[int, str, float]]) -> int:
    """The first place at which a snippet would have most of the query."""
    best, start = 0.0, 0
    for index, (place, _, _) in enumerate(places):
        rarity = {
            stem: weight for other, stem, weight in places[index:] if other < place + SNIPPET_CHARS - CHARS_BEFORE
        }
        # Clearly more, so that the first of equal places wins whatever the order of additions.
        if sum(rarity.values()) > best + 1e-9:
            best, start = sum(rarity.values()), place
    return start


def _sentence_start(text: str, place: int) -> int:
    if place <= CHARS_BEFORE:
        return 0
    starts = [found.end() for found in AFTER_STOP.finditer(text, max(place - 2 * CHARS_BEFORE, 0), place)]
    return starts[-1] if starts else text.find(" ", place - CHARS_BEFORE, place) + 1 or place


def tidy_excerpt(text: str) -> str:
    """The text without the spaces before commas and inside brackets that joining its pieces has left."""
    return LOOSE.sub(lambda found: found[1] or found[2], text).strip()


LEAD_WORDS = 60


def with_meaning_scores(book: OpenBook, query: Query, hits: Sequence[Hit], embedder: Embedder) -> list[Hit]:
    """The hits with one more term in their scores: the similarity of the query to the title and lead."""
    from kiwiresearch.embed import similarity

    if not hits:
        return []
    pages = [(hit.title, book.text(hit.ref.path)) for hit in hits]
    leads = [title_and_lead(title, page.text[page.lead :] if page else "") for title, page in pages]
    rows = embedder.embed([query.text, *leads])
    points = point_table()["text"]["meaning"]
    return [
        replace(hit, score=hit.score.plus("meaning", points * max(0.0, float(cosine))))
        for hit, cosine in zip(hits, similarity(rows[0], rows[1:]), strict=True)
    ]


def title_and_lead(title: str, text: str) -> str:
    """The title of a page and the first words of its text, which say what it is about."""
    return f"{title}. {' '.join(text[: 12 * LEAD_WORDS].split()[:LEAD_WORDS])}"


MIN_SUBJECT_SHARE = 0.8
"""The snippet of a page whose title is this share of the query is how it starts."""

SENSES_LEAD = 250
SENSES_LENGTH = 12_000
"""A disambiguation page is short, and says at the start what it is."""


@dataclass(frozen=True, slots=True)
class BookHits:
    """The hits of one book."""

    book: OpenBook
    hits: tuple[Hit, ...]

    @property
    def best(self) -> float:
        return self.hits[0].score.total if self.hits else 0.0


class BookSearch:
    """A query in one book: its candidates in order, read only as far as needed."""

    def __init__(
        self,
        book: OpenBook,
        query: Query,
        *,
        primary: bool = False,
        extra_queries: Sequence[Query] = (),
        extra_paths: Iterable[str] = (),
    ) -> None:
        """`extra_queries` find further candidates, and `extra_paths` are further pages, such as the senses of a name.

        All candidates are scored for `query`, however they were found.
        """
        self.book = book
        self.query = query
        self._primary = primary
        self._scorer = scorer = QueryScorer.of(book, query)
        others = sorted(extra_paths)
        book.prefetch_titles(others)
        candidates = {path: SearchCandidate(path, book.title(path)) for path in others}
        candidates |= {
            candidate.path: candidate for other in extra_queries for candidate in find_candidates(book, other)
        }
        candidates |= {candidate.path: candidate for candidate in find_candidates(book, query)}
        quick = []
        for candidate in candidates.values():
            title = scorer.match_title(candidate)
            score = scorer.quick(candidate, title, primary=primary)
            quick.append((_with_focus_in_title(scorer, score, candidate.title), candidate, title))
        self._quick = sorted(quick, key=lambda row: (-row[0].total, row[1].path))
        self._pages: list[Hit | None] = []
        """The first candidates that were read; None for one that cannot be read."""

    def by_titles(self, limit: int) -> BookHits:
        """The best pages, without reading any."""
        best = self._quick[:limit]
        hits = [_hit(self.book, candidate, score, title) for score, candidate, title in best if score.total > 0]
        return BookHits(self.book, tuple(sorted_hits(hits)))

    def by_text(
        self, limit: int, read: int = 0, embedder: Embedder | None = None, say: Callable[[str], None] | None = None
    ) -> BookHits:
        """The best of the first `read` pages; a book on a server always reads its own number of pages."""
        count = self.book.effort.read if self.book.is_served or not read else read
        # Pages that were read are kept, so a later call with a higher limit reads only the rest.
        unread = self._quick[len(self._pages) : count]
        self.book.prefetch_texts(candidate.path for _, candidate, _ in unread)
        for _, candidate, title in unread:
            self._pages.append(_read(self.book, self._scorer, candidate, title, primary=self._primary))
        hits = [hit for hit in self._pages[:count] if hit is not None and hit.score.total > 0]
        if embedder is not None:
            try:
                hits = with_meaning_scores(self.book, self.query, hits, embedder)
            except EmbedderError as problem:
                if say:
                    say(f"Search by meaning is off: {problem}")
        return BookHits(self.book, tuple(sorted_hits(hits)[:limit]))


def _with_focus_in_title(scorer: QueryScorer, score: Score, title: str) -> Score:
    """The score of a page that was not read, with how much of the user's hint is in its title."""
    focus = scorer.query.focus
    if not focus:
        return score
    stem_of = stemmer(scorer.query.language)
    stems = {stem_of(word) for word in fold(title).split()}
    return scorer.focused(score, sum(term.stem in stems for term in focus) / len(focus), 0.0)


def _read(
    book: OpenBook, scorer: QueryScorer, candidate: SearchCandidate, title: TitleMatch, *, primary: bool
) -> Hit | None:
    page = book.text(candidate.path)
    if page is None:
        return None
    # The candidate was a redirect: its title becomes an alias of the page behind it.
    if page.title != candidate.title:
        aliases = candidate.aliases | {candidate.title}
        candidate = SearchCandidate(candidate.path, page.title, aliases, candidate.listed, candidate.shared)
        title = scorer.match_title(candidate)
    query = scorer.query
    found = match_text(
        page.lowered, query.terms, scorer.rarity, query.language, title.stems, boxes=page.boxes, lead=page.lead
    )
    is_subject = title.query_share > MIN_SUBJECT_SHARE and title.name_share > MIN_SUBJECT_SHARE
    excerpt = excerpt_from(page.text, page.lead) if is_subject else snippet(page.text, found.places)
    score = scorer.full(candidate, title, found, excerpt, primary=primary)
    if is_disambiguation_text(page, query.language):
        score = score.plus("disambiguation page", point_table()["page"]["disambiguation"])
    elif query.focus:
        score = _with_focus(scorer, score, page, book)
    return _hit(book, candidate, score, title, excerpt)


def _with_focus(scorer: QueryScorer, score: Score, page: PageText, book: OpenBook) -> Score:
    """The score with how much of the user's hint is in the title and in the text."""
    query = scorer.query
    rarity = {term.stem: book.rarity(term.word) for term in query.focus}
    titled = frozenset(stemmer(query.language)(word) for word in fold(page.title).split())
    found = match_text(page.lowered, query.focus, rarity, query.language, lead=page.lead)
    in_title = sum(weight for stem, weight in rarity.items() if stem in titled) / sum(rarity.values())
    return scorer.focused(score, in_title, (found.passage / 2 + found.lead + found.page / 2) / 3)


def is_disambiguation_text(page: PageText, language: str) -> bool:
    """Whether a page only lists the senses of a name."""
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
