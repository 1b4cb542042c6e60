"""The crawl: each step depends on the results of earlier steps."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from math import ceil

from kiwiresearch.crawl.frontier import CrawlCandidate
from kiwiresearch.crawl.links import PageLinks, ranked_offers
from kiwiresearch.crawl.reader import CrawledPage, CrawlReader
from kiwiresearch.crawl.start import start_crawl
from kiwiresearch.crawl.state import CrawlPlan, CrawlState
from kiwiresearch.crawl.step import (
    CrawlStep,
    EndStep,
    LearnStep,
    LinkOffer,
    PageFacts,
    SkipStep,
    StartStep,
    VisitStep,
)
from kiwiresearch.crawl.topic import words_near_topic
from kiwiresearch.errors import PageNotFound, RedirectLoop
from kiwiresearch.ids import BookId
from kiwiresearch.messages import Message
from kiwiresearch.page import PageDoc
from kiwiresearch.search import first_line, points_text, score_terms_text
from kiwiresearch.text import count_of
from kiwiresearch.zim import EntryRef

MAX_OPENING_CHARS = 300
MIN_TOPIC_POINTS = 15.0
"""A page with fewer points for relevance and links is hardly related to the topic."""

MAX_WEAK_IN_A_ROW = 8
"""The crawl ends after this many such pages in a row."""

MAX_SKIPS_PER_PAGE = 2
"""How many pages may be read and put back, for each page that may be visited.

After that, the best candidate is visited even if reading it lowered its score.
"""


@dataclass(frozen=True, slots=True)
class StepResult:
    """A step, and the page that was visited, if any."""

    step: CrawlStep
    page: PageDoc | None = None


class Walker:
    """Decides the next step from the state, and reads the pages it needs."""

    def __init__(self, plan: CrawlPlan) -> None:
        self._plan = plan
        self._settings = plan.settings
        self._books = {book.id: book for book in plan.books}
        languages: dict[str, str] = {book.id: book.language for book in plan.books}
        self.state = CrawlState(plan.settings, languages, plan.link_rank)
        self._reader = CrawlReader(plan, self.state)

    def next(self) -> StepResult:
        state = self.state
        if state.started is None:
            return StepResult(self._start())
        max_pages = self._settings.max_pages
        if len(state.visited) >= max_pages:
            return self._end(
                Message(f"the limit of {count_of(max_pages, 'page')} was reached", "ended.full", n=max_pages)
            )
        if state.is_learning_due():
            return StepResult(self._learn())
        candidate = state.frontier.get(state.seeds[0]) if state.seeds else None
        candidate = candidate or self._best()
        if candidate is None:
            return self._end(self._why_none())
        if not candidate.seed_reason and state.weak_in_a_row >= MAX_WEAK_IN_A_ROW:
            return self._end(Message("no other page was close enough to the topic", "ended.weak"))
        return self._visit_or_skip(candidate)

    def _start(self) -> StartStep:
        plan = self._plan
        start = start_crawl(
            plan.books,
            plan.topic,
            plan.focus,
            plan.settings,
            plan.helpers,
            max_books=plan.max_books,
            aspect=plan.aspect,
        )
        return replace(start, found=self._reader.with_meanings(start.found))

    def _end(self, why: Message) -> StepResult:
        return StepResult(EndStep(why, len(self.state.frontier)))

    def _why_none(self) -> Message:
        if not self.state.visited:
            return Message("no page was found to start from", "ended.nothing")
        if self._settings.max_depth == 0:
            return Message("only the starting pages were requested, without their links", "ended.flat")
        return Message("there were no more pages to read", "ended.all")

    def _best(self) -> CrawlCandidate | None:
        """The best candidate; breadth-first, the best of the shallowest level with room."""
        frontier = self.state.frontier
        if self._settings.strategy == "priority":
            return frontier.best()
        levels = frontier.levels()
        counts = self.state.count_at_depth
        # Seeds are at depth 0 and outside the shares; if every level is full, the shallowest one goes on.
        room = ceil(max(1, self._settings.max_pages - counts[0]) / max(1, self._settings.max_depth))
        level = next((level for level in levels if counts[level] < room), levels[0] if levels else 0)
        return frontier.best(level)

    def _visit_or_skip(self, candidate: CrawlCandidate) -> StepResult:
        """Read the best candidate and visit it, unless its text drops it below another."""
        state, scoring, ref = self.state, self.state.scoring, candidate.ref
        try:
            crawled = self._reader.read(ref)
        except (PageNotFound, RedirectLoop) as problem:
            return StepResult(_dropped(candidate, f"it cannot be read: {problem.message}"))
        # The order of the checks matters: what leads elsewhere or is refused is dropped before it is scored.
        if crawled.page.ref != ref:
            return StepResult(self._follow_redirect(candidate, crawled.page))
        facts = self._reader.facts(crawled, candidate)
        if facts.is_disambiguation and self._settings.filters.disambiguation:
            return StepResult(self._offer_senses(candidate, crawled, facts))
        if facts.is_list and self._settings.filters.lists == "exclude":
            return StepResult(_dropped(candidate, "it is a list page", facts))
        with_facts = _with_facts(candidate, facts)
        runner_up = None if candidate.seed_reason else self._runner_up(candidate)
        score = scoring.score(with_facts)
        # With the same facts, reading it again would change nothing, so it would be put back forever.
        can_be_put_back = candidate.facts != facts and state.skip_count < MAX_SKIPS_PER_PAGE * self._settings.max_pages
        if runner_up is not None and can_be_put_back and self._ranks_above(runner_up, with_facts):
            self._reader.put_in_cache(ref, crawled)
            penalties = score_terms_text([term for term in score.terms if term.points < 0]) or "what it says"
            points = scoring.points(runner_up)
            unread = " and is not read yet" if scoring.expected_points(runner_up) > points else ""
            other = f"{runner_up.title!r} has {points_text(points)}{unread}"
            why = f"{penalties}: {points_text(score.total)} points now, {other}"
            return StepResult(SkipStep(ref.book, ref.path, candidate.title, why, is_dropped=False, facts=facts))
        if not candidate.seed_reason and scoring.topic_points(with_facts) < MIN_TOPIC_POINTS:
            weak = _dropped(candidate, "it has next to nothing to do with the topic", facts)
            return StepResult(replace(weak, is_weak=True))
        return self._visit(with_facts, crawled, facts, runner_up)

    def _visit(
        self, candidate: CrawlCandidate, crawled: CrawledPage, facts: PageFacts, runner_up: CrawlCandidate | None
    ) -> StepResult:
        """Add a page to the corpus, and offer its links."""
        state, scoring, ref, page = self.state, self.state.scoring, candidate.ref, crawled.page
        links = self._reader.links(crawled)
        follows_links = candidate.depth < self._settings.max_depth
        known_before = sum(state.is_known(EntryRef(ref.book, offer.path)) for offer in links.offers)
        offers = self._ranked(ref.book, links, self._settings.max_links_per_page if follows_links else 0)
        # What is neither known nor new was cut off by the limit.
        surplus = len(offers) - known_before - sum(offer.is_new for offer in offers)
        beyond_limit = (("beyond max_links_per_page", surplus),) if follows_links and surplus else ()
        step = VisitStep(
            book=ref.book,
            path=ref.path,
            page_id=page.id,
            title=page.title,
            url=page.url,
            opening=first_line(page, MAX_OPENING_CHARS),
            depth=candidate.depth,
            reason=candidate.reason(),
            terms=scoring.score(candidate).terms,
            relevance=scoring.relevance(candidate),
            runner_up=f"{runner_up.title} {points_text(scoring.points(runner_up))}" if runner_up else "",
            facts=facts,
            branch=scoring.branch_of(candidate),
            words=words_near_topic(crawled.lowered, page.sentences, crawled.places, self._books[ref.book].language),
            links=links.targets,
            offers=offers,
            refused=(*links.refused, *beyond_limit),
        )
        return StepResult(step, page)

    def _ranks_above(self, other: CrawlCandidate, with_facts: CrawlCandidate) -> bool:
        """Whether another candidate should be read before this one is visited."""
        if self._settings.strategy == "bfs" and other.depth != with_facts.depth:
            return other.depth < with_facts.depth
        expected = self.state.scoring.expected_points
        return (-expected(other), other.depth, other.ref) < (-expected(with_facts), with_facts.depth, with_facts.ref)

    def _follow_redirect(self, candidate: CrawlCandidate, page: PageDoc) -> SkipStep:
        """Drop a page that only redirects to another, and offer that one instead."""
        step = _dropped(candidate, f"it only leads to {page.title!r}")
        if self.state.is_known(page.ref):
            return step
        offer = LinkOffer(page.ref.path, page.title, 1.0, 1, 0.0, "body", "", candidate.title, "", is_new=True)
        relevance = self.state.scoring.relevance(candidate)
        return replace(step, depth=candidate.depth, relevance=relevance, links=1, offers=(offer,))

    def _runner_up(self, candidate: CrawlCandidate) -> CrawlCandidate | None:
        """The best candidate other than this one."""
        frontier = self.state.frontier
        # Removed for a moment only: `_best` must see the frontier without it, and the state must not change.
        frontier.remove(candidate.ref)
        runner_up = self._best()
        frontier.put(candidate)
        return runner_up

    def _ranked(self, book: BookId, links: PageLinks, max_new: int) -> tuple[LinkOffer, ...]:
        """The offers, best first; at most `max_new` become new candidates."""
        state = self.state

        def known_points(offer: LinkOffer) -> float | None:
            candidate = state.frontier.get(EntryRef(book, offer.path))
            if candidate is not None:
                return state.scoring.points(candidate)
            return 0.0 if state.is_known(EntryRef(book, offer.path)) else None

        return tuple(ranked_offers(links.offers, max_new, known_points))

    def _offer_senses(self, candidate: CrawlCandidate, crawled: CrawledPage, facts: PageFacts) -> SkipStep:
        """Drop a disambiguation page, and offer its entries instead."""
        links = self._reader.links(crawled)
        return replace(
            _dropped(candidate, "it only lists meanings, which are offered instead", facts),
            depth=candidate.depth,
            relevance=self.state.scoring.relevance(_with_facts(candidate, facts)),
            links=links.targets,
            offers=self._ranked(candidate.ref.book, links, self._settings.max_links_per_page),
            refused=links.refused,
        )

    def _learn(self) -> LearnStep:
        first = next(iter(self.state.visited))
        topic, book = self._reader.topic(first.book), self._books[first.book]
        topic_stems = frozenset({*topic.rarity, *topic.focus_rarity})
        return LearnStep(*self.state.vocabulary.keywords(book.rarity, topic_stems, book.language))


def _dropped(candidate: CrawlCandidate, why: str, facts: PageFacts | None = None) -> SkipStep:
    ref = candidate.ref
    return SkipStep(ref.book, ref.path, candidate.title, why, is_dropped=True, facts=facts)


def _with_facts(candidate: CrawlCandidate, facts: PageFacts) -> CrawlCandidate:
    """A copy of the candidate with the facts of its page, to see how it would score."""
    with_facts = copy(candidate)
    with_facts.set_facts(facts)
    return with_facts
