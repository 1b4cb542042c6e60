"""What a reader means by words typed into the box: a question, the name of a page, or words to search for."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Literal
from urllib.parse import urlencode

from kiwiresearch.claims import LIVED
from kiwiresearch.codec import toml_data
from kiwiresearch.errors import KiwiError
from kiwiresearch.kin import has_family_words
from kiwiresearch.kin.extract import judge_page, subject_of
from kiwiresearch.messages import LANGUAGES
from kiwiresearch.search import OpenBook
from kiwiresearch.text import fold, language_words, plain_lower, stemmer, three_letter_code
from kiwiresearch.web.addresses import page_address
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard import current_visitor
from kiwiresearch.zim import EntryRef, near_titles

Action = Literal["ask", "research", "find", "family"]
Kind = Literal["question", "name", "request", "words"]

ACTIONS: tuple[Action, ...] = ("ask", "research", "find", "family")
STARTING_ACTIONS: frozenset[Action] = frozenset({"research", "family"})
"""Actions that start work, which the role 'reader' does not allow."""
QUESTION_MARKS = ("?", "？", "؟")
MIN_QUESTION_WORDS = 3
"""'Who' and 'How to' may be anything, 'who was Homer' is a question."""

MAX_NAME = 120
MAX_BOOKS = 12
MAX_NAMED = 4
TIMEOUT_S = 1.5
LEAD_CHARS = 600
# 'volcanoes' and 'galaxies' are two letters longer than their singular.
MAX_PLURAL_ENDING = 2
PLURAL_ENDINGS = ("s", "x")
MAX_SIMILAR = 20
"""Titles that are compared with a plural."""

OPENINGS = frozenset(
    (
        *("who", "whom", "whose", "what", "whats", "when", "where", "why", "which", "how", "did", "does", "do"),
        *("is", "are", "was", "were", "can", "could", "should", "would", "will", "has", "have", "had"),
        *("qui", "que", "quoi", "quel", "quelle", "quels", "quelles", "quand", "ou", "dou", "pourquoi", "comment"),
        *("combien", "est ce", "quest ce", "a quel", "a quelle", "en quel", "en quelle", "de quel", "de quelle"),
        *("y a", "a quoi", "depuis quand"),
        *("quien", "quienes", "cual", "cuales", "cuando", "donde", "como", "cuanto", "cuanta", "cuantos", "cuantas"),
        *("por que", "de que", "en que", "a que", "hay", "desde cuando", "para que"),
        *("in which", "in what", "at what", "for what", "for how", "to whom", "by whom", "from where", "on what"),
    )
)
"""Words that start a question in English, French and Spanish, folded because many readers omit accents."""

ALSO_NAMES = frozenset({"will", "can", "do"})
"""Openings that can also be names: 'Will Smith actor', 'Can Dündar journalist'."""

REQUESTS = frozenset(
    (
        *("explain", "define", "describe", "compare", "tell me", "tell us", "teach me", "give me"),
        *("explique", "expliquez", "definis", "definissez", "decris", "decrivez", "compare", "comparez"),
        *("explique moi", "expliquez moi", "dis moi", "dites moi", "parle moi", "parlez moi"),
        *("explica", "explique", "explicame", "define", "describe", "compara", "dime", "digame", "hablame", "cuentame"),
    )
)
"""Words that ask for an answer without being a question, folded: 'explain photosynthesis', 'parle-moi de la Lune'."""

NAME_PUNCTUATION = '?!.,;:¿¡«»“”"()'
# The name in 'Napoleon's' is 'Napoleon'.
POSSESSIVE = re.compile(r"['’]s$")
# Words for a birth in French, Spanish and English leads, which show that the page is about a person.
PERSON = re.compile(r"\b(?:née? (?:le|en|à|vers)|nacid[oa] (?:el|en)|nació (?:el|en)|was born)\b")
# One to six words that start with a letter.
CAPITAL_NAME = re.compile(r"[^\W\d_][\w'’.-]*(?: [\w'’.-]+){0,5}")


@dataclass(frozen=True, slots=True)
class NamedPage:
    """A page with exactly this title."""

    ref: EntryRef
    title: str
    book: str
    language: str
    is_person: bool

    @property
    def address(self) -> str:
        return page_address(self.ref)

    @property
    def worksheet_address(self) -> str:
        return worksheet_address(self.ref)


@dataclass(frozen=True, slots=True)
class Intent:
    """The kind of input the words seem to be, and the pages with that title."""

    kind: Kind
    pages: tuple[NamedPage, ...] = ()
    request: TypedRequest | None = None

    @property
    def is_person(self) -> bool:
        return any(page.is_person for page in self.pages)


def action_address(action: Action, words: str, **more: str) -> str:
    """The page on which an action with some words starts."""
    name = {"ask": "q", "find": "q", "research": "topic", "family": "name"}[action]
    return f"/{action}?{urlencode({name: words, **more}, errors='replace')}"


def worksheet_address(ref: EntryRef) -> str:
    """Where the worksheet of a page is."""
    return f"/worksheet?{urlencode({'book': ref.book, 'path': ref.path}, errors='replace')}"


def allowed_actions() -> tuple[Action, ...]:
    """The actions that the visitor may take."""
    return (
        ACTIONS
        if current_visitor().may("researcher")
        else tuple(action for action in ACTIONS if action not in STARTING_ACTIONS)
    )


def other_actions(words: str, *, excluding: str = "", person: str = "") -> tuple[tuple[Action, str], ...]:
    """The other actions for some words, with their addresses; a family only for the name of a person."""
    meant: dict[Action, str] = {"family": person}
    actions = ((action, meant.get(action, words)) for action in allowed_actions() if action != excluding)
    return tuple((action, action_address(action, text)) for action, text in actions if text)


def person_in(context: ServerContext, words: str) -> str:
    """The name in some words or in a question, if a page of the books is about a person of that name; else empty."""
    name = " ".join((name_in(words) if is_question(words) else words).split())
    if not name or len(name) > MAX_NAME:
        return ""
    with contextlib.suppress(KiwiError), context.try_locked_finder(TIMEOUT_S) as finder:
        for book in finder.books[:MAX_BOOKS] if finder else ():
            if any(_is_person(book, path) for path in _paths_named(book, name)):
                return name
    return ""


def _paths_named(book: OpenBook, name: str) -> tuple[str, ...]:
    """The page of a name; without one, the pages it can mean, and without these, pages with all its words."""
    if (path := _path_named(book, name)) is not None:
        return (path,)
    wanted = fold(name).split()
    rows = book.titles.by_words(wanted, MAX_NAMED) if book.titles is not None and wanted else ()
    meanings = tuple(row.path for row in rows if fold(row.title.partition(" (")[0]) == " ".join(wanted))
    return meanings or tuple(row.path for row in rows if set(wanted) <= set(fold(row.title).split()))


def name_in(question: str) -> str:
    """The longest run of capitalised words after the first word; empty if there is none."""
    words = [word.strip(NAME_PUNCTUATION) for word in question.split()[1:]]
    runs = (" ".join(run) for is_name, run in groupby(words, key=_is_capital) if is_name)
    return POSSESSIVE.sub("", max(runs, key=len, default=""))


def _is_capital(word: str) -> bool:
    return word[:1].isupper() and len(word) > 1


def is_question(words: str) -> bool:
    """Whether words are a question: by a question mark, or by how they begin in any language of the desk."""
    text = words.strip()
    if text.endswith(QUESTION_MARKS) or text.startswith("¿"):
        return True
    parts = fold(text).split()
    openings = parts[0] if parts else "", " ".join(parts[:2])
    if any(opening in REQUESTS and len(parts) > len(opening.split()) for opening in openings):
        return True
    if openings[0] in ALSO_NAMES and all(map(_is_capital, text.split()[:2])):
        return False
    return len(parts) >= MIN_QUESTION_WORDS and not OPENINGS.isdisjoint(openings)


def guess_language(words: str, otherwise: str) -> str:
    """The language of the desk that has the most function words of a text; `otherwise` if it has none."""
    known = set(plain_lower(words).split())
    counts = {
        code: len(known & language_words(code).stop_words) for code in (otherwise, *map(three_letter_code, LANGUAGES))
    }
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] else otherwise


def intent_of(context: ServerContext, words: str) -> Intent:
    """Decide what is meant. Titles are only looked up if the books become available quickly."""
    pages = pages_named(context, words)
    # 'Who Framed Roger Rabbit' begins like a question, but is a title unless a question mark follows.
    if is_question(words) and not (pages and not words.strip().endswith(QUESTION_MARKS)):
        return Intent("question", pages)
    if not pages and (request := request_in(words)) is not None:
        return _requested(context, request)
    return Intent("name" if pages else "words", pages)


def _requested(context: ServerContext, request: TypedRequest) -> Intent:
    """A request that can be fulfilled: a worksheet needs a page, and a family a person."""
    if request.thing == "research":
        return Intent("request" if "research" in allowed_actions() else "words", request=request)
    pages = pages_named(context, request.subject)
    if request.thing == "worksheet":
        may_make = bool(pages) and current_visitor().may("researcher")
        return Intent("request" if may_make else "words", pages, request)
    is_possible = "family" in allowed_actions() and person_in(context, request.subject)
    return Intent("request" if is_possible else "words", pages, request)


def pages_named(context: ServerContext, words: str) -> tuple[NamedPage, ...]:
    """Pages with exactly this title; none if the books stay busy for longer than a reader would wait."""
    text = " ".join(words.split())
    if not text or len(text) > MAX_NAME:
        return ()
    with contextlib.suppress(KiwiError), context.try_locked_finder(TIMEOUT_S) as finder:
        books = finder.books[:MAX_BOOKS] if finder else ()
        return tuple(named for book in books if (named := _in_book(book, text)) is not None)[:MAX_NAMED]
    return ()


def pages_like(context: ServerContext, words: str) -> tuple[NamedPage, ...]:
    """Pages with a similar title, for a name that is misspelt; none if the books stay busy."""
    text = " ".join(words.split())
    if not text or len(text) > MAX_NAME:
        return ()
    with contextlib.suppress(KiwiError), context.try_locked_finder(TIMEOUT_S) as finder:
        books = finder.books[:MAX_BOOKS] if finder else ()
        near = ((book, title) for book in books for title in near_titles(book.archive, text))
        return tuple(named for book, title in near if (named := _in_book(book, title)) is not None)[:MAX_NAMED]
    return ()


def _in_book(book: OpenBook, words: str) -> NamedPage | None:
    path = _path_named(book, words) or _path_of_plural(book, words)
    if path is None:
        return None
    title = book.book.title or book.book.name
    return NamedPage(book.ref(path), book.title(path), title, book.language, _is_person(book, path))


def _path_named(book: OpenBook, words: str) -> str | None:
    path = next(filter(None, map(book.archive.by_title, dict.fromkeys((words, words[:1].upper() + words[1:])))), None)
    if path is None and book.titles is not None:
        return next((row.path for row in book.titles.exact(words)), None)
    return path


def _path_of_plural(book: OpenBook, words: str) -> str | None:
    """The page whose title differs from the words only in number: 'Volcano' for 'volcanoes'."""
    stem_of = stemmer(book.language)
    wanted = fold(words)
    stems = [stem_of(word) for word in wanted.split()]
    if book.titles is None or not stems:
        return None
    # Without its last letter, since a stem may end differently: 'galaxi' for 'galaxy' and 'galaxies'.
    start = " ".join([*wanted.split()[:-1], stems[-1][:-1]])
    rows = book.titles.prefix(start, MAX_SIMILAR)
    return next((row.path for row in rows if _differ_in_number(fold(row.title), wanted, stem_of)), None)


def _differ_in_number(one: str, other: str, stem_of: Callable[[str], str]) -> bool:
    singular, plural = sorted((one, other), key=len)
    has_ending = 0 < len(plural) - len(singular) <= MAX_PLURAL_ENDING and plural.endswith(PLURAL_ENDINGS)
    return has_ending and list(map(stem_of, singular.split())) == list(map(stem_of, plural.split()))


def _is_person(book: OpenBook, path: str) -> bool:
    """Whether a page seems to be about a person. A wrong guess only shows or hides the offer of a family."""
    if has_family_words(book.language):
        page = book.page(path)
        return judge_page(page, subject_of(page)).is_person
    if not CAPITAL_NAME.fullmatch(book.title(path)):
        return False
    text = book.text(path)
    lead = text.text[:LEAD_CHARS] if text else ""
    return bool(LIVED.search(lead) or PERSON.search(lead))


RequestedThing = Literal["worksheet", "family", "research"]

PHRASES: tuple[RequestedThing, ...] = ("worksheet", "family")
"""What phrases of the data file ask for; research is asked for by an aspect, such as causes."""

SUBJECT_PUNCTUATION = " .,:;!\"'«»“”"


@dataclass(frozen=True, slots=True)
class TypedRequest:
    """A thing and what it is to be about."""

    thing: RequestedThing
    subject: str


def request_in(words: str) -> TypedRequest | None:
    """What some words ask for; None if they only name something."""
    parts = words.split()
    for thing in PHRASES:
        before, after = _phrases(thing)
        for subject in (*_after(parts, before), *_before(parts, after)):
            return TypedRequest(thing, subject)
    return TypedRequest("research", " ".join(parts)) if _names_aspect(parts) else None


@cache
def _phrases(thing: RequestedThing) -> tuple[frozenset[str], frozenset[str]]:
    table = toml_data("kiwiresearch.web.desk", "typed_requests.toml")[thing]
    return frozenset(map(fold, table["before"])), frozenset(map(fold, table["after"]))


def _after(parts: Sequence[str], phrases: frozenset[str]) -> Iterator[str]:
    """The words behind a phrase, without an article before them; the longest phrase counts."""
    for length in range(len(parts) - 1, 0, -1):
        if fold(" ".join(parts[:length])) in phrases:
            yield from filter(None, [_without_article(parts[length:])])
            return


def _before(parts: Sequence[str], phrases: frozenset[str]) -> Iterator[str]:
    for start in range(1, len(parts)):
        if fold(" ".join(parts[start:])) in phrases:
            yield from filter(None, [_without_article(parts[:start])])
            return


def _without_article(parts: Sequence[str]) -> str:
    first = 1 if len(parts) > 1 and fold(parts[0]) in _all_stop_words() else 0
    return " ".join(parts[first:]).strip(SUBJECT_PUNCTUATION)


@cache
def _all_stop_words() -> frozenset[str]:
    words = [language_words(three_letter_code(code)).stop_words for code in LANGUAGES]
    return frozenset(fold(word) for some in words for word in some)


def _names_aspect(parts: Sequence[str]) -> bool:
    """Whether words begin with an aspect of something: 'causes of the First World War', 'les causes de la crise'."""
    folded = [fold(part) for part in parts]
    if len(folded) > 1 and folded[0] in _all_stop_words():
        folded = folded[1:]
    if len(folded) < 3:
        return False
    languages = [language_words(three_letter_code(code)) for code in LANGUAGES]
    return any(
        folded[1] in map(fold, words.linking)
        and any(folded[0] in aspect.naming_words for aspect in words.aspects.values())
        for words in languages
    )
