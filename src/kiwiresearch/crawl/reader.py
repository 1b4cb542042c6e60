"""Reads the pages of a crawl: how they relate to the topic, and where they link to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from kiwiresearch.crawl.frontier import CrawlCandidate
from kiwiresearch.crawl.links import LinkFilter, PageLinks, links_of
from kiwiresearch.crawl.novelty import MAX_CATEGORIES, sketch_of, vector_to_text
from kiwiresearch.crawl.score import LINKS
from kiwiresearch.crawl.state import CrawlPlan, CrawlState
from kiwiresearch.crawl.step import FoundPage, PageFacts
from kiwiresearch.crawl.topic import Topic, TopicPlaces
from kiwiresearch.ids import BookId
from kiwiresearch.page import PageDoc
from kiwiresearch.search import parse_query, title_and_lead
from kiwiresearch.text import plain_lower
from kiwiresearch.zim import EntryRef

if TYPE_CHECKING:
    from kiwiresearch.embed import Embedder, Vectors


class TopicMeaning:
    """Compares the vectors of pages with the topic's.

    If the embedder fails mid-crawl, the crawl ends: continuing without vectors would make it a different kind of run.
    """

    def __init__(self, embedder: Embedder, topic: str) -> None:
        self._embedder = embedder
        self._topic = topic
        self._topic_vector: Vectors | None = None

    def compare(self, pages: Sequence[tuple[str, str]]) -> list[tuple[float, str]]:
        """For each title and text, how similar its beginning is to the topic, and its vector as text."""
        from kiwiresearch.embed import similarity

        if not pages:
            return []
        if self._topic_vector is None:
            self._topic_vector = self._embedder.embed([self._topic])[0]
        vectors = self._embedder.embed([title_and_lead(title, text) for title, text in pages])
        similarities = similarity(self._topic_vector, vectors)
        return [(round(float(like), 4), vector_to_text(row)) for like, row in zip(similarities, vectors, strict=True)]


MAX_CACHED_PAGES = 64
"""Pages that were read and put back are cached, as they may be visited soon."""


class CrawledPage(NamedTuple):
    """A page that was read, its text in plain lower case, and where the topic's words are in it."""

    page: PageDoc
    lowered: str
    places: TopicPlaces


class CrawlReader:
    """Reads the pages of one crawl."""

    def __init__(self, plan: CrawlPlan, state: CrawlState) -> None:
        self._plan = plan
        self._state = state
        self._books = {book.id: book for book in plan.books}
        self._topics: dict[BookId, Topic] = {}
        topic_text = f"{plan.topic}. {plan.focus}".strip(". ")
        embedder = None if plan.settings.fast else plan.embedder
        self._meanings = TopicMeaning(embedder, topic_text) if embedder is not None else None
        self._cache: OrderedDict[EntryRef, CrawledPage] = OrderedDict()

    def read(self, ref: EntryRef) -> CrawledPage:
        """Read a page; a cached one is returned and removed from the cache."""
        if ref in self._cache:
            # Removed, because a page is read at most twice: when it is put back, and when it is visited.
            return self._cache.pop(ref)
        page = self._books[ref.book].page(ref.path)
        lowered = plain_lower(page.text)
        return CrawledPage(page, lowered, self.topic(ref.book).places(lowered))

    def put_in_cache(self, ref: EntryRef, crawled: CrawledPage) -> None:
        self._cache[ref] = crawled
        if len(self._cache) > MAX_CACHED_PAGES:
            self._cache.popitem(last=False)

    def facts(self, crawled: CrawledPage, candidate: CrawlCandidate) -> PageFacts:
        """The facts about a page and the topic on it; on a second reading, only `duplicate_of` can have changed."""
        page = crawled.page
        if candidate.facts is not None:
            duplicate_of = self._state.near_duplicates.duplicate_of(candidate.facts.sketch, page.title, page.ref.book)
            return candidate.facts._replace(duplicate_of=duplicate_of)
        shares = self.topic(page.ref.book).shares_in(crawled.lowered)
        meaning, vector = 0.0, ""
        if self._meanings:
            ((meaning, vector),) = self._meanings.compare([(page.title, page.lead or page.text)])
        sketch = sketch_of(page, crawled.lowered)
        return PageFacts(
            # The search has read the same page, and may have seen more of it.
            name_share=max(shares.name_share, candidate.name_share),
            word_share=max(shares.word_share, candidate.word_share),
            focus_share=max(shares.focus_share, candidate.focus_share),
            meaning=meaning,
            length=page.signals.length,
            references=page.signals.references,
            is_stub=page.signals.stub.holds,
            is_list=page.signals.list_page.holds,
            is_disambiguation=page.signals.disambiguation.holds,
            categories=page.categories[:MAX_CATEGORIES],
            sketch=sketch,
            vector=vector,
            duplicate_of=self._state.near_duplicates.duplicate_of(sketch, page.title, page.ref.book),
            absent=crawled.places.absent,
        )

    def topic(self, book: BookId) -> Topic:
        """The topic as it is understood in one book."""
        if book not in self._topics:
            opened = self._books[book]
            start = self._state.started
            text, aspect = self._plan.topic, ""
            if start:
                text = (
                    next(
                        (searched_book.corrected for searched_book in start.searched if searched_book.book == book), ""
                    )
                    or text
                )
                aspect = start.aspect
                if self._plan.aspect:
                    text = f"{start.head} {aspect}"
            self._topics[book] = Topic.of(opened, parse_query(text, opened.language, self._plan.focus), aspect)
        return self._topics[book]

    def links(self, crawled: CrawledPage) -> PageLinks:
        """The pages a page links to."""
        page, start = crawled.page, self._state.started
        book, settings = self._books[page.ref.book], self._plan.settings
        links = links_of(
            page,
            book,
            crawled.places,
            LinkFilter.of(book, settings.filters, timeline=start is not None and start.timeline),
            first_sections=settings.first_sections,
            section_weights=self._section_weights(page),
            self_links=settings.filters.self_links,
        )
        senses = start.senses if start is not None else ()
        offers = tuple(offer for offer in links.offers if offer.title not in senses)
        dropped = len(links.offers) - len(offers)
        if not dropped:
            return links
        return PageLinks(offers, (*links.refused, ("another sense of the name", dropped)), links.targets - dropped)

    def _section_weights(self, page: PageDoc) -> tuple[float, ...]:
        """How much the links of each section count: more if it is about the requested aspect."""
        aspect = self.topic(page.ref.book).aspect
        if aspect is None:
            return (1.0,) * len(page.sections)
        is_on = [aspect.names_any(page.headings(index)) for index in range(len(page.sections))]
        return tuple(LINKS["on_aspect"] if on else LINKS["off_aspect"] for on in is_on)

    def with_meanings(self, found: tuple[FoundPage, ...]) -> tuple[FoundPage, ...]:
        """The pages found, with how similar in meaning each is to the topic."""
        if self._meanings is None:
            return found
        texts = [self._books[page.book].text(page.path) for page in found]
        pages = [
            (found_page.title, text.text[text.lead :] if text else "")
            for found_page, text in zip(found, texts, strict=True)
        ]
        compared = self._meanings.compare(pages)
        return tuple(
            found_page._replace(meaning=meaning) for found_page, (meaning, _) in zip(found, compared, strict=True)
        )
