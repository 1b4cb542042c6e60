"""Examples for newcomers: questions that the first sentence of a page answers, and topics that have a long page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Literal, NamedTuple

from kiwiresearch.claims import LIVED
from kiwiresearch.search import OpenBook, PageText
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.browse_links import start_pages
from kiwiresearch.web.desk.typed_words import action_address
from kiwiresearch.web.health import PolledValue

MAX_EXAMPLES = 4
MAX_BOOKS = 3
MAX_LINKS = 200
MAX_READ = 24
"""How many of the pages that the start page of a book links to are read: those mentioned most."""
MAX_TITLE = 40
MIN_TOPIC_CHARS = 2_500
BIRTH_CHARS = 4_000
"""A page about a person says early on that they were born."""
TIMEOUT_S = 1.0
HOUR_S = 3_600.0

# A title that needs nothing else in a question: no year, no parentheses, and not a list.
PLAIN_TITLE = re.compile(r"(?!List of |Outline of |Index of |Timeline of |History of )[^\W\d_][^\d():/,]*")
# 'The Moon is the …' and 'Ada Lovelace (1815–1852) was an …'; not 'The Moon orbits …' nor 'It is a …'.
DEFINED = r"\W*(?P<article>The |A |An )?{title}(?: \([^)]*\))?,? (?P<verb>is|was) (?:a|an|the|one)\b"
"""How an English first sentence says what its subject is, so that the question is the same sentence turned around."""
BORN = re.compile(r"\bborn\b")


@dataclass(frozen=True, slots=True)
class Example:
    """Something to try, and where it leads."""

    kind: Literal["ask", "research"]
    text: str
    language: str

    @property
    def address(self) -> str:
        return action_address(self.kind, self.text)


class Examples:
    """The examples of the open books, found once for each state of the library."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._known_books = context.shelf.current_books()
        self._examples = PolledValue(self._find, fresh_s=HOUR_S)

    def latest(self) -> tuple[Example, ...]:
        """The examples; none while the books are being opened or are busy."""
        if self._known_books != (current := self._context.shelf.current_books()):
            self._known_books = current
            self._examples.expire()
        return self._examples.latest(timeout_s=TIMEOUT_S) or ()

    def _find(self) -> tuple[Example, ...]:
        with self._context.locked_finder() as finder:
            by_book = [examples_in(book) for book in finder.books[:MAX_BOOKS]]
        mixed = (item for row in zip_longest(*by_book) for item in row if item)
        return tuple(islice(mixed, MAX_EXAMPLES))


class _Page(NamedTuple):
    title: str
    chars: int
    mentions: int
    """How many pages have the words of its title: a sign that the subject is well known."""
    question: str
    """The question that its first sentence answers; empty if the sentence is not that plain."""
    is_person: bool
    is_word: bool
    """Whether its title is a common word ("water") and not a name: a dull example, however often it is mentioned."""


def examples_in(book: OpenBook) -> tuple[Example, ...]:
    """Questions and topics in turn, about pages that the start page links to: names first, then by size and fame."""
    paths = list(start_pages(book, MAX_LINKS))
    titles = {path: title for path in paths if _is_plain(title := book.title(path))}
    known = sorted(titles, key=lambda path: (-book.frequency(titles[path]), titles[path]))
    read = [_page(page, book) for path in known[:MAX_READ] if (page := book.text(path)) and _is_plain(page.title)]
    pages = sorted(read, key=lambda page: (page.is_word, -page.mentions * page.chars, page.title))
    asked = list(islice(_in_turn([page for page in pages if page.question]), MAX_EXAMPLES))
    topics = (page for page in pages if page.chars >= MIN_TOPIC_CHARS and page not in asked[:2])
    questions = [Example("ask", page.question, book.language) for page in asked]
    researched = [Example("research", page.title, book.language) for page in islice(topics, MAX_EXAMPLES)]
    return tuple(item for pair in zip_longest(questions, researched) for item in pair if item)


def _in_turn(pages: list[_Page]) -> Iterator[_Page]:
    """A person and another thing in turn."""
    people, others = ([page for page in pages if page.is_person is wanted] for wanted in (True, False))
    return (page for pair in zip_longest(people, others) for page in pair if page)


def _is_plain(title: str) -> bool:
    return len(title) <= MAX_TITLE and bool(PLAIN_TITLE.fullmatch(title))


def _page(page: PageText, book: OpenBook) -> _Page:
    question, is_person = _question(page) if book.language == "eng" else ("", False)
    is_word = _in_lower_case(page) != page.title
    return _Page(page.title, len(page.text), book.frequency(page.title), question, is_person, is_word)


def _in_lower_case(page: PageText) -> str:
    """The title as the page writes it within a sentence: a title starts with a capital even if it is not a name."""
    lower = page.title[:1].lower() + page.title[1:]
    return lower if re.search(rf"\b{re.escape(lower)}\b", page.text) else page.title


def _question(page: PageText) -> tuple[str, bool]:
    """The question that the first sentence of an English page answers, and whether it is about a person.

    There are none for other languages, since the words of questions are known for English only.
    """
    title, start = page.title, page.text[page.lead : page.lead + BIRTH_CHARS].strip()
    found = re.match(DEFINED.format(title=re.escape(title)), start, re.IGNORECASE)
    if not found:
        return "", False
    if LIVED.search(found[0]) and BORN.search(start):
        return f"When was {title} born?", True
    return f"What {found['verb']} {(found['article'] or '').lower()}{_in_lower_case(page)}?", False
