"""The plan of a crawl, and its state, which is a pure function of its steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from kiwiresearch.crawl.frontier import CrawlCandidate, Frontier
from kiwiresearch.crawl.links import is_list
from kiwiresearch.crawl.novelty import NearDuplicates
from kiwiresearch.crawl.score import LINKS, CrawlScoring
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.crawl.step import (
    CrawlStep,
    EndStep,
    FoundPage,
    LearnStep,
    LinkOffer,
    SeedChoice,
    SkipStep,
    StartStep,
    VisitStep,
)
from kiwiresearch.crawl.topic import Vocabulary
from kiwiresearch.search import OpenBook, SearchHelpers
from kiwiresearch.text import fold, stemmer
from kiwiresearch.zim import EntryRef

if TYPE_CHECKING:
    from kiwiresearch.embed import Embedder

LinkRank = Callable[[EntryRef], float]
"""The rank of a page in its book by links, from 0 to 1; always the same for the same page."""


@dataclass(frozen=True, slots=True)
class CrawlPlan:
    """The topic, the books to crawl, and the settings."""

    books: Sequence[OpenBook]
    topic: str
    focus: str = ""
    settings: CrawlSettings = field(default_factory=CrawlSettings)
    helpers: SearchHelpers | None = None
    embedder: Embedder | None = None
    max_books: int = 2
    """How many books, the most likely ones, are searched in full."""
    link_rank: LinkRank | None = None
    aspect: str = ""
    """The aspect that the user requested, if any."""


MIN_RELEVANCE = 0.05
"""The links of a page that says nothing about the topic still count a little."""

FIRST_LEARNING = 4
"""Keywords are learned after this many pages, and again each time the number of pages has doubled."""

REPEATED_TOPIC_POINTS = 20.0
"""To a reader, a page that keeps coming back to the topic matters more than one that names it once."""


@lru_cache(maxsize=16_384)
def _stems(words: str, language: str) -> frozenset[str]:
    stem_of = stemmer(language)
    return frozenset(stem_of(word) for word in fold(words).split())


class CrawlState:
    """The frontier, the visited pages, and what was learned from them."""

    def __init__(
        self, settings: CrawlSettings, languages: Mapping[str, str], link_rank: LinkRank | None = None
    ) -> None:
        self.settings = settings
        self.scoring = CrawlScoring(settings)
        self.started: StartStep | None = None
        self.ended: EndStep | None = None
        self.steps: list[CrawlStep] = []
        self.visited: dict[EntryRef, VisitStep] = {}
        self.skip_count = 0
        self.weak_in_a_row = 0
        """Pages dropped since the last visit because they are hardly related to the topic."""
        self.frontier = Frontier(self.scoring.expected_points, by_depth=settings.strategy == "bfs")
        self.seeds: list[EntryRef] = []
        """Seeds that are still to be visited, the next one first."""
        self.near_duplicates = NearDuplicates()
        self.vocabulary = Vocabulary()
        self.times_learned = 0
        self.count_at_depth: Counter[int] = Counter()
        self._languages = languages
        self._link_rank = link_rank
        self._dropped: set[EntryRef] = set()
        # A dict instead of a set, for its order.
        self._put_back: dict[EntryRef, None] = {}
        """Candidates that were read and put back, in that order."""
        self._votes_for_visited: dict[EntryRef, float] = {}
        """Includes votes that came after the visit."""
        self._topic_weights: dict[str, dict[str, float]] = {}
        """By book, the stems of the topic's words and how rare each is."""
        self._seed_coverage: dict[EntryRef, float] = {}

    def apply(self, step: CrawlStep) -> None:
        match step:
            case StartStep():
                self._begin(step)
            case VisitStep():
                self._visit(step)
            case SkipStep():
                self._skip(step)
            case LearnStep():
                self.scoring.keywords = dict(step.keywords)
                self.times_learned += 1
                self.frontier.reorder()
            case EndStep():
                self.ended = step
        self.steps.append(step)

    def importance(self, step: VisitStep) -> float:
        """How much a visited page matters: by its text, how often it names the topic, and which pages link to it."""
        votes = min(self._votes_for_visited[step.ref], LINKS["most_votes"])
        return round(100 * step.relevance + REPEATED_TOPIC_POINTS * step.facts.word_share + votes, 2)

    def is_known(self, ref: EntryRef) -> bool:
        return ref in self.frontier or ref in self.visited or ref in self._dropped

    def is_learning_due(self) -> bool:
        # 4, 8, 16 …: all candidates are scored again each time, so the total cost stays linear.
        return len(self.visited) >= FIRST_LEARNING << self.times_learned

    def _language(self, book: str) -> str:
        return self._languages.get(book, "eng")

    def _begin(self, step: StartStep) -> None:
        self.started = step
        for searched in step.searched:
            stem_of = stemmer(self._language(searched.book))
            self._topic_weights[searched.book] = {stem_of(word): rarity for word, rarity in searched.words}
        seeds = {seed.ref: seed for seed in step.seeds}
        self._seed_coverage = {seed.ref: seed.coverage for seed in step.seeds}
        candidates = [self._found_candidate(found, seeds.get(found.ref)) for found in step.found]
        self.scoring.set_scale(candidates)
        for candidate in candidates:
            if candidate.depth <= self.settings.max_depth:
                self.frontier.put(candidate)
        self.seeds = [seed.ref for seed in step.seeds if seed.ref in self.frontier]

    def _found_candidate(self, found: FoundPage, seed: SeedChoice | None) -> CrawlCandidate:
        candidate = self._new_candidate(found.ref, found.title, 0 if seed else 1, root=found.title)
        candidate.search_share, candidate.name_share = found.search_share, found.name_share
        candidate.word_share, candidate.focus_share = found.word_share, found.focus_share
        candidate.meaning = found.meaning
        candidate.is_found = True
        candidate.seed_reason = seed.why if seed else None
        return candidate

    def _new_candidate(self, ref: EntryRef, title: str, depth: int, root: str) -> CrawlCandidate:
        language = self._language(ref.book)
        stems = _stems(title, language)
        return CrawlCandidate(
            ref,
            title,
            depth,
            stems,
            link_share=self._share_of_topic(ref.book, stems),
            root=root,
            is_list=is_list(title, language),
            link_rank=self._link_rank(ref) if self._link_rank else 0.0,
        )

    def _share_of_topic(self, book: str, stems: frozenset[str]) -> float:
        weights = self._topic_weights.get(book, {})
        total = sum(weights.values())
        return sum(weight for stem, weight in weights.items() if stem in stems) / total if total else 0.0

    def _visit(self, step: VisitStep) -> None:
        ref = step.ref
        candidate = self.frontier.get(ref)
        self.frontier.remove(ref)
        self.visited[ref] = step
        self.weak_in_a_row = 0
        self._votes_for_visited[ref] = candidate.votes if candidate is not None else 0.0
        self.count_at_depth[step.depth] += 1
        if self.seeds and self.seeds[0] == ref:
            self.seeds.pop(0)
        self.near_duplicates.add(step.title, step.facts.sketch, step.book)
        # A score that drops is noticed by `Frontier.best`; one that may rise has to be computed again.
        if self.scoring.branches.add(step.branch, step.facts, is_seed=step.depth == 0):
            self.frontier.refresh(self._put_back)
        self.vocabulary.add(step.words, max(step.relevance, MIN_RELEVANCE))
        root = candidate.root if candidate is not None and step.depth > 1 else step.title
        self._take_offers(root, step)

    def _skip(self, step: SkipStep) -> None:
        self.skip_count += 1
        self.weak_in_a_row += step.is_weak
        ref = step.ref
        candidate = self.frontier.get(ref)
        if step.is_dropped:
            self.frontier.remove(ref)
            self._dropped.add(ref)
            if self.seeds and self.seeds[0] == ref:
                self.seeds.pop(0)
        elif candidate is not None and step.facts is not None:
            candidate.set_facts(step.facts)
            self._put_back[ref] = None
            self.frontier.put(candidate)
        self._take_offers(candidate.root if candidate else step.title, step)

    def _take_offers(self, root: str, step: VisitStep | SkipStep) -> None:
        # The entries of a disambiguation page take its place, but at depth 1 or more: only the search chooses seeds.
        depth = step.depth + 1 if isinstance(step, VisitStep) else max(1, step.depth)
        if depth > self.settings.max_depth:
            return
        power = max(step.relevance, MIN_RELEVANCE) ** LINKS["relevance_power"]
        seed = 1 + (LINKS["seed"] - 1) * self._seed_coverage.get(step.ref, 0.0)
        # Many links weaken each other, but only by the square root of their number, since long pages are good pages.
        votes = LINKS["votes"] * seed * power / max(1, step.links) ** 0.5
        for offer in step.offers:
            self._vote(EntryRef(step.book, offer.path), offer, votes * offer.worth, depth, step.title, root)

    def _vote(self, ref: EntryRef, offer: LinkOffer, votes: float, depth: int, parent: str, root: str) -> None:
        candidate = self.frontier.get(ref)
        # A visited page still counts votes, for the brief; a new candidate needs an offer within the limit of its page.
        if candidate is None:
            if ref in self._votes_for_visited:
                self._votes_for_visited[ref] = round(self._votes_for_visited[ref] + votes, 4)
            if not offer.is_new or self.is_known(ref):
                return
            candidate = self._new_candidate(ref, offer.title, depth, root)
        candidate.depth = min(candidate.depth, depth)
        candidate.votes = round(candidate.votes + votes, 4)
        candidate.voters += 1
        if votes > candidate.best_link_votes:
            candidate.best_link, candidate.best_link_votes, candidate.parent = offer, votes, parent
        if offer.anchor and offer.anchor.casefold() != offer.title.casefold():
            anchor_stems = _stems(offer.anchor, self._language(ref.book))
            if not anchor_stems <= candidate.stems:
                candidate.stems |= anchor_stems
                candidate.link_share = self._share_of_topic(ref.book, candidate.stems)
        self.frontier.put(candidate)

    def replay(self, steps: Iterable[CrawlStep]) -> None:
        for step in steps:
            self.apply(step)
