"""Writes a checked record into the case: its person, facts and relatives, with the source they come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kiwiresearch.kin.loop.person_match import MentionedPerson, group_mentions
from kiwiresearch.kin.loop.source_records import CheckedFact, CheckedRecord
from kiwiresearch.kin.names import sex_of_title
from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.tree import (
    RELATION_FIELDS,
    FieldName,
    InformationKind,
    PersonId,
    RelationKind,
    Sex,
    SourceId,
    row_id,
)
from kiwiresearch.text.words import fold

AddressLookup = Callable[[str, str], str | None]
"""The address of the page that a path of a book leads to; None where the book has none."""

OPENING_CHARS = 600
"""Where a record names its person: in its first lines."""
SURE_OF_NAME = 0.9

SEX_OF: dict[FieldName, Sex] = {"father": "male", "mother": "female"}
TIE_OF_FIELD: dict[FieldName, tuple[RelationKind, bool]] = {
    "father": ("parent_of", False),
    "mother": ("parent_of", False),
    "parent": ("parent_of", False),
    "child": ("parent_of", True),
    "spouse": ("spouse_of", True),
    "partner": ("partner_of", True),
    "sibling": ("sibling_of", True),
}
"""The tie that a relation is, and whether the person of the page is its first."""


@dataclass(frozen=True, slots=True)
class Relative:
    """Somebody whom a record names beside its own person."""

    person: PersonId
    field: FieldName
    name: str
    address: str
    """Of the page about them, where the record links to one."""
    relatives: tuple[Relative, ...] = ()
    """Whom the record names as theirs: the parents of a parent."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """What a record added to the case."""

    person: PersonId
    source: SourceId
    relatives: tuple[Relative, ...]
    new: int
    """Statements that were not known before."""


def person_id_for(address: str) -> PersonId:
    """The id of the person whom a page is about."""
    return row_id("person", address)


def store_record(store: CaseStore, record: CheckedRecord, located: AddressLookup) -> StoredRecord:
    """Write a record's person, facts and relatives."""
    fetched, read = record.fetched, record.read
    told = {"why": read.why, "facts": len(record.facts), "rejected": len(record.rejected), "notes": list(record.notes)}
    source = store.add_source(fetched.source, fetched.text, told)
    address = fetched.source.url
    known = store.person_by("record", address)
    person = known or person_id_for(address)
    store.add_person(person, read.name or read.title, read.sex, {"record": address})
    if fold(read.title) != fold(read.name):
        store.alias(person, read.title, "title")
    before = store.assertion_count()
    _store_name(store, person, record, source)
    information = information_of(record)
    related = []
    for one in record.facts:
        if one.status == "rejected" or one.fact.field not in RELATION_FIELDS:
            _store_fact(store, person, one, source, information)
        else:
            related.append(one)
    told_of = group_mentions(related, lambda one: _address(one.fact, record, located))
    for unclear in told_of.unclear:
        _store_fact(store, person, replace(unclear, status="unverified"), source, information)
    writing = _RecordWriter(store, record, located, source, information)
    relatives = [writing.relative(person, one, (address,)) for one in told_of.people]
    return StoredRecord(person, source, tuple(relatives), store.assertion_count() - before)


def _store_name(store: CaseStore, person: PersonId, record: CheckedRecord, source: SourceId) -> None:
    """A person goes by the name that their own record begins with, whatever others called them."""
    name = record.read.name or record.read.title
    start = record.fetched.text.find(name, 0, OPENING_CHARS)
    if start < 0:
        return
    snippet = Snippet(start, start + len(name), name)
    fact = ExtractedFact("name", name, snippet, "lead", SURE_OF_NAME, rationale="the name that the record begins with")
    said = store.assert_fact(person, fact, source, status="verified", information=information_of(record))
    store.prefer(said, "the name of their own record")


def information_of(record: CheckedRecord) -> InformationKind:
    """An encyclopedia tells what others saw."""
    return "secondary" if record.fetched.source.form == "authored" else "undetermined"


def _store_fact(store: CaseStore, person: PersonId, one: CheckedFact, source: SourceId, told: InformationKind) -> None:
    store.assert_fact(
        person,
        one.fact,
        source,
        status=one.status,
        confidence=one.confidence,
        reliability=one.reliability,
        information=told,
    )


@dataclass(frozen=True, slots=True)
class _RecordWriter:
    """A record on its way into the case."""

    store: CaseStore
    record: CheckedRecord
    located: AddressLookup
    source: SourceId
    information: InformationKind

    def relative(self, person: PersonId, one: MentionedPerson, whence: tuple[str, ...]) -> Relative:
        """Somebody whom the record names: the person of the page it links to, else somebody known from here alone."""
        relative = self._person(one, (*whence, one.field, fold(one.name)))
        for mention in one.mentions:
            if mention.checked.fact.value != one.name:
                self.store.alias(relative, mention.checked.fact.value)
            self._tie(person, relative, mention.checked)
        about = [fact for mention in one.mentions for fact in mention.checked.details if fact.status != "rejected"]
        for fact in about:
            if fact.fact.field not in RELATION_FIELDS:
                _store_fact(self.store, relative, fact, self.source, self.information)
        above = group_mentions([fact for fact in about if fact.fact.field in RELATION_FIELDS], self._address)
        further = (self.relative(relative, other, (*whence, one.field, fold(one.name))) for other in above.people)
        return Relative(relative, one.field, one.name, one.address, tuple(further))

    def _person(self, one: MentionedPerson, parts: tuple[str, ...]) -> PersonId:
        known = self.store.person_by("record", one.address) if one.address else None
        if known is not None:
            return known
        found = person_id_for(one.address) if one.address else row_id("person", *parts)
        sex = next((SEX_OF[field] for field in one.fields if field in SEX_OF), sex_of_title(one.name))
        self.store.add_person(found, one.name, sex, {"record": one.address} if one.address else {})
        return found

    def _tie(self, person: PersonId, relative: PersonId, checked: CheckedFact) -> None:
        kind, is_first = TIE_OF_FIELD[checked.fact.field]
        first, second = (person, relative) if is_first else (relative, person)
        if self.store.canonical(first) == self.store.canonical(second):
            return
        self.store.assert_tie(
            kind,
            first,
            second,
            checked.fact,
            self.source,
            status=checked.status,
            confidence=checked.confidence,
            reliability=checked.reliability,
            information=self.information,
        )

    def _address(self, one: CheckedFact) -> str:
        return _address(one.fact, self.record, self.located)


def _address(fact: ExtractedFact, record: CheckedRecord, located: AddressLookup) -> str:
    """The address that a relation links to; a page that links to itself tells nothing."""
    page, own = record.fetched.page, record.fetched.source.url
    if not fact.target:
        return ""
    found = (
        (located(page.ref.book, fact.target) or "")
        if page
        else _sibling_address(fact.target, own, record.read.ref.path)
    )
    return "" if found == own else found


def _sibling_address(target: str, own: str, name: str) -> str:
    """The address of a record that another one of the same source names: 'Q103', beside '…/wiki/Q100'."""
    if "://" in target:
        return target
    return f"{own.removesuffix(name)}{target}" if name and own.endswith(f"/{name}") else ""
