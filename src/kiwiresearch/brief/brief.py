"""A brief: statements supported by claims, with sources and pictures; and its JSON form."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass
from functools import cache
from hashlib import sha256
from types import UnionType
from typing import Any, Literal, NewType, Self, get_args, get_origin, get_type_hints

from kiwiresearch.claims import Claim, ClaimId
from kiwiresearch.claims import claim as claims
from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import StatementWithoutClaims
from kiwiresearch.ids import BookId, canonical_json
from kiwiresearch.messages import Message, message_fields, message_from_record, message_in, message_record
from kiwiresearch.zim import EntryRef

MediaType = Literal["image/gif", "image/jpeg", "image/png", "image/webp"]
Images = Mapping[str, bytes]
"""The bytes of pictures by their SHA-256."""

SIGNATURES: tuple[tuple[bytes, MediaType], ...] = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def media_type_of(content: bytes) -> MediaType | None:
    """The picture's type, from its first bytes; None for all other types, notably SVG, which may contain scripts."""
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for beginning, kind in SIGNATURES if content.startswith(beginning)), None)


def picture_file_name(sha: str, media_type: MediaType) -> str:
    """The file name of a picture outside the report."""
    return f"pictures/{sha}.{media_type.partition('/')[2]}"


def data_url(content: bytes, media_type: MediaType) -> str:
    return f"data:{media_type};base64,{b64encode(content).decode()}"


def pictures_json(images: Images) -> str:
    """The content of `pictures.json`."""
    return canonical_json({sha: b64encode(content).decode() for sha, content in images.items()}, indent=1) + "\n"


def pictures_from_record(record: Mapping[str, Any]) -> dict[str, bytes]:
    """The pictures of `pictures.json`; ValueError if it is malformed, or if a picture does not match its hash."""
    images = {sha: b64decode(str(row), validate=True) for sha, row in record.items()}
    for sha, content in images.items():
        if sha256(content).hexdigest() != sha:
            raise ValueError(f"the picture {sha[:80]!r} does not have the hash that it is named by")
    return images


SupportLevel = Literal["well supported", "supported", "one source", "hedged", "disputed"]
PartKey = Literal["summary", "body", "definitions", "timeline", "mechanisms", "actors", "disputes", "numbers", "gaps"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the brief and the claims that support it, at least one."""

    text: str
    claims: tuple[ClaimId, ...]
    sureness: SupportLevel
    pages: int = 1
    """How many independent pages say it."""
    written: Literal["rule", "model"] = "rule"

    def __post_init__(self) -> None:
        if not self.claims:
            raise StatementWithoutClaims(f"Nothing supports {self.text[:60]!r}.")


@dataclass(frozen=True, slots=True)
class StatementGroup:
    """Statements under one heading: a concept, a mechanism, an actor."""

    heading: str
    """Empty for the part of the lead that is continued in the body."""
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class TimelineMoment:
    """A timeline entry: what happened, and its date as written and as a range of days."""

    when: str
    earliest: int
    latest: int
    statement: Statement


@dataclass(frozen=True, slots=True)
class DisputeView:
    """One side of a dispute: its holder, if the page names one, and what it says."""

    holder: str
    statement: Statement
    cues: tuple[str, ...] = ()
    """Words on the page that hedge it or mark it as disputed."""


@dataclass(frozen=True, slots=True)
class ValueDifference:
    """How two values differ, and why; stored in JSON as a single text."""

    kind: str
    why: Message = Message("")  # noqa: RUF009

    def __str__(self) -> str:
        return f"{self.kind}: {self.why}" if self.why else self.kind

    @classmethod
    def from_text(cls, text: str, record: object = None) -> Self | None:
        """The difference written as this text; None if it is empty."""
        kind, _, why = text.partition(": ")
        return (cls(kind, message_from_record(why, record)) if why else cls(text)) if text else None


@dataclass(frozen=True, slots=True)
class Dispute:
    """Opposing views; if there is only one, the sources give one side."""

    about: str
    views: tuple[DisputeView, ...]
    difference: ValueDifference | None = field(default=None, metadata={"json": "kind"})
    """How contradicting values differ."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A row of the table of numbers."""

    value: str
    what: str
    """The measured property; empty, like `of` and `when`, if the sentence is not clear about it."""
    of: str
    when: str
    statement: Statement
    difference: ValueDifference | None = field(default=None, metadata={"json": "disagrees"})
    """How it differs from the value of another page."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Something the sources leave open: a gap in the sources, not in human knowledge."""

    kind: Literal["open", "concept", "hedged", "missing page", "introductions only"]
    text: Message
    claims: tuple[ClaimId, ...] = ()


@dataclass(frozen=True, slots=True)
class BriefPicture:
    """A picture of a page, with its caption there. Its bytes are identified by their hash."""

    ref: EntryRef
    """The page."""
    path: str
    """Where the picture is in the page's book."""
    caption: str
    alt: str
    """The alternative text; empty if the page has none."""
    media_type: MediaType
    sha256: str
    part: int | None = None
    """The number of its section of the body, from 0; None for the summary."""


@dataclass(frozen=True, slots=True)
class BriefSource:
    """A page that was read, and why."""

    ref: EntryRef
    title: str
    url: str
    depth: int
    points: float
    why: Message
    opening: str = ""
    """Its first sentence."""
    is_head: bool = False
    """Whether the page is about the topic's subject itself, even if only one aspect was asked for."""


@dataclass(frozen=True, slots=True)
class SourceBook:
    """A book that was used, as its maker describes it."""

    id: BookId
    title: str
    name: str
    date: str
    flavour: str
    language: str
    articles: int


@dataclass(frozen=True, slots=True)
class BriefSources:
    """The pages and books behind a brief, and how they were gathered."""

    books: tuple[SourceBook, ...]
    pages: tuple[BriefSource, ...]
    """In the order in which they were read."""
    links: tuple[tuple[int, int], ...]
    """Which pages link to which, by their numbers in `pages`, from 0."""
    story: tuple[Message, ...]
    """How the pages were gathered, one paragraph each."""
    settings: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class QuoteContext:
    """The exact text of the page before and after the first quote of a claim."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Brief:
    """The content of a report, independent of its format. `claims` has every claim that supports a statement."""

    topic: str
    sources: BriefSources
    head: str
    """The subject that the topic was understood to have."""
    aspect: str
    """The requested aspect of the subject; empty if none was requested."""
    senses: tuple[str, ...]
    """Titles of other pages that the topic's name could refer to."""
    summary: tuple[Statement, ...]
    """Prose: what matters most, in the order of the pages."""
    body: tuple[StatementGroup, ...]
    """Prose under the headings of the main article, or the titles of other pages."""
    definitions: tuple[StatementGroup, ...]
    timeline: tuple[TimelineMoment, ...]
    mechanisms: tuple[StatementGroup, ...]
    actors: tuple[StatementGroup, ...]
    disputes: tuple[Dispute, ...]
    numbers: tuple[Figure, ...]
    gaps: tuple[Gap, ...]
    claims: dict[ClaimId, Claim] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()
    """Caveats for the reader: a weak match, a book of introductions, a model that failed."""
    context: dict[ClaimId, QuoteContext] = field(default_factory=dict)
    """The context of the quotes of the claims, if they have any."""
    pictures: tuple[BriefPicture, ...] = ()
    """Pictures of its pages, in reading order."""

    @property
    def understood(self) -> tuple[str, ...]:
        """The subject and the aspect; nothing if they are just the topic."""
        if not self.aspect and self.head.casefold() == self.topic.casefold():
            return ()
        return tuple(part for part in (self.head, self.aspect) if part)

    @property
    def cited_pages(self) -> tuple[BriefSource, ...]:
        """The pages that any statement is based on, in the order in which they were read."""
        refs = {claim.ref for claim in self.claims.values()}
        return tuple(page for page in self.sources.pages if page.ref in refs)

    @property
    def story(self) -> tuple[Message, ...]:
        """How the pages were found, and whether several were read to cite only one."""
        read, cited = len(self.sources.pages), self.cited_pages
        if len(cited) != 1 or read == 1:
            return self.sources.story
        text = f"Only one of the {read:,} pages read is cited in this brief: {cited[0].title}."
        return (*self.sources.story, Message(text, "story.one_cited", n=read, title=cited[0].title))

    def __post_init__(self) -> None:
        for statement in self.statements():
            missing = [claim for claim in statement.claims if claim not in self.claims]
            if missing:
                raise StatementWithoutClaims(f"{statement.text[:60]!r} is based on claims that do not exist.")

    def statements(self) -> list[Statement]:
        """All statements, in reading order."""
        found = [*self.summary]
        found += [statement for group in (*self.body, *self.definitions) for statement in group.statements]
        found += [moment.statement for moment in self.timeline]
        found += [statement for group in (*self.mechanisms, *self.actors) for statement in group.statements]
        found += [view.statement for dispute in self.disputes for view in dispute.views]
        return found + [figure.statement for figure in self.numbers]


OMITTED_WHEN_EMPTY = frozenset({"pictures"})
"""Fields that are left out of the JSON if they are empty."""


def brief_record(brief: Brief) -> JsonDict:
    """The content of `brief.json`: the fields by their names, with the claims as in `claims.jsonl`."""
    record = {name: value for name, value in _plain(brief).items() if value or name not in OMITTED_WHEN_EMPTY}
    return record | {"claims": [claims.claim_record(claim) for claim in brief.claims.values()]}


def brief_from_record(record: Mapping[str, Any]) -> Brief:
    """The brief of a record; ValueError, KeyError or TypeError if it is malformed."""
    found = [claims.claim_from_record(row) for row in _of(list[Any], record["claims"], "claims")]
    names = {name: hint for name, hint in _hints(Brief).items() if name in record or name not in OMITTED_WHEN_EMPTY}
    values = {name: _field(hint, record, name) for name, hint in names.items() if name != "claims"}
    return Brief(**values, claims={claim.id: claim for claim in found})


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        made: JsonDict = {}
        for part in fields(value):
            made |= _plain_field(_json_name(part), getattr(value, part.name))
        return made
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


DIFFERENCES = frozenset({"kind", "disagrees"})


def _json_name(part: Field[Any]) -> str:
    return str(part.metadata.get("json", part.name))


def _plain_field(name: str, value: Any) -> JsonDict:
    """A field under its name; if it has messages, `NAME_message` or `NAME_messages` has their kinds and values."""
    if isinstance(value, Message):
        return {**message_fields(name, value)}
    if isinstance(value, ValueDifference):
        record = message_record(value.why)
        return {name: str(value)} | ({f"{name}_message": record} if record else {})
    if value is None and name in DIFFERENCES:
        return {name: ""}
    if isinstance(value, tuple) and any(isinstance(item, Message) for item in value):
        records = [message_record(item) for item in value]
        return {name: list(value), f"{name}_messages": records} if any(records) else {name: list(value)}
    return {name: _plain(value)}


_hints = cache(get_type_hints)


def _field(hint: Any, row: Mapping[str, Any], name: str) -> Any:
    """The value of a field of a record; for a message, with the kind and values next to it."""
    if hint is Message:
        return message_in(row, name)
    if hint == ValueDifference | None:
        return ValueDifference.from_text(_of(str, row[name], name), row.get(f"{name}_message"))
    if hint == tuple[Message, ...]:
        texts = _of(tuple[str, ...], row[name], name)
        records = row.get(f"{name}_messages")
        known = records if isinstance(records, list) and len(records) == len(texts) else [None] * len(texts)
        return tuple(message_from_record(text, record) for text, record in zip(texts, known, strict=True))
    return _of(hint, row[name], name)


def _of(hint: Any, value: Any, name: str) -> Any:
    """The value checked against the type of its field, so that a new field needs no code here."""
    if isinstance(hint, NewType):
        return _of(hint.__supertype__, value, name)
    if is_dataclass(hint) and isinstance(hint, type):
        if not isinstance(value, Mapping):
            raise TypeError(f"{name} is not a record: {value!r:.60}")
        hints = _hints(hint)
        return hint(**{part.name: _field(hints[part.name], value, _json_name(part)) for part in fields(hint)})
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return _checked(value, name, fits=value in inner)
    if origin is UnionType:
        return _checked(value, name, fits=isinstance(value, inner))
    if origin in (tuple, list):
        _checked(value, name, fits=isinstance(value, list))
        kinds = [inner[0]] * len(value) if inner[-1] is ... or origin is list else inner
        made = [_of(kind, item, name) for kind, item in zip(kinds, value, strict=True)]
        return tuple(made) if origin is tuple else made
    if origin is dict:
        _checked(value, name, fits=isinstance(value, dict))
        return {_of(inner[0], key, name): _of(inner[1], item, name) for key, item in value.items()}
    if hint is Any:
        return value
    if hint is float:
        # JSON writes 1.0 as 1. The type itself is compared, because `isinstance` takes a bool for an int.
        return float(_checked(value, name, fits=type(value) in (int, float)))
    return _checked(value, name, fits=type(value) is hint)


def _checked(value: Any, name: str, *, fits: bool) -> Any:
    if not fits:
        raise TypeError(f"{name} cannot be {value!r:.60}")
    return value
