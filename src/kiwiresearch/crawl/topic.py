"""The topic in one book: its words and names, how much of them a text has, and the keywords learned."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from kiwiresearch.search import OpenBook, Query, QueryTerm, match_text
from kiwiresearch.text import (
    AspectWords,
    fold,
    language_words,
    occurrences,
    stemmer,
    stems_in,
    without_qualifier,
    words_in,
)

SINGLE_MENTION = 0.7
MANY_MENTIONS = 3
"""A text with a single mention may name it in passing: it counts this share of a text with many mentions."""

MAX_GAP_CHARS = 24
"""The largest gap between two words of a name, which only stop words may separate: 'Treaty of the Bogue'."""

MAX_ABBREVIATION = 3
"""A full stop after this few letters does not end a sentence: 'John F. Kennedy', 'St. Louis'."""

WordPlaces = Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class NameMention:
    """How completely, and how often, a text says a name."""

    share: float
    """The share of the name said in one piece; a part of it counts by the square."""
    times: int

    @property
    def worth(self) -> float:
        repetition = min(1.0, max(0, self.times - 1) / (MANY_MENTIONS - 1))
        return self.share**2 * (SINGLE_MENTION + (1 - SINGLE_MENTION) * repetition)


def topic_names(query: Query, aspect: str = "") -> tuple[tuple[QueryTerm, ...], ...]:
    """The names in a topic, each as its words in order, without the words of the aspect.

    'drought and the Hittites' has two names.
    """
    stem_of = stemmer(query.language)
    aspect_stems = {stem_of(word) for word in words_in(aspect)}
    known = language_words(query.language)
    ordered = sorted((term for term in query.terms if term.stem not in aspect_stems), key=lambda term: term.place)
    names: list[list[QueryTerm]] = []
    for term in ordered or query.terms:
        between = query.words[names[-1][-1].place + 1 : term.place] if names else ()
        if names and known.joining.isdisjoint(between):
            names[-1].append(term)
        else:
            names.append([term])
    return tuple(map(tuple, names))


def name_mention(
    text: str, name: Sequence[QueryTerm], places: WordPlaces, rarity: Mapping[str, float], stop_words: frozenset[str]
) -> NameMention:
    """The longest part of a name in a lower-case text, and how often it occurs; one word of several is not enough."""
    if len(name) == 1:
        found = places[name[0].stem]
        return NameMention(float(bool(found)), len(found))
    total = sum(rarity[term.stem] for term in name) or 1.0
    best = NameMention(0.0, 0)
    # From the last word of the name to the first: where each word is, and the number of the last word
    # of the name that can be reached from there without a break.
    following: dict[int, int] = {}
    for number in range(len(name) - 1, -1, -1):
        here = {place: _last_word(text, place, following, number, stop_words) for place in places[name[number].stem]}
        for last in set(here.values()):
            if last > number:
                share = sum(rarity[term.stem] for term in name[number : last + 1]) / total
                times = sum(end == last for end in here.values())
                best = max(
                    best, NameMention(share, times), key=lambda mention: (round(mention.share, 6), mention.times)
                )
        following = here
    return best


def _last_word(text: str, place: int, following: Mapping[int, int], number: int, stop_words: frozenset[str]) -> int:
    """The number of the last word of the name that is reached from word `number` at this place."""
    end = place
    while end < len(text) and (text[end].isalnum() or text[end] in "'’"):
        end += 1
    for start in range(end, min(len(text), end + MAX_GAP_CHARS) + 1):
        if start in following:
            return following[start] if _is_one_piece(text[place:end], text[end:start], stop_words) else number
    return number


def _is_one_piece(word: str, gap: str, stop_words: frozenset[str]) -> bool:
    if any(char in gap for char in "!?;:\n\t|•") or ("." in gap and len(word) > MAX_ABBREVIATION):
        return False
    return all(part in stop_words for part in gap.replace("-", " ").replace("–", " ").strip(" .,'\"()").split())


FULL_NAME_SHARE = 0.999
"""Shares are sums of floats, so a full name may come out below 1."""

CONTEXT_CHARS, MAX_MENTIONS, ENOUGH_ASPECT_MENTIONS = 160, 40, 3
"""The aspect is searched within this distance of up to this many mentions; near three of them, the page is about it."""

NO_ASPECT_SHARE = 0.3
"""The factor for naming the subject on a page that says nothing about the requested aspect."""


class TopicShares(NamedTuple):
    """How much a text is about the topic, in shares."""

    name_share: float
    """The share of the topic's names that it has in one piece."""
    word_share: float
    """The share of the topic's words that it has, by their rarity and number."""
    focus_share: float
    """The same for the words of the focus."""
    is_named: bool = False
    """Whether it names the topic in full, even if only once."""


@dataclass(frozen=True)
class Topic:
    """One topic in one book."""

    query: Query
    rarity: Mapping[str, float]
    focus_rarity: Mapping[str, float]
    names: tuple[tuple[QueryTerm, ...], ...]
    """The names in it, without an aspect such as 'causes of'."""
    aspect: AspectWords | None = None
    """The requested aspect, if there is one."""

    @classmethod
    def of(cls, book: OpenBook, query: Query, aspect: str = "") -> Topic:
        return cls(
            query,
            {term.stem: book.rarity(term.word) for term in query.terms},
            {term.stem: book.rarity(term.word) for term in query.focus},
            topic_names(query, aspect),
            AspectWords.of(aspect, query.language) if aspect else None,
        )

    @cached_property
    def total(self) -> float:
        return sum(self.rarity.values())

    def shares_in(self, lowered: str, lead: int = 0) -> TopicShares:
        """How much a lower-case text is about the topic."""
        found = match_text(lowered, self.query.terms, self.rarity, self.query.language, lead=lead)
        name_share, is_named = self._name_share(lowered) if found.page else (0.0, False)
        focus = 0.0
        if self.query.focus:
            focused = match_text(lowered, self.query.focus, self.focus_rarity, self.query.language, lead=lead)
            focus = min(1.0, (focused.page + focused.lead) / 2)
        return TopicShares(round(name_share, 4), round(found.page, 4), round(focus, 4), is_named)

    def _name_share(self, lowered: str) -> tuple[float, bool]:
        """How much of the topic's names a text says, and whether it says all of them in full."""
        stem_of = stemmer(self.query.language)
        stop_words = language_words(self.query.language).stop_words
        total = worth = 0.0
        is_named = True
        mentions: list[int] = []
        for name in self.names:
            places = {term.stem: occurrences(lowered, term.word, stem_of) for term in name}
            weight = sum(self.rarity[term.stem] for term in name)
            mention = name_mention(lowered, name, places, self.rarity, stop_words)
            total += weight
            worth += weight * mention.worth
            is_named = is_named and mention.share > FULL_NAME_SHARE
            most_frequent: Sequence[int] = max((places[term.stem] for term in name), key=len, default=())
            mentions += most_frequent
        share = worth / total if total else 0.0
        return share * self._aspect_share(lowered, mentions), is_named

    def _aspect_share(self, lowered: str, mentions: Sequence[int]) -> float:
        """How much naming the topic counts, by how often the aspect is near it."""
        if self.aspect is None:
            return 1.0
        near = 0
        for place in mentions[:MAX_MENTIONS]:
            around = lowered[max(0, place - CONTEXT_CHARS) : place + CONTEXT_CHARS]
            near += self.aspect.naming_score(stems_in(around, self.query.language)) >= 1
        return NO_ASPECT_SHARE + (1 - NO_ASPECT_SHARE) * min(1.0, near / ENOUGH_ASPECT_MENTIONS)

    def places(self, lowered: str) -> TopicPlaces:
        """Where the words of the topic and of the focus are in a text."""
        stem_of = stemmer(self.query.language)
        weights = {**self.focus_rarity, **self.rarity}
        terms: Sequence[QueryTerm] = (*self.query.terms, *self.query.focus)
        found = {term.stem: occurrences(lowered, term.word, stem_of) for term in terms}
        absent = tuple(term.word for term in terms if not found[term.stem])
        return TopicPlaces(self.total, tuple((weights[stem], at) for stem, at in sorted(found.items()) if at), absent)

    def word_share(self, lowered: str) -> float:
        """How much of the topic's words a text has, by their rarity only."""
        absent = self.places(lowered).absent
        lost = sum(self.rarity[term.stem] for term in self.query.terms if term.word in absent)
        return 1 - lost / self.total if self.total else 0.0

    def has_all(self, words: str) -> bool:
        """Whether the topic and the focus together have all of these words."""
        stem_of = stemmer(self.query.language)
        known = {*self.rarity, *self.focus_rarity}
        return all(stem_of(word) in known for word in fold(words).split())

    def name_stems(self, title: str) -> frozenset[str]:
        """The stems of a title, without stop words and a qualifier in brackets."""
        stem_of = stemmer(self.query.language)
        stop_words = language_words(self.query.language).stop_words
        return frozenset(stem_of(word) for word in fold(without_qualifier(title)).split() if word not in stop_words)

    def covered_by(self, title: str) -> float:
        """The share of the topic's names that a title covers, if it has no other words."""
        stems = self.name_stems(title)
        weights = {term.stem: self.rarity[term.stem] for name in self.names for term in name}
        if not stems or not stems <= weights.keys():
            return 0.0
        return round(sum(weights[stem] for stem in stems) / sum(weights.values()), 4)


@dataclass(frozen=True, slots=True)
class TopicPlaces:
    """Where words of the topic are in one text."""

    total: float
    found: tuple[tuple[float, Sequence[int]], ...]
    absent: tuple[str, ...]
    """Words that are not in it."""

    def between(self, start: int, end: int) -> float:
        """The share of the topic's words between two offsets, at most 1."""
        if not self.total:
            return 0.0
        found = 0.0
        for weight, places in self.found:
            index = bisect_left(places, start)
            if index < len(places) and places[index] < end:
                found += weight
        return min(1.0, found / self.total)


MIN_KEYWORD_CHARS = 3
MAX_SENTENCES = 15
MAX_SENTENCE_CHARS = 500
MAX_WORDS_PER_PAGE = 25
MAX_COUNT = 3
"""A word said more often on one page does not count more."""

MAX_WEIGHED_WORDS = 40
MAX_KEYWORDS = 12
MIN_RARITY = 1.6
"""A word that a quarter of all pages have is not a keyword."""

MIN_KEYWORD_PAGES = 2
"""A word of a single page says something about that page only."""


class Keywords(NamedTuple):
    """Stems, each with a share of the first's weight, and how they are spelled."""

    stems: tuple[tuple[str, float], ...]
    words: tuple[str, ...]


def words_near_topic(
    lowered: str, sentences: Sequence[int], places: TopicPlaces, language: str
) -> tuple[tuple[str, int], ...]:
    """The words of the sentences about the topic, without stop words, most frequent first."""
    stop_words = language_words(language).stop_words
    numbers = sorted({bisect_right(sentences, place) for _, found in places.found for place in found})[:MAX_SENTENCES]
    ends = [*sentences, len(lowered)]
    # `bisect_right` counts the sentences that start up to a place, so sentence number n starts at `ends[n - 1]`.
    text = " ".join(
        lowered[ends[index - 1] : min(ends[index], ends[index - 1] + MAX_SENTENCE_CHARS)] for index in numbers
    )
    counts = Counter(
        word for word in words_in(text) if len(word) >= MIN_KEYWORD_CHARS and word.isalpha() and word not in stop_words
    )
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_WORDS_PER_PAGE])


class Vocabulary:
    """The words that visited pages say about the topic, weighted by the relevance of each page."""

    def __init__(self) -> None:
        self._weights: dict[str, float] = {}
        self._pages: Counter[str] = Counter()

    def add(self, words: tuple[tuple[str, int], ...], relevance: float) -> None:
        for word, count in words:
            self._weights[word] = self._weights.get(word, 0.0) + relevance * min(count, MAX_COUNT)
            self._pages[word] += 1

    def keywords(self, rarity: Callable[[str], float], known: frozenset[str], language: str) -> Keywords:
        """The best keywords, by their weights and how rare they are; forms of one word are one keyword.

        `known` stems are those of the topic itself.
        """
        stem_of = stemmer(language)
        ordered = sorted(self._weights, key=lambda word: (-self._weights[word], word))
        frequent = [word for word in ordered if self._pages[word] >= MIN_KEYWORD_PAGES][:MAX_WEIGHED_WORDS]
        forms: dict[str, list[str]] = {}
        for word in frequent:
            forms.setdefault(stem_of(word), []).append(word)
        rarities = {stem: rarity(words[0]) for stem, words in forms.items() if stem not in known}
        # In a small book every word is common, so the rarer half always counts.
        min_rarity = min(MIN_RARITY, sorted(rarities.values())[len(rarities) // 2]) if rarities else 0.0
        worth = {
            stem: sum(self._weights[word] for word in forms[stem]) * rare
            for stem, rare in rarities.items()
            if rare >= min_rarity
        }
        best = sorted(worth, key=lambda stem: (-worth[stem], stem))[:MAX_KEYWORDS]
        top = worth[best[0]] if best else 0.0
        shares = tuple((stem, round(worth[stem] / top, 4)) for stem in best if top)
        return Keywords(shares, tuple(forms[stem][0] for stem, _ in shares))
