"""Namesakes: what else the words may mean, as the book itself tells, with one line for each sense."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kiwiresearch.errors import KiwiError
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.read import open_page
from kiwiresearch.search.hit import Hit
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import Query
from kiwiresearch.search.rank import QUALIFIER
from kiwiresearch.text.fold import fold
from kiwiresearch.zim.entry import EntryRef

AMBIGUOUS_WORDS = 4
"""Longer queries say what they mean."""

MOST_SENSES = 12
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

    def record(self) -> dict[str, str]:
        return {"book_id": self.ref.book, "path": self.ref.path, "title": self.title, "line": self.line}


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
    book.pages_ahead(named)
    for path in named:
        page = _page(book, path)
        if page is None:
            continue
        if page.signals.disambiguation:
            found |= {target: line for target, line in _listed(book, page, name).items() if not found.get(target)}
        else:
            found.setdefault(path, "")
    return found if len(found) > 1 else {}


def senses(book: OpenBook, told: dict[str, str], hits: Sequence[Hit]) -> tuple[Sense, ...]:
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
    return tuple(rows[:MOST_SENSES]) if len(rows) > 1 else ()


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
    book.resolve_ahead(link.target for link in links)
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
