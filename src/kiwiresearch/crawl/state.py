"""Where a crawl stands: a pure function of its steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import ceil

from kiwiresearch.crawl.candidate import Candidate, Row
from kiwiresearch.crawl.filters import is_list
from kiwiresearch.crawl.frontier import Frontier
from kiwiresearch.crawl.keywords import Vocabulary
from kiwiresearch.crawl.novelty import Branches, Copies
from kiwiresearch.crawl.points import points
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.crawl.step import Begun, Considered, Ended, Found, Learned, Looked, Offer, Step, Visited
from kiwiresearch.crawl.topic import Spoken
from kiwiresearch.search.hit import Score, ScoreLine
from kiwiresearch.text.fold import fold
from kiwiresearch.text.stem import stemmer
from kiwiresearch.zim.entry import EntryRef

LEAST_RELEVANCE = 0.05
"""Links of a page that says nothing of the topic still count a little."""

FIRST_LESSON = 4
"""Keywords are learned after so many pages, and again each time their number has doubled."""

SMALLEST_BRANCH = 5
SAID_AGAIN = 20.0
"""For a reader, a page that comes back to the topic is worth more than one that names it once."""


class State:
    """The frontier, the visited pages, and what was learned from them."""

    def __init__(self, settings: CrawlSettings, languages: Mapping[str, str]) -> None:
        self.settings = settings
        self.languages = languages
        self.begun: Begun | None = None
        self.ended: Ended | None = None
        self.steps: list[Step] = []
        self.visited: dict[EntryRef, Visited] = {}
        self.looks = 0
        self.frontier = Frontier(self.points, by_depth=settings.strategy == "bfs")
        self.seeds: list[EntryRef] = []
        """Seeds that are still to be visited, the next one first."""
        self.copies = Copies()
        self.branches = Branches()
        self.vocabulary = Vocabulary()
        self.keywords: dict[str, float] = {}
        self.lessons = 0
        self.at_depth: Counter[int] = Counter()
        self._gone: set[EntryRef] = set()
        self._heard: dict[EntryRef, float] = {}
        """Votes for visited pages, also those that came after the visit."""
        self._topic: dict[str, dict[str, float]] = {}
        self._scale = 1.0
        self._coverage: dict[EntryRef, float] = {}
        self._most_in_branch = max(SMALLEST_BRANCH, ceil(settings.branch_share * settings.max_pages))

    def apply(self, step: Step) -> None:
        """Take in what happened."""
        match step:
            case Begun():
                self._begin(step)
            case Visited():
                self._visit(step)
            case Looked():
                self._look(step)
            case Learned():
                self.keywords = dict(step.keywords)
                self.lessons += 1
                self.frontier.reorder()
            case Ended():
                self.ended = step
        self.steps.append(step)

    def score(self, candidate: Candidate) -> Score:
        """All that speaks for a candidate, as far as it is known now."""
        return Score(
            tuple(ScoreLine(signal, round(points, 2)) for signal, points in self._rows(candidate) if round(points, 2))
        )

    def points(self, candidate: Candidate) -> float:
        """The total of its score: the same sum, without the lines."""
        return round(sum(round(points, 2) for _, points in self._rows(candidate)), 2)

    def _rows(self, candidate: Candidate) -> Iterator[Row]:
        weights, worth = self.settings.weights, points()
        scale = self._scale * weights.relevance
        for signal, share in candidate.relevance_rows():
            yield signal, share * scale
        yield "topic words in links", weights.relevance * worth["relevance"]["link"] * candidate.in_words
        known = sum([weight for stem, weight in self.keywords.items() if stem in candidate.stems])
        yield "keywords", weights.relevance * worth["relevance"]["keywords"] * min(1.0, known)
        yield "meaning", weights.relevance * worth["relevance"]["meaning"] * max(0.0, candidate.meaning)
        votes = min(candidate.votes, worth["link_context"]["most_votes"])
        yield "links from relevant pages", weights.link_context * votes
        for signal, loss in candidate.signal_rows(lists=self.settings.filters.lists == "penalty"):
            yield signal, weights.page_signals * loss
        for signal, loss in self._novelty(candidate):
            yield signal, weights.novelty * loss
        for signal, gain in candidate.authority_rows():
            yield signal, weights.authority * gain

    def _novelty(self, candidate: Candidate) -> Iterator[Row]:
        worth = points()["novelty"]
        if candidate.facts is not None and candidate.facts.duplicate_of:
            yield "near-duplicate", worth["duplicate"]
        over = self.branches.over(self.branch_of(candidate), self._most_in_branch)
        if over:
            yield "full branch", max(worth["fullest_branch"], worth["full_branch"] * over)
        if candidate.depth > 1 and self.settings.strategy == "priority":
            yield "depth", worth["depth"] * (candidate.depth - 1)

    def branch_of(self, candidate: Candidate) -> str:
        return self.branches.of(candidate.title, candidate.facts, candidate.root)

    def relevance(self, candidate: Candidate) -> float:
        return candidate.relevance(self._scale)

    def importance(self, step: Visited) -> float:
        """How much a visited page matters to the topic: by what it says, how often, and who links to it."""
        votes = min(self._heard[step.ref], points()["link_context"]["most_votes"])
        return round(100 * step.relevance + SAID_AGAIN * step.facts.page + votes, 2)

    def is_known(self, ref: EntryRef) -> bool:
        return ref in self.frontier or ref in self.visited or ref in self._gone

    def is_lesson_due(self) -> bool:
        return len(self.visited) >= FIRST_LESSON << self.lessons

    def stems(self, words: str, book: str) -> frozenset[str]:
        stem_of = stemmer(self.languages.get(book, "eng"))
        return frozenset(stem_of(word) for word in fold(words).split())

    def topic_stems(self) -> frozenset[str]:
        return frozenset(stem for weights in self._topic.values() for stem in weights)

    def _begin(self, step: Begun) -> None:
        self.begun = step
        for searched in step.searched:
            stem_of = stemmer(self.languages.get(searched.book, "eng"))
            self._topic[searched.book] = {stem_of(word): rarity for word, rarity in searched.words}
        most = max((Spoken(one.named, one.page, one.focus).relevance(one.share) for one in step.found), default=0.0)
        self._scale = 100 / most if most else 1.0
        seeds = {seed.ref: seed for seed in step.seeds}
        self._coverage = {seed.ref: seed.coverage for seed in step.seeds}
        for found in step.found:
            self._offer_found(found, seeds.get(found.ref))
        self.seeds = [seed.ref for seed in step.seeds if seed.ref in self.frontier]

    def _offer_found(self, found: Found, seed: Considered | None) -> None:
        depth = 0 if seed else 1
        if depth > self.settings.max_depth:
            return
        candidate = self._new(found.ref, found.title, depth, root=found.title)
        candidate.share, candidate.named, candidate.page, candidate.focus = (
            found.share, found.named, found.page, found.focus,
        )  # fmt: skip
        candidate.meaning = found.meaning
        candidate.is_found = True
        candidate.seed = seed.why if seed else ""
        self.frontier.put(candidate)

    def _new(self, ref: EntryRef, title: str, depth: int, root: str) -> Candidate:
        stems = self.stems(title, ref.book)
        candidate = Candidate(ref, title, depth, stems, root=root)
        candidate.in_words = self._in_topic(ref.book, stems)
        candidate.is_list = is_list(title, self.languages.get(ref.book, "eng"))
        return candidate

    def _in_topic(self, book: str, stems: frozenset[str]) -> float:
        weights = self._topic.get(book, {})
        total = sum(weights.values())
        return sum(weight for stem, weight in weights.items() if stem in stems) / total if total else 0.0

    def _visit(self, step: Visited) -> None:
        ref = step.ref
        candidate = self.frontier.get(ref)
        self.frontier.remove(ref)
        self.visited[ref] = step
        self._heard[ref] = candidate.votes if candidate is not None else 0.0
        self.at_depth[step.depth] += 1
        if self.seeds and self.seeds[0] == ref:
            self.seeds.pop(0)
        self.copies.add(step.title, step.facts.sketch)
        self.branches.add(step.branch, step.facts, is_seed=step.depth == 0)
        self.vocabulary.add(step.words, max(step.relevance, LEAST_RELEVANCE))
        root = candidate.root if candidate is not None and step.depth > 1 else step.title
        self._take_offers(root, step)

    def _look(self, step: Looked) -> None:
        self.looks += 1
        ref = step.ref
        candidate = self.frontier.get(ref)
        if step.gone:
            self.frontier.remove(ref)
            self._gone.add(ref)
            if self.seeds and self.seeds[0] == ref:
                self.seeds.pop(0)
        elif candidate is not None and step.facts is not None:
            candidate.learn(step.facts)
            self.frontier.put(candidate)
        self._take_offers(candidate.root if candidate else step.title, step)

    def _take_offers(self, root: str, step: Visited | Looked) -> None:
        # What a page of senses lists stands where the page stood.
        depth = step.depth + 1 if isinstance(step, Visited) else step.depth
        if depth > self.settings.max_depth:
            return
        worth = points()["link_context"]
        power = max(step.relevance, LEAST_RELEVANCE) ** worth["relevance_power"]
        seed = 1 + (worth["seed"] - 1) * self._coverage.get(step.ref, 0.0)
        each = worth["votes"] * seed * power / max(1, step.links) ** 0.5
        for offer in step.offers:
            self._vote(EntryRef(step.book, offer.path), offer, each * offer.worth, depth, step.title, root)

    def _vote(self, ref: EntryRef, offer: Offer, votes: float, depth: int, parent: str, root: str) -> None:
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
        if offer.anchor and fold(offer.anchor) != fold(offer.title):
            candidate.stems |= self.stems(offer.anchor, ref.book)
            candidate.in_words = self._in_topic(ref.book, candidate.stems)
        self.frontier.put(candidate)

    def replay(self, steps: Iterable[Step]) -> None:
        for step in steps:
            self.apply(step)
