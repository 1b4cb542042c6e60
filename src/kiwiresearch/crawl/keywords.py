"""Words learned on the way: what relevant pages say in the sentences that speak of the topic."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from kiwiresearch.crawl.topic import Places
from kiwiresearch.text.languages import words_of
from kiwiresearch.text.stem import stemmer
from kiwiresearch.text.words import words_in

SHORTEST = 3
MOST_SENTENCES = 15
LONGEST_SENTENCE = 500
MOST_IN_PAGE = 25
OFTEN_ENOUGH = 3
"""A word said more often on one page counts no more than this."""

WEIGHED = 40
KEPT = 12
TELLING = 1.6
"""A word that a quarter of all pages have is no keyword."""

FROM_PAGES = 2
"""A word of a single page tells about that page."""


class Keywords(NamedTuple):
    """Stems, each with a share of the first's weight, and how they are spelled."""

    stems: tuple[tuple[str, float], ...]
    words: tuple[str, ...]


def words_beside(levelled: str, sentences: Sequence[int], places: Places, language: str) -> tuple[tuple[str, int], ...]:
    """The telling words of the sentences that speak of the topic, the most frequent first."""
    silent = words_of(language).stop_words
    spoken = sorted({bisect_right(sentences, place) for _, found in places.found for place in found})[:MOST_SENTENCES]
    ends = [*sentences, len(levelled)]
    said = " ".join(
        levelled[ends[number - 1] : min(ends[number], ends[number - 1] + LONGEST_SENTENCE)] for number in spoken
    )
    counts = Counter(word for word in words_in(said) if len(word) >= SHORTEST and word.isalpha() and word not in silent)
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_IN_PAGE])


class Vocabulary:
    """What the visited pages say, each by its relevance."""

    def __init__(self) -> None:
        self._weights: dict[str, float] = {}
        self._pages: Counter[str] = Counter()

    def add(self, words: tuple[tuple[str, int], ...], relevance: float) -> None:
        for word, count in words:
            self._weights[word] = self._weights.get(word, 0.0) + relevance * min(count, OFTEN_ENOUGH)
            self._pages[word] += 1

    def keywords(self, rarity: Callable[[str], float], known: frozenset[str], language: str) -> Keywords:
        """The words that tell most, by what the pages say and how rare they are; forms of one word are one."""
        stem_of = stemmer(language)
        ordered = sorted(self._weights, key=lambda word: (-self._weights[word], word))
        often = [word for word in ordered if self._pages[word] >= FROM_PAGES][:WEIGHED]
        forms: dict[str, list[str]] = {}
        for word in often:
            forms.setdefault(stem_of(word), []).append(word)
        rare = {stem: rarity(words[0]) for stem, words in forms.items() if stem not in known}
        # In a small book all words are common; else those that every other page has tell nothing.
        least = min(TELLING, sorted(rare.values())[len(rare) // 2]) if rare else 0.0
        worth = {
            stem: sum(self._weights[word] for word in forms[stem]) * rareness
            for stem, rareness in rare.items()
            if rareness >= least
        }
        best = sorted(worth, key=lambda stem: (-worth[stem], stem))[:KEPT]
        top = worth[best[0]] if best else 0.0
        shares = tuple((stem, round(worth[stem] / top, 4)) for stem in best if top)
        return Keywords(shares, tuple(forms[stem][0] for stem, _ in shares))
