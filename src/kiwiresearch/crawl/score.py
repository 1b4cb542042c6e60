"""The score of a page that a crawl may visit: a sum of terms, each of them one entry of `TERMS`.

In addition to its entry here, a new term needs:
- its points, in points.toml, under the group whose weight multiplies it;
- its label, under [signals] in messages/languages/*/graph.toml;
- its row, in docs/reference/crawl-scoring.md.
tests/crawl/test_crawl_scoring_page.py fails if one of these is missing; it lists the points of each term
(`TERM_OF_POINTS`).

A term from a new fact about the page also needs a field at the end of `PageFacts` (step.py), its value in
`CrawlReader.facts` (reader.py), and the signal in `PageSignals` (page/doc.py, page/side_content.py).
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from kiwiresearch.crawl.frontier import CrawlCandidate
from kiwiresearch.crawl.novelty import Branches
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.search import Score, ScoreTerm

POINTS: dict[str, dict[str, float]] = {
    group: {name: float(points) for name, points in table.items()}
    for group, table in tomllib.loads((files("kiwiresearch.crawl") / "points.toml").read_text(encoding="utf-8")).items()
}
"""The groups of points.toml."""

RELEVANCE, LINKS, SIGNALS, NOVELTY, AUTHORITY = (
    POINTS[group] for group in ("relevance", "link_context", "page_signals", "novelty", "authority")
)
MANY_REFERENCES = 100
LONG_PAGE_CHARS = 20_000

UNREAD_POINTS = 15.0
"""The points expected from the text of a page that has not been read yet."""

MIN_BEST_RELEVANCE = 80.0
"""The best page found is scaled up to 100 points, but not from less than this: a poor best page is not worth 100."""


@dataclass(frozen=True, slots=True)
class CrawlTerm:
    """A term of the score: its name, and the points of a page before they are multiplied by its group's weight."""

    name: str
    group: Literal["relevance", "link_context", "page_signals", "novelty", "authority"]
    points: Callable[[CrawlCandidate, CrawlScoring], float]


def _named(page: CrawlCandidate, _: CrawlScoring) -> float:
    # Shares are rounded. A page with none of the topic's words is not about the topic, even if it seems to name it.
    has_words = page.word_share or page.search_share or page.focus_share
    return RELEVANCE["named"] * page.name_share if has_words else 0.0


def _keywords(page: CrawlCandidate, scoring: CrawlScoring) -> float:
    if scoring.keywords.keys().isdisjoint(page.stems):  # nearly always true, and cheap to test
        return 0.0
    # Sorted, since a sum of floats depends on its order.
    weight = sum([scoring.keywords[stem] for stem in sorted(scoring.keywords.keys() & page.stems)])
    return RELEVANCE["keywords"] * min(1.0, weight)


def _is_list_page(page: CrawlCandidate, scoring: CrawlScoring) -> bool:
    is_list = page.is_list or (page.facts is not None and page.facts.is_list)
    return is_list and scoring.settings.filters.lists == "penalty"


def _full_branch(page: CrawlCandidate, scoring: CrawlScoring) -> float:
    surplus = scoring.branches.surplus(scoring.branch_of(page))
    return max(NOVELTY["most_full_branch"], NOVELTY["full_branch"] * surplus)


def _depth(page: CrawlCandidate, scoring: CrawlScoring) -> float:
    is_deep = page.depth > 1 and scoring.settings.strategy == "priority"
    return NOVELTY["depth"] * (page.depth - 1) if is_deep else 0.0


def _references(page: CrawlCandidate, _: CrawlScoring) -> float:
    if page.facts is None:
        return 0.0
    return AUTHORITY["references"] * min(1.0, math.log1p(page.facts.references) / math.log1p(MANY_REFERENCES))


TEXT_TERMS = (
    CrawlTerm("found by search", "relevance", lambda page, _: RELEVANCE["search"] * page.search_share),
    CrawlTerm("names the topic", "relevance", _named),
    CrawlTerm("topic words on the page", "relevance", lambda page, _: RELEVANCE["page"] * page.word_share),
    CrawlTerm("focus", "relevance", lambda page, _: RELEVANCE["focus"] * page.focus_share),
)
"""Terms from the text of the page itself. They are scaled so that the best page found has 100 points from them."""

TERMS = (
    *TEXT_TERMS,
    CrawlTerm("topic words in links", "relevance", lambda page, _: RELEVANCE["link"] * page.link_share),
    CrawlTerm("keywords", "relevance", _keywords),
    CrawlTerm("meaning", "relevance", lambda page, _: RELEVANCE["meaning"] * max(0.0, page.meaning)),
    CrawlTerm("links from relevant pages", "link_context", lambda page, _: min(page.votes, LINKS["most_votes"])),
    CrawlTerm("list page", "page_signals", lambda page, scoring: SIGNALS["list"] * _is_list_page(page, scoring)),
    CrawlTerm("stub", "page_signals", lambda page, _: SIGNALS["stub"] if page.facts and page.facts.is_stub else 0.0),
    CrawlTerm(
        "disambiguation page",
        "page_signals",
        lambda page, _: SIGNALS["disambiguation"] if page.facts and page.facts.is_disambiguation else 0.0,
    ),
    CrawlTerm(
        "near-duplicate",
        "novelty",
        lambda page, _: NOVELTY["duplicate"] if page.facts and page.facts.duplicate_of else 0.0,
    ),
    CrawlTerm("full branch", "novelty", _full_branch),
    CrawlTerm("depth", "novelty", _depth),
    CrawlTerm(
        "linked from visited pages",
        "authority",
        lambda page, _: AUTHORITY["inbound"] * math.log(page.voters) if page.voters > 1 else 0.0,
    ),
    CrawlTerm("standing in the book", "authority", lambda page, _: AUTHORITY["standing"] * page.link_rank),
    CrawlTerm("references", "authority", _references),
    CrawlTerm(
        "length",
        "authority",
        lambda page, _: AUTHORITY["length"] * min(1.0, page.facts.length / LONG_PAGE_CHARS) if page.facts else 0.0,
    ),
)
"""All terms, in the order in which a score shows them."""


class CrawlScoring:
    """Scores the candidates of one crawl by what is known so far."""

    def __init__(self, settings: CrawlSettings) -> None:
        self.settings = settings
        self.keywords: dict[str, float] = {}
        """Stems learned from visited pages, and their weights."""
        self.branches = Branches(settings)
        self._scale = 1.0
        self._factors = self._weighted_terms()

    def set_scale(self, found: list[CrawlCandidate]) -> None:
        """Scale the text terms by the best of the pages that the search found."""
        self._scale = 100 / max([MIN_BEST_RELEVANCE, *map(self._text_points, found)])
        self._factors = self._weighted_terms()

    def _weighted_terms(self) -> list[tuple[CrawlTerm, float]]:
        weights = self.settings.weights
        return [
            (term, self._scale * weights.relevance if term in TEXT_TERMS else getattr(weights, term.group))
            for term in TERMS
        ]

    def _terms(self, candidate: CrawlCandidate) -> list[tuple[str, float]]:
        """The terms of a candidate's score, rounded; those without points are left out."""
        return [
            (term.name, points)
            for term, factor in self._factors
            if (points := round(factor * term.points(candidate, self), 2))
        ]

    def score(self, candidate: CrawlCandidate) -> Score:
        return Score(tuple(ScoreTerm(name, points) for name, points in self._terms(candidate)))

    def points(self, candidate: CrawlCandidate) -> float:
        """The total of the score, without building the score, since the frontier needs it very often."""
        return round(sum([points for _, points in self._terms(candidate)]), 2)

    def expected_points(self, candidate: CrawlCandidate) -> float:
        """The points a candidate may have once its page is read."""
        return round(self.points(candidate) + _unread_points(candidate) * self.settings.weights.relevance, 2)

    def relevance(self, candidate: CrawlCandidate) -> float:
        """How much its text is about the topic, as a share of the best page found, at most 1."""
        return round(min(1.0, self._text_points(candidate) * self._scale / 100), 4)

    def topic_points(self, candidate: CrawlCandidate) -> float:
        """How closely a candidate is connected with the topic, regardless of the weights and of novelty."""
        votes = min(candidate.votes, LINKS["most_votes"])
        return 100 * self.relevance(candidate) + votes + _unread_points(candidate)

    def branch_of(self, candidate: CrawlCandidate) -> str:
        return self.branches.of(candidate.title, candidate.facts, candidate.root)

    def _text_points(self, candidate: CrawlCandidate) -> float:
        return sum(term.points(candidate, self) for term in TEXT_TERMS)


def _unread_points(candidate: CrawlCandidate) -> float:
    is_unread = candidate.facts is None and not candidate.is_found
    return UNREAD_POINTS if is_unread else 0.0
