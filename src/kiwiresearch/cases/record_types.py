"""A case as JSON: its summary, people, facts, ties, events, conflicts, merges and searches."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from kiwiresearch.codec import OMIT_DEFAULT, Record
from kiwiresearch.kin import ConflictRecord, FieldName, LivingStatus, Method, Status


@dataclass(frozen=True, slots=True)
class PersonName(Record):
    """A person by id."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Relative(PersonName):
    """A person next to another."""

    lived: str


@dataclass(frozen=True, slots=True)
class ParentOrChild(Relative):
    """A parent or child of another."""

    note: str
    """How they are tied if not by blood: step, adoptive …; or `doubtful`. Mostly empty."""


@dataclass(frozen=True, slots=True)
class CaseSummary(Record):
    """A case in a few figures."""

    title: str
    """Whom it began with."""
    seeds: tuple[PersonName, ...]
    people: int
    kept_back: int
    """How many of them may be living, and are told only as such."""
    facts: int
    ties: int
    sources: int
    generations: int
    budget: int
    steps: int
    fetched: int
    """How many records were fetched."""
    waiting: int
    """How much is left to look at."""
    stop: str
    """The condition that ended it last; empty while there is none."""
    why: str
    """The same in words."""


@dataclass(frozen=True, slots=True)
class WhenRecord(Record):
    """A date in words, and as EDTF."""

    words: str
    edtf: str


@dataclass(frozen=True, slots=True)
class PersonRecord(Record):
    """A person with the people next to them."""

    id: str
    name: str
    names: tuple[str, ...]
    sex: str
    birth: WhenRecord | None
    birth_place: str
    death: WhenRecord | None
    death_place: str
    living: LivingStatus
    confidence: float
    relation: str
    """What they are to the first whom the case began with."""
    parents: tuple[ParentOrChild, ...]
    spouses: tuple[Relative, ...]
    children: tuple[ParentOrChild, ...]
    siblings: tuple[Relative, ...]


@dataclass(frozen=True, slots=True)
class LineRow(Relative):
    """A person of a line, and how deep they stand in it."""

    depth: int
    note: str
    again: bool
    """They stand further up already, and are not gone into again."""
    spouses: tuple[Relative, ...]


@dataclass(frozen=True, slots=True)
class KinStep(PersonName):
    """A person on the way from one to another, and what they are to the one before."""

    is_: str


@dataclass(frozen=True, slots=True)
class RelationRecord(Record):
    """What one person is to another."""

    first: PersonName
    second: PersonName
    relation: str
    way: tuple[KinStep, ...]
    common_ancestors: tuple[Relative, ...]


@dataclass(frozen=True, slots=True)
class TreePerson(Record):
    """A person of the tree."""

    id: str
    name: str
    sex: str
    living: LivingStatus
    lived: str
    confidence: float


@dataclass(frozen=True, slots=True)
class TreeTie(Record):
    """A tie between two people; of a parent and a child, the parent is the first."""

    id: str
    kind: str
    first: str
    second: str
    qualifier: str
    status: str
    confidence: float


@dataclass(frozen=True, slots=True)
class TreeRecord(Record):
    """Everybody, and all ties."""

    people: tuple[TreePerson, ...]
    ties: tuple[TreeTie, ...]


@dataclass(frozen=True, slots=True)
class AgeRecord(Record):
    """How old somebody was at an event."""

    name: str
    age: str


@dataclass(frozen=True, slots=True)
class EventRecord(Record):
    """An event of a life, or of several."""

    when: str
    edtf: str
    what: str
    who: tuple[Relative, ...]
    where: str
    ages: tuple[AgeRecord, ...]
    status: str
    confidence: float


@dataclass(frozen=True, slots=True)
class LoggedSearch(Record):
    """A search of the research log; one in vain is no evidence that there is nothing."""

    query: str
    source: str
    found: int
    new_statements: int
    negative: bool


@dataclass(frozen=True, slots=True)
class EvidenceRecord(Record):
    """Words of a source that say so."""

    quote: str
    start: int
    end: int
    locator: str
    method: Method
    class_: str
    """What kind of evidence it is, in words."""
    reliability: float
    source: str
    book: str
    url: str
    """The source's own address."""


@dataclass(frozen=True, slots=True)
class FactRecord(Record):
    """A value, or a tie to another person, with all that speaks for it."""

    id: str
    field: FieldName
    value: str
    status: Status
    preferred: bool
    confidence: float
    why_rejected: str
    evidence: tuple[EvidenceRecord, ...]
    person: str | None = dataclasses.field(default=None, metadata=OMIT_DEFAULT)
    """Of a tie, the other person."""
    qualifier: str | None = dataclasses.field(default=None, metadata=OMIT_DEFAULT)
    when: str | None = dataclasses.field(default=None, metadata=OMIT_DEFAULT)


@dataclass(frozen=True, slots=True)
class NamedConflict(ConflictRecord):
    """A conflict with the name of the person it is about."""

    name: str


@dataclass(frozen=True, slots=True)
class MergeRecord(Record):
    """Records that were taken for one person, or undone since."""

    id: str
    state: str
    person: str
    members: tuple[PersonName, ...]
    score: float
    decided_by: str
    why: str
    why_not: str


@dataclass(frozen=True, slots=True)
class WaitingRecord(Record):
    """Two records that may be one person, and wait for the owner."""

    id: str
    members: tuple[PersonName, ...]
    score: float
    action: str
    why: str
    why_not: str


@dataclass(frozen=True, slots=True)
class SeparatedRecord(Record):
    """Two records that are not proposed again."""

    id: str
    members: tuple[PersonName, ...]
    decided_by: str
    why: str
    """For the owner alone."""


@dataclass(frozen=True, slots=True)
class MergesRecord(Record):
    """Who was taken for one person, and who may be."""

    merges: tuple[MergeRecord, ...]
    to_review: tuple[WaitingRecord, ...]
    """What waits for the owner."""
    kept_apart: tuple[SeparatedRecord, ...]
    """Who is not proposed again."""


@dataclass(frozen=True, slots=True)
class VerificationRecord(Record):
    """What was proved of a case, and what does not hold."""

    holds: bool
    proved: dict[str, int]
    failures: tuple[str, ...]
    notes: tuple[str, ...]
    audit_head: str


@dataclass(frozen=True, slots=True)
class PagePerson(Record):
    """The person of a page, by the values that the page gives."""

    name: str
    sex: str
    birth: str
    death: str
    parents: tuple[str, ...]
    spouses: tuple[str, ...]
    children: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PageAssertion(Record):
    """A value that a page gives, with its quote and what the firewall makes of it."""

    field: FieldName
    value: str
    quote: str
    start: int
    end: int
    status: Status
    confidence: float
    qualifier: str
    method: Method
    why_rejected: str


@dataclass(frozen=True, slots=True)
class PageRecord(Record):
    """A page as a case would read it; `person` is None where it is not about one."""

    path: str
    book: str
    title: str
    person: PagePerson | None
    why: str
    assertions: tuple[PageAssertion, ...]
