"""The books, settings and models that answers are made with, and the passages chosen from pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from kiwiresearch.ask.answer import AnswerBook, AnswerCitation, Passage
from kiwiresearch.ask.page_units import PageCache, SegmentedPage
from kiwiresearch.ask.question import Question, read_question
from kiwiresearch.ask.retrieval import Retriever
from kiwiresearch.ask.score import ScoredUnit
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.evidence import Citation, quote_at
from kiwiresearch.page import open_page
from kiwiresearch.search import OpenBook, SearchHelpers
from kiwiresearch.text import has_words, language_words, languages_with_words, plain_lower, words_in
from kiwiresearch.zim import Book, EntryRef

if TYPE_CHECKING:
    from kiwiresearch.embed import Embedder
    from kiwiresearch.reader import Reader

MAX_LINES = 3
FAR_BEHIND, FAR_BEHIND_READ = 4.0, 20.0
"""A sentence scoring this far below the best is not shown with it; the reading model's scores are more spread out."""

KIND_FEATURE, WRONG_KIND_FEATURE = "kind of answer", "not the kind"
# Rules of thumb; the larger estimate counts, since text with few spaces has few words but many tokens.
TOKENS_A_WORD = 1.33
CHARS_A_TOKEN = 4.0


def rough_token_count(text: str) -> float:
    """A quick estimate of a passage's tokens; for what is sent to a model, `llm.estimate_tokens` is stricter."""
    return max(len(text.split()) * TOKENS_A_WORD, len(text) / CHARS_A_TOKEN)


def answer_units(units: Sequence[ScoredUnit], *, max_units: int = MAX_LINES) -> tuple[ScoredUnit, ...]:
    """The best unit and others that are nearly as good, without duplicates."""
    chosen: list[ScoredUnit] = []
    texts: set[str] = set()
    wants_kind = bool(units) and units[0].features.get(KIND_FEATURE, 0.0) > 0
    far = FAR_BEHIND_READ if units and "relevance" in units[0].features else FAR_BEHIND
    for unit in units:
        if len(chosen) >= max_units or unit.total < units[0].total - far:
            break
        if wants_kind and unit.features.get(WRONG_KIND_FEATURE, 0.0) >= 1:
            continue  # if the best one has the kind of answer asked for, one without it adds nothing
        # The same sentence in two books, or in two editions of a page, is shown once.
        folded = " ".join(unit.text.casefold().split())
        if folded not in texts:
            texts.add(folded)
            chosen.append(unit)
    return tuple(chosen)


class Stretch(NamedTuple):
    """Consecutive units of a page: from `first` to the one before `end`."""

    segmented: SegmentedPage
    first: int
    end: int
    passage: int
    """The passage of the best of them."""

    @property
    def start(self) -> int:
        return self.segmented.units[self.first].start

    @property
    def stop(self) -> int:
        return self.segmented.units[self.end - 1].end

    @property
    def tokens(self) -> float:
        return rough_token_count(self.segmented.page.text[self.start : self.stop])

    def as_passage(self) -> Passage:
        passage = self.segmented.passage(self.passage)
        return passage._replace(start=self.start, end=self.stop, text=self.segmented.page.text[self.start : self.stop])


def passages_of(units: Sequence[ScoredUnit], settings: AskSettings, max_passages: int) -> tuple[Passage, ...]:
    """The passages that are shown with an answer: the text around the best units."""
    return tuple(stretch.as_passage() for stretch in stretches_of(units, settings.context_tokens, max_passages))


def stretches_of(units: Sequence[ScoredUnit], tokens: float, max_stretches: int) -> list[Stretch]:
    """The best units, each with the text around it, within a budget of tokens and without overlaps.

    A unit is extended to its passage and beyond, as far as its share of the budget allows: what a question asks for
    is often in the next sentence.
    """
    chosen: list[Stretch] = []
    room = float(tokens)
    for unit in units:
        if len(chosen) >= max_stretches:
            break
        same_page = [other for other in chosen if other.segmented.page.ref == unit.segmented.page.ref]
        if any(other.first <= unit.unit < other.end for other in same_page):
            continue
        # What earlier units did not use is shared by the rest, so short passages leave more for later ones.
        stretch = _grow(unit, room / (max_stretches - len(chosen)), same_page)
        if stretch.tokens <= room:
            chosen.append(stretch)
            room -= stretch.tokens
    return chosen


def _grow(unit: ScoredUnit, share: float, taken: Sequence[Stretch]) -> Stretch:
    """A unit with neighbours of its section, added on both sides in turn until its share of tokens is used."""
    passage = Stretch(unit.segmented, *unit.segmented.spans[unit.passage], unit.passage)
    is_taken = any(other.first < passage.end and passage.first < other.end for other in taken)
    grown = (
        passage if not is_taken and passage.tokens <= share else passage._replace(first=unit.unit, end=unit.unit + 1)
    )
    # Downwards first, since the answer is more often in the sentence after the one that has the words.
    can_grow_up = can_grow_down = True
    while can_grow_up or can_grow_down:
        if can_grow_down:
            larger = grown._replace(end=grown.end + 1)
            can_grow_down = _may_add(larger, grown.end, share, taken)
            grown = larger if can_grow_down else grown
        if can_grow_up:
            larger = grown._replace(first=grown.first - 1)
            can_grow_up = _may_add(larger, grown.first - 1, share, taken)
            grown = larger if can_grow_up else grown
    return grown


def _may_add(larger: Stretch, index: int, share: float, taken: Sequence[Stretch]) -> bool:
    """Whether the unit that makes a stretch larger is of the same section, fits, and is not in another stretch."""
    units = larger.segmented.units
    if not 0 <= index < len(units) or any(other.first <= index < other.end for other in taken):
        return False
    # A unit of the stretch before it grew: the new one must be in its section.
    inner = larger.first + 1 if index == larger.first else larger.first
    return units[index].section == units[inner].section and larger.tokens <= share


@dataclass(frozen=True, slots=True)
class AskContext:
    """The books, settings, cached pages and models that answers are made with."""

    books: Sequence[OpenBook]
    settings: AskSettings
    pages: PageCache
    helpers: SearchHelpers = field(default_factory=SearchHelpers)
    embedder: Embedder | None = None
    max_books: int = 2
    reader: Reader | None = None

    def language_of(self, question: str) -> str:
        """The language that has most of the question's stop words; if in doubt, one of the books, or the first book's.

        One word of a language that no book is in is not enough, unless it is in a complete question: 'Wer schrieb …?'
        """
        languages = list(dict.fromkeys(book.language for book in self.books)) or ["eng"]
        words = set(words_in(plain_lower(question)))

        def stop_words(language: str) -> int:
            return len(words & language_words(language).stop_words)

        known = [language for language in languages if has_words(language)]
        if not known:
            return languages[0]
        best, other = max(known, key=stop_words), max(languages_with_words(), key=stop_words)
        # Only strictly more words win, so a question that fits two languages is taken to be in one of the books.
        if stop_words(other) > max(stop_words(best), 0 if question.rstrip().endswith("?") else 1):
            return other
        return best if stop_words(best) else languages[0]

    def retriever(self, question: Question) -> Retriever:
        return Retriever(self.books, question, self.settings, self.pages, self.helpers, self.max_books, self.embedder)

    def cite(self, passage: Passage, start: int, end: int) -> AnswerCitation:
        """A citation of words of a passage, which are looked up on their page again."""
        book = next(book for book in self.books if book.id == passage.ref.book)
        segmented = self.pages.page(book, passage.ref.path)
        page = segmented.page if segmented else open_page(book.archive, passage.ref.path)
        quote = quote_at(page, passage.start + start, passage.start + end)
        citation = Citation(quote, book.book.name, page.title, passage.section, passage.anchor)
        return AnswerCitation(passage.key, citation, answer_book(book.book), snippet_of(passage.text, start, end))

    def passages_on(self, ref: EntryRef, question: str, max_passages: int) -> tuple[Passage, ...]:
        """The best passages of one page for a question; for a model that asks for the page."""
        book = next(book for book in self.books if book.id == ref.book)
        found = self.retriever(read_question(question, book.language)).on_page(book, ref.path)
        return passages_of(found.units, self.settings, max_passages)


def answer_book(book: Book) -> AnswerBook:
    return AnswerBook(book.id, book.name, book.title, book.date, book.flavour, book.language)


MAX_SNIPPET_CHARS = 300


def snippet_of(text: str, start: int, end: int) -> str:
    """The words around a quote, on one line."""
    around = max((MAX_SNIPPET_CHARS - (end - start)) // 2, 0)
    # At a word boundary; `find` gives -1 if there is none, so that `+ 1 or start` starts at the quote itself.
    first = 0 if start <= around else text.find(" ", start - around, start) + 1 or start
    last = len(text) if len(text) - end <= around else max(text.rfind(" ", end, end + around), end)
    words = " ".join(text[first:last].split())
    return f"{'… ' if first else ''}{words}{' …' if last < len(text) else ''}"
