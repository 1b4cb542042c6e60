"""Where a crawl begins: the topic is searched, and seeds are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.crawl.links import LinkFilter, asks_for_timeline
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.crawl.step import FoundPage, SearchedBook, SeedChoice, StartStep
from kiwiresearch.crawl.subject import TopicSubject, is_disambiguation_hit, read_subject
from kiwiresearch.crawl.topic import Topic, TopicShares
from kiwiresearch.ids import BookId
from kiwiresearch.messages.message import Message
from kiwiresearch.search.find import MAX_BOOKS, Findings, SearchHelpers, SearchOptions, find
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import Hit, parse_query
from kiwiresearch.search.rank import QUALIFIER
from kiwiresearch.zim.archive import EntryRef

CLOSE = 0.7
"""A page with less of the best one's score is no seed, unless the topic names it."""

WELL_COVERED = 0.5
"""Where the best page is so much of what the topic names, pages that are only close to it are no seeds."""

PASSED_OVER = 8
"""Of the pages that were no seeds, so many are told."""


@dataclass(frozen=True, slots=True)
class _Page:
    """A hit, and how it matches the topic."""

    hit: Hit
    lists_senses: bool
    is_whole: bool
    """Its name is the topic."""
    is_sense: bool
    names: frozenset[str]
    """The words of the topic's names that are its own name, if it says nothing else."""
    coverage: float

    @classmethod
    def of(cls, hit: Hit, topic: Topic, senses: frozenset[EntryRef]) -> _Page:
        lines = {line.signal for line in hit.score.lines}
        name = hit.alias or hit.title
        coverage = topic.covered_by(name)
        is_sense = hit.ref in senses
        qualifier = QUALIFIER.search(name)
        # 'Queen (band)' is not what 'children of Queen Victoria' names; of a bare name it is a sense.
        if qualifier and coverage < 1 and not topic.has_all(qualifier[1]):
            coverage = 0.0
        names = topic.name_stems(name) if coverage else frozenset()
        return cls(hit, is_disambiguation_hit(hit), "title is the query" in lines, is_sense, names, coverage)


def choose_seeds(
    findings: Findings,
    topics: Mapping[BookId, Topic],
    most: int,
    refused: Mapping[EntryRef, str],
    understood: TopicSubject,
) -> tuple[tuple[SeedChoice, ...], tuple[SeedChoice, ...]]:
    """One to three seeds, and the pages that were passed over, each with the reason.

    Exact titles go before redirects, those before close matches; a page that
    only lists senses is never a seed, its senses are. A topic that names two
    things has both. What the filters refuse is a seed only if the topic is its
    very title. What the topic was understood as comes before all that.
    """
    senses = frozenset(sense.ref for sense in findings.senses)
    pages = [_Page.of(hit, topics[hit.ref.book], senses) for hit in findings.hits]
    fit = [page for page in pages if not page.lists_senses and (page.hit.ref not in refused or page.is_whole)]
    chosen = _by_subject(fit, understood)[:most] or _chosen(fit, most)
    heads = {hit.ref for hit in understood.head_pages}
    others = {hit.ref for hit in understood.other_pages}
    seeds = tuple(
        _considered(
            page,
            _why(page, is_first=number == 0, is_other=page.hit.ref in others),
            page.coverage,
            is_head=page.hit.ref in heads,
        )
        for number, page in enumerate(chosen)
    )
    passed = [page for page in pages if page not in chosen][:PASSED_OVER]
    whys = [refused.get(page.hit.ref) or _why_not(page, seeds, most) for page in passed]
    return seeds, tuple(_considered(page, Message(why)) for page, why in zip(passed, whys, strict=True))


def _by_subject(pages: Sequence[_Page], understood: TopicSubject) -> list[_Page]:
    """The page about the thing, in each book that has one; of several senses the likeliest. Then what else is named."""
    by_ref = {page.hit.ref: page for page in pages}
    chosen: list[_Page] = []
    for hit in understood.head_pages:
        page = by_ref.get(hit.ref)
        if page is not None and page.hit.ref.book not in {one.hit.ref.book for one in chosen}:
            chosen.append(page)
    return chosen + [by_ref[hit.ref] for hit in understood.other_pages if hit.ref in by_ref]


def _chosen(pages: Sequence[_Page], most: int) -> list[_Page]:
    if not pages:
        return []
    best = pages[0]
    chosen, covered = [best], set(best.names)
    if best.is_whole and not best.is_sense:
        for page in pages[1:]:
            if page.is_whole and page.hit.ref.book not in {one.hit.ref.book for one in chosen}:
                chosen.append(page)
        return chosen[:most]
    for page in pages[1:]:
        if page.names and not page.names <= covered:
            chosen.append(page)
            covered |= page.names
    chosen += [page for page in pages[1:] if page.is_sense and page not in chosen]
    if best.coverage < WELL_COVERED and len(chosen) < most:
        close = CLOSE * best.hit.score.total
        chosen += [page for page in pages[1:] if page not in chosen and page.hit.score.total >= close]
    return chosen[:most]


def _why(page: _Page, *, is_first: bool, is_other: bool) -> Message:
    alias = page.hit.alias
    if page.is_sense:
        return Message("one of the senses of the topic's name", "seed.sense")
    if page.is_whole and alias:
        return Message(f"{alias!r} leads to it, and is the topic", "seed.alias_is", alias=alias)
    if page.is_whole:
        return Message("its title is the topic", "seed.title_is")
    if (page.coverage or is_other) and alias:
        return Message(f"{alias!r} leads to it, and stands in the topic", "seed.alias_in", alias=alias)
    if page.coverage or is_other:
        return Message("its title stands in the topic", "seed.title_in")
    if is_first:
        return Message("it matches the topic's words best", "seed.best")
    return Message("it matches the topic's words nearly as well", "seed.near")


def _why_not(page: _Page, seeds: Sequence[SeedChoice], most: int) -> str:
    if page.lists_senses:
        return "it only lists senses"
    if not seeds:
        return "it matches too little"
    if page.hit.score.total < CLOSE * max(seed.score for seed in seeds):
        return "its score is far from the best"
    if len(seeds) >= most:
        return f"{most} seeds are enough" if most > 1 else "one seed is enough"
    return "a seed stands for the topic"


def _considered(page: _Page, why: Message, coverage: float = 0.0, *, is_head: bool = False) -> SeedChoice:
    hit = page.hit
    return SeedChoice(hit.ref.book, hit.ref.path, hit.title, why, hit.score.total, coverage, is_head)


MIN_READ = 55
MAX_READ = 240
"""How many search results are read, by how many pages the crawl may take."""

OWNERS = 5
MIN_NAMED = 0.08
"""Where it is known what the topic is about, a page must name it: a common word is not enough."""

MOST = 0.6
NAMING = 0.25
"""A page outside the search's best is a candidate if so much of the topic stands together on it."""


def start_crawl(
    books: Sequence[OpenBook],
    text: str,
    focus: str,
    settings: CrawlSettings,
    advice: SearchHelpers | None = None,
    *,
    max_books: int = MAX_BOOKS,
    aspect: str = "",
) -> StartStep:
    """Search the topic in the likeliest books, and choose where to begin; no seeds if nothing was found.

    `aspect` is the side of the topic that is wanted, where the user says so.
    """
    read = min(MAX_READ, MIN_READ + settings.max_pages // 8)
    wish = SearchOptions(limit=read, focus=focus, max_books=max_books, read=read)
    sought = f"{text} {aspect}".strip()
    findings = find(books, sought, wish, advice)
    findings, books = _with_other_books(findings, books, sought, wish, advice)
    asked = findings.corrected or sought
    what = _subject_of(findings, books, text if aspect else asked, aspect)
    known = {hit.ref for hit in findings.hits}
    others = [hit for hit in (*what.head_pages, *what.other_pages) if hit.ref not in known]
    findings = replace(findings, hits=(*findings.hits, *others))
    if aspect:  # the topic may ask for another side by itself, which is not wanted now
        asked = f"{what.head} {aspect}"
    topics = {book.book.id: Topic.of(book, parse_query(asked, book.language, focus), what.aspect) for book in books}
    timeline = asks_for_timeline(text, books[0].language if books else "eng")
    filters = {book.book.id: LinkFilter.of(book, settings.filters, timeline=timeline) for book in books}
    refused = {hit.ref: why for hit in findings.hits if (why := filters[hit.ref.book].refusal(hit.ref.path, hit.title))}
    seeds, passed = choose_seeds(findings, topics, settings.max_seeds, refused, what)
    kept = {seed.ref for seed in seeds}
    senses = {hit.ref: hit.title for hit in what.head_pages if hit.ref not in kept}
    if not what.aspect:
        senses |= {sense.ref: sense.title for sense in findings.senses if sense.ref not in kept}
    listing = {hit.ref for hit in findings.hits if settings.filters.disambiguation and is_disambiguation_hit(hit)}
    found = [
        one
        for one in _found(books, topics, findings) + _naming(books, topics, findings, read)
        if one.ref in kept
        or not (
            one.ref in senses
            or one.ref in listing  # it would offer the other senses again
            or (what.head_pages and what.is_head_in_topic and one.named < MIN_NAMED)
            or filters[one.book].refusal(one.path, one.title)
        )
    ]
    is_known = what.is_head_in_topic and any(seed.is_head for seed in seeds)
    if not is_known and not _is_about(seeds, found, books, text):
        seeds, found = (), []
    return StartStep(
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


def _subject_of(findings: Findings, books: Sequence[OpenBook], topic: str, aspect: str) -> TopicSubject:
    language = books[0].language if books else "eng"
    owner = SearchOptions(limit=OWNERS, fast=True)
    what = read_subject(parse_query(topic, language), findings.hits, lambda name: find(books, name, owner).hits)
    return what._replace(aspect=aspect) if aspect else what


def _with_other_books(
    findings: Findings, books: Sequence[OpenBook], text: str, wish: SearchOptions, advice: SearchHelpers | None
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


def _is_about(seeds: Sequence[SeedChoice], found: Sequence[FoundPage], books: Sequence[OpenBook], text: str) -> bool:
    """Whether anything speaks of the topic: a seed of its name, a page that names it, or one that holds most of it.

    Most of it as it was typed: what was mended beyond recognition is not what was asked for.
    """
    if any(seed.coverage for seed in seeds) or any(one.is_named for one in found):
        return True
    by_id = {book.book.id: book for book in books}
    for seed in seeds:
        book = by_id[seed.book]
        page = book.text(seed.path)
        if page is not None and Topic.of(book, parse_query(text, book.language)).word_share(page.lowered) >= MOST:
            return True
    return False


def _found(books: Sequence[OpenBook], topics: dict[BookId, Topic], findings: Findings) -> list[FoundPage]:
    """The search's own hits, with how much each is about the topic."""
    by_id = {book.book.id: book for book in books}
    top = max((hit.score.total for hit in findings.hits), default=0.0) or 1.0
    found = []
    for place, hit in enumerate(findings.hits):
        # Where books of different kinds were fused by rank, their scores cannot be compared.
        share = hit.score.total / top if findings.order == "score" else 1 - place / len(findings.hits)
        spoken = _spoken(by_id[hit.ref.book], topics[hit.ref.book], hit.ref.path)
        found.append(FoundPage(hit.ref.book, hit.ref.path, hit.title, round(max(0.0, share), 4), *spoken))
    return found


def _naming(books: Sequence[OpenBook], topics: dict[BookId, Topic], findings: Findings, most: int) -> list[FoundPage]:
    """Pages beyond the hits on which the topic's words stand together."""
    known = {hit.ref for hit in findings.hits}
    found = []
    for book in books:
        topic = topics[book.book.id]
        words = " ".join(term.word for term in topic.query.terms)
        if book.is_served or not words:  # a server would be asked for every page
            continue
        others = [path for path in book.pages_with(words, most) if book.ref(path) not in known]
        book.prefetch_texts(others)
        for path in others:
            spoken = _spoken(book, topic, path)
            if spoken.named >= NAMING:
                found.append(FoundPage(book.book.id, path, book.title(path), 0.0, *spoken))
    return found


def _spoken(book: OpenBook, topic: Topic, path: str) -> TopicShares:
    page = book.text(path)
    return topic.shares_in(page.lowered, page.lead) if page else TopicShares(0.0, 0.0, 0.0)


def _searched(book: OpenBook, topic: Topic, corrected: str, found: Sequence[FoundPage]) -> SearchedBook:
    here = [one for one in found if one.book == book.book.id]
    words = (*topic.query.terms, *topic.query.focus)
    return SearchedBook(
        book=book.book.id,
        words=tuple((term.word, round(book.rarity(term.word), 4)) for term in words),
        unknown=tuple(term.word for term in words if not book.knows(term.word)),
        corrected=corrected,
        pages=len(here),
        naming=sum(one.is_named for one in here),
    )
