"""Whether a sentence is about the topic and the aspect asked for, and how much its page would lack without it."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files

import numpy as np

from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.sentence import sentences_of
from kiwiresearch.claims.statements import SentenceFilter, all_sentences
from kiwiresearch.crawl.state import CrawlState
from kiwiresearch.crawl.step import StartStep
from kiwiresearch.embed.embedder import Vectors, similarity
from kiwiresearch.embed.static import StaticEmbedder
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.search.query import Score
from kiwiresearch.search.rank import QUALIFIER
from kiwiresearch.text.languages import language_words
from kiwiresearch.text.similarity import AspectWords, stems_in
from kiwiresearch.zim.archive import EntryRef

NEIGHBOURS = 2
"""So many sentences before and behind one tell what it is about."""
RELATED_CUE_WORTH = 0.5
LIKELY, LIKELY_ELSEWHERE = -0.5, 0.5
"""The log-odds from which a sentence is taken to be about what is asked for: on the topic's own page, and on others.
Of the marked sentences, 83 and 72 of a hundred were right from there."""


@cache
def weights() -> Mapping[str, Mapping[str, float]]:
    """What each sign is worth."""
    text = (files("kiwiresearch.brief") / "data" / "weights.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def static_embedder() -> StaticEmbedder:
    """Vectors that need no model and no settings, so that a brief is the same everywhere."""
    return StaticEmbedder()


def sentences_on(claims: Sequence[Claim]) -> dict[EntryRef, list[Claim]]:
    """The sentences of each page, in the page's own words and order."""
    pages: dict[EntryRef, dict[int, Claim]] = {}
    for claim in claims:
        if not claim.is_row and not claim.put_in and claim.origin == "rule":
            start = claim.quotes[0].start
            known = pages.setdefault(claim.ref, {})
            # A long definition is also there as the whole sentence.
            if start not in known or len(claim.text) > len(known[start].text):
                known[start] = claim
    return {ref: [known[start] for start in sorted(known)] for ref, known in pages.items()}


class Relevance:
    """Tells what the sentences of a crawl have to do with its topic."""

    def __init__(
        self, state: CrawlState, sentences: Mapping[EntryRef, Sequence[Claim]], languages: Mapping[str, str]
    ) -> None:
        begun = state.started
        self.topic = begun.topic if begun else ""
        self.head = begun.head or begun.topic if begun else ""
        self.aspect = begun.aspect if begun else ""
        self.heads = frozenset(begun.heads & state.visited.keys()) if begun else frozenset()
        self._crossing = frozenset(
            seed.ref for seed in (begun.seeds if begun else ()) if not seed.is_head and seed.ref in state.visited
        )
        """Pages about what else the topic names: 'Slavery' of 'Slavery in the United States'."""
        self._senses = frozenset(begun.senses) if begun else frozenset()
        self._languages = languages
        self._naming = frozenset(
            ref
            for ref, step in state.visited.items()
            if not self.heads
            or " " in _bare(self.head)
            or any(EntryRef(ref.book, offer.path) in self.heads for offer in step.offers)
        )
        """Pages on which the name of the thing means the thing: those that link to its page, if it has one."""
        self._sections = frozenset(
            (ref, headings)
            for ref in self._crossing & sentences.keys()
            for headings in sections_naming(
                _pattern(self.head, languages.get(ref.book, "eng")),
                ((claim.headings, claim.text) for claim in sentences[ref]),
            )
        )
        """Sections of such pages that are about the thing."""
        self._scores: dict[tuple[EntryRef, int], Score] = {}
        if self.aspect:
            for claims in sentences.values():
                self._score_sentences(claims)

    def is_about(self, claim: Claim) -> bool:
        """Whether a claim is about the thing: it is on its page, or names it."""
        if claim.page_title in self._senses:
            return False
        return self.is_under_topic(claim) or (claim.ref in self._naming and self._is_named(claim.ref, claim.text))

    def is_under_topic(self, claim: Claim) -> bool:
        """Whether a claim stands on a page about the thing, or below a heading or a title that names it.

        On a page about what else the topic names, its sentences that name the thing are as good.
        """
        if claim.ref in self.heads:
            return True
        if claim.page_title in self._senses:  # 'Mercury (planet)', where the element is meant
            return False
        is_meant = claim.ref in self._naming
        if is_meant and self._is_named(claim.ref, claim.page_title, *claim.headings):
            return True
        if (claim.ref, claim.headings) in self._sections:
            return True
        return claim.ref in self._crossing and self._is_named(claim.ref, claim.text)

    def names(self, claim: Claim) -> bool:
        """Whether a claim of another page is about the thing, and says its name."""
        return self.is_about(claim) and self._is_named(claim.ref, claim.text)

    def is_mainly_about(self, claim: Claim) -> bool:
        """Whether a claim of another page is about the thing, and does not only mention it."""
        return self.is_under_topic(claim) or (self.is_about(claim) and self._is_named(claim.ref, claim.subject))

    def _is_named(self, ref: EntryRef, *texts: str) -> bool:
        """Whether any of some texts of a page names the thing."""
        return any(map(_pattern(self.head, self._languages.get(ref.book, "eng")).search, texts))

    def aspect_score(self, claim: Claim) -> Score:
        """How likely a claim is about the side that is asked for, in log-odds; nothing where all of it is asked for."""
        return self._scores.get((claim.ref, claim.quotes[0].start), Score())

    def is_on_aspect(self, claim: Claim, more: float = 0.0) -> bool:
        """Whether a claim is about what is asked for; `more` log-odds are wanted than usual."""
        if not self.is_about(claim):
            return False
        score = self._scores.get((claim.ref, claim.quotes[0].start))
        least = LIKELY if claim.ref in self.heads else LIKELY_ELSEWHERE
        return not self.aspect or (score is not None and score.total >= least + more)

    def features(self, claims: Sequence[Claim]) -> dict[int, dict[str, float]]:
        """What speaks for each sentence of a page that is about the thing, by its number: names of `weights`."""
        numbers = [number for number, claim in enumerate(claims) if self.is_about(claim)]
        if not numbers:
            return {}
        language = self._languages.get(claims[0].ref.book, "eng")
        words = AspectWords.of(self.aspect, language)
        stems = [stems_in(claim.text, language) for claim in claims]
        asks = [words.naming_score(one) for one in stems]
        says = [words.mention_count(one) for one in stems]
        cues = [one + RELATED_CUE_WORTH * other for one, other in zip(asks, says, strict=True)]
        paths = [" ".join(claims[number].headings) or claims[number].page_title for number in numbers]
        rows = static_embedder().embed([self.aspect, self.topic, *paths, *(claims[number].text for number in numbers)])
        like_heading = similarity(rows[0], rows[2 : 2 + len(numbers)])
        like_topic = similarity(rows[1], rows[2 + len(numbers) :])
        in_title = words.names(claims[0].page_title)
        found = {}
        for place, number in enumerate(numbers):
            claim = claims[number]
            is_below = float(self.is_under_topic(claim))
            near = range(max(0, number - NEIGHBOURS), min(len(claims), number + NEIGHBOURS + 1))
            beside = [cues[one] for one in near if one != number and claims[one].headings == claim.headings]
            around = stems_in(" ".join((claim.page_title, *claim.headings)), language)
            if words.lacks_required(around.union(*(stems[one] for one in near))):
                continue  # 'South Africa' is asked for, and it is of India
            found[number] = {
                "below the topic's name": is_below,
                "aspect in page title": is_below * in_title,
                "aspect in heading": is_below * words.names_any(claim.headings),
                "names the aspect": min(2.0, asks[number]),
                "speaks of the aspect": float(says[number]),
                "like the topic": float(like_topic[place]),
                "heading like the aspect": is_below * float(like_heading[place]),
                "neighbours on the aspect": sum(beside) / len(beside) if beside else 0.0,
                "page about the topic": float(claim.ref in self.heads),
            }
        return found

    def _score_sentences(self, claims: Sequence[Claim]) -> None:
        """Score the sentences of a page that are about the thing."""
        worth = weights()["aspect"]
        for number, signs in self.features(claims).items():
            claim = claims[number]
            score = Score().plus("before anything is known", worth["before anything is known"])
            self._scores[claim.ref, claim.quotes[0].start] = add_features(score, signs, worth)


def add_features(score: Score, signs: Mapping[str, float], worth: Mapping[str, float]) -> Score:
    """The score with a line for each sign."""
    for sign, value in signs.items():
        score = score.plus(sign, round(worth[sign] * value, 2))
    return score


def usable_sentences(begun: StartStep | None, page: PageDoc) -> SentenceFilter:
    """Which sentences of a page a brief may use though they are of no type.

    On the topic's own pages these are all; on others those of introductions, and those that name the topic. On a page
    about what else the topic names, they are also those of sections that name the thing again and again.
    """
    name = _pattern(begun.head or begun.topic if begun else "", page.language)
    is_own = begun is None or page.ref in begun.heads
    if is_own or name.search(page.title):
        return all_sentences
    sections: frozenset[tuple[str, ...]] = frozenset()
    if begun is not None and any(seed.ref == page.ref for seed in begun.seeds):
        sections = sections_naming(name, ((page.headings(one.section), one.text) for one in sentences_of(page)))
    return lambda text, headings: not headings or headings in sections or any(map(name.search, (text, *headings)))


MENTIONS, SHARE_NAMING = 3, 0.2


def sections_naming(
    name: re.Pattern[str], sentences: Iterable[tuple[tuple[str, ...], str]]
) -> frozenset[tuple[str, ...]]:
    """The sections, by their headings, of which so many sentences have a name that all of it is about that thing."""
    counts: Counter[tuple[str, ...]] = Counter()
    naming: Counter[tuple[str, ...]] = Counter()
    for headings, text in sentences:
        counts[headings] += 1
        naming[headings] += name.search(text) is not None
    return frozenset(
        headings
        for headings, count in counts.items()
        if headings and naming[headings] >= MENTIONS and naming[headings] >= SHARE_NAMING * count
    )


@lru_cache(maxsize=64)
def _pattern(name: str, language: str) -> re.Pattern[str]:
    """A name in a text of a language, and in the plural: with capitals where it is a proper name of several words."""
    bare = _bare(name)
    last = bare.split()[-1] if bare.split() else ""
    is_proper = " " in bare and last[:1].isupper()
    short = [word.upper() for word, names in language_words(language).abbreviated.items() if bare in names]
    words = [re.escape(bare), *(r"\.?".join(word) for word in short)]
    # 'World War I' is not named where 'World War II' is, nor 'India' in 'Indian'.
    return re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?:['’]s|s|es)?(?!\w)", 0 if is_proper else re.IGNORECASE)


def _bare(name: str) -> str:
    """A title without what tells it apart from others: 'Mercury' of 'Mercury (element)'."""
    return QUALIFIER.sub("", name).strip() or name


def centroid(rows: Vectors) -> Vectors:
    """The direction of several vectors together."""
    mean = rows.mean(axis=0)
    return np.asarray(mean / (np.linalg.norm(mean) or 1.0), dtype=rows.dtype)


LONG, SHORT = 200, 60
FEW = 20
"""Of a page of which fewer sentences are known, nobody can tell which words are common on it."""


def salience_scores(sentences: Sequence[Claim], language: str) -> list[Score]:
    """The score of each sentence of one page, in their order."""
    worth = weights()["salience"]
    return [add_features(Score(), signs, worth) for signs in salience_features(sentences, language)]


def salience_features(sentences: Sequence[Claim], language: str) -> list[dict[str, float]]:
    """What speaks for each sentence of one page: names of `weights`."""
    if not sentences:
        return []
    title = sentences[0].page_title
    rows = static_embedder().embed([title, *(claim.text for claim in sentences)])
    like_page = similarity(centroid(rows[1:]), rows[1:])
    like_title = similarity(rows[0], rows[1:])
    stems = [stems_in(claim.text, language) for claim in sentences]
    counts = Counter(stem for one in stems for stem in one)
    of_title = stems_in(title, language)
    seen: set[tuple[str, ...]] = set()
    found = []
    for number, claim in enumerate(sentences):
        own = stems[number]
        common = sum(counts[stem] for stem in own) / len(own) / max(len(sentences), FEW) if own else 0.0
        found.append(
            {
                "common words": common,
                "like the page": float(like_page[number]),
                "like the title": float(like_title[number]),
                "names the title": len(own & of_title) / len(of_title) if of_title else 0.0,
                "late": number / len(sentences),
                "opens its section": float(claim.headings not in seen),
                "long": max(0, len(claim.text) - LONG) / 100,
                "short": float(len(claim.text) < SHORT),
                "dated": float(bool(claim.dates)),
                "deep": float(len(claim.headings) > 1),
            }
        )
        seen.add(claim.headings)
    return found
