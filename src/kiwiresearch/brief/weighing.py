"""How much a claim matters to the topic: a sum that remembers its terms."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from kiwiresearch.brief.sources import Origin
from kiwiresearch.brief.wording import folded, stems_of
from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.conflicts.saying import Saying
from kiwiresearch.crawl.state import State
from kiwiresearch.ids import BookId
from kiwiresearch.search.hit import Score, ScoreLine
from kiwiresearch.zim.entry import EntryRef

PAGE = 3.0
TOPIC = 2.5
SUBJECT = 2.5
SEED = 2.0
SEED_LEAD = 2.5
LEAD = 0.6
READ_NAMES = 0.25
MOST_NAMES = 3
SURE = 2.0
AT_EASE = 0.75
"""A claim of this confidence gains and loses nothing by it."""
MOST_WEIGHED = 2_500
"""More claims than this are not all weighed: those far from the topic cannot come into the brief."""
MOSTLY = 0.7
ASKED, UNDER_ASKED = 1.5, 2.0
DATA = files("kiwiresearch.brief") / "data"
ASIDE = -3.0
ASIDES = re.compile(
    r"popular culture|\bfiction|\bfilms?\b|television|\btrivia|in (?:literature|music|art|the media|popular media)\b|"
    r"video games|cultural (?:references|depictions)|^media$|gallery|miscellan|commemorat|other media|^modern$|"
    r"pop culture|portrayals|namesakes",
    re.IGNORECASE,
)
LONG = 170
TOO_LONG = -0.01
SHORT = 50
TOO_SHORT = -1.0


@dataclass(frozen=True, slots=True)
class Weighed:
    """A claim with its words and its weight."""

    claim: Claim
    stems: frozenset[str]
    score: Score
    language: str
    points: float

    @property
    def saying(self) -> Saying:
        """The claim as it is compared with others."""
        return saying_of(self.claim, self.language)


def saying_of(claim: Claim, language: str) -> Saying:
    """A claim as it is compared with others."""
    quantities = tuple(measure.quantity for measure in claim.measures)
    return Saying(claim.text, claim.subject, quantities, claim.dates, language)


class Scales:
    """Weighs the claims of one crawl."""

    def __init__(self, origin: Origin) -> None:
        state = origin.state
        self._languages = {book.id: book.language for book in origin.books}
        self._pages = _page_weights(state)
        self._seeds = _pages_on_the_topic(state)
        self._read = frozenset(step.title.casefold() for step in state.visited.values())
        self._topics = _topics(state, self._languages)
        searched = state.begun.searched if state.begun else ()
        self._words = {word.lower() for one in searched for word, _ in one.words}
        self._titles = {state.visited[ref].title for ref in self._seeds}
        topic = state.begun.topic if state.begun else ""
        self._asked = _asked(topic)
        self._aspects = stems_of(topic, "eng") - stems_of(" ".join(self._titles), "eng") if self._asked else frozenset()
        self._names: tuple[str, ...] = ()
        self._spoken_of: set[str] = set()
        self.seed_titles = frozenset(folded(state.visited[ref].title) for ref in self._seeds)

    def weigh(self, claims: Iterable[Claim]) -> list[Weighed]:
        """The claims that can matter, with their weights, in their own order."""
        claims = list(claims)
        self._names = self._proper_names(claims)
        self._spoken_of = {name.casefold() for claim in claims if claim.ref in self._seeds for name in claim.names}
        return [self._one(claim) for claim in self._worth_weighing(claims)]

    def _worth_weighing(self, claims: Sequence[Claim]) -> Sequence[Claim]:
        """Of very many claims those of the weightiest pages, of introductions, and those that name the topic."""
        if len(claims) <= MOST_WEIGHED:
            return claims
        by_weight = sorted(self._pages, key=lambda ref: (-self._pages[ref], ref))
        places = {ref: number for number, ref in enumerate(by_weight)}
        ranked = sorted(
            range(len(claims)),
            key=lambda number: (self._is_far(claims[number]), places.get(claims[number].ref, 0), number),
        )
        return [claims[number] for number in sorted(ranked[:MOST_WEIGHED])]

    def _is_far(self, claim: Claim) -> bool:
        small = claim.text.lower()
        return claim.ref not in self._seeds and not any(word in small for word in self._words)

    def _proper_names(self, claims: Sequence[Claim]) -> tuple[str, ...]:
        """The titles of the pages about the topic that are names: a common noun is also written in small letters."""
        own = [claim.text for claim in claims if claim.ref in self._seeds]
        titles = sorted(self._titles)
        return tuple(title for title in titles if not any(title.lower() in text for text in own))

    def is_seed(self, claim: Claim) -> bool:
        return claim.ref in self._seeds

    def page(self, ref: EntryRef) -> float:
        """How much a page matters, from 0 to 1."""
        return self._pages.get(ref, 0.0)

    def is_about(self, weighed: Weighed) -> bool:
        """Whether a claim has to do with the topic by its words, its subject or its page."""
        claim = weighed.claim
        if claim.ref in self._seeds or self.is_topic(claim.subject):
            return True
        topic = self._topics.get(claim.ref.book, {})
        return sum([weight for stem, weight in topic.items() if stem in weighed.stems]) >= MOSTLY

    def is_of_topic(self, weighed: Weighed) -> bool:
        """Whether a claim is about the topic itself: 'an active volcano' is not about volcanoes, but an instance."""
        claim = weighed.claim
        if claim.ref in self._seeds:
            return True
        if self._is_namesake(claim):
            return False
        if self.is_topic(claim.subject):
            return True
        return any(title in claim.text for title in self._names)

    def is_named(self, title: str) -> bool:
        """Whether the claims of the pages about the topic link to a page of this title."""
        return title.casefold() in self._spoken_of

    def is_topic(self, subject: str) -> bool:
        """Whether this is a name of what the brief is about."""
        name = folded(subject)
        return name in self.seed_titles or name.removesuffix("s") in self.seed_titles

    def _is_namesake(self, claim: Claim) -> bool:
        """Whether a claim is of a page whose title tells it apart from the topic: 'Ray Charles (album)'."""
        return claim.ref not in self._seeds and claim.page_title.endswith(")")

    def _one(self, claim: Claim) -> Weighed:
        language = self._languages.get(claim.ref.book, "eng")
        stems = stems_of(claim.text, language)
        is_seed, size = claim.ref in self._seeds, len(claim.text)
        lines = [("its page's weight", PAGE * self.page(claim.ref))]
        if is_seed:
            lines.append(("on a page about the topic", SEED))
        topic = self._topics.get(claim.ref.book, {})
        lines.append(("names the topic", TOPIC * sum([topic[stem] for stem in topic if stem in stems])))
        if self.is_topic(claim.subject) and not self._is_namesake(claim):
            lines.append(("its subject is the topic", SUBJECT))
        if not claim.section:
            lines.append(("in the introduction", SEED_LEAD if is_seed else LEAD))
        elif is_aside(claim.section):
            lines.append(("beside the point", ASIDE))
        if claim.names:
            known = sum([name.casefold() in self._read for name in claim.names])
            lines.append(("names pages that were read", READ_NAMES * min(known, MOST_NAMES)))
        if not self._asked.isdisjoint((claim.type, *claim.also)):
            lines.append(("what was asked for", ASKED))
        if self._aspects and not self._aspects.isdisjoint(stems_of(claim.section, language)):
            lines.append(("under a heading that was asked for", UNDER_ASKED))
        lines.append(("confidence", SURE * (claim.confidence - AT_EASE)))
        if size > LONG:
            lines.append(("long", TOO_LONG * (size - LONG)))
        elif size < SHORT:
            lines.append(("short", TOO_SHORT))
        score = Score(tuple([ScoreLine(name, points) for name, more in lines if (points := round(more, 2))]))
        return Weighed(claim, stems, score, language, score.total)


def _pages_on_the_topic(state: State) -> set[EntryRef]:
    """The seeds that cover the topic; one that only shares a word of it is a page like any other."""
    covered = {seed.ref for seed in state.begun.seeds if seed.coverage >= COVERED} if state.begun else set()
    return {ref for ref, step in state.visited.items() if step.depth == 0 and ref in covered}


COVERED = 0.34


def _asked(topic: str) -> frozenset[str]:
    """The types of claims that a topic asks for by a word of its own: 'causes of …', 'history of …'."""
    words = set(folded(topic).split())
    table = tomllib.loads((DATA / "eng.toml").read_text(encoding="utf-8"))["asked"]
    return frozenset(kind for kind, asking in table.items() if not words.isdisjoint(asking.split()))


def is_aside(section: str) -> bool:
    """Whether a section is about what others made of the topic: films, novels, stamps."""
    return ASIDES.search(section) is not None


def _page_weights(state: State) -> dict[EntryRef, float]:
    importance = {ref: state.importance(step) for ref, step in state.visited.items()}
    most = max(importance.values(), default=1.0) or 1.0
    return {ref: max(value, 0.0) / most for ref, value in importance.items()}


def _topics(state: State, languages: Mapping[BookId, str]) -> dict[BookId, dict[str, float]]:
    """The roots of the topic's words in each book, with what each is worth of it."""
    topics: dict[BookId, dict[str, float]] = {}
    for searched in state.begun.searched if state.begun else ():
        language = languages.get(searched.book, "eng")
        weights: dict[str, float] = {}
        for word, rarity in searched.words:
            for stem in stems_of(word, language):
                weights[stem] = max(weights.get(stem, 0.0), rarity)
        total = sum(weights.values())
        topics[searched.book] = {stem: weight / total for stem, weight in weights.items()} if total else {}
    return topics


def best_first(weighed: Sequence[Weighed]) -> list[Weighed]:
    """Most weight first; equal ones by page and place, so that the order is total."""
    return sorted(weighed, key=lambda one: (-one.points, one.claim.ref, one.claim.quotes[0].start, one.claim.id))
