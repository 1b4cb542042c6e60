"""The data of family research: fields, people, facts and relationships with their evidence, and the tree they form."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha1
from typing import Literal

from kiwiresearch.text.dates import DateRange

FieldName = Literal[
    "name",
    "sex",
    "birth_date",
    "birth_place",
    "baptism_date",
    "baptism_place",
    "death_date",
    "death_place",
    "burial_date",
    "burial_place",
    "marriage_date",
    "marriage_place",
    "occupation",
    "title",
    "father",
    "mother",
    "parent",
    "spouse",
    "partner",
    "child",
    "sibling",
    "grandparent",
]
DATE_FIELDS: frozenset[FieldName] = frozenset(
    {"birth_date", "baptism_date", "death_date", "burial_date", "marriage_date"}
)
PLACE_FIELDS: frozenset[FieldName] = frozenset(
    {"birth_place", "baptism_place", "death_place", "burial_place", "marriage_place"}
)
DEATH_FIELDS: tuple[FieldName, ...] = ("death_date", "death_place", "burial_date", "burial_place")
"""Only the dead have one."""
RELATION_FIELDS: frozenset[FieldName] = frozenset(
    {"father", "mother", "parent", "spouse", "partner", "child", "sibling"}
)
NAMED_RELATIVE_FIELDS = RELATION_FIELDS | {"grandparent"}
"""Fields whose value is a relative's name. A grandparent whose child is not named has no place in the tree."""
MANY_VALUED = (NAMED_RELATIVE_FIELDS - {"father", "mother"}) | {
    "marriage_date", "marriage_place", "occupation", "title"
}  # fmt: skip
"""Fields that can have several true values at once."""
PARENT_FIELDS: tuple[FieldName, ...] = ("father", "mother", "parent")

Sex = Literal["male", "female", ""]
LivingStatus = Literal["living", "deceased", "unknown"]
"""Unknown counts as living in all privacy decisions."""

Qualifier = Literal["", "biological", "adoptive", "step", "foster", "half", "illegitimate", "disputed", "divorced"]
Method = Literal["infobox", "lead", "prose", "plugin", "wikidata", "gedcom", "model", "user"]
Status = Literal["verified", "unverified", "conflicting", "disputed", "rejected", "hypothesis", "superseded"]
"""Verified: the firewall and the rules are sure. Unverified: they are not. Disputed: implausible, or contradicted.
Rejected: its quote does not say so. Hypothesis: a guess, never a fact. Conflicting, superseded: only in older cases."""
Decision = Literal["", "accepted", "rejected", "preferred"]
"""What a person decided about a fact, a relationship or a person; rules never change it."""
DISCARDED: frozenset[Status] = frozenset({"rejected", "hypothesis", "superseded"})
"""Facts and relationships of these statuses do not count."""
UNSETTLED: frozenset[Status] = frozenset({"conflicting", "disputed"})
NOT_BY_BIRTH: frozenset[Qualifier] = frozenset({"adoptive", "step", "foster"})
BY_BLOOD: frozenset[Qualifier] = frozenset({"", "biological", "illegitimate"})
OPPOSITE_SEX: dict[Sex, Sex] = {"male": "female", "female": "male", "": ""}

SourceForm = Literal["original", "derivative", "authored"]
EvidenceType = Literal["primary", "secondary", "authored"]
"""The specification's single term for form and kind of information."""
InformationKind = Literal["primary", "secondary", "undetermined"]
Directness = Literal["direct", "indirect", "negative"]

RelationKind = Literal["parent_of", "spouse_of", "partner_of", "sibling_of"]
"""`parent_of` goes from the parent to the child; the others have no direction."""
KIND_OF_FIELD: Mapping[str, RelationKind] = {
    "father": "parent_of", "mother": "parent_of", "parent": "parent_of", "child": "parent_of",
    "spouse": "spouse_of", "partner": "partner_of", "sibling": "sibling_of",
}  # fmt: skip
FIELD_OF_KIND: Mapping[RelationKind, FieldName] = {
    "parent_of": "child", "spouse_of": "spouse", "partner_of": "partner", "sibling_of": "sibling",
}  # fmt: skip
"""What the second person of a tie is to the first."""
PARENT_OF_SEX: Mapping[Sex, FieldName] = {"male": "father", "female": "mother", "": "parent"}
SEX_OF_PARENT: Mapping[str, Sex] = {"father": "male", "mother": "female"}

ID_NAMESPACE = uuid.UUID("6f6b1c5e-3f0b-5a43-9a51-0c8f0d5d2c11")


def row_id(kind: str, *parts: str) -> str:
    """The UUID of a row of this kind, derived from what identifies it."""
    name = "\x1f".join((kind, *parts)).encode()
    # This is `uuid.uuid5`, which takes twice as long: a large family has 100,000 rows.
    digits = sha1(ID_NAMESPACE.bytes + name, usedforsecurity=False).hexdigest()
    # The two highest bits of this digit are always 10, and the digit 5 below is the version (RFC 4122).
    variant = "89ab"[int(digits[16], 16) % 4]
    return f"{digits[:8]}-{digits[8:12]}-5{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


PersonId = str
SourceId = str


@dataclass(frozen=True, slots=True)
class Source:
    """One version of a page, record or file that evidence was read from."""

    id: SourceId
    url: str
    """`zim://UUID/PATH`, `https://…`, or `gedcom:NAME#XREF`."""
    name: str
    """Its display name: that of the book or the plugin."""
    title: str = ""
    tier: int = 0
    accessed_at: str = ""
    content_hash: str = ""
    origin_group: str = ""
    """Sources that copy from each other form one group, and their agreement proves nothing."""
    form: SourceForm = "authored"
    official: bool = False
    user_contributed: bool = True

    @property
    def origin(self) -> str:
        return self.origin_group or self.id


@dataclass(frozen=True, slots=True)
class Evidence:
    """Words of a source that support a fact."""

    id: str
    source: SourceId
    snippet: str
    start: int = -1
    end: int = -1
    locator: str = ""
    method: Method = "infobox"
    reliability: float = 0.5
    information: InformationKind = "undetermined"
    directness: Directness = "direct"
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """One value of one field of a person; competing values are facts of their own."""

    id: str
    person: PersonId
    field: FieldName
    value: str
    when: DateRange | None = None
    status: Status = "unverified"
    confidence: float = 0.0
    preferred: bool = False
    evidence: tuple[Evidence, ...] = ()
    decision: Decision = ""

    @property
    def is_entered(self) -> bool:
        """Whether a person entered it."""
        return any(evidence.method == "user" for evidence in self.evidence)


@dataclass(frozen=True, slots=True)
class Relationship:
    """A tie between two people; for `parent_of` the first is the parent."""

    id: str
    kind: RelationKind
    first: PersonId
    second: PersonId
    qualifier: Qualifier = ""
    start: DateRange | None = None
    end: DateRange | None = None
    status: Status = "unverified"
    confidence: float = 0.0
    evidence: tuple[Evidence, ...] = ()
    decision: Decision = ""

    @property
    def is_entered(self) -> bool:
        """Whether a person entered it."""
        return any(evidence.method == "user" for evidence in self.evidence)


@dataclass(frozen=True, slots=True)
class Person:
    """A person, described by the preferred facts."""

    id: PersonId
    name: str
    names: tuple[str, ...] = ()
    """Other forms of the name."""
    sex: Sex = ""
    birth: DateRange | None = None
    birth_place: str = ""
    death: DateRange | None = None
    death_place: str = ""
    is_dead: bool = False
    """Some source says that the person died, even without a date."""
    living: LivingStatus = "unknown"
    confidence: float = 0.0
    external: Mapping[str, str] = field(default_factory=dict)
    """External ids: `record` (the address of their own page or record), `wikidata`, `gedcom` (file#xref)."""


@dataclass(frozen=True)
class Tree:
    """People, ties and facts, each ordered by id."""

    persons: Mapping[PersonId, Person]
    relationships: tuple[Relationship, ...] = ()
    facts: tuple[Fact, ...] = ()
    sources: Mapping[SourceId, Source] = field(default_factory=dict)

    @cached_property
    def _ties(self) -> Mapping[tuple[str, PersonId], tuple[PersonId, ...]]:
        found: dict[tuple[str, PersonId], list[PersonId]] = defaultdict(list)
        for tie in self.relationships:
            if tie.status in DISCARDED:
                continue
            if tie.kind == "parent_of":
                found["parents", tie.second].append(tie.first)
                found["children", tie.first].append(tie.second)
            else:
                found[tie.kind, tie.first].append(tie.second)
                found[tie.kind, tie.second].append(tie.first)
        return {key: tuple(dict.fromkeys(ids)) for key, ids in found.items()}

    @cached_property
    def _evidence_positions(self) -> Mapping[tuple[PersonId, PersonId], tuple[SourceId, int]]:
        return {
            pair: min((evidence.source, evidence.start) for evidence in tie.evidence)
            for tie in self.relationships
            if tie.evidence
            for pair in ((tie.first, tie.second), (tie.second, tie.first))
        }

    def evidence_position(self, one: PersonId, other: PersonId) -> tuple[SourceId, int]:
        """The position of their tie in a source: children without birth dates are sorted in the order of the source."""
        return self._evidence_positions.get((one, other), ("", 0))

    def parents(self, person: PersonId) -> tuple[PersonId, ...]:
        return self._ties.get(("parents", person), ())

    def children(self, person: PersonId) -> tuple[PersonId, ...]:
        return self._ties.get(("children", person), ())

    def spouses(self, person: PersonId) -> tuple[PersonId, ...]:
        """Husbands, wives and partners."""
        found = (*self._ties.get(("spouse_of", person), ()), *self._ties.get(("partner_of", person), ()))
        return tuple(dict.fromkeys(found))

    def siblings(self, person: PersonId) -> tuple[PersonId, ...]:
        """Stated siblings, and people who share a parent."""
        shared = [child for parent in self.parents(person) for child in self.children(parent)]
        found = (*self._ties.get(("sibling_of", person), ()), *shared)
        return tuple(item for item in dict.fromkeys(found) if item != person)

    @cached_property
    def _facts_by_person(self) -> Mapping[PersonId, tuple[Fact, ...]]:
        found: dict[PersonId, list[Fact]] = defaultdict(list)
        for fact in self.facts:
            found[fact.person].append(fact)
        return {person: tuple(facts) for person, facts in found.items()}

    def facts_of(self, person: PersonId, field_name: FieldName | None = None) -> tuple[Fact, ...]:
        """The facts of a person, including competing ones; preferred ones first."""
        facts = self._facts_by_person.get(person, ())
        chosen = [fact for fact in facts if field_name in (None, fact.field)]
        return tuple(sorted(chosen, key=lambda fact: (not fact.preferred, fact.field, -fact.confidence, fact.id)))
