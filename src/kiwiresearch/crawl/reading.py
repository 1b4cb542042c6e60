"""Reading pages for a crawl: what they show, and where they lead."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from kiwiresearch.crawl.candidate import Candidate
from kiwiresearch.crawl.filters import Filter
from kiwiresearch.crawl.links import Links, links_of
from kiwiresearch.crawl.meaning import Meanings
from kiwiresearch.crawl.novelty import MOST_CATEGORIES, paragraphs_of, sketch_of
from kiwiresearch.crawl.plan import Crawl
from kiwiresearch.crawl.points import points
from kiwiresearch.crawl.state import State
from kiwiresearch.crawl.step import Facts, Found
from kiwiresearch.crawl.topic import Places, Topic
from kiwiresearch.ids import BookId
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.search.query import parse
from kiwiresearch.text.words import level
from kiwiresearch.zim.entry import EntryRef

AT_HAND = 64
"""Pages that were looked at and put back are kept, in case they are taken soon."""


class Read(NamedTuple):
    """A page that was read, and where the topic's words are in it."""

    page: PageDoc
    levelled: str
    places: Places


class Reader:
    """Reads the pages of one crawl."""

    def __init__(self, crawl: Crawl, state: State) -> None:
        self._crawl = crawl
        self._state = state
        self._books = {book.book.id: book for book in crawl.books}
        self._topics: dict[BookId, Topic] = {}
        meant = f"{crawl.topic}. {crawl.focus}".strip(". ")
        embedder = None if crawl.settings.fast else crawl.embedder
        self._meanings = Meanings(embedder, meant) if embedder is not None else None
        self._at_hand: OrderedDict[EntryRef, Read] = OrderedDict()

    def read(self, ref: EntryRef) -> Read:
        if ref in self._at_hand:
            return self._at_hand.pop(ref)
        page = self._books[ref.book].page(ref.path)
        levelled = level(page.text)
        return Read(page, levelled, self.topic(ref.book).places(levelled))

    def keep(self, ref: EntryRef, read: Read) -> None:
        """Keep a page that may be wanted again soon."""
        self._at_hand[ref] = read
        if len(self._at_hand) > AT_HAND:
            self._at_hand.popitem(last=False)

    def facts(self, read: Read, candidate: Candidate) -> Facts:
        """What a page shows about itself and about the topic; of one that was read before, only copies may be new."""
        page = read.page
        if candidate.facts is not None:
            original = self._state.copies.original(candidate.facts.sketch, page.title, page.ref.book)
            return candidate.facts._replace(duplicate_of=original)
        spoken = self.topic(page.ref.book).spoken(read.levelled)
        meaning, vector = self._meanings.of(page.title, page.lead or page.text) if self._meanings else (0.0, "")
        sketch = sketch_of(paragraphs_of(page, read.levelled))
        return Facts(
            # A search result keeps what the search saw, which read the same page.
            named=max(spoken.named, candidate.named),
            page=max(spoken.page, candidate.page),
            focus=max(spoken.focus, candidate.focus),
            meaning=meaning,
            length=page.signals.length,
            references=page.signals.references,
            is_stub=page.signals.stub.holds,
            is_list=page.signals.list_page.holds,
            is_disambiguation=page.signals.disambiguation.holds,
            categories=page.categories[:MOST_CATEGORIES],
            sketch=sketch,
            vector=vector,
            duplicate_of=self._state.copies.original(sketch, page.title, page.ref.book),
            absent=read.places.absent,
        )

    def topic(self, book: BookId) -> Topic:
        """The topic in one book, as it was understood there."""
        if book not in self._topics:
            opened = self._books[book]
            begun = self._state.begun
            corrected = next((one.corrected for one in begun.searched if one.book == book), "") if begun else ""
            is_told = bool(self._crawl.aspect and begun)
            sought = f"{begun.head} {begun.aspect}" if begun and is_told else corrected or self._crawl.topic
            query = parse(sought, opened.language, self._crawl.focus)
            self._topics[book] = Topic.of(opened, query, begun.aspect if begun else "")
        return self._topics[book]

    def links(self, read: Read) -> Links:
        """The pages a page links to."""
        page = read.page
        book = self._books[page.ref.book]
        begun = self._state.begun
        judge = Filter.of(book, self._crawl.settings.filters, timeline=begun is not None and begun.timeline)
        links = links_of(
            page,
            book,
            read.places,
            judge,
            first_sections=self._crawl.settings.first_sections,
            interest=self._interest(page),
            self_links=self._crawl.settings.filters.self_links,
        )
        senses = begun.senses if begun is not None else ()
        offers = tuple(offer for offer in links.offers if offer.title not in senses)
        dropped = len(links.offers) - len(offers)
        if not dropped:
            return links
        return Links(offers, (*links.refused, ("another sense of the name", dropped)), links.targets - dropped)

    def _interest(self, page: PageDoc) -> tuple[float, ...]:
        """How much the links of each section of a page count: more where it is about what is asked for."""
        aspect = self.topic(page.ref.book).aspect
        if aspect is None:
            return (1.0,) * len(page.sections)
        worth = points()["link_context"]
        is_on = [aspect.names_any(page.headings(number)) for number in range(len(page.sections))]
        return tuple(worth["on_aspect"] if on else worth["off_aspect"] for on in is_on)

    def with_meanings(self, found: tuple[Found, ...]) -> tuple[Found, ...]:
        """What the search found, with how like in meaning each page is to the topic."""
        if self._meanings is None:
            return found
        texts = [self._books[one.book].text(one.path) for one in found]
        pages = [(one.title, text.text[text.lead :] if text else "") for one, text in zip(found, texts, strict=True)]
        likeness = self._meanings.likeness(pages)
        return tuple(one._replace(meaning=meaning) for one, meaning in zip(found, likeness, strict=True))
