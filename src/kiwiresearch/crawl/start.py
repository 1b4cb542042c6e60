"""Where a crawl begins: the topic is searched, one to three pages are its seeds, the rest are candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kiwiresearch.crawl.filters import Filter, asks_for_timeline
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.crawl.step import Begun, Considered, Found, Searched
from kiwiresearch.crawl.topic import Spoken, Topic
from kiwiresearch.ids import BookId
from kiwiresearch.search.find import MAX_BOOKS, Advice, Findings, Wish, find
from kiwiresearch.search.hit import Hit
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import parse
from kiwiresearch.text.languages import words_of
from kiwiresearch.zim.entry import EntryRef

LEAST_READ = 40
MOST_READ = 240
"""How many search results are read, by how many pages the crawl may take."""

CLOSE = 0.7
"""A page with less of the best one's score is no seed, unless the topic names it."""

PASSED_OVER = 8
"""Of the pages that were no seeds, so many are told."""

NAMING = 0.5
"""A page outside the search's best is a candidate if so much of the topic stands together on it."""


def begin(
    books: Sequence[OpenBook],
    text: str,
    focus: str,
    settings: CrawlSettings,
    advice: Advice | None = None,
    *,
    max_books: int = MAX_BOOKS,
) -> Begun:
    """Search the topic in the likeliest books, and choose where to begin; no seeds if nothing was found."""
    read = min(MOST_READ, LEAST_READ + settings.max_pages // 2)
    wish = Wish(limit=read, focus=focus, max_books=max_books, read=read)
    findings = find(books, text, wish, advice)
    asked = findings.corrected or text
    books = [book for book in books if book.book.id in findings.books] or list(books)[:max_books]
    topics = {book.book.id: Topic.of(book, parse(asked, book.language, focus)) for book in books}
    language = books[0].language if books else "eng"
    timeline = asks_for_timeline(text, language)
    filters = {book.book.id: Filter.of(book, settings.filters, timeline=timeline) for book in books}
    refused = {hit.ref: why for hit in findings.hits if (why := filters[hit.ref.book].refusal(hit.ref.path, hit.title))}
    seeds, passed = choose(findings, settings.max_seeds, refused, words_of(language).aspects)
    names = {hit.ref: hit.alias or hit.title for hit in findings.hits}
    seeds = tuple(seed._replace(coverage=topics[seed.book].covered_by(names[seed.ref])) for seed in seeds)
    kept = {seed.ref for seed in seeds}
    found = [
        one
        for one in _found(books, topics, findings)
        + _naming(books, topics, findings, LEAST_READ + settings.max_pages // 2)
        if one.ref in kept or not filters[one.book].refusal(one.path, one.title)
    ]
    return Begun(
        topic=text,
        focus=focus,
        timeline=timeline,
        searched=tuple(_searched(book, topics[book.book.id], findings, found) for book in books),
        seeds=seeds,
        passed=passed,
        found=tuple(found),
    )


def _found(books: Sequence[OpenBook], topics: dict[BookId, Topic], findings: Findings) -> list[Found]:
    """The search's own hits, with how much each is about the topic."""
    by_id = {book.book.id: book for book in books}
    top = max((hit.score.total for hit in findings.hits), default=0.0) or 1.0
    found = []
    for place, hit in enumerate(findings.hits):
        # Where books of different kinds were fused by rank, their scores cannot be compared.
        share = hit.score.total / top if findings.order == "score" else 1 - place / len(findings.hits)
        spoken = _spoken(by_id[hit.ref.book], topics[hit.ref.book], hit.ref.path)
        found.append(Found(hit.ref.book, hit.ref.path, hit.title, round(max(0.0, share), 4), *spoken))
    return found


def _naming(books: Sequence[OpenBook], topics: dict[BookId, Topic], findings: Findings, most: int) -> list[Found]:
    """Pages beyond the hits on which the topic's words stand together."""
    known = {hit.ref for hit in findings.hits}
    found = []
    for book in books:
        topic = topics[book.book.id]
        words = " ".join(term.word for term in topic.query.terms)
        if book.is_served or not words:  # a server would be asked for every page
            continue
        for path in book.pages_with(words, most):
            if book.ref(path) in known:
                continue
            spoken = _spoken(book, topic, path)
            if spoken.named >= NAMING:
                found.append(Found(book.book.id, path, book.title(path), 0.0, *spoken))
    return found


def _spoken(book: OpenBook, topic: Topic, path: str) -> Spoken:
    page = book.text(path)
    return topic.spoken(page.levelled, page.lead) if page else Spoken(0.0, 0.0, 0.0)


def _searched(book: OpenBook, topic: Topic, findings: Findings, found: Sequence[Found]) -> Searched:
    here = [one for one in found if one.book == book.book.id]
    words = (*topic.query.terms, *topic.query.focus)
    return Searched(
        book=book.book.id,
        words=tuple((term.word, round(book.rarity(term.word), 4)) for term in words),
        unknown=tuple(term.word for term in words if not book.knows(term.word)),
        corrected=findings.corrected,
        pages=len(here),
        naming=sum(one.is_named for one in here),
    )


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a hit matches the topic."""

    senses: bool
    whole: bool
    named: bool

    @classmethod
    def of(cls, hit: Hit, aspects: frozenset[str]) -> _Kind:
        lines = {line.signal: line.points for line in hit.score.lines}
        # 'History' is no thing that 'history of Rome' names.
        is_named = "title named in query" in lines and hit.title.casefold() not in aspects
        return cls("disambiguation page" in lines, "title is the query" in lines, is_named)


def choose(
    findings: Findings,
    most: int,
    refused: Mapping[EntryRef, str] = MappingProxyType({}),
    aspects: frozenset[str] = frozenset(),
) -> tuple[tuple[Considered, ...], tuple[Considered, ...]]:
    """One to three seeds, and the pages that were passed over, each with the reason.

    Exact titles go before redirects, those before close matches; a page that
    only lists senses is never a seed, its senses are. A topic that names two
    things has both.
    """
    kinds = {hit.ref: _Kind.of(hit, aspects) for hit in findings.hits}
    # What the filters refuse is a seed only if the topic is its very title.
    pages = [h for h in findings.hits if not kinds[h.ref].senses and (h.ref not in refused or kinds[h.ref].whole)]
    chosen: dict[EntryRef, str] = {}
    if pages:
        chosen[pages[0].ref] = _why(pages[0], kinds[pages[0].ref], findings, first=True)
        several = bool(findings.senses)
        if kinds[pages[0].ref].whole and not several:
            _same_elsewhere(pages, kinds, chosen, most)
        else:
            _others(pages, kinds, chosen, most, findings)
    seeds = tuple(_considered(hit, chosen[hit.ref]) for hit in pages if hit.ref in chosen)
    passed = [hit for hit in findings.hits if hit.ref not in chosen][:PASSED_OVER]
    return seeds, tuple(
        _considered(hit, refused.get(hit.ref) or _why_not(hit, kinds[hit.ref], seeds, most)) for hit in passed
    )


def _same_elsewhere(pages: Sequence[Hit], kinds: dict[EntryRef, _Kind], chosen: dict[EntryRef, str], most: int) -> None:
    books = {pages[0].ref.book}
    for hit in pages[1:]:
        if len(chosen) < most and kinds[hit.ref].whole and hit.ref.book not in books:
            chosen[hit.ref] = "its title is the topic, in another book"
            books.add(hit.ref.book)


def _others(
    pages: Sequence[Hit], kinds: dict[EntryRef, _Kind], chosen: dict[EntryRef, str], most: int, findings: Findings
) -> None:
    """Beside the best page: first those that the topic names as well, then those that score nearly as high."""
    top = pages[0].score.total
    senses = {sense.ref for sense in findings.senses}
    covered = set(pages[0].title.casefold().split())
    for hit in pages[1:]:
        words = set(hit.title.casefold().split())
        if len(chosen) < most and kinds[hit.ref].named and not words <= covered:
            chosen[hit.ref] = _why(hit, kinds[hit.ref], findings)
            covered |= words
    for hit in pages[1:]:
        words = set(hit.title.casefold().split())
        is_close = hit.score.total >= CLOSE * top and not words <= covered
        if len(chosen) < most and hit.ref not in chosen and (is_close or hit.ref in senses):
            chosen[hit.ref] = _why(hit, kinds[hit.ref], findings)
            covered |= words


def _why(hit: Hit, kind: _Kind, findings: Findings, *, first: bool = False) -> str:
    if findings.senses and any(sense.ref == hit.ref for sense in findings.senses):
        return "one of the senses of the topic's name"
    if kind.whole:
        return f"{hit.alias!r} leads to it, and is the topic" if hit.alias else "its title is the topic"
    if kind.named:
        return f"{hit.alias!r} leads to it, and stands in the topic" if hit.alias else "its title stands in the topic"
    return "it matches the topic's words best" if first else "it matches the topic's words nearly as well"


def _why_not(hit: Hit, kind: _Kind, seeds: tuple[Considered, ...], most: int) -> str:
    if kind.senses:
        return "it only lists senses"
    if not seeds:
        return "it matches too little"
    if hit.score.total < CLOSE * max(seed.score for seed in seeds):
        return "its score is far from the best"
    if len(seeds) >= most:
        return f"{most} seeds are enough" if most > 1 else "one seed is enough"
    return "a seed says as much"


def _considered(hit: Hit, why: str) -> Considered:
    return Considered(hit.ref.book, hit.ref.path, hit.title, why, hit.score.total)
