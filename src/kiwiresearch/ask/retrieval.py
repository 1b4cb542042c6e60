"""Evidence for a question in steps: by titles, then by full text, then by a wider search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kiwiresearch.ask.answer import ExaminedPage, Route, Verdict
from kiwiresearch.ask.comparison import ComparisonOutcome, decide
from kiwiresearch.ask.page_units import PageCache
from kiwiresearch.ask.question import Question, comparison_in, names_in, read_question
from kiwiresearch.ask.score import (
    NO_EVIDENCE,
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
from kiwiresearch.search.find import Findings, Search, SearchHelpers, SearchOptions
from kiwiresearch.search.interpretation import Sense
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import Hit
from kiwiresearch.text.words import fold, words_in
from kiwiresearch.zim.archive import EntryRef

if TYPE_CHECKING:
    from kiwiresearch.embed.embedder import Embedder

READ_FOR_TITLES = 8
"""Of the candidates by title, so many are read to see which are meant."""

MIN_COVERAGE = 0.7
"""No early exit where less of the question than this is said near the best sentence, or is in title and heading."""

PAGES_OF_TEXT = 6
"""So many pages of a full-text search are weighed sentence by sentence; `widen` times as many in the last step."""

HOPELESS = 0.05
"""Weaker evidence than this is not searched for more widely: of all questions tried, that helped none so far off."""

BY_FIGURES = 0.85
"""How often a comparison by a figure of both pages is right; set by hand, since the sets have too few of them."""

UNDECIDED = 0.4
"""How often two sentences answer at most where no figure of both pages decides a comparison; set by hand as well."""

NOT_FOUND = "No page of the books holds the words of the question."

NAMING_SIGNALS = frozenset({"title named in query", "title is the query", "exact title", "stemmed title"})
"""Lines of a page's score that say that the question names it."""


@dataclass(frozen=True, slots=True)
class RetrievedEvidence:
    """What a step of the ladder found: units best first, the pages they are from, and how strong it is."""

    route: Route
    why: str
    units: tuple[ScoredUnit, ...] = ()
    pages: tuple[ExaminedPage, ...] = ()
    strength: Strength = NO_EVIDENCE
    is_named: bool = False
    """Whether the question names the page of the best unit."""
    part_count: int = 0
    """So many of the first units answer a part of the question each."""
    corrected: str = ""
    """The question as the search understood it, where words were mistyped."""
    senses: tuple[Sense, ...] = ()
    """Pages that share the name which the question is about."""
    verdict: Verdict = ""
    chosen: str = ""
    """Of two things that are compared, the one that the figures of both pages give."""


@dataclass(frozen=True, slots=True)
class Retriever:
    """All that the steps of the ladder share for one question."""

    books: Sequence[OpenBook]
    question: Question
    settings: AskSettings
    reading: PageCache
    advice: SearchHelpers
    max_books: int
    embedder: Embedder | None = None
    scored_pages: dict[EntryRef, list[ScoredUnit]] = field(default_factory=dict)
    """Pages that an earlier step has weighed."""
    word_weights: dict[str, tuple[WeightedWord, ...]] = field(default_factory=dict)
    searches: dict[str, Search] = field(default_factory=dict)
    """What was gathered for the words that are searched."""

    @property
    def exit_strength(self) -> float:
        return self.settings.title_sim_exit_meaning if self.embedder else self.settings.title_sim_exit

    @property
    def least_strength(self) -> float:
        return self.settings.sim_threshold_meaning if self.embedder else self.settings.sim_threshold

    def retrieve(self, *, as_typed: bool = True) -> RetrievedEvidence:
        """The first evidence that is strong enough; the best there was, as `none`, where none is.

        A question as a person typed it may have slips in it, which are mended once.
        """
        if self.question.is_empty:
            return RetrievedEvidence("none", "The question has no word that tells what it is about.")
        both = self._compared()
        if both is not None:
            return both
        first = self._step("title", read=READ_FOR_TITLES, pages=self.settings.top_pages)
        mended = self._corrected_question(first.corrected) if as_typed else None
        if mended is not None:
            return self._for_question(mended).retrieve(as_typed=False)
        if (
            first.units
            and first.is_named
            and first.strength.page_confidence >= self.exit_strength
            and first.strength.coverage >= MIN_COVERAGE
        ):
            return first
        read = self.settings.max_pages
        text = self._step("fulltext", read=read, pages=max(PAGES_OF_TEXT, self.settings.top_pages))
        if text.units and text.strength.page_confidence >= self.least_strength:
            return text
        if text.strength.page_confidence < HOPELESS:
            return _too_weak(text)
        wider = self.settings.widen
        last = self._step("widened", read=int(read * wider), pages=int(PAGES_OF_TEXT * wider))
        if last.units and last.strength.page_confidence >= self.least_strength:
            return last
        return _too_weak(last)

    def _for_question(self, question: Question) -> Retriever:
        """The same books and settings for another question."""
        return replace(self, question=question, scored_pages={}, word_weights={}, searches={})

    def _corrected_question(self, corrected: str) -> Question | None:
        """The question with slips of the finger mended; a name that no book knows is no slip, but a name."""
        text = self.question.query.text
        changed = set(words_in(text)) - set(words_in(corrected)) if corrected else set()
        if not changed or any(word.lower() in names_in(text) for word in changed):
            return None
        return read_question(corrected, self.question.language)

    def _compared(self) -> RetrievedEvidence | None:
        """'Which is older, A or B?': the best of A's own page and of B's; None unless both have one."""
        compared = comparison_in(self.question)
        if compared is None:
            return None
        sides = []
        for thing, question in zip(compared.things, compared.questions, strict=True):
            side = self._for_question(question)
            hits = [
                hit
                for name in compared.names(thing)
                for hit in side.search_pages(name, read=READ_FOR_TITLES, pages=1).hits
                if _is_named(hit) or (self.question.kind == "person" and fold(hit.title).endswith(f" {fold(name)}"))
            ][:1]
            units = [one for hit in hits for one in side.units_of(hit, 1.0)]
            if not units:
                return None
            sides.append((hits[0], sorted(units, key=_order)))
        first, second = sides
        if first[0].ref == second[0].ref:
            return None
        pages = tuple(ExaminedPage(hit.ref, hit.title, hit.score.total) for hit, _ in sides)
        why = f"{pages[0].title!r} and {pages[1].title!r} are compared, so each was looked up on its own page."
        decided = decide((first[1][0].read, second[1][0].read), self.question, compared)
        if decided is not None:
            rows = [unscored_unit(side[0].read, row) for (_, side), row in zip(sides, decided.rows, strict=True)]
            chosen = compared.things[decided.winner]
            strength = Strength(1.0, BY_FIGURES, 1.0)
            verdict = _is_first(decided) if self.question.kind == "yes_no" else ""
            parts = {"verdict": verdict} if verdict else {"chosen": chosen}
            return RetrievedEvidence("title", why, tuple(rows), pages, strength, is_named=True, part_count=2, **parts)
        rest = sorted([*first[1][1:], *second[1][1:]], key=_order)
        both = (first[1][0], second[1][0], *rest)
        strength = min(
            strength_of(of_side, self.question, named=True, with_meaning=self.embedder is not None)
            for _, of_side in sides
        )
        if strength.page_confidence < self.least_strength:
            return None
        strength = strength._replace(answer_confidence=min(strength.answer_confidence, UNDECIDED))
        return RetrievedEvidence("title", why, both, pages, strength, is_named=True, part_count=2)

    def on_page(self, book: OpenBook, path: str) -> RetrievedEvidence:
        """The evidence of one page that the user named."""
        ref = book.ref(path)
        units = self._units(book, path, 1.0)
        found = tuple(sorted(units, key=_order))
        title = found[0].read.page.title if found else book.title(path)
        strength = strength_of(found, self.question, with_meaning=self.embedder is not None)
        looked = (ExaminedPage(ref, title, round(found[0].total, 2) if found else 0.0),)
        if strength.page_confidence < self.least_strength:
            return RetrievedEvidence(
                "none", f"The page {title!r} does not answer it.", found, looked, strength, is_named=True
            )
        return RetrievedEvidence("page", f"From the page {title!r}, as asked.", found, looked, strength, is_named=True)

    def _step(self, route: Route, *, read: int, pages: int) -> RetrievedEvidence:
        findings = self.search_pages(self.question.query.text, read=read, pages=pages)
        hits = findings.hits
        best = max((hit.score.total for hit in hits), default=0.0) or 1.0
        for book in self.books:
            unread = [hit.ref.path for hit in hits if hit.ref.book == book.book.id and hit.ref not in self.scored_pages]
            self.reading.prefetch(book, unread)
        units = [one for hit in hits for one in self.units_of(hit, hit.score.total / best)]
        units = _of_best_passages(sorted(units, key=_order), self.settings.max_passages)
        named = bool(units) and any(hit.ref == units[0].read.page.ref and _is_named(hit) for hit in hits)
        strength = strength_of(units, self.question, with_meaning=self.embedder is not None, named=named)
        why, looked = _why(route, units, hits), _examined_pages(hits)
        senses = findings.senses if self.question.kind == "definition" else ()
        return RetrievedEvidence(
            route, why, tuple(units), looked, strength, named, corrected=findings.corrected, senses=senses
        )

    def search_pages(self, text: str, *, read: int, pages: int) -> Findings:
        """The best pages for some words."""
        if text not in self.searches:
            self.searches[text] = Search(self.books, text, SearchOptions(max_books=self.max_books), self.advice)
        return self.searches[text].best(pages, read)

    def units_of(self, hit: Hit, nearness: float) -> list[ScoredUnit]:
        book = next(book for book in self.books if book.book.id == hit.ref.book)
        return self._units(book, hit.ref.path, nearness)

    def _units(self, book: OpenBook, path: str, nearness: float) -> list[ScoredUnit]:
        ref = book.ref(path)
        if ref not in self.scored_pages:
            read = self.reading.page(book, path)
            words = self._words(book)
            self.scored_pages[ref] = score_units(read, self.question, words, self._likeness()) if read else []
        return with_page_nearness(self.scored_pages[ref], nearness)

    def _words(self, book: OpenBook) -> tuple[WeightedWord, ...]:
        """What the question's words count in a book, asked of its indexes once."""
        if book.book.id not in self.word_weights:
            self.word_weights[book.book.id] = word_weights(self.question, book)
        return self.word_weights[book.book.id]

    def _likeness(self) -> SimilarityFunction | None:
        if self.embedder is None:
            return None
        embedder = self.embedder
        from kiwiresearch.embed.embedder import similarity

        def likeness(texts: Sequence[str]) -> Sequence[float]:
            try:
                rows = embedder.embed([self.question.text, *texts])
            except EmbedderError as problem:
                if self.advice.say:
                    self.advice.say(f"Meanings are not compared: {problem}")
                return [0.0] * len(texts)
            return [float(like) for like in similarity(rows[0], rows[1:])]

        return likeness


def _too_weak(last: RetrievedEvidence) -> RetrievedEvidence:
    """The evidence as too weak, with what came nearest."""
    why = "What comes nearest is too weak to be called an answer." if last.units else NOT_FOUND
    return RetrievedEvidence("none", why, last.units, last.pages, last.strength)


def _is_first(decided: ComparisonOutcome) -> Verdict:
    """The answer to 'Is A bigger than B?'."""
    return "yes" if decided.winner == 0 else "no"


def _order(one: ScoredUnit) -> tuple[float, tuple[str, str, int]]:
    return -one.total, one.place


def _of_best_passages(units: Sequence[ScoredUnit], most: int) -> list[ScoredUnit]:
    """The units of the best passages: what ranks behind all of these is not looked at further."""
    kept: set[tuple[EntryRef, int]] = set()
    found = []
    for one in units:
        passage = (one.read.page.ref, one.passage)
        if passage in kept or len(kept) < most:
            kept.add(passage)
            found.append(one)
    return found


def _is_named(hit: Hit) -> bool:
    return any(line.signal in NAMING_SIGNALS for line in hit.score.lines)


def _examined_pages(hits: Sequence[Hit]) -> tuple[ExaminedPage, ...]:
    return tuple(ExaminedPage(hit.ref, hit.title, hit.score.total, hit.copies) for hit in hits)


def _why(route: Route, units: Sequence[ScoredUnit], hits: Sequence[Hit]) -> str:
    if not units:
        return NOT_FOUND
    title = units[0].read.page.title
    if route == "title":
        alias = next((hit.alias for hit in hits if hit.ref == units[0].read.page.ref), "")
        known = f" (there called {alias!r})" if alias else ""
        return f"The question names {title!r}{known}, and that page was enough."
    if route == "fulltext":
        return f"Titles alone did not settle it; the full text led to {title!r}."
    return f"Only the widened search found enough, on {title!r}."
