"""What a crawl is given, and its state: a pure function of its steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING

from kiwiresearch.crawl.frontier import Branches, Copies, CrawlCandidate, Frontier, ScoreRow, crawl_points
from kiwiresearch.crawl.links import is_list
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.crawl.step import (
    CrawlStep,
    EndStep,
    FoundPage,
    LearnStep,
    LinkOffer,
    LookStep,
    SeedChoice,
    StartStep,
    VisitStep,
)
from kiwiresearch.crawl.topic import Vocabulary
from kiwiresearch.search.find import SearchHelpers
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import Score, ScoreLine
from kiwiresearch.text.languages import stemmer
from kiwiresearch.text.words import fold
from kiwiresearch.zim.archive import EntryRef

if TYPE_CHECKING:
    from kiwiresearch.embed.embedder import Embedder

BookStanding = Callable[[EntryRef], float]
"""From 0 to 1: what the links of the whole book make of a page; the same for the same page, always."""


@dataclass(frozen=True, slots=True)
class CrawlPlan:
    """A topic, the books to crawl, and how."""

    books: Sequence[OpenBook]
    topic: str
    focus: str = ""
    settings: CrawlSettings = field(default_factory=CrawlSettings)
    advice: SearchHelpers | None = None
    embedder: Embedder | None = None
    max_books: int = 2
    """How many of the books are searched in full, the likeliest ones."""
    standing: BookStanding | None = None
    """How much its whole book makes of a page, where that is known."""
    aspect: str = ""
    """The side of the topic that is wanted, where the user says so."""


MIN_RELEVANCE = 0.05
"""Links of a page that says nothing of the topic still count a little."""

FIRST_LEARNING = 4
"""Keywords are learned after so many pages, and again each time their number has doubled."""

SMALLEST_BRANCH = 5
UNREAD = 15.0
"""What the text of a page that is only linked to is taken to add, until it is read and known."""

WEAKEST = 80.0
"""What a page has at least that is taken for the measure of relevance: a poor best page is not worth 100."""

SAID_AGAIN = 20.0
"""For a reader, a page that comes back to the topic is worth more than one that names it once."""


@lru_cache(maxsize=16_384)
def _stems(words: str, language: str) -> frozenset[str]:
    stem_of = stemmer(language)
    return frozenset(stem_of(word) for word in fold(words).split())


class CrawlState:
    """The frontier, the visited pages, and what was learned from them."""

    def __init__(
        self, settings: CrawlSettings, languages: Mapping[str, str], standing: BookStanding | None = None
    ) -> None:
        self.settings = settings
        self.languages = languages
        self._standing = standing
        self.started: StartStep | None = None
        self.ended: EndStep | None = None
        self.steps: list[CrawlStep] = []
        self.visited: dict[EntryRef, VisitStep] = {}
        self.looks = 0
        self.weak = 0
        """Pages looked at and left since the last visit, as they have next to nothing to do with the topic."""
        self.frontier = Frontier(self.expected_points, by_depth=settings.strategy == "bfs")
        self.seeds: list[EntryRef] = []
        """Seeds that are still to be visited, the next one first."""
        self.copies = Copies()
        self.branches = Branches()
        self.vocabulary = Vocabulary()
        self.keywords: dict[str, float] = {}
        self.times_learned = 0
        self.at_depth: Counter[int] = Counter()
        self._gone: set[EntryRef] = set()
        self._read: dict[EntryRef, None] = {}
        """Candidates whose pages were read and put back, in that order."""
        self._heard: dict[EntryRef, float] = {}
        """Votes for visited pages, also those that came after the visit."""
        self._topic: dict[str, dict[str, float]] = {}
        self._scale = 1.0
        self._coverage: dict[EntryRef, float] = {}
        self._most_in_branch = max(SMALLEST_BRANCH, ceil(settings.branch_share * settings.max_pages))

    def apply(self, step: CrawlStep) -> None:
        """Take in what happened."""
        match step:
            case StartStep():
                self._begin(step)
            case VisitStep():
                self._visit(step)
            case LookStep():
                self._look(step)
            case LearnStep():
                self.keywords = dict(step.keywords)
                self.times_learned += 1
                self.frontier.reorder()
            case EndStep():
                self.ended = step
        self.steps.append(step)

    def score(self, candidate: CrawlCandidate) -> Score:
        """All that speaks for a candidate, as far as it is known now."""
        return Score(tuple(ScoreLine(signal, points) for signal, points in self._rows(candidate)))

    def points(self, candidate: CrawlCandidate) -> float:
        """The total of its score: the same sum, without the lines."""
        return round(sum([points for _, points in self._rows(candidate)]), 2)

    def expected_points(self, candidate: CrawlCandidate) -> float:
        """What a candidate may have once its page is read: of one that is only linked to, the text is not known yet."""
        is_unread = candidate.facts is None and not candidate.is_found
        return round(self.points(candidate) + (UNREAD * self.settings.weights.relevance if is_unread else 0.0), 2)

    def _rows(self, candidate: CrawlCandidate) -> list[ScoreRow]:
        """The lines of a score, rounded; those of nothing are left out. Asked for often, so it is written flat."""
        weights, worth = self.settings.weights, crawl_points()
        relevance, scale = weights.relevance, self._scale * weights.relevance
        rows = [(signal, share * scale) for signal, share in candidate.relevance_rows()]
        rows.append(("topic words in links", relevance * worth["relevance"]["link"] * candidate.in_words))
        if not self.keywords.keys().isdisjoint(candidate.stems):
            known = sum([self.keywords[stem] for stem in sorted(self.keywords.keys() & candidate.stems)])
            rows.append(("keywords", relevance * worth["relevance"]["keywords"] * min(1.0, known)))
        if candidate.meaning > 0:
            rows.append(("meaning", relevance * worth["relevance"]["meaning"] * candidate.meaning))
        votes = min(candidate.votes, worth["link_context"]["most_votes"])
        rows.append(("links from relevant pages", weights.link_context * votes))
        rows += [(signal, weights.page_signals * loss) for signal, loss in self._signals(candidate)]
        rows += [(signal, weights.novelty * loss) for signal, loss in self._novelty(candidate)]
        rows += [(signal, weights.authority * gain) for signal, gain in candidate.authority_rows()]
        return [(signal, rounded) for signal, points in rows if (rounded := round(points, 2))]

    def _signals(self, candidate: CrawlCandidate) -> Iterable[ScoreRow]:
        if candidate.facts is None and not candidate.is_list:
            return ()
        return candidate.signal_rows(lists=self.settings.filters.lists == "penalty")

    def _novelty(self, candidate: CrawlCandidate) -> list[ScoreRow]:
        worth = crawl_points()["novelty"]
        rows: list[ScoreRow] = []
        if candidate.facts is not None and candidate.facts.duplicate_of:
            rows.append(("near-duplicate", worth["duplicate"]))
        over = self.branches.over(self.branch_of(candidate), self._most_in_branch)
        if over:
            rows.append(("full branch", max(worth["fullest_branch"], worth["full_branch"] * over)))
        if candidate.depth > 1 and self.settings.strategy == "priority":
            rows.append(("depth", worth["depth"] * (candidate.depth - 1)))
        return rows

    def nearness(self, candidate: CrawlCandidate) -> float:
        """What a candidate has to do with the topic, whatever the weights are and whether it brings anything new."""
        votes = min(candidate.votes, crawl_points()["link_context"]["most_votes"])
        is_unread = candidate.facts is None and not candidate.is_found
        return 100 * self.relevance(candidate) + votes + (UNREAD if is_unread else 0.0)

    def branch_of(self, candidate: CrawlCandidate) -> str:
        return self.branches.of(candidate.title, candidate.facts, candidate.root)

    def relevance(self, candidate: CrawlCandidate) -> float:
        return candidate.relevance(self._scale)

    def importance(self, step: VisitStep) -> float:
        """How much a visited page matters to the topic: by what it says, how often, and who links to it."""
        votes = min(self._heard[step.ref], crawl_points()["link_context"]["most_votes"])
        return round(100 * step.relevance + SAID_AGAIN * step.facts.page + votes, 2)

    def is_known(self, ref: EntryRef) -> bool:
        return ref in self.frontier or ref in self.visited or ref in self._gone

    def is_learning_due(self) -> bool:
        return len(self.visited) >= FIRST_LEARNING << self.times_learned

    def stems(self, words: str, book: str) -> frozenset[str]:
        return _stems(words, self.languages.get(book, "eng"))

    def _begin(self, step: StartStep) -> None:
        self.started = step
        for searched in step.searched:
            stem_of = stemmer(self.languages.get(searched.book, "eng"))
            self._topic[searched.book] = {stem_of(word): rarity for word, rarity in searched.words}
        seeds = {seed.ref: seed for seed in step.seeds}
        self._coverage = {seed.ref: seed.coverage for seed in step.seeds}
        candidates = [self._of_found(found, seeds.get(found.ref)) for found in step.found]
        self._scale = 100 / max([WEAKEST, *(candidate.raw_relevance() for candidate in candidates)])
        for candidate in candidates:
            if candidate.depth <= self.settings.max_depth:
                self.frontier.put(candidate)
        self.seeds = [seed.ref for seed in step.seeds if seed.ref in self.frontier]

    def _of_found(self, found: FoundPage, seed: SeedChoice | None) -> CrawlCandidate:
        candidate = self._new(found.ref, found.title, 0 if seed else 1, root=found.title)
        candidate.share, candidate.named, candidate.page, candidate.focus = (
            found.share, found.named, found.page, found.focus,
        )  # fmt: skip
        candidate.meaning = found.meaning
        candidate.is_found = True
        candidate.seed = seed.why if seed else None
        return candidate

    def _new(self, ref: EntryRef, title: str, depth: int, root: str) -> CrawlCandidate:
        stems = self.stems(title, ref.book)
        candidate = CrawlCandidate(ref, title, depth, stems, root=root)
        candidate.in_words = self._in_topic(ref.book, stems)
        candidate.is_list = is_list(title, self.languages.get(ref.book, "eng"))
        candidate.standing = self._standing(ref) if self._standing else 0.0
        return candidate

    def _in_topic(self, book: str, stems: frozenset[str]) -> float:
        weights = self._topic.get(book, {})
        total = sum(weights.values())
        return sum(weight for stem, weight in weights.items() if stem in stems) / total if total else 0.0

    def _visit(self, step: VisitStep) -> None:
        ref = step.ref
        candidate = self.frontier.get(ref)
        self.frontier.remove(ref)
        self.visited[ref] = step
        self.weak = 0
        self._heard[ref] = candidate.votes if candidate is not None else 0.0
        self.at_depth[step.depth] += 1
        if self.seeds and self.seeds[0] == ref:
            self.seeds.pop(0)
        self.copies.add(step.title, step.facts.sketch, step.book)
        if self.branches.add(step.branch, step.facts, is_seed=step.depth == 0):
            self.frontier.refresh(self._read)
        self.vocabulary.add(step.words, max(step.relevance, MIN_RELEVANCE))
        root = candidate.root if candidate is not None and step.depth > 1 else step.title
        self._take_offers(root, step)

    def _look(self, step: LookStep) -> None:
        self.looks += 1
        self.weak += step.is_weak
        ref = step.ref
        candidate = self.frontier.get(ref)
        if step.gone:
            self.frontier.remove(ref)
            self._gone.add(ref)
            if self.seeds and self.seeds[0] == ref:
                self.seeds.pop(0)
        elif candidate is not None and step.facts is not None:
            candidate.learn(step.facts)
            self._read[ref] = None
            self.frontier.put(candidate)
        self._take_offers(candidate.root if candidate else step.title, step)

    def _take_offers(self, root: str, step: VisitStep | LookStep) -> None:
        # What a page of senses lists stands where the page stood, but seeds are chosen by the search alone.
        depth = step.depth + 1 if isinstance(step, VisitStep) else max(1, step.depth)
        if depth > self.settings.max_depth:
            return
        worth = crawl_points()["link_context"]
        power = max(step.relevance, MIN_RELEVANCE) ** worth["relevance_power"]
        seed = 1 + (worth["seed"] - 1) * self._coverage.get(step.ref, 0.0)
        each = worth["votes"] * seed * power / max(1, step.links) ** 0.5
        for offer in step.offers:
            self._vote(EntryRef(step.book, offer.path), offer, each * offer.worth, depth, step.title, root)

    def _vote(self, ref: EntryRef, offer: LinkOffer, votes: float, depth: int, parent: str, root: str) -> None:
        candidate = self.frontier.get(ref)
        if candidate is None:
            if ref in self._heard:
                self._heard[ref] = round(self._heard[ref] + votes, 4)
            if not offer.is_new or self.is_known(ref):
                return
            candidate = self._new(ref, offer.title, depth, root)
        candidate.depth = min(candidate.depth, depth)
        candidate.votes = round(candidate.votes + votes, 4)
        candidate.voters += 1
        if votes > candidate.best_votes:
            candidate.best, candidate.best_votes, candidate.parent = offer, votes, parent
        if offer.anchor and offer.anchor.casefold() != offer.title.casefold():
            more = self.stems(offer.anchor, ref.book)
            if not more <= candidate.stems:
                candidate.stems |= more
                candidate.in_words = self._in_topic(ref.book, candidate.stems)
        self.frontier.put(candidate)

    def replay(self, steps: Iterable[CrawlStep]) -> None:
        for step in steps:
            self.apply(step)
