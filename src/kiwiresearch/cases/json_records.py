"""A case as JSON: its summary, people, facts, ties, events, conflicts, merges and searches."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from kiwiresearch.codec import OMIT_DEFAULT, Record
from kiwiresearch.kin import ConflictRecord, Decision, FieldName, LivingStatus, Method, Standing, Status


@dataclass(frozen=True, slots=True)
class NamedPerson(Record):
    """A person by id."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class RelativeRecord(NamedPerson):
    """A person with the years of their life."""

    lived: str


@dataclass(frozen=True, slots=True)
class ParentOrChild(RelativeRecord):
    """A parent or child of another."""

    note: str
    """How they are related if not by birth: step, adoptive …; or `doubtful`. Usually empty."""


@dataclass(frozen=True, slots=True)
class CaseSummary(Record):
    """A case in numbers."""

    title: str
    """The starting people."""
    seeds: tuple[NamedPerson, ...]
    people: int
    kept_back: int  # its name in the API; elsewhere this is called hidden or withheld
    """How many of them may be living and are hidden."""
    facts: int
    ties: int
    sources: int
    generations: int
    budget: int
    steps: int
    fetched: int
    """How many records were read."""
    waiting: int
    """How much is left to look at."""
    stop: str
    """The condition that stopped the research last; empty if none did."""
    why: str
    """The same as a sentence."""


@dataclass(frozen=True, slots=True)
class WhenRecord(Record):
    """A date as text and as EDTF."""

    words: str
    edtf: str


@dataclass(frozen=True, slots=True)
class PersonRecord(Record):
    """A person with their closest relatives."""

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
    """Their relationship to the first starting person."""
    parents: tuple[ParentOrChild, ...]
    spouses: tuple[RelativeRecord, ...]
    children: tuple[ParentOrChild, ...]
    siblings: tuple[RelativeRecord, ...]


@dataclass(frozen=True, slots=True)
class LineRow(RelativeRecord):
    """A person in a line of ancestors or descendants, with their depth."""

    depth: int
    note: str
    again: bool
    """They are already listed above, so their line is not repeated."""
    spouses: tuple[RelativeRecord, ...]


@dataclass(frozen=True, slots=True)
class KinStep(NamedPerson):
    """A person between two others, and their relationship to the one before."""

    is_: str


@dataclass(frozen=True, slots=True)
class RelationRecord(Record):
    """How one person is related to another."""

    first: NamedPerson
    second: NamedPerson
    relation: str
    way: tuple[KinStep, ...]
    common_ancestors: tuple[RelativeRecord, ...]


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
    """A relationship between two people; for parent and child, the parent comes first."""

    id: str
    kind: str
    first: str
    second: str
    qualifier: str
    status: str
    confidence: float


@dataclass(frozen=True, slots=True)
class TreeRecord(Record):
    """Everyone, and all relationships."""

    people: tuple[TreePerson, ...]
    ties: tuple[TreeTie, ...]


@dataclass(frozen=True, slots=True)
class AgeRecord(Record):
    """How old a person was at an event."""

    name: str
    age: str


@dataclass(frozen=True, slots=True)
class EventRecord(Record):
    """An event in the life of one or more people."""

    when: str
    edtf: str
    what: str
    who: tuple[RelativeRecord, ...]
    where: str
    ages: tuple[AgeRecord, ...]
    status: str
    confidence: float
    standing: Standing


@dataclass(frozen=True, slots=True)
class LoggedSearch(Record):
    """A search in the research log. Finding nothing does not prove that there is nothing."""

    query: str
    source: str
    found: int
    new_statements: int
    negative: bool


@dataclass(frozen=True, slots=True)
class EvidenceRecord(Record):
    """A quote from a source that supports it."""

    quote: str
    start: int
    end: int
    locator: str
    method: Method
    class_: str
    """The kind of evidence, as a phrase."""
    reliability: float
    source: str
    book: str
    url: str
    """The source's own address."""
    note: str = dataclasses.field(default="", metadata=OMIT_DEFAULT, kw_only=True)
    """What a person noted who entered it. Only the owner sees this."""


@dataclass(frozen=True, slots=True)
class FactRecord(Record):
    """A value, or a relationship to another person, with its evidence."""

    id: str
    field: FieldName
    value: str
    status: Status
    preferred: bool
    confidence: float
    why_rejected: str
    evidence: tuple[EvidenceRecord, ...]
    standing: Standing
    """Whether it is accepted, competing, rejected or entered by a person, and how sure it is."""
    decision: Decision
    """What a person decided about it, if they did."""
    person: str | None = dataclasses.field(default=None, metadata=OMIT_DEFAULT)
    """For a relationship, the other person."""
    qualifier: str | None = dataclasses.field(default=None, metadata=OMIT_DEFAULT)
    when: str | None = dataclasses.field(default=None, metadata=OMIT_DEFAULT)


@dataclass(frozen=True, slots=True)
class NamedConflict(ConflictRecord):
    """A conflict with the name of the person it is about."""

    name: str


@dataclass(frozen=True, slots=True)
class MergeRecord(Record):
    """Records that were merged, including merges that were undone later."""

    id: str
    state: str
    person: str
    members: tuple[NamedPerson, ...]
    score: float
    decided_by: str
    why: str
    why_not: str


@dataclass(frozen=True, slots=True)
class ProposedMergeRecord(Record):
    """A possible duplicate: two records that may be the same person."""

    id: str
    members: tuple[NamedPerson, ...]
    score: float
    action: str
    why: str
    why_not: str


@dataclass(frozen=True, slots=True)
class SeparatedRecord(Record):
    """Two records that are kept separate and not suggested again."""

    id: str
    members: tuple[NamedPerson, ...]
    decided_by: str
    why: str
    """Only the owner sees this."""


@dataclass(frozen=True, slots=True)
class MergesRecord(Record):
    """Merges and possible duplicates."""

    merges: tuple[MergeRecord, ...]
    to_review: tuple[ProposedMergeRecord, ...]
    """Possible duplicates for the owner to review."""
    kept_apart: tuple[SeparatedRecord, ...]
    """Pairs that are kept separate."""


@dataclass(frozen=True, slots=True)
class VerificationRecord(Record):
    """What was checked in a case, and the problems found."""

    holds: bool
    proved: dict[str, int]
    failures: tuple[str, ...]
    notes: tuple[str, ...]
    audit_head: str


@dataclass(frozen=True, slots=True)
class PagePerson(Record):
    """The person a page is about, with the values it gives."""

    name: str
    sex: str
    birth: str
    death: str
    parents: tuple[str, ...]
    spouses: tuple[str, ...]
    children: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PageAssertion(Record):
    """A value that a page gives, with its quote and the result of the checks."""

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
class PersonPageRecord(Record):
    """A page as a case would read it; `person` is None if it is not about one person."""

    path: str
    book: str
    title: str
    person: PagePerson | None
    why: str
    assertions: tuple[PageAssertion, ...]
