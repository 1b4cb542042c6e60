"""Scores candidates: points for titles and excerpts, and how much of the query titles and texts have."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise

from kiwiresearch.codec import toml_data
from kiwiresearch.search.candidates import SearchCandidate
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import ROMAN, Query, QueryTerm, Score
from kiwiresearch.text import (
    TITLE_QUALIFIER,
    fold,
    language_words,
    occurrences,
    roots,
    share_root,
    stemmer,
    without_qualifier,
)

PASSAGE_STEP = 500
"""A passage is two steps long, about 160 words; a passage starts at every step."""

LEAD_CHARS = 700
USUAL_LENGTH = 19_000
"""Characters of an average article: in longer ones a word counts less."""

SATURATION = 1.2
LENGTH_SHARE = 0.75
"""The usual constants of BM25, k1 and b: how soon a repeated word stops counting, and how much length matters."""

MAX_WORD_GAP = 12
"""Two words are together if at most this many characters, for each word between them in the query, separate them."""


@dataclass(frozen=True, slots=True)
class TextMatch:
    """How much of the query a text has, as shares of the query's rarity; a frequent word counts up to twice."""

    passage: float = 0.0
    page: float = 0.0
    lead: float = 0.0
    together: float = 0.0
    boxes: float = 0.0
    """In infoboxes and categories."""
    start: int = 0
    """Where the best passage starts."""
    places: tuple[tuple[int, str, float], ...] = ()
    """Where words of the query are in it, their stems and rarity."""


def match_text(
    text: str,
    terms: Sequence[QueryTerm],
    rarity: Mapping[str, float],
    language: str,
    titled: frozenset[str] = frozenset(),
    *,
    boxes: int | None = None,
    lead: int = 0,
) -> TextMatch:
    """Match a text in plain lower case; stems in the title count as if every passage started with it.

    `boxes` is where infoboxes and categories start, which come last, `lead` where the article does.
    """
    total = sum(rarity[term.stem] for term in terms)
    if not total:
        return TextMatch()
    stem_of = stemmer(language)
    places = {term.stem: occurrences(text, term.word, stem_of) for term in terms}
    best, start = _best_passage(places, rarity, titled)
    return TextMatch(
        passage=best / total,
        page=_on_page(places, rarity, len(text)) / total,
        lead=_rarity_between(places, rarity, lead, lead + LEAD_CHARS) / total,
        together=_together(places, terms, rarity) / total,
        boxes=_rarity_between(places, rarity, len(text) if boxes is None else boxes, len(text)) / total,
        start=start,
        places=tuple(
            sorted(
                (place, stem, rarity[stem])
                for stem, found in places.items()
                for place in found
                if start <= place < start + 2 * PASSAGE_STEP
            )
        ),
    )


def _saturated(count: float, saturation: float = SATURATION) -> float:
    return count * (SATURATION + 1) / (count + saturation)


def _best_passage(
    places: Mapping[str, Sequence[int]], rarity: Mapping[str, float], titled: frozenset[str]
) -> tuple[float, int]:
    counts: dict[int, dict[str, int]] = {}
    for stem, found in places.items():
        for place in found:
            here = counts.setdefault(place // PASSAGE_STEP, {})
            here[stem] = here.get(stem, 0) + 1
    # A passage counts as if it began with the title, so a word of the title adds less if it is in the passage too.
    ahead = {stem: _saturated(1) * rarity[stem] for stem in titled if stem in rarity}
    best, start = sum(ahead.values()), 0
    # Only steps with a word of the query can start the best passage; each is read with the next, two steps in all.
    for step in sorted(counts):
        weight = sum(ahead.values())
        following = counts.get(step + 1, {})
        for stem in counts[step].keys() | following.keys():
            count = counts[step].get(stem, 0) + following.get(stem, 0) + (stem in titled)
            weight += _saturated(count) * rarity[stem] - ahead.get(stem, 0.0)
        # Clearly better, so that the first of equal passages wins although floats were added in another order.
        if weight > best + 1e-9:
            best, start = weight, step * PASSAGE_STEP
    return best, start


def _on_page(places: Mapping[str, Sequence[int]], rarity: Mapping[str, float], length: int) -> float:
    saturation = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length / USUAL_LENGTH)
    return sum(rarity[stem] * _saturated(len(found), saturation) for stem, found in places.items() if found)


def _rarity_between(places: Mapping[str, Sequence[int]], rarity: Mapping[str, float], start: int, end: int) -> float:
    """The rarity of the words between two places."""
    weight = 0.0
    for stem, found in places.items():
        at = bisect_left(found, start)
        if at < len(found) and found[at] < end:
            weight += rarity[stem]
    return weight


def _together(places: Mapping[str, Sequence[int]], terms: Sequence[QueryTerm], rarity: Mapping[str, float]) -> float:
    """The rarity of neighbouring words of the query that are also neighbours on the page."""
    ordered = sorted(terms, key=lambda term: term.place)
    weight = 0.0
    for first, second in pairwise(ordered):
        # From the start of one word to the start of the next, hence the length of the first.
        max_gap = len(first.stem) + MAX_WORD_GAP * (second.place - first.place)
        later = places[second.stem]
        for place in places[first.stem]:
            at = bisect_left(later, place + 1)
            if at < len(later) and later[at] - place <= max_gap:
                weight += min(rarity[first.stem], rarity[second.stem])
                break
    return weight


point_table = partial(toml_data, "kiwiresearch.search", "points.toml")
"""The points of each term, by name."""


def title_points(query: Query, title: str, excerpt: str = "", *, primary: bool = False) -> Score:
    """The score of a title and an excerpt, the same for every search."""
    score = _title_score(query, title).plus("excerpt words", _excerpt(query, excerpt))
    lists = point_table()["list"]
    if " ".join(title.casefold().split()).startswith(tuple(lists["prefixes"])):
        offset = "offset_definitional" if query.definitional else "offset_other"
        score = score.plus("list page", lists["penalty"]).plus("list offset", lists[offset])
    return score.plus("primary book", point_table()["book"]["primary"]) if primary else score


@lru_cache(maxsize=4_096)
def _title_score(query: Query, title: str) -> Score:
    score = Score()
    table = point_table()["title"]
    words = folded_words(title)
    plain = " ".join(title.casefold().split())
    if query.unframed.casefold() == plain:
        score = score.plus("exact title", table["exact"])
    elif any(_same_forms(folded_words(run), words) for run in (query.unframed, query.core)) or any(
        _same_forms((w,), words) for w in query.content
    ):
        score = score.plus("stemmed title", table["stemmed"])
    meaningful = [word for word in query.content if len(word) >= table["starts_letters"]]
    if any(" ".join(words).startswith(word) for word in meaningful):
        score = score.plus("title starts with word", table["starts"])
    return score.plus("title word", table["word"] * sum(share_root(word, words) for word in query.content))


@lru_cache(maxsize=16_384)
def folded_words(title: str) -> tuple[str, ...]:
    return tuple(fold(title).split())


def _same_forms(some: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two sequences of words are forms of the same words, one by one."""
    return len(some) == len(others) and all(
        not roots(a).isdisjoint(roots(b)) for a, b in zip(some, others, strict=True)
    )


def _excerpt(query: Query, excerpt: str) -> float:
    words = set(fold(excerpt).split())
    if not words:
        return 0.0
    known = {root for word in words for root in roots(word)}
    hits = sum(not roots(word).isdisjoint(known) for word in query.content)
    max_points = float(point_table()["excerpt"]["most"])
    return min(max_points, hits / len(words) * max_points)


NEARLY_ALL = 0.999
"""Above this share, the title has all words of the query; floats may add up to slightly less than 1."""

UNASKED_RARITY = 5.0
"""The assumed rarity of a title's word that is not in the query."""


@dataclass(frozen=True, slots=True)
class TitleMatch:
    """How well a title and a query cover each other, in shares of rarity."""

    query_share: float = 0.0
    """How much of the query is in the title."""
    title_share: float = 0.0
    """How much of the title is in the query; less if this is only a small part of the query."""
    name_share: float = 0.0
    """The share of the query that matches the title word for word."""
    exactness: float = 0.0
    """1 if the title is the query, 0.5 if it is in another form."""
    stems: frozenset[str] = frozenset()
    name: str = ""
    """The title or alias that was matched."""


@dataclass(frozen=True, slots=True)
class QueryScorer:
    """Scores pages of one book for one query, by how rare its words are in the book."""

    query: Query
    rarity: Mapping[str, float]
    total: float
    query_stems: str
    """The query's stems in order, with spaces around each."""
    figures: Mapping[str, str]
    """The numbers of the query by their Roman forms."""

    @classmethod
    def of(cls, book: OpenBook, query: Query) -> QueryScorer:
        stem_of = stemmer(query.language)
        rarity = {term.stem: book.rarity(term.word) for term in query.terms}
        stems = f" {' '.join(stem_of(word) for word in query.words)} "
        figures = {ROMAN[word]: word for word in query.words if word in ROMAN}
        return cls(query, rarity, sum(rarity.values()), stems, figures)

    def match_title(self, candidate: SearchCandidate) -> TitleMatch:
        """The best match of the page's title and the aliases by which it was found."""
        names = (candidate.title, *sorted(candidate.aliases))
        return max(
            (self._match_name(name) for name in names),
            key=lambda m: m.query_share + m.title_share + m.name_share + m.exactness,
        )

    def _match_name(self, title: str) -> TitleMatch:
        if not self.total:  # a query without letters and digits can only be a title
            return TitleMatch(exactness=self._exactness(title, frozenset(), 0.0), name=title)
        stop_words = language_words(self.query.language).stop_words
        qualifier = TITLE_QUALIFIER.search(title)
        name = [self._stem(word) for word in folded_words(without_qualifier(title))]
        in_brackets = [self._stem(word) for word in folded_words(qualifier[1])] if qualifier else []
        stems = frozenset((*name, *in_brackets))
        asked = sum(weight for stem, weight in self.rarity.items() if stem in stems)
        content = [stem for stem in dict.fromkeys(name) if stem not in stop_words or stem in self.rarity]
        weight = sum(self.rarity.get(stem, UNASKED_RARITY) for stem in content)
        weight += sum(self.rarity.get(stem, 0.0) for stem in dict.fromkeys(in_brackets) if stem not in name)
        is_in_query = bool(name) and f" {' '.join(name)} " in self.query_stems
        share = asked / self.total
        # The square root, so that a title within a long query loses only some of its share.
        title_share = asked / weight * share**0.5 if weight else 0.0
        exactness = self._exactness(title, stems, share)
        return TitleMatch(share, title_share, share if is_in_query else 0.0, exactness, stems, title)

    def _exactness(self, title: str, stems: frozenset[str], share: float) -> float:
        """1 if the title is the query, 0.5 if it is in another form; 0 if the user's hint must decide."""
        if self.query.focus:
            return 0.0
        if folded_words(title) in (folded_words(self.query.unframed), folded_words(self.query.core)):
            return 1.0
        stop_words = language_words(self.query.language).stop_words
        return 0.5 if share > NEARLY_ALL and all(s in self.rarity for s in stems if s not in stop_words) else 0.0

    def _stem(self, word: str) -> str:
        """The stem of a title's word; for a Roman numeral, the query's number if it is the same."""
        return self.figures.get(word) or stemmer(self.query.language)(word)

    def quick(self, candidate: SearchCandidate, title: TitleMatch, *, primary: bool = False) -> Score:
        """The score of a page that was not read."""
        table = point_table()["quick"]
        score = title_points(self.query, candidate.title, primary=primary)
        score = self._titled(score, title)
        score = score.plus("listed for words", table["listed"] * candidate.listed / self.total if self.total else 0)
        return score.plus("holds words", table["shared"] * candidate.shared / self.total if self.total else 0)

    def full(
        self, candidate: SearchCandidate, title: TitleMatch, text: TextMatch, excerpt: str, *, primary: bool = False
    ) -> Score:
        """The score of a page that was read."""
        table = point_table()["text"]
        score = title_points(self.query, candidate.title, excerpt, primary=primary)
        score = self._titled(score, title)
        score = score.plus("best passage", table["passage"] * text.passage)
        score = score.plus("whole page", table["page"] * text.page)
        score = score.plus("lead", table["lead"] * text.lead)
        score = score.plus("words together", table["together"] * text.together)
        return score.plus("boxes and categories", table["boxes"] * text.boxes)

    def focused(self, score: Score, in_title: float, in_text: float) -> Score:
        """The score with the shares of the hint's words in the title and the text."""
        table = point_table()["focus"]
        return score.plus("focus in title", table["title"] * in_title).plus("focus", table["text"] * in_text)

    def _titled(self, score: Score, title: TitleMatch) -> Score:
        table = point_table()["words"]
        score = score.plus("query words in title", table["query_in_title"] * title.query_share)
        score = score.plus("title words in query", table["title_in_query"] * title.title_share)
        score = score.plus("title named in query", table["title_phrase_in_query"] * title.name_share)
        return score.plus("title is the query", table["exact"] * title.exactness)
