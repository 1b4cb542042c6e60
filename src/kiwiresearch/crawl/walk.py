"""The crawl: one step after the other, each decided by what the steps before it have brought."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import ceil

from kiwiresearch.crawl.candidate import Candidate
from kiwiresearch.crawl.keywords import words_beside
from kiwiresearch.crawl.links import Links, ranked
from kiwiresearch.crawl.plan import Crawl
from kiwiresearch.crawl.reading import Read, Reader
from kiwiresearch.crawl.start import begin
from kiwiresearch.crawl.state import State
from kiwiresearch.crawl.step import Begun, Ended, Facts, Learned, Looked, Offer, Step, Visited
from kiwiresearch.errors import PageNotFound, RedirectLoop
from kiwiresearch.ids import BookId
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.search.hit import shown, terms
from kiwiresearch.search.senses import first_line
from kiwiresearch.zim.entry import EntryRef

__all__ = ["Crawl", "Move", "Walker", "walk"]

OPENING = 300
LEAST_POINTS = 15.0
"""A page that has fewer by its relevance and its links has next to nothing to do with the topic."""

ENOUGH_WEAK = 8
"""After so many of them in a row nothing better is to be hoped for."""

LOOKS = 2
"""Pages read and put back, for each page that may be taken; after that the best is taken as it comes."""


@dataclass(frozen=True, slots=True)
class Move:
    """A step, and the page that was taken with it, if one was."""

    step: Step
    page: PageDoc | None = None


def walk(crawl: Crawl, past: Iterable[Step] = ()) -> Iterator[Move]:
    """Crawl from a topic until the pages or the candidates run out; `past` steps are not done again."""
    walker = Walker(crawl)
    walker.state.replay(past)
    while walker.state.ended is None:
        move = walker.next()
        walker.state.apply(move.step)
        yield move


class Walker:
    """Decides the next step from the state, and reads what it needs for it from the books."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._settings = crawl.settings
        self._books = {book.book.id: book for book in crawl.books}
        languages: dict[str, str] = {book.book.id: book.language for book in crawl.books}
        self.state = State(crawl.settings, languages, crawl.standing)
        self._reader = Reader(crawl, self.state)

    def next(self) -> Move:
        state = self.state
        if state.begun is None:
            return Move(self._begin())
        if len(state.visited) >= self._settings.max_pages:
            return self._end(f"max_pages ({self._settings.max_pages}) was reached")
        if state.is_lesson_due():
            return Move(self._learn())
        candidate = self._seed() or self._best()
        if candidate is None:
            return self._end(self._why_none())
        if not candidate.seed and state.weak >= ENOUGH_WEAK:
            return self._end("nothing nearer to the topic was left")
        return self._look_at(candidate)

    def _begin(self) -> Begun:
        crawl = self._crawl
        begun = begin(
            crawl.books,
            crawl.topic,
            crawl.focus,
            crawl.settings,
            crawl.advice,
            max_books=crawl.max_books,
            aspect=crawl.aspect,
        )
        return replace(begun, found=self._reader.with_meanings(begun.found))

    def _end(self, why: str) -> Move:
        return Move(Ended(why, len(self.state.frontier)))

    def _why_none(self) -> str:
        if not self.state.visited:
            return "nothing was found to begin with"
        if self._settings.max_depth == 0:
            return "max_depth is 0, so that only the seeds were wanted"
        return "there were no more candidates"

    def _seed(self) -> Candidate | None:
        return self.state.frontier.get(self.state.seeds[0]) if self.state.seeds else None

    def _best(self) -> Candidate | None:
        """The best candidate; by depth, the best of the lowest level that has room."""
        frontier = self.state.frontier
        if self._settings.strategy == "priority":
            return frontier.best()
        levels = frontier.levels()
        seeds = self.state.at_depth[0]
        room = ceil(max(1, self._settings.max_pages - seeds) / max(1, self._settings.max_depth))
        level = next((level for level in levels if self.state.at_depth[level] < room), levels[0] if levels else 0)
        return frontier.best(level)

    def _look_at(self, candidate: Candidate) -> Move:
        """Read the best candidate, and take it, if what the page shows does not put it behind another."""
        state, ref = self.state, candidate.ref
        try:
            read = self._reader.read(ref)
        except (PageNotFound, RedirectLoop) as problem:
            return Move(_gone(candidate, f"it cannot be read: {problem.message}"))
        page = read.page
        if page.ref != ref:
            return Move(self._leading(candidate, page))
        facts = self._reader.facts(read, candidate)
        if facts.is_disambiguation and self._settings.filters.disambiguation:
            return Move(self._senses(candidate, read, facts))
        if facts.is_list and self._settings.filters.lists == "exclude":
            return Move(_gone(candidate, "it is a list page", facts))
        known = _with(candidate, facts)
        rival = None if candidate.seed else self._rival(candidate)
        score = state.score(known)
        may_go_back = candidate.facts != facts and state.looks < LOOKS * self._settings.max_pages
        if rival is not None and may_go_back and self._goes_before(rival, known):
            self._reader.keep(ref, read)
            why = terms([line for line in score.lines if line.points < 0]) or "what it says"
            unread = " and is not read yet" if state.promise(rival) > state.points(rival) else ""
            has = f"{rival.title!r} has {shown(state.points(rival))}{unread}"
            why = f"{why}: {shown(score.total)} points now, {has}"
            return Move(Looked(ref.book, ref.path, candidate.title, why, gone=False, facts=facts))
        if not candidate.seed and state.nearness(known) < LEAST_POINTS:
            why = "it has next to nothing to do with the topic"
            return Move(Looked(ref.book, ref.path, candidate.title, why, gone=True, facts=facts, is_weak=True))
        return self._take(candidate, read, facts, rival)

    def _take(self, candidate: Candidate, read: Read, facts: Facts, rival: Candidate | None) -> Move:
        """Take a page, and offer its links."""
        state, ref, page = self.state, candidate.ref, read.page
        known = _with(candidate, facts)
        links = self._reader.links(read)
        is_expanded = candidate.depth < self._settings.max_depth
        known_before = sum(state.is_known(EntryRef(ref.book, offer.path)) for offer in links.offers)
        offers = self._ranked(ref.book, links, self._settings.max_links_per_page if is_expanded else 0)
        book = self._books[ref.book]
        step = Visited(
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
            runner_up=f"{rival.title} {shown(state.points(rival))}" if rival else "",
            facts=facts,
            branch=state.branch_of(known),
            words=words_beside(read.levelled, page.sentences, read.places, book.language),
            links=links.targets,
            offers=offers,
            refused=_with_surplus(links, offers, known_before) if is_expanded else links.refused,
        )
        return Move(step, page)

    def _goes_before(self, rival: Candidate, known: Candidate) -> bool:
        """Whether another candidate is to be looked at first, now that this one's page is known."""
        if self._settings.strategy == "bfs" and rival.depth != known.depth:
            return rival.depth < known.depth
        mine = (-self.state.promise(known), known.depth, known.ref)
        return (-self.state.promise(rival), rival.depth, rival.ref) < mine

    def _leading(self, candidate: Candidate, page: PageDoc) -> Looked:
        """A page that was made only to lead to another is left, and the other is offered in its place."""
        why = f"it only leads to {page.title!r}"
        if self.state.is_known(page.ref):
            return _gone(candidate, why)
        offer = Offer(page.ref.path, page.title, 1.0, 1, 0.0, "body", "", candidate.title, "", is_new=True)
        ref, relevance = candidate.ref, self.state.relevance(candidate)
        return Looked(
            ref.book, ref.path, candidate.title, why, gone=True, facts=None,
            depth=candidate.depth, relevance=relevance, links=1, offers=(offer,),
        )  # fmt: skip

    def _rival(self, candidate: Candidate) -> Candidate | None:
        """The best of the others: what would be next."""
        frontier = self.state.frontier
        frontier.remove(candidate.ref)
        rival = self._best()
        frontier.put(candidate)
        return rival

    def _ranked(self, book: BookId, links: Links, most: int) -> tuple[Offer, ...]:
        """The offers, best first, of which so many become new candidates."""
        state = self.state

        def worth(offer: Offer) -> float | None:
            candidate = state.frontier.get(EntryRef(book, offer.path))
            if candidate is not None:
                return state.points(candidate)
            return 0.0 if state.is_known(EntryRef(book, offer.path)) else None

        return tuple(ranked(links.offers, most, worth))

    def _senses(self, candidate: Candidate, read: Read, facts: Facts) -> Looked:
        """A page of senses is left, and what it lists is offered in its place."""
        known = _with(candidate, facts)
        links = self._reader.links(read)
        ref = candidate.ref
        return Looked(
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

    def _learn(self) -> Learned:
        state = self.state
        first = next(iter(state.visited))
        topic = self._reader.topic(first.book)
        known = frozenset({*topic.rarity, *topic.focus_rarity})
        book = self._books[first.book]
        return Learned(*state.vocabulary.keywords(book.rarity, known, book.language))


def _with_surplus(links: Links, offers: Sequence[Offer], known_before: int) -> tuple[tuple[str, int], ...]:
    """Why links were refused, and how many pages were too many for one page to bring in."""
    surplus = len(offers) - known_before - sum(offer.is_new for offer in offers)
    return (*links.refused, ("beyond max_links_per_page", surplus)) if surplus else links.refused


def _gone(candidate: Candidate, why: str, facts: Facts | None = None) -> Looked:
    ref = candidate.ref
    return Looked(ref.book, ref.path, candidate.title, why, gone=True, facts=facts)


def _with(candidate: Candidate, facts: Facts) -> Candidate:
    """The candidate with what its page shows, for a look ahead."""
    known = copy(candidate)
    known.learn(facts)
    return known
