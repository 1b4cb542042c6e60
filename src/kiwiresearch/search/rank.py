"""From candidates to scores: the point table, then what titles and pages hold of the query's rare words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kiwiresearch.search.hit import Score
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.passages import TextMatch
from kiwiresearch.search.points import folded_words, points, table
from kiwiresearch.search.query import Query
from kiwiresearch.search.recall import Candidate
from kiwiresearch.text.languages import words_of
from kiwiresearch.text.stem import stemmer

QUALIFIER = re.compile(r"\s*\(([^()]*)\)\s*$")
UNASKED = 5.0
"""What a title's word is taken to weigh that the query does not have: a middling rarity."""


@dataclass(frozen=True, slots=True)
class TitleMatch:
    """How well a title and a query cover each other, in shares of rarity."""

    asked: float = 0.0
    """Of the query, how much is in the title."""
    said: float = 0.0
    """Of the title, how much is in the query."""
    named: float = 0.0
    """Of the query, how much is the title itself, standing there word for word."""
    stems: frozenset[str] = frozenset()
    name: str = ""
    """The name that was looked at."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Knows one query in one book: how rare its words are there."""

    query: Query
    rarity: Mapping[str, float]
    total: float
    spoken: str
    """The query's stems in order, between spaces."""

    @classmethod
    def of(cls, book: OpenBook, query: Query) -> Judge:
        stem_of = stemmer(query.language)
        rarity = {term.stem: book.rarity(term.word) for term in query.terms}
        return cls(query, rarity, sum(rarity.values()), f" {' '.join(stem_of(word) for word in query.words)} ")

    def title(self, candidate: Candidate) -> TitleMatch:
        """The better of the page's own title and the names that led to it."""
        names = (candidate.title, *sorted(candidate.aliases))
        return max((self._title(name) for name in names), key=lambda m: m.asked + m.said + m.named)

    def _title(self, title: str) -> TitleMatch:
        if not self.total:
            return TitleMatch(name=title)
        stem_of = stemmer(self.query.language)
        silent = words_of(self.query.language).stop_words
        qualifier = QUALIFIER.search(title)
        name = [stem_of(word) for word in folded_words(QUALIFIER.sub("", title) or title)]
        beside = [stem_of(word) for word in folded_words(qualifier[1])] if qualifier else []
        stems = frozenset((*name, *beside))
        asked = sum(weight for stem, weight in self.rarity.items() if stem in stems)
        telling = [stem for stem in dict.fromkeys(name) if stem not in silent or stem in self.rarity]
        said = sum(self.rarity.get(stem, UNASKED) for stem in telling)
        said += sum(self.rarity.get(stem, 0.0) for stem in dict.fromkeys(beside) if stem not in name)
        stands = bool(name) and f" {' '.join(name)} " in self.spoken
        share = asked / self.total
        return TitleMatch(share, asked / said if said else 0.0, share if stands else 0.0, stems, title)

    def quick(self, candidate: Candidate, title: TitleMatch, *, primary: bool = False) -> Score:
        """The score of a page that was not read."""
        worth = table()["quick"]
        score = points(self.query, candidate.title, primary=primary)
        score = self._titled(score, title)
        score = score.plus("listed for words", worth["listed"] * candidate.listed / self.total if self.total else 0)
        return score.plus("holds words", worth["shared"] * candidate.shared / self.total if self.total else 0)

    def full(
        self, candidate: Candidate, title: TitleMatch, text: TextMatch, excerpt: str, *, primary: bool = False
    ) -> Score:
        """The score of a page that was read."""
        worth = table()["text"]
        score = points(self.query, candidate.title, excerpt, primary=primary)
        score = self._titled(score, title)
        score = score.plus("best passage", worth["passage"] * text.passage)
        score = score.plus("whole page", worth["page"] * text.page)
        score = score.plus("lead", worth["lead"] * text.lead)
        score = score.plus("words together", worth["together"] * text.together)
        return score.plus("boxes and categories", worth["boxes"] * text.boxes)

    def focused(self, score: Score, focus: float) -> Score:
        """The score with what the user's hint says, as a share of the hint's words."""
        return score.plus("focus", table()["focus"]["words"] * focus)

    def _titled(self, score: Score, title: TitleMatch) -> Score:
        worth = table()["words"]
        score = score.plus("query words in title", worth["asked"] * title.asked)
        score = score.plus("title words in query", worth["said"] * title.said)
        return score.plus("title named in query", worth["named"] * title.named)
