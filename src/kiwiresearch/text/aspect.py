"""The words by which a side of a thing is recognised: in headings, and in what is said below them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from kiwiresearch.text.fold import fold
from kiwiresearch.text.languages import words_of
from kiwiresearch.text.stem import stemmer
from kiwiresearch.text.words import words_in

FAMILY, FAMILY_SHARE = 4, 0.55
"""Words are of one family if so many letters, and such a share of the longer one, are their common beginning."""


def of_one_family(word: str, other: str) -> bool:
    """Whether two words are likely forms of one: 'volcanic' and 'volcano', 'slave' and 'slavery'."""
    length = 0
    for one, two in zip(word, other, strict=False):
        if one != two:
            break
        length += 1
    return length >= FAMILY and length >= FAMILY_SHARE * max(len(word), len(other))


HALF = 0.5
"""A heading that has half of the aspect's words is about it."""


@cache
def _silent(language: str) -> frozenset[str]:
    return frozenset(map(fold, words_of(language).stop_words))


@lru_cache(maxsize=16_384)
def stems_in(text: str, language: str) -> frozenset[str]:
    """The roots of the words of a text that say something."""
    stem_of, silent = stemmer(language), _silent(language)
    return frozenset(stem_of(word) for word in fold(text).split() if word not in silent)


@dataclass(frozen=True, slots=True)
class AspectWords:
    """Roots of words: the aspect's own, others that ask for the same, and those that speak of it."""

    own: frozenset[str]
    asked: frozenset[str]
    said: frozenset[str]
    language: str
    needed: frozenset[str] = frozenset()
    """Names in the aspect, such as 'South Africa': what has none of their words is of something else."""

    @classmethod
    def of(cls, aspect: str, language: str) -> AspectWords:
        stem_of = stemmer(language)
        known = words_of(language)
        words = [word for word in fold(aspect).split() if word not in _silent(language)]
        groups = [group for group in known.aspects.values() if not group.asked.isdisjoint(words)]
        asked = frozenset(stem_of(word) for group in groups for word in group.asked)
        said = frozenset(stem_of(word) for group in groups for word in group.said)
        names = [word for word in words_in(aspect)[1:] if word[:1].isupper()]
        needed = frozenset(stem_of(fold(word)) for word in names)
        return cls(frozenset(map(stem_of, words)), asked, said - asked, language, needed)

    def names(self, text: str) -> bool:
        """Whether a heading or a title is about the aspect."""
        return self.asks(stems_in(text, self.language)) >= HALF

    def names_any(self, headings: Sequence[str]) -> bool:
        return any(map(self.names, headings))

    def asks(self, stems: Iterable[str]) -> float:
        """How much some words name the aspect: how many of its synonyms, and which share of its own words."""
        stems = frozenset(stems)
        own = sum(any(one == stem or of_one_family(one, stem) for stem in stems) for one in self.own)
        return min(2, len(stems & self.asked)) + (own / len(self.own) if self.own else 0.0)

    def lacks(self, stems: Iterable[str]) -> bool:
        """Whether some words have none of those that are needed."""
        return bool(self.needed) and self.needed.isdisjoint(stems)

    def says(self, stems: Iterable[str]) -> int:
        """How many words speak of the aspect without naming it; two are as good as more."""
        return min(2, len(self.said & frozenset(stems)))
