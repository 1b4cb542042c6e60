"""The steps of a crawl, and how a journal records them.

The state of a crawl follows from its steps alone: one that was stopped continues
when they are read back, and every output is made from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import zip_longest
from typing import Any, ClassVar, NamedTuple

from kiwiresearch.codec import JsonDict
from kiwiresearch.ids import BookId
from kiwiresearch.messages import Message, message_fields, message_from_record, message_in, message_record
from kiwiresearch.search import ScoreTerm
from kiwiresearch.zim import EntryRef


class FoundPage(NamedTuple):
    """A page that the search found, and how much it is about the topic. Journals store its fields by position."""

    book: BookId
    path: str
    title: str
    search_share: float
    """Its score, as a share of the best page's; 0 if it only contains the topic's words."""
    name_share: float
    word_share: float
    focus_share: float
    is_named: bool = False
    """Whether it names the topic in full."""
    meaning: float = 0.0
    """How similar in meaning it is to the topic, if vectors are compared."""

    @property
    def ref(self) -> EntryRef:
        return EntryRef(self.book, self.path)


class SeedChoice(NamedTuple):
    """A page considered as a seed: chosen or passed over, and why."""

    book: BookId
    path: str
    title: str
    why: str
    """A message for a seed; plain English for a page passed over, which only the log of the run mentions."""
    score: float
    coverage: float = 0.0
    """The share of the topic's name that its title covers: 1 for a page whose title is the topic."""
    is_topic_page: bool = False
    """Whether the page is about the topic's subject itself, even if only one aspect was asked for."""

    @property
    def ref(self) -> EntryRef:
        return EntryRef(self.book, self.path)


class LinkOffer(NamedTuple):
    """A linked page: how often, how prominently and in what words. Journals store the fields by position."""

    path: str
    title: str
    worth: float
    """From the place and number of its links, regardless of how relevant the linking page is."""
    times: int
    context: float
    """The share of the topic's words in the sentence around the link."""
    place: str
    section: str
    anchor: str
    sentence: str
    is_new: bool
    """Whether it may become a candidate; the others only count as links."""


class PageFacts(NamedTuple):
    """The facts about a page that has been read.

    Journals store the fields by position: new ones go to the end, with defaults, since old journals have fewer.
    """

    name_share: float
    word_share: float
    focus_share: float
    meaning: float
    length: int
    references: int
    is_stub: bool
    is_list: bool
    is_disambiguation: bool
    categories: tuple[str, ...]
    sketch: tuple[int, ...]
    vector: str
    """If vectors are compared: base64 of half floats."""
    duplicate_of: str = ""
    absent: tuple[str, ...] = ()
    """Words of the topic and of the focus that are not on the page."""


@dataclass(frozen=True, slots=True)
class SearchedBook:
    """How one book was searched."""

    book: BookId
    words: tuple[tuple[str, float], ...]
    """Words of the topic and of the focus, and how rare each is."""
    unknown_words: tuple[str, ...]
    """Topic words that do not occur in the book."""
    corrected: str
    found_pages: int
    naming_pages: int
    """How many of them name the topic in full."""


@dataclass(frozen=True, slots=True)
class StartStep:
    """The search is done: the crawl starts with these seeds and candidates."""

    kind: ClassVar[str] = "begun"
    topic: str
    focus: str
    timeline: bool
    """Whether the topic asks for a timeline, so that pages about years are visited."""
    searched: tuple[SearchedBook, ...]
    seeds: tuple[SeedChoice, ...]
    passed_over: tuple[SeedChoice, ...]
    found: tuple[FoundPage, ...]
    head: str = ""
    """The subject of the topic."""
    aspect: str = ""
    """The requested aspect of the subject; empty if none was requested."""
    senses: tuple[str, ...] = ()
    """Titles of other pages that the same name could refer to."""

    @property
    def topic_pages(self) -> frozenset[EntryRef]:
        """The seeds about the subject itself."""
        return frozenset(seed.ref for seed in self.seeds if seed.is_topic_page)


@dataclass(frozen=True, slots=True)
class VisitStep:
    """A page was added to the corpus, and its links were offered."""

    kind: ClassVar[str] = "visited"
    book: BookId
    path: str
    page_id: str
    title: str
    url: str
    opening: str
    """Its first sentence."""
    depth: int
    reason: Message
    """How the crawl found it."""
    terms: tuple[ScoreTerm, ...]
    """Why it scores as it does."""
    relevance: float
    runner_up: str
    """The page that would have been next, with its score."""
    facts: PageFacts
    branch: str
    words: tuple[tuple[str, int], ...]
    """Words in its sentences about the topic, with their counts: keywords are learned from them."""
    links: int
    """Pages it links to."""
    offers: tuple[LinkOffer, ...]
    refused: tuple[tuple[str, int], ...]
    """Why links were not offered, and how many."""

    @property
    def ref(self) -> EntryRef:
        return EntryRef(self.book, self.path)


@dataclass(frozen=True, slots=True)
class SkipStep:
    """A page was read but not visited: put back among the candidates with a lower score, or dropped."""

    kind: ClassVar[str] = "looked"  # the name of a skip in journals, which must stay readable
    book: BookId
    path: str
    title: str
    why: str
    is_dropped: bool
    """Whether it is no longer a candidate."""
    facts: PageFacts | None
    depth: int = 0
    relevance: float = 0.0
    links: int = 0
    offers: tuple[LinkOffer, ...] = ()
    """The entries of a disambiguation page, offered in its place."""
    refused: tuple[tuple[str, int], ...] = ()
    """Why links of a disambiguation page were not offered, and how many."""
    is_weak: bool = False
    """Whether it is hardly related to the topic."""

    @property
    def ref(self) -> EntryRef:
        return EntryRef(self.book, self.path)


@dataclass(frozen=True, slots=True)
class LearnStep:
    """Keywords that relevant pages have in common: they count from now on."""

    kind: ClassVar[str] = "learned"
    keywords: tuple[tuple[str, float], ...]
    """Stems, and the weight of each, as a share of the first one's."""
    words: tuple[str, ...]
    """The same keywords as readable words."""


@dataclass(frozen=True, slots=True)
class EndStep:
    """The crawl has ended, with the reason."""

    kind: ClassVar[str] = "ended"
    why: Message
    remaining: int
    """Candidates that were not visited."""


CrawlStep = StartStep | VisitStep | SkipStep | LearnStep | EndStep
KINDS: dict[str, type[CrawlStep]] = {kind.kind: kind for kind in (StartStep, VisitStep, SkipStep, LearnStep, EndStep)}

JSON_NAMES = {"passed_over": "passed", "is_dropped": "gone", "remaining": "left", "terms": "lines"}
"""Fields that have another name in journals: runs of earlier versions are read, so the names there never change."""


def step_record(step: CrawlStep) -> JsonDict:
    """A step as plain data; inner tuples become lists in JSON."""
    row: JsonDict = {"step": step.kind}
    for field in fields(step):
        value = getattr(step, field.name)
        row |= (
            message_fields(field.name, value)
            if isinstance(value, Message)
            else {JSON_NAMES.get(field.name, field.name): value}
        )
    if isinstance(step, VisitStep):
        row["lines"] = [[term.signal, term.points] for term in step.terms]
    if isinstance(step, StartStep):
        row["seed_messages"] = [message_record(seed.why) for seed in step.seeds]
        row["searched"] = [[getattr(book, field.name) for field in fields(SearchedBook)] for book in step.searched]
    return row


def step_from_record(row: Mapping[str, Any]) -> CrawlStep:
    kind = KINDS.get(row["step"])
    if kind is None:
        raise ValueError(f"unknown step {row['step']!r}")
    names = {JSON_NAMES.get(field.name, field.name): field.name for field in fields(kind)}
    values = {names[key]: value for key, value in row.items() if key in names}  # rows have more fields than steps
    if kind is StartStep:
        values |= {
            "searched": tuple(map(_searched, row["searched"])),
            "seeds": _seeds(row["seeds"], row.get("seed_messages", ())),
            "passed_over": tuple(SeedChoice(*passed) for passed in row["passed"]),
            "found": tuple(FoundPage(*item) for item in row["found"]),
            "senses": tuple(row.get("senses", ())),
        }
    elif kind is LearnStep:
        values |= {"keywords": _pairs(row["keywords"]), "words": tuple(row["words"])}
    elif kind is EndStep:
        values["why"] = message_in(row, "why")
    else:
        values |= {
            "facts": None if row["facts"] is None and kind is SkipStep else _facts(row["facts"]),
            "offers": tuple(LinkOffer(*offer) for offer in row["offers"]),
            "refused": _pairs(row["refused"]),
        }
        if kind is VisitStep:
            values |= {
                "reason": message_in(row, "reason"),
                "terms": tuple(ScoreTerm(*line) for line in row["lines"]),
                "words": _pairs(row["words"]),
            }
    return kind(**values)


def _pairs(rows: Sequence[Sequence[Any]]) -> tuple[tuple[Any, Any], ...]:
    return tuple((first, second) for first, second in rows)


def _seeds(rows: Sequence[Sequence[Any]], records: Sequence[Any] = ()) -> tuple[SeedChoice, ...]:
    """The seeds; `records` are the messages that say why, if the journal has them."""
    choices = [SeedChoice(*row) for row in rows]
    # Journals of earlier versions have no messages, and a damaged one may have any number.
    messages = [message_from_record(item.why, record) for item, record in zip_longest(choices, records[: len(choices)])]
    return tuple(seed_choice._replace(why=why) for seed_choice, why in zip(choices, messages, strict=True))


def _searched(row: list[Any]) -> SearchedBook:
    book, words, unknown, *rest = row
    return SearchedBook(book, _pairs(words), tuple(unknown), *rest)


def _facts(row: list[Any]) -> PageFacts:
    facts = PageFacts(*row)
    return facts._replace(categories=tuple(facts.categories), sketch=tuple(facts.sketch), absent=tuple(facts.absent))
