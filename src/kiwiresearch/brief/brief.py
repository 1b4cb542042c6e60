"""A brief: statements, each resting on claims, in parts that a reader can take in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kiwiresearch.brief.images import MediaType
from kiwiresearch.claims.claim import Claim, ClaimId
from kiwiresearch.errors import StatementWithoutClaims
from kiwiresearch.ids import BookId
from kiwiresearch.zim.entry import EntryRef

Sureness = Literal["well supported", "supported", "one source", "hedged", "disputed"]
PartKey = Literal["summary", "body", "definitions", "timeline", "mechanisms", "actors", "disputes", "numbers", "gaps"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the brief and the claims it rests on: never none."""

    text: str
    claims: tuple[ClaimId, ...]
    sureness: Sureness
    pages: int = 1
    """How many pages say so independently of each other."""
    written: Literal["rule", "model"] = "rule"

    def __post_init__(self) -> None:
        if not self.claims:
            raise StatementWithoutClaims(f"Nothing supports {self.text[:60]!r}.")


@dataclass(frozen=True, slots=True)
class Group:
    """Statements under one heading: a concept, a mechanism, an actor."""

    heading: str
    """In the body, none above what goes on with the introduction."""
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Moment:
    """A line of the timeline: when, as readers write it and as it is ordered, and what happened."""

    when: str
    earliest: int
    latest: int
    statement: Statement


@dataclass(frozen=True, slots=True)
class View:
    """One side of a dispute: who holds it, if the page says so, and what it says."""

    holder: str
    statement: Statement
    cues: tuple[str, ...] = ()
    """Words on the page that hedge it or mark it as disputed."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """View A against view B; with one view only, the sources give one side."""

    about: str
    views: tuple[View, ...]
    kind: str = ""
    """Of a contradiction: which kind it is, and why it is told apart."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A row of the table of numbers."""

    value: str
    what: str
    """What it measures; empty, as are `of` and `when`, where the sentence does not say so plainly."""
    of: str
    when: str
    statement: Statement
    disagrees: str = ""
    """Where another page gives another value: which kind of disagreement it is."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that the book leaves open, and how that was seen. It is about the sources, not about the world."""

    kind: Literal["open", "concept", "hedged", "missing page", "introductions only"]
    text: str
    claims: tuple[ClaimId, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a page, with the words that stand under it there. Its bytes are known by their hash."""

    ref: EntryRef
    """The page."""
    path: str
    """Where the picture is in the page's book."""
    caption: str
    alt: str
    """What it shows, for those who cannot see it; empty where the page does not say."""
    media_type: MediaType
    sha256: str
    part: int | None = None
    """The number of the part of the body that it belongs to, from 0; None for the summary."""


@dataclass(frozen=True, slots=True)
class Source:
    """A page that was read: what it is, where a reader opens it, and why it was taken."""

    ref: EntryRef
    title: str
    url: str
    depth: int
    points: float
    why: str
    opening: str = ""
    """Its first sentence."""
    is_head: bool = False
    """It is about the thing itself, all of it or a side of which is asked for."""


@dataclass(frozen=True, slots=True)
class BookNote:
    """A book that was used, as its maker describes it."""

    id: BookId
    title: str
    name: str
    date: str
    flavour: str
    language: str
    articles: int


@dataclass(frozen=True, slots=True)
class Sources:
    """What a brief was made from, and how it was gathered."""

    books: tuple[BookNote, ...]
    pages: tuple[Source, ...]
    """In the order in which they were read."""
    links: tuple[tuple[int, int], ...]
    """Which pages led to which, by their numbers in `pages`, from 0."""
    story: tuple[str, ...]
    """How the pages were gathered, in paragraphs."""
    settings: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Context:
    """What stands right before and after the first quote of a claim, letter by letter as on the page."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Brief:
    """What is written about a topic, before it has a form. `claims` holds every claim that a statement rests on."""

    topic: str
    sources: Sources
    head: str
    """The thing that the topic was understood to be about."""
    aspect: str
    """The side of it that is asked for; empty where all of it is."""
    senses: tuple[str, ...]
    """Titles of other pages that the topic's name may mean, and that were left aside."""
    summary: tuple[Statement, ...]
    """Running text: what matters most, in the order in which the pages tell it."""
    body: tuple[Group, ...]
    """Running text under the headings of the main article, or the titles of other pages."""
    definitions: tuple[Group, ...]
    timeline: tuple[Moment, ...]
    mechanisms: tuple[Group, ...]
    actors: tuple[Group, ...]
    disputes: tuple[Dispute, ...]
    numbers: tuple[Figure, ...]
    gaps: tuple[Gap, ...]
    claims: dict[ClaimId, Claim] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """What a reader should know first: a weak beginning, introductions only, a model that did not answer."""
    context: dict[ClaimId, Context] = field(default_factory=dict)
    """What stands around the quotes of the claims, where there is something."""
    pictures: tuple[Picture, ...] = ()
    """Pictures of its pages, in reading order; none where the books have none."""

    @property
    def understood(self) -> tuple[str, ...]:
        """The thing and the side of it that is told of; nothing where that is just the topic."""
        if not self.aspect and self.head.casefold() == self.topic.casefold():
            return ()
        return tuple(part for part in (self.head, self.aspect) if part)

    def __post_init__(self) -> None:
        for statement in self.statements():
            missing = [one for one in statement.claims if one not in self.claims]
            if missing:
                raise StatementWithoutClaims(f"{statement.text[:60]!r} rests on claims that nobody made.")

    def statements(self) -> list[Statement]:
        """All statements, in reading order."""
        found = [*self.summary]
        found += [one for group in (*self.body, *self.definitions) for one in group.statements]
        found += [moment.statement for moment in self.timeline]
        found += [one for group in (*self.mechanisms, *self.actors) for one in group.statements]
        found += [view.statement for dispute in self.disputes for view in dispute.views]
        return found + [figure.statement for figure in self.numbers]
