"""Books, pages and desks that questions are asked of, small enough to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from evals.asked import answer_by_rule
from tests.zim.memory import MemoryArchive

from kiwiresearch.ask.answer import Answer
from kiwiresearch.ask.context import AskContext
from kiwiresearch.ask.page_units import PageCache
from kiwiresearch.ask.question import read_question
from kiwiresearch.ask.score import ScoredUnit
from kiwiresearch.ask.settings import AskOptions, AskSettings, ConversationTurn
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.archive import Entry
from kiwiresearch.zim.libzim import LibzimArchive

PLAIN = AskOptions()
ALWAYS, NEVER = 0.0, 2.0
"""Thresholds that any evidence reaches, and that none does."""


def a_memory_book(
    pages: Mapping[str, str], *, language: str = "eng", title: str = "Memory", date: str = ""
) -> OpenBook:
    """A book of titles and what their pages say."""
    paths = {name.replace(" ", "_"): html for name, html in pages.items()}
    return OpenBook(MemoryArchive(paths, language=language, title=title, date=date))


def settings(*, exit_at: float | None = None, enough: float | None = None, **more: float) -> AskSettings:
    """Settings with one threshold for both ways of weighing."""
    chosen: dict[str, float] = dict(more)
    if exit_at is not None:
        chosen |= {"title_sim_exit": exit_at, "title_sim_exit_meaning": exit_at}
    if enough is not None:
        chosen |= {"sim_threshold": enough, "sim_threshold_meaning": enough}
    return AskSettings(**chosen)  # type: ignore[arg-type]


def a_desk(books: Sequence[OpenBook], chosen: AskSettings | None = None, *, max_books: int = 2) -> AskContext:
    chosen = chosen or AskSettings()
    return AskContext(books, chosen, PageCache(chosen), max_books=max_books)


def asked(
    books: OpenBook | Sequence[OpenBook],
    question: str,
    chosen: AskSettings | None = None,
    request: AskOptions = PLAIN,
    *,
    page: str = "",
) -> Answer:
    """The answer of some books by rule; with `page` of that page of the first book."""
    books = [books] if isinstance(books, OpenBook) else books
    return answer_by_rule(a_desk(books, chosen), question, request, books[0].ref(page) if page else None).answer


def held(book: OpenBook, question: str, chosen: AskSettings | None = None) -> float:
    """The strength of the evidence at the end of the ladder, which thresholds are compared with."""
    return a_desk([book], chosen).retriever(read_question(question)).retrieve().strength.page_confidence


def after(*questions: str) -> AskOptions:
    """The options of a conversation that had these questions."""
    return AskOptions(turns=tuple(ConversationTurn(question) for question in questions))


def weighed(html: str, question: str, *, title: str = "Page") -> list[ScoredUnit]:
    """The units of a page of a book that has no other, best first."""
    book = a_memory_book({title: html})
    return list(a_desk([book]).retriever(read_question(question)).on_page(book, title.replace(" ", "_")).units)


def titles(answer: Answer) -> list[str]:
    """The pages that were looked at, best first."""
    return [page.title for page in answer.pages]


class Counting(LibzimArchive):
    """A book on disk that notes which pages are read."""

    def __init__(self, path: Path) -> None:
        self.pages_read: list[str] = []
        super().__init__(path)

    def read(self, path: str) -> Entry:
        self.pages_read.append(path)
        return super().read(path)
