"""Retrieves evidence for a question in steps: by titles, then by full text, then by a wider search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kiwiresearch.ask.answer import ExaminedPage, Route
from kiwiresearch.ask.comparison import decide
from kiwiresearch.ask.page_units import PageCache
from kiwiresearch.ask.question import ComparedThings, Question, comparison_in, names_in, read_question
from kiwiresearch.ask.refusal import (
    NOT_FOUND,
    is_hopeless,
    is_strong,
    refuse_not_on_page,
    refuse_too_weak,
    refuse_without_subject,
)
from kiwiresearch.ask.score import (
    RetrievedEvidence,
    ScoredUnit,
    SimilarityFunction,
    Strength,
    score_units,
    strength_of,
    unscored_unit,
    with_page_nearness,
)
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.ask.word_matches import WeightedWord, word_weights
from kiwiresearch.errors import EmbedderError
from kiwiresearch.search import Hit, OpenBook, Search, SearchHelpers, SearchOptions, SearchResult
from kiwiresearch.text import fold, words_in
from kiwiresearch.zim import EntryRef

if TYPE_CHECKING:
    from kiwiresearch.embed import Embedder

MAX_TITLE_CANDIDATES = 8
"""How many candidates found by title are read to see which are meant."""

MIN_COVERAGE = 0.7
"""The title search ends the retrieval only if this share of the question's words is near the best sentence or in its
titles.
"""

FULLTEXT_PAGES = 6
"""How many pages of a full-text search are scored sentence by sentence; `widen` times as many in the last step."""

FIGURES_CONFIDENCE = 0.85
"""The confidence of a comparison by a figure on both pages; set by hand, since too few were measured."""

MAX_UNDECIDED_CONFIDENCE = 0.4
"""The highest confidence of a comparison that no figure decides; set by hand as well."""

NAMING_SIGNALS = frozenset({"title named in query", "title is the query", "exact title", "stemmed title"})
"""Terms of a page's score that show that the question names the page."""


@dataclass(frozen=True, slots=True)
class Retriever:
    """Retrieves the evidence for one question, and caches what its steps have in common."""

    books: Sequence[OpenBook]
    question: Question
    settings: AskSettings
    pages: PageCache
    helpers: SearchHelpers
    max_books: int
    embedder: Embedder | None = None
    scored_pages: dict[EntryRef, list[ScoredUnit]] = field(default_factory=dict)
    word_weights: dict[str, tuple[WeightedWord, ...]] = field(default_factory=dict)
    searches: dict[str, Search] = field(default_factory=dict)

    @property
    def with_meaning(self) -> bool:
        return self.embedder is not None

    @property
    def has_no_book_in_language(self) -> bool:
        """Whether no book is in the question's language: then only its names and similar words can be found."""
        return no_book_in_language(self.question.language, self.books)

    def retrieve(self, *, as_typed: bool = True) -> RetrievedEvidence:
        """The first evidence that is strong enough, else the best there was, refused.

        A question that a person has typed may have typos, which are corrected once.
        """
        if self.question.is_empty:
            return refuse_without_subject()
        # First of all, because each thing is looked up on its own page.
        compared = comparison_in(self.question)
        comparison = self._compare(compared) if compared else None
        if comparison is not None:
            return comparison
        first = self._step("title", max_read=MAX_TITLE_CANDIDATES, max_scored=self.settings.top_pages)
        corrected = (
            self._corrected_by_search(first.corrected) if as_typed and not self.has_no_book_in_language else None
        )
        if corrected is not None:
            return self._for_question(corrected).retrieve(as_typed=False)
        # The page must also be named: a strong sentence on another page may be beaten by one that full text finds.
        if first.units and first.is_named and self._ends_search(first.strength):
            return first
        max_read = self.settings.max_pages
        full_text = self._step("fulltext", max_read=max_read, max_scored=max(FULLTEXT_PAGES, self.settings.top_pages))
        if full_text.units and self._is_strong(full_text.strength):
            return full_text
        if is_hopeless(full_text.strength):
            return refuse_too_weak(full_text)
        wider = self.settings.widen
        last = self._step("widened", max_read=int(max_read * wider), max_scored=int(FULLTEXT_PAGES * wider))
        return last if last.units and self._is_strong(last.strength) else refuse_too_weak(last)

    def _is_strong(self, strength: Strength) -> bool:
        return is_strong(strength, self.settings, with_meaning=self.with_meaning)

    def _ends_search(self, strength: Strength) -> bool:
        """Whether a page found by its title is strong enough to end the search."""
        settings = self.settings
        threshold = settings.title_sim_exit_meaning if self.with_meaning else settings.title_sim_exit
        return strength.page_confidence >= threshold and strength.coverage >= MIN_COVERAGE

    def _for_question(self, question: Question) -> Retriever:
        """The same books and settings for another question."""
        return replace(self, question=question, scored_pages={}, word_weights={}, searches={})

    def _corrected_by_search(self, corrected: str) -> Question | None:
        """The question with the search's corrections, unless they change a name: no book may have that."""
        text = self.question.query.text
        changed = set(words_in(text)) - set(words_in(corrected)) if corrected else set()
        if not changed or any(word.lower() in names_in(text) for word in changed):
            return None
        return read_question(corrected, self.question.language)

    def _compare(self, compared: ComparedThings) -> RetrievedEvidence | None:
        """'Which is older, A or B?': the best of A's own page and of B's; None unless both have one."""
        sides = []
        for thing, question in zip(compared.things, compared.questions, strict=True):
            side = self._for_question(question)
            hits = [
                hit
                for name in compared.names(thing)
                for hit in side.search_pages(name, max_read=MAX_TITLE_CANDIDATES, max_scored=1).hits
                if _is_named(hit) or (self.question.kind == "person" and fold(hit.title).endswith(f" {fold(name)}"))
            ][:1]
            units = [unit for hit in hits for unit in side.units_of(hit, 1.0)]
            if not units:
                return None
            sides.append((hits[0], sorted(units, key=_sort_key)))
        (first_hit, first), (second_hit, second) = sides
        if first_hit.ref == second_hit.ref:
            return None
        pages = tuple(ExaminedPage(hit.ref, hit.title, hit.score.total) for hit, _ in sides)
        why = f"{pages[0].title!r} and {pages[1].title!r} are compared, so each was read on its own page."
        outcome = decide((first[0].segmented, second[0].segmented), self.question, compared)
        if outcome is not None:
            rows = [unscored_unit(units[0].segmented, row) for (_, units), row in zip(sides, outcome.rows, strict=True)]
            found = RetrievedEvidence(
                "title", why, tuple(rows), pages, Strength(1.0, FIGURES_CONFIDENCE, 1.0), is_named=True, part_count=2
            )
            if self.question.kind == "yes_no":  # 'Is A bigger than B?'
                return replace(found, verdict="yes" if outcome.winner == 0 else "no")
            return replace(found, chosen=compared.things[outcome.winner])
        # A tuple compares by `page_confidence` first: a comparison is as strong as its weaker side.
        strength = min(
            strength_of(units, self.question, named=True, with_meaning=self.with_meaning) for _, units in sides
        )
        if not self._is_strong(strength):
            return None
        compared_units = (first[0], second[0], *sorted([*first[1:], *second[1:]], key=_sort_key))
        strength = strength._replace(answer_confidence=min(strength.answer_confidence, MAX_UNDECIDED_CONFIDENCE))
        return RetrievedEvidence("title", why, compared_units, pages, strength, is_named=True, part_count=2)

    def on_page(self, book: OpenBook, path: str) -> RetrievedEvidence:
        """The evidence of one page that the user named."""
        units = tuple(sorted(self._units(book, path, 1.0), key=_sort_key))
        title = units[0].segmented.page.title if units else book.title(path)
        strength = strength_of(units, self.question, with_meaning=self.with_meaning)
        examined = (ExaminedPage(book.ref(path), title, round(units[0].total, 2) if units else 0.0),)
        why = f"You asked about the page {title!r} only."
        found = RetrievedEvidence("page", why, units, examined, strength, is_named=True)
        return found if self._is_strong(strength) else refuse_not_on_page(found, title)

    def _step(self, route: Route, *, max_read: int, max_scored: int) -> RetrievedEvidence:
        query = self.question.query
        # The search splits words by the book's language, in which stop words of another one would count.
        found = self.search_pages(
            " ".join(query.content) if self.has_no_book_in_language else query.text,
            max_read=max_read,
            max_scored=max_scored,
        )
        hits = found.hits
        # `or 1.0` because the best page may have no points at all, and points are divided by this.
        best = max((hit.score.total for hit in hits), default=0.0) or 1.0
        for book in self.books:
            unread = [hit.ref.path for hit in hits if hit.ref.book == book.id and hit.ref not in self.scored_pages]
            self.pages.prefetch(book, unread)
        units = [unit for hit in hits for unit in self.units_of(hit, hit.score.total / best)]
        units = _of_best_passages(sorted(units, key=_sort_key), self.settings.max_passages)
        is_named = bool(units) and any(hit.ref == units[0].segmented.page.ref and _is_named(hit) for hit in hits)
        return RetrievedEvidence(
            route,
            _why(route, units, hits),
            tuple(units),
            tuple(ExaminedPage(hit.ref, hit.title, hit.score.total, hit.copies) for hit in hits),
            strength_of(units, self.question, with_meaning=self.with_meaning, named=is_named),
            is_named,
            corrected=found.corrected,
            senses=found.senses if self.question.kind == "definition" else (),
        )

    def search_pages(self, text: str, *, max_read: int, max_scored: int) -> SearchResult:
        """The best pages for some words: at most `max_scored`, chosen from the `max_read` that are read."""
        # One search per text, so that the later steps read on where the earlier ones stopped.
        if text not in self.searches:
            self.searches[text] = Search(self.books, text, SearchOptions(max_books=self.max_books), self.helpers)
        return self.searches[text].best(max_scored, max_read)

    def units_of(self, hit: Hit, nearness: float) -> list[ScoredUnit]:
        book = next(book for book in self.books if book.id == hit.ref.book)
        return self._units(book, hit.ref.path, nearness)

    def _units(self, book: OpenBook, path: str, nearness: float) -> list[ScoredUnit]:
        ref = book.ref(path)
        if ref not in self.scored_pages:
            if book.id not in self.word_weights:
                self.word_weights[book.id] = word_weights(self.question, book)
            page, words = self.pages.page(book, path), self.word_weights[book.id]
            self.scored_pages[ref] = score_units(page, self.question, words, self._similarity()) if page else []
        return with_page_nearness(self.scored_pages[ref], nearness)

    def _similarity(self) -> SimilarityFunction | None:
        if self.embedder is None:
            return None
        embedder = self.embedder
        from kiwiresearch.embed import similarity

        def similarity_to_question(texts: Sequence[str]) -> Sequence[float]:
            try:
                rows = embedder.embed([self.question.text, *texts])
            except EmbedderError as problem:
                if self.helpers.say:
                    self.helpers.say(f"Search by meaning is off: {problem}")
                return [0.0] * len(texts)
            return [float(cosine) for cosine in similarity(rows[0], rows[1:])]

        return similarity_to_question


def no_book_in_language(language: str, books: Sequence[OpenBook]) -> bool:
    """Whether there are books, and none is in this language."""
    return bool(books) and all(book.language != language for book in books)


def _sort_key(unit: ScoredUnit) -> tuple[float, tuple[str, str, int]]:
    return -unit.total, unit.sort_key


def _of_best_passages(units: Sequence[ScoredUnit], max_passages: int) -> list[ScoredUnit]:
    """The units that are in the best passages."""
    passages: set[tuple[EntryRef, int]] = set()
    found = []
    for unit in units:
        passage = (unit.segmented.page.ref, unit.passage)
        if passage in passages or len(passages) < max_passages:
            passages.add(passage)
            found.append(unit)
    return found


def _is_named(hit: Hit) -> bool:
    return any(term.signal in NAMING_SIGNALS for term in hit.score.terms)


def _why(route: Route, units: Sequence[ScoredUnit], hits: Sequence[Hit]) -> str:
    if not units:
        return NOT_FOUND
    title = units[0].segmented.page.title
    if route == "title":
        alias = next((hit.alias for hit in hits if hit.ref == units[0].segmented.page.ref), "")
        known = f" (as {alias!r})" if alias else ""
        return f"The question names {title!r}{known}, and that page has the answer."
    if route == "fulltext":
        return f"Titles alone were not enough; a full-text search found {title!r}."
    return f"Only a wider search found an answer, on {title!r}."
