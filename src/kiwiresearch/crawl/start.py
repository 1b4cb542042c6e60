"""The start of a crawl: the topic is searched, and seeds are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kiwiresearch.crawl.links import LinkFilter, asks_for_timeline
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.crawl.step import FoundPage, SearchedBook, SeedChoice, StartStep
from kiwiresearch.crawl.subject import TopicSubject, is_disambiguation_hit, read_subject
from kiwiresearch.crawl.topic import Topic, TopicShares
from kiwiresearch.ids import BookId
from kiwiresearch.messages import Message
from kiwiresearch.search import (
    MAX_BOOKS,
    Hit,
    OpenBook,
    SearchHelpers,
    SearchOptions,
    SearchResult,
    parse_query,
    search_books,
)
from kiwiresearch.text import TITLE_QUALIFIER
from kiwiresearch.zim import EntryRef

MIN_SEED_SHARE = 0.7
"""A page below this share of the best score is not a seed, unless the topic names it."""

ENOUGH_COVERAGE = 0.5
"""If the best page's title covers this share of the topic's names, pages that match by score alone are not seeds."""

MAX_PASSED_OVER = 8
"""How many of the pages that are not seeds are reported."""


@dataclass(frozen=True, slots=True)
class _SeedCandidate:
    """A hit, and how it matches the topic."""

    hit: Hit
    lists_senses: bool
    is_topic: bool
    """Its name is the topic."""
    is_sense: bool
    names: frozenset[str]
    """The words of its name, if they are all from the topic's names."""
    coverage: float

    @classmethod
    def of(cls, hit: Hit, topic: Topic, senses: frozenset[EntryRef]) -> _SeedCandidate:
        signals = {term.signal for term in hit.score.terms}
        name = hit.alias or hit.title
        coverage = topic.covered_by(name)
        is_sense = hit.ref in senses
        qualifier = TITLE_QUALIFIER.search(name)
        # 'children of Queen Victoria' does not name 'Queen (band)', but the topic 'Queen' may mean it.
        if qualifier and coverage < 1 and not topic.has_all(qualifier[1]):
            coverage = 0.0
        names = topic.name_stems(name) if coverage else frozenset()
        return cls(hit, is_disambiguation_hit(hit), "title is the query" in signals, is_sense, names, coverage)


def choose_seeds(
    results: SearchResult,
    topics: Mapping[BookId, Topic],
    max_seeds: int,
    refused: Mapping[EntryRef, str],
    subject: TopicSubject,
) -> tuple[tuple[SeedChoice, ...], tuple[SeedChoice, ...]]:
    """One to three seeds, and the pages that were passed over, each with the reason.

    The pages of the topic's subject come first; if there are none, exact titles,
    then redirects, then close matches. A disambiguation page is never a seed,
    but its entries are. A topic with two names has a seed for both. A page that
    the filters refuse is a seed only if its title is the topic.
    """
    senses = frozenset(sense.ref for sense in results.senses)
    pages = [_SeedCandidate.of(hit, topics[hit.ref.book], senses) for hit in results.hits]
    fit = [page for page in pages if not page.lists_senses and (page.hit.ref not in refused or page.is_topic)]
    chosen = _by_subject(fit, subject)[:max_seeds] or _by_match(fit, max_seeds)
    topic_pages = {hit.ref for hit in subject.topic_pages}
    others = {hit.ref for hit in subject.other_pages}
    seeds = tuple(
        _choice(
            page,
            _why(page, is_first=index == 0, is_other=page.hit.ref in others),
            page.coverage,
            is_topic_page=page.hit.ref in topic_pages,
        )
        for index, page in enumerate(chosen)
    )
    passed_over = [page for page in pages if page not in chosen][:MAX_PASSED_OVER]
    whys = [refused.get(page.hit.ref) or _why_not(page, seeds, max_seeds) for page in passed_over]
    return seeds, tuple(_choice(page, why) for page, why in zip(passed_over, whys, strict=True))


def _by_subject(pages: Sequence[_SeedCandidate], subject: TopicSubject) -> list[_SeedCandidate]:
    """The most likely page about the subject in each book, then the pages about other things the topic names."""
    by_ref = {page.hit.ref: page for page in pages}
    chosen: list[_SeedCandidate] = []
    for hit in subject.topic_pages:
        page = by_ref.get(hit.ref)
        if page is not None and page.hit.ref.book not in {candidate.hit.ref.book for candidate in chosen}:
            chosen.append(page)
    return chosen + [by_ref[hit.ref] for hit in subject.other_pages if hit.ref in by_ref]


def _by_match(pages: Sequence[_SeedCandidate], max_seeds: int) -> list[_SeedCandidate]:
    if not pages:
        return []
    best = pages[0]
    chosen, covered = [best], set(best.names)
    if best.is_topic and not best.is_sense:
        for page in pages[1:]:
            if page.is_topic and page.hit.ref.book not in {candidate.hit.ref.book for candidate in chosen}:
                chosen.append(page)
        return chosen[:max_seeds]
    for page in pages[1:]:
        if page.names and not page.names <= covered:
            chosen.append(page)
            covered |= page.names
    chosen += [page for page in pages[1:] if page.is_sense and page not in chosen]
    if best.coverage < ENOUGH_COVERAGE and len(chosen) < max_seeds:
        close = MIN_SEED_SHARE * best.hit.score.total
        chosen += [page for page in pages[1:] if page not in chosen and page.hit.score.total >= close]
    return chosen[:max_seeds]


def _why(page: _SeedCandidate, *, is_first: bool, is_other: bool) -> Message:
    alias = page.hit.alias
    if page.is_sense:
        return Message("one of the meanings of the topic's name", "seed.sense")
    if page.is_topic and alias:
        return Message(f"{alias!r} is another name for it and matches the topic", "seed.alias_is", alias=alias)
    if page.is_topic:
        return Message("its title matches the topic", "seed.title_is")
    if (page.coverage or is_other) and alias:
        return Message(f"{alias!r} is another name for it and is part of the topic", "seed.alias_in", alias=alias)
    if page.coverage or is_other:
        return Message("its title is part of the topic", "seed.title_in")
    if is_first:
        return Message("it matches the topic best", "seed.best")
    return Message("it matches the topic almost as well", "seed.near")


def _why_not(page: _SeedCandidate, seeds: Sequence[SeedChoice], max_seeds: int) -> str:
    if page.lists_senses:
        return "it only lists meanings"
    if not seeds:
        return "it matches too little"
    if page.hit.score.total < MIN_SEED_SHARE * max(seed.score for seed in seeds):
        return "its score is far below the best"
    if len(seeds) >= max_seeds:
        return f"{max_seeds} starting pages are enough" if max_seeds > 1 else "one starting page is enough"
    return "a starting page already stands for the topic"


def _choice(page: _SeedCandidate, why: str, coverage: float = 0.0, *, is_topic_page: bool = False) -> SeedChoice:
    hit = page.hit
    return SeedChoice(hit.ref.book, hit.ref.path, hit.title, why, hit.score.total, coverage, is_topic_page)


MIN_READ = 55
MAX_READ = 240
"""How many search results are read: between these limits, growing with the page limit of the crawl."""

MAX_SUBJECT_HITS = 5
"""How many pages are looked at to find the one about a name that the topic contains."""
OPENING_CHARS = 400
"""Where a page names its subject: its first sentences."""
MIN_NAME_SHARE = 0.08
"""If the subject of the topic is known, a page must name it: a common word is not enough."""

MIN_TYPED_SHARE = 0.6
MIN_NAME_SHARE_BEYOND_HITS = 0.25
"""A page that is not among the hits is a candidate if it has at least this share of the topic's names."""


def start_crawl(
    books: Sequence[OpenBook],
    text: str,
    focus: str,
    settings: CrawlSettings,
    helpers: SearchHelpers | None = None,
    *,
    max_books: int = MAX_BOOKS,
    aspect: str = "",
) -> StartStep:
    """Search the topic in the most likely books, and choose the seeds; none if nothing was found.

    `aspect` is the aspect that the user requested, if any.
    """
    max_read = min(MAX_READ, MIN_READ + settings.max_pages // 8)
    options = SearchOptions(limit=max_read, focus=focus, max_books=max_books, read=max_read)
    understood = _understand(books, text, aspect, options, helpers)
    results, books, subject, topics = understood.results, understood.books, understood.subject, understood.topics
    timeline = asks_for_timeline(text, books[0].language if books else "eng")
    filters = {book.id: LinkFilter.of(book, settings.filters, timeline=timeline) for book in books}
    refused = {hit.ref: why for hit in results.hits if (why := filters[hit.ref.book].refusal(hit.ref.path, hit.title))}
    seeds, passed_over = choose_seeds(results, topics, settings.max_seeds, refused, subject)
    seed_refs = {seed.ref for seed in seeds}
    titles_of_senses = {hit.ref: hit.title for hit in subject.topic_pages if hit.ref not in seed_refs}
    # The senses of a search are those of all its words, which with an aspect are more than the name.
    if not subject.aspect:
        titles_of_senses |= {sense.ref: sense.title for sense in results.senses if sense.ref not in seed_refs}
    skipped = {hit.ref for hit in results.hits if settings.filters.disambiguation and is_disambiguation_hit(hit)}
    must_name = bool(subject.topic_pages) and subject.is_head_in_topic
    found = [
        page
        for page in _found_pages(books, topics, results) + _pages_naming_topic(books, topics, results, max_read)
        if page.ref in seed_refs
        or not (
            page.ref in titles_of_senses
            or page.ref in skipped  # it would offer the other senses again
            or (must_name and page.name_share < MIN_NAME_SHARE)
            or filters[page.book].refusal(page.path, page.title)
        )
    ]
    is_known = subject.is_head_in_topic and any(seed.is_topic_page for seed in seeds)
    # Nothing is better than pages about something else.
    if not is_known and not _is_about_topic(seeds, found, books, text):
        seeds, found = (), []
    return StartStep(
        topic=text,
        focus=focus,
        timeline=timeline,
        searched=tuple(_searched(book, topics[book.id], understood.corrected, found) for book in books),
        seeds=seeds,
        passed_over=passed_over,
        found=tuple(found),
        head=subject.head,
        aspect=subject.aspect,
        senses=tuple(dict.fromkeys(titles_of_senses.values())),
    )


class _UnderstoodTopic(NamedTuple):
    """What was searched for, and what the topic was understood to be."""

    results: SearchResult
    books: Sequence[OpenBook]
    """Those to crawl."""
    subject: TopicSubject
    topics: dict[BookId, Topic]
    corrected: str
    """The topic without typos; empty if it had none."""


def _understand(
    books: Sequence[OpenBook], text: str, aspect: str, options: SearchOptions, helpers: SearchHelpers | None
) -> _UnderstoodTopic:
    typed = f"{text} {aspect}".strip()
    results = search_books(books, typed, options, helpers)
    results, books = _with_other_books(results, books, typed, options, helpers)
    query = results.corrected or typed
    subject = _subject_of(results, books, text if aspect else query, aspect)
    known = {hit.ref for hit in results.hits}
    others = [hit for hit in (*subject.topic_pages, *subject.other_pages) if hit.ref not in known]
    # Pages of the subject that the search for the whole topic did not find are searched for alone, and join the hits.
    results = replace(results, hits=(*results.hits, *others))
    corrected = query if query != typed and not aspect else ""
    if aspect:  # the topic may name another aspect itself, which is not wanted now
        query = f"{subject.head} {aspect}"
    topics = {
        book.id: Topic.of(book, parse_query(query, book.language, options.focus), subject.aspect) for book in books
    }
    return _UnderstoodTopic(results, books, subject, topics, corrected)


def _subject_of(results: SearchResult, books: Sequence[OpenBook], topic: str, aspect: str) -> TopicSubject:
    language = books[0].language if books else "eng"
    options = SearchOptions(limit=MAX_SUBJECT_HITS, fast=True)
    by_id = {book.book.id: book for book in books}

    def opening_of(hit: Hit) -> str:
        page = by_id[hit.ref.book].text(hit.ref.path)
        return page.lowered[page.lead : page.lead + OPENING_CHARS] if page else ""

    subject = read_subject(
        parse_query(topic, language), results.hits, lambda name: search_books(books, name, options).hits, opening_of
    )
    return subject._replace(aspect=aspect) if aspect else subject


def _with_other_books(
    results: SearchResult, books: Sequence[OpenBook], text: str, options: SearchOptions, helpers: SearchHelpers | None
) -> tuple[SearchResult, list[OpenBook]]:
    """The search result and the books to crawl; if all books are wanted, the less relevant ones come last."""
    chosen = [book for book in books if book.id in results.books]
    if len(books) > options.max_books:
        return results, chosen or list(books)[: options.max_books]
    hits = list(results.hits)
    for book in books:
        if book not in chosen:
            hits += search_books([book], text, options, helpers).hits
    return replace(results, hits=tuple(hits)), list(books)


def _is_about_topic(
    seeds: Sequence[SeedChoice], found: Sequence[FoundPage], books: Sequence[OpenBook], text: str
) -> bool:
    """Whether anything is about the topic: a seed with its name, a page that names it, or one with most of its words.

    This means the words as typed: a far-fetched spelling correction is not what the user asked for.
    """
    if any(seed.coverage for seed in seeds) or any(page.is_named for page in found):
        return True
    by_id = {book.id: book for book in books}
    for seed in seeds:
        book = by_id[seed.book]
        page = book.text(seed.path)
        typed = Topic.of(book, parse_query(text, book.language))
        if page is not None and typed.word_share(page.lowered) >= MIN_TYPED_SHARE:
            return True
    return False


def _found_pages(books: Sequence[OpenBook], topics: dict[BookId, Topic], results: SearchResult) -> list[FoundPage]:
    """The hits of the search, with how much each is about the topic."""
    by_id = {book.id: book for book in books}
    top = max((hit.score.total for hit in results.hits), default=0.0) or 1.0
    found = []
    for place, hit in enumerate(results.hits):
        # If hits of several books were merged by rank, their scores cannot be compared.
        share = hit.score.total / top if results.order == "score" else 1 - place / len(results.hits)
        shares = _shares_of(by_id[hit.ref.book], topics[hit.ref.book], hit.ref.path)
        found.append(FoundPage(hit.ref.book, hit.ref.path, hit.title, round(max(0.0, share), 4), *shares))
    return found


def _pages_naming_topic(
    books: Sequence[OpenBook], topics: dict[BookId, Topic], results: SearchResult, max_pages: int
) -> list[FoundPage]:
    """Pages beyond the hits that name the topic."""
    known = {hit.ref for hit in results.hits}
    found = []
    for book in books:
        topic = topics[book.id]
        words = " ".join(term.word for term in topic.query.terms)
        if book.is_served or not words:  # each page would be a request to a server
            continue
        others = [path for path in book.pages_with(words, max_pages) if book.ref(path) not in known]
        book.prefetch_texts(others)
        for path in others:
            shares = _shares_of(book, topic, path)
            if shares.name_share >= MIN_NAME_SHARE_BEYOND_HITS:
                found.append(FoundPage(book.id, path, book.title(path), 0.0, *shares))
    return found


def _shares_of(book: OpenBook, topic: Topic, path: str) -> TopicShares:
    page = book.text(path)
    return topic.shares_in(page.lowered, page.lead) if page else TopicShares(0.0, 0.0, 0.0)


def _searched(book: OpenBook, topic: Topic, corrected: str, found: Sequence[FoundPage]) -> SearchedBook:
    here = [page for page in found if page.book == book.id]
    words = (*topic.query.terms, *topic.query.focus)
    return SearchedBook(
        book=book.id,
        words=tuple((term.word, round(book.rarity(term.word), 4)) for term in words),
        unknown_words=tuple(term.word for term in words if not book.knows(term.word)),
        corrected=corrected,
        found_pages=len(here),
        naming_pages=sum(page.is_named for page in here),
    )
