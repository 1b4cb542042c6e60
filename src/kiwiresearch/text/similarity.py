"""How much two sentences share, where they differ, and whether a heading names an aspect."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import NamedTuple

from rapidfuzz.distance import Indel

from kiwiresearch.text.languages import language_words, stemmer
from kiwiresearch.text.words import UNSPACED_SCRIPTS, common_prefix_length, fold, plain_lower, words_in

WORD = re.compile(r"[^\W_]+")
# Longest first: 'foundations' loses 'ations'. Four letters must remain, so 'nations' loses only its 's'.
ENDINGS = (
    "ations", "ation", "ments", "ment", "ings", "ing", "ies", "ied", "ers", "ed", "es", "er", "ly", "s", "y", "e",
)  # fmt: skip
MIN_ROOT_LETTERS = 4
"""The minimum length of a root."""


@lru_cache(maxsize=65_536)
def _root(word: str, language: str) -> str:
    """A root that is good enough to compare two sentences, in a fraction of the time of a real stemmer."""
    if word in language_words(language).stop_words:
        return ""
    ending = next((end for end in ENDINGS if word.endswith(end) and len(word) - len(end) >= MIN_ROOT_LETTERS), "")
    return word.removesuffix(ending)


def roots_of(text: str, language: str) -> frozenset[str]:
    """The roots of the content words."""
    return frozenset(_root(word, language) for word in WORD.findall(plain_lower(text))) - {""}


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """The number of words that two texts share, divided by the number of all their words."""
    if not one or not other:
        return 0.0
    common = len(one & other)
    return common / (len(one) + len(other) - common)


def containment(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the shorter text's words that the longer one also has."""
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0


PIECE = re.compile(rf"\s+|{UNSPACED_SCRIPTS.pattern}|[^\W_]+(?:[.,'’:/-][^\W_]+)*|.", re.DOTALL)
"""A word or number, a space, or a sign; in scripts without spaces, a single character."""

FIGURE = re.compile(r"\d")
ALIKE = str.maketrans(dict.fromkeys("‐‑‒–—−", "-") | dict.fromkeys("‘’‛′`´", "'") | dict.fromkeys("“”„«»″", '"'))
"""Characters that books use interchangeably."""

COMMA = re.compile(r"[,;](?!\d)")
"""Commas that are a matter of style, and not part of a number."""


class TextRun(NamedTuple):
    """Consecutive words of a sentence that are all in the other sentence, or all not."""

    text: str
    differs: bool


def comparable(text: str) -> str:
    """A sentence without differences of case, spaces, commas, final stop, and kinds of dashes and quotes."""
    signs = COMMA.sub(" ", unicodedata.normalize("NFKC", text).translate(ALIKE))
    return " ".join(signs.casefold().split()).rstrip(". ")


def compared_words(text: str) -> tuple[str, ...]:
    """The words and numbers of a sentence as they are compared."""
    return tuple(piece for piece in PIECE.findall(comparable(text)) if any(char.isalnum() for char in piece))


def without_figures(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words with "0" for every number."""
    return tuple("0" if FIGURE.search(word) else word for word in words)


def sequence_similarity(one: tuple[str, ...], other: tuple[str, ...], min_similarity: float = 0.0) -> float:
    """The share of words that two sentences have in common, in their order; 0 if it is below `min_similarity`."""
    return Indel.normalized_similarity(one, other, score_cutoff=min_similarity)


def marked_differences(one: str, other: str) -> tuple[tuple[TextRun, ...], tuple[TextRun, ...]]:
    """Both sentences as sequences of words, with those marked that the other does not have."""
    first, second = PIECE.findall(one), PIECE.findall(other)
    match = SequenceMatcher(None, [piece.casefold() for piece in first], [p.casefold() for p in second], autojunk=False)
    left: list[TextRun] = []
    right: list[TextRun] = []
    for kind, start, end, other_start, other_end in match.get_opcodes():
        _add(left, "".join(first[start:end]), differs=kind != "equal")
        _add(right, "".join(second[other_start:other_end]), differs=kind != "equal")
    return _joined(left), _joined(right)


def _add(runs: list[TextRun], text: str, *, differs: bool) -> None:
    if text:
        runs.append(TextRun(text, differs))


def _joined(runs: list[TextRun]) -> tuple[TextRun, ...]:
    """The runs with those joined that have only a space between them."""
    found: list[TextRun] = []
    for index, run in enumerate(runs):
        is_gap = not run.differs and not run.text.strip() and 0 < index < len(runs) - 1
        differs = run.differs or is_gap
        if found and found[-1].differs == differs:
            found[-1] = TextRun(found[-1].text + run.text, differs)
        else:
            found.append(TextRun(run.text, differs))
    return tuple(found)


MIN_COMMON_LETTERS, MIN_COMMON_SHARE = 4, 0.55
"""Words are related if their common prefix has at least this many letters, and this share of the longer word."""


def are_related_forms(word: str, other: str) -> bool:
    """Whether two words are probably forms of one: 'volcanic' and 'volcano', 'slave' and 'slavery'."""
    if word[:MIN_COMMON_LETTERS] != other[:MIN_COMMON_LETTERS]:  # most words differ here, and counting is slower
        return False
    length = common_prefix_length(word, other)
    return length >= MIN_COMMON_LETTERS and length >= MIN_COMMON_SHARE * max(len(word), len(other))


MIN_ASPECT_SHARE = 0.5
"""A heading with half of the aspect's words is about it."""


@cache
def _folded_stop_words(language: str) -> frozenset[str]:
    return frozenset(map(fold, language_words(language).stop_words))


@lru_cache(maxsize=16_384)
def stems_in(text: str, language: str) -> frozenset[str]:
    """The stems of the content words of a text."""
    stem_of, stop_words = stemmer(language), _folded_stop_words(language)
    return frozenset(stem_of(word) for word in fold(text).split() if word not in stop_words)


@dataclass(frozen=True, slots=True)
class AspectWords:
    """The stems of an aspect's own words, of their synonyms, and of related words."""

    own: frozenset[str]
    synonyms: frozenset[str]
    related: frozenset[str]
    language: str
    required: frozenset[str] = frozenset()
    """Words of names in the aspect, such as 'South Africa': a text with none of them is about something else."""

    @classmethod
    def of(cls, aspect: str, language: str) -> AspectWords:
        stem_of = stemmer(language)
        known = language_words(language)
        words = [word for word in fold(aspect).split() if word not in _folded_stop_words(language)]
        groups = [group for group in known.aspects.values() if not group.naming_words.isdisjoint(words)]
        asked = frozenset(stem_of(word) for group in groups for word in group.naming_words)
        said = frozenset(stem_of(word) for group in groups for word in group.related_words)
        names = [word for word in words_in(aspect)[1:] if word[:1].isupper()]
        needed = frozenset(stem_of(fold(word)) for word in names)
        return cls(frozenset(map(stem_of, words)), asked, said - asked, language, needed)

    def names(self, text: str) -> bool:
        """Whether a heading or a title is about the aspect."""
        return self.naming_score(stems_in(text, self.language)) >= MIN_ASPECT_SHARE

    def names_any(self, headings: Sequence[str]) -> bool:
        return any(map(self.names, headings))

    def naming_score(self, stems: Iterable[str]) -> float:
        """How clearly some words name the aspect: the number of its synonyms, and the share of its own words."""
        stems = frozenset(stems)
        own = sum(any(item == stem or are_related_forms(item, stem) for stem in stems) for item in self.own)
        return min(2, len(stems & self.synonyms)) + (own / len(self.own) if self.own else 0.0)

    def lacks_required(self, stems: Iterable[str]) -> bool:
        """Whether none of the required words is among some words."""
        return bool(self.required) and self.required.isdisjoint(stems)

    def mention_count(self, stems: Iterable[str]) -> int:
        """How many words are related to the aspect, at most two."""
        return min(2, len(self.related & frozenset(stems)))
