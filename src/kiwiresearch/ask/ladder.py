"""The ladder: titles first, then full text, then wider, and no further; it stops as soon as the evidence is strong.

1. `title`: candidates by their titles and the book's word lists, the best few read to their leads, `top_pages` kept.
   Their sentences and rows are weighed. Strong evidence on a page that the question names ends the search here.
2. `fulltext`: all candidates read, more pages kept.
3. `widened`: the same with `widen` times as many.
4. `none`: the evidence is too weak to be called an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kiwiresearch.ask.answer import Looked, Route, Verdict
from kiwiresearch.ask.comparing import Outcome, outcome
from kiwiresearch.ask.held import Weighted, weights_of
from kiwiresearch.ask.question import Question, compared_in, names_in, read_question
from kiwiresearch.ask.reading import Reading
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.ask.strength import NOTHING, Strength, strength_of
from kiwiresearch.ask.weighing import Likeness, Weighed, nearer, row_of, weigh
from kiwiresearch.errors import EmbedderError
from kiwiresearch.search.find import Advice, Findings, Search, Wish
from kiwiresearch.search.hit import Hit
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.senses import Sense
from kiwiresearch.text.fold import fold
from kiwiresearch.text.words import words_in
from kiwiresearch.zim.entry import EntryRef

if TYPE_CHECKING:
    from kiwiresearch.embed.embedder import Embedder

READ_FOR_TITLES = 8
"""Of the candidates by title, so many are read to see which are meant."""

CLOSE = 0.7
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

NAMING = frozenset({"title named in query", "title is the query", "exact title", "stemmed title"})
"""Lines of a page's score that say that the question names it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a step of the ladder found: units best first, the pages they are from, and how strong it is."""

    route: Route
    why: str
    units: tuple[Weighed, ...] = ()
    pages: tuple[Looked, ...] = ()
    strength: Strength = NOTHING
    named: bool = False
    """Whether the question names the page of the best unit."""
    parts: int = 0
    """So many of the first units answer a part of the question each."""
    corrected: str = ""
    """The question as the search understood it, where words were mistyped."""
    senses: tuple[Sense, ...] = ()
    """Pages that share the name which the question is about."""
    verdict: Verdict = ""
    chosen: str = ""
    """Of two things that are compared, the one that the figures of both pages give."""


@dataclass(frozen=True, slots=True)
class Climber:
    """All that the steps of the ladder share for one question."""

    books: Sequence[OpenBook]
    question: Question
    settings: AskSettings
    reading: Reading
    advice: Advice
    max_books: int
    embedder: Embedder | None = None
    weighed: dict[EntryRef, list[Weighed]] = field(default_factory=dict)
    """Pages that an earlier step has weighed."""
    counted: dict[str, tuple[Weighted, ...]] = field(default_factory=dict)
    searches: dict[str, Search] = field(default_factory=dict)
    """What was gathered for the words that are searched."""

    @property
    def exit(self) -> float:
        return self.settings.title_sim_exit_meaning if self.embedder else self.settings.title_sim_exit

    @property
    def enough(self) -> float:
        return self.settings.sim_threshold_meaning if self.embedder else self.settings.sim_threshold

    def climb(self, *, as_typed: bool = True) -> Evidence:
        """The first evidence that is strong enough; the best there was, as `none`, where none is.

        A question as a person typed it may have slips in it, which are mended once.
        """
        if self.question.is_empty:
            return Evidence("none", "The question has no word that tells what it is about.")
        both = self._compared()
        if both is not None:
            return both
        first = self._step("title", read=READ_FOR_TITLES, pages=self.settings.top_pages)
        mended = self._mended(first.corrected) if as_typed else None
        if mended is not None:
            return self._for(mended).climb(as_typed=False)
        if first.units and first.named and first.strength.held >= self.exit and first.strength.covered >= CLOSE:
            return first
        read = self.settings.max_pages
        text = self._step("fulltext", read=read, pages=max(PAGES_OF_TEXT, self.settings.top_pages))
        if text.units and text.strength.held >= self.enough:
            return text
        if text.strength.held < HOPELESS:
            return _none(text)
        wider = self.settings.widen
        last = self._step("widened", read=int(read * wider), pages=int(PAGES_OF_TEXT * wider))
        if last.units and last.strength.held >= self.enough:
            return last
        return _none(last)

    def _for(self, question: Question) -> Climber:
        """The same books and settings for another question."""
        return replace(self, question=question, weighed={}, counted={}, searches={})

    def _mended(self, corrected: str) -> Question | None:
        """The question with slips of the finger mended; a name that no book knows is no slip, but a name."""
        text = self.question.query.text
        changed = set(words_in(text)) - set(words_in(corrected)) if corrected else set()
        if not changed or any(word.lower() in names_in(text) for word in changed):
            return None
        return read_question(corrected, self.question.language)

    def _compared(self) -> Evidence | None:
        """'Which is older, A or B?': the best of A's own page and of B's; None unless both have one."""
        compared = compared_in(self.question)
        if compared is None:
            return None
        sides = []
        for thing, question in zip(compared.things, compared.questions, strict=True):
            side = self._for(question)
            hits = [
                hit
                for name in compared.names(thing)
                for hit in side.found(name, read=READ_FOR_TITLES, pages=1).hits
                if _is_named(hit) or (self.question.kind == "person" and fold(hit.title).endswith(f" {fold(name)}"))
            ][:1]
            units = [one for hit in hits for one in side.units_of(hit, 1.0)]
            if not units:
                return None
            sides.append((hits[0], sorted(units, key=_order)))
        first, second = sides
        if first[0].ref == second[0].ref:
            return None
        pages = tuple(Looked(hit.ref, hit.title, hit.score.total) for hit, _ in sides)
        why = f"{pages[0].title!r} and {pages[1].title!r} are compared, so each was looked up on its own page."
        decided = outcome((first[1][0].read, second[1][0].read), self.question, compared)
        if decided is not None:
            rows = [row_of(side[0].read, row) for (_, side), row in zip(sides, decided.rows, strict=True)]
            chosen = compared.things[decided.winner]
            strength = Strength(1.0, BY_FIGURES, 1.0)
            verdict = _is_first(decided) if self.question.kind == "yes_no" else ""
            parts = {"verdict": verdict} if verdict else {"chosen": chosen}
            return Evidence("title", why, tuple(rows), pages, strength, named=True, parts=2, **parts)
        rest = sorted([*first[1][1:], *second[1][1:]], key=_order)
        both = (first[1][0], second[1][0], *rest)
        strength = min(
            strength_of(of_side, self.question, named=True, with_meaning=self.embedder is not None)
            for _, of_side in sides
        )
        if strength.held < self.enough:
            return None
        strength = strength._replace(right=min(strength.right, UNDECIDED))
        return Evidence("title", why, both, pages, strength, named=True, parts=2)

    def on_page(self, book: OpenBook, path: str) -> Evidence:
        """The evidence of one page that the user named."""
        ref = book.ref(path)
        units = self._units(book, path, 1.0)
        found = tuple(sorted(units, key=_order))
        title = found[0].read.page.title if found else book.title(path)
        strength = strength_of(found, self.question, with_meaning=self.embedder is not None)
        looked = (Looked(ref, title, round(found[0].total, 2) if found else 0.0),)
        if strength.held < self.enough:
            return Evidence("none", f"The page {title!r} does not answer it.", found, looked, strength, named=True)
        return Evidence("page", f"From the page {title!r}, as asked.", found, looked, strength, named=True)

    def _step(self, route: Route, *, read: int, pages: int) -> Evidence:
        findings = self.found(self.question.query.text, read=read, pages=pages)
        hits = findings.hits
        best = max((hit.score.total for hit in hits), default=0.0) or 1.0
        for book in self.books:
            unread = [hit.ref.path for hit in hits if hit.ref.book == book.book.id and hit.ref not in self.weighed]
            self.reading.ahead(book, unread)
        units = [one for hit in hits for one in self.units_of(hit, hit.score.total / best)]
        units = _of_best_passages(sorted(units, key=_order), self.settings.max_passages)
        named = bool(units) and any(hit.ref == units[0].read.page.ref and _is_named(hit) for hit in hits)
        strength = strength_of(units, self.question, with_meaning=self.embedder is not None, named=named)
        why, looked = _why(route, units, hits), _looked(hits)
        senses = findings.senses if self.question.kind == "definition" else ()
        return Evidence(route, why, tuple(units), looked, strength, named, corrected=findings.corrected, senses=senses)

    def found(self, text: str, *, read: int, pages: int) -> Findings:
        """The best pages for some words."""
        if text not in self.searches:
            self.searches[text] = Search(self.books, text, Wish(max_books=self.max_books), self.advice)
        return self.searches[text].best(pages, read)

    def units_of(self, hit: Hit, nearness: float) -> list[Weighed]:
        book = next(book for book in self.books if book.book.id == hit.ref.book)
        return self._units(book, hit.ref.path, nearness)

    def _units(self, book: OpenBook, path: str, nearness: float) -> list[Weighed]:
        ref = book.ref(path)
        if ref not in self.weighed:
            read = self.reading.page(book, path)
            words = self._words(book)
            self.weighed[ref] = weigh(read, self.question, words, self._likeness()) if read else []
        return nearer(self.weighed[ref], nearness)

    def _words(self, book: OpenBook) -> tuple[Weighted, ...]:
        """What the question's words count in a book, asked of its indexes once."""
        if book.book.id not in self.counted:
            self.counted[book.book.id] = weights_of(self.question, book)
        return self.counted[book.book.id]

    def _likeness(self) -> Likeness | None:
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


def _none(last: Evidence) -> Evidence:
    """The evidence as too weak, with what came nearest."""
    why = "What comes nearest is too weak to be called an answer." if last.units else NOT_FOUND
    return Evidence("none", why, last.units, last.pages, last.strength)


def _is_first(decided: Outcome) -> Verdict:
    """The answer to 'Is A bigger than B?'."""
    return "yes" if decided.winner == 0 else "no"


def _order(one: Weighed) -> tuple[float, tuple[str, str, int]]:
    return -one.total, one.place


def _of_best_passages(units: Sequence[Weighed], most: int) -> list[Weighed]:
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
    return any(line.signal in NAMING for line in hit.score.lines)


def _looked(hits: Sequence[Hit]) -> tuple[Looked, ...]:
    return tuple(Looked(hit.ref, hit.title, hit.score.total, hit.copies) for hit in hits)


def _why(route: Route, units: Sequence[Weighed], hits: Sequence[Hit]) -> str:
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
