"""What the words of a query were meant to be, and what else they may mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from kiwiresearch.codec import Record
from kiwiresearch.errors import KiwiError
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.read import open_page
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import Hit, Query, parse_query
from kiwiresearch.search.rank import QUALIFIER
from kiwiresearch.search.titles import TitleLookup
from kiwiresearch.text.languages import share_root, spellings, stemmer
from kiwiresearch.text.words import HAN, fold
from kiwiresearch.zim.archive import EntryRef

SHORTEST = 4
CHOICES = 3
MAX_WORDS = 4
"""A title may be found whole from this many mistyped words."""

CLEARLY = 50
"""A word is taken for a slip only if so many times as many pages hold the other one."""


def corrected_query(book: OpenBook, query: Query, known: Callable[[str], bool] | None = None) -> Query | None:
    """The query as it was meant, or None where nothing seems wrong.

    `known` says whether a word is at home in any book that is asked; such a
    word is right, whatever this book has.
    """
    if not query.words:
        return None
    spelt = _as_spelt(book, query)
    if spelt:
        return spelt
    if book.titles is None:
        return None
    joined = _as_joined(book.titles, query)
    if joined:
        return joined
    known = known or book.knows
    doubtful = [word for word in query.content if len(word) >= SHORTEST and not book.titles.frequency(word)]
    unknown = [word for word in doubtful if not known(word)]
    if len(query.content) <= MAX_WORDS:
        whole = _as_title(book, query, [word for word in doubtful if word in unknown or book.frequency(word)])
        if whole:
            return whole
    changes = {word: better for word in unknown if (better := _better(book, word))}
    return _with(query, changes) if changes else None


def _as_spelt(book: OpenBook, query: Query) -> Query | None:
    """The query as this book spells it, where the writers of a language mix spellings or write words together."""
    changes = {}
    for word in query.content:
        if word.isascii() or book.knows(word):
            continue
        better = next(filter(book.knows, spellings(word)), "") or _in_pairs(book, word)
        if better:
            changes[word] = better
    return _with(query, changes) if changes else None


def _in_pairs(book: OpenBook, word: str) -> str:
    """Chinese words written together, cut in twos, as most of them are, if one page has all; empty for others."""
    if len(word) < SHORTEST or len(word) % 2 or not HAN.fullmatch(word):
        return ""
    pairs = " ".join(word[start : start + 2] for start in range(0, len(word), 2))
    return pairs if book.pages_with(pairs, 1) else ""


def _as_joined(titles: TitleLookup, query: Query) -> Query | None:
    """The query with its spaces where a title has them, if no title has them where the query does."""
    whole = " ".join(query.words)
    rows = titles.joined(whole)
    if not rows or any(fold(row.title) == whole for row in rows):
        return None
    return _respelt(query, fold(rows[0].title))


def _better(book: OpenBook, word: str) -> str:
    """What an unknown word stands for: words written together, else the nearest word of the titles."""
    assert book.titles is not None
    apart = [fold(row.title) for row in book.titles.joined(word)]
    if apart:
        return apart[0]
    if not book.book.indexes.full_text:
        return ""  # only its titles are known, so a word may well be on its pages
    near = book.titles.correct(word, 1)
    return near[0].word if near else ""


def _as_title(book: OpenBook, query: Query, words: list[str]) -> Query | None:
    """The query with some words replaced, if that is a title."""
    titles = book.titles
    if titles is None or not words or titles.joined(" ".join(query.words)):
        return None
    choices = [_likelier(book, query, word) or [word] for word in words]
    for some in product(*choices):
        attempt = _with(query, dict(zip(words, some, strict=True)))
        if attempt.words != query.words and titles.exact(" ".join(attempt.words)):
            return attempt
    return None


def _likelier(book: OpenBook, query: Query, word: str) -> list[str]:
    """Words of titles near this one that are far commoner, and no other forms of it."""
    assert book.titles is not None
    stem_of = stemmer(query.language)
    near_ones = book.titles.correct(word, CHOICES)
    return [
        near.word
        for near in near_ones
        if near.distance == near_ones[0].distance
        and not share_root(word, [near.word])
        and stem_of(word) != stem_of(near.word)
        and book.frequency(word) * CLEARLY <= book.frequency(near.word)
    ]


def _with(query: Query, changes: dict[str, str]) -> Query:
    return _respelt(query, " ".join(changes.get(word, word) for word in query.words))


def _respelt(query: Query, core: str) -> Query:
    fixed = parse_query(core, query.language)
    return replace(fixed, definitional=query.definitional, focus=query.focus, is_corrected=True)


AMBIGUOUS_WORDS = 4
"""Longer queries say what they mean."""

MAX_SENSES = 12
LOOKED_AT = 60
LINE = 160
SHORTEST_LINE = 30
FIRST_PARAGRAPHS = 6
COMPARABLE = 0.5
"""Senses are shown that have at least this share of the best one's points."""


@dataclass(frozen=True, slots=True)
class Sense:
    """One meaning of a name, and the page about it."""

    ref: EntryRef
    title: str
    line: str

    def record(self) -> SenseRecord:
        return SenseRecord(self.ref.book, self.ref.path, self.title, self.line)


@dataclass(frozen=True, slots=True)
class SenseRecord(Record):
    """One of several meanings of the query."""

    book_id: str
    path: str
    title: str
    line: str


def sense_paths(book: OpenBook, query: Query) -> dict[str, str]:
    """Pages that share the query's name, with what a page of senses says of each.

    They come from pages that only list senses, and from titles and redirects
    of the form 'Name (…)'.
    """
    name = fold(query.core)
    if not name or len(query.words) > AMBIGUOUS_WORDS:
        return {}
    found: dict[str, str] = {}
    named = [path for path, _ in _named_so(book, query)]
    book.prefetch_pages(named)
    for path in named:
        page = _page(book, path)
        if page is None:
            continue
        if page.signals.disambiguation:
            found |= {target: line for target, line in _listed(book, page, name).items() if not found.get(target)}
        else:
            found.setdefault(path, "")
    return found if len(found) > 1 else {}


def senses_among(book: OpenBook, told: dict[str, str], hits: Sequence[Hit]) -> tuple[Sense, ...]:
    """The senses a search found, best first, with a line for each; none where they are not comparable."""
    if not hits:
        return ()
    top = hits[0].score.total
    rows = []
    for hit in hits:
        path = hit.ref.path
        if path in told and hit.ref.book == book.book.id and hit.score.total >= COMPARABLE * top:
            page = None if told[path] else _page(book, path)
            line = told[path] or (first_line(page) if page else "")
            rows.append(Sense(hit.ref, hit.title, line.removeprefix(hit.title).lstrip(" ,:–—-") or line))
    return tuple(rows[:MAX_SENSES]) if len(rows) > 1 else ()


def first_line(page: PageDoc, longest: int = LINE) -> str:
    """The sentence that says what the page is about: of its first paragraphs, the one that names it."""
    name = fold(QUALIFIER.sub("", page.title))
    paragraphs = [block for block in page.blocks if block.kind == "paragraph"][:FIRST_PARAGRAPHS]
    lines = []
    for block in paragraphs:
        end = min((start for start in page.sentences if start > block.start), default=block.end)
        lines.append(" ".join(page.text[block.start : min(end, block.end)].split()))
    naming = [line for line in lines if name in fold(line) and len(line) > SHORTEST_LINE]
    return shortened((naming or lines or [""])[0], longest)


def shortened(line: str, longest: int = LINE) -> str:
    return line if len(line) <= longest else f"{line[:longest].rsplit(' ', 1)[0]} …"


def _named_so(book: OpenBook, query: Query) -> list[tuple[str, str]]:
    """Paths and titles of 'Name' and 'Name (…)'."""
    name = fold(query.core)
    if book.titles is not None:
        rows = [(row.path, row.title) for row in book.titles.prefix(query.core, LOOKED_AT)]
    else:
        rows = [
            (match.path, match.alias or match.title)
            for text in (query.core, f"{query.core} (")
            for match in book.archive.suggest(text, LOOKED_AT)
        ]
    return [(path, title) for path, title in rows if fold(QUALIFIER.sub("", title)) == name]


def _listed(book: OpenBook, page: PageDoc, name: str) -> dict[str, str]:
    """What a page of senses leads to: the first link of each line that begins with the name."""
    found: dict[str, str] = {}
    links = [link for link in page.links if link.in_text and link.place != "note"]
    book.prefetch_targets(link.target for link in links)
    for link in links:
        path = book.resolve(link.target)
        line = " ".join(page.sentence(link).split())
        if path is None or path in found or path == page.ref.path:
            continue
        if name in fold(link.text) or name in fold(link.target_title):
            found[path] = shortened(line)
    return found


def _page(book: OpenBook, path: str) -> PageDoc | None:
    try:
        return open_page(book.archive, path)
    except KiwiError:
        return None
