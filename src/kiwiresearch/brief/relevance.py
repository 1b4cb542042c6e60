"""Judges whether a sentence is about the topic and the requested aspect, and how salient it is on its page."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from importlib.resources import files

import numpy as np

from kiwiresearch.claims import Claim, SentenceFilter, all_sentences, sentences_of
from kiwiresearch.crawl import CrawlState, StartStep
from kiwiresearch.embed import Vectors, similarity, static_embedder
from kiwiresearch.page import PageDoc
from kiwiresearch.search import Score
from kiwiresearch.text import AspectWords, language_words, stems_in, without_qualifier
from kiwiresearch.zim import EntryRef

NEIGHBOUR_SENTENCES = 2
"""How many sentences before and after one show what it is about."""
RELATED_CUE_WEIGHT = 0.5
MIN_LOG_ODDS, MIN_LOG_ODDS_ELSEWHERE = -0.5, 0.5
"""The log-odds from which a sentence counts as being about the aspect: on the topic's own page, and on others.
Among the labelled sentences, 83 % and 72 % of those above the threshold were right."""
MIN_TOPIC_SIMILARITY = 0.4
"""How similar a sentence without the subject's name must be to the introductions of its pages to explain it."""
STRICT_MARGIN = 1.0
"""Added to these thresholds for sentences without other signs that they belong in the brief."""


@cache
def feature_weights() -> Mapping[str, Mapping[str, float]]:
    """The weight of each feature, by group."""
    text = (files("kiwiresearch.brief") / "data" / "weights.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def sentences_on(claims: Sequence[Claim]) -> dict[EntryRef, list[Claim]]:
    """The sentences of each page, in the page's own words and order."""
    pages: dict[EntryRef, dict[int, Claim]] = {}
    for claim in claims:
        if not claim.is_row and not claim.inserted_name_from and claim.origin == "rule":
            start = claim.quotes[0].start
            known = pages.setdefault(claim.ref, {})
            # A long definition is split into claims, and the full sentence is a claim as well.
            if start not in known or len(claim.text) > len(known[start].text):
                known[start] = claim
    return {ref: [known[start] for start in sorted(known)] for ref, known in pages.items()}


class Relevance:
    """Decides which sentences of a crawl are about its topic."""

    def __init__(
        self, state: CrawlState, sentences: Mapping[EntryRef, Sequence[Claim]], languages: Mapping[str, str]
    ) -> None:
        start = state.started
        self.topic = start.topic if start else ""
        self.head = start.head or start.topic if start else ""
        self.aspect = start.aspect if start else ""
        self.topic_pages = frozenset(start.topic_pages & state.visited.keys()) if start else frozenset()
        self._other_named_pages = frozenset(
            seed.ref for seed in (start.seeds if start else ()) if not seed.is_topic_page and seed.ref in state.visited
        )
        """Pages about other things the topic names: 'Slavery' in 'Slavery in the United States'."""
        self._senses = frozenset(start.senses) if start else frozenset()
        self._languages = languages
        self._sentences = sentences
        self._pages_naming_subject = frozenset(
            ref
            for ref, step in state.visited.items()
            if not self.topic_pages
            # A name of several words is rarely anything else, so those pages need no link.
            or " " in without_qualifier(self.head)
            or any(EntryRef(ref.book, offer.path) in self.topic_pages for offer in step.offers)
        )
        """Pages on which the name of the subject means the subject: those that link to its page, if it has one."""
        self._longer_names = frozenset(
            longer
            for ref, step in state.visited.items()
            if ref not in self.topic_pages and (longer := _longer_name(self.head, step.title))
        )
        """What precedes the name of the subject in names of other things: 'Holy' in 'Holy Roman Empire'."""
        self._sections = frozenset(
            (ref, headings)
            for ref in self._other_named_pages & sentences.keys()
            for headings in sections_naming(
                self._pattern(ref),
                ((claim.headings, claim.text) for claim in sentences[ref]),
            )
        )
        """Sections of such pages that are about the subject."""
        self._scores: dict[tuple[EntryRef, int], Score] = {}
        if self.aspect:
            for claims in sentences.values():
                self._score_sentences(claims)

    def is_about(self, claim: Claim) -> bool:
        """Whether a claim is about the subject: it is on its page, or names it."""
        if claim.page_title in self._senses:
            return False
        return self.is_under_topic(claim) or (
            claim.ref in self._pages_naming_subject and self._is_named(claim.ref, claim.text)
        )

    def is_under_topic(self, claim: Claim) -> bool:
        """Whether a claim is on a page about the subject, or below a heading or a title that names it.

        On a page about something else that the topic names, sentences that name the subject count as well.
        """
        if claim.ref in self.topic_pages:
            return True
        if claim.page_title in self._senses:  # 'Mercury (planet)' if the element is meant
            return False
        if claim.ref in self._pages_naming_subject and self._is_named(claim.ref, claim.page_title, *claim.headings):
            return True
        if (claim.ref, claim.headings) in self._sections:
            return True
        return claim.ref in self._other_named_pages and self._is_named(claim.ref, claim.text)

    def names(self, claim: Claim) -> bool:
        """Whether a claim is about the subject and says its name."""
        return self.is_about(claim) and self._is_named(claim.ref, claim.text)

    def is_mainly_about(self, claim: Claim) -> bool:
        """Whether a claim is about the subject, and does not only mention it."""
        return self.is_under_topic(claim) or (self.is_about(claim) and self._is_named(claim.ref, claim.subject))

    def is_like_topic(self, claim: Claim) -> bool:
        """Whether a claim is from a page about the subject, names it, or is similar to the introductions of these.

        If an aspect was requested, that decides instead.
        """
        if self.aspect or claim.ref in self.topic_pages or self._centre is None:
            return True
        if self._is_named(claim.ref, claim.text):
            return True
        return float(similarity(self._centre, static_embedder().embed([claim.text]))[0]) >= MIN_TOPIC_SIMILARITY

    @cached_property
    def _centre(self) -> Vectors | None:
        """The mean of the sentences that introduce the subject; None if it has no page of its own."""
        own = [claim for ref in sorted(self.topic_pages) for claim in self._sentences.get(ref, ())]
        texts = [claim.text for claim in own if not claim.headings] or [claim.text for claim in own]
        return centroid(static_embedder().embed(texts)) if texts else None

    def _is_named(self, ref: EntryRef, *texts: str) -> bool:
        """Whether any of these texts of a page names the subject."""
        return any(map(self._pattern(ref).search, texts))

    def _pattern(self, ref: EntryRef) -> re.Pattern[str]:
        return _pattern(self.head, self._languages.get(ref.book, "eng"), self._longer_names)

    def aspect_score(self, claim: Claim) -> Score:
        """How likely a claim is about the aspect, in log-odds; an empty score if no aspect was requested."""
        return self._scores.get((claim.ref, claim.quotes[0].start), Score())

    def is_on_aspect(self, claim: Claim, margin: float = 0.0) -> bool:
        """Whether a claim is about the requested aspect; `margin` is added to the usual log-odds threshold."""
        if not self.is_about(claim):
            return False
        score = self._scores.get((claim.ref, claim.quotes[0].start))
        threshold = MIN_LOG_ODDS if claim.ref in self.topic_pages else MIN_LOG_ODDS_ELSEWHERE
        return not self.aspect or (score is not None and score.total >= threshold + margin)

    def is_probably_on_aspect(self, claim: Claim) -> bool:
        """Whether a claim is about the aspect rather than not: for parts that take sentences out of their sections."""
        return self.is_on_aspect(claim) and self.aspect_score(claim).total >= 0

    def features(self, claims: Sequence[Claim]) -> dict[int, dict[str, float]]:
        """The features of the sentences of a page that are about the subject, by their indexes."""
        indexes = [index for index, claim in enumerate(claims) if self.is_about(claim)]
        if not indexes:
            return {}
        language = self._languages.get(claims[0].ref.book, "eng")
        words = AspectWords.of(self.aspect, language)
        stems = [stems_in(claim.text, language) for claim in claims]
        naming = [words.naming_score(stem) for stem in stems]
        mentions = [words.mention_count(stem) for stem in stems]
        cues = [item + RELATED_CUE_WEIGHT * other for item, other in zip(naming, mentions, strict=True)]
        headings = [" ".join(claims[index].headings) or claims[index].page_title for index in indexes]
        # Embedding takes most of the time, and the sentences of a section share its heading.
        heading_rows = {heading: row for row, heading in enumerate(dict.fromkeys(headings))}
        texts = [claims[index].text for index in indexes]
        vectors = static_embedder().embed([self.aspect, self.topic, *heading_rows, *texts])
        heading_end = 2 + len(heading_rows)
        like_aspect = similarity(vectors[0], vectors[2:heading_end])
        like_topic = similarity(vectors[1], vectors[heading_end:])
        in_title = words.names(claims[0].page_title)
        found = {}
        for row, at in enumerate(indexes):
            claim = claims[at]
            is_below = float(self.is_under_topic(claim))
            near = range(max(0, at - NEIGHBOUR_SENTENCES), min(len(claims), at + NEIGHBOUR_SENTENCES + 1))
            nearby = [cues[index] for index in near if index != at and claims[index].headings == claim.headings]
            around = stems_in(" ".join((claim.page_title, *claim.headings)), language)
            if words.lacks_required(around.union(*(stems[index] for index in near))):
                continue  # the topic says 'in South Africa', but the sentence is about India
            found[at] = {
                "below the topic's name": is_below,
                "aspect in page title": is_below * in_title,
                "aspect in heading": is_below * words.names_any(claim.headings),
                "names the aspect": min(2.0, naming[at]),
                "speaks of the aspect": float(mentions[at]),
                "like the topic": float(like_topic[row]),
                "heading like the aspect": is_below * float(like_aspect[heading_rows[headings[row]]]),
                "neighbours on the aspect": sum(nearby) / len(nearby) if nearby else 0.0,
                "page about the topic": float(claim.ref in self.topic_pages),
            }
        return found

    def _score_sentences(self, claims: Sequence[Claim]) -> None:
        worth = feature_weights()["aspect"]
        for index, features in self.features(claims).items():
            claim = claims[index]
            score = Score().plus("before anything is known", worth["before anything is known"])
            self._scores[claim.ref, claim.quotes[0].start] = add_features(score, features, worth)


def add_features(score: Score, features: Mapping[str, float], worth: Mapping[str, float]) -> Score:
    """The score with a term for each feature."""
    for name, value in features.items():
        score = score.plus(name, round(worth[name] * value, 2))
    return score


def sentence_filter_for(start: StartStep | None, page: PageDoc) -> SentenceFilter:
    """Decides which sentences of a page a brief may use even if they have no claim type.

    On the topic's own pages, all of them; on others, those in leads and those that name the topic. On a page about
    something else that the topic names, also those in sections that name the subject often.
    """
    name = _pattern(start.head or start.topic if start else "", page.language)
    is_own = start is None or page.ref in start.topic_pages
    if is_own or name.search(page.title):
        return all_sentences
    sections: frozenset[tuple[str, ...]] = frozenset()
    if start is not None and any(seed.ref == page.ref for seed in start.seeds):
        sections = sections_naming(
            name, ((page.headings(sentence.section), sentence.text) for sentence in sentences_of(page))
        )
    return lambda text, headings: not headings or headings in sections or any(map(name.search, (text, *headings)))


MIN_MENTIONS, MIN_MENTION_SHARE = 3, 0.2


def sections_naming(
    name: re.Pattern[str], sentences: Iterable[tuple[tuple[str, ...], str]]
) -> frozenset[tuple[str, ...]]:
    """The headings of sections that name something often enough to be about it."""
    counts: Counter[tuple[str, ...]] = Counter()
    naming: Counter[tuple[str, ...]] = Counter()
    for headings, text in sentences:
        counts[headings] += 1
        naming[headings] += name.search(text) is not None
    return frozenset(
        headings
        for headings, count in counts.items()
        if headings and naming[headings] >= MIN_MENTIONS and naming[headings] >= MIN_MENTION_SHARE * count
    )


@lru_cache(maxsize=64)
def _pattern(name: str, language: str, longer_names: frozenset[str] = frozenset()) -> re.Pattern[str]:
    """Finds a name in a text, also in the plural; a proper name of several words only with its capitals.

    It is not found where one of `longer_names` precedes it.
    """
    bare = without_qualifier(name)
    short = [word.upper() for word, names in language_words(language).abbreviated.items() if bare in names]
    words = [re.escape(bare), *(r"\.?".join(word) for word in short)]
    # 'World War I' is not named where 'World War II' is, nor 'India' in 'Indian'.
    # One lookbehind for each, since each must have a fixed width.
    other = "".join(rf"(?<!\b{re.escape(longer)} )" for longer in sorted(longer_names))
    return re.compile(
        rf"(?<!\w){other}(?:{'|'.join(words)})(?:['’]s|s|es)?(?!\w)", 0 if _is_proper(bare) else re.IGNORECASE
    )


def _longer_name(name: str, title: str) -> str:
    """The word before a proper name in a title that is another name: 'Holy' in 'Holy Roman Empire'.

    Not before a single word: an 'Emperor Penguin' is a penguin, and 'South Australia' a part of Australia.
    """
    bare = without_qualifier(name)
    before = title.partition(f" {bare}")[0] if _is_proper(bare) and f" {bare}" in title else ""
    last = before.rpartition(" ")[2]
    return last if last[:1].isupper() else ""


def _is_proper(bare: str) -> bool:
    """Whether a name has several words and a capital in the last one."""
    return " " in bare and bare.rpartition(" ")[2][:1].isupper()


def centroid(rows: Vectors) -> Vectors:
    """The mean of several vectors, with length 1."""
    mean = rows.mean(axis=0)
    return np.asarray(mean / (np.linalg.norm(mean) or 1.0), dtype=rows.dtype)


LONG_CHARS, SHORT_CHARS = 200, 60
FEW_SENTENCES = 20
"""A shorter page counts as if it had this many sentences: too few do not show which words are common on it."""


def salience_scores(sentences: Sequence[Claim], language: str) -> list[Score]:
    """How salient each sentence of a page is, in their order."""
    worth = feature_weights()["salience"]
    return [add_features(Score(), features, worth) for features in salience_features(sentences, language)]


def salience_by_place(claims: Iterable[Claim], language: str) -> dict[tuple[EntryRef, int], float]:
    """How salient each sentence of some pages is, by where it begins."""
    pages: dict[EntryRef, dict[int, Claim]] = {}
    for claim in claims:
        if not claim.is_row:
            pages.setdefault(claim.ref, {}).setdefault(claim.quotes[0].start, claim)
    found: dict[tuple[EntryRef, int], float] = {}
    for ref, known in pages.items():
        starts = sorted(known)
        scores = salience_scores([known[start] for start in starts], language)
        found |= {(ref, start): score.total for start, score in zip(starts, scores, strict=True)}
    return found


def salience_features(sentences: Sequence[Claim], language: str) -> list[dict[str, float]]:
    """The features of each sentence of a page."""
    if not sentences:
        return []
    title = sentences[0].page_title
    vectors = static_embedder().embed([title, *(claim.text for claim in sentences)])
    like_page = similarity(centroid(vectors[1:]), vectors[1:])
    like_title = similarity(vectors[0], vectors[1:])
    stems = [stems_in(claim.text, language) for claim in sentences]
    counts = Counter(stem for item in stems for stem in item)
    title_stems = stems_in(title, language)
    seen: set[tuple[str, ...]] = set()
    found = []
    for index, claim in enumerate(sentences):
        own = stems[index]
        common = sum(counts[stem] for stem in own) / len(own) / max(len(sentences), FEW_SENTENCES) if own else 0.0
        found.append(
            {
                "common words": common,
                "like the page": float(like_page[index]),
                "like the title": float(like_title[index]),
                "names the title": len(own & title_stems) / len(title_stems) if title_stems else 0.0,
                "late": index / len(sentences),
                "opens its section": float(claim.headings not in seen),
                "long": max(0, len(claim.text) - LONG_CHARS) / 100,
                "short": float(len(claim.text) < SHORT_CHARS),
                "dated": float(bool(claim.dates)),
                "deep": float(len(claim.headings) > 1),
            }
        )
        seen.add(claim.headings)
    return found
