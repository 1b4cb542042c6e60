"""A case as plain data for readers: people, evidence, events, conflicts, tree and log.

All records are in one module, since each has to hide the same people in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kiwiresearch.cases.case import Case, Found
from kiwiresearch.cases.json_records import (
    AgeRecord,
    CaseSummary,
    EventRecord,
    EvidenceRecord,
    FactRecord,
    KinStep,
    LineRow,
    LoggedSearch,
    NamedConflict,
    NamedPerson,
    ParentOrChild,
    PersonRecord,
    RelationRecord,
    RelativeRecord,
    TreePerson,
    TreeRecord,
    TreeTie,
    WhenRecord,
)
from kiwiresearch.codec import extend
from kiwiresearch.errors import BadUsage, NothingFound
from kiwiresearch.kin import (
    DATE_FIELDS,
    FIELD_OF_KIND,
    PARENT_OF_SEX,
    ConflictPosition,
    Evidence,
    ExtractedFact,
    Fact,
    FieldName,
    KinshipFinder,
    PersonId,
    Relationship,
    Snippet,
    Tree,
    children_by_birth,
    conflict_positions,
    evidence_phrase,
    find_tree_conflicts,
    plain_standing,
    standing_of,
    step_words,
)
from kiwiresearch.kin.firewall.check import check
from kiwiresearch.kin.loop import CaseProgress
from kiwiresearch.kin.privacy import Mask, ShownTree, WithheldPeople
from kiwiresearch.kin.report import FIELD_LABELS, Couples, lifespan, parent_ties, people_in_order, tie_note
from kiwiresearch.kin.timeline import timeline
from kiwiresearch.messages import Message
from kiwiresearch.text import fold
from kiwiresearch.text.dates import DateRange, DateText

if TYPE_CHECKING:
    from kiwiresearch.kin.privacy import PrivacyMode


UNCLEAR = "The name fits several relatives, so it is not clear who is meant."


class CachedCase(Case):
    """A case opened for reading; expensive results are computed once."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._trees: dict[tuple[PrivacyMode, bool], ShownTree] = {}
        self._masks: dict[PrivacyMode, Mask] = {}
        self._withheld: dict[bool, WithheldPeople] = {}
        self._derived: dict[tuple[Callable[[Tree], Any], PrivacyMode], Any] = {}

    def withheld(self, *, with_discarded: bool = False) -> WithheldPeople:
        if with_discarded not in self._withheld:
            self._withheld[with_discarded] = super().withheld(with_discarded=with_discarded)
        return self._withheld[with_discarded]

    @cached_property
    def _has_no_discarded(self) -> bool:
        return self.store.has_no_discarded()

    def tree(self, mode: PrivacyMode = "owner", *, with_discarded: bool = False) -> ShownTree:
        # Without rejected facts both trees are the same, and a large one takes long to read.
        key = mode, with_discarded and not self._has_no_discarded
        if key not in self._trees:
            self._trees[key] = super().tree(mode, with_discarded=key[1])
        return self._trees[key]

    def derived(self, compute: Callable[[Tree], Found], mode: PrivacyMode) -> Found:
        key = compute, mode
        if key not in self._derived:
            self._derived[key] = super().derived(compute, mode)
        found: Found = self._derived[key]
        return found

    def mask(self, mode: PrivacyMode) -> Mask:
        if mode not in self._masks:
            self._masks[mode] = super().mask(mode)
        return self._masks[mode]


def summary_record(case: Case, mode: PrivacyMode) -> CaseSummary:
    tree, mask = case.tree(mode), case.mask(mode)
    progress, stop = CaseProgress.load(case.store), case.store.stop
    return CaseSummary(
        title=case.title(mode),
        seeds=tuple(NamedPerson(seed, tree.persons[seed].name) for seed in case.seeds() if seed in tree.persons),
        people=len(tree.persons),
        kept_back=len(tree.withheld),
        facts=len(tree.facts),
        ties=len(tree.relationships),
        sources=len(tree.sources),
        generations=case.settings.generations,
        budget=case.settings.budget,
        steps=progress.iterations,
        fetched=progress.fetches,
        waiting=sum(case.store.queues.sizes().values()),
        stop=str(stop.get("reason", "")),
        why=mask.text(str(stop.get("words", ""))),
    )


def graph_record(tree: Tree) -> TreeRecord:
    """All people and ties, for a program that draws them."""
    return TreeRecord(
        tuple(
            TreePerson(person.id, person.name, person.sex, person.living, lifespan(tree, person.id), person.confidence)
            for person in tree.persons.values()
        ),
        tuple(
            TreeTie(tie.id, tie.kind, tie.first, tie.second, tie.qualifier, tie.status, tie.confidence)
            for tie in tree.relationships
        ),
    )


Ties = Mapping[tuple[PersonId, PersonId], Relationship]
"""How each parent and child are related."""


def person_record(tree: Tree, person_id: PersonId, kinship: str = "", ties: Ties | None = None) -> PersonRecord:
    """A person with their relatives; for parents and children also whether the tie is not by blood, or doubtful."""
    person = tree.persons[person_id]
    ties = parent_ties(tree) if ties is None else ties
    return PersonRecord(
        id=person_id,
        name=person.name,
        names=tuple(person.names),
        sex=person.sex,
        birth=_when(person.birth),
        birth_place=person.birth_place,
        death=_when(person.death),
        death_place=person.death_place,
        living=person.living,
        confidence=person.confidence,
        relation=kinship,
        parents=tuple(
            extend(ParentOrChild, row, note=tie_note(ties.get((row.id, person_id))))
            for row in _named(tree, tree.parents(person_id))
        ),
        spouses=_named(tree, tree.spouses(person_id)),
        children=tuple(
            extend(ParentOrChild, row, note=tie_note(ties.get((person_id, row.id))))
            for row in _named(tree, _by_birth(tree, person_id))
        ),
        siblings=_named(tree, tree.siblings(person_id)),
    )


def people_named(case: Case, mode: PrivacyMode, words: str = "") -> list[PersonId]:
    """Everybody whose name contains these words: the seeds first, then their closest relatives."""
    tree, wanted = case.tree(mode), fold(words)
    people = (tree.persons[item] for item in people_in_order(case.derived(Couples, mode), case.seeds()))
    return [person.id for person in people if any(wanted in fold(name) for name in (person.name, *person.names))]


def people_records(case: Case, mode: PrivacyMode, people: Iterable[PersonId]) -> list[PersonRecord]:
    """These people, each with their relation to the first seed; for distant relatives this is slow."""
    tree = case.tree(mode)
    seed = next((item for item in case.seeds() if item in tree.persons), "")
    family, ties = KinshipFinder(tree), parent_ties(tree)
    return [
        person_record(
            tree,
            person,
            "the starting person" if person == seed else family.describe(seed, person) if seed else "",
            ties,
        )
        for person in people
    ]


def evidence_records(case: Case, person: PersonId, field: FieldName | None, mode: PrivacyMode) -> list[FactRecord]:
    """Each value of a person with its quotes, its status and, if it was rejected, the reason."""
    tree = case.tree(mode, with_discarded=True)
    if person not in tree.persons:
        return []
    facts = sorted(tree.facts_of(person, field), key=lambda fact: list(FIELD_LABELS).index(fact.field))
    rejected = {fact.id for fact in facts if fact.status == "rejected"}
    reasons = why_rejected(case, rejected, mode) if rejected else {}
    contested = case.derived(_contests, mode)
    notes = case.store.edits.notes() if mode == "owner" else {}
    listed = [
        FactRecord(
            id=fact.id,
            field=fact.field,
            value=DateText(fact.when) if fact.when and fact.field in DATE_FIELDS else fact.value,
            status=fact.status,
            preferred=fact.preferred,
            confidence=fact.confidence,
            why_rejected=UNCLEAR if fact.status == "hypothesis" else reasons.get(fact.id, ""),
            evidence=tuple(_evidence_record(tree, evidence, notes) for evidence in fact.evidence),
            standing=standing_of(fact, contested.get(fact.id)),
            decision=fact.decision,
        )
        for fact in facts
    ]
    ties = [tie for tie in tree.relationships if person in (tie.first, tie.second)]
    rows = [
        row for tie in ties if (row := _tie_record(tree, tie, person, contested, notes)) and field in (None, row.field)
    ]
    return listed + sorted(
        rows, key=lambda row: (list(FIELD_LABELS).index(row.field), tree.evidence_position(person, row.person or ""))
    )


def _contests(tree: Tree) -> Mapping[str, ConflictPosition]:
    return conflict_positions(find_tree_conflicts(tree))


def _tie_record(
    tree: Tree, tie: Relationship, person: PersonId, contested: Mapping[str, ConflictPosition], notes: Mapping[str, str]
) -> FactRecord | None:
    other = tie.second if tie.first == person else tie.first
    if other not in tree.persons:
        return None
    is_child = tie.kind == "parent_of" and tie.second == person
    field = PARENT_OF_SEX[tree.persons[other].sex] if is_child else FIELD_OF_KIND[tie.kind]
    return FactRecord(
        id=tie.id,
        field=field,
        value=tree.persons[other].name,
        person=other,
        qualifier=tie.qualifier,
        when=tie_dates(tie),
        status=tie.status,
        preferred=True,
        confidence=tie.confidence,
        why_rejected="",
        evidence=tuple(_evidence_record(tree, evidence, notes) for evidence in tie.evidence),
        # A parent is one of several values for a child only, and all children of a person can be right.
        standing=standing_of(tie, contested.get(tie.id) if is_child else None),
        decision=tie.decision,
    )


def tie_dates(tie: Relationship) -> str:
    """When a relationship began and ended, as far as that is known."""
    dates = [DateText(when) for when in (tie.start, tie.end) if when]
    if len(dates) < 2:
        return dates[0] if dates else ""
    since, until = dates
    return Message(f"{since} to {until}", "couple.span", since=since, until=until)


def _evidence_record(tree: Tree, evidence: Evidence, notes: Mapping[str, str]) -> EvidenceRecord:
    source = tree.sources.get(evidence.source)
    return EvidenceRecord(
        quote=evidence.snippet,
        start=evidence.start,
        end=evidence.end,
        locator=evidence.locator,
        method=evidence.method,
        class_=evidence_phrase(evidence, source, with_author=True),
        reliability=evidence.reliability,
        source=source.title or source.name if source else "",
        book=source.name if source else "",
        url=source.url if source else "",
        note=notes.get(evidence.id, ""),
    )


def why_rejected(case: Case, rejected: Collection[str], mode: PrivacyMode) -> dict[str, str]:
    """What the firewall objects to in facts. It is checked again, since its reasons are not stored."""
    mask = case.mask(mode)
    facts = [fact for fact in case.withheld(with_discarded=True).tree.facts if fact.id in rejected]
    return {fact.id: mask.text(_reasons(case, fact)) for fact in facts}


def _reasons(case: Case, fact: Fact) -> str:
    person = case.store.person(fact.person)
    reasons: dict[str, None] = {}
    if fact.decision == "rejected":
        return "Removed by hand."
    for evidence in fact.evidence:
        snippet = Snippet(evidence.start, evidence.end, evidence.snippet)
        read = ExtractedFact(fact.field, fact.value, snippet, evidence.method, fact.confidence, fact.when)
        found = check(read, case.store.source_text(evidence.source), person.name, person.sex, other_names=person.names)
        reasons |= dict.fromkeys(str(violation) for violation in found)
    return "; ".join(reasons) or "Newer evidence says something else."


def conflict_records(case: Case, mode: PrivacyMode) -> list[NamedConflict]:
    tree = case.tree(mode)
    return [
        extend(NamedConflict, conflict.record(), name=tree.persons[conflict.person].name)
        for conflict in case.derived(find_tree_conflicts, mode)
    ]


def timeline_records(case: Case, mode: PrivacyMode, person: PersonId = "") -> list[EventRecord]:
    """The events of all people, or of one."""
    tree = case.tree(mode)
    return [
        EventRecord(
            DateText(event.when),
            event.when.edtf(),
            event.kind,
            _named(tree, event.people),
            event.place,
            tuple(AgeRecord(tree.persons[age.person].name, age.age.words()) for age in event.ages),
            event.status,
            event.confidence,
            plain_standing(event.status, event.confidence),
        )
        for event in case.derived(timeline, mode)
        if not person or person in event.people
    ]


def log_records(case: Case, mode: PrivacyMode) -> list[LoggedSearch]:
    """The research log. A search without results is listed, but proves nothing."""
    return [
        LoggedSearch(search.query, search.source, search.hits, search.new_facts, search.negative)
        for search in case.searches(mode)
    ]


def relation_record(case: Case, first: PersonId, second: PersonId, mode: PrivacyMode) -> RelationRecord:
    """What the second person is to the first, and the path between them."""
    tree = case.tree(mode)
    for item in (first, second):
        if item not in tree.persons:
            raise NothingFound(
                "At least one of the two people may be living, so their relationship is hidden.",
                remedy="To see it, add --privacy owner.",
            )
    found = KinshipFinder(tree).kinship(first, second)
    return RelationRecord(
        first=NamedPerson(first, tree.persons[first].name),
        second=NamedPerson(second, tree.persons[second].name),
        relation=found.words,
        way=tuple(KinStep(step.person, tree.persons[step.person].name, step_words(tree, step)) for step in found.path),
        common_ancestors=_named(tree, found.common),
    )


def checked_field(name: str) -> FieldName:
    """A field by its name or by its label in reports."""
    wanted = fold(name).replace(" ", "_")
    for field, label in FIELD_LABELS.items():
        if wanted in (field, fold(label).replace(" ", "_")):
            return field
    raise BadUsage(f"{name!r} is not a field.", remedy=f"Choose one of: {', '.join(FIELD_LABELS)}.")


def _when(when: DateRange | None) -> WhenRecord | None:
    return WhenRecord(DateText(when), when.edtf()) if when else None


def _named(tree: Tree, people: Iterable[PersonId]) -> tuple[RelativeRecord, ...]:
    return tuple(
        RelativeRecord(person, tree.persons[person].name, lifespan(tree, person))
        for person in people
        if person in tree.persons
    )


def branch_records(couples: Couples, root: PersonId, *, down: bool) -> list[LineRow]:
    """The ancestors or descendants of a person, as rows with their depth; repeated people are not expanded again."""
    tree = couples.tree
    found: list[LineRow] = []
    seen: set[PersonId] = set()
    waiting: list[tuple[PersonId, int, str]] = [(root, 0, "")]
    while waiting:
        person_id, depth, note = waiting.pop()
        again = person_id in seen
        seen.add(person_id)
        partners = _named(tree, couples.partners(person_id)) if down and not again else ()
        found.append(
            LineRow(person_id, tree.persons[person_id].name, lifespan(tree, person_id), depth, note, again, partners)
        )
        if again:
            continue
        near = couples.children(person_id) if down else couples.parents(person_id)
        # `waiting` is a stack, so that each line is listed to its end, with the first relative on top.
        for other in reversed(near):
            pair = (person_id, other) if down else (other, person_id)
            waiting.append((other, depth + 1, tie_note(couples.ties.get(pair))))
    return found


def _by_birth(tree: Tree, parent: PersonId) -> list[PersonId]:
    return children_by_birth(tree, parent, sorted(child for child in tree.children(parent) if child in tree.persons))
