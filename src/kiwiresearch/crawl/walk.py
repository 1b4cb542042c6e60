"""The crawl: each step is decided by what the steps before it have brought."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import ceil
from typing import NamedTuple

from kiwiresearch.crawl.frontier import (
    MAX_CATEGORIES,
    CrawlCandidate,
    TopicMeaning,
    crawl_points,
    paragraphs_of,
    sketch_of,
)
from kiwiresearch.crawl.links import LinkFilter, PageLinks, links_of, ranked_offers
from kiwiresearch.crawl.start import start_crawl
from kiwiresearch.crawl.state import CrawlPlan, CrawlState
from kiwiresearch.crawl.step import (
    CrawlStep,
    EndStep,
    FoundPage,
    LearnStep,
    LinkOffer,
    LookStep,
    PageFacts,
    StartStep,
    VisitStep,
)
from kiwiresearch.crawl.topic import Topic, TopicPlaces, words_near_topic
from kiwiresearch.errors import PageNotFound, RedirectLoop
from kiwiresearch.ids import BookId
from kiwiresearch.messages.message import Message
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.search.interpretation import first_line
from kiwiresearch.search.query import parse_query, points_text, score_terms
from kiwiresearch.text.words import plain_lower
from kiwiresearch.zim.archive import EntryRef

PAGES_KEPT = 64
"""Pages that were looked at and put back are kept, in case they are taken soon."""


class CrawledPage(NamedTuple):
    """A page that was read, and where the topic's words are in it."""

    page: PageDoc
    levelled: str
    places: TopicPlaces


class CrawlReader:
    """Reads the pages of one crawl."""

    def __init__(self, crawl: CrawlPlan, state: CrawlState) -> None:
        self._crawl = crawl
        self._state = state
        self._books = {book.book.id: book for book in crawl.books}
        self._topics: dict[BookId, Topic] = {}
        meant = f"{crawl.topic}. {crawl.focus}".strip(". ")
        embedder = None if crawl.settings.fast else crawl.embedder
        self._meanings = TopicMeaning(embedder, meant) if embedder is not None else None
        self._at_hand: OrderedDict[EntryRef, CrawledPage] = OrderedDict()

    def read(self, ref: EntryRef) -> CrawledPage:
        if ref in self._at_hand:
            return self._at_hand.pop(ref)
        page = self._books[ref.book].page(ref.path)
        levelled = plain_lower(page.text)
        return CrawledPage(page, levelled, self.topic(ref.book).places(levelled))

    def keep(self, ref: EntryRef, read: CrawledPage) -> None:
        """Keep a page that may be wanted again soon."""
        self._at_hand[ref] = read
        if len(self._at_hand) > PAGES_KEPT:
            self._at_hand.popitem(last=False)

    def facts(self, read: CrawledPage, candidate: CrawlCandidate) -> PageFacts:
        """What a page shows about itself and about the topic; of one that was read before, only copies may be new."""
        page = read.page
        if candidate.facts is not None:
            original = self._state.copies.original(candidate.facts.sketch, page.title, page.ref.book)
            return candidate.facts._replace(duplicate_of=original)
        spoken = self.topic(page.ref.book).shares_in(read.levelled)
        meaning, vector = self._meanings.of(page.title, page.lead or page.text) if self._meanings else (0.0, "")
        sketch = sketch_of(paragraphs_of(page, read.levelled))
        return PageFacts(
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
            categories=page.categories[:MAX_CATEGORIES],
            sketch=sketch,
            vector=vector,
            duplicate_of=self._state.copies.original(sketch, page.title, page.ref.book),
            absent=read.places.absent,
        )

    def topic(self, book: BookId) -> Topic:
        """The topic in one book, as it was understood there."""
        if book not in self._topics:
            opened = self._books[book]
            begun = self._state.started
            corrected = next((one.corrected for one in begun.searched if one.book == book), "") if begun else ""
            is_told = bool(self._crawl.aspect and begun)
            sought = f"{begun.head} {begun.aspect}" if begun and is_told else corrected or self._crawl.topic
            query = parse_query(sought, opened.language, self._crawl.focus)
            self._topics[book] = Topic.of(opened, query, begun.aspect if begun else "")
        return self._topics[book]

    def links(self, read: CrawledPage) -> PageLinks:
        """The pages a page links to."""
        page = read.page
        book = self._books[page.ref.book]
        begun = self._state.started
        judge = LinkFilter.of(book, self._crawl.settings.filters, timeline=begun is not None and begun.timeline)
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
        return PageLinks(offers, (*links.refused, ("another sense of the name", dropped)), links.targets - dropped)

    def _interest(self, page: PageDoc) -> tuple[float, ...]:
        """How much the links of each section of a page count: more where it is about what is asked for."""
        aspect = self.topic(page.ref.book).aspect
        if aspect is None:
            return (1.0,) * len(page.sections)
        worth = crawl_points()["link_context"]
        is_on = [aspect.names_any(page.headings(number)) for number in range(len(page.sections))]
        return tuple(worth["on_aspect"] if on else worth["off_aspect"] for on in is_on)

    def with_meanings(self, found: tuple[FoundPage, ...]) -> tuple[FoundPage, ...]:
        """What the search found, with how like in meaning each page is to the topic."""
        if self._meanings is None:
            return found
        texts = [self._books[one.book].text(one.path) for one in found]
        pages = [(one.title, text.text[text.lead :] if text else "") for one, text in zip(found, texts, strict=True)]
        likeness = self._meanings.likeness(pages)
        return tuple(one._replace(meaning=meaning) for one, meaning in zip(found, likeness, strict=True))


OPENING = 300
MIN_POINTS = 15.0
"""A page that has fewer by its relevance and its links has next to nothing to do with the topic."""

ENOUGH_WEAK = 8
"""After so many of them in a row nothing better is to be hoped for."""

LOOKS = 2
"""Pages read and put back, for each page that may be taken; after that the best is taken as it comes."""


@dataclass(frozen=True, slots=True)
class CrawlMove:
    """A step, and the page that was taken with it, if one was."""

    step: CrawlStep
    page: PageDoc | None = None


def walk(crawl: CrawlPlan, past: Iterable[CrawlStep] = ()) -> Iterator[CrawlMove]:
    """Crawl from a topic until the pages or the candidates run out; `past` steps are not done again."""
    walker = Walker(crawl)
    walker.state.replay(past)
    while walker.state.ended is None:
        move = walker.next()
        walker.state.apply(move.step)
        yield move


class Walker:
    """Decides the next step from the state, and reads what it needs for it from the books."""

    def __init__(self, crawl: CrawlPlan) -> None:
        self._crawl = crawl
        self._settings = crawl.settings
        self._books = {book.book.id: book for book in crawl.books}
        languages: dict[str, str] = {book.book.id: book.language for book in crawl.books}
        self.state = CrawlState(crawl.settings, languages, crawl.standing)
        self._reader = CrawlReader(crawl, self.state)

    def next(self) -> CrawlMove:
        state = self.state
        if state.started is None:
            return CrawlMove(self._begin())
        most = self._settings.max_pages
        if len(state.visited) >= most:
            return self._end(Message(f"max_pages ({most}) was reached", "ended.full", n=most))
        if state.is_learning_due():
            return CrawlMove(self._learn())
        candidate = self._seed() or self._best()
        if candidate is None:
            return self._end(self._why_none())
        if not candidate.seed and state.weak >= ENOUGH_WEAK:
            return self._end(Message("nothing nearer to the topic was left", "ended.weak"))
        return self._look_at(candidate)

    def _begin(self) -> StartStep:
        crawl = self._crawl
        begun = start_crawl(
            crawl.books,
            crawl.topic,
            crawl.focus,
            crawl.settings,
            crawl.advice,
            max_books=crawl.max_books,
            aspect=crawl.aspect,
        )
        return replace(begun, found=self._reader.with_meanings(begun.found))

    def _end(self, why: Message) -> CrawlMove:
        return CrawlMove(EndStep(why, len(self.state.frontier)))

    def _why_none(self) -> Message:
        if not self.state.visited:
            return Message("nothing was found to begin with", "ended.nothing")
        if self._settings.max_depth == 0:
            return Message("max_depth is 0, so that only the seeds were wanted", "ended.flat")
        return Message("there were no more candidates", "ended.all")

    def _seed(self) -> CrawlCandidate | None:
        return self.state.frontier.get(self.state.seeds[0]) if self.state.seeds else None

    def _best(self) -> CrawlCandidate | None:
        """The best candidate; by depth, the best of the lowest level that has room."""
        frontier = self.state.frontier
        if self._settings.strategy == "priority":
            return frontier.best()
        levels = frontier.levels()
        seeds = self.state.at_depth[0]
        room = ceil(max(1, self._settings.max_pages - seeds) / max(1, self._settings.max_depth))
        level = next((level for level in levels if self.state.at_depth[level] < room), levels[0] if levels else 0)
        return frontier.best(level)

    def _look_at(self, candidate: CrawlCandidate) -> CrawlMove:
        """Read the best candidate, and take it, if what the page shows does not put it behind another."""
        state, ref = self.state, candidate.ref
        try:
            read = self._reader.read(ref)
        except (PageNotFound, RedirectLoop) as problem:
            return CrawlMove(_gone(candidate, f"it cannot be read: {problem.message}"))
        page = read.page
        if page.ref != ref:
            return CrawlMove(self._leading(candidate, page))
        facts = self._reader.facts(read, candidate)
        if facts.is_disambiguation and self._settings.filters.disambiguation:
            return CrawlMove(self._senses(candidate, read, facts))
        if facts.is_list and self._settings.filters.lists == "exclude":
            return CrawlMove(_gone(candidate, "it is a list page", facts))
        known = _with(candidate, facts)
        rival = None if candidate.seed else self._rival(candidate)
        score = state.score(known)
        may_go_back = candidate.facts != facts and state.looks < LOOKS * self._settings.max_pages
        if rival is not None and may_go_back and self._goes_before(rival, known):
            self._reader.keep(ref, read)
            why = score_terms([line for line in score.lines if line.points < 0]) or "what it says"
            unread = " and is not read yet" if state.expected_points(rival) > state.points(rival) else ""
            has = f"{rival.title!r} has {points_text(state.points(rival))}{unread}"
            why = f"{why}: {points_text(score.total)} points now, {has}"
            return CrawlMove(LookStep(ref.book, ref.path, candidate.title, why, gone=False, facts=facts))
        if not candidate.seed and state.nearness(known) < MIN_POINTS:
            why = "it has next to nothing to do with the topic"
            return CrawlMove(LookStep(ref.book, ref.path, candidate.title, why, gone=True, facts=facts, is_weak=True))
        return self._take(candidate, read, facts, rival)

    def _take(
        self, candidate: CrawlCandidate, read: CrawledPage, facts: PageFacts, rival: CrawlCandidate | None
    ) -> CrawlMove:
        """Take a page, and offer its links."""
        state, ref, page = self.state, candidate.ref, read.page
        known = _with(candidate, facts)
        links = self._reader.links(read)
        is_expanded = candidate.depth < self._settings.max_depth
        known_before = sum(state.is_known(EntryRef(ref.book, offer.path)) for offer in links.offers)
        offers = self._ranked(ref.book, links, self._settings.max_links_per_page if is_expanded else 0)
        book = self._books[ref.book]
        step = VisitStep(
            book=ref.book,
            path=ref.path,
            page_id=page.id,
            title=page.title,
            url=page.url,
            opening=first_line(page, OPENING),
            depth=candidate.depth,
            reason=candidate.reason(),
            lines=state.score(known).lines,
            relevance=state.relevance(known),
            runner_up=f"{rival.title} {points_text(state.points(rival))}" if rival else "",
            facts=facts,
            branch=state.branch_of(known),
            words=words_near_topic(read.levelled, page.sentences, read.places, book.language),
            links=links.targets,
            offers=offers,
            refused=_with_surplus(links, offers, known_before) if is_expanded else links.refused,
        )
        return CrawlMove(step, page)

    def _goes_before(self, rival: CrawlCandidate, known: CrawlCandidate) -> bool:
        """Whether another candidate is to be looked at first, now that this one's page is known."""
        if self._settings.strategy == "bfs" and rival.depth != known.depth:
            return rival.depth < known.depth
        mine = (-self.state.expected_points(known), known.depth, known.ref)
        return (-self.state.expected_points(rival), rival.depth, rival.ref) < mine

    def _leading(self, candidate: CrawlCandidate, page: PageDoc) -> LookStep:
        """A page that was made only to lead to another is left, and the other is offered in its place."""
        why = f"it only leads to {page.title!r}"
        if self.state.is_known(page.ref):
            return _gone(candidate, why)
        offer = LinkOffer(page.ref.path, page.title, 1.0, 1, 0.0, "body", "", candidate.title, "", is_new=True)
        ref, relevance = candidate.ref, self.state.relevance(candidate)
        return LookStep(
            ref.book, ref.path, candidate.title, why, gone=True, facts=None,
            depth=candidate.depth, relevance=relevance, links=1, offers=(offer,),
        )  # fmt: skip

    def _rival(self, candidate: CrawlCandidate) -> CrawlCandidate | None:
        """The best of the others: what would be next."""
        frontier = self.state.frontier
        frontier.remove(candidate.ref)
        rival = self._best()
        frontier.put(candidate)
        return rival

    def _ranked(self, book: BookId, links: PageLinks, most: int) -> tuple[LinkOffer, ...]:
        """The offers, best first, of which so many become new candidates."""
        state = self.state

        def worth(offer: LinkOffer) -> float | None:
            candidate = state.frontier.get(EntryRef(book, offer.path))
            if candidate is not None:
                return state.points(candidate)
            return 0.0 if state.is_known(EntryRef(book, offer.path)) else None

        return tuple(ranked_offers(links.offers, most, worth))

    def _senses(self, candidate: CrawlCandidate, read: CrawledPage, facts: PageFacts) -> LookStep:
        """A page of senses is left, and what it lists is offered in its place."""
        known = _with(candidate, facts)
        links = self._reader.links(read)
        ref = candidate.ref
        return LookStep(
            ref.book,
            ref.path,
            candidate.title,
            "it only lists senses, which are offered instead",
            gone=True,
            facts=facts,
            depth=candidate.depth,
            relevance=self.state.relevance(known),
            links=links.targets,
            offers=self._ranked(ref.book, links, self._settings.max_links_per_page),
            refused=links.refused,
        )

    def _learn(self) -> LearnStep:
        state = self.state
        first = next(iter(state.visited))
        topic = self._reader.topic(first.book)
        known = frozenset({*topic.rarity, *topic.focus_rarity})
        book = self._books[first.book]
        return LearnStep(*state.vocabulary.keywords(book.rarity, known, book.language))


def _with_surplus(links: PageLinks, offers: Sequence[LinkOffer], known_before: int) -> tuple[tuple[str, int], ...]:
    """Why links were refused, and how many pages were too many for one page to bring in."""
    surplus = len(offers) - known_before - sum(offer.is_new for offer in offers)
    return (*links.refused, ("beyond max_links_per_page", surplus)) if surplus else links.refused


def _gone(candidate: CrawlCandidate, why: str, facts: PageFacts | None = None) -> LookStep:
    ref = candidate.ref
    return LookStep(ref.book, ref.path, candidate.title, why, gone=True, facts=facts)


def _with(candidate: CrawlCandidate, facts: PageFacts) -> CrawlCandidate:
    """The candidate with what its page shows, for a look ahead."""
    known = copy(candidate)
    known.learn(facts)
    return known
