"""Where a crawl begins: the topic is searched, and what was found are its candidates, the seeds among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kiwiresearch.crawl.filters import Filter, asks_for_timeline
from kiwiresearch.crawl.seeds import choose
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.crawl.step import Begun, Considered, Found, Searched
from kiwiresearch.crawl.topic import Spoken, Topic
from kiwiresearch.crawl.understood import Understood, lists_senses, understood
from kiwiresearch.ids import BookId
from kiwiresearch.search.find import MAX_BOOKS, Advice, Findings, Wish, find
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import parse

LEAST_READ = 55
MOST_READ = 240
"""How many search results are read, by how many pages the crawl may take."""

OWNERS = 5
LEAST_NAMED = 0.08
"""Where it is known what the topic is about, a page must name it: a common word is not enough."""

MOST = 0.6
NAMING = 0.25
"""A page outside the search's best is a candidate if so much of the topic stands together on it."""


def begin(
    books: Sequence[OpenBook],
    text: str,
    focus: str,
    settings: CrawlSettings,
    advice: Advice | None = None,
    *,
    max_books: int = MAX_BOOKS,
    aspect: str = "",
) -> Begun:
    """Search the topic in the likeliest books, and choose where to begin; no seeds if nothing was found.

    `aspect` is the side of the topic that is wanted, where the user says so.
    """
    read = min(MOST_READ, LEAST_READ + settings.max_pages // 8)
    wish = Wish(limit=read, focus=focus, max_books=max_books, read=read)
    sought = f"{text} {aspect}".strip()
    findings = find(books, sought, wish, advice)
    findings, books = _with_other_books(findings, books, sought, wish, advice)
    asked = findings.corrected or sought
    what = _understood(findings, books, text if aspect else asked, aspect)
    known = {hit.ref for hit in findings.hits}
    others = [hit for hit in (*what.head_pages, *what.other_pages) if hit.ref not in known]
    findings = replace(findings, hits=(*findings.hits, *others))
    if aspect:  # the topic may ask for another side by itself, which is not wanted now
        asked = f"{what.head} {aspect}"
    topics = {book.book.id: Topic.of(book, parse(asked, book.language, focus), what.aspect) for book in books}
    timeline = asks_for_timeline(text, books[0].language if books else "eng")
    filters = {book.book.id: Filter.of(book, settings.filters, timeline=timeline) for book in books}
    refused = {hit.ref: why for hit in findings.hits if (why := filters[hit.ref.book].refusal(hit.ref.path, hit.title))}
    seeds, passed = choose(findings, topics, settings.max_seeds, refused, what)
    kept = {seed.ref for seed in seeds}
    senses = {hit.ref: hit.title for hit in what.head_pages if hit.ref not in kept}
    if not what.aspect:
        senses |= {sense.ref: sense.title for sense in findings.senses if sense.ref not in kept}
    listing = {hit.ref for hit in findings.hits if settings.filters.disambiguation and lists_senses(hit)}
    found = [
        one
        for one in _found(books, topics, findings) + _naming(books, topics, findings, read)
        if one.ref in kept
        or not (
            one.ref in senses
            or one.ref in listing  # it would offer the other senses again
            or (what.head_pages and what.is_head_in_topic and one.named < LEAST_NAMED)
            or filters[one.book].refusal(one.path, one.title)
        )
    ]
    is_known = what.is_head_in_topic and any(seed.is_head for seed in seeds)
    if not is_known and not _is_about(seeds, found, books, text):
        seeds, found = (), []
    return Begun(
        topic=text,
        focus=focus,
        timeline=timeline,
        searched=tuple(
            _searched(book, topics[book.book.id], asked if asked != sought and not aspect else "", found)
            for book in books
        ),
        seeds=seeds,
        passed=passed,
        found=tuple(found),
        head=what.head,
        aspect=what.aspect,
        senses=tuple(dict.fromkeys(senses.values())),
    )


def _understood(findings: Findings, books: Sequence[OpenBook], topic: str, aspect: str) -> Understood:
    language = books[0].language if books else "eng"
    owner = Wish(limit=OWNERS, fast=True)
    what = understood(parse(topic, language), findings.hits, lambda name: find(books, name, owner).hits)
    return what._replace(aspect=aspect) if aspect else what


def _with_other_books(
    findings: Findings, books: Sequence[OpenBook], text: str, wish: Wish, advice: Advice | None
) -> tuple[Findings, list[OpenBook]]:
    """The findings with those of books that have less to say but are wanted too, behind the others."""
    chosen = [book for book in books if book.book.id in findings.books]
    if len(books) > wish.max_books:
        return findings, chosen or list(books)[: wish.max_books]
    hits = list(findings.hits)
    for book in books:
        if book not in chosen:
            hits += find([book], text, wish, advice).hits
    return replace(findings, hits=tuple(hits)), list(books)


def _is_about(seeds: Sequence[Considered], found: Sequence[Found], books: Sequence[OpenBook], text: str) -> bool:
    """Whether anything speaks of the topic: a seed of its name, a page that names it, or one that holds most of it.

    Most of it as it was typed: what was mended beyond recognition is not what was asked for.
    """
    if any(seed.coverage for seed in seeds) or any(one.is_named for one in found):
        return True
    by_id = {book.book.id: book for book in books}
    for seed in seeds:
        book = by_id[seed.book]
        page = book.text(seed.path)
        if page is not None and Topic.of(book, parse(text, book.language)).held(page.levelled) >= MOST:
            return True
    return False


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
        others = [path for path in book.pages_with(words, most) if book.ref(path) not in known]
        book.texts_ahead(others)
        for path in others:
            spoken = _spoken(book, topic, path)
            if spoken.named >= NAMING:
                found.append(Found(book.book.id, path, book.title(path), 0.0, *spoken))
    return found


def _spoken(book: OpenBook, topic: Topic, path: str) -> Spoken:
    page = book.text(path)
    return topic.spoken(page.levelled, page.lead) if page else Spoken(0.0, 0.0, 0.0)


def _searched(book: OpenBook, topic: Topic, corrected: str, found: Sequence[Found]) -> Searched:
    here = [one for one in found if one.book == book.book.id]
    words = (*topic.query.terms, *topic.query.focus)
    return Searched(
        book=book.book.id,
        words=tuple((term.word, round(book.rarity(term.word), 4)) for term in words),
        unknown=tuple(term.word for term in words if not book.knows(term.word)),
        corrected=corrected,
        pages=len(here),
        naming=sum(one.is_named for one in here),
    )
