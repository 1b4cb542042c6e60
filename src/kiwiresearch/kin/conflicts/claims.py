"""Facts of one field gathered into the values that compete."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kiwiresearch.kin.conflicts.agreeing import standing
from kiwiresearch.kin.fields import FieldName
from kiwiresearch.kin.tree import Evidence, PersonId, Relationship, Tree
from kiwiresearch.text.when import DateRange

LEFT_OUT = ("rejected", "hypothesis", "superseded")
NOT_BY_BIRTH = ("adoptive", "step", "foster")


@dataclass(frozen=True, slots=True)
class Said:
    """One fact, or one tie to a parent, as it takes part in a conflict."""

    id: str
    value: str
    when: DateRange | None
    evidence: tuple[Evidence, ...]
    confidence: float
    is_disputed: bool


@dataclass(frozen=True, slots=True)
class Group:
    """What says the same; the first one says it most exactly."""

    said: tuple[Said, ...]

    @property
    def value(self) -> str:
        return self.said[0].value

    @property
    def when(self) -> DateRange | None:
        return self.said[0].when

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return tuple({one.id: one for said in self.said for one in said.evidence}.values())


def parent_ties(tree: Tree) -> dict[PersonId, list[Relationship]]:
    """The ties to parents by birth, by child, in the order of their ids."""
    found: dict[PersonId, list[Relationship]] = defaultdict(list)
    for tie in sorted(tree.relationships, key=lambda one: one.id):
        if tie.kind == "parent_of" and tie.status not in LEFT_OUT and tie.qualifier not in NOT_BY_BIRTH:
            found[tie.second].append(tie)
    return found


def said_of(tree: Tree, person: PersonId, field: FieldName, ties: Sequence[Relationship] = ()) -> tuple[Said, ...]:
    """Everything that is said of a field; of parents, ties as well as facts."""
    facts = [
        Said(fact.id, fact.value, fact.when, fact.evidence, fact.confidence, fact.status == "disputed")
        for fact in tree.facts_of(person, field)
        if fact.status not in LEFT_OUT and fact.value.strip()
    ]
    return (*facts, *_parents(tree, field, ties))


def _parents(tree: Tree, field: FieldName, ties: Sequence[Relationship]) -> Iterator[Said]:
    sex = {"father": "male", "mother": "female"}.get(field)
    for tie in ties:
        parent = tree.persons.get(tie.first)
        if sex and parent and parent.sex == sex:
            is_disputed = tie.status == "disputed" or tie.qualifier == "disputed"
            yield Said(tie.id, parent.name, None, tie.evidence, tie.confidence, is_disputed)


def gathered(field: FieldName, said: Sequence[Said]) -> tuple[Group, ...]:
    """The values that compete; one that fits several of them speaks for none."""
    exact_first = sorted(said, key=lambda one: (_width(one), one.value, one.id))
    groups: list[list[Said]] = []
    for one in exact_first:
        fitting = [group for group in groups if _fits(field, one, group[0])]
        if not fitting:
            groups.append([one])
        elif len(fitting) == 1:
            fitting[0].append(one)
    return tuple(Group(tuple(group)) for group in groups)


def _fits(field: FieldName, one: Said, other: Said) -> bool:
    return standing(field, one.value, other.value, one.when, other.when) != "conflict"


def _width(said: Said) -> int:
    """How exact a value is: the days of a date; of names and places, the longer the more exact."""
    if said.when is None:
        return -len(said.value)
    first, last = said.when.reach()
    return last - first
