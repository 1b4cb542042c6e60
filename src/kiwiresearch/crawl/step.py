"""What happens in a crawl, step by step, as values that can be written down and read again.

Where a crawl stands follows from its steps alone: one that was stopped goes on
when they are read back, and every output is made from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import zip_longest
from typing import Any, ClassVar, NamedTuple

from kiwiresearch.ids import BookId
from kiwiresearch.messages.message import Message, message_fields, message_from_record, message_in, message_record
from kiwiresearch.search.query import ScoreLine
from kiwiresearch.zim.archive import EntryRef


class FoundPage(NamedTuple):
    """A page that the search found for the topic, and how much it is about it, in shares."""

    book: BookId
    path: str
    title: str
    share: float
    """Its score, as a share of the best page's; 0 if it was only found to hold the topic's words."""
    named: float
    page: float
    focus: float
    is_named: bool = False
    """It names the topic in full."""
    meaning: float = 0.0
    """How like in meaning it is to the topic, where vectors are compared."""

    @property
    def ref(self) -> EntryRef:
        return EntryRef(self.book, self.path)


class SeedChoice(NamedTuple):
    """A page the crawl may have begun with: taken or passed over, and why."""

    book: BookId
    path: str
    title: str
    why: Message
    score: float
    coverage: float = 0.0
    """How much of the topic's name is the page's own, as a share: 1 for a page whose title is the topic."""
    is_head: bool = False
    """It is about the thing itself, all of it or a side of which is asked for."""

    @property
    def ref(self) -> EntryRef:
        return EntryRef(self.book, self.path)


class LinkOffer(NamedTuple):
    """A page that another one links to: how often, how prominently, in which words."""

    path: str
    title: str
    worth: float
    """Place and number of its links; what the linking page is worth is not in it."""
    times: int
    context: float
    """How much of the topic the sentence around the link speaks of, as a share."""
    place: str
    section: str
    anchor: str
    sentence: str
    is_new: bool
    """It is a candidate from now on, unless it was one already; the others only count as links."""


class PageFacts(NamedTuple):
    """What is known of a page once it has been read."""

    named: float
    page: float
    focus: float
    meaning: float
    length: int
    references: int
    is_stub: bool
    is_list: bool
    is_disambiguation: bool
    categories: tuple[str, ...]
    sketch: tuple[int, ...]
    vector: str
    """Its meaning, where vectors are compared: base64 of half floats."""
    duplicate_of: str = ""
    absent: tuple[str, ...] = ()
    """Words of the topic and of the focus that are not on the page."""


@dataclass(frozen=True, slots=True)
class SearchedBook:
    """How one book was searched."""

    book: BookId
    words: tuple[tuple[str, float], ...]
    """Words of the topic and of the focus, and how rare each is."""
    unknown: tuple[str, ...]
    """Words of the topic that the book does not have."""
    corrected: str
    pages: int
    """Pages found."""
    naming: int
    """Those of them that name the topic in full."""


@dataclass(frozen=True, slots=True)
class StartStep:
    """The search is done: here the crawl starts, and these pages are candidates."""

    kind: ClassVar[str] = "begun"
    topic: str
    focus: str
    timeline: bool
    """The topic asks for a timeline, so that pages of years are taken."""
    searched: tuple[SearchedBook, ...]
    seeds: tuple[SeedChoice, ...]
    passed: tuple[SeedChoice, ...]
    found: tuple[FoundPage, ...]
    head: str = ""
    """The thing that the topic is about."""
    aspect: str = ""
    """The side of it that is asked for; empty where all of it is."""
    senses: tuple[str, ...] = ()
    """Titles of other pages that the same name may mean."""

    @property
    def heads(self) -> frozenset[EntryRef]:
        """The seeds about the thing itself."""
        return frozenset(seed.ref for seed in self.seeds if seed.is_head)


@dataclass(frozen=True, slots=True)
class VisitStep:
    """A page was taken into the corpus, and its links were offered."""

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
    """How the crawl came to it."""
    lines: tuple[ScoreLine, ...]
    relevance: float
    runner_up: str
    """The page that would have been next, with its score."""
    facts: PageFacts
    branch: str
    words: tuple[tuple[str, int], ...]
    """Words of its sentences that speak of the topic, and how often they are there: from these keywords are learned."""
    links: int
    """Pages it links to."""
    offers: tuple[LinkOffer, ...]
    refused: tuple[tuple[str, int], ...]
    """Why links were not offered, and how many."""

    @property
    def ref(self) -> EntryRef:
        return EntryRef(self.book, self.path)


@dataclass(frozen=True, slots=True)
class LookStep:
    """A page was read and not taken: put back with a lower score, or left for good."""

    kind: ClassVar[str] = "looked"
    book: BookId
    path: str
    title: str
    why: str
    gone: bool
    """It is no candidate any more."""
    facts: PageFacts | None
    depth: int = 0
    relevance: float = 0.0
    links: int = 0
    offers: tuple[LinkOffer, ...] = ()
    """What a page of senses lists, offered in its place."""
    refused: tuple[tuple[str, int], ...] = ()
    """Why links of a page of senses were not offered, and how many."""
    is_weak: bool = False
    """It has next to nothing to do with the topic."""

    @property
    def ref(self) -> EntryRef:
        return EntryRef(self.book, self.path)


@dataclass(frozen=True, slots=True)
class LearnStep:
    """Words that relevant pages have in common: from now on they count."""

    kind: ClassVar[str] = "learned"
    keywords: tuple[tuple[str, float], ...]
    """Stems, and what share of all keywords' weight each has."""
    words: tuple[str, ...]
    """The same as people write them."""


@dataclass(frozen=True, slots=True)
class EndStep:
    """The crawl is over, and why."""

    kind: ClassVar[str] = "ended"
    why: Message
    left: int
    """Candidates that were not visited."""


CrawlStep = StartStep | VisitStep | LookStep | LearnStep | EndStep
KINDS: dict[str, type[CrawlStep]] = {kind.kind: kind for kind in (StartStep, VisitStep, LookStep, LearnStep, EndStep)}


def step_record(step: CrawlStep) -> dict[str, Any]:
    """A step as plain data; inner tuples become lists in JSON."""
    row: dict[str, Any] = {"step": step.kind}
    for field in fields(step):
        value = getattr(step, field.name)
        row |= message_fields(field.name, value) if isinstance(value, Message) else {field.name: value}
    if isinstance(step, VisitStep):
        row["lines"] = [[term.signal, term.points] for term in step.lines]
    if isinstance(step, StartStep):
        row["seed_messages"] = [message_record(seed.why) for seed in step.seeds]
        row["searched"] = [[getattr(one, field.name) for field in fields(SearchedBook)] for one in step.searched]
    return row


def step_from_record(row: Mapping[str, Any]) -> CrawlStep:
    """The step that a row was made of."""
    kind = KINDS.get(row["step"])
    names = {field.name for field in fields(kind)} if kind else set()  # a journal's rows know more than their steps
    values = {key: value for key, value in row.items() if key in names}
    match row["step"]:
        case "begun":
            return StartStep(
                **values
                | {
                    "searched": tuple(map(_searched, row["searched"])),
                    "seeds": _seeds(row["seeds"], row.get("seed_messages", ())),
                    "passed": _seeds(row["passed"]),
                    "found": tuple(FoundPage(*one) for one in row["found"]),
                    "senses": tuple(row.get("senses", ())),
                }
            )
        case "visited":
            return VisitStep(
                **values
                | {
                    "reason": message_in(row, "reason"),
                    "lines": tuple(ScoreLine(*line) for line in row["lines"]),
                    "facts": _facts(row["facts"]),
                    "words": tuple((word, count) for word, count in row["words"]),
                    "offers": tuple(LinkOffer(*offer) for offer in row["offers"]),
                    "refused": tuple((why, count) for why, count in row["refused"]),
                }
            )
        case "looked":
            facts = _facts(row["facts"]) if row["facts"] is not None else None
            return LookStep(
                **values
                | {
                    "facts": facts,
                    "offers": tuple(LinkOffer(*offer) for offer in row["offers"]),
                    "refused": tuple((why, count) for why, count in row["refused"]),
                }
            )
        case "learned":
            keywords = tuple((stem, weight) for stem, weight in row["keywords"])
            return LearnStep(keywords, tuple(row["words"]))
        case "ended":
            return EndStep(message_in(row, "why"), row["left"])
        case other:
            raise ValueError(f"unknown step {other!r}")


def _seeds(rows: Sequence[Sequence[Any]], records: Sequence[Any] = ()) -> tuple[SeedChoice, ...]:
    """Seeds or pages passed over; why they are is in the records of messages, where the journal has them."""
    choices = [SeedChoice(*row) for row in rows]
    messages = [message_from_record(one.why, record) for one, record in zip_longest(choices, records[: len(choices)])]
    return tuple(one._replace(why=why) for one, why in zip(choices, messages, strict=True))


def _searched(row: list[Any]) -> SearchedBook:
    book, words, unknown, *rest = row
    return SearchedBook(book, tuple((word, rarity) for word, rarity in words), tuple(unknown), *rest)


def _facts(row: list[Any]) -> PageFacts:
    facts = PageFacts(*row)
    return facts._replace(categories=tuple(facts.categories), sketch=tuple(facts.sketch), absent=tuple(facts.absent))
