"""Interprets a query: which words have typos, and which senses a name may have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from kiwiresearch.codec import Record
from kiwiresearch.errors import KiwiError
from kiwiresearch.page import PageDoc, open_page
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import Hit, Query, parse_query
from kiwiresearch.search.titles import TitleLookup
from kiwiresearch.text import HAN, fold, share_root, spellings, stemmer, without_qualifier
from kiwiresearch.zim import EntryRef

MIN_LETTERS = 4
MAX_CORRECTIONS = 3
MAX_WORDS = 4
"""In a query of up to this many words, several words with typos may be corrected to a title."""

MIN_RATIO = 50
"""A word that the book has is a typo only if this many times as many pages have the other word."""


def corrected_query(book: OpenBook, query: Query, known: Callable[[str], bool] | None = None) -> Query | None:
    """The query as it was probably meant; None if nothing seems wrong.

    `known` says whether any of the books has a word; such a word is right, even if this book does not have it.
    """
    if not query.words:
        return None
    # From the most certain to the least: another spelling, other spaces, a title, the most similar words.
    spelled = _as_spelled(book, query)
    if spelled:
        return spelled
    if book.titles is None:
        return None
    joined = _as_joined(book.titles, query)
    if joined:
        return joined
    known = known or book.knows
    # Doubtful words are in no title; of these, unknown ones are in no book at all.
    doubtful = [word for word in query.content if len(word) >= MIN_LETTERS and not book.titles.frequency(word)]
    unknown = [word for word in doubtful if not known(word)]
    if len(query.content) <= MAX_WORDS:
        title = _as_title(book, query, [word for word in doubtful if word in unknown or book.frequency(word)])
        if title:
            return title
    changes = {word: better for word in unknown if (better := _correction(book, word))}
    return _with(query, changes) if changes else None


def _as_spelled(book: OpenBook, query: Query) -> Query | None:
    """The query as this book spells it, in languages with several spellings or without spaces."""
    changes = {}
    for word in query.content:
        if not word.isascii() and not book.knows(word):
            changes[word] = next(filter(book.knows, spellings(word)), "") or _in_pairs(book, word) or word
    return _with(query, changes) if any(word != better for word, better in changes.items()) else None


def _in_pairs(book: OpenBook, word: str) -> str:
    """Chinese words without spaces, split into pairs of characters, if a page has them all; empty for others."""
    if len(word) < MIN_LETTERS or len(word) % 2 or not HAN.fullmatch(word):
        return ""
    pairs = " ".join(word[start : start + 2] for start in range(0, len(word), 2))
    return pairs if book.pages_with(pairs, 1) else ""


def _as_joined(titles: TitleLookup, query: Query) -> Query | None:
    """The query with the spaces of a title, if no title has the spaces of the query."""
    text = " ".join(query.words)
    rows = titles.ignoring_spaces(text)
    if not rows or any(fold(row.title) == text for row in rows):
        return None
    return _respelled(query, fold(rows[0].title))


def _correction(book: OpenBook, word: str) -> str:
    """A correction of an unknown word: a title with its spaces missing, else the most similar word of titles."""
    assert book.titles is not None
    titles = [fold(row.title) for row in book.titles.ignoring_spaces(word)]
    if titles:
        return titles[0]
    if not book.book.indexes.full_text:
        return ""  # only the titles are indexed, so the word may well be on a page
    similar = book.titles.correct(word, 1)
    return similar[0].word if similar else ""


def _as_title(book: OpenBook, query: Query, words: list[str]) -> Query | None:
    """The query with some words replaced, if that is a title."""
    titles = book.titles
    if titles is None or not words or titles.ignoring_spaces(" ".join(query.words)):
        return None
    choices = [_commoner(book, query, word) or [word] for word in words]
    # At most three choices for each of four words, so at most 81 attempts.
    for replacements in product(*choices):
        attempt = _with(query, dict(zip(words, replacements, strict=True)))
        if attempt.words != query.words and titles.exact(" ".join(attempt.words)):
            return attempt
    return None


def _commoner(book: OpenBook, query: Query, word: str) -> list[str]:
    """The most similar words of titles that are far more common, and not just other forms of the word."""
    assert book.titles is not None
    stem_of = stemmer(query.language)
    similar = book.titles.correct(word, MAX_CORRECTIONS)
    return [
        other.word
        for other in similar
        if other.distance == similar[0].distance
        and not share_root(word, [other.word])
        and stem_of(word) != stem_of(other.word)
        and book.frequency(word) * MIN_RATIO <= book.frequency(other.word)
    ]


def _with(query: Query, changes: dict[str, str]) -> Query:
    return _respelled(query, " ".join(changes.get(word, word) for word in query.words))


def _respelled(query: Query, core: str) -> Query:
    fixed = parse_query(core, query.language)
    return replace(fixed, definitional=query.definitional, focus=query.focus, is_corrected=True)


MAX_AMBIGUOUS_WORDS = 4
"""Longer queries are not ambiguous."""

MAX_SENSES = 12
MAX_NAMESAKES = 60
MAX_LINE_CHARS = 160
MIN_LINE_CHARS = 30
FIRST_PARAGRAPHS = 6
MIN_SENSE_SHARE = 0.5
"""Senses are shown if they have at least this share of the best one's points."""


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
    """Pages that share the query's name, with the line of a disambiguation page about each.

    They come from disambiguation pages, and from titles and redirects of the form 'Name (…)'.
    """
    name = fold(query.core)
    if not name or len(query.words) > MAX_AMBIGUOUS_WORDS:
        return {}
    found: dict[str, str] = {}
    namesakes = _namesakes(book, query)
    book.prefetch_pages(namesakes)
    for path in namesakes:
        page = _page(book, path)
        if page is None:
            continue
        if page.signals.disambiguation:
            found |= {target: line for target, line in _listed(book, page, name).items() if not found.get(target)}
        else:
            found.setdefault(path, "")
    # A name with one page is not ambiguous.
    return found if len(found) > 1 else {}


def senses_among(book: OpenBook, senses: dict[str, str], hits: Sequence[Hit]) -> tuple[Sense, ...]:
    """The senses among the hits of a search, best first, with a line for each; none if only one is comparable."""
    if not hits:
        return ()
    top = hits[0].score.total
    rows = []
    for hit in hits:
        path = hit.ref.path
        if path in senses and hit.ref.book == book.id and hit.score.total >= MIN_SENSE_SHARE * top:
            page = None if senses[path] else _page(book, path)
            line = senses[path] or (first_line(page) if page else "")
            rows.append(Sense(hit.ref, hit.title, line.removeprefix(hit.title).lstrip(" ,:–—-") or line))
    return tuple(rows[:MAX_SENSES]) if len(rows) > 1 else ()


def first_line(page: PageDoc, max_chars: int = MAX_LINE_CHARS) -> str:
    """The sentence that says what the page is about: the first of a paragraph at the top that names its title."""
    name = fold(without_qualifier(page.title))
    paragraphs = [block for block in page.blocks if block.kind == "paragraph"][:FIRST_PARAGRAPHS]
    lines = []
    for block in paragraphs:
        end = min((start for start in page.sentences if start > block.start), default=block.end)
        lines.append(" ".join(page.text[block.start : min(end, block.end)].split()))
    naming = [line for line in lines if name in fold(line) and len(line) > MIN_LINE_CHARS]
    return shortened((naming or lines or [""])[0], max_chars)


def shortened(line: str, max_chars: int = MAX_LINE_CHARS) -> str:
    return line if len(line) <= max_chars else f"{line[:max_chars].rsplit(' ', 1)[0]} …"


def _namesakes(book: OpenBook, query: Query) -> list[str]:
    """The paths of 'Name' and 'Name (…)'."""
    name = fold(query.core)
    if book.titles is not None:
        rows = [(row.path, row.title) for row in book.titles.prefix(query.core, MAX_NAMESAKES)]
    else:
        rows = [
            (match.path, match.alias or match.title)
            for text in (query.core, f"{query.core} (")
            for match in book.archive.suggest(text, MAX_NAMESAKES)
        ]
    return [path for path, title in rows if fold(without_qualifier(title)) == name]


def _listed(book: OpenBook, page: PageDoc, name: str) -> dict[str, str]:
    """The links of a disambiguation page that have the name, with their lines."""
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
