"""The topic in one book: its words and names, how much a text speaks of them, and keywords learned."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import Query, Term
from kiwiresearch.search.rank import QUALIFIER, match
from kiwiresearch.text.languages import language_words, stemmer
from kiwiresearch.text.similarity import AspectWords, stems_in
from kiwiresearch.text.words import fold, occurrences, words_in

SAID_ONCE = 0.7
OFTEN = 3
"""A text that says a name once may do so in passing: it has this much of what one has that says it often."""

ROOM = 24
"""So many characters may part two words of a name, and only words that say nothing: 'Treaty of the Bogue'."""

SHORT = 3
"""A full stop behind so few letters ends no sentence: 'John F. Kennedy', 'St. Louis'."""

WordPlaces = Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class NameMention:
    """How a text says a name."""

    share: float
    """Of the name, the part that was said in one piece; less than all counts by its square."""
    times: int

    @property
    def worth(self) -> float:
        again = min(1.0, max(0, self.times - 1) / (OFTEN - 1))
        return self.share**2 * (SAID_ONCE + (1 - SAID_ONCE) * again)


def topic_names(query: Query, aspect: str = "") -> tuple[tuple[Term, ...], ...]:
    """The names in a topic, each as its words in order, without what says which side of them is asked for.

    'drought and the Hittites' names two things.
    """
    stem_of = stemmer(query.language)
    aside = {stem_of(word) for word in words_in(aspect)}
    known = language_words(query.language)
    ordered = sorted((term for term in query.terms if term.stem not in aside), key=lambda term: term.place)
    parts: list[list[Term]] = []
    for term in ordered or query.terms:
        before = query.words[parts[-1][-1].place + 1 : term.place] if parts else ()
        if parts and known.joining.isdisjoint(before):
            parts[-1].append(term)
        else:
            parts.append([term])
    return tuple(map(tuple, parts))


def name_mention(
    text: str, name: Sequence[Term], places: WordPlaces, rarity: Mapping[str, float], silent: frozenset[str]
) -> NameMention:
    """How much of a name stands in a levelled text in one piece, and how often; a single word of several is none."""
    if len(name) == 1:
        found = places[name[0].stem]
        return NameMention(float(bool(found)), len(found))
    whole = sum(rarity[term.stem] for term in name) or 1.0
    best = NameMention(0.0, 0)
    reach: dict[int, int] = {}  # where a run goes on, and the last word it comes to
    for number in range(len(name) - 1, -1, -1):
        here = {place: _last(text, place, reach, number, silent) for place in places[name[number].stem]}
        for last in set(here.values()):
            if last > number:
                share = sum(rarity[term.stem] for term in name[number : last + 1]) / whole
                times = sum(end == last for end in here.values())
                best = max(best, NameMention(share, times), key=lambda one: (round(one.share, 6), one.times))
        reach = here
    return best


def _last(text: str, place: int, following: Mapping[int, int], number: int, silent: frozenset[str]) -> int:
    """The number of the last word of the name that a run from here comes to."""
    end = place
    while end < len(text) and (text[end].isalnum() or text[end] in "'’"):
        end += 1
    for start in range(end, min(len(text), end + ROOM) + 1):
        if start in following:
            return following[start] if _is_one_piece(text[place:end], text[end:start], silent) else number
    return number


def _is_one_piece(word: str, gap: str, silent: frozenset[str]) -> bool:
    if any(char in gap for char in "!?;:\n\t|•"):
        return False
    if "." in gap and len(word) > SHORT:
        return False
    return all(part in silent for part in gap.replace("-", " ").replace("–", " ").strip(" .,'\"()").split())


ALMOST_ALL = 0.999
AROUND, MAX_SPOTS, ENOUGH_BESIDE = 160, 40, 3
"""The aspect is looked for so many characters around so many places; a page that has it in so many is about it."""

NO_ASPECT = 0.3
"""What a page is worth that names the thing, but says nothing of the side of it that is asked for."""


class TopicShares(NamedTuple):
    """How much a text is about the topic, in shares."""

    named: float
    """The topic's words stand together, as neighbours in the topic do."""
    page: float
    """Its words, by rarity and by how often they are there."""
    focus: float
    """The same for the words of the focus."""
    is_named: bool = False
    """It names the topic in full, if only once."""


@dataclass(frozen=True)
class Topic:
    """One topic in one book."""

    query: Query
    rarity: Mapping[str, float]
    focus_rarity: Mapping[str, float]
    names: tuple[tuple[Term, ...], ...]
    """The things it names, without 'causes of', which says what of them is asked."""
    aspect: AspectWords | None = None
    """What of them is asked, where that is not all."""

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

    def shares_in(self, levelled: str, lead: int = 0) -> TopicShares:
        """How much a levelled text speaks of the topic."""
        found = match(levelled, self.query.terms, self.rarity, self.query.language, lead=lead)
        named, is_named = self._named(levelled) if found.page else (0.0, False)
        focus = 0.0
        if self.query.focus:
            of_focus = match(levelled, self.query.focus, self.focus_rarity, self.query.language, lead=lead)
            focus = min(1.0, (of_focus.page + of_focus.lead) / 2)
        return TopicShares(round(named, 4), round(found.page, 4), round(focus, 4), is_named)

    def _named(self, levelled: str) -> tuple[float, bool]:
        """How much of what the topic names is said by its name, and whether all of it is."""
        stem_of = stemmer(self.query.language)
        silent = language_words(self.query.language).stop_words
        total = worth = 0.0
        is_named = True
        spots: list[int] = []
        for name in self.names:
            places = {term.stem: occurrences(levelled, term.word, stem_of) for term in name}
            weight = sum(self.rarity[term.stem] for term in name)
            how = name_mention(levelled, name, places, self.rarity, silent)
            total += weight
            worth += weight * how.worth
            is_named = is_named and how.share > ALMOST_ALL
            longest: Sequence[int] = max((places[term.stem] for term in name), key=len, default=())
            spots += longest
        share = worth / total if total else 0.0
        return share * self._beside(levelled, spots), is_named

    def _beside(self, levelled: str, spots: Sequence[int]) -> float:
        """How much of what is asked for stands beside the places where the topic is named, as a share."""
        if self.aspect is None:
            return 1.0
        beside = 0
        for spot in spots[:MAX_SPOTS]:
            around = levelled[max(0, spot - AROUND) : spot + AROUND]
            beside += self.aspect.naming_score(stems_in(around, self.query.language)) >= 1
        return NO_ASPECT + (1 - NO_ASPECT) * min(1.0, beside / ENOUGH_BESIDE)

    def places(self, levelled: str) -> TopicPlaces:
        """Where the topic's and the focus's words are in a text."""
        stem_of = stemmer(self.query.language)
        weights = {**self.focus_rarity, **self.rarity}
        terms: Sequence[Term] = (*self.query.terms, *self.query.focus)
        found = {term.stem: occurrences(levelled, term.word, stem_of) for term in terms}
        absent = tuple(term.word for term in terms if not found[term.stem])
        return TopicPlaces(self.total, tuple((weights[stem], at) for stem, at in sorted(found.items()) if at), absent)

    def word_share(self, levelled: str) -> float:
        """How much of the topic's words a text has at all, by their rarity."""
        here = self.places(levelled)
        lost = sum(self.rarity[term.stem] for term in self.query.terms if term.word in here.absent)
        return 1 - lost / self.total if self.total else 0.0

    def has_all(self, words: str) -> bool:
        """Whether the topic or the focus has all of some words."""
        stem_of = stemmer(self.query.language)
        known = {*self.rarity, *self.focus_rarity}
        return all(stem_of(word) in known for word in fold(words).split())

    def name_stems(self, title: str) -> frozenset[str]:
        """The telling words of a title, without what stands in brackets behind it."""
        stem_of = stemmer(self.query.language)
        silent = language_words(self.query.language).stop_words
        return frozenset(stem_of(word) for word in fold(QUALIFIER.sub("", title)).split() if word not in silent)

    def covered_by(self, title: str) -> float:
        """How much of what the topic names a title is, if it says nothing else."""
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
        """How much of the topic is said between two offsets, as a share, at most 1."""
        if not self.total:
            return 0.0
        held = 0.0
        for weight, places in self.found:
            at = bisect_left(places, start)
            if at < len(places) and places[at] < end:
                held += weight
        return min(1.0, held / self.total)


SHORTEST = 3
MAX_SENTENCES = 15
LONGEST_SENTENCE = 500
MAX_IN_PAGE = 25
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


def words_near_topic(
    levelled: str, sentences: Sequence[int], places: TopicPlaces, language: str
) -> tuple[tuple[str, int], ...]:
    """The telling words of the sentences that speak of the topic, the most frequent first."""
    silent = language_words(language).stop_words
    spoken = sorted({bisect_right(sentences, place) for _, found in places.found for place in found})[:MAX_SENTENCES]
    ends = [*sentences, len(levelled)]
    said = " ".join(
        levelled[ends[number - 1] : min(ends[number], ends[number - 1] + LONGEST_SENTENCE)] for number in spoken
    )
    counts = Counter(word for word in words_in(said) if len(word) >= SHORTEST and word.isalpha() and word not in silent)
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_IN_PAGE])


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
