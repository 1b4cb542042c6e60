"""What a reader means by a few words in one box: a question, the name of a page, or words to look for."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, urlencode

from kiwiresearch.claims.theme import LIVED
from kiwiresearch.errors import KiwiError
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.text.fold import fold
from kiwiresearch.web.room import Room
from kiwiresearch.zim.entry import EntryRef

Way = Literal["ask", "research", "find", "family"]
Kind = Literal["question", "name", "words"]

WAYS: tuple[Way, ...] = ("ask", "research", "find", "family")
QUESTION_SIGNS = ("?", "？", "؟")
SHORTEST_QUESTION = 3
"""Words: 'Who' and 'How to' may be anything, 'who was Homer' asks."""

LONGEST_NAME = 120
MOST_BOOKS = 12
MOST_NAMED = 4
PATIENCE_S = 1.5
LEAD_CHARS = 600

OPENINGS = frozenset(
    (
        *("who", "whom", "whose", "what", "whats", "when", "where", "why", "which", "how", "did", "does", "do"),
        *("is", "are", "was", "were"),
        *("qui", "que", "quoi", "quel", "quelle", "quels", "quelles", "quand", "ou", "dou", "pourquoi", "comment"),
        *("combien", "est ce", "quest ce", "a quel", "a quelle"),
        *("quien", "quienes", "cual", "cuales", "cuando", "donde", "como", "cuanto", "cuanta", "cuantos", "cuantas"),
        *("por que", "de que", "en que"),
        *("in which", "at what", "for what"),
    )
)
"""Words that begin a question in English, French and Spanish, folded: many leave accents out."""

PERSON = re.compile(r"\b(?:née? (?:le|en|à|vers)|nacid[oa] (?:el|en)|nació (?:el|en)|was born)\b")
CAPITAL_NAME = re.compile(r"[^\W\d_][\w'’.-]*(?: [\w'’.-]+){0,5}")


@dataclass(frozen=True, slots=True)
class Named:
    """A page that goes by exactly this name."""

    ref: EntryRef
    title: str
    book: str
    language: str
    is_person: bool

    @property
    def address(self) -> str:
        return page_address(self.ref)


@dataclass(frozen=True, slots=True)
class Told:
    """What the words seem to be, and the pages that go by them."""

    kind: Kind
    pages: tuple[Named, ...] = ()

    @property
    def is_person(self) -> bool:
        return any(page.is_person for page in self.pages)


def page_address(ref: EntryRef, *, mark: str = "") -> str:
    """Where a page is read at the desk, at words of it where they are marked."""
    address = f"/page/{quote(ref.book)}/{quote(ref.path, errors='replace')}"
    return f"{address}?mark={mark}" if mark else address


def address_for(way: Way, words: str, **more: str) -> str:
    """Where a way of working with some words begins."""
    name = {"ask": "q", "find": "q", "research": "topic", "family": "name"}[way]
    return f"/{way}?{urlencode({name: words, **more}, errors='replace')}"


def offers(words: str, *, but: str = "") -> tuple[tuple[Way, str], ...]:
    """The other things that can be done with some words, and where they begin."""
    return tuple((way, address_for(way, words)) for way in WAYS if way != but)


def is_question(words: str) -> bool:
    """Whether words ask: by their sign, or by how they begin, in any of the languages of the desk."""
    text = words.strip()
    if text.endswith(QUESTION_SIGNS) or text.startswith("¿"):
        return True
    parts = fold(text).split()
    begins = not OPENINGS.isdisjoint((" ".join(parts[:1]), " ".join(parts[:2])))
    return begins and len(parts) >= SHORTEST_QUESTION


def tell(room: Room, words: str) -> Told:
    """Decide; a title is looked up in the books if that can be done soon, and no page but those of the name is read."""
    pages = pages_named(room, words)
    if is_question(words) and not (pages and not words.strip().endswith(QUESTION_SIGNS)):
        return Told("question", pages)
    return Told("name" if pages else "words", pages)


def pages_named(room: Room, words: str) -> tuple[Named, ...]:
    """Pages of exactly this title; none where the books are busy for longer than a reader would wait."""
    text = " ".join(words.split())
    if not text or len(text) > LONGEST_NAME:
        return ()
    with contextlib.suppress(KiwiError), room.reading_soon(PATIENCE_S) as finder:
        books = finder.books[:MOST_BOOKS] if finder else ()
        return tuple(named for book in books if (named := _in_book(book, text)) is not None)[:MOST_NAMED]
    return ()


def _in_book(book: OpenBook, words: str) -> Named | None:
    path = next(filter(None, map(book.archive.by_title, dict.fromkeys((words, words[:1].upper() + words[1:])))), None)
    if path is None and book.titles is not None:
        path = next((row.path for row in book.titles.exact(words)), None)
    if path is None:
        return None
    title = book.title(path)
    return Named(book.ref(path), title, book.book.title or book.book.name, book.language, _is_person(book, path, title))


def _is_person(book: OpenBook, path: str, title: str) -> bool:
    """Whether a page seems to be about somebody: a family is offered for one, and nothing depends on it."""
    if not CAPITAL_NAME.fullmatch(title) or " " not in title:
        return False
    page = book.text(path)
    lead = page.text[:LEAD_CHARS] if page else ""
    return bool(LIVED.search(lead) or PERSON.search(lead))
