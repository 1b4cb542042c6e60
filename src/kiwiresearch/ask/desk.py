"""What answers are made with: the books and settings, and citations of their pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kiwiresearch.ask.answer import BookNote, Cited
from kiwiresearch.ask.choosing import passages_of
from kiwiresearch.ask.draft import snippet_of
from kiwiresearch.ask.ladder import Climber
from kiwiresearch.ask.passages import Passage
from kiwiresearch.ask.question import Question, read_question
from kiwiresearch.ask.reading import Reading
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.evidence.citation import Citation
from kiwiresearch.evidence.quote import span
from kiwiresearch.page.read import open_page
from kiwiresearch.search.find import Advice
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.text.languages import has_words, words_of
from kiwiresearch.text.words import level
from kiwiresearch.zim.book import Book
from kiwiresearch.zim.entry import EntryRef

if TYPE_CHECKING:
    from kiwiresearch.embed.embedder import Embedder
    from kiwiresearch.reader.reader import Reader


@dataclass(frozen=True, slots=True)
class Desk:
    """What answers are made with: books, settings, pages at hand, and who may be asked for help."""

    books: Sequence[OpenBook]
    settings: AskSettings
    reading: Reading
    advice: Advice = field(default_factory=Advice)
    embedder: Embedder | None = None
    max_books: int = 2
    reader: Reader | None = None

    def language_of(self, question: str) -> str:
        """The language of the books that has most of the question's small words; the first book's in doubt."""
        languages = list(dict.fromkeys(book.language for book in self.books)) or ["eng"]
        words = set(level(question).split())
        known = [language for language in languages if has_words(language)]
        best = max(known, key=lambda language: len(words & words_of(language).stop_words), default=languages[0])
        return best if words & words_of(best).stop_words else languages[0]

    def climber(self, question: Question) -> Climber:
        return Climber(self.books, question, self.settings, self.reading, self.advice, self.max_books, self.embedder)

    def cited(self, passage: Passage, start: int, end: int) -> Cited:
        """Words of a passage as a citation, looked up on their page again."""
        book = next(book for book in self.books if book.book.id == passage.ref.book)
        read = self.reading.page(book, passage.ref.path)
        page = read.page if read else open_page(book.archive, passage.ref.path)
        quote = span(page, passage.start + start, passage.start + end)
        citation = Citation(quote, book.book.name, page.title, passage.section, passage.anchor)
        return Cited(passage.key, citation, note_of(book.book), snippet_of(passage.text, start, end))

    def passages(self, ref: EntryRef, question: str, most: int) -> tuple[Passage, ...]:
        """The passages of one page that are nearest to a question, for a model that asks for the page."""
        book = next(book for book in self.books if book.book.id == ref.book)
        found = self.climber(read_question(question, book.language)).on_page(book, ref.path)
        return passages_of(found.units, self.settings, most)


def note_of(book: Book) -> BookNote:
    return BookNote(book.id, book.name, book.title, book.date, book.flavour, book.language)
