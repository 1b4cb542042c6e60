"""From candidates to scores: the point table, then what titles and pages hold of the query's rare words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kiwiresearch.search.hit import Score
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.passages import TextMatch
from kiwiresearch.search.points import folded_words, points, table
from kiwiresearch.search.query import ROMAN, Query
from kiwiresearch.search.recall import Candidate
from kiwiresearch.text.languages import words_of
from kiwiresearch.text.stem import stemmer

QUALIFIER = re.compile(r"\s*\(([^()]*)\)\s*$")
NEARLY_ALL = 0.999
UNASKED = 5.0
"""What a title's word is taken to weigh that the query does not have: a middling rarity."""


@dataclass(frozen=True, slots=True)
class TitleMatch:
    """How well a title and a query cover each other, in shares of rarity."""

    asked: float = 0.0
    """Of the query, how much is in the title."""
    said: float = 0.0
    """Of the title, how much is in the query; less where that is little of the query."""
    named: float = 0.0
    """Of the query, how much is the title itself, standing there word for word."""
    whole: float = 0.0
    """Whether the title says all of the query, and nothing else."""
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
    figures: Mapping[str, str]
    """Roman numbers that stand for figures of the query."""

    @classmethod
    def of(cls, book: OpenBook, query: Query) -> Judge:
        stem_of = stemmer(query.language)
        rarity = {term.stem: book.rarity(term.word) for term in query.terms}
        spoken = f" {' '.join(stem_of(word) for word in query.words)} "
        figures = {ROMAN[word]: word for word in query.words if word in ROMAN}
        return cls(query, rarity, sum(rarity.values()), spoken, figures)

    def title(self, candidate: Candidate) -> TitleMatch:
        """The better of the page's own title and the names that led to it."""
        names = (candidate.title, *sorted(candidate.aliases))
        return max((self._title(name) for name in names), key=lambda m: m.asked + m.said + m.named + m.whole)

    def _title(self, title: str) -> TitleMatch:
        if not self.total:  # a query of signs alone can only be a title
            return TitleMatch(whole=self._whole(title, frozenset(), 0.0), name=title)
        silent = words_of(self.query.language).stop_words
        qualifier = QUALIFIER.search(title)
        name = [self._stem(word) for word in folded_words(QUALIFIER.sub("", title) or title)]
        beside = [self._stem(word) for word in folded_words(qualifier[1])] if qualifier else []
        stems = frozenset((*name, *beside))
        asked = sum(weight for stem, weight in self.rarity.items() if stem in stems)
        telling = [stem for stem in dict.fromkeys(name) if stem not in silent or stem in self.rarity]
        said = sum(self.rarity.get(stem, UNASKED) for stem in telling)
        said += sum(self.rarity.get(stem, 0.0) for stem in dict.fromkeys(beside) if stem not in name)
        stands = bool(name) and f" {' '.join(name)} " in self.spoken
        share = asked / self.total
        named = share if stands else 0.0
        said = asked / said * share**0.5 if said else 0.0
        return TitleMatch(share, said, named, self._whole(title, stems, share), stems, title)

    def _whole(self, title: str, stems: frozenset[str], share: float) -> float:
        """1 if the title is the query, half of it if in another form; a hint would have to decide against it."""
        if self.query.focus:
            return 0.0
        if folded_words(title) in (folded_words(self.query.asked), folded_words(self.query.core)):
            return 1.0
        silent = words_of(self.query.language).stop_words
        return 0.5 if share > NEARLY_ALL and all(s in self.rarity for s in stems if s not in silent) else 0.0

    def _stem(self, word: str) -> str:
        """The stem of a title's word; a Roman number where the query has the same in figures counts as that."""
        return self.figures.get(word) or stemmer(self.query.language)(word)

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

    def focused(self, score: Score, in_title: float, in_text: float) -> Score:
        """The score with what the user's hint says, as shares of the hint's words."""
        worth = table()["focus"]
        return score.plus("focus in title", worth["title"] * in_title).plus("focus", worth["text"] * in_text)

    def _titled(self, score: Score, title: TitleMatch) -> Score:
        worth = table()["words"]
        score = score.plus("query words in title", worth["asked"] * title.asked)
        score = score.plus("title words in query", worth["said"] * title.said)
        score = score.plus("title named in query", worth["named"] * title.named)
        return score.plus("title is the query", worth["whole"] * title.whole)
